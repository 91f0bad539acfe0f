"""A page that names another one as canonical repeats it if that is known and has what it says."""

import sqlite3
from contextlib import contextmanager

import pytest

WHOLE = "http://a.example/whole"


@pytest.fixture
def page(article):
    """Make pages of paragraphs, each of which has a number; they may name a canonical page."""

    def make(numbers, canonical=None, headline="One story"):
        link = "" if canonical is None else f'<link rel="canonical" href="{canonical}">'
        text = "".join(f"<p>{article(number, words=60)}</p>" for number in numbers)
        return (
            f"<html><head><title>{headline}</title>{link}</head>"
            f"<body><h1>{headline}</h1>{text}</body></html>"
        )

    return make


@contextmanager
def whole_seen(place, page):
    """Open a filter that has seen a page of eight paragraphs."""
    with place.open(canonical=True, shared_phrases=False) as opened:
        assert opened.see(WHOLE, html=page(range(8))).outcome == "new"
        yield opened


@pytest.fixture
def pages(place, page):
    with whole_seen(place, page) as opened:
        yield opened


@pytest.fixture
def in_memory(memory, page):
    with whole_seen(memory, page) as opened:
        yield opened


@pytest.mark.parametrize("host", ["a.example", "b.example"])
def test_a_part_repeats_its_canonical_page_however_far_its_fingerprint_is(pages, page, host):
    url = f"http://{host}/part"
    assert pages.see(f"{url}?1", html=page([2, 3, 4])).outcome == "new"
    assert pages.find(html=page([4, 3, 2]))[0].url == f"{url}?1"
    # Not of that page, which is nearer.
    verdict = pages.see(f"{url}?2", html=page([4, 3, 2], WHOLE))
    assert (verdict.original, verdict.reason) == (WHOLE, "canonical")
    assert verdict.is_duplicate
    assert verdict.distance > pages.config.max_distance
    assert verdict.similarity > 0.95


def test_without_the_option_canonical_links_are_nothing(memory, page):
    with memory.open(shared_phrases=False) as opened:
        opened.see(WHOLE, html=page(range(8)))
        verdict = opened.see("http://a.example/part", html=page(range(2, 5), WHOLE))
    assert (verdict.outcome, verdict.reason) == ("new", None)


@pytest.mark.parametrize(
    "others",
    [
        pytest.param(lambda n: range(10 * n + 10, 10 * n + 15), id="nothing shared"),
        pytest.param(lambda n: [*range(5), 10 * n + 10], id="one paragraph more"),
        pytest.param(lambda n: [0, 10 * n + 10], id="half shared"),
        pytest.param(lambda n: [10 * n + 10], id="short"),
    ],
)
@pytest.mark.parametrize("headline", ["One story", "Story {}"])
def test_a_site_that_names_one_page_on_all_others_loses_nothing(in_memory, page, others, headline):
    for number in range(12):
        html = page(others(number), "/whole", headline.format(number))
        assert in_memory.see(f"http://a.example/{number}", html=html).outcome == "new"


def test_low_similarity_is_for_pages_that_are_near_in_bits(memory, page):
    with memory.open(canonical=True, min_similarity=0, learn_frames=False) as opened:
        opened.see(WHOLE, html=page(range(8)))
        for number in range(12):
            html = page([*range(2), number + 10, number + 30], WHOLE)
            found = opened.see(f"http://b.example/{number}", html=html)
            assert found.original != WHOLE


def test_where_bits_alone_decide_they_do(memory, page):
    with memory.open(canonical=True, min_similarity=None) as opened:
        opened.see(WHOLE, html=page(range(8)))
        part = opened.see("http://b.example/part", html=page(range(2, 5), WHOLE))
        near = opened.see("http://b.example/near", html=page([*range(7), 20], WHOLE))
    assert (part.outcome, near.outcome, near.reason) == ("new", "near", "canonical")


@pytest.mark.parametrize(
    "canonical",
    [
        WHOLE,
        "/whole",
        "whole#top",
        "//A.example/whole",
        " http://a.example/whole ",
    ],
)
def test_spellings_of_a_canonical_url(in_memory, page, canonical):
    verdict = in_memory.see("http://a.example/part", html=page(range(2, 5), canonical))
    assert verdict.original == WHOLE


@pytest.mark.parametrize(
    "canonical",
    [
        "http://a.example/part",
        "http://a.example/unknown",
        "https://b.example/whole",
        "http://[1/",
        "mailto:me@a.example",
        "http://a.example/" + "a" * 100_000,
        '/whole"><link rel="canonical" href="/part',
        '/whole"><link rel="canonical" href="http://[1/',
    ],
)
def test_itself_an_unknown_page_or_several_pages_tell_nothing(in_memory, page, canonical):
    verdict = in_memory.see("http://a.example/part", html=page(range(2, 5), canonical))
    assert (verdict.outcome, verdict.reason) == ("new", None)


