import pytest
from passages import put_through
from scrapy.http import JsonResponse

from dedup_filter import NearDuplicateFilter


def judged(judge, response, *items):
    for item in items:
        judge.expect(item, response)
    return [put_through(judge, item, response).verdict for item in items]


def test_jobs_of_one_list_share_the_verdict_on_their_page(judge, respond, article, stats):
    """Bodies are alike, titles are not; what a field is called tells nothing of it."""

    def listing(first):
        jobs = [{"title": f"Job {first + number}", "body": article(1)} for number in range(5)]
        shown = "".join(f"<h2>{job['title']}</h2><p>{article(first)}</p>" for job in jobs)
        return jobs, f"<html><body>{shown}</body></html>"

    for first in (10, 20, 30):
        jobs, html = listing(first)
        verdicts = judged(judge, respond(f"http://a/jobs/{first}", html), *jobs)
        assert [verdict.outcome for verdict in verdicts] == ["new"] * 5
    jobs, html = listing(10)
    again = judged(judge, respond("http://mirror/jobs/10", html), *jobs)

    assert [verdict.original for verdict in again] == ["http://a/jobs/10"] * 5
    assert stats["dedup/pages"] == 4


@pytest.mark.parametrize("name", ["html", "text", "body", "article"])
def test_fields_that_nobody_named_decide_nothing_if_there_is_a_page(judge, respond, page, name):
    item = {name: page(1)}

    (first,) = judged(judge, respond("http://a/", page(8)), dict(item))
    (second,) = judged(judge, respond("http://b/", page(9)), dict(item))

    assert (first.outcome, second.outcome) == ("new", "new")


def test_without_a_page_the_whole_document_in_an_item_is_judged(judge, respond, page, stats):
    answers = [respond(f"http://api/{number}", "{}", JsonResponse) for number in range(2)]

    (first,) = judged(judge, answers[0], {"url": "http://a/", "page": page(1)})
    (second,) = judged(judge, answers[1], {"url": "http://b/", "page": page(1).encode()})

    assert (first.outcome, second.outcome) == ("new", "exact")
    assert second.original == "http://a/"


EDITS = [
    "for each in tree.findall('.//p'): each.getparent().remove(each)",
    "for each in tree.findall('.//p'): each.text = 'the same for all'",
    "tree.clear()",
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("names", [{}, {"DEDUP_FOLLOW_LINKS": False}])
def test_what_a_spider_does_to_its_tree_changes_no_verdict(make_judge, respond, page, edit, names):
    judge = make_judge(**names)
    responses = {
        url: respond(url, page(seed))
        for url, seed in {"http://a/": 1, "http://b/": 2, "http://c/": 1}.items()
    }
    for response in responses.values():
        exec(edit, {"tree": response.selector.root})

    found = {url: judged(judge, response, {})[0] for url, response in responses.items()}

    assert [verdict.outcome for verdict in found.values()] == ["new", "new", "exact"]
    assert found["http://c/"].original == "http://a/"


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
    make_judge, respond, page, url, meant
):
    judge = make_judge(DEDUP_HTML_FIELD="html")
    judged(judge, respond("http://a/list/", page(9)), {"url": url, "html": page(1)})

    assert judge.pages.see("http://elsewhere/", html=page(1)).original == meant


def test_item_with_a_relative_url_is_on_the_host_of_its_response(make_judge, respond, page):
    judge = make_judge(NearDuplicateFilter.open(scope="host"), DEDUP_HTML_FIELD="html")
    items = [{"url": "/news/1", "html": page(1, edits)} for edits in range(3)]

    (first,) = judged(judge, respond("http://a/", page(8)), items[0])
    (second,) = judged(judge, respond("http://b/", page(9)), items[1])
    (third,) = judged(judge, respond("http://b/", page(7)), items[2])

    assert (first.outcome, second.outcome, third.outcome) == ("new", "new", "near")
