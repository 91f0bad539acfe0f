"""How often a page is measured, and by which texts it is asked for."""

from functools import partial

import pytest
from made_text import prose

from dedup_filter import judge
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.fingerprints.profile import PageProfile, profile_of
from dedup_filter.text.headlines import times_headed as times_in

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

    def noted(*page):
        found = profile_of(*page)
        profiles.append((found.text, found))
        return found

    monkeypatch.setattr(judge, "profile_of", noted)
    return profiles


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[PageProfile]:
    """The profiles that were compared with the kept pages, in their order."""
    profiles: list[PageProfile] = []
    compare = judge.judge

    def noted(place, page, *arguments):
        profiles.append(page)
        return compare(place, page, *arguments)

    monkeypatch.setattr(judge, "judge", noted)
    return profiles


def times_headed(compared: list[PageProfile], *parts: str) -> list[int]:
    return [times_in(part, compared[-1].counts) for part in parts]


def outcomes(*markup: str, urls: str = "http://a.example/{}") -> list[str]:
    with NearDuplicateFilter.open() as pages:
        seen = [pages.see(urls.format(n), html=html).outcome for n, html in enumerate(markup)]
        pages.check()
    return seen


at_hosts_of_their_own = partial(outcomes, urls="http://{}.example/")


def words_of(measured: list[tuple[str, PageProfile]], number: int) -> list[list[int]]:
    """The lengths of the texts of one page, each time it was measured."""
    return [
        [text.word_count for text in page.texts]
        for text, page in measured
        if text.startswith(WORDS[number * 90])
    ]


def test_a_page_is_measured_once_but_early_ones_again_when_later_ones_show_their_frame(measured):
    assert outcomes(*map(page, range(4))) == ["new"] * 4
    assert [len(words_of(measured, number)) for number in range(4)] == [3, 2, 1, 1]
    assert words_of(measured, 0)[-1] == words_of(measured, 3)[-1] == [105]


@pytest.mark.parametrize("count", [2, 60])
def test_what_was_shown_once_gives_a_second_text_and_what_was_shown_twice_none(measured, count):
    """It may be frame, or the very text that the page repeats."""
    more = f"<p>{' '.join(WORDS[390 - count : 390])}.</p>"
    assert outcomes(page(0), page(1, more), page(2, more), page(3, more)) == ["new"] * 4
    assert words_of(measured, 2)[0] == [105, 105 + count]
    assert words_of(measured, 3) == [[105]]


@pytest.mark.parametrize(("others", "is_frame_known"), [([], False), ([page(2)], True)])
def test_the_frame_of_a_host_is_known_from_its_third_page_on(measured, others, is_frame_known):
    outcomes(*others, page(0), page(1))
    judged = next(found for text, found in measured if text.startswith(WORDS[90]))
    assert judged.is_frame_known == is_frame_known


def test_pages_are_counted_that_are_headed_by_an_h1_or_a_part_of_a_title(compared):
    """The links of a menu name what other pages are headed by: they do not count."""
    heads = [f"<title>Story {n} - Paper</title><h1>Letters {n % 2}</h1>" for n in range(3)]
    outcomes(*(head + page(number) for number, head in enumerate(heads)), page(3))
    parts = ["Paper", "Story 1", "Letters 0", "Letters 1", "Letters", "section 1"]
    assert times_headed(compared, *parts) == [3, 1, 2, 1, 0, 0]


class TestEditions:
    """An article comes again with a paragraph more, and makes no frame of itself."""

    MORE = f"<p>{' '.join(WORDS[345:390])}.</p>"

    @staticmethod
    def story(seed: int, more: str = "", beside: int = 0, menu: str = MENU) -> str:
        """An article below a menu, with three headlines beside it."""
        title = f"Story {seed} of the harbour"
        text = "".join(f"<p>{prose(10 * seed + n, words=60)}</p>" for n in range(4))
        headlines = "".join(f"<p>{prose(500 + beside + n, words=12)}</p>" for n in range(3))
        aside = f"<aside><h2>Read also</h2>{headlines}</aside>" if menu else ""
        return (
            f"<html><title>{title}</title>{menu and f'<nav><ul>{menu}</ul></nav>'}"
            f"<main><article><h1>{title}</h1>{text}{more}</article></main>{aside}</html>"
        )

    def test_leave_the_copies_of_the_article_to_be_found(self, pages):
        """Under session ids, with other headlines beside it, and for print."""
        others = [self.story(number, beside=20 * number) for number in range(1, 5)]
        edition = self.story(5, self.MORE, beside=200)
        copies = [self.story(5, beside=beside) for beside in (300, 400, 500)]
        for number, html in enumerate([*others, self.story(5), edition]):
            assert pages.see(f"http://a.example/{number}", html=html).outcome == "new"
        for number, html in enumerate([*copies, self.story(5, menu="")]):
            found = pages.see(f"http://a.example/copy{number}", html=html)
            assert (found.outcome, found.original) == ("near", "http://a.example/4")


