"""Whatever order items come in and whatever becomes of them: no page costs another its item."""

from hypothesis import given
from hypothesis import strategies as st
from passages import BY_TEXT, Collector, PlainPages, Waiting, new_judge
from scrapy.http import HtmlResponse, JsonResponse, Request

from dedup_filter.errors import StoreError

ITEMS = st.tuples(
    st.sampled_from("ABC"),  # what is on the page
    st.sampled_from(["through", "lost later", "lost earlier"]),  # what other pipelines do
    st.booleans(),  # whether a later pipeline makes it anew
    st.booleans(),  # whether it tells its URL
)
RESPONSES = st.lists(
    st.tuples(st.booleans(), st.lists(ITEMS, min_size=1, max_size=5)), min_size=1, max_size=4
)


class Crawl:
    """Responses that give items, and a scheduler that takes any next step."""

    def __init__(self, responses, pick, pages=None):
        self.pages = PlainPages() if pages is None else pages
        self.stats = Collector()
        self.judge = new_judge(self.pages, self.stats, **BY_TEXT)
        self.pick = pick
        self.steps = []
        self.through = set()
        """Numbers of the pages of which an item went through."""
        self.texts_through = set()
        self.waiting = []
        for number, (is_feed, items) in enumerate(responses):
            self.steps.append(self.giving(self.response(number, is_feed), list(items)))

    def response(self, number, is_feed):
        kind = JsonResponse if is_feed else HtmlResponse
        url = f"http://r/{number}"
        return kind(url, body=b"{}", request=Request(url))

    def run(self):
        while self.steps:
            self.steps.pop(self.pick(len(self.steps)))()
            for waiting in [each for each in self.waiting if each.passage is not None]:
                self.waiting.remove(waiting)
                self.steps.append(lambda waiting=waiting: self.come_out(waiting))

    def giving(self, response, items):
        def give():
            content, *fate = items.pop(0)
            item = {"text": content, "fate": fate}
            if fate[-1]:
                item["url"] = f"http://{content}/{len(items)}"
            self.judge.expect(item, response)
            self.steps.append(lambda: self.arrive(item, response))
            if items:
                self.steps.append(give)
            else:
                self.steps.append(lambda: self.judge.output_ended(response, has_failed=False))

        return give

    def arrive(self, item, response):
        if item["fate"][0] == "lost earlier":
            self.judge.came_out(item, response, went_through=False)
            return
        self.waiting.append(Waiting(self.judge, item, response))

    def come_out(self, waiting):
        item, end = waiting.passage.item, self.judge.came_out
        fate, is_remade, _ = item["fate"]
        if waiting.dropped is not None:
            end(item, waiting.response, went_through=None)
        elif fate == "lost later":
            end(item, waiting.response, went_through=False)
        else:
            self.through.add(waiting.passage.judgement.verdict.page)
            self.texts_through.add(item["text"])
            end(dict(item) if is_remade else item, waiting.response, went_through=True)


class Failing(PlainPages):
    """Pages whose fates cannot be written whenever `fails` says so."""

    def __init__(self, fails):
        super().__init__()
        self._fails = fails

    def commit(self, verdict):
        self._reach()
        super().commit(verdict)

    def release(self, verdict):
        self._reach()
        super().release(verdict)

    def _reach(self):
        if self._fails():
            raise StoreError("the disk is full")


@given(RESPONSES, st.data())
def test_no_page_costs_another_its_item(responses, data):
    crawl = Crawl(responses, lambda count: data.draw(st.integers(0, count - 1)))

    crawl.run()

    assert not crawl.waiting, "somebody waits for ever"
    assert not crawl.pages.pending, "a page is pending for ever"
    committed = set(crawl.pages.committed)
    assert crawl.through <= committed
    kept = {page for page, _ in crawl.pages.kept.values()}
    assert kept <= crawl.through, "a page counts as seen of which no item went through"
    assert crawl.stats.get("dedup/errors", 0) == 0
    lost = {text for _, items in responses for text, *_ in items} - set(crawl.pages.kept)
    for content in lost:
        fates = [fate for _, items in responses for text, fate, *_ in items if text == content]
        assert "through" not in fates, "a page is lost"


@given(RESPONSES, st.data())
def test_no_page_is_lost_when_the_index_fails_now_and_then(responses, data):
    pages = Failing(lambda: data.draw(st.booleans()))
    crawl = Crawl(responses, lambda count: data.draw(st.integers(0, count - 1)), pages)

    crawl.run()

    assert not crawl.waiting, "somebody waits for ever"
    to_come = {text for _, items in responses for text, fate, *_ in items if fate == "through"}
    assert to_come <= crawl.texts_through, "a page is lost"
