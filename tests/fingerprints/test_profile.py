"""What a page is compared by: its texts, how they are measured, and what is kept of it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_pages import frame, measured, new, shown_once, words

from dedup_filter.config import FilterConfig
from dedup_filter.features.analysis import hash_words
from dedup_filter.fingerprints.profile import (
    EQUAL_DIGEST,
    MAIN_DIGEST,
    UNREAD_DIGEST,
    PageProfile,
    Passage,
    profile,
)
from dedup_filter.fingerprints.read_page import ReadPage, texts_of
from dedup_filter.fingerprints.sketch import contained
from dedup_filter.model import Document
from dedup_filter.text.headlines import Headline
from dedup_filter.thresholds import LINE_WORDS, MIN_WORDS

CONFIG = FilterConfig()
LINES = st.lists(st.sampled_from("ab ba ca da ea".split()), min_size=1, max_size=5).map(" ".join)


def pairwise3(words):
    return zip(words, words[1:], words[2:], strict=False)


def of_document(document: Document) -> PageProfile:
    return profile(texts_of(ReadPage.of(document, CONFIG)), CONFIG)


def of_text(text: str, **options: object) -> PageProfile:
    return of_document(Document(text, **options))


NEW, ONCE, FRAME = new(words("a", 30)), shown_once(words("b", 50)), frame(words("f", 20))


class TestTexts:
    @pytest.mark.parametrize(
        ("passages", "texts", "words_of_page"),
        [
            # The name of each text that is looked up, and how many of the passages are in it.
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
    def test_of_a_page(self, passages, texts, words_of_page):
        page = measured(*passages)
        assert [text.name for text in page.texts] == [name for name, _ in texts]
        assert page.word_count == words_of_page
        for text, (_, count) in zip(page.texts, texts, strict=True):
            written = "\n".join(passage.text for passage in passages[:count])
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

    def test_hold_their_passages(self):
        of_new, of_main = measured(NEW, ONCE).texts
        beside = Passage("", 1, "line", in_new=False, in_main=False, in_span=True)
        shown = Passage("", 1, "line", in_new=False, in_main=True, in_span=False)
        assert [text.holds(new("")) for text in (of_new, of_main)] == [True, True]
        assert [text.holds(beside) for text in (of_new, of_main)] == [False, False]
        assert [text.holds(shown) for text in (of_new, of_main)] == [False, True]


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
            ({"whole_text": "other menu\ntext"}, "all own"),
            ({"title": "Other"}, "all own"),
            ({"unread_hash": 7}, "all unread"),
            ({"unread_hash": 7, "waiting_hash": 7}, "all unread waiting"),
            # The texts of a page that is taken apart are hashed already.
            ({"own_hash": 7}, "own"),
            ({"whole_hash": 8}, "all"),
            ({"own_hash": 7, "whole_hash": 8}, "all own"),
        ],
        ids=str,
    )
    def test_has_a_part_for_all_text_one_for_what_is_unread_and_one_without_the_frame(
        self, change, changed
    ):
        page, other = (
            of_document(each).digest
            for each in (self.PAGE, dataclasses.replace(self.PAGE, **change))
        )
        assert len(page) == 24
        parts = {"all": slice(8), "unread": slice(8, 16), "own": slice(16, 24)}
        parts["waiting"] = slice(12, 16)
        found = [name for name, part in parts.items() if page[part] != other[part]]
        assert found == changed.split()

    def test_of_pages_in_other_frames_differs_in_all_text_only(self):
        page, other = (
            of_document(dataclasses.replace(self.PAGE, whole_hash=of_all, own_hash=7)).digest
            for of_all in (8, 9)
        )
        assert page[EQUAL_DIGEST] != other[EQUAL_DIGEST]
        assert page[MAIN_DIGEST] == other[MAIN_DIGEST]
        assert page[UNREAD_DIGEST] == other[UNREAD_DIGEST]


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

    def test_few_words_are_there_if_any_shingle_with_all_of_them_is(self):
        page = measured(new(words("a", 30)), new("price 17"), new(words("c", 30)))
        others = {
            f"{words('a', 30)}\nprice 18\n{words('c', 30)}": 0,
            f"{words('a', 30)}\nprice 17\n{words('x', 30)}": 2,
        }
        for other, there in others.items():
            counted = list(page.passages.counted_in(of_text(other).sketch))
            assert counted[1][1:] == (2, 2, 2, there)

    def test_words_are_said_where_a_shingle_with_them_is(self):
        page = measured(new("Thirsk title"), new("the harbour of Thirsk " + words("a", 30)))
        other = of_text("the harbour of Ely " + words("a", 30))
        thirsk, harbour, of = hash_words(["thirsk", "harbour", "of"]).tolist()
        asked = np.array([thirsk, harbour, of], np.uint64)
        said, lacking = page.passages.said_in(other.sketch, asked, "Thirsk title")
        assert (said, lacking) == ({harbour, of}, {thirsk})

    @given(st.lists(LINES, min_size=1, max_size=6), st.lists(LINES, max_size=6))
    def test_words_of_a_line_lack_where_no_shingle_has_them(self, lines, of_other):
        page, other = measured(*map(new, lines)), of_text("\n".join(of_other))
        of_page = [word for line in lines for word in line.split()]
        said = list(pairwise3(" ".join(of_other).split()))
        shingles = list(pairwise3(of_page))
        for line in lines:
            lacking, place = set(), 0
            for each in lines:
                for number in range(len(each.split())):
                    around = shingles[max(place - 2, 0) : place + 1]
                    if each == line and not any(shingle in said for shingle in around):
                        lacking.add(number)
                    place += 1
            wanted = (min(lacking), max(lacking) + 1) if lacking else (0, len(line.split()))
            assert page.passages.lacking_in(other.sketch, line) == wanted

    @pytest.mark.parametrize("texts", [["a"], ["", "a b", ""], ["…", "…"], [""]])
    def test_without_shingles_of_their_own_are_counted_too(self, texts):
        page = measured(*map(new, texts))
        counted = list(page.passages.counted_in(page.sketch))
        assert len(counted) == len(texts)
        assert all(0 <= each.there == each.sampled <= each.phrases for each in counted)


class TestWasShown:
    """Whether a page says again what earlier pages of its host have shown."""

    HEADED = Headline("Ice in the harbour")

    @pytest.mark.parametrize("is_frame_known", [True, False])
    @pytest.mark.parametrize("times", [0, 1, 2])
    def test_if_nothing_is_new(self, times, is_frame_known):
        around = {"times_shown": lambda _: times, "is_frame_known": is_frame_known}
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
            times_shown=lambda _: 1,
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
            times_shown=lambda part: {"Ice": 1, "The Paper": 9}.get(part, 0),
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
    ("text", "title", "passages", "headline"),
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
def test_a_text_is_its_paragraphs_and_lines(text, title, passages, headline):
    texts = texts_of(ReadPage.of(Document(text, title), CONFIG))
    assert [(each.text, each.kind) for each in texts.passages] == passages
    assert texts.headline == headline
    assert {each[1:2] + each[3:] for each in texts.passages} <= {
        (0, True, True, True, *4 * [False])
    }
    assert (texts.around.times_shown("Title"), texts.around.is_frame_known) == (0, False)
    assert texts.around.is_plain
