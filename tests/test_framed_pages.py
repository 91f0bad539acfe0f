"""How often a page is measured, and by which texts it is asked for."""

import pytest

from dedup_filter import NearDuplicateFilter, framed_pages
from dedup_filter.profile import PageProfile, profile

WORDS = [f"word{number}" for number in range(400)]
MENU = "".join(f'<li><a href="/{n}">section {n}</a>' for n in range(12))


def page(number: int, *more: str) -> str:
    """A page of its own hundred words, below the menu of its host and above what is given."""
    own = " ".join(WORDS[number * 90 : number * 90 + 100])
    return f"<ul>{MENU}</ul><article><p>{own} and the rest of it.</p>{''.join(more)}</article>"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, PageProfile]]:
    """What was measured, in its order: the text that is the page's own, and its profile."""
    profiles: list[tuple[str, PageProfile]] = []

    def noted(texts, config):
        found = profile(texts, config)
        profiles.append((texts.document.text, found))
        return found

    monkeypatch.setattr(framed_pages, "profile", noted)
    return profiles


def outcomes(*markup: str) -> list[str]:
    with NearDuplicateFilter.open() as pages:
        seen = [
            pages.see(f"http://a.example/{n}", html=html).outcome for n, html in enumerate(markup)
        ]
        pages.check()
    return seen


def words_of(measured: list[tuple[str, PageProfile]], number: int) -> list[list[int]]:
    """The lengths of the texts of one page, each time it was measured."""
    return [
        [text.word_count for text in page.texts]
        for text, page in measured
        if text.startswith(WORDS[number * 90])
    ]


def test_a_page_is_measured_once_by_one_text(measured):
    assert outcomes(*map(page, range(4))) == ["new"] * 4
    assert words_of(measured, 3) == [[105]]


def test_an_early_page_is_measured_again_when_later_ones_have_shown_its_frame(measured):
    assert outcomes(*map(page, range(4))) == ["new"] * 4
    assert [len(words_of(measured, number)) for number in range(3)] == [3, 2, 1]
    assert words_of(measured, 0)[-1] == [105]


@pytest.mark.parametrize("count", [2, 60])
def test_what_was_shown_once_gives_a_second_text(measured, count):
    """It may be frame, or the very text that the page repeats."""
    more = f"<p>{' '.join(WORDS[390 - count : 390])}.</p>"
    assert outcomes(page(0), page(1, more), page(3, more)) == ["new"] * 3
    assert words_of(measured, 3) == [[105, 105 + count]]


def test_what_was_shown_twice_gives_none(measured):
    more = f"<p>{' '.join(WORDS[200:260])}.</p>"
    assert outcomes(page(0, more), page(1, more), page(3, more)) == ["new"] * 3
    assert words_of(measured, 3) == [[105]]


@pytest.mark.parametrize(("others", "is_frame_known"), [([], False), ([page(2)], True)])
def test_what_was_shown_once_is_no_frame_from_the_third_page_on(measured, others, is_frame_known):
    more = f"<p>{' '.join(WORDS[330:390])}.</p>"
    outcomes(*others, page(0, more), page(1, more))
    judged = next(found for text, found in measured if text.startswith(WORDS[90]))
    own, rare = judged.texts
    assert judged.not_frame is (rare if is_frame_known else own).hashes


def test_pages_are_counted_that_are_headed_by_an_h1_or_a_part_of_a_title(measured):
    """The links of a menu name what other pages are headed by: they do not count."""
    heads = [f"<title>Story {n} - Paper</title><h1>Letters {n % 2}</h1>" for n in range(3)]
    outcomes(*(head + page(number) for number, head in enumerate(heads)))
    (_, last) = measured[-1]
    parts = ["Paper", "Story 1", "Letters 0", "Letters 1", "Letters", "section 1"]
    assert [last.times_shown(part) for part in parts] == [3, 1, 2, 1, 0, 0]
