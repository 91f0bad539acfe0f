"""A scan gives the verdicts of the online filter, and files in the format of its inputs."""

import gzip
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd
from command_line import lines, refused, run
from command_line import scanned as scan
from gate import rounds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from index_feed import ITEMS, article, item, write_jsonl
from warc_samples import record, response, write

from dedup_filter.scan import parquet
from dedup_filter.scan import scan as scan_module
from dedup_filter.scan.inputs import records_in
from dedup_filter.scan.warc import read_warc
from dedup_filter.scan.work import Scan

REPEATS = ("near", "exact")


def read(path):
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content)
    if content.startswith(b"\x28\xb5"):
        return zstd.decompress(content)
    return content


def stripped(content, keepends=False):
    return [line for line in content.splitlines(keepends) if line.strip()]


def is_repeat(verdict):
    return verdict is not None and verdict.outcome in REPEATS


def require_mark(mark, verdict):
    if verdict is None:
        assert (mark["outcome"], mark["reason"]) == ("unjudged", "no_field")
        return
    for name in ("outcome", "original", "distance", "similarity", "reason"):
        assert mark[name] == getattr(verdict, name)
    bits = verdict.fingerprint
    assert mark["fingerprint"] == (None if bits is None else f"{bits:#018x}")


@pytest.mark.parametrize(("ending", "workers"), [("", 0), ("", 2), (".gz", 0), (".zst", 0)])
def test_lines_come_out_byte_for_byte(feed, verdicts, ending, workers):
    output, dropped = feed.with_name(f"u.jsonl{ending}"), feed.with_name(f"d.jsonl{ending}")
    found = scan("feed.jsonl", "-o", output, "--duplicates", dropped, "--workers", str(workers))
    given_lines = stripped(feed.read_bytes())
    kept = [
        line
        for line, of in zip(stripped(feed.read_bytes(), True), verdicts, strict=True)
        if not is_repeat(of)
    ]
    assert read(output) == b"".join(kept)
    repeats = [(n, of) for n, of in enumerate(verdicts) if is_repeat(of)]
    assert len(repeats) == 8
    for line, (n, verdict) in zip(read(dropped).splitlines(), repeats, strict=True):
        *_, (name, mark) = json.loads(line).items()
        assert name == "dedup"
        require_mark(mark, verdict)
        assert line.startswith(given_lines[n].rstrip()[:-1])
    outcomes = {"new": 20, "near": 6, "exact": 2, "unjudged": 2}
    assert found["outcomes"] == outcomes
    assert (found["pages"], found["kept"], found["bad"]) == (30, 22, 0)
    assert found["reasons"] == {"too_short": 1, "no_field": 1}
    assert sorted(path.name for path in feed.parent.iterdir()) == sorted(
        [dropped.name, "feed.jsonl", output.name]
    )


def test_mark_writes_all_pages_with_their_verdicts(feed, verdicts):
    scan("feed.jsonl", "--mark", "m.jsonl", "-o", "u.jsonl", "--duplicates", "d.jsonl.gz")
    marked = [json.loads(line) for line in stripped((feed.parent / "m.jsonl").read_bytes())]
    items = [json.loads(line) for line in stripped(feed.read_bytes())]
    assert [{**each, "dedup": None} for each in items] == [
        {**each, "dedup": None} for each in marked
    ]
    for each, verdict in zip(marked, verdicts, strict=True):
        require_mark(each["dedup"], verdict)
    whole = (feed.parent / "m.jsonl").read_bytes().splitlines(keepends=True)
    dropped = [line for line, of in zip(whole, verdicts, strict=True) if is_repeat(of)]
    assert read(feed.parent / "d.jsonl.gz") == b"".join(dropped)
    assert len(read(feed.parent / "u.jsonl").splitlines()) == len(items) - len(dropped)
    # A mark of before is replaced, not written beside the other.
    scan("m.jsonl", "--mark", "again.jsonl")
    again = (feed.parent / "again.jsonl").read_bytes()
    assert again.count(b'"dedup"') == len(items)


