"""The same pages again: within one crawl they repeat one another, in a later one they do not."""

import random
from collections import Counter
from functools import partial

import pytest
from gate import rounds
from made_text import prose
from site_pages import MENU, framed

from dedup_filter import ConfigError


def crawl(place, *pages, kind="text", **options):
    """Crawl pages, given as URL and text, or HTML; return their verdicts."""
    with place.open(**options) as index:
        return [index.see(url, **{kind: content}) for url, content in pages]


def outcomes(verdicts):
    return [verdict.outcome for verdict in verdicts]


A, B, C = (f"http://a.example/{name}" for name in "abc")


class TestASecondCrawl:
    def test_finds_the_pages_of_the_first_and_keeps_them(self, kept_place, article):
        site = [(A, article(1)), (B, article(2)), (C, "a line")]
        assert outcomes(crawl(kept_place, *site)) == ["new", "new", "unjudged"]
        for spelling in ("", "#top", ""):
            again = crawl(kept_place, *((url + spelling, text) for url, text in site))
            assert outcomes(again) == ["revisit"] * 3
            assert [verdict.original for verdict in again] == [A, B, C]
            assert not any(verdict.is_duplicate for verdict in again)

    def test_compares_with_the_page_as_it_is_now(self, kept_place, article):
        """Small changes add up: each crawl finds the page like the last one, not like the first."""
        crawl(kept_place, (A, article(1)))
        for edits in (2, 4, 6, 8, 10, 12):
            (verdict,) = crawl(kept_place, (A, article(1, edits=edits)))
            assert verdict.outcome == "revisit"
            assert 0 <= verdict.distance <= 10
            assert verdict.similarity > 0.7
        with kept_place.open() as index:
            assert index.judge(B, text=article(1)).outcome == "new", "no page says that now"
            again = index.see(A, text=article(1))
            assert (again.outcome, len(index)) == ("revisit", 1), "half of it is enough at A"
            assert index.see(B, text=article(1)).original == A

    def test_drops_what_repeats_a_page_of_its_own_whichever_comes_first(self, kept_place, article):
        site = [(A, article(1)), (B, article(1))]
        assert outcomes(crawl(kept_place, *site)) == ["new", "exact"]
        assert outcomes(crawl(kept_place, *site)) == ["revisit", "exact"]
        again = crawl(kept_place, *site[::-1], (A, article(1)), (C, article(1, edits=1)))
        assert outcomes(again) == ["exact", "revisit", "exact", "near"]
        assert {verdict.original for verdict in again} == {A}


def test_lone_surrogates_in_urls_titles_and_texts_are_recorded(kept_place, article):
    """Half a surrogate pair is no Unicode, but the web has it."""
    url = "http://a.example/\ud800?q=\udfff"
    name = "crawl \ud83d" if kept_place.writes_in_batches else "crawl"  # servers take no such name
    html = f"<html lang='e\ud800'><title>A title\ud800</title><p>{article(1)} \udc00</p>"
    with kept_place.open(crawl=name) as index:
        assert index.see(url, html=html).outcome == "new"
        assert index.see("http://\ud800.example/", html=html).original == url
    with kept_place.open(crawl=name) as index:
        assert index.see(f"{url}#top", html=html).outcome == "exact"
    with kept_place.open() as index:
        again = index.see(url, html=html)
        assert (again.outcome, again.original) == ("revisit", url)
        index.flush()
        with kept_place.recorded() as recorded:
            assert [each.url for each in recorded.records() if each.is_kept] == [url]
            assert recorded.crawls()[0].name == name
        assert index.forget(url) == 1, "such a URL has one spelling"
        assert index.see(url, html=html).outcome == "new"


