"""Which text a page has and its original lacks, by the lines that the two pages were made of."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_stories import (
    HEADS,
    HOST,
    MARKUP,
    crawl,
    others,
    page,
    paragraph,
    paragraphs,
    story,
    teasers,
)

from dedup_filter import FilterConfig
from dedup_filter.comparison.loss import Loss, loss_of
from dedup_filter.fingerprints.profile import PageProfile, profile_of
from dedup_filter.fingerprints.read_page import ReadPage, read_page
from dedup_filter.frames.host_frames import no_context
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.wording import percent

CONFIG = FilterConfig.of({})
TEXT = story("harbour", 5)
VALUES = ["XL 26.90", "black 27.90", "oak 28.90", "linen 29.90"]
MORE = [*VALUES, "hand made", paragraph("one more", 12), paragraph("and one more", 40)]
FRAME = ("news", "sport", "town", "sea", "pages " * 4, HEADS["en"])
"""The other text of each page."""
FEW, LONGEST = 5, 200
TEASER = "<li><a href=/1>A teaser of four words</a>"


def words_in(*texts: str) -> int:
    return sum(len(re.findall(r"\w+", text)) for text in texts)


def measured(html: str) -> PageProfile:
    read = read_page(PageText(html=html), Place.of(HOST), CONFIG)
    assert isinstance(read, ReadPage)
    return profile_of(read, no_context(read.shown), CONFIG)


def loss(copy: str, original: str, *, is_same_host: bool = True) -> Loss:
    return loss_of(measured(copy), measured(original), is_same_host=is_same_host)


@given(
    more=st.lists(st.tuples(st.sampled_from(MORE), st.integers(0, 5), st.booleans()), max_size=8),
    markup=st.sampled_from(["p", "div", "table", "dl", "ul"]),
)
def test_it_is_the_difference_of_the_lines_of_both_pages(more, markup):
    copy, kept = [*TEXT], {*TEXT}
    for line, place, is_kept in more:
        if line not in copy:
            copy.insert(place, line)
            kept |= {line} if is_kept else set()
    lost = [line for line in copy if line not in kept]
    original = [line for line in copy if line in kept]
    found = loss(*(page(MARKUP[markup](lines)) for lines in (copy, original)))

    cut = [line if len(line) <= LONGEST else f"{line[:LONGEST]}..." for line in lost]
    assert [*found.lines] == cut[:FEW]
    assert found.words == words_in(*lost)
    assert found.similarity == pytest.approx(1 - words_in(*lost) / words_in(*copy, *FRAME))
    assert (found.similarity == 1) == (percent(found.similarity) == "100 %") == (not lost)


@given(at=st.integers(0, 4), place=st.integers(3, 38), count=st.integers(1, 4))
def test_of_an_edited_paragraph_the_passage_is_named(at, place, count):
    words = TEXT[at].split()
    passage = [f"another{number}" for number in range(count)]
    words[place : place + count] = passage
    copy = [*TEXT[:at], " ".join(words), *TEXT[at + 1 :]]
    found = loss(page(paragraphs(copy)), page(paragraphs(TEXT)))
    assert (found.lines, found.words) == ((" ".join(passage),), count)


@pytest.mark.parametrize(
    ("original", "copy", "lost"),
    [
        ("<p>Read 1,037 times</p>", "<p>Read 2,411 times</p>", ()),
        ("", "<p>Read 2,411 times</p>", ()),
        ("<p>Updated 3 hours ago</p>", "<p>Updated 4 hours ago</p>", ()),
        ("<p>Seats left: 3</p>", "<p>Seats left: 4</p>", ("Seats left: 4",)),
        ("<p>One<p>two<p>three", "<p>One<p>new<p>two<p>other<p>three", ("new", "other")),
        ("<p>Size<p>L<p>Colour<p>red", "<p>Size<p>XL<p>Colour<p>black", ("XL", "black")),
        ("<p>红色<p>价格<p>20元", "<p>黑色<p>价格<p>26元", ("黑色", "26元")),
        (
            "",
            f"<ul>{TEASER}{TEASER}</ul><ol><li>Oak \u202e",
            ("Oak \\u202e", "A teaser of four words"),
        ),
    ],
    ids=[
        *("another counter", "a counter", "another age", "a number", "shared lines between"),
        *("labels", "Chinese", "links come last, and all is escaped"),
    ],
)
def test_of_lines(original, copy, lost):
    assert loss(*(page(paragraphs(TEXT) + each) for each in (copy, original))).lines == lost


def test_of_chinese_the_clause_is_named():
    text = story("harbour", 5, "zh")
    said = text[2][:20] + "，而船长说明天再开船，" + text[2][20:]
    found = loss(*(page(paragraphs([*text[:2], each, *text[3:]])) for each in (said, text[2])))
    assert "船长说明天再开船" in found.lines[0]
    assert len(found.lines[0]) < 50
    assert 0 < found.words < 12


def test_of_a_long_page_values_are_named_and_the_rest_is_estimated():
    text = story("long harbour", 40)
    new = [paragraph(f"new {number}", 45) for number in range(20)]
    copy = [*VALUES, *(line for each in zip(text, new * 2, strict=True) for line in each)]
    found = loss(page(paragraphs(copy)), page(paragraphs(text)))
    assert found.lines[:4] == tuple(VALUES)
    assert found.words == pytest.approx(words_in(*VALUES, *new, *new), rel=0.05)


class TestVerdicts:
    """On the pages of a crawl."""

    AWAY = "http://b.example/"
    MENU = "".join(f"<li><a href=/m/{name}>{name}</a></li>" for name in "wood wine yarn".split())

    def last(self, *seen: tuple[str, str], **options: object):
        return crawl((f"{HOST}harbour", page(paragraphs(TEXT))), *seen, **options)[-1]

    def test_an_equal_page_loses_nothing_and_of_a_page_that_is_kept_nothing_is_said(self):
        exact = self.last((f"{HOST}ice", page(paragraphs(TEXT))))
        assert (exact.outcome, exact.similarity, exact.lost, exact.lost_words) == (
            "exact",
            1,
            (),
            0,
        )
        new = self.last((f"{HOST}ice", page(paragraphs([*TEXT, *VALUES]))))
        assert (new.outcome, new.lost, new.lost_words) == ("new", None, None)

    def test_the_frame_of_a_mirror_is_not_lost_once_two_of_its_pages_were_seen(self):
        mirror = partial(page, menu=self.MENU)
        pages = [*others(mirror), mirror(paragraphs([*TEXT, "XL 40"]))]
        mirrored = [(f"{self.AWAY}{number}", html) for number, html in enumerate(pages)]
        originals = [(f"{HOST}{number}", html) for number, html in enumerate(others())]
        early = self.last(*originals, mirrored[-1])
        late = self.last(*originals, *mirrored)
        assert (early.lost[0], late.lost) == ("XL 40", ("XL 40",))
        assert len(early.lost) > 1
        assert early.similarity < late.similarity < 1

    def test_with_other_links_beside_its_text_a_page_is_not_wholly_similar(self):
        copy = page(paragraphs(TEXT), beside=teasers("other"), menu=self.MENU)
        verdict = self.last((f"{self.AWAY}harbour", copy))
        assert verdict.outcome == "near"
        assert 0.5 < verdict.similarity < 1
        assert len(verdict.lost) == FEW
        assert verdict.as_json()["lost"] == [*verdict.lost]
