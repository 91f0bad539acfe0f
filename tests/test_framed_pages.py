"""How often a page is measured: a second look at the text of the first one is none."""

import pytest

from dedup_filter import NearDuplicateFilter, framed_pages
from dedup_filter.profile import profile

WORDS = [f"word{number}" for number in range(400)]
MENU = "".join(f'<li><a href="/{n}">section {n}</a>' for n in range(12))


def page(number: int, *more: str) -> str:
    """A page of its own hundred words, below the menu of its host and above what is given."""
    own = " ".join(WORDS[number * 90 : number * 90 + 100])
    return f"<ul>{MENU}</ul><article><p>{own} and the rest of it.</p>{''.join(more)}</article>"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were measured, in their order."""
    texts: list[str] = []

    def noted(document, config):
        texts.append(document.text)
        return profile(document, config)

    monkeypatch.setattr(framed_pages, "profile", noted)
    return texts


def outcomes(*markup: str) -> list[str]:
    with NearDuplicateFilter.open() as pages:
        seen = [
            pages.see(f"http://a.example/{n}", html=html).outcome for n, html in enumerate(markup)
        ]
        pages.check()
    return seen


def measured_last(measured: list[str], number: int) -> list[str]:
    """The texts of one page that were measured, the later judgements of others left out."""
    return [text for text in measured if text.startswith(WORDS[number * 90])]


def test_same_text_is_measured_once(measured):
    assert outcomes(*map(page, range(4))) == ["new"] * 4
    assert len(measured_last(measured, 3)) == 1


def test_a_line_more_is_not_measured(measured):
    line = "<p>Shown before.</p>"
    assert outcomes(page(0), page(1, line), page(3, line)) == ["new"] * 3
    assert not any(text.endswith("Shown before.") for text in measured_last(measured, 3))


def test_a_paragraph_more_is_measured(measured):
    paragraph = f"<p>{' '.join(WORDS[200:260])} was shown before.</p>"
    assert outcomes(page(0), page(1, paragraph), page(3, paragraph)) == ["new"] * 3
    assert any(text.endswith("was shown before.") for text in measured_last(measured, 3))