def test_the_header_names_it_too_and_must_agree(pages, page):
    link = f'<{WHOLE}>; rel="canonical"'
    only_there = pages.see("http://b.example/1", html=page(range(3)), link=link)
    assert (only_there.original, only_there.reason) == (WHOLE, "canonical")
    twice = pages.see("http://a.example/2", html=page(range(2, 5), "/whole"), link=link)
    assert (twice.original, twice.reason) == (WHOLE, "canonical")
    assert pages.see("http://a.example/3", html=page(range(5, 8), "/2"), link=link).original is None
    with pytest.raises(TypeError, match="link"):
        pages.see("http://a.example/4", html=page(range(3)), link=b"")


def test_a_text_has_a_header_too(memory, article):
    with memory.open(canonical=True) as opened:
        text = "\n".join(article(number, words=60) for number in range(8))
        opened.see(WHOLE, text=text)
        link = f"<{WHOLE}>; rel=canonical"
        part = opened.see("http://a.example/part", text=text[: len(text) // 2], link=link)
    assert (part.original, part.reason) == (WHOLE, "canonical")


def test_a_page_with_little_text_repeats_only_its_equal(memory):
    with memory.open(canonical=True) as opened:
        opened.see(WHOLE, html="<title>T</title><p>Only some words are here to read.")
        html = f"<link rel=canonical href={WHOLE}><title>T</title><p>Only some words are here."
        assert opened.see("http://a.example/1", html=html).outcome == "unjudged"


def test_a_page_that_equals_another_repeats_that_one(place, page):
    with place.open(canonical=True) as opened:
        opened.see("http://b.example/first", html=page(range(2, 5)))
        opened.see(WHOLE, html=page(range(8)))
        part = opened.see("http://b.example/2", html=page(range(2, 5), WHOLE))
        whole = opened.see("http://b.example/3", html=page(range(8), WHOLE))
    assert (part.outcome, part.original, part.reason) == ("exact", "http://b.example/first", None)
    assert (whole.outcome, whole.original, whole.reason) == ("exact", WHOLE, "canonical")


def test_within_one_host(place, page):
    with place.open(canonical=True, scope="host") as opened:
        opened.see(WHOLE, html=page(range(8)))
        assert opened.see("http://b.example/1", html=page(range(2, 5), WHOLE)).outcome == "new"
        assert opened.see("http://a.example/1", html=page(range(2, 5), WHOLE)).original == WHOLE


def test_a_pending_page_is_known_and_one_that_was_released_is_not(place, page):
    with place.open(canonical=True) as opened:
        whole = opened.claim(WHOLE, html=page(range(8)))
        part = opened.claim("http://a.example/part", html=page(range(2, 5), WHOLE))
        assert part.original_page == whole.page
        assert opened.conductor.fate(whole.page) == "pending"
        opened.release(whole)
        again = opened.claim("http://a.example/part", html=page(range(2, 5), WHOLE))
        assert again.outcome == "new"


def test_workers_read_the_links_too(place, page):
    given = [{"url": WHOLE, "html": page(range(8))}]
    given += [
        {"url": f"http://a.example/{n}", "html": page(range(n, n + 3), WHOLE).encode()}
        for n in range(5)
    ]
    with place.open(canonical=True, workers=2) as opened:
        verdicts = list(opened.see_many(given))
    assert [each.original for each in verdicts] == [None] + [WHOLE] * 5


def test_a_later_crawl_knows_the_page_and_a_revisit_is_one(directory, page):
    with directory.open(canonical=True) as opened:
        opened.see(WHOLE, html=page(range(8)))
    with directory.open() as opened:  # without the option it is not kept up to date
        opened.see("http://a.example/other", html=page(range(20, 28), headline="Other"))
    with directory.open(canonical=True) as opened:
        other = opened.see(
            "http://a.example/1", html=page(range(20, 23), "/other", headline="Other")
        )
        whole = opened.see(WHOLE, html=page(range(8), WHOLE))
        part = opened.see("http://a.example/2", html=page(range(3), WHOLE))
    assert other.original == "http://a.example/other"
    assert (whole.outcome, whole.reason) == ("revisit", None)
    assert (part.original, part.reason) == (WHOLE, "canonical")
    with sqlite3.connect(directory.location / "pages.sqlite3") as database:
        told = database.execute("SELECT url, reason FROM pages WHERE reason IS NOT NULL").fetchall()
    database.close()
    assert told == [("http://a.example/1", "canonical"), ("http://a.example/2", "canonical")]


def test_where_an_index_is_kept_a_later_crawl_finds_the_latest_visit(kept_place, page):
    for revisit in (False, True):
        with kept_place.open(canonical=True) as opened:
            whole = opened.see(WHOLE, html=page(range(8)))
            assert (whole.outcome == "revisit") is revisit
            part = opened.see(f"http://b.example/{revisit}", html=page(range(2, 5), WHOLE))
            assert (part.original, part.reason) == (WHOLE, "canonical")
    with kept_place.open(canonical=True) as opened:
        assert opened.forget(WHOLE) == 1
        part = opened.see("http://b.example/3", html=page(range(2, 5), WHOLE))
        assert (part.outcome, part.reason) == ("new", None)