class TestOneCrawl:
    def test_is_resumed_by_its_name_and_after_its_process_was_killed(self, kept_place, article):
        """On servers a record names its process, so pages of a killed one come again."""
        index = kept_place.open(crawl="news")
        index.commit(index.claim(A, text=article(1)))
        index.claim(C, text=article(3))
        index.flush()
        index.see(B, text=article(2))
        kept_place.crash(index)
        site = [(A, article(1)), (C, article(3)), (B, article(2))]
        found = outcomes(crawl(kept_place, *site, crawl="news"))
        in_batches, at_once = ["exact", "new", "new"], ["revisit", "new", "revisit"]
        assert found == (in_batches if kept_place.writes_in_batches else at_once)
        for name, outcome in (("other", "revisit"), ("other", "exact"), (None, "revisit")):
            assert outcomes(crawl(kept_place, *site, crawl=name)) == [outcome] * 3

    def test_says_why_a_page_is_new_that_is_near_another(self, place, article):
        headed = [f"<h1>Report of station {n}</h1><p>{article(1)}</p>" for n in (1, 2)]
        first, second = crawl(place, (A, headed[0]), (B, headed[1]), kind="html")
        assert (first.outcome, first.refused, second.outcome) == ("new", None, "new")
        refused = second.refused
        assert (refused.rule, refused.page, refused.url) == ("headline", first.page, A)

    @pytest.mark.parametrize("name", ["", 7, b"a"])
    def test_has_a_name_or_none(self, place, name):
        with pytest.raises(ConfigError, match="crawl must be the name"):
            place.open(crawl=name)


class TestPagesOfASite:
    """With frames: what a page showed in the first crawl is not its host's frame in the second."""

    crawl = staticmethod(partial(crawl, kind="html"))

    @pytest.mark.parametrize("count", [1, 2, 8])
    def test_are_visited_again_and_again(self, kept_place, article, count):
        site = [(f"http://a.example/{n}", framed(article(n))) for n in range(count)]
        assert outcomes(self.crawl(kept_place, *site)) == ["new"] * count
        for _ in range(2):
            random.Random(1).shuffle(site)
            assert outcomes(self.crawl(kept_place, *site)) == ["revisit"] * count

    @pytest.mark.parametrize(
        ("more", "is_told"),
        [
            ("<p>{} views</p>", False),
            (
                f"<p>A paragraph of page {{0}} came later to say{' this {0} and that' * 6}.</p>",
                True,
            ),
        ],
        ids=["a counter", "a paragraph"],
    )
    def test_are_the_same_pages_and_what_more_they_say_is_told(
        self, kept_place, article, more, is_told
    ):
        site = {f"http://a.example/{n}": article(n, words=300) for n in range(5)}
        first = [(url, framed(text)) for url, text in site.items()]
        assert outcomes(self.crawl(kept_place, *first)) == ["new"] * 5
        again = [
            (url, html.replace("</article>", f"{more.format(n)}</article>"))
            for n, (url, html) in enumerate(first)
        ]
        found = self.crawl(kept_place, *again)
        assert outcomes(found) == ["revisit"] * 5
        assert [verdict.change > 0 for verdict in found] == [is_told] * 5

    def test_with_other_teasers_at_each_visit_stay_recorded_by_their_text(
        self, kept_place, article
    ):
        """A visit is recorded by the text of the page, not by what is new since the last visit."""
        chosen = random.Random(7)
        urls = [f"http://a.example/{number}" for number in range(12)]
        texts = [article(number, words=250) for number in range(12)]

        def site():
            for url, text in zip(urls, texts, strict=True):
                teasers = [prose(chosen.randrange(100, 150), words=8) for _ in range(8)]
                yield url, framed(text, "</p><p>".join(teasers))

        assert outcomes(self.crawl(kept_place, *site())) == ["new"] * 12
        were_new = Counter()
        for _ in range(rounds(2, 4)):
            again = outcomes(self.crawl(kept_place, *site()))
            were_new.update(url for url, found in zip(urls, again, strict=True) if found == "new")
            mirror = [(f"http://b.example/{n}", f"<p>{text}</p>") for n, text in enumerate(texts)]
            with kept_place.open() as index:
                found = [index.judge(url, html=html) for url, html in mirror]
            assert [verdict.original for verdict in found] == urls
        # A fourth of the text are teasers, so a version can be new; then it is recorded.
        assert set(were_new.values()) <= {1}

    def test_that_are_mostly_links_are_visited_again(self, kept_place):
        def hub(section):
            links = "".join(
                f'<li><a href="/{section}/{n}">story {n} of {section} with a headline</a>'
                for n in range(20)
            )
            return f"<ul>{MENU}</ul><ul>{links}</ul>"

        site = [(f"http://a.example/{name}", hub(name)) for name in ("news", "sports", "culture")]
        first = self.crawl(kept_place, *site)
        again = self.crawl(kept_place, *site)
        assert not any(verdict.is_duplicate for verdict in [*first, *again])
