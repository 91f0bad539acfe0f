"""How many pages are kept, for how long, and with which they are compared."""

import numpy as np
import pytest
from made_profiles import said_profile
from made_text import prose
from site_pages import NOTICE, framed

from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.crawl_filter import CrawlFilter
from dedup_filter.store.records import KEPT_AS_TEXT
from dedup_filter.store.sqlite.frame_store import all_frames
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.reading import read
from dedup_filter.upkeep import index_at


def see(pages, numbers, article, host="a.example"):
    return [pages.see(f"http://{host}/{n}", text=article(n)).outcome for n in numbers]


def test_the_oldest_pages_make_room_but_not_for_a_repeat(place, article, clock):
    with place.open(max_pages=5) as pages:
        for number in range(12):
            clock.now += 1
            see(pages, [number], article)
            assert len(pages) <= 5
            pages.check()
        for _ in range(3):
            assert see(pages, range(7, 12), article) == ["exact"] * 5
        assert see(pages, [0], article) == ["new"]


def test_a_page_that_comes_again_needs_no_room_and_does_not_expire(kept_place, article, clock):
    for outcome in ("new", "revisit", "revisit"):
        clock.pass_days(8)
        with kept_place.open(max_pages=5, expire_days=10) as pages:
            for number in range(5):
                clock.now += 1
                claimed = pages.claim(f"http://a.example/{number}", text=article(number))
                pages.commit(claimed)
                assert claimed.outcome == outcome
            assert len(pages) == 5


def test_what_a_page_repeats_does_not_expire_with_it(directory, article, clock):
    with directory.open(expire_days=2) as pages:
        see(pages, [1], article)
        clock.pass_days(3)
        repeat = pages.see("http://b.example/", text=article(1))
        assert pages.fate(repeat.original_page) == "kept"


def test_pages_that_are_too_old_and_too_many_go_once(directory, article, clock):
    with directory.open(expire_days=2, max_pages=3) as pages:
        see(pages, range(3), article)
        clock.pass_days(3)
        see(pages, [3], article)
        assert len(pages) == 1


@pytest.mark.parametrize("bound", [{"max_pages": 3}, {"expire_days": 2}], ids=str)
@pytest.mark.parametrize("is_reopened", [False, True])
def test_the_frames_of_hosts_go_with_their_pages(directory, article, clock, bound, is_reopened):
    def hosts_with_frames(pages):
        pages.flush()
        return {known.host for known in all_frames(pages._kept.store) if known.host[1] == "."}

    pages = directory.open(**bound)
    for host, days in (("a", 1), ("b", 1), ("a", 3), ("c", 0)):
        for number in range(3):
            clock.now += 1
            pages.see(f"http://{host}.example/{number}", html=framed(prose(clock.now)))
        clock.pass_days(days)
        if is_reopened:
            pages.close()
            pages = directory.open(**bound)
    assert hosts_with_frames(pages) == {"c.example"}
    assert not pages._judge._frames.of("a.example").pages
    pages.check()
    pages.close()


def test_pending_pages_do_not_make_room(place, article, clock):
    with place.open(max_pages=3) as pages:
        claimed = [pages.claim(f"http://a.example/{n}", text=article(n)) for n in range(5)]
        assert all(pages.fate(verdict.page) == "pending" for verdict in claimed)
        for verdict in claimed:
            pages.commit(verdict)
        see(pages, [5], article)
        assert len(pages) == 3


@pytest.mark.parametrize("bound", [{"max_pages": 4}, {"expire_days": 3.5}], ids=str)
def test_records_of_dropped_pages_are_bounded_too(kept_place, article, clock, monkeypatch, bound):
    monkeypatch.setattr("dedup_filter.store.redis.redis_pages._PAGES_BETWEEN", 0)
    with kept_place.open(**bound) as pages:
        for number in range(10):
            clock.pass_days(1)
            pages.see(f"http://a.example/{number}", text=article(number))
            pages.see(f"http://b.example/{number}", text=article(number))
        pages.flush()
        with index_at(str(kept_place.location)).recorded() as recorded:
            dropped = [each.url for each in recorded.records() if not each.is_kept]
        assert dropped == [f"http://b.example/{number}" for number in range(6, 10)]
        assert len(pages) == 4


def test_pages_expire_while_others_come(place, article, clock, monkeypatch):
    monkeypatch.setattr("dedup_filter.store.redis.redis_pages._PAGES_BETWEEN", 0)
    with place.open(expire_days=2) as pages:
        see(pages, [1], article)
        clock.pass_days(1.5)
        see(pages, [2], article)
        clock.pass_days(1)
        assert see(pages, [3], article) == ["new"]
        assert len(pages) == 2
        assert see(pages, [1, 2], article) == ["new", "exact"]


def test_bounds_hold_from_the_next_opening_on(kept_place, article, clock):
    with kept_place.open() as pages:
        see(pages, range(9), article)
    with kept_place.open(max_pages=4) as pages:
        assert len(pages) == 4
    clock.pass_days(10)
    for days, count in ((11, 4), (9, 0)):
        with kept_place.open(expire_days=days) as pages:
            assert len(pages) == count


