"""What a page is compared by: its texts, how they are measured, and what is kept of it."""

import dataclasses

import numpy as np
import pytest
from measured_pages import frame, measured, new, shown_once, words

from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints import contained
from dedup_filter.fingerprints.profile import (
    MAIN_DIGEST,
    MIN_WORDS,
    PageProfile,
    PageTexts,
    Passage,
    profile,
)
from dedup_filter.fingerprints.sketch import distinct_hashes
from dedup_filter.model import Document
from dedup_filter.text import Headline

CONFIG = FilterConfig()


def of_text(text: str, **options: object) -> PageProfile:
    return profile(PageTexts.of(Document(text, **options)), CONFIG)


class TestTexts:
    def test_of_a_page_of_new_blocks_there_is_one(self):
        page = measured(new(words("a", 30)), new(words("b", 30)))
        (text,) = page.texts
        assert text.is_own
        assert (text.word_count, text.own_word_count, page.word_count) == (60, 60, 60)
        assert page.not_frame is page.whole is text.hashes

    def test_equal_texts_are_measured_once(self):
        page = measured(new(words("a", 60)), frame(words("f", 20)), is_frame_known=True)
        assert page.own is page.not_frame
        assert page.own is not page.whole

    def test_of_new_blocks_and_of_those_shown_once(self):
        page = measured(new(words("a", 30)), shown_once(words("b", 50)), frame(words("f", 20)))
        own, rare = page.texts
        assert (own.is_own, own.word_count) == (True, 30)
        assert (rare.is_own, rare.word_count) == (False, 80)
        assert page.word_count == 30
        assert page.fingerprint == own.fingerprint == of_text(words("a", 30)).fingerprint
        alone = of_text(f"{words('a', 30)}\n{words('b', 50)}")
        assert rare.fingerprint == alone.fingerprint
        assert np.array_equal(rare.hashes, alone.not_frame)

    def test_a_short_text_of_new_blocks_is_asked_for_nothing(self):
        page = measured(new(words("a", MIN_WORDS - 1)), shown_once(words("b", 40)))
        (text,) = page.texts
        assert not text.is_own
        assert text.word_count == page.word_count == MIN_WORDS - 1 + 40
        assert page.not_frame.size == MIN_WORDS - 3, "what is new is compared however short it is"

    def test_where_both_are_short_the_whole_is_asked_by(self):
        page = measured(new(words("a", 10)), shown_once(words("b", 9)), frame(words("f", 40)))
        (text,) = page.texts
        assert text.word_count == page.word_count == 59
        assert text.own_word_count == 19, "frame is no word of its own"
        assert np.array_equal(text.hashes, page.whole)

    @pytest.mark.parametrize("count", [MIN_WORDS, MIN_WORDS - 1, 1])
    def test_of_too_few_words_there_are_none(self, count):
        page = of_text(words("a", count))
        is_long = count >= MIN_WORDS
        assert len(page.texts) == is_long
        assert (page.fingerprint is not None) == is_long
        assert page.reason == "too_short"
        assert page.word_count == count

    def test_a_text_has_what_is_new_wherever_it_stands(self):
        own, rare = measured(new(words("a", 30)), shown_once(words("b", 30))).texts
        beside = Passage("", 1, in_own=False, in_rare=False, in_whole=True)
        only_rare = Passage("", 1, in_own=False, in_rare=True, in_whole=False)
        assert [text.has(new("")) for text in (own, rare)] == [True, True]
        assert [text.has(beside) for text in (own, rare)] == [True, True]
        assert [text.has(only_rare) for text in (own, rare)] == [False, True]


@pytest.mark.parametrize("is_frame_known", [False, True])
def test_where_the_frame_is_known_other_hosts_are_compared_by_what_is_rare(is_frame_known):
    passages = new(words("a", 30)), shown_once(words("b", 50)), frame(words("f", 20))
    page = measured(*passages, is_frame_known=is_frame_known)
    assert page.not_frame is page.texts[is_frame_known].hashes
    assert page.not_frame.size == (78 if is_frame_known else 28)
    assert not np.isin(of_text(words("f", 20)).whole, page.not_frame).any()
    assert page.fingerprint == of_text(words("a", 30)).fingerprint
    assert (page.word_count, page.sketch) == (30, measured(*passages).sketch)


