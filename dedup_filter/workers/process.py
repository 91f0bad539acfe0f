"""The process of a worker: jobs -> answers.

Jobs and answers are pickles, on standard input and output of the process. A job is a function and
arguments; an answer is whether it was done, and what it returned or raised.

A page is measured as soon as it is read, with what its host is expected to have shown by then: the
process has frames of its own, in which each page counts that is read. They assume that it is kept,
or dropped, as the last page of its host whose fate is known. With the next page the process gets
what other workers have read, and whether each page was kept. If the crawl's process knows just what
was expected when it judges a page, as it mostly does, the page is not measured again.

The process ends when its input does, even in the middle of a job: so no worker outlives the process
that it works for, however that ends. It ignores Ctrl-C.
"""

import os
import pickle
import signal
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, NamedTuple

from dedup_filter.fingerprints.profile import ComparedPassages, CountedPassage, UInt64Array
from dedup_filter.frames.host_frames import Frames, FrameTimes, FrameUpdate, Host, HostContext
from dedup_filter.model import Unjudged
from dedup_filter.text.reading import Shown
from dedup_filter.thresholds import FRAME_TIMES
from dedup_filter.workers.measured import Measured, PageHere

_MOST_KEPT = 512
"""Pages that wait to be measured again: beyond it, the earliest is forgotten. It is far more than a
crawl has under way."""
_FRAME_BYTES = 20_000_000
"""Memory of frames. What is forgotten is counted again."""


class PackedPassages:
    """The passages of a page as bytes: most of an answer, needed only with candidates."""

    def __init__(self, passages: ComparedPassages) -> None:
        self._packed = pickle.dumps(passages, protocol=5)

    def counted_in(self, sketch: bytes) -> Iterator[CountedPassage]:
        """Yield each passage with what a sketch has of it. Cost: 0.2 ms more than in a worker."""
        return self._passages().counted_in(sketch)

    def said_in(self, sketch: bytes, words: UInt64Array, title: str) -> tuple[set[int], set[int]]:
        """Return which of some words stand in a shingle that a sketch has, and which do not."""
        return self._passages().said_in(sketch, words, title)

    def lacking_in(self, sketch: bytes, text: str) -> tuple[int, int]:
        """See `MeasuredPassages`."""
        return self._passages().lacking_in(sketch, text)

    def _passages(self) -> ComparedPassages:
        passages: ComparedPassages = pickle.loads(self._packed)  # noqa: S301 - written by a worker
        return passages


class Reading(NamedTuple):
    """What a worker answers when it has read a page."""

    shown: Shown
    expected: FrameTimes
    """What its host was expected to have shown."""
    measured: Measured
    """The page, measured with that."""
    packed: bytes | None
    """The page as bytes, if it is kept so, or expected to wait until its host's frame is known."""


class ReadElsewhere(NamedTuple):
    """A page that another worker has read."""

    ticket: int
    host: str
    shown: Shown


class Over(NamedTuple):
    """A page that nobody will ask for any more."""

    ticket: int
    is_kept: bool


class _Page(NamedTuple):
    here: PageHere | None
    """None: another worker has read it."""
    host: str
    counted: list[tuple[str, list[int], FrameUpdate]]
    """What it shows to its host and sites, by their names, and what was counted of that."""


class WorkerPages:
    """The pages that workers have read, by their tickets; those read here can be asked for."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, _Page] = OrderedDict()
        self._frames = Frames(_FRAME_BYTES)
        self._were_kept: dict[str, bool] = {}
        """By host, whether the last page whose fate is known was kept."""

    def read(
        self,
        ticket: int,
        make: Callable[[], PageHere | Measured | Unjudged],
        host: str,
        news: Iterable[ReadElsewhere | Over],
    ) -> Reading | Measured | Unjudged:
        """Make a page, measure it, and count it; `host` is "" if it does not count.

        `news`: what has happened to other pages, in order.
        """
        for each in news:
            if isinstance(each, ReadElsewhere):
                self._count(each.ticket, None, self._frames.context(each.host, each.shown))
            else:
                self._forget(each)
        page = make()
        if not isinstance(page, PageHere):
            return _packed(page) if isinstance(page, Measured) else page
        context = self._frames.context(host, page.shown)
        expected = context.frame_times
        measured = page.measure(expected)
        may_wait = host and context.pages_of_template < FRAME_TIMES
        packed = page.pack() if may_wait or page.is_form_kept else None
        self._count(ticket, page, context)
        return Reading(page.shown, expected, _packed(measured), packed)

    def measure(self, ticket: int, known: FrameTimes) -> Measured:
        """Measure a page again. Raises KeyError if it is forgotten."""
        return _packed(self._here(ticket).measure(known))

    def pack(self, ticket: int) -> bytes:
        """Return a page as bytes. Raises KeyError if it is forgotten."""
        return self._here(ticket).pack()

    def _here(self, ticket: int) -> PageHere:
        page = self._pages[ticket].here
        assert page is not None, "a page is asked for where it was read"
        return page

    def _count(self, ticket: int, page: PageHere | None, context: HostContext) -> None:
        host, frames, counted = context.host.name, self._frames, []
        is_kept = self._were_kept.get(host, True)
        for each, whole in context.updates(is_kept=True) if host else ():
            update = each.update_of(whole.shown, is_kept=is_kept)
            frames.add_page(each, update)
            counted.append((each.name, whole.shown, update))
        self._keep(ticket, _Page(page, host, counted))
        frames.shrink()
        for forgotten in frames.forgotten:
            self._were_kept.pop(forgotten, None)
        frames.forgotten.clear()

    def _keep(self, ticket: int, page: _Page) -> None:
        self._pages[ticket] = page
        if len(self._pages) > _MOST_KEPT:
            self._pages.popitem(last=False)

    def _forget(self, over: Over) -> None:
        page = self._pages.pop(over.ticket, None)
        if page is None or not page.host:
            return
        self._were_kept[page.host] = over.is_kept
        for name, shown, update in page.counted:
            if update.is_kept != over.is_kept:
                host = self._frames.of(name)
                self._frames.discard(name)
                _correct(host, update)
                self._frames.add_page(host, host.update_of(shown, is_kept=over.is_kept))


def _correct(host: Host, expected: FrameUpdate) -> None:
    """Subtract a page of which something else was expected than has become of it."""
    host.pages = max(host.pages - expected.is_kept, 0)
    for block in expected.shown:
        if (times := host.sightings.pop(block, 0)) > 1:
            host.sightings[block] = times - 1


def _packed(measured: Measured) -> Measured:
    passages = PackedPassages(measured.profile.passages)
    return measured._replace(profile=replace(measured.profile, passages=passages))


def work() -> None:
    """Be the process of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a library prints is no answer. A daemon may have closed its stderr.
    other = os.open(os.devnull, os.O_WRONLY) if sys.stderr is None else sys.stderr.fileno()
    os.dup2(other, sys.stdout.fileno())
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take_jobs, args=(sys.stdin.buffer, jobs), daemon=True).start()
    pages = WorkerPages()
    answer = pickle.dumps("ready")
    while True:
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # whoever gave the job has been killed
            os._exit(0)
        job, arguments = jobs.get()
        try:
            answer = pickle.dumps((True, job(pages, *arguments)), protocol=5)
        except Exception as error:  # the one who gave the job is told
            answer = pickle.dumps((False, f"{type(error).__name__}: {error}"))


def _take_jobs(given: BinaryIO, jobs: "SimpleQueue[Any]") -> None:
    try:
        while True:
            jobs.put(pickle.load(given))  # noqa: S301 - written by the process that started this one
    finally:
        os._exit(0)
