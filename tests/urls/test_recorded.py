"""What an index tells of pages at several URLs, in one crawl and in several."""

import random

from dedup_filter import NearDuplicateFilter
from dedup_filter.upkeep import index_at
from dedup_filter.urls.mining import Page
from dedup_filter.urls.recorded import judged_pages

SITE = "https://a.example"


def sentences(number, many=40):
    chance = random.Random(number)
    words = [f"w{chance.randrange(10**6)}" for _ in range(4 * many)]
    return [
        f"The {one} of the {two} was in a {three} and it is the {four}."
        for one, two, three, four in zip(*[iter(words)] * 4, strict=True)
    ]


def page(text, title="A story", h1=None, head=""):
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in text)
    heading = "" if h1 is None else f"<h1>{h1}</h1>"
    return f"<head><title>{title}</title>{head}</head><body>{heading}{paragraphs}</body>"


def crawl(folder, pages, **options):
    with NearDuplicateFilter.open(folder, **options) as seen:
        return [seen.see(url, html=html) for url, html in pages]


def recorded_of(folder):
    with index_at(str(folder)).recorded() as recorded:
        return list(judged_pages(recorded))


def test_pages_have_the_crawls_in_which_they_were_at_their_url(tmp_path):
    story, other = page(sentences(1)), page(sentences(2))
    crawl(tmp_path, [(f"{SITE}/1", story), (f"{SITE}/1?a", story)])
    crawl(tmp_path, [(f"{SITE}/1", story), (f"{SITE}/1?a", other)])
    first, last = (1, 1), (2, 2)
    assert recorded_of(tmp_path) == [
        Page(f"{SITE}/1", 1, 1, 2),
        Page(f"{SITE}/1?a", 1, *first),
        Page(f"{SITE}/1?a", 4, *last),
    ]


def test_a_page_dropped_for_its_canonical_one_is_the_same(tmp_path):
    whole = sentences(1, 80)
    link = f'<link rel="canonical" href="{SITE}/all">'
    part = page(whole[:30], head=link)
    found = crawl(tmp_path, [(f"{SITE}/all", page(whole)), (f"{SITE}/p", part)], canonical=True)
    assert found[1].reason == "canonical"
    assert [each.same for each in recorded_of(tmp_path)] == [1, 1]
