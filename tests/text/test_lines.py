"""Which lines are texts of their own, and which are prose that a program has wrapped."""

import textwrap
from itertools import pairwise

import pytest
from gate import slow
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from text_samples import CHINESE, FIRST, SECOND, texts_of

from dedup_filter.text.plain_text import LINE_END, MOST_LINES, join_wrapped, with_line_ends
from dedup_filter.text.reading import read

WRAPPED = "\n".join(textwrap.wrap(FIRST, 72))
LINES = ["Name: Anna Berg", "Room: B 214", "Telephone: 4411"]
LONG = "x" * 44 + "y"
WIDE = f"{LONG} {LONG} {LONG}"


def joined(text: str) -> list[str]:
    lines = join_wrapped(with_line_ends(text).split(LINE_END))
    return [each for line in lines if (each := " ".join(line.split()))]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("\n".join(LINES), LINES),
        (WRAPPED, [FIRST]),
        (f"{LINES[0]}\n{WRAPPED}\n\n{WRAPPED}\n{LINES[1]}", [LINES[0], FIRST, FIRST, LINES[1]]),
        (f"{FIRST}\n{SECOND}", [FIRST, SECOND]),
        # The end of a sentence is one of a line, unless the next begins with a small letter.
        *((f"{LONG}{end}\nThen", [f"{LONG}{end}", "Then"]) for end in (".", "!”", "?)", ":", "。")),
        (f"{LONG} e.g.\nthen", [f"{LONG} e.g. then"]),
        *((f"{LONG}{end}\nThen", [f"{LONG}{end} Then"]) for end in ("", ",", " the", "-")),
        # An entry begins with its mark or number, and prose hardly ever does.
        *((f"{LONG}\n{mark} b", [LONG, f"{mark} b"]) for mark in ("-", "•", "2.", "}", "(2)", "✓")),
        # Wrapped prose has no line that is short, or as long as a paragraph.
        (f"{LONG[1:]}\nthen", [LONG[1:], "then"]),
        *((f"{one}\n{other}", [one, other]) for one, other in ((WIDE, LONG), (LONG, WIDE))),
        (f"{LONG}\n \nthen", [LONG, "then"]),
        # Chinese characters take two columns; the blanks of a table count as one.
        (f"{CHINESE[:24]}\n{CHINESE[24:]}", [f"{CHINESE[:24]} {CHINESE[24:]}"]),
        (f"{CHINESE[2:24]}\n{CHINESE[24:]}", [CHINESE[2:24], CHINESE[24:]]),
        (f"Berg{' ' * 50}Anna\nFalk{' ' * 50}Jonas", ["Berg Anna", "Falk Jonas"]),
    ],
)
def test_texts_of_lines(text, texts):
    assert joined(text) == texts
    of_html = html.Element("div")
    pre = html.Element("pre")
    pre.text = text
    of_html.append(pre)
    assert [block.text for block in read(of_html, None, None).blocks] == texts
    broken = "<br>".join(text.replace("&", "&amp;").replace("<", "&lt;").split("\n"))
    assert texts_of(f"<p>{broken}</p>") == texts


WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=80)


@given(WORDS, st.integers(60, 100))
def test_a_sentence_wrapped_at_any_width_is_one_text(words, width):
    sentence = " ".join(words)
    lines = textwrap.wrap(sentence, width)
    assert joined("\n".join(lines)) == [sentence]
    assert joined("\n\n".join(lines)) == lines


@given(st.lists(st.text("aB. \t界。-" + LONG[0]).map(lambda text: text * 9), min_size=1))
def test_all_lines_in_order_each_end_judged_by_itself(lines):
    found = join_wrapped(lines)
    assert LINE_END.join(found) == LINE_END.join(lines)
    ends = [len(join_wrapped(pair)) == 2 for pair in pairwise(lines)]
    assert len(found) == 1 + sum(ends)


@pytest.mark.parametrize("around", ["<pre>{}</pre>", slow("<xmp>{}</xmp>")])
def test_beyond_a_number_of_lines_no_more_are_texts(around):
    page = read(around.format("a\n" * 2 * MOST_LINES), None, None)
    assert len(page.blocks) == MOST_LINES + 1
    assert page.blocks[-1].words == MOST_LINES
