"""`dedup-filter scan --engine spark`: the pages that the same command keeps without Spark."""

import json
import socket
from uuid import uuid4

import pytest
from command_line import refused, run_process
from made_text import prose

pytest.importorskip("pyspark")


@pytest.fixture
def feed(tmp_path):
    """A feed in two files, with a line that is no object."""
    lines = [
        json.dumps({"url": f"http://a{each}.example/", "text": prose(each % 5), "n": each})
        for each in range(12)
    ]
    first, second = tmp_path / "b.jsonl", tmp_path / "a.jsonl"
    first.write_text("\n".join([*lines[:7], "no object", ""]))
    second.write_text("\n\n".join(lines[7:]) + "\n")
    return [str(first), str(second)]


def report_of(*arguments):
    code, out, err = run_process(*arguments)
    assert code == 2, err  # a line is bad
    return json.loads(out)


def parts(folder):
    return sorted(
        line for part in folder.glob("part-*") for line in part.read_text("utf-8").splitlines()
    )


@pytest.mark.slow
@pytest.mark.usefixtures("of_processes")
def test_keeps_the_lines_that_the_local_scan_keeps(tmp_path, feed):
    local, spark = tmp_path / "local.jsonl", tmp_path / "spark"
    wanted = report_of("scan", *feed, "-o", str(local), "--json")
    dropped = tmp_path / "dropped"
    on_spark = ["--engine", "spark", "--master", "local[2]", "--duplicates", str(dropped)]
    found = report_of("scan", *feed, "-o", str(spark), "--json", *on_spark)
    assert parts(spark) == sorted(local.read_text("utf-8").splitlines())
    assert [found[name] for name in ("pages", "kept", "outcomes", "bad")] == [
        wanted[name] for name in ("pages", "kept", "outcomes", "bad")
    ]
    marks = [json.loads(line) for line in parts(dropped)]
    assert {mark["n"] for mark in marks} == set(range(5, 12))
    assert {mark["dedup"]["original"] for mark in marks} == {
        f"http://a{each}.example/" for each in range(5)
    }


def in_archive(pages):
    """A WARC file of responses."""
    records = []
    for page in pages:
        said = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>{page['text']}</p>".encode()
        head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-11-01T00:00:00Z\r\n"
        head += f"WARC-Record-ID: <urn:uuid:{uuid4()}>\r\nWARC-Target-URI: {page['url']}\r\n"
        head += "Content-Type: application/http; msgtype=response\r\n"
        records.append(f"{head}Content-Length: {len(said)}\r\n\r\n".encode() + said)
    return b"\r\n\r\n".join([*records, b""])


@pytest.mark.slow
def test_other_formats_keep_their_form(spark, tmp_path):
    from dedup_filter.scan.work import Scan
    from dedup_filter.spark.scan import scan_on

    pages = [{"url": f"http://a{n}.example/", "text": prose(n % 3), "n": n} for n in range(6)]
    spark.createDataFrame(pages).coalesce(1).write.parquet(str(tmp_path / "a.parquet"))
    (tmp_path / "a.warc").write_bytes(in_archive(pages))
    kept = [each["url"] for each in pages[:3]]
    rows, places = tmp_path / "rows", tmp_path / "places"
    report = scan_on(spark, Scan([str(tmp_path / "a.parquet")], rows))
    assert (report.pages, report.kept, report.without_url) == (6, 3, 0)
    written = spark.read.parquet(str(rows))
    assert {*written.columns} == {"url", "text", "n"}
    assert sorted(row.url for row in written.collect()) == kept
    report = scan_on(spark, Scan([str(tmp_path / "a.warc")], mark=places))
    assert (report.pages, report.kept, report.reasons) == (6, 3, {})
    marks = {mark["url"]: mark["dedup"]["original"] for mark in map(json.loads, parts(places))}
    assert marks == {
        each["url"]: None if each["url"] in kept else f"http://a{each['n'] % 3}.example/"
        for each in pages
    }


def test_a_master_that_does_not_answer_is_reported(tmp_path, feed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        said = refused(
            "scan", *feed, "-o", str(tmp_path / "out"), "--engine", "spark", "--master", master
        )
    assert f"no Spark master answers at {master}" in said


def test_missing_java_is_reported(tmp_path, feed, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    said = refused("scan", *feed, "-o", str(tmp_path / "out"), "--engine", "spark")
    assert "Spark needs Java 17 or newer" in said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--engine", "spark", "--index", "index"], "not for --engine spark"),
        (["--engine", "spark", "--keep", "longest"], "not for --engine spark"),
        (["--master", "local[2]"], "--master is for --engine spark"),
    ],
)
def test_refuses_what_has_no_meaning_on_spark(tmp_path, feed, more, message):
    assert message in refused("scan", *feed, "-o", str(tmp_path / "out"), *more)
