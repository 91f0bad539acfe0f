import io
import sys
from types import SimpleNamespace

import pytest
from web_site import served

from dedup_filter.errors import DedupError
from dedup_filter.review.given_page import given_page
from dedup_filter.text.page_fields import PageText


def test_page_is_fetched_with_its_content_type():
    with served() as site:
        site.add("/a", "<p>Grüße</p>".encode("latin-1"), "text/html; charset=latin-1")
        (url,) = site.urls("/a")
        found_at, page = given_page(url)
    assert found_at == url
    assert page.html == "<p>Grüße</p>".encode("latin-1")
    assert page.content_type == "text/html; charset=latin-1"


def test_fetched_plain_text_is_text():
    with served() as site:
        site.add("/a.md", "Grüße".encode("latin-1"), "text/plain; charset=latin-1")
        assert given_page(site.urls("/a.md")[0])[1].text == "Grüße"


def test_page_is_fetched_through_the_proxy_of_the_environment_but_where_it_is_not_to_be(
    monkeypatch,
):
    with served() as proxy, served() as site:
        proxy.add("http://shop.invalid/a", "<p>proxied")
        site.add("/a", "<p>direct")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        for scheme in ("http://", "http://user:p%40ss@", ""):
            monkeypatch.setenv("http_proxy", proxy.url.replace("http://", scheme))
            assert given_page("http://shop.invalid/a")[1].html == b"<p>proxied"
            assert given_page(f"{site.url}/a")[1].html == b"<p>direct"
    assert len(proxy.asked) == 3


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/none", "http://[1/", "https://"])
def test_page_that_cannot_be_fetched_is_one_clear_error(url):
    with pytest.raises(DedupError, match="cannot be fetched"):
        given_page(url)


@pytest.mark.parametrize("name", ["no such file", ".", "a\0b"])
def test_file_that_cannot_be_read_is_one_clear_error(name):
    with pytest.raises(DedupError, match="it cannot be read: "):
        given_page(name)


def test_answer_that_is_no_page_is_refused():
    with served() as site:
        site.add("/a.png", b"\x89PNG", "image/png")
        with pytest.raises(DedupError, match="image/png"):
            given_page(site.urls("/a.png")[0])
        with pytest.raises(DedupError, match="answers 404"):
            given_page(site.urls("/none")[0])


@pytest.mark.parametrize(
    ("name", "content", "is_html"),
    [
        ("a.html", "Only words", True),
        ("a.txt", "<p>is a tag", False),
        ("a", "<!-- saved -->\n<P class=a>Words", True),
        ("a", "1 < 2 and <name> stands for a name", False),
        ("a.md", "# Words", False),
    ],
)
def test_file_is_html_if_name_or_tags_say_so(tmp_path, name, content, is_html):
    path = tmp_path / name
    path.write_text(content)
    page = given_page(str(path), "https://example.com/")[1]
    assert page == (PageText(content.encode()) if is_html else PageText(text=content))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"<html><p>a")))
    assert given_page("-")[1].html == b"<html><p>a"


def test_larger_pages_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dedup_filter.review.given_page.MOST_BYTES", 1 << 20)
    path = tmp_path / "large.html"
    path.write_bytes(b" " * (2**20 + 1))
    with pytest.raises(DedupError, match="larger than 1 MiB"):
        given_page(str(path))


def test_url_of_a_page_is_where_redirects_led():
    with served() as there, served() as site:
        there.add("/b", "<p>b")
        site.pages["/a"] = (302, {"Location": "/c"}, b"")
        site.pages["/c"] = (302, {"Location": there.url + "/b"}, b"")
        assert given_page(site.url + "/a")[0] == there.url + "/b"
