"""Lines -> texts: a line is a text of its own, unless wrapped prose goes on.

    Name: Anna Berg          a text
    Room: B 214              a text
                             an empty line always separates
    Members of the faculty can be reached by      one text: two lines
    telephone during office hours.

A line was wrapped if it is about as wide as wrapped text and its sentence goes on in the next line:
the next line begins with a letter, and with a small one if the first line ends as a sentence does.
The rule is the same for the lines of HTML (`br`, and line ends in `pre`) and of plain text. It
compares two lines at a time, so the time is linear.

On 1,000 paragraphs in English and Chinese, wrapped at 60 to 100 columns, 94 % of the line ends are
recognised; nearly all the others are at the end of a sentence. On 222 real front pages 6 % of the
line ends by `br` are taken for wrapped, about half of them rightly.
"""

from collections.abc import Sequence

from dedup_filter.text.plain_text import columns

LINE_END = "\u2028"
"""Unicode's line separator: white space to `str.split`. A page that has one means a line end."""
MOST_LINES = 100_000
"""A page is cut at this many line ends; the rest is one text. Each text takes 300 bytes of
memory."""

_NARROW, _WIDE = 45, 120
"""A wrapped line has this many columns; the line after it at most the second number. A number of
words would not fit all: with 8 to 25 words a fourth of a manual at 60 columns falls apart."""
_SENTENCE_ENDS = ".!?:;…。！？：；"
_CLOSING = "\"'”’»)]）」』】"


def with_line_ends(text: str) -> str:
    """Return a plain text with `LINE_END` for each end of a line, however it is written."""
    return LINE_END.join(text.splitlines())


def text_blocks(text: str) -> list[str]:
    """Return the blocks of a plain text: its paragraphs and lines."""
    lines = join_wrapped(with_line_ends(text).split(LINE_END, MOST_LINES))
    return [block for line in lines if (block := " ".join(line.split()))]


def join_wrapped(lines: Sequence[str], texts: Sequence[str] | None = None) -> list[str]:
    """Join lines of wrapped prose; other lines, also empty ones, stay as they are.

    `texts`: the visible text of each line; None: the lines themselves.
    """
    seen = [" ".join(text.split()) for text in (lines if texts is None else texts)]
    widths = list(map(columns, seen))
    joined = [[lines[0]]]
    for number, line in enumerate(lines[1:]):
        may_go_on = _NARROW <= widths[number] <= _WIDE >= widths[number + 1] > 0
        if may_go_on and _goes_on(*seen[number : number + 2]):
            joined[-1].append(line)
        else:
            joined.append([line])
    return list(map(LINE_END.join, joined))


def _goes_on(before: str, after: str) -> bool:
    """Return whether a sentence of one line goes on in the next line."""
    is_over = before.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS
    return after[0].islower() if is_over else after[0].isalpha()
