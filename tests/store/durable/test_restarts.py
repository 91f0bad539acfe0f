"""The same verdicts after a restart, with all that is counted of frames on the way."""

import shutil
from collections import deque
from pathlib import Path

import pytest
from gate import rounds, slow
from quality_stream import documents
from site_pages import NOTICE, framed

from dedup_filter import NearDuplicateFilter
from dedup_filter.fingerprints import read_page
from dedup_filter.text.page_bytes import unpack_page

HOSTS = "dedup_filter.frames.host_frames"
BOUNDS = {
    "usual": {},
    "few blocks and waiting pages": {
        f"{HOSTS}._MOST_BLOCKS_OF_HOST": 30,
        "dedup_filter.judge.MOST_WAITING_OF_HOST": 2,
    },
}
NO_ROOM = {"frame_memory": 1e-6}
"""For no host but the one that is used."""


@pytest.fixture(scope="module")
def stream():
    """Pages of some hosts in two languages, every fifth of them a second time at another URL.

    Some are of one site, each on a host of its own.
    """
    languages = (documents(language, seed=3)[: rounds(16, 42)] for language in ("en", "zh"))
    shown = [(each.url, each.html) for two in zip(*languages, strict=True) for each in two]
    for number in range(0, len(shown), 12):
        words = " ".join(f"w{number + word}" for word in range(100))
        shown.insert(number, (f"http://{number}.example/", framed(words, NOTICE)))
    copies = [(f"{url}/again", html) for url, html in shown[::5]]
    return [
        each for at, one in enumerate(shown) for each in (one, *copies[at // 5 :][: at % 5 == 4])
    ]


def see(pages, number, url, html):
    return pages.see(url, html=html)


def essence(verdicts):
    """Of each verdict what it was judged to be, and by which measures."""
    return [(each.outcome, each.original, each.distance, each.similarity) for each in verdicts]


def verdicts(place, stream, every, see=see, *, is_killed=False, **options):
    """Judge a stream; after every so many pages the index is closed or killed, and opened again."""
    found = []
    pages = place.open(crawl="one", **options)
    for number, (url, html) in enumerate(stream):
        if number and number % every == 0:
            if is_killed:
                pages.check()
                pages.flush()
                place.crash(pages)
            else:
                pages.close()
            pages = place.open(crawl="one", **options)
        found.append(see(pages, number, url, html))
    pages.close()
    if isinstance(place.location, Path):
        shutil.rmtree(place.location)
    return found


@pytest.fixture(scope="module")
def uninterrupted(stream):
    """The verdicts on the stream, from an index in memory."""
    with NearDuplicateFilter.open(crawl="one") as pages:
        found = [pages.see(url, html=html) for url, html in stream]
    assert {verdict.outcome for verdict in found[:60]} == {"new", "near", "exact"}
    return essence(found)


def test_all_places_judge_alike(every_place, stream, uninterrupted):
    assert essence(verdicts(every_place, stream, len(stream))) == uninterrupted


@pytest.mark.parametrize("at_once", [slow(2), 16])
def test_pages_that_are_pending_at_once_are_judged_as_one_by_one(
    local_place, stream, uninterrupted, at_once
):
    pending = deque()

    def claim(pages, number, url, html):
        pending.append(pages.claim(url, html=html))
        if len(pending) == at_once:
            pages.commit(pending.popleft())
        return pending[-1]

    found = essence(verdicts(local_place, stream, len(stream), see=claim))
    differ = [one for one, other in zip(found, uninterrupted, strict=True) if one[:2] != other[:2]]
    # An original that is pending was not judged again yet, so a page may not find it: it is kept.
    assert [each[0] for each in differ] in ([], ["new"])


@pytest.mark.parametrize("bounds", ["usual", slow("few blocks and waiting pages")])
def test_a_stream_is_judged_as_without_a_restart(directory, stream, monkeypatch, bounds):
    for name, value in BOUNDS[bounds].items():
        monkeypatch.setattr(name, value)
    expected = verdicts(directory, stream, len(stream))
    assert verdicts(directory, stream, 7, is_killed=True) == expected
    assert verdicts(directory, stream[:50], 1) == expected[:50]
    assert verdicts(directory, stream, 50, **NO_ROOM) == expected


def test_pages_that_are_put_away_are_judged_as_those_in_memory(
    local_place, stream, uninterrupted, monkeypatch
):
    unpacked = []
    monkeypatch.setattr(
        read_page, "unpack_page", lambda form: unpacked.append(form) or unpack_page(form)
    )
    monkeypatch.setattr("dedup_filter.host_cache._MOST_READ", 0)
    monkeypatch.setattr("dedup_filter.judge.FULL_BATCH", 1)
    assert essence(verdicts(local_place, stream, len(stream))) == uninterrupted
    assert unpacked


def test_released_pages_leave_no_trace(directory, stream):
    """Every third page comes to nothing, in the middle of restarts; the others cannot tell."""

    def settle(pages, number, url, html):
        claimed = pages.claim(url, html=html)
        (pages.release if number % 3 == 0 else pages.commit)(claimed)
        return claimed.outcome, claimed.original, claimed.distance

    found = [verdicts(directory, stream, every, see=settle) for every in (11, len(stream))]
    assert found[0] == found[1]


def test_waiting_pages_of_another_version_are_discarded(directory, article, monkeypatch):
    with directory.open(crawl="one") as pages:
        pages.see("http://a.example/0", html=framed(article(0)))
    monkeypatch.setattr("dedup_filter.text.page_bytes._FORMAT", 99)
    with directory.open(crawl="one") as pages:
        for number in (1, 2):
            pages.see(f"http://a.example/{number}", html=framed(article(number)))
            pages.check()
        assert pages.see("http://a.example/x", html=framed(article(0))).is_duplicate
