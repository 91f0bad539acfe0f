"""Print views are found on their host, wherever their article was seen first."""

import pytest
from lesson_lists import MemoryLists, exchanging
from site_pages import MENU, OTHER_MENU, framed

from dedup_filter import NearDuplicateFilter

NUMBERS = range(12)
COPIES = {"near", "exact"}


class Site:
    """A site whose articles have print views, which name their address and the day."""

    def __init__(self, article, host="a.example", menu=MENU):
        self.host = host
        self._article = article
        self._menu = menu

    def page(self, number, session=""):
        html = framed(self._article(number, words=300)).replace(MENU, self._menu)
        return {"url": f"http://{self.host}/{number}{session}", "html": html}

    def printed(self, number):
        url = f"http://{self.host}/{number}"
        line = (
            f"Printed from {url} on 22 November. For personal use only, {'thank you, ' * 9}goodbye."
        )
        text = self._article(number, words=300)
        html = f"<p>The Daily Paper, print edition</p><p>{text}</p><p>{line}</p>"
        return {"url": f"{url}?print", "html": html}


@pytest.fixture
def site(article):
    return Site(article)


@pytest.fixture
def mirror(article):
    return Site(article, "mirror.example", OTHER_MENU)


def see(known, pages):
    return [known.see(**page).outcome for page in pages]


def test_of_an_article_that_was_seen_on_a_mirror_before(site, mirror):
    with NearDuplicateFilter.open() as known:
        assert see(known, map(mirror.page, NUMBERS)) == ["new"] * len(NUMBERS)
        for number in NUMBERS:
            again = [site.page(number), site.printed(number), site.page(number, "?sid=1")]
            assert set(see(known, again)) <= COPIES, number


def test_of_other_articles_are_kept(site, mirror, article):
    """The print view of a page that the mirror does not have is no copy of another article."""
    other = Site(lambda number, words: article(100 + number, words=words))
    with NearDuplicateFilter.open() as known:
        see(known, map(mirror.page, NUMBERS))
        see(known, map(site.page, NUMBERS))
        assert set(see(known, map(other.printed, NUMBERS))) == {"new"}


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


def test_of_an_article_that_another_process_has_kept(site):
    lists = {}
    crawlers = [exchanging(MemoryLists(number, lists)) for number in (1, 2)]
    for number in NUMBERS:
        see(crawlers[number % 2], [site.page(number)])

    for number in NUMBERS:
        assert set(see(crawlers[number % 2], [site.printed(number)])) <= COPIES, number