def test_what_is_no_record_is_told_and_left_out(here):
    first, second = (json.dumps(item(n)) for n in (1, 2))
    (here / "a.jsonl").write_text(f"{first}\n{{\n[]\n\n{second}")
    (here / "b.jsonl.gz").write_bytes(gzip.compress(f"{first}\n{second}\n".encode())[:-30])
    code, out, err = run("scan", "a.jsonl", "b.jsonl.gz", "-o", "u.jsonl")
    assert code == 2
    assert (here / "u.jsonl").read_text() == f"{first}\n{second}\n"
    assert "bad           3\n" in out
    assert err.startswith(
        "a.jsonl, line 2: is no object of JSON "
        "(Expecting property name enclosed in double quotes at its end)\n"
    )
    assert [line.partition(":")[0] for line in err.splitlines()] == [
        "a.jsonl, line 2",
        "a.jsonl, line 3",
        "b.jsonl.gz, line 2",
    ]
    assert "cannot be read from here on: Compressed file ended" in err


def test_a_later_scan_goes_on_from_an_index(here):
    first = write_jsonl(here / "a.jsonl", [item(n) for n in range(5)])
    second = write_jsonl(
        here / "b.jsonl", [item(3), item(4, text=article(4, 1)), item(70, text=article(2)), item(9)]
    )
    scan(first, "-o", "u.jsonl", "--index", "index", "--max-distance", "5")
    found = scan(second, "-o", "v.jsonl", "--index", "index")
    assert found["outcomes"] == {"revisit": 2, "exact": 1, "new": 1}
    (told,) = lines("index", "stats", "index", "--json")
    assert told["options"]["max_distance"] == 5  # the index keeps its options
    third = [*("-o", "w.jsonl", "--index", "index", "--set", "revisit=drop")]
    assert scan(second, *third, "--duplicates", "d.jsonl")["kept"] == 0
    assert len((here / "d.jsonl").read_text().splitlines()) == 4


def feed_table():
    rows = [item(n % 25, row=n, more={"a": [n]}) for n in range(60)]
    schema = pa.schema(
        [
            ("row", pa.int16()),
            ("url", pa.dictionary(pa.int32(), pa.string())),
            ("more", pa.struct([("a", pa.list_(pa.int8()))])),
            ("text", pa.large_string()),
        ],
        {"who": "made it"},
    )
    return pa.Table.from_pylist(rows, schema)


def test_parquet_keeps_schema_order_and_compression(here, monkeypatch):
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 5_000)
    table = feed_table()
    pq.write_table(table, "a.parquet", row_group_size=17, compression="zstd")
    found = scan("a.parquet", "-o", "u.parquet", "--duplicates", "d.parquet")
    assert found["outcomes"] == {"new": 25, "exact": 35}
    output = pq.ParquetFile("u.parquet")
    assert output.metadata.row_group(0).column(0).compression == "ZSTD"
    assert output.metadata.num_row_groups > 1
    assert output.read().equals(table.slice(0, 25))
    assert output.schema_arrow.metadata == table.schema.metadata
    dropped = pq.read_table("d.parquet")
    assert dropped.drop_columns(["dedup"]).equals(table.slice(25))
    for row in dropped.to_pylist():
        mark = row["dedup"]
        assert (mark["outcome"], mark["original"]) == ("exact", row["url"])
    scan("a.parquet", "--mark", "m.parquet")
    scan("m.parquet", "--mark", "n.parquet", "-o", "o.parquet")
    marked = pq.read_table("n.parquet")
    assert marked.drop_columns(["dedup"]).equals(table)
    outcomes = [row["outcome"] for row in marked["dedup"].to_pylist()]
    assert outcomes == ["new"] * 25 + ["exact"] * 35
    assert "other columns" in refused("scan", "a.parquet", "m.parquet", "-o", "x.parquet")


def test_parquet_needs_the_columns_that_are_named(here):
    pq.write_table(feed_table(), "a.parquet")
    for options in (
        ["--text-fields", "text,body"],
        ["--html-field", "page"],
        ["--url-field", "at"],
    ):
        err = refused("scan", "a.parquet", "-o", "u.parquet", *options)
        assert "a.parquet has no column" in err
        assert "row, url, more.a, text" in err
    pq.write_table(feed_table().drop_columns(["text", "url"]), "b.parquet")
    assert "no column 'html' or 'text'" in refused("scan", "b.parquet", "-o", "u.parquet")
    (here / "c.parquet").write_bytes((here / "a.parquet").read_bytes()[:-100])
    assert "c.parquet cannot be read as Parquet" in refused("scan", "c.parquet", "-o", "u.parquet")
    assert sorted(path.name for path in here.glob("u*")) == []


