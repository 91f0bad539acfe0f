"""Which of several candidates is the original of a page, and which pages are equal."""

from collections.abc import Sequence
from functools import partial

import pytest
from made_stories import HOST, crawl, page, paragraph, paragraphs, story, teasers
from measured_pages import measured, new, words

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.comparison.look_ups import Compared
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.text.headlines import Headline

LEAST = 0.8
SEA, HILLS = Headline("Ice in the harbour"), Headline("Snow on the hills")
A, PRICE = words("a", 102), "price nine"
HERE, AWAY = (True, True), (False, False)
"""Whether the candidate is of the same host, and whether its host has the menus of the page."""
TEXT = story("harbour")
known_page = partial(measured, headline=SEA, is_frame_known=True)


def original(*texts: str) -> PageProfile:
    return known_page(*map(new, texts))


class TestOfSeveral:
    """Crawl 2 is the one that goes on; the page is at URL 7."""

    @staticmethod
    def chosen(
        *candidates: tuple[int, int],
        crawls: Sequence[int] = (),
        urls: Sequence[int] = (),
        canonical: int | None = None,
    ) -> tuple[int | None, str]:
        """Return which candidate is chosen, given by distance and how much of the page it has."""
        judged, made = known_page(new(A)), []
        for number, (distance, held) in enumerate(candidates):
            kept = original(words("a", held))
            at = (crawls or [2] * 9)[number], (urls or range(10, 19))[number]
            made.append(
                Candidate(0, distance, *AWAY, kept.sketch, kept.headline, number, *at)._replace(
                    source="canonical" if number == canonical else None
                )
            )
        verdict = Compared(judged, LEAST, 0).verdict(made, 7, lambda crawl: crawl == 2)
        assert verdict.candidates == len(candidates)
        is_named = canonical is not None and verdict.original_page == canonical
        assert verdict.reason == ("canonical" if is_named else None)
        return verdict.original_page, verdict.outcome

    @pytest.mark.parametrize(
        ("candidates", "chosen"),
        [
            ([(5, 102), (3, 92), (3, 99), (3, 99), (7, 102)], 2),
            ([(3, 92), (3, 92)], 0),
            ([(0, 60), (9, 92)], 1),
            ([(0, 60)], None),
            ([], None),
        ],
    )
    def test_the_nearest_is_chosen_then_what_holds_most_then_the_earliest(self, candidates, chosen):
        assert self.chosen(*candidates) == (chosen, "new" if chosen is None else "near")

    @pytest.mark.parametrize(
        ("crawls", "urls", "expected"),
        [
            ([1, 2], [7, 8], (1, "near")),
            ([2, 2], [8, 9], (0, "near")),
            ([1, 1], [8, 7], (1, "revisit")),
            ([1, 1], [8, 9], (0, "near")),
            ([2, 1], [7, 7], (0, "near")),
        ],
        ids=["of this crawl", "best of this crawl", "itself", "best of all", "url of this crawl"],
    )
    def test_one_of_this_crawl_is_before_the_page_itself_and_that_before_others(
        self, crawls, urls, expected
    ):
        assert self.chosen((3, 99), (4, 99), crawls=crawls, urls=urls) == expected

    @pytest.mark.parametrize(
        ("candidates", "crawls", "expected"),
        [
            ([(3, 102), (30, 92)], [2, 2], (1, "near")),
            # It is the first of its kind only, and must meet the rule.
            ([(3, 102), (30, 92)], [2, 1], (0, "near")),
            ([(3, 102), (30, 60)], [2, 2], (0, "near")),
        ],
    )
    def test_the_one_that_is_named_as_canonical_is_before_nearer_ones_of_its_kind(
        self, candidates, crawls, expected
    ):
        assert self.chosen(*candidates, crawls=crawls, canonical=1) == expected


class TestEqualPages:
    def test_are_repeated_whatever_else_is_like_the_page(self):
        judged = known_page(new(A))
        alike = Candidate(0, 1, *HERE, judged.sketch, HILLS, 1, 2, 9, judged.digest)
        before = alike._replace(page=2, crawl=1, url_key=7)
        for same, outcome in ([before, alike], "exact"), ([before], "revisit"):
            other = Candidate(0, 0, *HERE, judged.sketch, SEA, 3, 2, 9)
            verdict = Compared(judged, LEAST, 0).verdict(
                [other, *same], 7, lambda crawl: crawl == 2
            )
            assert (verdict.outcome, verdict.original_page) == (outcome, same[-1].page)
            assert (verdict.distance, verdict.similarity, verdict.candidates) == (0, 1.0, 0)

    @pytest.mark.parametrize(
        "beside",
        [
            f"<p>{paragraph('beside')}</p>",
            "<p>Rain until evening</p>",
            teasers("beside"),
            "<script>/* */</script>",
            "",
        ],
    )
    def test_are_said_only_of_pages_with_the_same_text(self, beside):
        """Below another frame or another title, a page is near its original."""
        one, other = (
            page(paragraphs(TEXT), beside=f"<aside>{each}</aside>") for each in ("", beside)
        )
        seen = [one, other, other]
        found = crawl(*((f"{HOST}{name}", html) for name, html in zip("abc", seen, strict=True)))
        outcomes = [each.outcome for each in found[1:]]
        assert outcomes == (
            ["exact", "exact"] if "script" in beside or not beside else ["near", "near"]
        )

    def test_are_all_that_a_page_without_a_text_repeats(self):
        judged = known_page(new(PRICE))
        like = Candidate(0, 3, *HERE, judged.sketch, SEA, 1)
        found = [
            Compared(judged, LEAST, 0).verdict([like._replace(digest=digest)], 0, lambda _: True)
            for digest in (judged.digest, b"")
        ]
        outcomes = [(verdict.outcome, verdict.reason) for verdict in found]
        assert outcomes == [("exact", None), ("unjudged", "too_short")]
