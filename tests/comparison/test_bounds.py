"""Bounds of the rule, counted in blocks whose words occur once, and what a refusal says.

Most pages are so short that a sketch has all of their phrases: what is missing is counted, not
estimated. None: next to nothing is missing, so the page repeats the candidate.
"""

from dataclasses import replace
from functools import partial

import pytest
from measured_pages import frame, measured, new, shown_once, words

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.comparison.look_ups import Compared
from dedup_filter.fingerprints.profile import PageProfile
from dedup_filter.model import Refusal, Rule
from dedup_filter.text.headlines import Headline

LEAST = 0.8
SEA, HILLS = Headline("Ice in the harbour"), Headline("Snow on hills")
A, PRICE = words("a", 102), "price nine"
HERE, AWAY = (True, True), (False, False)
"""Whether the candidate is of the same host, and whether its host has the menus of the page."""
known_page = partial(measured, headline=SEA, is_frame_known=True)
early = partial(measured, headline=SEA)
"""A page of a host whose frame is not known yet."""


def original(*texts: str, headline: Headline = SEA) -> PageProfile:
    return known_page(*map(new, texts), headline=headline)


def refusal(
    judged: PageProfile,
    kept: PageProfile,
    where: tuple[bool, bool] = HERE,
    text: int = 0,
    *,
    digest: bytes = b"",
    least: float | None = LEAST,
) -> Refusal | None:
    """Return why a page does not repeat a stored one, which was found by one of its texts."""
    candidate = Candidate(text, 3, *where, kept.sketch, kept.headline, 17, digest=digest)
    verdict = Compared(judged, least, 0).verdict([candidate], 0, lambda _: True)
    assert (verdict.outcome, verdict.candidates) == ("new" if verdict.refused else "near", 1)
    return verdict.refused


def missing(*pages: PageProfile, **options: object) -> Rule | None:
    refused = refusal(*pages, **options)
    return refused and refused.rule


class TestHiddenText:
    FRAME = frame(words("f", 80))

    @pytest.mark.parametrize(("unread", "expected"), [(62, None), (63, "hidden")])
    @pytest.mark.parametrize("judged", [known_page, early])
    def test_is_no_more_than_the_page_shows(self, judged, unread, expected):
        judged, kept = (
            judged(new(words("a", 62)), self.FRAME, unread=unread),
            original(words("a", 62)),
        )
        assert missing(judged, kept) == expected
        assert missing(judged, kept, where=AWAY) is None, "it is not compared"
        same = missing(judged, kept, digest=bytes(8) + judged.digest[8:])
        assert same is None, "the candidate hides it, too"

    @pytest.mark.parametrize(("waiting", "expected"), [(22, None), (23, "hidden")])
    def test_that_waits_for_a_script_is_no_more_than_is_shown_of_the_pages_own(
        self, waiting, expected
    ):
        """While the frame is not known, what was shown once may be frame."""
        for judged, refused in ((early, expected), (known_page, None)):
            shown = new(words("a", 22)), shown_once(words("b", 40)), self.FRAME
            waits = judged(*shown, unread=60, waiting=waiting)
            assert missing(waits, original(words("a", 22), words("b", 40))) == refused


class TestWordsOfATextOfAnotherHost:
    @pytest.mark.parametrize(("held", "expected"), [(34, None), (33, "words")])
    def test_that_are_new_on_the_host_are_compared_by_themselves(self, held, expected):
        """The page is found by what was shown once; of what is new there are 40 phrases."""
        old = words("b", 160)
        judged, kept = (
            known_page(new(words("a", 42)), shown_once(old)),
            original(words("a", held), old),
        )
        assert missing(judged, kept, where=AWAY, text=1) == expected

    @pytest.mark.parametrize(("old", "expected"), [(42, None), (43, "words")])
    def test_of_all_the_main_content_are_compared_if_the_page_is_found_by_less_than_half_of_it(
        self, old, expected
    ):
        """A front page of several articles repeats none of them, whichever it is found by."""
        judged = known_page(new(words("a", 42)), shown_once(words("b", old)))
        assert missing(judged, original(words("a", 42)), where=AWAY) == expected

    @pytest.mark.parametrize(("least", "expected"), [(0.9, None), (0.91, "words")])
    def test_of_a_plain_text_are_those_of_all_its_phrases(self, least, expected):
        """Ten of 100 phrases go from one paragraph to the next, and the candidate has none."""
        texts = [words(name, 17) for name in "abcdef"]
        judged, kept = known_page(*map(new, texts)), original(*reversed(texts))
        assert missing(judged, kept, where=AWAY, least=least) is None
        plain_text = replace(judged, is_plain=True)
        assert missing(plain_text, kept, where=AWAY, least=least) == expected


@pytest.mark.parametrize(
    ("judged", "kept", "where", "refused"),
    [
        (known_page(new(A)), original(words("a", 81)), AWAY, ("words", 21.42, 20.4, A)),
        (known_page(new(A)), original(words("a", 91)), HERE, ("words", 11.22, 10.2, A)),
        (known_page(new(A)), original(A, headline=HILLS), HERE, ("headline", 0, 0, SEA.h1)),
        (
            known_page(new(A), TestHiddenText.FRAME, unread=103),
            original(A),
            HERE,
            ("hidden", 103, 102, ""),
        ),
        (
            known_page(new(A), new(PRICE), new(words("n", 40))),
            original(A),
            HERE,
            ("paragraph", 42, 0, PRICE),
        ),
        (known_page(new(A), new(PRICE), new("no ice")), original(A), HERE, ("lines", 4, 0, PRICE)),
    ],
)
def test_a_refusal_says_what_is_missing_and_how_much_may_be(judged, kept, where, refused):
    found = refusal(judged, kept, where)
    assert (found.rule, found.text) == (refused[0], refused[3])
    assert found[1:3] == pytest.approx(refused[1:3])
    assert (found.page, found.distance, found.url) == (17, 3, None)


@pytest.mark.parametrize("count", [1, 5, 6])
def test_a_refusal_names_up_to_five_lines_that_are_all_that_is_missing(count):
    lines = [f"line{number}" for number in range(count)]
    refused = refusal(known_page(new(A), *map(new, lines)), original(A))
    assert [line.text for line in refused.lines] == (lines if count < 6 else [])
    judged = known_page(new(A), new("the price of it is ten only now"), new("the end of it"))
    refused = refusal(judged, original(A, "the price of it is nine only now", "the end of it"))
    assert refused.lines == (("the price of it is ten only now", (5, 6)),)


@pytest.mark.parametrize("rest", [0, 300, 600, 1_200])
@pytest.mark.parametrize(("is_exchanged", "expected"), [(False, None), (True, "words")])
def test_few_sampled_phrases_tell_of_an_exchanged_paragraph(rest, is_exchanged, expected):
    """However few phrases the sketch of a longer candidate samples, the share is of those."""
    texts = [words(name, 45) for name in "abcdef"]
    judged = known_page(*map(new, [*texts[:5], words("x", 45)] if is_exchanged else texts))
    kept = original(*texts, *(words(f"r{number}w", 50) for number in range(rest // 50)))
    assert missing(judged, kept, where=AWAY, least=0.9) == expected
