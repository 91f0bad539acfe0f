"""How many pages are kept, for how long, and with which they are compared."""

import pytest
from made_profiles import profile_of_said
from made_text import prose
from site_pages import NOTICE, framed

from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.store.records import KEPT_AS_TEXT
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.reading import read


def see(pages, numbers, article, host="a.example"):
    return [pages.see(f"http://{host}/{n}", text=article(n)).outcome for n in numbers]


@pytest.fixture
def small_batches(monkeypatch):
    """Bounds hold from each flush on: on servers before each page, in other places per batch."""
    monkeypatch.setattr("dedup_filter.judge.FULL_BATCH", 1)


@pytest.mark.usefixtures("small_batches")
def test_the_oldest_pages_make_room_but_not_for_a_repeat(place, article, clock):
    with place.open(max_pages=5) as pages:
        for number in range(12):
            clock.now += 1
            see(pages, [number], article)
            pages.flush()
            assert len(pages) <= 5
            pages.check()
        for _ in range(3):
            assert see(pages, range(7, 12), article) == ["exact"] * 5
        assert see(pages, [0], article) == ["new"]


def test_pages_are_counted_only_when_a_bound_may_be_exceeded(local_place, article, monkeypatch):
    """To count them reads an entry of each page."""
    with local_place.open(max_pages=200) as pages:
        store, counted = pages.conductor.store, []
        count = store.count
        monkeypatch.setattr(store, "count", lambda **kind: counted.append(kind) or count(**kind))
        for number in range(240):
            see(pages, [number], article)
            pages.flush()
            assert len(pages) <= 200
        assert 2 <= len(counted) < 200  # a hundredth of the pages goes at once


def test_bounds_hold_from_a_flush_on(local_place, article, clock):
    with local_place.open(max_pages=3, expire_days=2) as pages:
        see(pages, range(9), article)
        assert len(pages) == 9
        pages.flush()
        assert len(pages) == 3
        clock.pass_days(3)
        see(pages, [9], article)
        pages.flush()
        assert len(pages) == 1
        pages.check()


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


@pytest.mark.parametrize("bound", [{"max_pages": 3}, {"expire_days": 2}], ids=str)
@pytest.mark.parametrize("is_reopened", [False, True])
def test_the_frames_of_hosts_go_with_their_pages(local_place, article, clock, bound, is_reopened):
    """Those of sites, too; a host that was counted since stays."""
    pages = local_place.open(**bound)
    for host, days in (("a", 1), ("b", 1), ("a", 3), ("c", 0)):
        for number in range(3):
            clock.now += 1
            pages.see(f"http://{host}.example/{number}", html=framed(prose(clock.now)))
        pages.flush()
        clock.pass_days(days)
        if is_reopened and local_place.location != "memory:":
            pages.close()
            pages = local_place.open(**bound)
    pages.flush()
    names = [name for (name,) in pages.conductor.store.rows("SELECT name FROM hosts")]
    assert [name for name in names if name[1] == "."] == ["c.example"]
    assert not pages.conductor._hosts.host("a.example").pages
    pages.check()
    pages.close()


def test_pending_pages_do_not_make_room(place, article, clock):
    with place.open(max_pages=3) as pages:
        claimed = [pages.claim(f"http://a.example/{n}", text=article(n)) for n in range(5)]
        assert all(pages.conductor.fate(verdict.page) == "pending" for verdict in claimed)
        pages.flush()
        assert len(pages) == 5
        for verdict in claimed:
            pages.commit(verdict)
        see(pages, [5], article)
        pages.flush()
        assert len(pages) == 3


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("bound", [{"max_pages": 4}, {"expire_days": 3.5}], ids=str)
def test_records_of_dropped_pages_are_bounded_too(kept_place, article, clock, bound):
    with kept_place.open(**bound) as pages:
        for number in range(10):
            clock.pass_days(1)
            pages.see(f"http://a.example/{number}", text=article(number))
            pages.see(f"http://b.example/{number}", text=article(number))
        pages.flush()
        with kept_place.recorded() as recorded:
            dropped = [each.url for each in recorded.records() if not each.is_kept]
        assert dropped == [f"http://b.example/{number}" for number in range(6, 10)]
        assert len(pages) == 4


