"""Pages read by worker processes get the verdicts that they get without, whatever happens there."""

import os
import pickle
import random
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from bad_pages import KINDS
from gate import slow
from patience import wait_until
from site_pages import framed

from dedup_filter.config import FilterConfig
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.model import Unjudged
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.workers import _WORK, Pool, Reading, Worker


@pytest.fixture
def stream(article):
    """Pages of three hosts in their frames, with copies, edits and print views between them."""
    chance = random.Random(8)
    pages = []
    for number in range(18):
        text = article(number, words=240)
        for host in "abc":
            seed = number if host == "a" else f"{host}{number // 3}"
            own = text if host == "a" or number % 3 == 0 else article(seed, words=240)
            more = article(f"more {number % 4}", words=30)
            url = f"http://{host}.example/{number}"
            pages.append({"url": url, "html": framed(own, more)})
            if number % 5 == 0:
                pages.append({"url": f"{url}?print", "html": f"<h1>View</h1><p>{own}</p>"})
                pages.append({"url": f"{url}?again", "html": framed(article(seed, 2, 240), more)})
    pages += [{"url": f"http://t/{n}", "text": article(n % 7, n % 2)} for n in range(20)]
    chance.shuffle(pages)
    return pages


def pids_of(known):
    return [worker.pid for worker in known.pool._workers if not worker.is_over]


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """Have workers read from the first page on: a process reads alone while they start."""
    begin = Worker.__init__

    def wait(worker, *given):
        begin(worker, *given)
        wait_until(lambda: worker._has_started or worker.is_over, "a worker has started")

    monkeypatch.setattr(Worker, "__init__", wait)


def judged(pages, location="memory:", **options):
    with NearDuplicateFilter.open(location, **options) as known:
        return list(known.see_many(pages))


@pytest.mark.parametrize(
    ("workers", "options"),
    [
        slow(1, {}),
        slow(2, {"scope": "host", "max_distance": 3, "learn_frames": False}),
        (2, {"features": "shingles", "title_weight": 2, "heading_weight": 2, "image_weight": 3}),
    ],
)
def test_verdicts_are_those_without_workers(stream, workers, options, monkeypatch):
    expected, taken, read = judged(stream, **options), [], Worker.read

    def counted(worker, reading):
        read(worker, reading)
        taken.append(reading.by_worker)

    monkeypatch.setattr(Worker, "read", counted)

    assert judged(stream, workers=workers, **options) == expected
    assert sum(isinstance(each.result(), ReadPage) for each in taken) >= 20
    assert {verdict.outcome for verdict in expected} >= {"new", "near", "exact"}


@pytest.mark.slow
def test_verdicts_of_odd_pages_are_those_without_workers():
    pages = [
        {"url": f"http://{name.replace(' ', '-')}{seed}/{edits}", "html": kind.make(seed, edits)}
        for name, kind in KINDS.items()
        if len(kind.make(1, 0)) < 20_000
        for seed, edits in [(1, 0), (1, 2)]
    ]

    assert judged(pages, workers=2) == judged(pages)