def archive(path, *extra):
    """Write 12 pages, of which 3 repeat others, each with its request; return all records."""
    members = []
    for n in range(12):
        body = f"<html><title>{n % 9}</title><p>{article(n % 9)}</p></html>".encode()
        members.append(record(f"http://{n}.example/", "request", b"GET / HTTP/1.1\r\n\r\n"))
        members.append(response(f"http://{n}.example/", body))
    members[10:10] = extra
    write(path, *members)
    return members


@pytest.mark.parametrize("packed", [True, False])
def test_warc_records_come_out_byte_for_byte(here, packed):
    name = "a.warc.gz" if packed else "a.warc"
    members = archive(here / name, response("http://a/x.png", b"\x89PNG", "image/png"))
    if not packed:
        members = [gzip.decompress(each) for each in members]
        write(here / name, *members)
    found = scan(name, "-o", f"u.{name}", "--duplicates", "d.jsonl")
    assert found["outcomes"] == {"new": 9, "exact": 3}
    dropped = [20, 22, 24]  # behind the image
    assert (here / f"u.{name}").read_bytes() == b"".join(
        each for place, each in enumerate(members) if place not in dropped
    )
    assert len([*read_warc((here / f"u.{name}").open("rb"), 10**6)]) == 22
    for line, place in zip((here / "d.jsonl").read_text().splitlines(), dropped, strict=True):
        told = json.loads(line)
        start = sum(map(len, members[:place]))
        assert (told["file"], told["start"], told["end"]) == (
            name,
            start,
            start + len(members[place]),
        )
        assert told["dedup"]["original"] == f"http://{(place - 20) // 2}.example/"
    scan(name, "--mark", "m.jsonl")
    assert len((here / "m.jsonl").read_text().splitlines()) == 12


@pytest.mark.parametrize("cut", [0, 1])
def test_a_parquet_file_that_is_cut_off_is_one_bad_record(here, cut):
    table = feed_table()
    pq.write_table(table, "whole.parquet")
    names = ["a.parquet", "b.parquet"]
    for place, name in enumerate(names):
        content = (here / "whole.parquet").read_bytes()
        (here / name).write_bytes(content[:-100] if place == cut else content)
    found = scan(*names, "--mark", "u.parquet")
    assert (found["pages"], found["bad"]) == (len(table), 1)
    assert f"{names[cut]}, row 1: cannot be read as Parquet: " in found["first_bad"][0]
    assert pq.read_table("u.parquet").drop_columns(["dedup"]).equals(table)


def test_what_a_scan_writes_into_a_folder_is_not_read_by_it(here):
    (here / "crawl").mkdir()
    write_jsonl(here / "crawl" / "a.jsonl", ITEMS)
    outputs = [str(here / "crawl" / name) for name in ("b.jsonl", "d.jsonl")]
    command = ["scan", "crawl", "-o", outputs[0], "--duplicates", outputs[1], "--json"]
    first, again = run(*command), run(*command, "--force")
    assert first[2] == ""
    assert again[2].splitlines() == [
        f"crawl/{name} is not read: this scan writes it" for name in ("b.jsonl", "d.jsonl")
    ]
    made = [{**json.loads(each[1]), "seconds": 0} for each in (first, again)]
    assert made[0] == made[1]
    (here / "crawl" / "a.jsonl").unlink()
    error = run(*command, "--force")
    assert error[0] == 2
    assert "no file in crawl but what this scan writes" in error[2]


def test_an_archive_compressed_as_a_whole_is_one_bad_record(here):
    members = archive(here / "a.warc.gz")
    (here / "b.warc.gz").write_bytes(gzip.compress(b"".join(map(gzip.decompress, members))))
    found = scan("a.warc.gz", "b.warc.gz", "-o", "u.warc.gz")
    assert (found["outcomes"], found["bad"]) == ({"new": 9, "exact": 3}, 1)
    assert found["first_bad"][0].startswith("b.warc.gz, byte 0: several records are compressed")


