"""What a page is compared by: its texts, how they are measured, and what is kept of it."""

import dataclasses

import numpy as np
import pytest
from measured_pages import aside, frame, measured, new, shown_once, words

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import (
    MAIN_DIGEST,
    MIN_WORDS,
    PageProfile,
    PageTexts,
    Passage,
    profile,
)
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import Document
from dedup_filter.text.headlines import Headline

CONFIG = FilterConfig()


def of_text(text: str, **options: object) -> PageProfile:
    return profile(PageTexts.of(Document(text, **options)), CONFIG)


NEW, ONCE, FRAME = new(words("a", 30)), shown_once(words("b", 50)), frame(words("f", 20))


class TestTexts:
    @pytest.mark.parametrize(
        ("passages", "texts", "words_of_page"),
        [
            # Whether each text is of new blocks only, and how many of the passages are in it.
            ([NEW, new(words("c", 30))], [(True, 2)], 60),
            ([NEW, ONCE, FRAME], [(True, 1), (False, 2)], 30),
            # A short text of new blocks is asked for nothing; if both are short, the whole is.
            ([new(words("n", MIN_WORDS - 1)), ONCE], [(False, 2)], MIN_WORDS - 1 + 50),
            ([new(words("n", 10)), shown_once(words("o", 9)), FRAME], [(False, 3)], 39),
            ([new(words("n", MIN_WORDS))], [(True, 1)], MIN_WORDS),
            ([new(words("n", MIN_WORDS - 1))], [], MIN_WORDS - 1),
            ([new("n")], [], 1),
            # So is a text of stopwords alone.
            ([new("of the " * MIN_WORDS)], [], 2 * MIN_WORDS),
            ([new("of the " * MIN_WORDS), shown_once("harbour")], [(False, 2)], 2 * MIN_WORDS + 1),
        ],
    )
    def test_of_a_page(self, passages, texts, words_of_page):
        page = measured(*passages)
        assert [text.is_own for text in page.texts] == [is_own for is_own, _ in texts]
        assert page.word_count == words_of_page
        for text, (_, count) in zip(page.texts, texts, strict=True):
            written = "\n".join(passage.text for passage in passages[:count])
            alone = of_text(written)
            assert text.fingerprint == alone.fingerprint
            assert np.array_equal(text.hashes, alone.whole)
            assert text.word_count == len(written.split())
        assert page.fingerprint == (page.texts[0].fingerprint if texts else None)
        of_new = [passage.text for passage in passages if passage.in_own]
        assert np.array_equal(page.not_frame, of_text("\n".join(of_new)).whole)
        for hashes in (page.not_frame, *(text.hashes for text in page.texts), page.whole):
            there, asked, _ = contained(hashes, [page.sketch])
            assert there[0] == asked[0] == len(hashes)

    def test_that_are_equal_are_measured_once(self):
        (text,) = measured(NEW, ONCE._replace(in_own=True)).texts
        page = measured(NEW, FRAME, is_frame_known=True)
        assert page.own is page.not_frame
        assert page.own is not page.whole
        assert text.own_word_count == text.word_count

    def test_have_what_is_new_wherever_it_stands(self):
        own, rare = measured(NEW, ONCE).texts
        beside = Passage("", 1, in_own=False, in_rare=False, in_whole=True)
        only_rare = Passage("", 1, in_own=False, in_rare=True, in_whole=False)
        assert [text.has(new("")) for text in (own, rare)] == [True, True]
        assert [text.has(beside) for text in (own, rare)] == [True, True]
        assert [text.has(only_rare) for text in (own, rare)] == [False, True]


def test_where_the_frame_is_known_other_hosts_are_compared_by_what_is_rare():
    page = measured(NEW, ONCE, FRAME, is_frame_known=True)
    assert page.not_frame is page.texts[1].hashes
    unknown = measured(NEW, ONCE, FRAME)
    assert (page.fingerprint, page.sketch) == (unknown.fingerprint, unknown.sketch)
    assert page.word_count == unknown.word_count


