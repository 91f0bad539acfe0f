"""Whenever a scan is killed: the same command gives what an undisturbed scan gives."""

import json
import os
import re
import shutil
import signal
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import run, run_with_small_files, start
from filelock import FileLock
from gate import slow
from index_feed import article, item, write_jsonl
from killed_scan import scan_and_be_killed
from patience import wait_until
from warc_samples import response, write

from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import ConfigError, StoreBusy
from dedup_filter.scan import scan as scan_module
from dedup_filter.scan.scan import scan
from dedup_filter.scan.work import Scan, found_of
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_fields import FieldNames

PAGES = [item(n, text=article(n * 7 % 40, n % 3) if n % 9 else "short") for n in range(100)]


def lines_files(folder):
    write_jsonl(folder / "a.jsonl", PAGES[:30])
    with (folder / "a.jsonl").open("a") as file:
        file.write("{no record\n\n" * 5)
    write_jsonl(folder / "b.jsonl", PAGES[30:])
    return ["a.jsonl", "b.jsonl"], "u.jsonl", "d.jsonl"


def parquet_files(folder):
    pq.write_table(pa.Table.from_pylist(PAGES[:60]), folder / "a.parquet", row_group_size=25)
    pq.write_table(pa.Table.from_pylist(PAGES[60:]), folder / "b.parquet")
    return ["a.parquet", "b.parquet"], "u.parquet", "d.parquet"


def warc_files(folder):
    made = [response(page["url"], f"<p>{page['text']}".encode()) for page in PAGES]
    made[40:40] = [response("http://a/p", b"\x89PNG", "image/png")] * 5 + [b"\x1f\x8b\x08\x00bad"]
    write(folder / "a.warc.gz", *made)
    return ["a.warc.gz"], "u.warc.gz", "d.jsonl"


def job_in(folder, make):
    folder.mkdir()
    inputs, output, dropped = make(folder)
    return Scan(
        [str(folder / name) for name in inputs],
        folder / output,
        folder / dropped,
        index=folder / "index",
        keep="longest" if make is lines_files else "first",
        options={"workers": 0},
    )


def copied(job, folder):
    """Make the same scan of copies in another folder."""
    folder.mkdir()
    names = [shutil.copy(name, folder) for name in job.inputs]
    return replace(
        job,
        inputs=names,
        output=folder / job.output.name,
        duplicates=folder / job.duplicates.name,
        index=folder / "index",
    )


def outputs_of(job):
    """What was written; where it tells of files, without their folders."""
    here = str(job.output.parent).encode()
    return [path.read_bytes().replace(here, b"") for path in (job.output, job.duplicates)]


def recorded(job):
    with SqliteStore.open_to_read(job.index) as reader:
        return [
            # One that was killed before the first commit is another crawl.
            each._replace(first_seen=0, last_seen=0, first_crawl=0, crawl=0)
            for each in reader.records()
        ]


@pytest.mark.parametrize("make", [lines_files, slow(parquet_files), slow(warc_files)])
@pytest.mark.parametrize("kills", [4, slow(10)], ids=["some", "many"])
def test_a_scan_that_is_killed_at_any_step_ends_as_if_it_was_not(tmp_path, make, kills):
    whole = job_in(tmp_path / "whole", make)
    summary = scan(whole)
    assert summary.outcomes["near"] > 20
    chance, rounds = Random(kills), count()
    while kills:
        job = copied(whole, tmp_path / str(next(rounds)))
        while kills > 0 and scan_and_be_killed(
            job, chance.choice([40, 400, 900]) * chance.random()
        ):
            kills -= 1
        with suppress(ConfigError) if job.output.exists() else nullcontext():  # all was done
            assert scan(job)._replace(first_bad=[]) == summary._replace(first_bad=[])
        assert outputs_of(job) == outputs_of(whole)
        assert recorded(job) == recorded(whole)
        with NearDuplicateFilter.open(job.index) as pages:
            pages.check()
        names = {path.name for path in job.output.parent.iterdir()}
        assert names == {path.name for path in whole.output.parent.iterdir()}


@pytest.mark.slow
def test_a_scan_with_workers_is_killed_by_the_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", PAGES * 8)
    command = ["scan", "a.jsonl", "--workers", "2", "-o"]
    assert run(*command, "whole.jsonl", "--duplicates", "whole.d.jsonl")[0] == 0
    command += ["u.jsonl", "--duplicates", "d.jsonl"]
    log = tmp_path / "u.jsonl.scan" / "verdicts.jsonl"
    lengths = [0]
    for _ in range(3):
        with start(*command) as scanning:
            wait_until(
                lambda: (
                    scanning.poll() is not None
                    or (log.exists() and log.stat().st_size > lengths[-1] + 1_000)
                ),
                "the log grows",
            )
            os.kill(scanning.pid, signal.SIGKILL)
        assert scanning.returncode == -signal.SIGKILL
        lengths.append(log.stat().st_size)
    assert not (tmp_path / "u.jsonl").exists()
    assert run(*command)[0] == 0
    for name in ("", "d."):
        whole = (tmp_path / f"whole.{name}jsonl").read_bytes()
        assert (tmp_path / f"{name or 'u.'}jsonl").read_bytes() == whole