def test_what_cannot_be_used_is_refused_before_anything_is_done(feed, here):
    archive(here / "a.warc.gz")
    (here / "b.warc").write_bytes((here / "a.warc.gz").read_bytes())
    pq.write_table(feed_table(), "a.parquet")
    (here / "there.jsonl").write_text("mine")
    (here / "mine.jsonl.scan").mkdir()
    (here / "mine.jsonl.scan" / "notes").write_text("mine")
    before = {path: path.is_dir() or path.read_bytes() for path in here.rglob("*")}
    for arguments, why in (
        (["none.jsonl", "-o", "u.jsonl"], "there is no file none.jsonl"),
        (["feed.jsonl", "-o", "there.jsonl"], "exists"),
        (["feed.jsonl", "-o", "u.jsonl", "--duplicates", "there.jsonl"], "exists"),
        (["feed.jsonl", "-o", "u.jsonl", "--duplicates", "u.jsonl"], "written twice"),
        (["feed.jsonl", "-o", "feed.jsonl", "--force"], "one of the inputs"),
        (["feed.jsonl", "-o", "./feed.jsonl", "--force"], "one of the inputs"),
        (["feed.jsonl", "-o", "no/u.jsonl"], "folder does not exist"),
        (["feed.jsonl", "-o", "."], "folder"),
        (["feed.jsonl", "-o", "u.jsonl", "--duplicates", "no/d.jsonl"], "folder does not exist"),
        (["feed.jsonl", "-o", "u.parquet"], "lines of JSON"),
        (["a.parquet", "-o", "u.jsonl"], "Parquet"),
        (["a.warc.gz", "-o", "u.jsonl"], "WARC"),
        (["a.warc.gz", "-o", "u.warc"], "holds gzip members, which are written as they are"),
        (["b.warc", "-o", "u.warc"], "b.warc holds gzip members"),
        (["feed.jsonl"], "there is no file to write: give -o FILE, --mark FILE or"),
        (["feed.jsonl", "--mark", "u", "--duplicates", "u"], "written twice"),
        (["a.warc.gz", "-o", "u.warc.gz", "--duplicates", "d.warc.gz"], "lines of JSON"),
        (["a.warc.gz", "feed.jsonl", "-o", "u"], "different formats"),
        (["-", "-", "-o", "u.jsonl"], "only once"),
        (["feed.jsonl", "-o", "mine.jsonl"], "holds 'notes'"),
        (["feed.jsonl", "-o", "u.jsonl", "--index", "redis://localhost/0"], "directory"),
        (["feed.jsonl", "-o", "u.jsonl", "--index", "feed.jsonl"], "index is a folder"),
        (["feed.jsonl", "-o", "u.jsonl", "--set", "colour=red"], "colour"),
        (["feed.jsonl", "-o", "u.jsonl", "--text-fields", "body"], "has a field 'body'"),
        (["there.jsonl", "-o", "u.jsonl"], "there.jsonl, line 1: is no object"),
        (
            ["feed.jsonl", "-o", "u.jsonl", "--max-distance", "3", "--set", "features=colours"],
            "colours",
        ),
    ):
        assert why in refused("scan", *arguments)
        after = {path: path.is_dir() or path.read_bytes() for path in here.rglob("*")}
        assert after == before, arguments


def test_an_output_is_replaced_only_when_asked(feed):
    output = feed.with_name("u.jsonl")
    output.write_text("mine")
    scan("feed.jsonl", "-o", "u.jsonl", "--force")
    written = output.read_bytes()
    assert len(stripped(written)) == 22
    assert "exists" in refused("scan", "feed.jsonl", "-o", "u.jsonl")
    assert output.read_bytes() == written


def test_a_name_with_control_characters_harms_no_terminal(here):
    name = "a\x1b[31m\u202e.jsonl"
    (here / name).write_text('{"url": "http://a/"}\n{\n')
    err = refused("scan", name, "-o", "u.jsonl")
    assert "\\x1b[31m\\u202e" in err


