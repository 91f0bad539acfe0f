"""Events of responses and items decide the fate of each page as the table in `page_fates` says."""

from hypothesis import given
from hypothesis import strategies as st

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.page_fates import Judgement, PageFates, ResponseItems

PAGE = 7


class Followed:
    """One claimed page of one response, and the fates that were reported."""

    def __init__(self, *, items=None):
        self.reported = []
        self.fates = PageFates(lambda judgement: self.reported.append(judgement.fate))
        self.items = ResponseItems() if items is None else items
        self.judgement = Judgement(Verdict("new", page=PAGE), "http://a.example/")

    def claim(self):
        self.fates.claim(self.judgement, self.items)

    def give(self, item):
        self.fates.give(self.items)
        self.fates.enter(self.items, item, self.judgement)

    def leave(self, item, *, has_passed):
        self.fates.leave(self.items, item, has_passed=has_passed)

    def end(self, *, has_failed=False):
        self.fates.response_ended(self.items, has_failed=has_failed)


def followed(*items, claim_first=True):
    page = Followed()
    if claim_first:
        page.claim()
    for item in items:
        page.give(item)
    return page


def test_a_page_that_another_waits_for_stays_pending_while_nothing_is_lost():
    page = followed()
    assert page.fates.is_pending(PAGE)
    assert page.reported == []


def test_an_item_without_a_response_stands_alone():
    page = Followed()
    page.items = page.fates.orphans
    page.claim()
    item = object()
    page.fates.enter(page.items, item, page.judgement)
    page.leave(item, has_passed=False)
    assert page.reported == ["gone"]


def test_the_end_of_a_crawl_releases_what_is_pending_and_final_states_stay():
    page = followed(one := object())
    page.fates.end_all()
    page.leave(one, has_passed=True)
    page.fates.end(page.judgement, "kept")
    page.end()
    assert page.reported == [page.judgement.fate] == ["gone"]


events = st.lists(
    st.one_of(
        st.just("give"),
        st.tuples(st.sampled_from(["passes", "lost"]), st.integers(0, 5)),
        st.just("awaited"),
    ),
    max_size=12,
)


@given(events=events, has_failed=st.booleans())
def test_each_page_gets_one_fate_whatever_the_order(events, has_failed):
    """The oracle reads the whole story: the first event after which the fate is certain decides."""
    page, open_items, expected = followed(), [], None
    gave = lost = False
    for event in events:
        if event == "give":
            open_items.append(object())
            page.give(open_items[-1])
            gave = True
        elif event == "awaited":
            page.fates.is_pending(PAGE)
            if lost and not open_items:
                expected = expected or "gone"
        elif open_items:
            item = open_items.pop(event[1] % len(open_items))
            page.leave(item, has_passed=event[0] == "passes")
            lost |= event[0] == "lost"
            if event[0] == "passes":
                expected = expected or "kept"
    for item in open_items:
        page.leave(item, has_passed=False)
    page.end(has_failed=has_failed)
    assert page.reported == [expected or ("gone" if gave or has_failed else "kept")]
    assert not page.fates.is_pending(PAGE)
