"""What a sketch has of each block of a page, against plain lists of words and of blocks."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from measured_pages import measured, new, words

from dedup_filter.features.analysis import hash_words
from dedup_filter.fingerprints.sketch import MOST_BLOCKS
from dedup_filter.text.blocks import text_hash

SIZE = 3
"""Words in a shingle."""
# No two shingles of these words are alike in the 15 bits that a sketch of few has of each.
LINE = st.lists(st.sampled_from("ab ba ca da ea ga".split()), min_size=1, max_size=6)
LINES = st.lists(LINE.map(" ".join), min_size=1, max_size=7)


def columns(*texts):
    return measured(*map(new, texts)).blocks


def sketch_of(*texts):
    return measured(*map(new, texts)).sketch


def triples(texts):
    """All runs of three words; of a page with fewer words, all its words."""
    said = " ".join(texts).split()
    found = [*zip(said, said[1:], said[2:], strict=False)]
    return found or [tuple(said)]


def neighbours(texts):
    return Counter(pairwise(["", *texts, ""]))


def short_name(text):
    """What a row holds of a block: two of thousands of blocks have the same by chance."""
    return str(text_hash(text) % 2**16) if text else ""


class Oracle:
    """The head note of `block_columns`, for pages whose sketches hold all their shingles."""

    def __init__(self, page, other):
        self.page, self.said = page, set(triples(other))
        self.names, self.other = [*map(short_name, page)], [*map(short_name, other)]

    def is_there(self, number):
        names = ["", *self.names, ""]
        here, there = neighbours(self.names), neighbours(self.other)
        pairs = tuple(names[number : number + 2]), tuple(names[number + 1 : number + 3])
        return any(there[pair] >= here[pair] for pair in pairs)

    def phrases(self, number):
        """The shingles within a block; of a short block those that have all its words."""
        before = sum(len(text.split()) for text in self.page[:number])
        end = before + len(self.page[number].split())
        found = []
        for start, triple in enumerate(triples(self.page)):
            last = start + len(triple)
            within = before <= start and last <= end
            around = start <= before and end <= last
            if within or (around and end - before < SIZE):
                found.append(triple)
        return found

    def there(self, number):
        phrases = self.phrases(number)
        count = sum(phrase in self.said for phrase in phrases)
        is_short = len(self.page[number].split()) < SIZE
        return len(phrases) if is_short and count else count

    def missing(self, number):
        size, phrases = len(self.page[number].split()), self.phrases(number)
        if self.is_there(number):
            return 0
        return size * (1 - self.there(number) / max(len(phrases), 1))


@given(LINES, LINES)
@example(["ab ba ca", "ab"], ["ab", "ab ba ca"])
@example(["ab"], ["ab"])
@example(["ab", "ba", "ab"], ["ba", "ab"])
def test_a_block_is_there_as_the_plain_lists_have_it(page, other):
    found, plain = columns(*page).shares_in(sketch_of(*other)), Oracle(page, other)
    numbers = range(len(page))
    assert found.words.tolist() == [len(text.split()) for text in page]
    assert found.phrases.tolist() == [len(plain.phrases(number)) for number in numbers]
    assert found.sampled.tolist() == found.phrases.tolist()
    assert found.there.tolist() == [plain.there(number) for number in numbers]
    assert found.is_there.tolist() == [plain.is_there(number) for number in numbers]
    assert found.missing == pytest.approx([plain.missing(number) for number in numbers])


@given(LINES)
def test_a_page_has_all_its_own_blocks(page):
    found = columns(*page).shares_in(sketch_of(*page))
    assert found.is_there.all()
    assert not found.missing.any()


@given(LINES, LINES, st.integers(200, 400))
def test_a_row_tells_of_blocks_of_which_no_shingle_is_sampled(page, other, more):
    """Beside hundreds of other blocks, the rows alone are compared."""
    rest = [f"r{number}a r{number}b r{number}c r{number}d" for number in range(more)]
    found, plain = columns(*page).shares_in(sketch_of(*rest, *other)), Oracle(page, [*rest, *other])
    assert (found.sampled <= found.phrases).all()
    # Without a sampled shingle all words of a block are missing if its row has it not.
    expected = [plain.is_there(number) for number in range(len(page))]
    assert found.is_there.tolist() == expected
    assert not found.missing[found.is_there].any()
    unknown = ~found.is_there & (found.sampled == 0)
    assert (found.missing[unknown] == found.words[unknown]).all()


@pytest.mark.parametrize("short", ["26.90", "Size 40", "价格 九"])
@pytest.mark.parametrize(
    ("other", "is_there"),
    [
        (["oak table four seats", "{}", "pine chair two seats"], True),
        # One neighbour is enough,
        (["oak table four seats", "{}", "something else stands here"], True),
        (["something else stands here", "{}", "pine chair two seats"], True),
        # and without any it is the price of something else.
        (["something else stands here", "{}", "another thing stands there"], False),
        (["pine chair two seats", "{}", "oak table four seats"], False),
        (["oak table four seats", "pine chair two seats"], False),
    ],
)
def test_a_short_block_is_there_only_beside_a_neighbour(short, other, is_there):
    page = columns("oak table four seats", short, "pine chair two seats")
    kept = sketch_of(*(each.format(short) for each in other))
    assert page.shares_in(kept).is_there[1] == is_there


def test_lines_that_a_long_page_has_more_often_than_a_row_holds_are_there():
    often = ["size", "red"] * 200
    lines = [*often, *(f"line{number} has the four words" for number in range(600)), *often]
    found = columns(*lines).shares_in(sketch_of(*lines, "one more line"))
    assert not found.sampled[: len(often)].any(), "the shingles tell it"
    assert found.is_there[: len(often)].all()


@pytest.mark.parametrize("place", [0, 300, 511, 512, 900])
def test_blocks_beyond_the_row_are_told_of_by_shingles_alone(place):
    lines = [f"line{number} has the four words" for number in range(1_000)]
    page = columns(*lines)
    assert page.shares_in(sketch_of(*lines)).is_there[:MOST_BLOCKS].all()
    found = page.shares_in(sketch_of(*lines[:place], f"edited{place} text", *lines[place + 1 :]))
    if place < MOST_BLOCKS:
        assert not found.is_there[place] or found.there[place] == found.sampled[place] > 0
    assert np.count_nonzero(found.is_there) >= MOST_BLOCKS - 1


def test_words_are_said_where_a_shingle_with_them_is():
    page = columns("Thirsk title", "the harbour of Thirsk " + words("a", 30))
    other = sketch_of("the harbour of Ely " + words("a", 30))
    thirsk, harbour, of = hash_words(["thirsk", "harbour", "of"]).tolist()
    asked = np.array([thirsk, harbour, of], np.uint64)
    assert page.said_in(other, asked, np.array([False, True])) == ({harbour, of}, {thirsk}, set())
    assert page.said_in(other, asked, np.array([True, False])) == (set(), {thirsk}, set())
    # A sketch samples few shingles of a long text.
    long = sketch_of(f"the harbour of Ely {words('a', 30)} {words('z', 5_000)}")
    found = page.said_in(long, asked, np.array([False, True]))
    assert found[2]
    assert sorted(word for each in found for word in each) == sorted(asked.tolist())


@given(LINES, st.lists(LINE.map(" ".join), max_size=6))
def test_words_of_a_line_lack_where_no_shingle_has_them(lines, other):
    page, said = columns(*lines), set(triples(other))
    shingles = triples(lines)
    for line in lines:
        lacking, place = set(), 0
        for each in lines:
            for number in range(len(each.split())):
                around = shingles[max(place - 2, 0) : place + 1]
                if each == line and not any(shingle in said for shingle in around):
                    lacking.add(number)
                place += 1
        wanted = (min(lacking), max(lacking) + 1) if lacking else (0, len(line.split()))
        assert page.lacking_in(sketch_of(*other), line) == wanted


@pytest.mark.parametrize(
    ("text", "is_sentence"),
    [
        ("the ferry waits for the end of winter", True),
        ("oak table, four seats, 120 cm, 26.90", False),
        ("one of five words here", True),
        (words("w", 20), False),
    ],
)
def test_a_sentence_has_a_function_word_in_each_five(text, is_sentence):
    page = columns("the ice of the harbour is in the way of it", text)
    assert page.are_sentences.tolist() == [True, is_sentence]


@pytest.mark.parametrize("texts", [["a"], ["", "a b", ""], ["…", "…"], [""], []])
def test_blocks_without_shingles_of_their_own_are_counted_too(texts):
    page = measured(*map(new, texts))
    found = page.blocks.shares_in(page.sketch)
    assert len(found.words) == len(texts)
    assert ((found.there >= 0) & (found.there <= found.sampled)).all()
    assert found.is_there.all()