@pytest.mark.slow
def test_workers_of_a_daemon_load_nothing_from_its_folder(tmp_path, article):
    """It has no stderr, and they read a string of a class that they do not know in its process."""
    (tmp_path / "lxml.py").write_text("raise SystemExit('another lxml')")
    (tmp_path / "elsewhere").mkdir()
    script = tmp_path / "elsewhere" / "script.py"
    script.write_text(
        "from dedup_filter import NearDuplicateFilter\n"
        "from dedup_filter.text.page_fields import PageText\n"
        "from dedup_filter.text.page_url import Place\n"
        "class Text(str): pass\n"
        f"text = {article(1)!r}\n"
        "with NearDuplicateFilter.open(workers=1) as pages:\n"
        "    texts = [PageText(text=each) for each in (text, Text(text))]\n"
        "    read = [pages.pool.read(each, Place.of('')) for each in texts]\n"
        "    verdicts = [pages.conductor.see(each.place, each.result()) for each in read]\n"
        "    worker, = pages.pool._workers\n"
        "    print(*(v.outcome for v in verdicts), worker.has_answered, worker.is_over)\n"
    )
    command = ["sh", "-c", 'exec "$0" "$1" 2>&-', sys.executable, script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == "new exact True False\n"


def test_pages_before_an_error_are_judged(stream):
    def broken():
        yield from stream[:9]
        yield {"url": None, "text": ""}
        raise AssertionError("nothing more is asked for")

    with NearDuplicateFilter.open(workers=1) as known:
        verdicts = known.see_many(broken())
        assert [next(verdicts) for _ in range(9)] == judged(stream[:9])
        with pytest.raises(TypeError, match="URL"):
            next(verdicts)


@pytest.mark.slow
def test_a_directory_holds_the_same(stream, tmp_path):
    def crawled(workers):
        folder = tmp_path / str(workers)
        # Pages of the first half that wait are judged again in the second.
        halves = [stream[:45], stream[45:]]
        seen = [judged(half, folder, workers=workers, keep_text=True) for half in halves]
        with NearDuplicateFilter.open(folder, keep_text=True) as known:
            known.check()
        with SqliteStore.open_to_read(folder) as store:
            return seen, [store.content(record) for record in store.records()]

    assert crawled(1) == crawled(0)


@pytest.mark.slow
def test_killed_workers_are_replaced(stream, caplog):
    """Each has answered before: after some that have not, no other would be started."""
    killed = set()

    def disturbed(known):
        for page in stream:
            for worker in known.pool._workers:
                if worker.has_answered and worker.pid not in killed and len(killed) < 3:
                    os.kill(worker.pid, signal.SIGKILL)
                    killed.add(worker.pid)
            yield page

    with NearDuplicateFilter.open(workers=2) as known:
        verdicts = list(known.see_many(disturbed(known)))

    assert len(killed) > 2, "more than the first two"
    assert verdicts == judged(stream)
    assert "a worker process has ended (exit code -9)" in caplog.text


HERE = Place.of("http://a/")


@pytest.fixture
def pool():
    pool = Pool(FilterConfig(workers=1), time_limit=1.0)
    yield pool
    pool.close()


@pytest.fixture
def begin(pool, article):
    """Let a page be read; return the future of what the worker has read."""
    return lambda number: pool.read(PageText(None, article(number)), HERE).by_worker


def test_a_page_that_takes_too_long_is_kept_unjudged(pool, begin, caplog):
    assert isinstance(begin(0).result(), ReadPage)

    os.kill(pool._workers[0].pid, signal.SIGSTOP)  # as a parser that never ends
    stalled, next_one = begin(1), begin(2)

    assert stalled.result() == Unjudged("too_slow")
    assert next_one.result() is None  # it was given to the same process
    assert isinstance(begin(2).result(), ReadPage)
    assert "a page took too long" in caplog.text


@pytest.mark.slow
def test_a_process_that_is_killed_in_the_middle_of_an_answer_holds_up_nothing(
    pool, begin, monkeypatch
):
    assert isinstance(begin(0).result(), ReadPage)
    (worker,) = pool._workers
    worker._time_limit = 60.0
    # No pipe has room for so many words.
    long = PageText(None, "".join(f"word{number} " for number in range(150_000)))
    load = pickle.load

    def load_late(pages):
        assert pages.peek(1)  # the answer has begun
        os.kill(worker.pid, signal.SIGKILL)
        return load(pages)

    monkeypatch.setattr(pickle, "load", load_late)
    assert isinstance(begin(1).result(), ReadPage)  # it was waited for already
    reading = pool.read(long, HERE)

    assert reading.by_worker.result(20) is None
    monkeypatch.undo()
    assert reading.result().content.text.startswith("word0 word1 ")
    assert isinstance(begin(2).result(20), ReadPage)


def test_processes_that_end_at_once_are_not_started_for_ever(stream, monkeypatch, caplog):
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert judged(stream[:30], workers=1) == judged(stream[:30])
    assert caplog.text.count("has ended") <= 3


def test_a_page_that_cannot_be_read_is_given_back_and_the_process_goes_on(pool, begin):
    assert isinstance(begin(0).result(), ReadPage)
    (worker,) = pool._workers

    wrong = pool.read(PageText(), HERE)

    assert wrong.by_worker.result() is None
    with pytest.raises(TypeError):
        wrong.result()
    assert isinstance(begin(1).result(), ReadPage)
    assert pool._workers == [worker]


def test_what_is_not_read_when_a_worker_is_closed_is_given_back(pool, begin):
    assert isinstance(begin(0).result(), ReadPage)
    (worker,) = pool._workers
    os.kill(worker.pid, signal.SIGSTOP)
    waits = [begin(number) for number in range(20)]

    worker.close()

    late = Reading(PageText(None, "late"), HERE, FilterConfig())
    worker.read(late)
    assert all(each.result() is None for each in [*waits, late.by_worker])
    assert worker.backlog == 0
    assert worker.is_over


def test_a_process_whose_answers_nobody_takes_ends_without_a_word():
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", _WORK, *sys.path]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        pickle.dump(FilterConfig(), process.stdin)
        process.stdin.flush()
        pickle.load(process.stdout)  # it has started
        process.stdout.close()
        pickle.dump((PageText(None, "text"), HERE), process.stdin)
        process.stdin.flush()

        assert process.stderr.read() == b""
        assert process.wait() == 0


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
class TestNoProcessIsLeft:
    @pytest.mark.parametrize("count", [1, slow(200)])
    def test_after_close_in_mid_stream_or_at_its_end(self, stream, count):
        with NearDuplicateFilter.open(workers=2) as known:
            list(islice(known.see_many(stream[:30]), count))
            pids = pids_of(known)
        assert pids
        assert not any(map(os.path.exists, (f"/proc/{pid}" for pid in pids)))  # no zombie, either

    @pytest.mark.parametrize("number", [signal.SIGKILL, slow(signal.SIGINT)])
    def test_when_the_process_that_they_work_for_is_killed(self, number):
        script = (
            "from dedup_filter import NearDuplicateFilter\n"
            "known = NearDuplicateFilter.open(workers=2)\n"
            "texts = (f'page {n} of the book ' * 40 for n in iter(int, 1))\n"
            "pages = ({'url': 'http://a/', 'text': text} for text in texts)\n"
            "for number, _ in enumerate(known.see_many(pages)):\n"
            "    if number == 20: print(*(w.pid for w in known.pool._workers), flush=True)\n"
        )
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
            pids = [int(pid) for pid in process.stdout.readline().split()]
            assert len(pids) == 2
            process.send_signal(number)
            process.wait(20)
        wait_until(lambda: not any(map(is_running, pids)), "the workers have ended")
