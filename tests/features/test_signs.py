"""Signs in texts -> words: values count, typography does not."""

import unicodedata
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features.tokens import tokens, tokens_of_parts
from dedup_filter.text.masks import masked
from dedup_filter.text.plain_text import normalize

NAMED = (
    "CHESS",
    "SUIT",
    "DIE FACE",
    "FACE WITH",
    "UPWARDS ARROW",
    "DOWNWARDS ARROW",
    "MALE SIGN",
    "MUSIC",
    "-THAN OR EQUAL TO",
    "BALLOT",
    "CURRENCY",
    "TRIGRAM",
)
SYMBOLS = [
    symbol
    for symbol in map(chr, chain(range(0x2000, 0x2C00), range(0x1D100, 0x1FA00)))
    if unicodedata.category(symbol)[0] == "S"
    and any(name in unicodedata.name(symbol, "") for name in NAMED)
    and normalize(symbol) == symbol
]
"""The symbols with such names in Unicode."""
VALUES = {
    "numbers": ["3 °C", "-3 °C", "+3 °C", "~3 °C", "$ 3 °C", "€ 3 °C", "3 % °C", "3 ‰ °C"],
    "two numbers": ["3 5", "3-5", "3/5", "3 + 5", "3 * 5", "3 = 5", "3 < 5", "3 > 5", "3 × 5"],
    "grades": ["A", "A+", "A-", "A++", "A#"],
    "languages": ["For C", "For C++", "For C#"],
    "code": ["x y", "x = y", "x == y", "x != y", "x <= y", "x >= y", "x && y", "x || y", "x !y"],
    "formulas": ["m c", "m + c", "m - c", "m * c", "m = c", "m^c", "m < c", "m > c"],
    "addresses": ["j.doe@x.example", "j-doe@x.example", "j_doe@x.example", "j+doe@x.example"],
    "patterns": ["^a+b*$", "^a*b+$"],
    "paths": ["rm ./x", "rm /x"],
    "notes": ["F", "F♯", "F♭"],
    "symbols": [*"+-😀😡♂♀♠♥↑↓♔♞✓✗★☆⚀⚁"],
}
SAME = {
    "minus": ["night: -3 °C", "night: −3 °C", "Night: –3 °C", "night: − 3 °C"],
    "ranges": ["10-20 km", "10–20 km", "10 – 20 km", "10 - 20 km", "10—20 km"],
    "grades": ["BBB-", "BBB−"],
    "per cent": ["5%", "5 %", "5\xa0%"],
    "prices": ["Price: €5", "Price € 5", "price : €\xa05"],
    "dollars": ["Price: $5", "Price $ 5"],
    "half": ["½ inch", "1/2 inch"],
    "none": ["-", "–", "—", "−"],
    "formula": ["m-c", "m–c"],
    "dashes": ["one - two", "one – two", "one—two", "one — two", "one-two", "one two", "one, two"],
    "pager": ["Read more →", "Read more", "Read more »", "→ Read more", "Read more >"],
    "rulers": ["News", "+++ News +++", "==== News ====", "---- News ----"],
    "thousands": ["1,000", "1.000"],
}


def words(text):
    return tokens(normalize(text))


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("line", ["{}", "Value: {}", "The value is {} here.", "({})"])
def test_values_that_differ_in_a_sign_have_other_words(kind, line):
    for one, other in combinations(VALUES[kind], 2):
        assert words(line.format(one)) != words(line.format(other)), (one, other)


@given(st.lists(st.sampled_from(SYMBOLS), min_size=1, max_size=6))
def test_each_symbol_is_a_word(symbols):
    assert words(" ".join(symbols)) == symbols
    apart = [each for each in symbols if each not in "♭♮♯"]  # several of a note are one, as "++" is
    assert words(f"value: {''.join(apart)}") == ["value", *apart]


@pytest.mark.parametrize("kind", SAME)
def test_typography_of_a_value_changes_no_word(kind):
    assert len({tuple(words(each)) for each in SAME[kind]}) == 1


WORDS = st.lists(
    st.sampled_from("café the Über fox don't 7 B12 Привет 2024".split()), min_size=2, max_size=8
)
BETWEEN = [" ", "  ", "\xa0", ", ", "; ", ": ", "… ", "... ", ". ", " · ", " • ", " | ", " “", "” "]
BESIDE = ["", "- ", "* ", "• ", "+ ", "→ ", "► ", "» ", "▪ ", "📅 ", "📌", "(", "“", '"', "— "]
AFTER = ["", ".", ":", "…", "...", ")", "”", '"', " →", " »", " ›", " ▶", "!", "?"]


@given(WORDS, st.data())
def test_no_template_adds_a_word(said, data):
    def written():
        parts = [data.draw(st.sampled_from(BETWEEN)) + word for word in said[1:]]
        front, end = (data.draw(st.sampled_from(each)) for each in (BESIDE, AFTER))
        return f"{front}{said[0]}{''.join(parts)}{end}"

    assert words(written()) == words(written()) == [normalize(word) for word in said]


@given(st.lists(st.sampled_from(["-", "+", "- item", "+ item", "a-", "→", "x →", "📅 x", "5 %"])))
def test_each_part_has_its_own_beginning_and_end(texts):
    found = tokens_of_parts([*texts, "网"])
    assert found.words == [word for text in [*texts, "网"] for word in tokens(text)]


@pytest.mark.parametrize(
    "line", ["1,037 views", "© 2019–2026 Town", "Updated 2 days ago", "阅读2835", "3 Comments"]
)
def test_a_masked_number_is_no_sign(line):
    assert masked(line) != line
    assert not any("＃" in word for word in words(masked(line)))