class TestDigest:
    PAGE = Document("text", "Title", "en", "menu\ntext")

    @pytest.mark.parametrize(
        ("change", "is_same", "is_same_main"),
        [
            ({"language": "de", "headings": ("x",), "images": (1,)}, True, True),
            ({"text": "ＴＥＸＴ\u00a0", "title": "TITLE"}, True, True),
            ({"whole_text": "other menu\ntext"}, False, True),
            ({"text": "texts"}, True, False),
            ({"title": "Other"}, False, False),
            ({"unread_hash": 7}, False, False),
        ],
        ids=str,
    )
    def test_is_that_of_the_normal_form_of_title_whole_text_and_main_text(
        self, change, is_same, is_same_main
    ):
        page, other = (
            profile(PageTexts.of(each), CONFIG).digest
            for each in (self.PAGE, dataclasses.replace(self.PAGE, **change))
        )
        assert len(page) == 16
        assert (page[:MAIN_DIGEST] == other[:MAIN_DIGEST]) == is_same
        assert (page[MAIN_DIGEST:] == other[MAIN_DIGEST:]) == is_same_main


class TestUnread:
    def test_a_page_of_which_more_is_unread_than_read(self):
        read = words("a", 60)
        assert not of_text(read, unread_words=60).is_unread
        assert not of_text(read, whole_text=f"{words('f', 20)}\n{read}", unread_words=80).is_unread
        page = of_text(read, unread_words=61)
        assert page.is_unread
        assert (page.texts, page.fingerprint) == ((), None)
        assert (page.reason, page.unread_words) == ("by_script", 61)

    def test_is_not_blank_although_nothing_is_read(self):
        assert not of_text("…", unread_words=5).is_blank
        assert not of_text("…", whole_text="menu").is_blank
        assert of_text("…").is_blank


class TestPassages:
    def test_are_counted_in_a_sketch_each(self):
        page = measured(new(words("a", 30)), new(words("b", 12)), new(words("c", 30)))
        other = of_text(f"{words('a', 30)}\n{words('b', 8)}")
        counts = [each[1:] for each in page.passages.counted_in(other.sketch)]
        assert counts == [(30, 28, 28, 28), (12, 10, 10, 6), (30, 28, 28, 0)]

    def test_few_words_are_known_by_all_shingles_that_hold_one(self):
        page = measured(new(words("a", 30)), new("price 17"), new(words("c", 30)))
        other = of_text(f"{words('a', 30)}\nprice 18\n{words('c', 30)}")
        for held, there in ((page, 4), (other, 1)):
            counted = list(page.passages.counted_in(held.sketch))
            assert counted[1][1:] == (2, 4, 4, there)

    @pytest.mark.parametrize("texts", [["a"], ["", "a b", ""], ["…", "…"], [""]])
    def test_without_shingles_of_their_own_are_counted_too(self, texts):
        page = measured(*map(new, texts))
        counted = list(page.passages.counted_in(page.sketch))
        assert len(counted) == len(texts)
        assert all(0 <= each.there == each.asked <= each.shingles for each in counted)


@pytest.mark.parametrize(("count", "was_shown"), [(4, True), (5, False)])
def test_a_page_was_shown_if_two_words_in_a_hundred_are_new(count, was_shown):
    page = measured(new(words("n", count)), shown_once(words("b", 200)))
    assert page.was_shown == was_shown


def test_sentences_are_counted_by_the_text_that_the_page_is_known_by():
    prose = "the ice of the harbour is in the way of a ship " * 4
    page = measured(new(prose), frame(words("f", 50)))
    assert page.shingles == len(prose.split()) - 2
    assert page.shingles_without_stopword == 0
    assert measured(new(words("f", 50))).shingles_without_stopword == 48


@pytest.mark.parametrize(
    ("passages", "share"),
    [
        ([NEW, ONCE, FRAME], 20 / 100),
        ([NEW, ONCE, aside(words("x", 100))], 0),
        ([FRAME], 1),
        # Frame outside of the span is none of it.
        ([NEW, FRAME._replace(in_whole=False)], 0),
        ([new("")], 0),
    ],
)
def test_the_share_of_the_span_that_is_frame(passages, share):
    assert measured(*passages).frame_share == share


def test_a_document_without_a_frame_is_taken_as_it_is():
    texts = PageTexts.of(Document("text", "Title"))
    assert texts.headline == Headline("", "Title")
    assert texts.around.times_shown("Title") == 0
    assert not texts.around.is_frame_known
    assert [passage[1:] for passage in texts.passages] == [(0, True, True, True, False)]
