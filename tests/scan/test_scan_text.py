"""`scan --with-text`: each kept page has its clean text, also those before the frame was known."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import refused, run
from index_feed import article

NOTICE = "This site keeps a notice of two sentences. It stands on every page and says nothing new."


def html(n):
    return f"<h1>Headline {n}</h1><p>{article(n)}</p><p>{NOTICE}</p>"


ROWS = [{"url": f"http://a/{n}", "html": html(n), "text": "old"} for n in (0, 1, 2, 0, 3)]
OWN = [f"Headline {n}\n{article(n).strip()}" for n in (0, 1, 2, 3)]


@pytest.fixture
def feed(here):
    lines = [json.dumps(row) for row in ROWS]
    (here / "a.jsonl").write_text("\n".join([*lines, json.dumps({"url": "http://a/none"})]))
    return "a.jsonl"


def scan(*arguments):
    code, _, err = run("scan", *arguments, "--html-field", "html")
    assert (code, err) == (0, "")


def test_lines_get_the_text_of_their_page(feed, here):
    scan(feed, "-o", "u.jsonl", "--with-text", "--duplicates", "d.jsonl")
    *kept, none = map(json.loads, (here / "u.jsonl").read_text().splitlines())
    assert [each["text"] for each in kept] == OWN
    assert none == {"url": "http://a/none"}
    [dropped] = map(json.loads, (here / "d.jsonl").read_text().splitlines())
    assert dropped["text"] == "old"


def test_a_named_field_is_added_and_all_else_stays(feed, here):
    scan(feed, "-o", "u.jsonl", "--with-text", "--text-out", "own")
    scan(feed, "-o", "v.jsonl")
    with_text, without = ((here / name).read_text().splitlines() for name in ("u.jsonl", "v.jsonl"))
    for line, plain, text in zip(with_text, without, [*OWN, None], strict=True):
        assert line.startswith(plain[:-1])
        assert json.loads(line) == json.loads(plain) | ({} if text is None else {"own": text})


@pytest.mark.parametrize("name", ["text", "own"])
def test_rows_get_the_text_of_their_page(here, name):
    pq.write_table(pa.Table.from_pylist([*ROWS, {"url": "http://a/none"}]), "a.parquet")
    scan("a.parquet", "--mark", "u.parquet", "--with-text", "--text-out", name)
    rows = pq.read_table("u.parquet").to_pylist()
    assert [row[name] for row in rows] == [*OWN[:3], None, OWN[3], None]
    assert [row["dedup"]["outcome"] for row in rows].count("exact") == 1


def test_options_without_a_meaning_are_refused(feed, here):
    assert "--text-out is for" in refused("scan", feed, "-o", "u", "--text-out", "own")
    spark = ["--engine", "spark", "--with-text"]
    assert "not for --engine spark" in refused("scan", feed, "-o", "u", *spark)
    (here / "a.warc").write_bytes(b"WARC/1.0\r\n\r\n")
    assert "WARC records" in refused("scan", "a.warc", "-o", "u.warc", "--with-text")
