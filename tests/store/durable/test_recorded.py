"""What everything that reads an index finds in it, wherever the index is."""

import numpy as np
import pytest

from dedup_filter.store.protocol import KeptContent
from dedup_filter.upkeep import index_at

SITE = "http://a.example"


@pytest.fixture
def recorded(kept_place, article):
    """An index of four pages, one short, a repeat, one forgotten and one pending, while open."""
    with kept_place.open(crawl="one", max_distance=5) as pages:
        for number in range(4):
            pages.see(f"{SITE}/{number}?a=1&b=2", text=article(number))
        pages.see(f"{SITE}/short", text="A line.")
        pages.see(f"{SITE}/copy", text=article(1))
        pages.see(f"{SITE}/gone", text=article(5))
        pages.forget(f"{SITE}/gone")
        pages.claim(f"{SITE}/pending", text=article(6))
        pages.flush()
        with index_at(str(kept_place.location)).recorded() as recorded:
            yield recorded


def names(records):
    return [record.url.removeprefix(f"{SITE}/").partition("?")[0] for record in records]


def test_records_are_those_of_pages_that_are_not_pending(recorded):
    records = list(recorded.records())
    kept = [record for record in records if record.is_kept]
    assert names(kept) == ["0", "1", "2", "3", "short"]
    assert names(each for each in records if not each.is_kept) in ([], ["copy"])
    assert not any(record.is_pending for record in records)
    assert recorded.count() >= len(records)
    numbers = [kept[3].page, 10**6, kept[0].page]
    assert names(recorded.records(numbers)) == ["3", "0"]
    assert [crawl.name for crawl in recorded.crawls()] == ["one"]
    assert recorded.scheme.parts["features"] == "content"


def test_entries_are_those_of_the_records(recorded):
    entries, records = recorded.entries, list(recorded.records())
    assert entries.pages.tolist() == [record.page for record in records]
    assert entries.are_kept.tolist() == [record.is_kept for record in records]
    fingerprints = entries.fingerprints.tolist()
    assert fingerprints == [record.fingerprint or 0 for record in records]
    assert entries.have_fingerprints.tolist() == [
        record.fingerprint is not None for record in records
    ]
    keys = [record.keys or bytes(entries.keys[0].nbytes) for record in records]
    assert [np.ascontiguousarray(each).tobytes() for each in entries.keys] == keys


def test_pages_are_found_at_their_urls(recorded):
    [first, *_] = records = list(recorded.records())
    assert recorded.at_url(f"{SITE}/0?b=2&a=1#top") == [first.page]
    for url in (f"{SITE}/gone", f"{SITE}/pending", f"{SITE}/copy"):
        assert list(recorded.at_url(url)) == []
    dropped = [record for record in records if not record.is_kept]
    assert list(recorded.dropped_at_url(f"{SITE}/copy")) == [each.page for each in dropped]
    assert list(recorded.repeats()) == [(each.page, each.original, 0) for each in dropped]
    originals = [recorded.url_of_original(each) for each in dropped]
    assert originals == [f"{SITE}/1?a=1&b=2"] * len(dropped)


def test_contents_and_frames_are_there_if_they_are_kept(recorded):
    [first, *_] = recorded.records()
    assert recorded.content(first) == KeptContent()
    assert recorded.frames("b.example") is None
    assert [known.host for known in recorded.hosts()] in ([], ["a.example"])
