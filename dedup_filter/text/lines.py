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

To compare two pages, lines lose text that changes by itself: an age ("3 hours ago") differs at each
fetch. A time of day or a number may distinguish two concerts, two prices: so they are left out only
with the option `ignore_numbers`. Sentences stay whole. The patterns cover the languages in which
site software writes ages most often. In other languages lines are compared whole.
"""

import re
from collections.abc import Sequence
from itertools import compress

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

_AGES = {
    " ago": r"(?:\d+|an?)(?: few)? ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w"
    r"|weeks?|mo|months?|y|yrs?|years?) ago",
    "vor ": r"vor (?:\d+|ein(?:er|em)) (?:sek(?:unden?|\.)?|min(?:uten?|\.)?|std\.?|stunden?"
    r"|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)",
    "il y a ": r"il y a (?:\d+|une?) (?:s|sec|secondes?|min|minutes?|h|heures?|j|jours?"
    r"|semaines?|mois|ans?)",
    "hace ": r"hace (?:\d+|una?) (?:s|segundos?|min|minutos?|h|horas?|días?|semanas?|mes(?:es)?"
    r"|años?)",
    "há ": r"há (?:\d+|uma?) (?:segundos?|min|minutos?|h|horas?|dias?|semanas?|m(?:ê|e)s(?:es)?"
    r"|anos?)",
    " fa": r"(?:\d+|un['oa]?) ?(?:second[oi]|min|minut[oi]|or[ae]|giorn[oi]|settiman[ae]|mes[ei]"
    r"|ann[oi]) fa",
    " geleden": r"(?:\d+|een) (?:seconden?|min|minu(?:ut|ten)|uur|uren|dag(?:en)?|we(?:ek|ken)"
    r"|maand(?:en)?|ja(?:ar|ren)) geleden",
    " назад": r"(?:\d+ )?(?:секунд[уы]?|мин(?:ут[уы]?|\.)?|час(?:а|ов)?|ч\.?|день|дня|дней"
    r"|недел[юиь]|месяц(?:а|ев)?|года?|лет) назад",
    " temu": r"(?:\d+ )?(?:sek(?:und[yę]?|\.)?|min(?:ut[yę]?|\.)?|godz(?:in[yę]?|\.)?|dni|dzień"
    r"|tydzień|tygodni[ea]?|miesi(?:ąc[e]?|ęcy)|lata?|rok) temu",
    " önce": r"\d+ (?:saniye|sn|dakika|dk|saat|gün|hafta|ay|yıl) önce",
    "前": r"(?<!\d)(?:\d{1,3}|几|幾|半) ?[个個]?(?:秒钟?|秒鐘?|分钟?|分鐘?|小时|小時|時間|天|日|周"
    r"|週間?|星期|[个個かヶ]?月|年)[以之]?前",
    "전": r"(?<!\d)\d{1,3} ?(?:초|분|시간|일|주|개월|달|년) ?전",
}
"""A sign that each match contains -> a pattern for ages as pages write them."""
_PATTERNS = {
    sign: re.compile(age if sign in ("前", "전") else rf"\b(?:{age})(?!\w)")
    for sign, age in _AGES.items()
}
_NUMBER = re.compile(r"(?<![a-z\d])\d+(?:[.,:'’]\d+)*(?:[km](?![a-z])|(?![a-z\d]))")
"""A number, but not the digits of a code such as "b12"."""


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


def compared_lines(
    passages: Sequence[str], are_lines: Sequence[bool], *, with_numbers: bool = True
) -> list[str]:
    """Return the text to compare of normalised passages; `are_lines`: whether each is a line."""
    # A normal form contains no line end.
    lines = "\n".join(compress(passages, are_lines))
    left = lines
    for sign, pattern in _PATTERNS.items():
        if sign in left:
            left = pattern.sub("", left)
    if not with_numbers:
        left = _NUMBER.sub("", left)
    if left == lines:
        return list(passages)
    compared = iter(left.split("\n"))
    return [
        next(compared) if is_line else each
        for each, is_line in zip(passages, are_lines, strict=True)
    ]
