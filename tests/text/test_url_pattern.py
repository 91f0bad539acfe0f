"""Which URLs a host or a path stands for, and what names neither."""

import pytest

from dedup_filter import ConfigError
from dedup_filter.text.url_pattern import UrlPattern


@pytest.mark.parametrize(
    ("pattern", "meant", "others"),
    [
        (
            "shop.example",
            "http://shop.example https://SHOP.example/a?b=c http://www.shop.example:8080/",
            "http://shop.example.com/ http://myshop.example/ http://example/ http:///a",
        ),
        ("Shop.Example:8080", "http://shop.example:8080/a", "http://shop.example/a"),
        ("shop.example/", "http://shop.example https://shop.example/#top", "http://shop.example/a"),
        (
            "shop.example/p/*",
            "http://shop.example/p/ https://m.shop.example/p/1/a?b=c http://shop.example/p/*",
            "http://shop.example/p http://shop.example/P/1 http://shop.example/a/p/1",
        ),
        (
            "shop.example/item?id=*",
            "http://shop.example/item?id=1&x=2",
            "http://shop.example/item http://shop.example/itemXid=1",
        ),
        ("*/print/*.html", "http://a.example/print/a/b.html", "http://a.example/print/b.htmlx"),
        ("*", "http://a.example/ http://[::1]:80/a", ""),
        (
            "bücher.example/ä/*",
            "http://xn--bcher-kva.example/%C3%A4/1 https://BÜCHER.example/ä/b",
            "http://xn--bcher-kva.example/%C3%A5/1",
        ),
        ("[::1]:8080/a", "http://[::1]:8080/a", "http://[::1]/a http://[1/a"),
    ],
)
def test_pattern_stands_for_the_pages_of_a_host(pattern, meant, others):
    read = UrlPattern.read(pattern)
    assert [url for url in f"{meant} {others}".split() if read.fits(url)] == meant.split()


@pytest.mark.parametrize(
    "given", ["", "/p/*", "https://shop.example/p", "*.shop.example", "a b", "shop.*/p", 5, None]
)
def test_what_names_no_host_is_refused(given):
    with pytest.raises(ConfigError, match=r"^match must be a host, such as .* not "):
        UrlPattern.read(given)