class TestSites:
    """Pages of one template on hosts of their own: what their menus have in common is a site."""

    NOTICE = f"<p>{' '.join(WORDS[360:400])}.</p>"

    @staticmethod
    def short(number: int, line: str = "library number {}", menu: str = MENU) -> str:
        """A page of which all but one line is on every page of its site."""
        return (
            f"<ul>{menu}</ul><h1>Depends</h1><p>{' '.join(WORDS[:100])}.</p>"
            f"<p>{line.format(number)}</p>"
        )

    def test_lend_their_frame_to_hosts_that_have_none_yet(self, measured):
        at_hosts_of_their_own(*(page(number, self.NOTICE) for number in range(4)))
        found = [words_of(measured, number) for number in range(4)]
        assert found == [[[145]], [[105, 145]], [[105]], [[105]]]
        # A host may have more on each of its pages than its site has.
        assert not any(found.is_frame_known for _, found in measured)

    def test_lend_none_without_a_menu_in_common(self, measured):
        def other(number: int) -> str:
            return page(number, self.NOTICE).replace("section", f"section {number}")

        at_hosts_of_their_own(*map(other, range(4)))
        assert [words_of(measured, number) for number in range(4)] == [[[145]]] * 4

    def test_lend_what_their_pages_are_headed_by(self, compared):
        heads = [f"<title>Story {n} - Paper</title><h1>Letters</h1>" for n in range(3)]
        at_hosts_of_their_own(*(head + page(n) for n, head in enumerate(heads)), page(3))
        assert times_headed(compared, "Paper", "Letters", "Story 0") == [3, 3, 1]
        assert [found.headline.h1 for found in compared] == ["Letters", "Letters", "", ""]

    @pytest.mark.parametrize(
        ("menu", "line", "outcome"),
        [
            (MENU, "library number {}", "new"),
            ("", "library number {}", "near"),
            (MENU, "", "exact"),
        ],
        ids=["a line of its own", "nothing in common", "nothing of its own"],
    )
    def test_keep_a_page_with_a_line_of_its_own(self, menu, line, outcome):
        shown = (self.short(number, line, menu) for number in range(5))
        assert at_hosts_of_their_own(*shown) == ["new"] + [outcome] * 4

    def test_lend_nothing_to_a_host_whose_own_frame_is_known(self, pages, measured):
        for number in range(2):
            pages.see(f"http://own.example/{number}", html=page(number))
        line = f"<p>{' '.join(WORDS[50:80])}.</p>"
        shown = (f"<ul>{MENU}</ul>{line * n}{self.NOTICE}" for n in (1, 2))
        for number, html in enumerate([page(2, self.NOTICE), *shown]):
            pages.see(f"http://{number}.example/", html=html)
        pages.see("http://own.example/3", html=page(3, self.NOTICE))
        assert words_of(measured, 3) == [[145]]
        pages.see("http://other.example/3", html=page(3, self.NOTICE))
        assert words_of(measured, 3) == [[145], [105]]

    @pytest.mark.parametrize("is_released", [True, False])
    def test_do_not_count_a_released_page(self, pages, measured, is_released):
        for number in range(2):
            claimed = pages.claim(f"http://{number}.example/", html=page(number, self.NOTICE))
            (pages.release if is_released else pages.commit)(claimed)
        pages.see("http://3.example/", html=page(3, self.NOTICE))
        assert words_of(measured, 3) == [[145] if is_released else [105]]


def test_memory_that_is_too_small_is_counted_and_the_log_says_once_what_to_do(caplog):
    """For the frame of one host; the pages of two come in turn."""
    with NearDuplicateFilter.open(frame_memory=1e-6) as pages:
        for number in range(6):
            pages.see(f"http://{number % 2}.example/{number}", html=f"<p>{prose(number)}</p>")
        pages.check()
        assert pages.conductor.forgotten == 4
    (message,) = caplog.messages
    assert "frame_memory=1e-06 MB" in message
    assert "DEDUP_FRAME_MEMORY" in message