def test_of_more_pages_within_reach_than_are_compared_the_nearest_are(place, monkeypatch):
    """Guarantee 3: every page within `max_distance`, of a crowd the 64 nearest."""
    monkeypatch.setattr("dedup_filter.judging.profile", said_profile)
    with place.open(max_distance=3, shared_phrases=False) as pages:
        pages.see("http://a.example/", text="0 7 0 99")
        for number in range(1, MOST_COMPARED):
            assert pages.see(f"http://a.example/{number}", text=f"{number} 0 {number} 99").page
        farthest = pages.see("http://b.example/1", text="997 0 0 99")
        assert (farthest.original, farthest.distance) == ("http://a.example/", 3)
        assert (farthest.candidates, pages.capped) == (MOST_COMPARED, 0)
        pages.see("http://a.example/64", text=f"{MOST_COMPARED} 0 {MOST_COMPARED} 99")
        nearest = pages.see("http://b.example/2", text="998 3 0 99")
        assert (nearest.original, nearest.distance) == ("http://a.example/", 1)
        beyond = pages.see("http://b.example/3", text="999 0 0 99")
        assert (beyond.outcome, beyond.candidates) == ("new", MOST_COMPARED)
        assert pages.capped == 2
        pages.see("http://a.example/65", text=f"{MOST_COMPARED + 1} 0 {MOST_COMPARED + 1} 99")
        for number, outcome in ((1, "near"), (MOST_COMPARED + 1, "new")):
            found = pages.see("http://b.example/4", text=f"{1000 + number} 0 {number} 99")
            assert found.outcome == outcome, "of equally near ones the first are compared"


def test_a_page_is_found_among_any_number_that_scripts_build_in_the_same_shell(place):
    shell = "<title>Shop</title><div id=root></div><script src=a.js></script><script>show({})"
    with place.open() as pages:
        for number in range(MOST_COMPARED + 2):
            found = pages.see(f"http://a.example/{number}", html=shell.format(number))
            assert (found.outcome, found.reason) == ("unjudged", "by_script")
        again = pages.see("http://b.example/", html=shell.format(number))
        assert (again.outcome, again.original) == ("exact", f"http://a.example/{number}")


def test_a_crowd_takes_no_more_memory_than_as_many_strangers(monkeypatch):
    monkeypatch.setattr("dedup_filter.judging.profile", said_profile)
    sizes = []
    for apart in (0, 0x9E37_79B9_7F4A_7C15):
        with CrawlFilter.open(max_distance=8) as pages:
            for number in range(200):
                text = f"{number} {number * apart % 2**64 ^ 1 << number % 8} {number} 99"
                assert pages.see(f"http://a.example/{number}", text=text).outcome == "new"
            sizes.append(pages.nbytes)
            assert pages.capped == (0 if apart else 200 - MOST_COMPARED - 1)
    assert sizes[0] < 1.1 * sizes[1]


class TestScopeOfAHost:
    def test_pages_of_other_hosts_are_not_compared(self, place, article):
        with place.open(scope="host") as pages:
            assert see(pages, [1], article, "a.example") == ["new"]
            assert see(pages, [1], article, "b.example") == ["new"]
            for host in ("a.example", "b.example"):
                near = pages.see(f"http://{host}/x", text=article(1, edits=1))
                assert near.original == f"http://{host}/1"
                exact = pages.see(f"http://{host}/y", text=article(1))
                assert (exact.outcome, exact.original) == ("exact", f"http://{host}/1")
                assert pages.see(f"http://{host}/z", text="a line").reason == "too_short"
                assert pages.see(f"http://{host}/z", text="a line").outcome == "exact"

    def test_pages_that_another_host_s_mask_brings_near_are_not_compared(
        self, place, article, monkeypatch
    ):
        for module in ("sqlite.page_index", "redis.replica"):
            where = f"dedup_filter.store.{module}"
            monkeypatch.setattr(f"{where}.host_mask", lambda host: 0)
            monkeypatch.setattr(f"{where}.host_masks", lambda hosts: hosts.astype(np.uint64) * 0)
        monkeypatch.setattr("dedup_filter.store.redis.replica.hash_of_host", lambda host: 7)
        with place.open(scope="host", min_similarity=None) as pages:
            see(pages, [1], article, "a.example")
            pages.see("http://b.example/0", text=article(2))
            verdict = pages.see("http://b.example/1", text=article(1, edits=1))
            assert (verdict.outcome, verdict.candidates) == ("new", 0)

    def test_can_change_between_openings(self, kept_place, article):
        with kept_place.open(scope="host", crawl="one") as pages:
            see(pages, [1], article, "a.example")
            see(pages, [1], article, "b.example")
        for scope, host, original in (("all", "c", "a"), ("host", "b", "b")):
            with kept_place.open(scope=scope, crawl="one") as pages:
                near = pages.see(f"http://{host}.example/2", text=article(1, edits=1))
                assert near.original == f"http://{original}.example/1"


@pytest.mark.parametrize("keep_text", [False, True])
def test_texts_are_kept_where_that_is_asked_for(directory, article, keep_text):
    html = f"<title>A title</title><article><p>{article(2)}</p></article>"
    with directory.open(keep_text=keep_text) as pages:
        seen = [
            pages.see("http://a.example/1", text=article(1)).page,
            pages.see("http://a.example/2", html=html).page,
            pages.see("http://b.example/2", html=html).page,
        ]
        texts = [pages._kept.store.text(page) for page in seen]
        forms = [pages._kept.store.form(page) for page in seen]
    expected = [article(1), article(2), article(2)]
    assert texts == (expected if keep_text else [None] * 3)
    if not keep_text:
        assert forms == [None] * 3
        return
    assert forms[0] == KEPT_AS_TEXT
    assert forms[1:] == [pack_page(read(html, None, None))] * 2


def test_the_text_of_a_page_that_is_judged_again_is_the_one_it_is_judged_by(directory, article):
    with directory.open(keep_text=True) as pages:
        store = pages._kept.store
        texts = []
        for number in range(3):
            pages.see(f"http://a.example/{number}", html=framed(article(number), NOTICE))
            texts.append(store.text(1))
    assert NOTICE.strip() in texts[0]
    assert texts[2] == article(0)
