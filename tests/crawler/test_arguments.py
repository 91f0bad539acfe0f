"""Spider arguments: what is read from them, and what is refused."""

import pytest

from crawler.arguments import ArgumentError, urls_of, whole_number_of


def test_addresses_are_separated_by_commas_or_space() -> None:
    assert urls_of("http://a/ , https://b/c\thttp://d", "") == [
        "http://a/",
        "https://b/c",
        "http://d",
    ]


@pytest.mark.parametrize("text", [None, "", " , "])
def test_no_address_tells_the_usage(text) -> None:
    with pytest.raises(ArgumentError, match="no address given: the usage"):
        urls_of(text, "the usage")


@pytest.mark.parametrize(
    "url",
    ["a.org", "ftp://a/", "http://", "http:///x", "http://[1/", "http://a:b/", "javascript:0"],
)
def test_an_odd_address_is_named(url) -> None:
    with pytest.raises(ArgumentError, match="is not an address") as caught:
        urls_of(f"http://a/ {url}", "")
    assert repr(url) in str(caught.value)


@pytest.mark.parametrize(("text", "number"), [(None, None), ("1", 1), ("007", 7), (500, 500)])
def test_a_whole_number(text, number) -> None:
    assert whole_number_of(text, "max_pages") == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "ten", "٣", "1e3", "9" * 30, True])
def test_no_whole_number_is_refused(text) -> None:
    with pytest.raises(ArgumentError, match="max_pages must be a whole number from 1 up"):
        whole_number_of(text, "max_pages")
