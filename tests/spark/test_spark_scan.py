"""`dedup-filter scan --engine spark`: the pages that the same command keeps without Spark."""

import json
import shutil
import socket

import pytest
from command_line import refused, run_process
from made_text import prose

pytest.importorskip("pyspark")


@pytest.fixture
def feed(tmp_path):
    """A feed in two files, with a line that is none."""
    lines = [
        json.dumps({"url": f"http://a{each}.example/", "text": prose(each % 5), "n": each})
        for each in range(12)
    ]
    first, second = tmp_path / "b.jsonl", tmp_path / "a.jsonl"
    first.write_text("\n".join([*lines[:7], "no object", ""]))
    second.write_text("\n\n".join(lines[7:]) + "\n")
    return [str(first), str(second)]


def told(*arguments):
    code, out, err = run_process(*arguments)
    assert code == 0, err
    return json.loads(out)


def parts(folder):
    return sorted(
        line for part in folder.glob("part-*") for line in part.read_text("utf-8").splitlines()
    )


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("java"), reason="needs Java")
def test_keeps_the_lines_that_the_local_scan_keeps(tmp_path, feed):
    local, spark = tmp_path / "local.jsonl", tmp_path / "spark"
    wanted = told("scan", *feed, "-o", str(local), "--json")
    dropped = tmp_path / "dropped"
    on_spark = ["--engine", "spark", "--master", "local[2]", "--duplicates", str(dropped)]
    found = told("scan", *feed, "-o", str(spark), "--json", *on_spark)
    assert parts(spark) == sorted(local.read_text("utf-8").splitlines())
    assert [found[name] for name in ("pages", "kept", "outcomes", "bad")] == [
        wanted[name] for name in ("pages", "kept", "outcomes", "bad")
    ]
    marks = [json.loads(line) for line in parts(dropped)]
    assert {mark["n"] for mark in marks} == set(range(5, 12))
    assert {mark["dedup"]["original"] for mark in marks} == {
        f"http://a{each}.example/" for each in range(5)
    }


def test_a_master_that_does_not_answer_is_told(tmp_path, feed):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        said = refused(
            "scan", *feed, "-o", str(tmp_path / "out"), "--engine", "spark", "--master", master
        )
    assert f"no Spark master answers at {master}" in said


def test_no_java_is_told(tmp_path, feed, monkeypatch):
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
def test_refuses_what_spark_has_no_use_for(tmp_path, feed, more, message):
    assert message in refused("scan", *feed, "-o", str(tmp_path / "out"), *more)
