"""The same verdicts after a restart, with all that is learnt of frames on the way."""

import shutil

import pytest
from quality_stream import documents
from site_pages import NOTICE, framed

from dedup_filter import NearDuplicateFilter
from dedup_filter.frames import early_pages
from dedup_filter.frames import host_frames as frames
from dedup_filter.pages import framed_pages
from dedup_filter.text.page_bytes import unpack_page
from dedup_filter.workers import measured


@pytest.fixture(scope="module", params=["en", "zh"])
def stream(request):
    """Pages of some hosts, and among them every fifth a second time, at another URL."""
    shown = [(each.url, each.html) for each in documents(request.param, seed=3)]
    copies = [(f"{url}/again", html) for url, html in shown[::5]]
    return [
        each for at, one in enumerate(shown) for each in (one, *copies[at // 5 :][: at % 5 == 4])
    ]


def verdicts(place, stream, every, end=NearDuplicateFilter.close, **options):
    """See a stream; after every so many pages the index is closed and opened again."""
    found = []
    pages = place.open(crawl="one", **options)
    for number, (url, html) in enumerate(stream):
        if number and number % every == 0:
            pages.check()
            end(pages)
            pages = place.open(crawl="one", **options)
        found.append(pages.see(url, html=html))
    pages.check()
    pages.close()
    return found


@pytest.fixture(scope="module")
def uninterrupted(stream, tmp_path_factory):
    """The verdicts on the stream, from an index in a directory that stays open."""
    with NearDuplicateFilter.open(tmp_path_factory.mktemp("index"), crawl="one") as pages:
        found = [pages.see(url, html=html) for url, html in stream]
        pages.check()
    assert {verdict.outcome for verdict in found[:60]} == {"new", "near", "exact"}
    return found


@pytest.mark.parametrize("every", [1, 2, 9, 40])
def test_a_stream_of_pages_is_judged_as_without_a_restart(directory, stream, uninterrupted, every):
    end = len(stream) if every > 2 else 60
    assert verdicts(directory, stream[:end], every) == uninterrupted[:end]


def test_and_so_it_is_when_its_process_is_killed(directory, stream, uninterrupted):
    def kill(pages):
        pages.flush()
        directory.crash(pages)

    assert verdicts(directory, stream, 7, kill) == uninterrupted


def test_and_when_states_are_written_in_between_and_hosts_are_forgotten(
    directory, stream, monkeypatch
):
    monkeypatch.setattr(framed_pages, "_LEAST_BYTES", 200)
    monkeypatch.setattr(frames, "_MOST_BLOCKS_OF_HOST", 30)
    monkeypatch.setattr(early_pages, "_MOST_WAITING", 3)
    monkeypatch.setattr(frames.Frames.__init__, "__defaults__", (60,))
    expected = verdicts(directory, stream, len(stream))
    shutil.rmtree(directory.location)
    assert verdicts(directory, stream, 5) == expected


def test_pages_that_are_put_away_are_judged_as_those_in_memory(local_place, stream, monkeypatch):
    expected = verdicts(local_place, stream, len(stream))
    if local_place.location != "memory:":
        shutil.rmtree(local_place.location)
    unpacked = []
    monkeypatch.setattr(
        measured, "unpack_page", lambda form: unpacked.append(form) or unpack_page(form)
    )
    monkeypatch.setattr(early_pages, "_MOST_BYTES", 60_000)
    assert verdicts(local_place, stream, len(stream)) == expected
    assert unpacked


@pytest.mark.parametrize("most", [4_000, 10_000])
def test_and_when_they_are_given_up_for_their_size(directory, stream, monkeypatch, most):
    monkeypatch.setattr(early_pages, "_MOST_BYTES", most)
    expected = verdicts(directory, stream, len(stream))
    shutil.rmtree(directory.location)
    assert verdicts(directory, stream, 3) == expected


def test_a_page_given_up_while_it_is_due_is_judged_again_all_the_same(
    directory, article, monkeypatch
):
    """Whether it waits in memory, or was brought back."""
    monkeypatch.setattr(early_pages, "_MOST_WAITING", 1)

    def run(is_interrupted):
        pages = directory.open(crawl="one")
        for number in range(2):
            if is_interrupted:
                pages.close()
                pages = directory.open(crawl="one")
            pages.see(f"http://a.example/{number}", html=framed(article(number), NOTICE))
            pages.check()
        # Of the first page of its host it is known by now what is its frame.
        words = pages._kept.store.record(1).words
        pages.close()
        shutil.rmtree(directory.location)
        return words

    assert run(is_interrupted=True) == run(is_interrupted=False) < 200


def test_memory_and_disk_judge_alike(place, stream, uninterrupted):
    found = verdicts(place, stream, len(stream))
    told = [(v.outcome, v.original, v.distance, v.similarity) for v in uninterrupted]
    assert [(v.outcome, v.original, v.distance, v.similarity) for v in found] == told


def test_released_pages_leave_no_trace(directory, stream):
    """Every third page comes to nothing, in the middle of restarts; the others cannot tell."""

    def run(every):
        found = []
        pages = directory.open(crawl="one")
        for number, (url, html) in enumerate(stream):
            if number and number % every == 0:
                pages.check()
                pages.close()
                pages = directory.open(crawl="one")
            claimed = pages.claim(url, html=html)
            found.append((claimed.outcome, claimed.original, claimed.distance))
            (pages.release if number % 3 == 0 else pages.commit)(claimed)
        pages.check()
        pages.close()
        shutil.rmtree(directory.location)
        return found

    assert run(11) == run(len(stream))


def test_pages_that_wait_are_judged_again_after_a_restart(directory, article):
    """The first page of a host is told by its frame, until two more have shown that."""
    for number in range(3):
        with directory.open(crawl="one") as pages:
            pages.see(f"http://a.example/{number}", html=framed(article(number)))
            pages.check()
    with directory.open(crawl="one") as pages:
        copy = pages.see("http://b.example/", text=article(0))
        assert (copy.outcome, copy.original) == ("exact", "http://a.example/0")
        assert (copy.similarity, copy.distance) == (1.0, 0)


def test_early_pages_of_another_version_are_let_go(directory, article, monkeypatch):
    with directory.open(crawl="one") as pages:
        pages.see("http://a.example/0", html=framed(article(0)))
    monkeypatch.setattr("dedup_filter.text.page_bytes._FORMAT", 99)
    with directory.open(crawl="one") as pages:
        for number in (1, 2):
            pages.see(f"http://a.example/{number}", html=framed(article(number)))
            pages.check()
        assert pages.see("http://a.example/x", html=framed(article(0))).is_duplicate
