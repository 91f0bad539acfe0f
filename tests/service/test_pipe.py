"""`dedup-filter see`: a line in, a line out, whatever the lines are and whenever they come."""

import json
import subprocess
from io import BufferedReader, BytesIO, StringIO
from textwrap import wrap

import pytest
from command_line import COMMAND, refused, start
from gate import slow
from made_text import prose
from pdf_samples import pdf
from served_index import page

from dedup_filter import NearDuplicateFilter
from dedup_filter.service import pipe
from dedup_filter.text.page_fields import FieldNames


@pytest.fixture
def piped(crawl_server, tmp_path):
    """Run the command on lines; return what a process leaves."""

    def run(index, lines, *options, workers="0"):
        command = ["dedup-filter", "see", str(index), "--workers", workers, *options]
        return crawl_server.run(*command, cwd=tmp_path, text="".join(lines))

    return run


@pytest.fixture
def see(piped):
    """Return the exit code and the answers to lines."""

    def run(*given, **workers):
        code, out, err = piped(*given, **workers)
        assert err == ""
        return code, [json.loads(line) for line in out.splitlines()]

    return run


def line(content):
    return json.dumps(content) + "\n"


@pytest.mark.parametrize("workers", ["0", slow("2")])
def test_verdicts_are_the_ones_of_the_library_in_the_same_order(see, tmp_path, workers):
    pages = [page(number % 12, copy=number // 12) for number in range(60)]
    with NearDuplicateFilter.open(tmp_path / "other") as library:
        expected = [
            {"url": each["url"], **verdict.as_json()}
            for each, verdict in zip(pages, library.see_many(pages), strict=True)
        ]
    assert see(tmp_path / "index", map(line, pages), workers=workers) == (0, expected)


def test_a_bad_line_is_answered_in_its_place_and_the_others_are_judged(see, tmp_path):
    bad = ["nope\n", "[1]\n", '{"url": 1}\n', '{"url": "http://a/", "html": 1}\n']
    bad += ['{"url": "http://a/"}\n', '{"url": "http://a/", "text": "a\n', "[" * 100_000 + "\n"]
    lines = ["\n", line(page(1)), *bad, line(page(1, copy=1)).rstrip()]
    code, answers = see(tmp_path / "index", lines)
    assert code == 2
    assert [each.get("outcome", "error") for each in answers] == [
        "new",
        *["error"] * len(bad),
        "exact",
    ]
    assert all(each["error"] for each in answers[1:-1])
    assert answers[4]["url"] == "http://a/"


def test_a_list_of_pages_is_an_error_that_says_what_a_line_is(see, tmp_path):
    pages = [page(1), page(2)]
    for text in (line(pages), line({"data": pages}), json.dumps(pages, indent=1)):
        code, answers = see("memory:", [text])
        assert code == 2
        assert {*answers[0]} == {"url", "error"}
    assert (
        answers[0]["error"] == "the line is no object of JSON; each line has one page, as an object"
    )


@pytest.mark.parametrize("options", [[], ["--url-field", "link"]])
def test_pages_without_a_url_are_judged_as_pages_of_one_host_as_by_a_scan(piped, options):
    urls = ["", 5, None, " "]
    pages = [
        {"url": url, "text": page(n)["text"]} for url, n in zip(urls, (1, 2, 1, 3), strict=True)
    ]
    code, out, err = piped("memory:", map(line, pages), *options)
    answers = [json.loads(each) for each in out.splitlines()]
    assert [(each["url"], each["outcome"]) for each in answers] == [
        ("", outcome) for outcome in ("new", "new", "exact", "new")
    ]
    assert (code, len(err.splitlines())) == (0, 1)
    assert err.startswith("4 pages without a URL (--url-field): judged as pages of one host")


def test_a_lone_surrogate_is_no_error(see, tmp_path):
    lines = ['{"url": "http://a/\\ud800", "html": "<p>\\udfff ' + page(1)["text"] + '"}\n']
    code, (answer,) = see(tmp_path / "index", lines)
    assert (code, answer["outcome"]) == (0, "new")


def test_a_pdf_in_a_string_is_kept_unjudged(see):
    """Decoding has destroyed it: the strings of two files can be equal."""
    body = pdf([wrap(prose(1), 80)]).decode("latin-1")
    lines = [line({"url": f"http://a/{n}", "html": body}) for n in range(2)]
    code, answers = see("memory:", lines, "--set", "read_pdf=true", "--set", "payloads=documents")
    assert (code, [each["reason"] for each in answers]) == (0, ["binary"] * 2)


def test_nul_and_other_types_are_taken_or_answered(see, tmp_path):
    text = page(1)["text"]
    lines = [line({"url": "http://a/\0", "html": f"<p>\0{text}\0"})]
    lines += [line({"url": []}), line({"url": "http://b/", "html": {"a": text}})]
    lines += ["null\n", "\0\n", '{"url": "http://d/", "html": NaN}\n', line(page(1))]
    code, answers = see(tmp_path / "index", lines)
    assert code == 2
    found = [each.get("outcome", "error") for each in answers]
    assert found == ["new", *["error"] * 5, "near"]


def test_a_template_that_loses_most_of_its_pages_is_named(piped, tmp_path):
    lines = [line({**page(1), "url": f"http://a.example/p/{number}"}) for number in range(24)]
    _, out, err = piped(tmp_path / "index", lines, "--set", "keep_text=true")
    assert len(out.splitlines()) == 24
    assert err.startswith("19 of the last 20 pages of a.example/p/* repeat another: ")
    assert f"compare --index {tmp_path / 'index'} http://a.example/p/0 " in err


def test_fields_and_options_are_named(see, tmp_path):
    nested = [
        line({"meta": {"at": each["url"]}, "data": {"body": each["text"]}})
        for each in (page(1), page(1, copy=1))
    ]
    fields = ["--url-field", "meta.at", "--text-fields", "data.body", "--set", "scope=host"]
    code, answers = see("memory:", nested, *fields)
    assert (code, [each["outcome"] for each in answers]) == (0, ["new", "new"])
    assert "max_distance" in refused("see", str(tmp_path / "index"), "--set", "max_distance=99")


def test_a_line_may_be_so_long_and_no_longer(monkeypatch):
    monkeypatch.setattr(pipe, "LONGEST_LINE", 60)
    lines = [line({"text": "x" * (length - 12)}) for length in (59, 60, 61, 62, 121, 122, 500)]
    given, taken = BufferedReader(BytesIO("".join(lines).encode())), StringIO()
    with NearDuplicateFilter.open() as pages:
        seen = pipe.see_lines(pages, given, taken, FieldNames("html", ("text",), "url"))
    answers = [json.loads(each) for each in taken.getvalue().splitlines()]
    assert ["error" in each for each in answers] == [False] * 2 + [True] * 5
    assert (seen.errors, seen.without_url) == (5, 2)


@pytest.mark.parametrize("workers", ["0", slow("1")])
def test_a_verdict_comes_at_once_if_no_line_waits(workers):
    process = start("see", "memory:", "--workers", workers)
    for number in range(3):
        process.stdin.write(line(page(number)).encode())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["url"] == page(number)["url"]
    process.communicate()
    assert process.returncode == 0


def test_pages_with_a_verdict_outlive_a_kill_and_the_others_can_be_given_again(see, tmp_path):
    pages = [page(number) for number in range(90)]
    with subprocess.Popen(
        [*COMMAND, "see", str(tmp_path / "index")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write("".join(map(line, pages)).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(25)]
        process.kill()
    assert {each["outcome"] for each in answers} == {"new"}
    copies = [line(page(number, copy=1)) for number in range(25)]
    code, repeated = see(tmp_path / "index", copies)
    assert (code, {each["outcome"] for each in repeated}) == (0, {"exact"})
    code, again = see(tmp_path / "index", map(line, pages[25:]))
    assert {each["outcome"] for each in again} <= {"new", "revisit"}


def test_ctrl_c_and_a_reader_that_goes_end_it():
    process = start("see", "memory:", "--workers", "0")
    process.stdin.write(line(page(1)).encode())
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(2)
    assert (process.wait(60), process.stderr.read()) == (130, b"")
    process.communicate()
    process = start("see", "memory:", "--workers", "0")
    process.stdout.close()
    process.stdin.write(line(page(1)).encode())
    process.stdin.flush()
    assert process.wait(60) == 141
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()


def test_processes_share_an_index_on_a_server(see, redis_server):
    assert see(redis_server.url, [line(page(1))])[1][0]["outcome"] == "new"
    code, (answer,) = see(redis_server.url, [line(page(1, copy=1))])
    assert (code, answer["original"]) == (0, page(1)["url"])
