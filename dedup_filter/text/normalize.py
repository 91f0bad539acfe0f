"""Text -> normal form: what "the same text" means.

Two texts are the same when they differ only in letter case, white space, Unicode
compatibility variants (full-width letters, ligatures, composed or decomposed accents) and
characters that nobody sees: soft hyphens, zero-width joiners and spaces, direction marks,
variation selectors, byte order marks. Unpaired surrogates, which no encoding can write,
become replacement characters, so every normal form can be encoded. Of heaps of marks on one letter,
which no language has, a long text keeps the first ones.

Source: Unicode Standard, D146 (toNFKC_Casefold), with white space collapsed.
Cost: 10 us for 5,000 characters of English, 60 us of Chinese. Most Western texts have a few kinds
of characters beyond ASCII (dashes, quotation marks, accented letters), each with the same normal
form wherever it stands. Then the text is normalised as bytes, whose ASCII a table folds.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import combining
from unicodedata import normalize as to_form

__all__ = ["normalize", "normalize_parts"]

_ASCII = bytes(range(0x80))
_FOLDED_ASCII = bytes(
    0x20 if code < 0x80 and chr(code).isspace() else code for code in range(256)
).lower()
"""A table for bytes of UTF-8: letters of ASCII become small, its white space a space."""
_FEW = 0.125
"""Share of characters beyond ASCII up to which they are looked at one by one."""
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
_UNSEEN_RUNS = re.compile(f"[{_UNSEEN}]+")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNWANTED = re.compile(f"[{_UNSEEN}\ud800-\udfff]")
_MARKS = "\u0300-\u036f\u0483-\u0489\u20d0-\u20ff"
_EASY = re.compile(f"(?![{_UNSEEN}{_MARKS}])[\x80-\u052f\u2000-\u2bff]")
"""Latin, Greek, Cyrillic, punctuation and symbols, but no marks: nothing that composes with the
character before it."""

_BETWEEN_PARTS = "\0"
"""No page has it (see `parse`), nothing composes with it, and it is its own normal form."""

_MOST_MARKS = 30
"""In a row (UAX #15, Stream-Safe Text Format: no language needs more). To bring marks in order
takes a time that grows with their square: 80,000 in a row 8 s."""
_LONG = 10_000
"""Characters of a text in which the marks can take 0.1 s or more."""
_RUN_OF_MARKS = re.compile(rf"\W{{{_MOST_MARKS + 1},}}")
"""No mark is a word character to `re`, so a run of marks is within a match; most are no marks."""

# What unicodedata takes 100 ns a character for, as soon as one of them has such a variant.
# Chinese pages are full of these eight; taking them first leaves most texts none.
_COMMON_VARIANTS = tuple((variant, to_form("NFKD", variant)) for variant in "，：；！？（）…")

# All that str.split() splits at and NFKC leaves as it is, but "\n" and " ".
_OTHER_SPACES = "\t\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u1680\u2028\u2029"


def normalize(text: str) -> str:
    r"""Bring a text into its normal form.

    >>> normalize("  Ｄａｔａ\u00adbase\n\nﬁles ")
    'database files'
    """
    body = text.encode("utf-8", "surrogatepass")
    beyond_ascii = body.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if len(beyond_ascii) <= _FEW * len(text):
        forms = {character: _form_anywhere(character) for character in set(beyond_ascii)}
        if None not in forms.values():
            return _replaced(_ascii_normalized(body).decode(), forms)
    return _collapse(_fold(_without_heaps(_without_unseen(text, beyond_ascii))))


def normalize_parts(texts: Sequence[str]) -> list[str]:
    r"""Bring the parts of a text into their normal forms, all at once.

    They are those of the single parts, but for heaps of marks: how long the text is is asked of all
    parts together.

    >>> normalize_parts(["One ", "", "ﬁve"])
    ['one', '', 'five']
    """
    parts = normalize(_BETWEEN_PARTS.join(texts)).split(_BETWEEN_PARTS)
    if len(parts) != len(texts):  # none at all, or what stands between them is in one
        return list(map(normalize, texts))
    return [part.strip(" ") for part in parts]


def _ascii_normalized(body: bytes) -> bytes:
    """Normalise what is ASCII in a text of UTF-8."""
    folded = body.translate(_FOLDED_ASCII).strip(b" ")
    return b" ".join(folded.split()) if b"  " in folded else folded


def _replaced(text: str, forms: dict[str, str | None]) -> str:
    for character, form in forms.items():
        if form and form != character:
            text = text.replace(character, form)
    return text


@lru_cache(maxsize=4096)
def _form_anywhere(character: str) -> str | None:
    """Give the normal form of a character beyond ASCII, if that is the same in any text."""
    if not _EASY.fullmatch(character):
        return None
    form = _fold(character)
    is_easy = (c.isascii() or _EASY.fullmatch(c) for c in form)
    return form if all(is_easy) and form.split() == [form] else None


def _without_unseen(text: str, beyond_ascii: str) -> str:
    if _UNWANTED.search(beyond_ascii):
        text = _UNSEEN_RUNS.sub("", _SURROGATES.sub("\ufffd", text))
    return text


def _without_heaps(text: str) -> str:
    """Leave out the marks beyond so many in a row. Cost: 14 ns a character of a long text."""
    return _RUN_OF_MARKS.sub(_first_marks, text) if len(text) > _LONG else text


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


def _collapse(text: str) -> str:
    """Make white space single spaces; mostly, only the ends of blocks are not."""
    text = text.replace("\n", " ").strip(" ")
    if "  " in text or any(map(text.__contains__, _OTHER_SPACES)):
        text = " ".join(text.split())
    return text