@pytest.mark.slow
@pytest.mark.parametrize("entries", [1, 30, 71])
def test_ctrl_c_between_a_verdict_and_its_entry_loses_no_page(tmp_path, monkeypatch, entries):
    whole = job_in(tmp_path / "whole", lines_files)
    scan(whole)
    job = copied(whole, tmp_path / "job")
    left = [entries]

    def interrupted(*arguments):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return found_of(*arguments)

    monkeypatch.setattr(scan_module, "found_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scan(job)
    scan(job)
    assert outputs_of(job) == outputs_of(whole)


def test_a_scan_of_the_folder_that_it_writes_to_goes_on_and_tells_how_far_it_is(tmp_path):
    job = job_in(tmp_path / "crawl", lines_files)
    job = replace(job, inputs=[str(job.output.parent)])
    assert scan_and_be_killed(job, 250)
    told = []
    summary = scan(job, say=told.append)
    found = re.fullmatch(r"Continuing an interrupted scan: (\d+) records judged already\.", *told)
    assert 0 < int(found[1]) < len(PAGES)
    assert summary.pages == len(PAGES)


@pytest.mark.slow
def test_a_disk_that_is_full_is_told_and_the_scan_goes_on_later(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", PAGES * 4)
    command = ["scan", "a.jsonl", "--workers", "0", "--mark"]
    assert run(*command, "whole.jsonl")[0] == 0
    for most in (100_000, 300_000):  # bytes of each file
        code, out, err = run_with_small_files(most, *command, "u.jsonl")
        assert (code in (1, 2), out) == (True, "")
        assert len(err.splitlines()) == 1 + ("Continuing" in err)
        assert "u.jsonl" in err
        assert not (tmp_path / "u.jsonl").exists()
    assert run(*command, "u.jsonl")[0] == 0
    assert (tmp_path / "u.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.fixture
def interrupted(tmp_path):
    """A scan that was killed when it had judged some pages."""
    job = job_in(tmp_path / "crawl", lines_files)
    assert scan_and_be_killed(job, 500)
    return job


def test_another_scan_to_the_same_output_is_refused_unless_it_is_forced(interrupted, tmp_path):
    folder = interrupted.output.parent
    other = write_jsonl(tmp_path / "c.jsonl", PAGES[:9])
    for changed in (
        replace(interrupted, inputs=[other]),
        replace(interrupted, options={"max_distance": 3}),
        replace(interrupted, index=None),
        replace(interrupted, names=FieldNames("text")),
    ):
        before = {path: path.stat().st_size for path in folder.rglob("*")}
        with pytest.raises(ConfigError, match="another interrupted scan"):
            scan(changed)
        assert {path: path.stat().st_size for path in folder.rglob("*")} == before
    # How many workers there are, and what is written, is no other scan.
    mark = folder / "marked.jsonl"
    marked = replace(interrupted, options={"workers": 2}, mark=mark, duplicates=None)
    assert scan(marked).pages == len(PAGES)
    assert len(mark.read_text().splitlines()) == len(PAGES)


def test_a_forced_scan_forgets_the_other(interrupted, tmp_path):
    other = write_jsonl(tmp_path / "c.jsonl", [item(n) for n in range(50, 53)])
    forced = replace(interrupted, inputs=[other], index=None, force=True)
    assert scan(forced).outcomes == {"new": 3}
    names = {path.name for path in forced.output.parent.iterdir()}
    assert names == {"a.jsonl", "b.jsonl", "u.jsonl", "d.jsonl", "index"}


@pytest.mark.slow
def test_an_index_that_another_scan_has_used_meanwhile_loses_no_page(interrupted, tmp_path):
    folder = interrupted.output.parent
    other = Scan([write_jsonl(tmp_path / "c.jsonl", PAGES[50:60])], folder / "x.jsonl")
    scan(replace(other, index=interrupted.index, options={"workers": 0}))
    alone = scan(job_in(tmp_path / "alone", lines_files))
    found = scan(interrupted)
    # It begins anew: what it has recorded itself it takes for an earlier crawl's.
    assert found.pages == alone.pages
    assert found.kept >= alone.kept
    kept = interrupted.output.read_text()
    with NearDuplicateFilter.open(**interrupted.options) as pages:
        for line in kept.splitlines():
            pages.see(**json.loads(line))
        for page in PAGES:
            assert pages.see(**page).outcome != "new"


def test_an_input_that_has_changed_is_told(interrupted):
    with Path(interrupted.inputs[1]).open("a") as file:
        file.write(json.dumps(item(300)) + "\n")
    with pytest.raises(ConfigError, match="with other inputs"):
        scan(interrupted)


def test_two_processes_do_not_scan_to_the_same_output(interrupted):
    folder = interrupted.output.with_name("u.jsonl.scan")
    with FileLock(folder / "lock"), pytest.raises(StoreBusy, match="another process"):
        scan(interrupted)


@pytest.mark.slow
def test_standard_input_must_come_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "".join(json.dumps(page) + "\n" for page in PAGES * 4)
    command = ["scan", "-", "-o", "u.jsonl", "--workers", "0"]
    log = tmp_path / "u.jsonl.scan" / "verdicts.jsonl"
    for length in (len(text) // 3, len(text)):  # killed while it comes, and while it is judged
        with start(*command) as scanning:
            scanning.stdin.write(text[:length].encode())
            scanning.stdin.flush()
            if length == len(text):
                scanning.stdin.close()
                wait_until(lambda: log.exists() and log.stat().st_size > 5_000, "pages are judged")
            os.kill(scanning.pid, signal.SIGKILL)
    code, out, err = run(*command, text=text.replace("harbour", "airport"))
    assert (code, out) == (2, "")
    assert "belongs to another interrupted scan, with other inputs" in err
    assert run(*command, text=text)[0] == 0
    assert run("scan", "-", "-o", "v.jsonl", "--workers", "0", text=text)[0] == 0
    assert (tmp_path / "u.jsonl").read_bytes() == (tmp_path / "v.jsonl").read_bytes()
