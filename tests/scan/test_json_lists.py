"""Lists of pages and answers of APIs -> their pages, against `json` on the whole file."""

import gzip
import json
import tracemalloc
from functools import partial

import pytest
from command_line import refused, run, scanned
from hypothesis import given
from hypothesis import strategies as st
from index_feed import ITEMS, item

from dedup_filter.scan import json_text
from dedup_filter.scan.files import open_input
from dedup_filter.scan.inputs import Input, records_in
from dedup_filter.text.page_fields import FieldNames

NAMES = FieldNames("html", ("text",))
VALUE = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text('"\\[]{},:\n\u2028\ud800a '),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"]}', max_size=3), inner),
    max_leaves=6,
)
PAGE = st.fixed_dictionaries(
    {"url": st.just("http://a/"), "text": st.text('a"\\]}')}, optional={"x": VALUE}
)
ANSWER = {"success": True, "total": 2, "more": {"data": [1]}, "none": [], "texts": ["a"]}


def kind_of(path):
    return Input.of(path.name, str(path), "lines", NAMES).kind


def read(path, start=0, number=1):
    return list(records_in(str(path), "list", NAMES, start, number))


def content_of(path, each):
    with json_text.Stream(open_input(str(path))) as stream:
        stream.seek(each.start)
        return stream.read(each.end - each.start)


