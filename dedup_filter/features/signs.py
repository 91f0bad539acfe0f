"""Normalised text -> the same text, in which signs with a meaning are written as parts of words.

    for c++, 5 % off           ->  for c＋＋, 5％ off
    night: -5 °c to +3 °c      ->  night:  －5 °c to ＋3 °c
    10 – 20, 1/2               ->  10  －20, 1 ／2
    if (!ready) x <= 3         ->  if (！ready) x  ＜＝  3

Most punctuation is typography: two copies of a text may have other dashes, quotes, bullets and
separators. Some of it is the value of a line: "A+" and "A-", "3 °C" and "-3 °C". The place of a
sign decides:

    -        counts before a number, between two numbers ("10-20"), after one to three letters
             ("BBB-"), and at the end of a part ("wifi -"). All hyphens and dashes are one sign
    +        counts, but not before an item of a list, and not in a ruler ("+++")
    %        counts, with the number before it
    $        counts beside a number
    #        counts after a single letter ("C#"): elsewhere it stands for a masked number
    /        counts between digits, and before a word ("/x")
    ! ~      count before a word, and before a number
    * ^      count between words; "*" among spaces, if a number or a single letter stands beside it
    < >      count between words; a ">" among spaces as "*": it separates the names of a path, too
    = && ||  count, also in "<=", "!=", "=>"; not in a ruler
    @        the signs of an address of e-mail are parts of one word

Each becomes the full-width form of the sign, which no normal form has. Signs beyond ASCII, such as
"♯" and "😀", are words themselves (`SIGNS`), but not where they only point or decorate: an arrow at
the end of a text, an icon in front of it.

Not counted: letter case, points and commas ("1,000" and "1.000" are one number in two countries),
"?" and "!" at the end of a sentence.

Cost: 5 us for 2,400 characters of English prose.
"""

import re
from typing import NamedTuple

SIGNS = (
    # Currencies, not, plus-minus, times, division; per mille; currencies.
    "\u00a2-\u00a5\u00ac\u00b1\u00d7\u00f7\u2030\u2031\u20a0-\u20cf"
    # Arrows, mathematics but for dots and strokes, technical signs.
    "\u2190-\u2218\u221a-\u2222\u2224-\u22c4\u22c6-\u23ff"
    # Blocks, and shapes but for small bullets and pointers.
    "\u2580-\u25a9\u25ac-\u25b7\u25b9\u25bc-\u25c1\u25c8-\u25e5\u25e7-\u25ff"
    # Stars, chess, cards, music, ticks; more arrows and mathematics, Braille; hexagrams.
    "\u2600-\u2767\u2794-\u2bff\u4dc0-\u4dff"
    # Musical signs, tiles, cards, pictographs.
    "\U0001d000-\U0001d37f\U0001f000-\U0001fbef"
)
"""Beyond ASCII: symbols that are words."""
PART_SIGNS = "\u266d-\u266f！＃＄％＆＊＋－．／：＜＝＞＠＾｜～"
"""Signs that are parts of words: accidentals of notes, and the full-width forms of ASCII signs."""
NEXT_PART = "\x1f"
"""Separates the parts of a text: ASCII's unit separator, which no normal form has."""

_FULL_WIDTH = {ord(sign): ord(sign) + 0xFEE0 for sign in "!#$%&*+-./:<=>@^|~"}
_MINUS = "\u2212"
_FULL_WIDTH[ord(_MINUS)] = _FULL_WIDTH[ord("-")]
_ONE_SIGN = {**dict.fromkeys("\u2010\u2012\u2013\u2014\u2015", "-"), "\u2044": "/"}
"""Variant -> sign: dashes and the fraction slash ("½" is normalised to 1, fraction slash, 2)."""

_POINTERS = (
    "\u2190\u2192\u21d0\u21d2\u21e0\u21e2\u21e6\u21e8\u25b6-\u25bb\u25c0-\u25c5\u2794-\u27be"
    "\u27f5\u27f6\u27f8\u27f9\u2b05\u2b95\U0001f448\U0001f449"
)
_ICONS = (
    "\u25a0-\u25ac\u25c6\u25c7\u25cb-\u25cf\u25e6\u260e\u260f\u2702-\u2712\u2726-\u2749\u2757"
    "\u26a0\u26a1\u231a\u231b\u23f0-\u23f3"
    # Pictographs, but no weather, thumbs, faces and coloured circles: those are values.
    "\U0001f32d-\U0001f447\U0001f44a-\U0001f44c\U0001f44f-\U0001f533\U0001f536-\U0001f5ff"
    "\U0001f680-\U0001f7df\U0001f7ec-\U0001faff"
)
_ORNAMENT = re.compile(f"[{_POINTERS}{_ICONS}]")
_IN_FRONT = re.compile(f"(?:^|(?<={NEXT_PART}))[{_POINTERS}{_ICONS}]+ ?(?=\\w)")
_AT_END = re.compile(f"(?<=[^ :{NEXT_PART}{_POINTERS}]) ?[{_POINTERS}]+(?={NEXT_PART}|$)")


_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,64}(?<=\w)")


class _Rule(NamedTuple):
    """The places of a sign where it counts."""

    sign: str
    pattern: re.Pattern[str]
    """Begins with the sign: such a pattern is searched ten times as fast as one that begins with
    what stands before it."""
    before: str = ""
    """Separates it from the word before it."""
    after: str = ""


