"""Hints which lines keep near pages from being dropped: they are true, few and bounded."""

import json
import random
import re

import pytest
from gate import slow
from lxml import html as lxml_html
from made_text import prose

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.model import MissingLine, Refusal
from dedup_filter.review.refusals import ignorable
from dedup_filter.scrapy_plugin import advice
from dedup_filter.scrapy_plugin.advice import MANY, MOST_HINTS, Hints
from dedup_filter.text.page_fields import PageText

TEXT = prose(1)
HINT = re.compile(
    r"([\d,]+) near pages of (\S+) differ from an earlier one only in .*, "
    r"DEDUP_(?:IGNORE|MAX_MISSING) = (\S.*) would"
)


def told(hint):
    pages, host, value = HINT.match(hint).groups()
    return int(pages.replace(",", "")), host, json.loads(value)


def refused(*lines, words=3):
    return Refusal("lines", words, 0, lines[0], lines=(*map(MissingLine, lines),))


def see(counts, host, line, around='<p class="sold">{}</p>'):
    page = PageText(html=f"<h1>Ice</h1><p>{TEXT}</p>" + around.format(line))
    counts.see(f"http://{host}/", refused(line), page)


def hints(counts):
    return [told(hint) for hint in counts.messages()]


MENU = "<nav><a href=/>The Paper</a> <a href=/a>Sports</a></nav>"
VOLATILE = {
    "class": '<p>By Anna <span class="sold">Sold {} times</span> in <i>The Paper</i></p>',
    "line": '<p><span class="sold">Sold {} times</span></p>',
    "around": "<section class=stats><h4>Figures</h4><div>Sold {} times</div></section>",
    "id": '<div class="box"><p id="sold-{}">Sold {} times</p></div>',
    "clock": '<div id="clock">It is {} o\'clock</div>',
    "nameless": "<p>Sold {} times</p>",
    "made": '<p class="c{}">Sold {} times</p>',
    "words": '<p class="quote">{}</p>',
    "sentence": '<div class="quote"><h4>Quote of the day</h4><p>{}</p></div>',
    "nameless words": "<p>{}</p>",
    "within": f"<p>{prose(7, words=30)} read {{}} times by <b>members</b></p>",
}
"""Elements of which some differ each time; the kinds of `SIZES` in more than numbers."""
SIZES = {"words": 4, "nameless words": 4, "sentence": 20}


def volatile(kind, value):
    """Return an element with a number, or with words made from it."""
    words = " ".join(prose(value).split()[1::3][: SIZES.get(kind, 0)])
    return VOLATILE[kind].replace("{}", words or str(value))


def site(chance):
    """Pages of a host, by URL: articles that come again and again, with volatile elements.

    Some copies lack one of these, and some have a paragraph more.
    """
    kinds = chance.sample(sorted(VOLATILE), chance.randint(1, 3))
    menu, words = chance.choice(["", MENU]), chance.choice([60, 150, 260])
    articles = chance.randint(3, 5)
    pages = {}
    for number in range(articles * chance.randint(2, 7)):
        there = [kind for kind in kinds if chance.random() < 0.9]
        parts = [volatile(kind, chance.randrange(10, 100_000)) for kind in there]
        if chance.random() < 0.1:
            parts.append(f"<p>{prose(f'more{number}', words=40)}</p>")
        pages[f"http://a/{number}"] = article(number % articles, words, *parts, menu=menu)
    return pages


def article(number, words, *parts, menu=MENU):
    title = f"Report {prose(100 + number, words=4)}"
    text = f"<h1>{title}</h1><p>{prose(number, words=words)}</p>{''.join(parts)}"
    return f"<html><title>{title}</title><body>{menu}<main>{text}</main></body></html>"


def without(page, selector):
    tree = lxml_html.fromstring(page)
    for each in tree.cssselect(selector):
        each.drop_tree()
    return lxml_html.tostring(tree, encoding="unicode")


def of_site(pages):
    """See the pages of a site; return what was counted, and which pages a hint may be about.

    The pages are listed by selector, and by the words of lines that no selector names.
    """
    counts, about = Hints(), {}
    with NearDuplicateFilter.open() as index:
        for url, page in pages.items():
            refused = index.see(url, html=page).refused
            if refused is not None and refused.lines:
                counts.see(url, refused, PageText(html=page))
                named = ignorable(PageText(html=page), refused.lines)
                value = named.selector if named is not None else refused.words
                about.setdefault(value, []).append(url)
    return counts, about


def kept_in_spite(pages, about, value):
    """Return those pages of a hint that are kept though its setting has this value."""
    if isinstance(value, str):
        pages, options = {url: without(page, value) for url, page in pages.items()}, {}
    else:
        options = {"max_missing": value}
    with NearDuplicateFilter.open(**options) as index:
        verdicts = {url: index.see(url, html=page) for url, page in pages.items()}
    return [url for url in about if not verdicts[url].is_duplicate]


