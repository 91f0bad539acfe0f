"""What a page is compared by: its texts, how they are measured, and what is kept of it."""

import dataclasses

import numpy as np
import pytest
from measured_pages import Alone, frame, measured, new, shown_once, words

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import (
    DIGEST_BYTES,
    UNREAD_DIGEST,
    WAITING_DIGEST,
    PageProfile,
    profile_of,
)
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import Document
from dedup_filter.text.headlines import Headline
from dedup_filter.thresholds import LINE_WORDS, MIN_WORDS

CONFIG = FilterConfig()


def of_document(document: Document) -> PageProfile:
    return profile_of(ReadPage.of(document, CONFIG), Alone(), CONFIG)


def of_text(text: str, **options: object) -> PageProfile:
    return of_document(Document(text, **options))


NEW, ONCE, FRAME = new(words("a", 30)), shown_once(words("b", 50)), frame(words("f", 20))


class TestTexts:
    @pytest.mark.parametrize(
        ("blocks", "texts", "words_of_page"),
        [
            # The name of each text that is looked up, and how many of the blocks are in it.
            ([NEW, new(words("c", 30))], [("new", 2)], 60),
            ([NEW, ONCE, FRAME], [("new", 1), ("main", 2)], 30),
            # A short text of new blocks is not looked up; if both are short, the span is.
            ([new(words("n", MIN_WORDS - 1)), ONCE], [("main", 2)], MIN_WORDS - 1 + 50),
            ([new(words("n", 10)), shown_once(words("o", 9)), FRAME], [("span", 3)], 39),
            ([new(words("n", MIN_WORDS))], [("new", 1)], MIN_WORDS),
            ([new(words("n", MIN_WORDS - 1))], [], MIN_WORDS - 1),
            ([new("n")], [], 1),
            # A text of stopwords alone has no fingerprint.
            ([new("of the " * MIN_WORDS)], [], 2 * MIN_WORDS),
            ([new("of the " * MIN_WORDS), shown_once("harbour")], [("main", 2)], 2 * MIN_WORDS + 1),
        ],
    )
    def test_of_a_page(self, blocks, texts, words_of_page):
        page = measured(*blocks)
        assert [text.name for text in page.texts] == [name for name, _ in texts]
        assert page.word_count == words_of_page
        for text, (_, count) in zip(page.texts, texts, strict=True):
            written = "\n".join(block.text for block in blocks[:count])
            alone = of_text(written)
            assert text.fingerprint == alone.fingerprint
            assert np.array_equal(text.hashes, alone.texts[0].hashes)
            assert text.word_count == len(written.split())
        assert page.fingerprint == (page.texts[0].fingerprint if texts else None)
        for text in page.texts:
            there, sampled, _ = contained(text.hashes, [page.sketch])
            assert there[0] == sampled[0] == len(text.hashes)

    def test_that_are_equal_are_looked_up_once(self):
        (text,) = measured(NEW, ONCE._replace(in_new=True)).texts
        assert text.word_count == 80


def test_what_is_known_of_the_frame_changes_no_measure():
    page, unknown = measured(NEW, ONCE, FRAME, is_frame_known=True), measured(NEW, ONCE, FRAME)
    assert (page.fingerprint, page.sketch) == (unknown.fingerprint, unknown.sketch)
    assert page.word_count == unknown.word_count


class TestDigest:
    PAGE = Document("text", "Title", "en", "menu\ntext")

    @pytest.mark.parametrize(
        ("change", "changed"),
        [
            ({"language": "de", "headings": ("x",), "images": (1,)}, ""),
            ({"text": "texts"}, ""),
            ({"whole_text": "ＭＥＮＵ\u00a0\ntext", "title": "TITLE"}, ""),
            ({"whole_text": "other menu\ntext"}, "all"),
            ({"title": "Other"}, "all"),
            ({"unread_hash": 7}, "all unread"),
            ({"unread_hash": 7, "waiting_hash": 7}, "all unread waiting"),
            # The text of a page that is taken apart is hashed already.
            ({"whole_hash": 8}, "all"),
        ],
        ids=str,
    )
    def test_has_a_part_for_all_text_and_two_for_unread_text(self, change, changed):
        page, other = (
            of_document(each).digest
            for each in (self.PAGE, dataclasses.replace(self.PAGE, **change))
        )
        assert len(page) == DIGEST_BYTES == 16
        parts = {"all": slice(8), "unread": UNREAD_DIGEST, "waiting": WAITING_DIGEST}
        found = [name for name, part in parts.items() if page[part] != other[part]]
        assert found == changed.split()