def _after(sign: str, *befores: str) -> str:
    """Return a pattern, to follow a sign, that one of some patterns stands before the sign."""
    return "(?:" + "|".join(f"(?<={before}{sign})" for before in befores) + ")"


_OPERAND, _WORD = (r"\d ", r"(?<!\w)[^\W\d_] "), (r"[\w)]", r"[\w)] ")
_NEXT_OPERAND = r"(?= (?:\d|[^\W\d_](?!\w)))"


def _among(sign: str) -> str:
    """Return a pattern, to follow a sign among spaces, that joins an operand and a word.

    An operand is a number or a single letter.
    """
    return rf"{_after(sign, *_OPERAND)}(?= \w)|(?<=\w {sign}){_NEXT_OPERAND}"


def _between(sign: str) -> str:
    """Return a pattern, to follow a sign, that it joins two words, or an operand and a word."""
    return rf"(?<=\w{sign})(?=\w)|{_among(sign)}"


def _dashes(dash: str) -> tuple[_Rule, ...]:
    between = _after(dash, r"\d", r"\d ") + r" ?(?=\d)"
    # In scripts without spaces, a word may stand directly before a number.
    unspaced = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff"
    space = " ?" if dash == _MINUS else ""
    number = rf"(?<![^\W{unspaced}]{dash})(?<![)\]%{dash}]{dash}){space}(?=[.$€£¥]?\d)"
    begins = (" ", NEXT_PART, "^", f" {dash}", f"{NEXT_PART}{dash}", f"^{dash}")
    at_end = f"{dash}?" + _after(dash, *begins) + f"(?={NEXT_PART}|$)"
    letters = (rf"(?<!\w)[^\W\d_]{{{count}}}" for count in (1, 2, 3))
    grade = _after(dash, *letters) + rf"(?=[ ,;.)\]{NEXT_PART}]|$)"
    return (
        _Rule(dash, re.compile(f"{dash}(?:{between}|{number}|{at_end})"), " "),
        _Rule(dash, re.compile(f"{dash}(?:{grade}|{_among(dash)})")),
    )


_RULES = (
    *_dashes("-"),
    *_dashes(_MINUS),
    _Rule(_MINUS, re.compile(_MINUS)),
    _Rule("+", re.compile(r"\+(?<=\w\+)(?=\w)"), " ", " "),
    _Rule("+", re.compile(rf"\+\+?(?!\+)(?<!\+\+\+)(?!{_after('[+]', '^', NEXT_PART)} )")),
    _Rule("$", re.compile(r"\$(?:(?= ?\d)|" + _after(r"\$", r"\d", r"\d ") + ")"), " ", " "),
    _Rule("#", re.compile(r"#(?<=(?<!\w)[^\W\d_]#)(?![\w#])")),
    _Rule("/", re.compile(rf"/(?:(?<=\d/)(?=\d)|{_after('/', '^', ' ', NEXT_PART)}(?=\w))"), " "),
    _Rule("!", re.compile(r"!(?<![\w!?]!)(?=\w)")),
    _Rule("~", re.compile(r"~(?=\d)"), " "),
    _Rule("*", re.compile(rf"\*(?:{_between('[*]')})"), " ", " "),
    _Rule("^", re.compile(r"\^(?<=[\w)]\^)(?=\w)"), " ", " "),
    *(_Rule("=", re.compile(sign + "={1,2}(?!=)"), " ", " ") for sign in "<>!"),
    _Rule("=", re.compile("=(?<!==)={0,2}(?!=)>?"), " ", " "),
    _Rule("<", re.compile(f"<{_after('<', *_WORD)}" + r"(?= ?[\w(.$€-])"), " ", " "),
    _Rule(">", re.compile(rf">(?:{_between('>')}|(?<!>>)(?=\d))"), " ", " "),
    _Rule("&", re.compile("&&(?<!&&&)(?!&)"), " ", " "),
    _Rule("|", re.compile(r"\|\|(?<!\|\|\|)(?!\|)"), " ", " "),
)


def with_signs(text: str, beyond_ascii: str) -> str:
    """Return a normalised text with its signs as parts of words; `beyond_ascii` is its rest.

    >>> with_signs("c++ a- x<3", "")
    'c＋＋ a－ x ＜ 3'
    """
    if _ORNAMENT.search(beyond_ascii):
        text = _AT_END.sub("", _IN_FRONT.sub("", text))
    for variant, sign in _ONE_SIGN.items() if beyond_ascii else ():
        if variant in beyond_ascii:
            text = text.replace(variant, sign)
    if "%" in text:
        text = text.replace("%", "％").replace(" ％", "％")
    if "@" in text:
        text = " ".join(_with_address(word) if "@" in word else word for word in text.split(" "))
    for rule in _RULES:
        if rule.sign in text:
            text = _applied(rule, text)
    return text


def _with_address(word: str) -> str:
    return _ADDRESS.sub(lambda found: found[0].translate(_FULL_WIDTH), word)


def _applied(rule: _Rule, text: str) -> str:
    return rule.pattern.sub(
        lambda found: f"{rule.before}{found[0].strip().translate(_FULL_WIDTH)}{rule.after}", text
    )
