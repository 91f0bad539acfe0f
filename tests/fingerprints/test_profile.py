"""What a page is compared by: its texts, how they are measured, and what is kept of it."""

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest
from measured_pages import frame, measured, new, shown_once, words

from dedup_filter.config import FilterConfig
from dedup_filter.features import Analysis
from dedup_filter.fingerprints import contained, distinct_hashes
from dedup_filter.fingerprints.profile import (
    MAIN_DIGEST,
    MIN_WORDS,
    PageProfile,
    PageTexts,
    Passage,
    profile,
)
from dedup_filter.model import Document
from dedup_filter.text import Headline

CONFIG = FilterConfig()


def of_text(text: str, **options: object) -> PageProfile:
    return profile(PageTexts.of(Document(text, **options)), CONFIG)


def distinct_of(text: str) -> npt.NDArray[np.uint32]:
    """The hashes of the distinct shingles of a text."""
    return of_text(text).whole


class TestTexts:
    def test_of_a_page_of_new_blocks_there_is_one(self):
        page = measured(new(words("a", 30)), new(words("b", 30)))
        (text,) = page.texts
        assert text.is_own
        assert (text.word_count, text.own_word_count, page.word_count) == (60, 60, 60)
        assert page.not_frame is page.whole is text.hashes

    def test_equal_texts_are_measured_once(self, monkeypatch):
        cut = []
        part = Analysis.part
        monkeypatch.setattr(
            Analysis, "part", lambda self, chosen: cut.append(chosen) or part(self, chosen)
        )
        measured(new(words("a", 60)), new(words("b", 60)))
        assert cut == [], "all of a page is its analysis as it is"
        measured(new(words("a", 60)), frame(words("f", 20)))
        assert len(cut) == 1, "own and rare are one text, and whole is everything"
        measured(new(words("a", 60)), shown_once(words("b", 60)), frame(words("f", 20)))
        assert len(cut) == 3

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

    def test_frame_is_no_word_of_their_own(self):
        page = measured(new(words("a", 10)), frame(words("f", 50)))
        (text,) = page.texts
        assert (text.word_count, text.own_word_count) == (60, 10)

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


class TestNotFrame:
    """What is compared with pages of other hosts."""

    PASSAGES = (new(words("a", 30)), shown_once(words("b", 50)), frame(words("f", 20)))

    def test_is_what_is_new_while_the_frame_is_not_known(self):
        page = measured(*self.PASSAGES)
        own, _ = page.texts
        assert page.not_frame is own.hashes
        assert page.not_frame.size == 28

    def test_is_what_is_rare_where_the_frame_is_known(self):
        page = measured(*self.PASSAGES, is_frame_known=True)
        _, rare = page.texts
        assert page.not_frame is rare.hashes
        assert page.not_frame.size == 78
        assert not np.isin(distinct_of(words("f", 20)), page.not_frame).any()

    @pytest.mark.parametrize("is_frame_known", [False, True])
    def test_does_not_change_what_the_page_is_known_by(self, is_frame_known):
        page = measured(*self.PASSAGES, is_frame_known=is_frame_known)
        assert page.fingerprint == of_text(words("a", 30)).fingerprint
        assert page.word_count == 30
        assert page.sketch == measured(*self.PASSAGES).sketch


class TestDigest:
    def test_is_that_of_title_and_whole_text(self):
        page = Document("text", "Title", "en", "menu\ntext")
        same = dataclasses.replace(page, language="de", headings=("x",), images=(1,))
        digests = {profile(PageTexts.of(each), CONFIG).digest for each in (page, same)}
        assert len(digests) == 1
        assert all(len(digest) == 16 for digest in digests)

    def test_ends_in_that_of_title_and_main_text(self):
        page = Document("text", "Title", "en", "menu\ntext")
        framed = dataclasses.replace(page, whole_text="other menu\ntext")
        others = [dataclasses.replace(page, text="texts"), dataclasses.replace(page, title="T")]
        main, same, *other = (
            profile(PageTexts.of(each), CONFIG).digest[MAIN_DIGEST:]
            for each in (page, framed, *others)
        )
        assert main == same
        assert main not in other

    @pytest.mark.parametrize(
        "change",
        [{"title": "Other"}, {"whole_text": "other menu\ntext"}, {"unread_hash": 7}],
        ids=lambda change: next(iter(change)),
    )
    def test_tells_apart(self, change):
        page = Document("text", "Title", "en", "menu\ntext")
        other = dataclasses.replace(page, **change)
        digests = {profile(PageTexts.of(each), CONFIG).digest for each in (page, other)}
        assert len(digests) == 2

    def test_is_that_of_the_normal_form(self):
        assert (
            of_text("The  ＳＥＡ\u00a0", title="Ice").digest
            == of_text("the sea", title="ICE").digest
        )

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
        page = of_text(read, unread_words=61)
        assert page.is_unread
        assert page.texts == ()
        assert page.fingerprint is None
        assert page.reason == "by_script"
        assert page.unread_words == 61

    def test_what_is_read_is_the_whole_text(self):
        read = words("a", 60)
        page = of_text(read, whole_text=f"{words('f', 20)}\n{read}", unread_words=80)
        assert not page.is_unread

    def test_is_not_blank_although_nothing_is_read(self):
        assert of_text("…", unread_words=5).is_blank is False
        assert of_text("…").is_blank
        assert of_text("…", whole_text="menu").is_blank is False


class TestSketch:
    def test_has_the_shingles_of_every_text(self):
        passages = [new(words("a", 30)), shown_once(words("b", 30)), frame(words("f", 30))]
        # Without the passage between, whose shingles reach over its ends, others are neighbours.
        page = measured(passages[0], passages[2], passages[1])
        for text in (page.not_frame, *(each.hashes for each in page.texts), page.whole):
            there, asked, _ = contained(text, [page.sketch])
            assert there[0] == asked[0] == len(text) > 0

    def test_of_no_words_has_nothing(self):
        page = of_text("…")
        assert page.not_frame.size == page.whole.size == 0
        assert page.word_count == 0


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
    hashes = distinct_of("a b c " * 20)
    assert hashes.size == 3
    assert np.array_equal(hashes, np.unique(hashes))
    assert np.array_equal(hashes, distinct_hashes(hashes.astype(np.uint64) << np.uint64(32)))


def test_a_document_without_a_frame_is_taken_as_it_is():
    texts = PageTexts.of(Document("text", "Title"))
    assert texts.headline == Headline("", "Title")
    assert texts.around.times_shown("Title") == 0
    assert not texts.around.is_frame_known
    assert [passage[1:] for passage in texts.passages] == [(0, True, True, True, False)]