class TestUnread:
    def test_a_page_of_which_more_is_unread_than_read(self):
        read = words("a", 60)
        assert not of_text(read, unread_words=60).is_unread
        assert not of_text(read, whole_text=f"{words('f', 20)}\n{read}", unread_words=80).is_unread
        page = of_text(read, unread_words=61)
        assert page.is_unread
        assert (page.texts, page.fingerprint) == ((), None)
        assert (page.reason, page.unread_words) == ("by_script", 61)

    def test_a_long_text_is_read_however_much_is_hidden_beside_it(self):
        for count, is_unread in (199, True), (200, False):
            page = of_text(words("a", count), unread_words=5_000)
            assert (page.is_unread, len(page.texts)) == (is_unread, 1 - is_unread)
        # The frame of the page is no text of it.
        frame = f"{words('f', 200)}\n{words('a', 60)}"
        assert of_text(words("a", 60), whole_text=frame, unread_words=5_000).is_unread

    def test_is_not_blank_although_nothing_is_read(self):
        assert not of_text("…", unread_words=5).is_blank
        assert not of_text("…", whole_text="menu").is_blank
        assert of_text("…").is_blank


class TestWasShown:
    """Whether a page says again what earlier pages of its host have shown."""

    HEADED = Headline("Ice in the harbour")

    @pytest.mark.parametrize("is_frame_known", [True, False])
    @pytest.mark.parametrize("times", [0, 1, 2])
    def test_if_nothing_is_new(self, times, is_frame_known):
        around = {"headed": {self.HEADED.h1: times}, "is_frame_known": is_frame_known}
        shown, news = [shown_once(words("b", 60))], [new("line")]
        assert measured(*shown, headline=self.HEADED, **around).was_shown
        is_edition = times == 1 and is_frame_known
        assert measured(*shown, *news, headline=self.HEADED, **around).was_shown == is_edition

    @pytest.mark.parametrize(("count", "was_shown"), [(60, True), (61, False)])
    def test_if_it_is_an_edition_half_of_which_one_page_has_shown(self, count, was_shown):
        page = measured(
            new(words("n", count)),
            shown_once(words("b", 60)),
            headline=self.HEADED,
            headed={self.HEADED.h1: 1},
            is_frame_known=True,
        )
        assert page.was_shown == was_shown

    @pytest.mark.parametrize(
        ("headline", "is_edition"),
        [
            (Headline("Ice", "Snow | The Paper"), True),
            (Headline("Snow", "Ice | The Paper"), False),
            # The title counts if there is no h1, and of it the part that fewest pages show.
            (Headline("", "Ice | The Paper"), True),
            (Headline("", "Snow | The Paper"), False),
            (Headline("", "The Paper"), False),
            (Headline("The Paper", "Ice"), False),
            (Headline(), False),
        ],
    )
    def test_if_the_headline_of_that_edition_was_shown_by_one_page(self, headline, is_edition):
        page = measured(
            new(words("n", 30)),
            shown_once(words("b", 60)),
            headline=headline,
            headed={"Ice": 1, "The Paper": 9},
            is_frame_known=True,
        )
        assert page.was_shown == is_edition


def test_sentences_are_counted_by_the_text_that_the_page_is_known_by():
    prose = "the ice of the harbour is in the way of a ship " * 4
    page = measured(new(prose), frame(words("f", 50)))
    assert page.shingles == len(prose.split()) - 2
    assert page.shingles_without_stopword == 0
    assert measured(new(words("f", 50))).shingles_without_stopword == 48


PROSE = words("p", LINE_WORDS + 1)


@pytest.mark.parametrize(
    ("text", "title", "blocks", "headline"),
    [
        ("text", "Title", [("text", "line")], ("", "Title")),
        # A text that is nothing but a line has no headline; nor has one that begins with prose.
        ("text", "", [("text", "line")], ("", "")),
        (f"{PROSE}\n\nb", "", [(PROSE, "prose"), ("b", "line")], ("", "")),
        (f"\n a \tb\r\n\n{PROSE}\n", "", [("a b", "line"), (PROSE, "prose")], ("a b", "")),
        (f"a\n{PROSE}", "Title", [("a", "line"), (PROSE, "prose")], ("", "Title")),
        (f"a\n\n{words('p', 16)}", "", [("a", "line"), (words("p", 16), "line")], ("a", "")),
        (f"{'x' * 300}\nb", "", [("x" * 300, "line"), ("b", "line")], ("x" * 200, "")),
        ("", "", [], ("", "")),
    ],
)
def test_a_text_is_its_paragraphs_and_lines(text, title, blocks, headline):
    page = of_text(text, title=title)
    places = page.blocks.places
    kinds = ["prose" if is_prose else "line" for is_prose in places.is_prose]
    assert list(zip(page.blocks.texts, kinds, strict=True)) == blocks
    assert page.headline == headline
    in_all, all_blocks = ("in_new", "in_main", "in_span"), len(blocks)
    for each in dataclasses.fields(places):
        if each.name not in ("is_prose", "is_line"):
            count = np.count_nonzero(getattr(places, each.name))
            assert count == (all_blocks if each.name in in_all else 0), each.name
    assert page.is_plain