@pytest.mark.parametrize("sites", [3, slow(20)])
def test_pages_that_hints_are_about_are_dropped_with_the_setting(monkeypatch, sites):
    """Nearly all: what is frame, and the main text of a page, changes with an element."""
    monkeypatch.setattr(advice, "MANY", 2)
    sites_with_hints = counted = kept = lines = 0
    for seed in range(sites):
        pages = site(random.Random(seed))
        counts, about = of_site(pages)
        for number, host, value in hints(counts):
            assert host == "a"
            chosen = about.get(value, [])
            if isinstance(value, int):
                lines += 1
                few = (each for each in about if not isinstance(each, str) and each <= value)
                chosen = [url for words in few for url in about[words]]
            assert 2 <= number <= len(chosen)
            sites_with_hints += 1
            counted += len(chosen)
            kept += len(kept_in_spite(pages, chosen, value))
    assert sites_with_hints > sites / 4
    assert lines > sites / 10
    assert counted > 2 * sites
    assert kept <= 0.05 * counted


LINES = [
    (["class"], ".sold"),
    (["line"], ".sold"),
    (["around"], ".stats > div"),
    (["id"], ".box"),
    (["clock"], "#clock"),
    (["line", "clock"], ".sold, #clock"),
    (["nameless"], 3),
    (["made"], 3),
    (["words"], ".quote"),
    (["sentence"], ".quote > p"),
    (["nameless words"], None),
    (["line", "nameless"], 6),
]


@pytest.mark.parametrize(("kinds", "value"), LINES)
def test_a_hint_names_the_lines_that_differ_from_five_pages_on(kinds, value):
    pages = {}
    for number in range(2 * MANY):
        parts = [volatile(kind, 1000 + 7 * number) for kind in kinds]
        pages[f"http://a/{number}"] = article(number // 2, 260, *parts)
    counts, _ = of_site(pages)
    assert hints(counts) == ([(5, "a", value)] if value else [])
    for hint in counts.messages() if isinstance(value, int) else ():
        assert "'Sold 1007 times'" in hint
        assert not kept_in_spite(pages, [*pages][1::2], value)


def test_the_hint():
    counts = Hints()
    for number in range(1_000, 1_212):
        see(counts, "news.example", f"Sold {number} times")
    [hint] = counts.messages()
    assert hint == (
        "212 near pages of news.example differ from an earlier one only in "
        """<p class="sold"> ('Sold 1000 times' / 'Sold 1001 times'): unless that text matters, """
        'as a price or a size does, DEDUP_IGNORE = ".sold" would drop them'
    )


def test_a_hint_needs_many_pages_with_one_line_or_as_many_texts():
    counts = Hints()
    for number in range(MANY - 1):
        see(counts, "a", f"Sold {number:,} times")
    assert hints(counts) == []
    see(counts, "a", "Sold 1,037 times")
    assert hints(counts) == [(MANY, "a", ".sold")]
    for text in ["Red", "Blue", "Green", "White"] * (MANY - 1):
        see(counts, "b", text)
    assert hints(counts) == [(MANY, "a", ".sold")]
    see(counts, "b", "Black")
    assert hints(counts) == [(4 * (MANY - 1) + 1, "b", ".sold"), (MANY, "a", ".sold")]


def test_hints_are_few_the_largest_first_and_each_is_given_once():
    counts = Hints()
    for host, pages in zip("abcdefg", (11, 17, 12, 16, 13, 15, 14), strict=True):
        for number in range(pages):
            see(counts, host, f"Sold {number} times")
    # The same element with another text of its own.
    for number in range(10):
        see(counts, "a", f"Seen {number} times")
    found = [
        (21, "a", ".sold"),
        (17, "b", ".sold"),
        (16, "d", ".sold"),
        (15, "f", ".sold"),
        (14, "g", ".sold"),
    ]
    assert hints(counts) == found[:MOST_HINTS]


@pytest.mark.parametrize("url", ["", "doc-17", "http://[1/", f"http://{'a' * 300}/"])
def test_pages_that_no_host_has_are_not_counted(url):
    counts, page = Hints(), PageText(html=f"<p>{TEXT}<p class=sold>Sold")
    for _ in range(MANY):
        counts.see(url, refused("Sold"), page)
    assert len(counts.messages()) == int(not url)


def test_looks_are_bounded(monkeypatch):
    assert (advice.MOST_OF_HOST, advice.MOST_OF_CRAWL) == (1_000, 20_000)
    looks = []
    found = advice.ignorable
    monkeypatch.setattr(advice, "ignorable", lambda *each: looks.append(1) or found(*each))
    monkeypatch.setattr(advice, "MOST_OF_HOST", 100)
    monkeypatch.setattr(advice, "MOST_OF_CRAWL", 250)
    counts = Hints()
    for host, wanted in (("a", 100), ("b", 200), ("c", 250)):
        for number in range(120):
            see(counts, host, f"Sold {number}")
        assert len(looks) == wanted
    assert [pages for pages, *_ in hints(counts)] == [100, 100, 50]
