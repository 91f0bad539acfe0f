"""What everything that reads an index finds in it, wherever the index is."""

import numpy as np
import pytest
from made_text import prose
from site_pages import NOTICE, framed

from dedup_filter.fingerprints.sketch import KEYS_BYTES, keys_in
from dedup_filter.store.protocol import KeptContent, all_entries
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
        with kept_place.recorded() as recorded:
            yield recorded


def names(records):
    return [record.url.removeprefix(f"{SITE}/").partition("?")[0] for record in records]


def test_records_are_those_of_pages_that_are_not_pending(recorded):
    records = list(recorded.records())
    kept = [record for record in records if record.is_kept]
    assert names(kept) == ["0", "1", "2", "3", "short"]
    assert names(each for each in records if not each.is_kept) == ["copy"]
    assert not any(record.is_pending for record in records)
    assert recorded.count() >= len(records)
    numbers = [kept[3].page, 10**6, kept[0].page]
    assert names(recorded.records(numbers)) == ["3", "0"]
    assert [crawl.name for crawl in recorded.crawls()] == ["one"]
    assert recorded.scheme.parts["features"] == "content"


def test_entries_are_those_of_the_records(recorded):
    entries, records = all_entries(recorded), list(recorded.records())
    assert entries.pages.tolist() == [record.page for record in records]
    assert entries.are_kept.tolist() == [record.is_kept for record in records]
    fingerprints = entries.fingerprints.tolist()
    assert fingerprints == [record.fingerprint or 0 for record in records]
    assert entries.have_fingerprints.tolist() == [
        record.fingerprint is not None for record in records
    ]
    keys = [keys_in(record.keys or bytes(KEYS_BYTES)) & np.uint64(2**32 - 1) for record in records]
    assert entries.keys.tolist() == np.array(keys).tolist()


def test_pages_are_found_at_their_urls(recorded):
    [first, *_] = records = list(recorded.records())
    assert recorded.at_url(f"{SITE}/0?b=2&a=1#top") == [first.page]
    for url in (f"{SITE}/gone", f"{SITE}/pending"):
        assert recorded.at_url(url) == []
    (dropped,) = [record for record in records if not record.is_kept]
    assert recorded.at_url(f"{SITE}/copy") == [dropped.page]
    both = [f"{SITE}/copy#top", f"{SITE}/gone", f"{SITE}/0?a=1&b=2"]
    assert [recorded.at_url(url) for url in both] == [[dropped.page], [], [first.page]]
    assert recorded.url_of_original(dropped) == f"{SITE}/1?a=1&b=2"
    assert recorded.url_of_original(first) is None


def test_contents_and_frames_are_there_if_they_are_kept(recorded):
    [first, *_] = recorded.records()
    assert recorded.content(first) == KeptContent()
    assert recorded.with_text() == set()
    assert recorded.host("b.example") is None
    assert [*recorded.hosts()] == [], "a plain text has no frame"


def test_frames_are_those_of_the_pages_of_a_host(kept_place):
    with kept_place.open() as pages:
        for number in range(3):
            pages.see(f"{SITE}/{number}", html=framed(prose(number), NOTICE))
    with kept_place.recorded() as recorded:
        (host,) = [each for each in recorded.hosts() if each.name == "a.example"]
        assert recorded.host("a.example") == host
    assert host.pages == 3
    assert max(host.sightings.values()) in (2, 3), "blocks are sent twice"


def repeats(place):
    """Name each dropped page, and the page that it repeats."""
    with index_at(str(place.location)).recorded() as recorded:
        assert not index_at(str(place.location)).check().faults
        dropped = [each for each in recorded.records() if not each.is_kept]
        urls = {each.url: recorded.url_of_original(each) for each in dropped}
        return {
            url.removeprefix(f"{SITE}/"): original.removeprefix(f"{SITE}/")
            for url, original in urls.items()
            if original is not None
        }


@pytest.mark.parametrize("way", ["see", "claim"])
def test_a_dropped_page_goes_with_an_original_whose_process_was_killed(kept_place, article, way):
    """See `test_claims` for originals that are committed or released."""
    pages = kept_place.open()
    first = pages.claim(f"{SITE}/1", text=article(1))
    assert getattr(pages, way)(f"{SITE}/2", text=article(1)).original_page == first.page
    pages.flush()
    assert repeats(kept_place) == {}
    kept_place.crash(pages)
    kept_place.open().close()
    assert repeats(kept_place) == {}


def test_a_claim_of_a_repeat_that_is_released_or_never_ends_is_not_recorded(kept_place, article):
    pages = kept_place.open()
    pages.see(f"{SITE}/1", text=article(1))
    claims = [pages.claim(f"{SITE}/{number}", text=article(1)) for number in (2, 3, 4)]
    pages.commit(claims[0])
    pages.release(claims[1])
    pages.close()
    assert repeats(kept_place) == {"2": "1"}


def test_a_page_that_is_seen_again_keeps_its_repeats(kept_place, article):
    for crawl in range(3):
        with kept_place.open() as pages:
            pages.see(f"{SITE}/1", text=article(1))
            pages.see(f"{SITE}/copy/{crawl}", text=article(1))
    assert repeats(kept_place) == {f"copy/{crawl}": "1" for crawl in range(3)}
    with kept_place.open() as pages:
        assert pages.forget(f"{SITE}/1") == 1
        pages.see(f"{SITE}/1", text=article(1))
    assert repeats(kept_place) == {}, "another page at the URL of one that is forgotten"
