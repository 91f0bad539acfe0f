"""How the URLs of two pages are related, and whether a page is one of a sequence by its links."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text.decode import parse
from dedup_filter.text.page_url import ONE_PAGE, is_paged, kinship

SHOP = "http://a.example/shop/chair"


class TestKinship:
    @pytest.mark.parametrize(
        ("url", "other", "expected"),
        [
            (SHOP, SHOP, "same"),
            (SHOP, f"{SHOP}/", "same"),
            (SHOP, SHOP.upper(), "same"),
            (SHOP, f"{SHOP}#reviews", "same"),
            (SHOP, f"{SHOP}.html", "same"),
            (SHOP, f"{SHOP}/index.html", "same"),
            (SHOP, f"{SHOP}/default.aspx", "same"),
            (SHOP, f"{SHOP};jsessionid=3FA9", "same"),
            (f"{SHOP}?a=1&b=2", f"{SHOP}?b=2&a=1", "same"),
            ("http://a.example/", "http://a.example", "same"),
            ("http://a.example/?p=7", "https://a.example/index.php?p=7", "same"),
            # The visitor, or where he came from.
            (SHOP, f"{SHOP}?sid=17", "spelling"),
            (f"{SHOP}?PHPSESSID=a", f"{SHOP}?PHPSESSID=b", "spelling"),
            (f"{SHOP}?s=12", f"{SHOP}?s=13", "spelling"),
            (SHOP, f"{SHOP}?utm_source=mail&utm_medium=x", "spelling"),
            (SHOP, f"{SHOP}?fbclid=x&ref=home", "spelling"),
            (f"{SHOP}?user_sid=1", f"{SHOP}?user_sid=2", "spelling"),
            # Another view.
            (SHOP, f"{SHOP}/amp", "view"),
            (SHOP, "http://a.example/amp/shop/chair", "view"),
            (SHOP, "http://a.example/print/chair", "view"),
            (SHOP, f"{SHOP}?print=1", "view"),
            (SHOP, f"{SHOP}?utm_source=x&view=full", "view"),
            # Numbers tell pages of a list or records apart.
            (f"{SHOP}?id=4", f"{SHOP}?id=17", "series"),
            (f"{SHOP}/2", f"{SHOP}/3", "series"),
            (SHOP, f"{SHOP}/2", "series"),
            (f"{SHOP}/page/2", SHOP, "series"),
            (SHOP, f"{SHOP}?page=2", "series"),
            (f"{SHOP}?start=0", f"{SHOP}?start=20", "series"),
            (f"{SHOP}?newsid=12", f"{SHOP}?newsid=13", "series"),
            (f"{SHOP}?classid=12", f"{SHOP}?classid=13", "series"),
            (SHOP, f"{SHOP}?page=2&utm_source=x", "series"),
            # Any other argument may choose what the page shows.
            (f"{SHOP}?Sred", f"{SHOP}?Mnavy", "other"),
            (f"{SHOP}?colour=red", f"{SHOP}?colour=navy", "other"),
            (SHOP, f"{SHOP}?id=17", "other"),
            (f"{SHOP}?reference=a1", f"{SHOP}?reference=b2", "other"),
            (f"{SHOP}?refine=red", SHOP, "other"),
            (SHOP, f"{SHOP}?colour=red&sid=1", "other"),
            (SHOP, "http://a.example/shop/table", "other"),
            (SHOP, "http://a.example/chair", "other"),
            (f"{SHOP}/12345", f"{SHOP}/12346", "other"),
            # No URL of the web.
            ("", "", "same"),
            ("", SHOP, "other"),
            ("http://[1/", "http://[1/", "same"),
            ("http://[1/", "http://[2/", "other"),
            ("http://[1/", SHOP, "other"),
            ("页面", "另页", "other"),
        ],
    )
    def test_is_the_same_both_ways(self, url, other, expected):
        assert kinship(url, other) == kinship(other, url) == expected

    @given(st.text(max_size=60), st.text(max_size=60))
    def test_of_anything_is_known(self, path, query):
        urls = [f"http://a.example/{path}?{query}", path, f"//{query}", f"?{path}&{query}="]
        for url in urls:
            assert kinship(url, url) == "same"
            assert [kinship(url, other) for other in urls] == [kinship(each, url) for each in urls]

    @pytest.mark.parametrize(
        "query",
        [
            "&".join(f"a{number}={number}" for number in range(10_000)),
            "&" * 100_000,
            "a=" * 50_000,
            "page=1" * 20_000,
        ],
        ids=["arguments", "separators", "signs", "one argument"],
    )
    def test_of_long_urls_takes_linear_time(self, query):
        start = time.process_time()
        assert kinship(f"{SHOP}?{query}", SHOP) not in ONE_PAGE or "=" not in query
        assert kinship(f"{SHOP}?{query}", f"{SHOP}?{query}") == "same"
        kinship(f"{SHOP}/{'1' * 100_000}", f"{SHOP}/{'/' * 100_000}")
        assert time.process_time() - start < 2


def paged(body: str, head: str = "") -> bool:
    tree = parse(f"<html><head>{head}<title>t</title></head><body>{body}</body></html>")
    assert tree is not None
    return is_paged(tree)


class TestIsPaged:
    @pytest.mark.parametrize(
        "body",
        [
            '<a href="/x?page=1">1</a> <a href="/x?page=2">2</a>',
            '<b>2</b> <ul><li><a href="/c">3</a><li><a href="/d">4</a></ul>',
            # The only link: to the second page of two.
            '<b>1</b> <a href="?page=2">2</a>',
            '<a href="/list/page02/">2</a>',
            '<a href="/list/page-2">2</a>',
            '<a rel="next" href="/b">On</a>',
            '<a rel="prev" href="/b">Back</a>',
            *(f'<a href="/b">{word}</a>' for word in ("Next", " next › ", "»", "Weiter", "下一页")),
            '<a href="/b"><span>Older</span> <i>posts</i></a>',
        ],
    )
    def test_a_page_with_links_to_others_of_its_sequence(self, body):
        assert paged(body)
        assert not paged(body.replace("href", "data-at").replace("rel=", "data-rel="))

    def test_a_page_whose_head_names_the_next(self):
        assert paged("", '<link rel="next" href="/b">')
        assert not paged("", '<link rel="canonical" href="/b">')

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "<p>1 2 3</p>",
            '<a href="#comments">12 comments</a>',
            '<a href="/story#comments">12</a>',
            '<a href="/story/comments">12</a><a href="/story/likes">30</a>',
            '<a href="/2024">The year</a>',
            '<a href="/b">What comes next in town</a>',
            '<a href="/one">10</a><a href="/two">20</a>',
            '<a href="/2">12345</a>',
        ],
    )
    def test_an_article_with_counts_is_none(self, body):
        assert not paged(body)

    @pytest.mark.parametrize("text", ["{}", "2", "no page", ""])
    @pytest.mark.parametrize(("count", "size"), [(3_000, 50), (100, 6_000)])
    def test_many_or_long_links_take_linear_time(self, text, count, size):
        for sign in "x09-/=":
            href = f"/{sign * size}x"
            body = "".join(f'<a href="{href}">{text.format(7 * n)}</a>' for n in range(count))
            start = time.process_time()
            assert not paged(body)
            assert time.process_time() - start < 3
