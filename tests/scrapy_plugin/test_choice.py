import pytest
from passages import put_through
from scrapy.http import JsonResponse

from dedup_filter import NearDuplicateFilter

CARD = """
<div class="quote col-md-8 shadow-sm p-3 mb-5 bg-body rounded" itemscope itemtype="https://x.org/Y">
  <span class="text" itemprop="text">%s</span>
  <span>by <small class="author" itemprop="author">Some One</small></span>
  <a href="/author/some-one?page=1&amp;order=asc" rel="nofollow noopener">(about)</a>
</div>
"""


def judged(judge, response, *items):
    for item in items:
        judge.expect(item, response)
    return [put_through(judge, item, response).verdict for item in items]


def test_cards_of_two_pages_are_no_pages_whatever_their_tags(judge, respond, page, article):
    cards = [{"html": CARD % article(seed, words=30)} for seed in range(8)]
    here, there = respond("http://a/1", page(1)), respond("http://a/tag", page(2))

    first = judged(judge, here, *cards[:5])
    second = judged(judge, there, *map(dict, cards[3:]))

    assert {verdict.outcome for verdict in first + second} == {"new"}
    assert len(judge.pages) == 2


def test_article_behind_its_teaser_is_what_an_item_is_judged_by(judge, respond, article, stats):
    answers = [respond(f"http://api/{number}", "{}", JsonResponse) for number in range(2)]
    item = {"text": "A short teaser.", "body": article(1)}

    (first,) = judged(judge, answers[0], {"url": "http://a/1", **item})
    (second,) = judged(judge, answers[1], {"url": "http://a/2", **item})

    assert (first.outcome, second.outcome) == ("new", "exact")


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("/news/1", "http://a/news/1"),
        ("1?page=2", "http://a/list/1?page=2"),
        ("//b/1", "http://b/1"),
        ("https://b/1", "https://b/1"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("http://[1/", "http://a/list/"),
    ],
)
def test_relative_url_of_an_item_is_joined_to_that_of_its_response(
    judge, respond, page, url, meant
):
    judged(judge, respond("http://a/list/", page(9)), {"url": url, "html": page(1)})

    assert judge.pages.see("http://elsewhere/", html=page(1)).original == meant


def test_item_with_a_relative_url_is_on_the_host_of_its_response(make_judge, respond, page):
    judge = make_judge(NearDuplicateFilter.open(scope="host"))
    items = [{"url": "/news/1", "html": page(1, edits)} for edits in range(3)]

    (first,) = judged(judge, respond("http://a/", page(8)), items[0])
    (second,) = judged(judge, respond("http://b/", page(9)), items[1])
    (third,) = judged(judge, respond("http://b/", page(7)), items[2])

    assert (first.outcome, second.outcome, third.outcome) == ("new", "new", "near")
