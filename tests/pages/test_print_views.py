"""Print views are found on their host, wherever their article was seen first."""

import pytest
from lesson_lists import MemoryLists, exchanging
from site_pages import MENU, OTHER_MENU, framed

from dedup_filter import NearDuplicateFilter

NUMBERS = range(12)
COPIES = {"near", "exact"}


def page(text, path, host="a.example", menu=MENU):
    return {"url": f"http://{host}/{path}", "html": framed(text).replace(MENU, menu)}


def mirrored(text, path):
    return page(text, path, "mirror.example", OTHER_MENU)


def printed(text, path):
    """A print view, which names its address and the day."""
    url = f"http://a.example/{path}"
    line = f"Printed from {url} on 22 November. For personal use only, {'thank you, ' * 9}goodbye."
    html = f"<p>The Daily Paper, print edition</p><p>{text}</p><p>{line}</p>"
    return {"url": f"{url}?print", "html": html}


@pytest.fixture
def texts(article):
    return [article(number, words=300) for number in NUMBERS]


def see(known, pages):
    return [known.see(**page).outcome for page in pages]


def test_of_an_article_that_was_seen_on_a_mirror_before(texts):
    with NearDuplicateFilter.open() as known:
        assert see(known, map(mirrored, texts, NUMBERS)) == ["new"] * len(NUMBERS)
        for number, text in enumerate(texts):
            again = [page(text, number), printed(text, number), page(text, f"{number}?sid=1")]
            assert set(see(known, again)) <= COPIES, number


def test_of_other_articles_are_kept(texts, article):
    """The print view of a page that the mirror does not have is no copy of another article."""
    others = [article(100 + number, words=300) for number in NUMBERS]
    with NearDuplicateFilter.open() as known:
        see(known, map(mirrored, texts, NUMBERS))
        see(known, map(page, texts, NUMBERS))
        assert set(see(known, map(printed, others, NUMBERS))) == {"new"}


def test_of_products_are_kept_although_a_shop_elsewhere_has_the_same_terms(article):
    terms = article(1, words=200)

    def product(host, number, menu=MENU):
        name = f"<h1>Lamp {number}</h1><p>Lamp number {number} for {number * 7} euros</p>"
        return {"url": f"http://{host}/{number}", "html": f"<ul>{menu}</ul>{name}<p>{terms}</p>"}

    with NearDuplicateFilter.open() as known:
        for number in NUMBERS:
            pages = [product("a.example", number), product("b.example", number + 50, OTHER_MENU)]
            without_menus = product("a.example", number + 100, "")
            assert see(known, [*pages, without_menus]) == ["new"] * 3


def test_of_an_article_that_another_process_has_kept(texts):
    lists = {}
    crawlers = [exchanging(MemoryLists(number, lists)) for number in (1, 2)]
    for number, text in enumerate(texts):
        see(crawlers[number % 2], [page(text, number)])
    for number, text in enumerate(texts):
        assert set(see(crawlers[number % 2], [printed(text, number)])) <= COPIES, number