@pytest.mark.usefixtures("small_batches")
def test_pages_expire_while_others_come(place, article, clock):
    with place.open(expire_days=2) as pages:
        see(pages, [1], article)
        clock.pass_days(1.5)
        see(pages, [2], article)
        clock.pass_days(1)
        assert see(pages, [3], article) == ["new"]
        pages.flush()
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


def test_of_more_pages_within_reach_than_are_compared_the_nearest_are(local_place, monkeypatch):
    """Guarantee 3: every page within `max_distance`, of a crowd the 64 nearest."""
    monkeypatch.setattr("dedup_filter.judge.profile_of", profile_of_said)
    with local_place.open(max_distance=3, shared_phrases=False) as pages:
        pages.see("http://a.example/", text="0 7 0 99")
        for number in range(1, MOST_COMPARED):
            assert pages.see(f"http://a.example/{number}", text=f"{number} 0 {number} 99").page
        farthest = pages.see("http://b.example/1", text="997 0 0 99")
        assert (farthest.original, farthest.distance) == ("http://a.example/", 3)
        assert (farthest.candidates, pages.conductor.capped) == (MOST_COMPARED, 0)
        pages.see("http://a.example/64", text=f"{MOST_COMPARED} 0 {MOST_COMPARED} 99")
        nearest = pages.see("http://b.example/2", text="998 3 0 99")
        assert (nearest.original, nearest.distance) == ("http://a.example/", 1)
        beyond = pages.see("http://b.example/3", text="999 0 0 99")
        assert (beyond.outcome, beyond.candidates) == ("new", MOST_COMPARED)
        assert pages.conductor.capped == 2
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
    monkeypatch.setattr("dedup_filter.judge.profile_of", profile_of_said)
    sizes = []
    for apart in (0, 0x9E37_79B9_7F4A_7C15):
        with NearDuplicateFilter.open(max_distance=8) as pages:
            for number in range(100):
                text = f"{number} {number * apart % 2**64 ^ 1 << number % 8} {number} 99"
                assert pages.see(f"http://a.example/{number}", text=text).outcome == "new"
            sizes.append(pages.nbytes)
            assert pages.conductor.capped == (0 if apart else 100 - MOST_COMPARED - 1)
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

    def test_nearer_pages_of_other_hosts_take_no_room(self, place, article):
        with place.open(scope="host", max_distance=3) as pages:
            first = see(pages, [1], article, "a.example")
            for number in range(MOST_COMPARED + 2):
                pages.see(f"http://{number}.example/", text=article(1))
            near = pages.see("http://a.example/2", text=article(1))
            assert (first, near.original) == (["new"], "http://a.example/1")

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
        pages.flush()
        store = pages.conductor.store
        contents = [store.content(record) for record in store.records(seen)]
        texts, forms = [each.text for each in contents], [each.form for each in contents]
    expected = [article(1), article(2), article(2)]
    assert texts == (expected if keep_text else [None] * 3)
    if not keep_text:
        assert forms == [None] * 3
        return
    assert forms[0] == KEPT_AS_TEXT
    assert forms[1:] == [pack_page(read(html, None, None))] * 2


def test_the_text_of_a_page_that_is_judged_again_is_the_one_it_is_judged_by(directory, article):
    with directory.open(keep_text=True) as pages:
        texts, form = [], pack_page(read(framed(article(0), NOTICE), None, None))
        for number in range(3):
            pages.see(f"http://a.example/{number}", html=framed(article(number), NOTICE))
            pages.flush()
            [first, *_] = pages.conductor.store.records([1])
            content = pages.conductor.store.content(first)
            texts.append(content.text)
            assert content.form == form
    assert NOTICE.strip() in texts[0]
    assert texts[2] == article(0)