class TestDigest:
    PAGE = Document("text", "Title", "en", "menu\ntext")

    @pytest.mark.parametrize(
        ("change", "is_same", "is_same_main"),
        [
            ({"language": "de", "headings": ("x",), "images": (1,)}, True, True),
            ({"whole_text": "other menu\ntext"}, False, True),
            ({"text": "texts"}, True, False),
            ({"title": "Other"}, False, False),
            ({"unread_hash": 7}, False, False),
        ],
        ids=str,
    )
    def test_is_that_of_title_whole_text_and_main_text(self, change, is_same, is_same_main):
        page, other = (
            profile(PageTexts.of(each), CONFIG).digest
            for each in (self.PAGE, dataclasses.replace(self.PAGE, **change))
        )
        assert len(page) == 16
        assert (page[:MAIN_DIGEST] == other[:MAIN_DIGEST]) == is_same
        assert (page[MAIN_DIGEST:] == other[MAIN_DIGEST:]) == is_same_main

    def test_is_that_of_the_normal_form(self):
        written = of_text("The  ＳＥＡ\u00a0", title="Ice")
        assert written.digest == of_text("the sea", title="ICE").digest

    def test_without_whole_text_the_text_is_the_whole(self):
        assert of_text("text").digest == of_text("text", whole_text="text").digest

    def test_does_not_depend_on_what_the_host_has_shown(self):
        text, menu = words("a", 60), words("f", 20)
        early, later = (measured(new(text), of_menu(menu)) for of_menu in (new, frame))
        assert early.digest == later.digest
        assert early.fingerprint != later.fingerprint


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


def test_the_sketch_has_the_shingles_of_every_text():
    passages = [new(words("a", 30)), shown_once(words("b", 30)), frame(words("f", 30))]
    # Without the passage between, whose shingles reach over its ends, others are neighbours.
    page = measured(passages[0], passages[2], passages[1])
    for text in (page.not_frame, *(each.hashes for each in page.texts), page.whole):
        there, asked, _ = contained(text, [page.sketch])
        assert there[0] == asked[0] == len(text) > 0


class TestPassages:
    def test_are_counted_in_a_sketch_each(self):
        page = measured(new(words("a", 30)), new(words("b", 12)), new(words("c", 30)))
        other = of_text(f"{words('a', 30)}\n{words('b', 8)}")
        counts = [each[1:] for each in page.passages.counted_in(other.sketch)]
        assert counts == [(30, 28, 28, 28), (12, 10, 10, 6), (30, 28, 28, 0)]

    def test_few_words_are_known_by_all_shingles_that_hold_one(self):
        page = measured(new(words("a", 30)), new("price 17"), new(words("c", 30)))
        whole = list(page.passages.counted_in(page.sketch))
        assert whole[1][1:] == (2, 4, 4, 4)
        other = of_text(f"{words('a', 30)}\nprice 18\n{words('c', 30)}")
        counted = list(page.passages.counted_in(other.sketch))
        assert counted[1][1:] == (2, 4, 4, 1)

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


def test_the_hashes_are_those_of_distinct_shingles_in_ascending_order():
    hashes = of_text("a b c " * 20).whole
    assert hashes.size == 3
    assert np.array_equal(hashes, np.unique(hashes))
    assert np.array_equal(hashes, distinct_hashes(hashes.astype(np.uint64) << np.uint64(32)))


def test_a_document_without_a_frame_is_taken_as_it_is():
    texts = PageTexts.of(Document("text", "Title"))
    assert texts.headline == Headline("", "Title")
    assert texts.around.times_shown("Title") == 0
    assert not texts.around.is_frame_known
    assert [passage[1:] for passage in texts.passages] == [(0, True, True, True, False)]
