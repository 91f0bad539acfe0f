"""The verdict of a page that is not recorded, or has options of its own, in each place."""

from dataclasses import replace

import pytest

from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place


def page(text):
    return f"<html><head><title>A title</title></head><body><p>{text}</p></body></html>"


def test_to_judge_a_page_records_nothing(place, article):
    copy = {"html": page(article(1))}
    with place.open() as pages:
        assert pages.judge("https://a.example/1", **copy).outcome == "new"
        assert (len(pages), pages.judge("", text="").reason) == (0, "no_text")
        first = pages.see("https://a.example/1", **copy)
        for url, given, outcome in (
            ("https://a.example/2", copy, "exact"),
            ("https://b.example/", {"text": article(1, edits=1)}, "near"),
            ("https://b.example/", {"text": article(2)}, "new"),
            ("https://b.example/", {"text": "Hello"}, "unjudged"),
        ):
            judged = pages.judge(url, **given)
            assert (judged.outcome, judged.page, len(pages)) == (outcome, None, 1)
            assert pages.judge(url, **given) == judged, "the page was recorded"
            claimed = pages.claim(url, **given)
            pages.release(claimed)
            assert judged == claimed._replace(page=None)
        assert pages.judge("https://c.example/", **copy).original_page == first.page
        assert (pages.conductor.totals() or {"pages": 6}) == {
            "pages": 6,
            **(pages.conductor.totals() or {}),
        }
        pages.check()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "exact near exact"),
        ({"scope": "host"}, "near near new"),
        ({"min_similarity": 1.0}, "exact new exact"),
        ({"min_similarity": None, "scope": "host"}, "new new new"),
        ({"max_missing": 200, "scope": "host"}, "near near new"),
    ],
)
def test_a_page_may_be_compared_by_options_of_its_own(place, tmp_path, article, options, said):
    """It gets the verdict of a filter that has them; another candidate may be its original."""
    text, more = article(1, words=300), article(2)
    kept = [("a.example", text), ("b.example", f"{text}</p><p>{more}")]
    texts = [("b.example", text), ("b.example", article(1, 5, 300)), ("c.example", text)]
    with place.open() as pages, NearDuplicateFilter.open(tmp_path / "other", **options) as others:
        for host, shown in kept:
            for each in pages, others:
                assert each.see(f"https://{host}/", html=page(shown)).outcome == "new"
        config, found = replace(pages.config, **options), []
        for number, (host, shown) in enumerate(texts):
            where, html = f"https://{host}/{number}", page(shown)
            read = pages.pool.read(PageText(html), Place.of(where), config)
            claim = pages.conductor.claim(read.place, read.result())
            pages.conductor.release(claim)
            verdicts = [claim.verdict, others.judge(where, html=html)]
            one, other = [(each.outcome, each.original, each.similarity) for each in verdicts]
            assert one == other
            found.append(one[0])
        assert " ".join(found) == said
