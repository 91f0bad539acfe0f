"""Text -> its normal form, how many words it has, and its lines -> texts.

Normal form. Two texts are the same if they differ only in letter case, white space, Unicode
compatibility variants (full-width letters, ligatures, composed or decomposed accents) and
invisible characters: soft hyphens, zero-width joiners and spaces, direction marks. Source: Unicode
Standard, D146 (toNFKC_Casefold), with white space collapsed. Unpaired surrogates become replacement
characters, so every normal form can be encoded.

Most Western texts have few different characters beyond ASCII, each with the same normal form
wherever it stands. Such a text is normalised as bytes, with a table for ASCII.

Words. Scripts with spaces have as many words as white space leaves pieces. In Chinese, Japanese,
Thai and the like each character counts as a fraction of a word, its average share, so a rule about
lengths means the same in every language. Korean has spaces.

Lines. A line is a text of its own, unless wrapped prose goes on:

    Name: Anna Berg          a text
    Room: B 214              a text
                             an empty line always separates
    Members of the faculty can be reached by      one text: two lines
    telephone during office hours.

A line was wrapped if it is about as wide as wrapped text and its sentence goes on in the next line:
the next line begins with a letter, and with a small one if the first line ends as a sentence does.
The rule is the same for the lines of HTML (`br`, and line ends in `pre`) and of plain text. It
compares two lines at a time, so the time is linear. On 1,000 paragraphs in English and Chinese,
wrapped at 60 to 100 columns, 94 % of the line ends are recognised; nearly all the others are at the
end of a sentence. On 222 real front pages 6 % of the line ends by `br` are taken for wrapped, about
half of them rightly.

Cost: 10 us to normalise 5,000 characters of English, 60 us of Chinese; 0.2 us to count the words
of an English line, 0.7 us of a Chinese one.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import combining
from unicodedata import normalize as to_form

_ASCII = bytes(range(0x80))
_FOLDED_ASCII = bytes(
    0x20 if code < 0x80 and chr(code).isspace() else code for code in range(256)
).lower()
"""A table for bytes of UTF-8: capital letters of ASCII become small, its white space spaces."""
_FEW = 0.125
"""Up to this share of characters beyond ASCII, each character is replaced separately."""
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
_OFTEN_UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u2060\u2066\u2067\u2068\u2069\ufe0f\ufeff\u00ad"
"""The unseen characters that pages have within their words."""
_UNSEEN_RUNS = re.compile(f"[{_UNSEEN}]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNWANTED = re.compile(f"[{_UNSEEN}\ud800-\udfff]")
_MARKS = "\u0300-\u036f\u0483-\u0489\u20d0-\u20ff"
_EASY = re.compile(f"(?![{_UNSEEN}{_MARKS}])[\x80-\u052f\u2000-\u2bff]")
"""Latin, Greek, Cyrillic, punctuation and symbols without marks: none composes with the character
before it."""

_BETWEEN_PARTS = "\0"
"""No page has it (see `parse`), no character composes with it, and it is its own normal form."""
_MOST_MARKS, _LONG = 30, 10_000
"""Marks in a row that are kept in a text longer than `_LONG` (UAX #15, Stream-Safe Text Format: no
language needs more). The time to sort marks grows with the square of their number: 80,000 take 8 s.
To search them takes 14 ns a character."""
_RUN_OF_MARKS = re.compile(rf"\W{{{_MOST_MARKS + 1},}}")
"""A superset of the runs of marks: to `re` no mark is a word character."""

# If one character of a text has a compatibility variant, unicodedata takes 100 ns for each of them.
# Chinese pages are full of these eight variants, and most have no others.
_COMMON_VARIANTS = tuple((variant, to_form("NFKD", variant)) for variant in "，：；！？（）…")

_IDEOGRAPHS = re.compile(
    "[\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff]+"
)
# Thai, Lao and Tibetan; Burmese; Khmer; the Tai scripts.
_UNSPACED_LETTERS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf]+"
)

# One range over both sets is searched three times as fast as the many ranges.
_UNSPACED = re.compile("[\u0e00-\u1aaf\u2e80-\U0003ffff]")

# A Chinese word of running text is 1.5 to 1.7 characters long; a Thai one about four.
_HUNDREDTHS_PER_IDEOGRAPH, _HUNDREDTHS_PER_LETTER = 60, 25

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


def normalize(text: str) -> str:
    r"""Return the normal form of a text.

    >>> normalize("  Ｄａｔａ\u00adbase\n\nﬁles ")
    'database files'
    """
    body = text.encode("utf-8", "surrogatepass")
    beyond_ascii = body.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if len(beyond_ascii) <= _FEW * len(text):
        characters = set(beyond_ascii)
        forms = {each: form for each in characters if (form := _form_anywhere(each))}
        if len(forms) == len(characters):
            return _replaced(body, forms)
    if _UNWANTED.search(beyond_ascii):
        text = _UNSEEN_RUNS.sub("", _SURROGATES.sub("\ufffd", text))
    if len(text) > _LONG:
        text = _RUN_OF_MARKS.sub(_first_marks, text)
    return " ".join(_fold(text).split())


def normalize_parts(texts: Sequence[str]) -> list[str]:
    r"""Return the normal form of each part of a text.

    >>> normalize_parts(["One ", "", "ﬁve"])
    ['one', '', 'five']
    """
    parts = normalize(_BETWEEN_PARTS.join(texts)).split(_BETWEEN_PARTS)
    if len(parts) != len(texts):  # no parts, or one that has the separator itself
        return list(map(normalize, texts))
    return [part.strip(" ") for part in parts]


def without_unseen(text: str) -> str:
    r"""Return a text without the unseen characters that pages have; its letter case stays.

    To search for these few, one by one, takes a tenth of the time of a pattern of all.

    >>> without_unseen("\u200b33 co\u00adoperate")
    '33 cooperate'
    """
    if text.isascii():
        return text
    found = [character for character in _OFTEN_UNSEEN if character in text]
    for character in found:
        text = text.replace(character, "")
    return " ".join(text.split()) if found else text


def count_words(text: str) -> float:
    """Count the words of a text; characters of scripts without spaces count in parts.

    >>> count_words("two words"), count_words("近似重复"), count_words("用 lxml 解析")
    (2, 2.4, 2.8)
    """
    if is_spaced(text):
        return len(text.split())
    rest, ideographs = _take_out(_IDEOGRAPHS, text)
    hundredths = _HUNDREDTHS_PER_IDEOGRAPH * ideographs
    if not rest.isascii():
        rest, letters = _take_out(_UNSPACED_LETTERS, rest)
        hundredths += _HUNDREDTHS_PER_LETTER * letters
    return (100 * len(rest.split()) + hundredths) / 100


def is_spaced(text: str) -> bool:
    """Return whether a text has no character of a script without spaces."""
    return text.isascii() or not _UNSPACED.search(text)


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
    widths = list(map(_columns, seen))
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


def _columns(text: str) -> int:
    """Return how wide a text is in a terminal, where Chinese characters take two columns."""
    return len(text) if is_spaced(text) else len(text) + _take_out(_IDEOGRAPHS, text)[1]


def _replaced(body: bytes, forms: dict[str, str]) -> str:
    """Normalise the ASCII of a text in UTF-8, and replace the other characters."""
    folded = body.translate(_FOLDED_ASCII).strip(b" ")
    text = (b" ".join(folded.split()) if b"  " in folded else folded).decode()
    for character, form in forms.items():
        if form != character:
            text = text.replace(character, form)
    return text


@lru_cache(maxsize=4096)
def _form_anywhere(character: str) -> str | None:
    """Return the normal form of a character beyond ASCII; None: it depends on the text around."""
    if not _EASY.fullmatch(character):
        return None
    form = _fold(character)
    is_easy = (c.isascii() or _EASY.fullmatch(c) for c in form)
    return form if all(is_easy) and form.split() == [form] else None


def _first_marks(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if combining(character) else 0
        if marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


def _fold(text: str) -> str:
    for variant, plain in _COMMON_VARIANTS:
        text = text.replace(variant, plain)
    folded = to_form("NFKC", text).casefold()
    # Folding case can undo the composition of the first step ("ᾳ", "İ").
    composed = to_form("NFKC", folded)
    return folded if composed == folded else composed.casefold()


def _take_out(runs: re.Pattern[str], text: str) -> tuple[str, int]:
    """Replace each run by a space, and count the characters of the runs."""
    rest, count = runs.subn(" ", text)
    return rest, len(text) - len(rest) + count
