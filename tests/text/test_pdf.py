"""A PDF is judged by its text; one that cannot be read has a reason, and is kept."""

import random
import sys
from threading import Thread

import pytest
from pdf_samples import pdf, wrapped
from site_pages import framed

from dedup_filter import NearDuplicateFilter
from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.model import Unjudged
from dedup_filter.text import payloads as reader
from dedup_filter.text.payloads import read_pdf

PDF = "application/pdf"


@pytest.fixture
def book(article):
    """Make a PDF of four pages of an article, with a header and a footer on each."""

    def make(seed, edits=0, per_page=15, title="The yearbook"):
        lines = wrapped(article(seed, edits, words=800))
        pages = [lines[at : at + per_page] for at in range(0, len(lines), per_page)]
        return pdf([title, *page, f"Page {n} of {len(pages)}"] for n, page in enumerate(pages, 1))

    return make


def test_headers_and_footers_come_once_and_words_in_their_order(book, article):
    text = read_pdf(book(1)).text
    assert (text.count("The yearbook"), text.count("Page ")) == (1, 1)
    own = [line for line in text.splitlines() if not line.startswith(("The yearbook", "Page "))]
    assert " ".join(own) == " ".join(article(1, words=800).split())


def test_a_divided_word_is_joined(monkeypatch):
    pages = ["a divi\x02\r\nded word", "and ano\ufffether"]
    monkeypatch.setattr(reader, "_pages", lambda _: iter(pages))
    assert read_pdf(b"").text == "a divided word\nand another"


@pytest.mark.parametrize("workers", [0, 1])
def test_a_pdf_repeats_the_page_with_its_text_and_its_other_layouts(book, article, workers):
    with NearDuplicateFilter.open(read_pdf=True, workers=workers) as pages:
        seen = [
            {"url": "http://a/1", "html": framed(article(1, words=800), "More of it.")},
            {"url": "http://b/1.pdf", "html": book(1), "content_type": PDF},
            {"url": "http://c/1.pdf", "html": book(1, per_page=22), "content_type": PDF},
            {"url": "http://c/2.pdf", "html": book(2), "content_type": PDF},
            {"url": "http://d/2.pdf", "html": book(2, edits=2), "content_type": PDF},
            {"url": "http://d/3.pdf", "html": book(2), "content_type": None},
        ]
        found = [verdict.outcome for verdict in pages.see_many(seen)]
    assert found == ["new", "near", "near", "new", "near", "exact"]


def test_without_the_option_a_pdf_is_compared_by_its_bytes(book):
    with NearDuplicateFilter.open() as pages:
        bodies = [book(1), book(1, per_page=22), book(1)]
        found = [pages.see(f"http://a/{n}", html=body) for n, body in enumerate(bodies)]
    assert [verdict.reason or verdict.outcome for verdict in found] == ["binary", "binary", "exact"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (pdf([["A secret"]], is_locked=True), "binary"),
        (pdf([["A page"]] * 9)[:300], "binary"),
        (b"%PDF-1.7 and no more of it", "binary"),
        (pdf([[]]), "binary"),
        (pdf([]), "binary"),
        (pdf([["A page"]] * 10_000), "too_large"),
        (b"%PDF-" + bytes(reader.MOST_BYTES), "too_large"),
    ],
    ids=["locked", "cut", "damaged", "pictures", "no page", "10,000 pages", "long"],
)
def test_a_pdf_that_cannot_be_read_is_unjudged_and_its_equal_bytes_are_found(body, reason):
    assert read_pdf(body) == Unjudged(reason)
    body += bytes(64)  # behind the end
    with NearDuplicateFilter.open(read_pdf=True) as pages:
        first, second = (pages.see(f"http://a/{n}", html=body) for n in (1, 2))
    assert (first.reason, second.outcome) == (reason, "exact")


def test_too_much_text_is_too_large(monkeypatch, book):
    monkeypatch.setattr(reader, "MOST_TEXT", 2_000)
    assert read_pdf(book(1)) == Unjudged("too_large")


def test_no_damage_is_an_error(book):
    chance, whole = random.Random(5), book(1)
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 30)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        read_pdf(bytes(damaged))


def test_threads_read_one_after_the_other(book):
    bodies, found = [book(n) for n in range(4)], {}

    def read(number):
        found[number] = [read_pdf(bodies[number]) for _ in range(20)]

    threads = [Thread(target=read, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[n] == [read_pdf(bodies[n])] * 20 for n in range(4))


def test_the_option_needs_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(ConfigError, match="with its extra 'pdf'"):
        FilterConfig(read_pdf=True)
