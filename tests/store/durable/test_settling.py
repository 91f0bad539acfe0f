"""Claim, commit, release: a page counts from when its item went through."""

import pytest
from site_pages import framed

from dedup_filter import DedupError, fingerprint


def test_settling_counts_once_and_for_pages_that_are_pending_only(pages, article):
    kept = pages.claim("http://a.example/1", text=article(1))
    gone = pages.claim("http://a.example/2", text=article(2))
    seen = pages.see("http://a.example/3", text=article(3))
    repeats = [pages.claim("http://a.example/4", text=article(3)) for _ in range(2)]
    empty = pages.claim("http://a.example/5", html="")
    assert (empty.reason, empty.page) == ("no_text", None)
    for _ in range(3):
        pages.commit(kept)
        for verdict in (gone, kept, seen, repeats[0], empty):
            pages.release(verdict)
        for verdict in (gone, repeats[1], empty):
            pages.commit(verdict)
    assert len(pages) == 2
    assert not any(
        pages.conductor.fate(verdict.page) == "pending" for verdict in (kept, gone, seen)
    )
    assert pages.see("http://a.example/6", text=article(1)).outcome == "exact"
    assert pages.see("http://a.example/7", text=article(2)).outcome == "new"


def test_a_verdict_tells_the_fingerprint_and_the_page_that_it_hangs_on(pages, article):
    first = pages.see("http://a.example/1", text=article(1))
    near = pages.see("http://b.example/4", text=article(1, edits=1))
    exact = pages.see("http://c.example/5", text=article(1))
    other = pages.see("http://a.example/2", text=article(2))
    short = pages.see("http://a.example/3", text="too short")
    assert [v.cluster for v in (first, near, exact)] == [first.page] * 3
    assert (other.cluster, short.cluster, short.fingerprint) == (other.page, None, None)
    assert first.fingerprint == exact.fingerprint == fingerprint(article(1))
    assert (first.fingerprint ^ near.fingerprint).bit_count() == near.distance


def test_what_is_no_verdict_is_refused(pages, article):
    page = pages.claim("http://a.example/1", text=article(1)).page
    for wrong in (page, None, "new"):
        with pytest.raises(TypeError, match="expected a Verdict"):
            pages.commit(wrong)
        with pytest.raises(TypeError, match="expected a Verdict"):
            pages.release(wrong)


def test_a_closed_filter_settles_nothing(place, article):
    pages = place.open()
    claimed = pages.claim("http://a.example/1", text=article(1))
    pages.close()
    calls = [
        lambda: pages.claim("http://a.example/1", text="a"),
        lambda: pages.commit(claimed),
        lambda: pages.release(claimed),
        lambda: pages.forget("http://a.example/1"),
        pages.flush,
    ]
    for call in calls:
        with pytest.raises(DedupError, match="closed"):
            call()


def test_a_url_is_forgotten_however_it_is_spelt(pages, article):
    pages.see("http://a.example/1?b=2&a=1", text=article(1))
    pages.see("http://a.example/2", text=article(2))
    assert pages.forget("http://a.example/3") == 0
    assert pages.forget("http://a.example/1?a=1&b=2#top") == 1
    assert pages.see("http://a.example/4", text=article(1)).outcome == "new"
    assert pages.see("http://a.example/5", text=article(2)).outcome == "exact"


def test_forgotten_pages_of_a_site_are_new_again(pages, article):
    """Their host has shown their text before, and still it is no frame."""
    site = {f"http://a.example/{n}": framed(article(n)) for n in range(6)}
    for _ in range(3):
        assert {pages.see(url, html=html).outcome for url, html in site.items()} == {"new"}
        copies = [pages.see(f"http://b.example/{n}", text=article(n)) for n in range(6)]
        assert [copy.original for copy in copies] == list(site)
        assert sum(map(pages.forget, site)) == 6


def test_a_released_page_is_not_counted_for_its_host(pages, article):
    """The article of a released page would be frame for its twin, and be left out there."""
    for number in range(3):
        pages.see(f"http://a.example/{number}", html=framed(article(number)))
    verdicts = []
    for number in range(10, 14):
        claimed = pages.claim(f"http://a.example/{number}", html=framed(article(9)))
        verdicts.append(claimed._replace(page=None))
        pages.release(claimed)
    assert verdicts == [verdicts[0]] * 4
    assert verdicts[0].outcome == "new"
    assert verdicts[0].shingles > 140