@settings(max_examples=rounds(6, 15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=10), st.data())
def test_files_in_any_cut_give_the_same_as_one(tmp_path_factory, pages, data):
    here = tmp_path_factory.mktemp("cut")
    made = [
        json.dumps(item(n, text=article(number, change)))
        for n, (number, change) in enumerate(pages)
    ]
    cut = data.draw(st.integers(0, len(made)))
    whole = "".join(line + "\n" for line in made)
    (here / "a.jsonl").write_text(whole)
    (here / "b.jsonl.gz").write_bytes(gzip.compress("".join(f"{x}\n" for x in made[:cut]).encode()))
    (here / "c.jsonl").write_text("\n".join(made[cut:]))
    options = ["--workers", "0", "--index"]
    scan(here / "a.jsonl", "-o", here / "u.jsonl", *options, here / "one")
    scan(here / "b.jsonl.gz", here / "c.jsonl", "-o", here / "v.jsonl", *options, here / "two")
    one, two = ((here / name).read_text().splitlines() for name in ("u.jsonl", "v.jsonl"))
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_no_more_is_read_ahead_than_the_workers_need(here, monkeypatch, workers):
    with (here / "a.jsonl").open("w") as file:
        for n in range(40):
            file.write(json.dumps(item(n % 20)) + "\n" + "no record\n" * 30)
    came, told = [], []

    def counted(*arguments, **options):
        for each in records_in(*arguments, **options):
            came.append(each)
            yield each

    def watch(state):
        told.append(state)
        assert len(came) - len(told) <= 16 * workers

    monkeypatch.setattr(scan_module, "records_in", counted)
    job = Scan(["a.jsonl"], here / "u.jsonl", options={"workers": workers})
    found = scan_module.scan(job, watch)
    assert (found.pages, found.kept, found.bad) == (40, 20, 1200)
    assert (told[-1].passed, told[-1].records, told[-1].dropped) == (told[-1].total, 1240, 20)


def test_a_field_that_is_misspelt_is_refused_before_pages_are_judged_without_it(tmp_path):
    feed = write_jsonl(tmp_path / "feed.jsonl", [{**ITEMS[0], "link": "x"}, ITEMS[1]])
    for arguments in (("--url-field", "adress"), ("--text-fields", "text,boddy")):
        error = refused("scan", feed, "-o", str(tmp_path / "u.jsonl"), *arguments)
        assert f"has a field '{arguments[1].rpartition(',')[2]}'; they have 'url'" in error
    assert [path.name for path in tmp_path.iterdir()] == ["feed.jsonl"]
    assert run("scan", feed, "-o", str(tmp_path / "u.jsonl"), "--url-field", "link")[0] == 0


@pytest.mark.parametrize("name", ["feed.jsonl", "feed.parquet"])
def test_fields_within_others_are_read(here, name):
    pages = [item(n) for n in range(6)]
    items = [
        {"page": {"at": each["url"], "parts": {"text": each["text"]}}, "number": number}
        for number, each in enumerate([*pages, *pages])
    ]
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(items), name)
    else:
        write_jsonl(here / name, items)
    options = ["--url-field", "page.at", "--text-fields", "page.parts.text"]
    output = here / f"u.{name.partition('.')[2]}"
    found = scan(name, "-o", output, *options)
    assert (found["without_url"], found["kept"]) == (0, 6)
    if name.endswith(".parquet"):
        assert pq.read_table(output).to_pylist() == items[:6]
    else:
        assert [*map(json.loads, output.read_text().splitlines())] == items[:6]
    for wrong in ("page.parts", "page.parts.nosuch"):
        more = ["--force", *options[:3], wrong]
        code, _, error = run("scan", name, "-o", str(output), *more)
        assert code == 2
    assert "'page.parts.nosuch'" in error
    assert "page.parts.text" in error


def test_pages_without_a_url_are_told(tmp_path):
    items = [{"text": each["text"], "link": each["url"]} for each in ITEMS[:3]]
    feed = write_jsonl(tmp_path / "feed.jsonl", [*items, {"text": ITEMS[4]["text"]}])
    _, out, err = run("scan", feed, "-o", str(tmp_path / "u.jsonl"))
    assert re.search(r"^without_url +1$", out, re.MULTILINE)
    assert "1 page without a URL (--url-field)" in err


def test_templates_that_lose_most_of_their_pages_are_named(tmp_path):
    """As in a crawl; for programs in the report."""
    text = "This is the shop of all shops, and there are more of the lamps than anyone has seen. "
    items = [{"url": f"http://a.example/p/{n}", "text": 3 * text} for n in range(24)]
    feed, output = write_jsonl(tmp_path / "feed.jsonl", items), str(tmp_path / "u.jsonl")
    code, _, err = run("scan", feed, "-o", output)
    pair = "http://a.example/p/0 http://a.example/p/19"
    assert code == 0
    assert err.startswith("19 of the last 20 pages of a.example/p/* repeat another: ")
    assert err.endswith(f"see: dedup-filter compare {pair}\n")
    assert scan(feed, "-o", output, "--force")["warnings"] == [err.rstrip()]
