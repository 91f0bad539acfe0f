"""The words that two texts do not share, against the table of the longest common subsequence."""

import random
from pathlib import Path

import pytest
from made_text import prose
from report_index import ADVERT

import dedup_filter.review.report

SCRIPT = Path(dedup_filter.review.report.__file__).parent / "page" / "differences.js"
TELL = """texts => {
    const words = texts.map(wordsOf);
    return [words.map(each => each.map(word => word.key)), commonWords(...words)];
}"""


OLD = pytest.param("delete Intl.Segmenter", id="old", marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=[OLD, pytest.param("", id="new")])
def page(browser, request):
    """A browser that cuts texts into words itself, and one that does not."""
    page = browser.new_page()
    page.evaluate(request.param)
    page.add_script_tag(path=SCRIPT)
    yield page
    page.close()


def longest_common(one, other):
    """Return the length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for a in one:
        diagonal = 0
        for at, b in enumerate(other, 1):
            diagonal, row[at] = row[at], diagonal + 1 if a == b else max(row[at], row[at - 1])
    return row[-1]


def told(page, one, other):
    """Return the words of two texts, and those of each that are said to be common."""
    words, common = page.evaluate(TELL, [one, other])
    for each, marks in zip(words, common, strict=True):
        assert len(each) == len(marks)
    shared = [
        [word for word, is_common in zip(each, marks, strict=True) if is_common]
        for each, marks in zip(words, common, strict=True)
    ]
    assert shared[0] == shared[1]
    return words, shared[0]


def test_few_different_words_make_a_longest_common_subsequence(page):
    """With so few kinds of words no run of three is the only one of its kind."""
    chance, compared = random.Random(1), 0
    for length in range(40):
        texts = [" ".join(chance.choices("ab", k=chance.randint(0, 3 * length))) for _ in range(2)]
        if length % 2:
            texts[1] = texts[0].replace("a b", "b", 3)
        words, shared = told(page, *texts)
        triples = [[tuple(w[i : i + 3]) for i in range(len(w) - 2)] for w in words]
        if all(t.count(each) != 1 for t in triples for each in t):
            assert len(shared) == longest_common(*words)
            compared += 1
    assert compared >= 15


@pytest.mark.parametrize("edits", [0, 1, 5, 20, 60])
def test_edited_prose_loses_just_the_edits(page, edits):
    chance = random.Random(edits)
    words = prose(7, words=500).split()
    edited = list(words)
    for _ in range(edits):
        place = chance.randrange(len(edited))
        edited[place : place + chance.randint(0, 2)] = ["new"] * chance.randint(0, 2)
    found, shared = told(page, " ".join(words), " ".join(edited))
    assert len(shared) >= longest_common(*found) - edits // 10


def test_texts_with_nothing_in_common_and_empty_ones(page):
    for one, other in (("", ""), ("", "a b"), ("a b c", "x y z"), (prose(1), ADVERT)):
        words, shared = told(page, one, other)
        assert len(shared) == longest_common(*words)


@pytest.mark.slow
def test_long_texts_that_differ_everywhere_take_no_time(page):
    one, other = ("".join(f"{side}{n % 97} same{n % 5} " for n in range(8_000)) for side in "ab")
    _, shared = told(page, one, other)
    assert len(shared) <= 8_000


def test_chinese_is_cut_into_words_and_case_does_not_count(page):
    words, shared = told(page, "昨天在北京举行。ONE Two", "今天在北京举行！one two")
    assert shared[-2:] == ["one", "two"]
    assert "".join(shared[:-2]) in ("在北京举行", "天在北京举行")
    assert len(words[0]) > 4
