"""What an index tells of pages at several URLs, in one crawl and in several."""

import random

from command_line import run

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
    """Another page at a URL takes the place of the earlier one."""
    story, other = page(sentences(1)), page(sentences(2))
    urls = [f"{SITE}/1", f"{SITE}/1?a", f"{SITE}/1?b"]
    crawl(tmp_path, [(url, story) for url in urls])
    crawl(tmp_path, [(urls[0], story), (urls[1], other)])
    assert recorded_of(tmp_path) == [
        Page(urls[0], 1, 1, 2),
        Page(urls[2], 1, 1, 1),
        Page(urls[1], 5, 2, 2),
    ]


def test_a_page_dropped_for_its_canonical_one_is_the_same(tmp_path):
    whole = sentences(1, 80)
    link = f'<link rel="canonical" href="{SITE}/all">'
    part = page(whole[:30], head=link)
    found = crawl(tmp_path, [(f"{SITE}/all", page(whole)), (f"{SITE}/p", part)], canonical=True)
    assert found[1].reason == "canonical"
    assert [each.same for each in recorded_of(tmp_path)] == [1, 1]


def test_a_kept_page_repeats_the_one_that_it_names_if_they_are_alike(tmp_path):
    story, link = sentences(1, 12), f'<link rel="canonical" href="{SITE}/1#top">'
    names = "Ann of York", "Ben of Leeds"
    pages = [
        page([*story, "Leave a reply."]),
        *(page([*story, f"Leave a reply to {name}."], head=link) for name in names),
        page([*story[:6], *sentences(2, 6)], head=link),  # half of it is another text
        page([*story, "Leave a reply to Cid of Hull."]),  # it names nothing
    ]
    urls = [f"{SITE}/1", *(f"{SITE}/1?reply={n}" for n in range(4))]
    verdicts = crawl(tmp_path, zip(urls, pages, strict=True))
    assert {verdict.outcome for verdict in verdicts} == {"new"}
    assert [verdict.canonical for verdict in verdicts] == [None, *[f"{SITE}/1#top"] * 3, None]
    assert [each.same for each in recorded_of(tmp_path)] == [1, 1, 1, 4, 5]


def test_what_repeats_such_a_page_is_the_same(tmp_path):
    story, link = sentences(1, 12), f'<link rel="canonical" href="{SITE}/1">'
    reply = page([*story, "Leave a reply to Ann of York."], head=link)
    urls = f"{SITE}/1", f"{SITE}/1?reply=1", f"{SITE}/1?reply=2"
    verdicts = crawl(tmp_path, zip(urls, [page(story), reply, reply], strict=True))
    assert [verdict.outcome for verdict in verdicts] == ["new", "new", "exact"]
    assert [each.same for each in recorded_of(tmp_path)] == [1, 1, 1]
    lines = run("index", "export", str(tmp_path))[1]
    assert run("index", "import", str(tmp_path / "again"), text=lines)[0] == 0
    assert recorded_of(tmp_path / "again") == recorded_of(tmp_path)


def test_which_of_the_two_came_first_does_not_matter(tmp_path):
    story, link = sentences(1, 12), f'<link rel="canonical" href="{SITE}/1">'
    reply = page([*story, "Leave a reply to Ann of York."], head=link)
    post = page([*story, "Leave a reply if you can."])
    urls = f"{SITE}/1?reply", f"{SITE}/1", f"{SITE}/1?a"
    crawl(tmp_path, zip(urls, [reply, post, post], strict=True))
    assert [each.same for each in recorded_of(tmp_path)] == [1, 1, 1]