@given(
    st.lists(PAGE, min_size=1, max_size=5),
    st.sampled_from([None, 0, 3, "\t"]),
    st.sampled_from([None, "data", "results"]),
    st.booleans(),
)
def test_each_element_is_a_record_from_which_reading_can_go_on(
    tmp_path_factory, pages, indent, name, is_packed
):
    path = tmp_path_factory.getbasetemp() / "a.json"
    whole = pages if name is None else {**ANSWER, name: pages, "next": "http://api/2", "b": [{}]}
    text = json.dumps(whole, indent=indent, ensure_ascii=is_packed)
    mark = "\ufeff" * is_packed
    content = f"{mark}{text}\n{text}\n".encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(content) if is_packed else content)
    assert kind_of(path) == "list"
    found = read(path)
    assert [each.number for each in found] == [*range(1, 2 * len(pages) + 1)]
    for each, page in zip(found, pages * 2, strict=True):
        assert (each.url, each.page.text, each.problem) == ("http://a/", page["text"], None)
        line = json_text.on_one_line(content_of(path, each))
        assert (json.loads(line), line.count(b"\n")) == (page, 1)
        rest = read(path, each.end, each.number + 1)
        assert [one[:3] for one in rest] == [one[:3] for one in found[each.number :]]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[1, 2]\n",
        b"[]",
        b'[["a"]]',
        b'{"data": []}',
        b'{"data": "x"}',
        b"{",
        b'{"pictures": [{"a": 1}], "url": "http://a/", "text": "b"}\n{"text": "b"}\n',
        b'{"url": "http://a/", "links": [{"a": 1}]}\n{"text": "b"}\n',
        b'{"url": "http://a/", "links": [{"a',
    ],
)
def test_other_files_are_lines(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    assert kind_of(tmp_path / "a.json") == "lines"


GOOD = b'{"url": "http://a/", "text": "b"}'
BOMBS = [b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000]
DAMAGED = {
    "no value": (b'{"url": "http://a/", "text": }', 1),
    "no quote, and the line ends": (b'{"url": "http://a/}\n', 1),
    "no brackets": (b'"url": 5', 1),
    "numbers": (b"1, null", 2),
    "other brackets": (b'{"url": "http://a/"]', 1),
    "a bracket too many": (b'{"url": [1]]}', 2),
    "a comma too many": (b",", 0),
    "no comma": (GOOD + b" " + GOOD, 0),
    "not UTF-8": (b'{"url": "\xff"}', 1),
    "brackets in brackets": (BOMBS[0], 1),
    "objects in objects": (BOMBS[1], 1),
    "a string of brackets": (b'{"url": "' + b'\\"]' * 20_000 + b'"}', 0),
}


@pytest.mark.parametrize(("damaged", "bad"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_element_is_a_bad_record_and_the_next_ones_are_read(tmp_path, damaged, bad):
    (tmp_path / "a.json").write_bytes(b"[" + GOOD + b",\n" + damaged + b",\n" + GOOD + b"]")
    found = read(tmp_path / "a.json")
    assert (found[0].problem, found[-1].problem) == (None, None)
    assert sum(bool(each.problem) for each in found) == bad
    assert all("no object of JSON" in each.problem for each in found if each.problem)


def test_a_file_cut_anywhere_gives_the_elements_before_the_cut(tmp_path):
    text = json.dumps({"status": "completed", "data": ITEMS[:4], "next": None}, indent=1).encode()
    path = tmp_path / "a.json"
    path.write_bytes(text)
    ends = [each.end for each in read(path)]
    for cut in range(ends[0], len(text), 41):
        path.write_bytes(text[:cut])
        found = read(path)
        assert [each.end for each in found if not each.problem] == [
            end for end in ends if end <= cut
        ]
        if cut <= ends[-1]:
            assert found[-1].problem == "is missing, as the file ends within its list"
        assert read(path, found[-1].end, 9) == [] or not found[-1].problem
    path.write_bytes(gzip.compress(text)[:-20])
    assert "cannot be read from here on: Compressed file ended" in read(path)[-1].problem
    path.write_bytes(text + b"\nnonsense")
    assert [bool(each.problem) for each in read(path)] == [False] * 4 + [True]


@pytest.mark.slow
def test_an_element_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(json_text, "LONGEST_LINE", 2**20)
    long = b'{"text": "' + b"\\n]" * 10**7 + b'"}'
    path = tmp_path / "a.json"
    path.write_bytes(b"[" + b",".join([GOOD, long, GOOD]) + b"]")
    tracemalloc.start()
    try:
        found = read(path)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()
    assert [each.problem for each in found] == [None, "is longer than 1,048,576 bytes", None]
    assert found[2].end == path.stat().st_size - 1


@pytest.mark.parametrize("indent", [None, 2])
def test_a_scan_of_an_answer_gives_lines(tmp_path, monkeypatch, indent):
    monkeypatch.chdir(tmp_path)
    pages = [
        {"markdown": each["text"], "metadata": {"sourceURL": each["url"], "title": "A"}}
        for each in [item(1), item(2), item(1, url="https://www.example.com/again")]
    ]
    answer = {"success": True, "status": "completed", "total": 3, "data": [*pages, 5]}
    (tmp_path / "a.json").write_text(json.dumps(answer, indent=indent))
    fields = ["--url-field", "metadata.sourceURL", "--text-fields", "markdown"]
    command = ["scan", "a.json", "-o", "u.jsonl", "--duplicates", "d.jsonl", *fields]
    code, _, err = run(*command)
    assert (code, err) == (2, "a.json, object 4: is no object of JSON\n")
    assert [*map(json.loads, (tmp_path / "u.jsonl").read_text().splitlines())] == pages[:2]
    (dropped,) = map(json.loads, (tmp_path / "d.jsonl").read_text().splitlines())
    assert dropped.pop("dedup")["original"] == item(1)["url"]
    assert dropped == pages[2]
    # Also from standard input, with lines beside it, and with the texts of pages.
    (tmp_path / "b.jsonl").write_text(json.dumps(pages[0]) + "\n")
    arguments = ["-", "b.jsonl", "-o", "v.jsonl", *fields, "--with-text"]
    found = scanned(*arguments, text=(tmp_path / "a.json").read_text())
    assert (found["outcomes"], found["bad"]) == ({"new": 2, "exact": 2}, 1)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_list(tmp_path):
    path = tmp_path / "a.json"
    with path.open("w") as file:
        file.write('{"data": [')
        file.writelines(json.dumps(item(n % 9, raw="x" * 10_000)) + ",\n" for n in range(3_000))
        file.write("{}]}")
    tracemalloc.start()
    try:
        assert kind_of(path) == "list"
        assert sum(1 for _ in records_in(str(path), "list", NAMES)) == 3_001
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()


def test_a_field_that_no_element_has_is_refused(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(ITEMS[:3], indent=1))
    command = partial(refused, "scan", str(tmp_path / "a.json"), "-o", str(tmp_path / "u.jsonl"))
    assert "none of the first 3 objects has a field 'boddy'" in command(
        "--text-fields", "text,boddy"
    )
