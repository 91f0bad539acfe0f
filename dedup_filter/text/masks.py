"""A line -> the line without what changes by itself: ages, counters, stamps, years of a copyright.

    Anna B. · 3 hours ago                    Anna B. · #
    1,037 views                              #
    来源：新城网 2026年11月4日 阅读 2835        来源：新城网 2026年11月4日 阅读 #
    Last updated: 3 May 2026, 14:03          Last updated: #
    © 2019–2026 The Town                     © # The Town

Each visit of a page finds another age and another number of views. They say nothing of the page, so
a line is compared, identified and counted without them. Any other number or date is a value: a
price, the date of a concert, a number of rooms. Hence the rule: a number is masked only beside a
sign, a word for what changes by itself (`mask_words`).

    age        with the words for "ago". "yesterday" and "9h" only if they are a part of the line,
               and not in a table, where "3d" is how long something takes
    counter    with a word for what sites count, if both end a part of the line: "3 comments", but
               not "5 views of the lake". If the word counts other things, too, both are the whole
               part, and in no table: "5 votes", but not "won by 5 votes", nor "Yes | 5 votes"
    stamp      a date or a time after a word for touching or fetching the page: "updated", but not
               "published" or "until"
    copyright  years after its sign, but not in a table: "Photograph | © 1911 Studio"
    tool       the version of the tool that has made the page: "created using Sphinx 1.1.3"

A part of a line lies between "·", ",", brackets and the like. When in doubt a number stays: a page
that is kept in vain costs less than a page that is lost.

The signs of a line say which languages and which of their patterns are needed. A pattern is made
when a page needs it first, in 1 to 20 ms: those of all languages together would take 200 ms.

Cost: 2 us for a line without numbers, 5 us for another, 10 to 20 us if it has signs. A line longer
than `_LONGEST` characters is left as it is, so the time is bounded.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import NamedTuple

from dedup_filter.text import mask_words

_Sign = tuple[int, str]
"""The number of the step that looks for it, and its language."""

_LONGEST, _LONGEST_LABEL = 256, 40
"""Characters. Lines up to this length are cached (see `blocks`), so most are masked once."""
_MOST_SIGNS = 8
"""A line with more has the words of many languages. Of 9,142 lines with numbers, one had five."""

_MASK = "#"
"""Stands for what is masked. It is no word, so a counter has no words to compare."""

_BREAKS = r"·•|⋅,;:/()（）\[\]–—\"“”。，、；：>»&+#\d-"
_BEGIN = rf"(?:^|(?<=[{_BREAKS}])|(?<=[{_BREAKS}] ))"
_END = rf"(?=\s*(?:$|[！.!?…~{_BREAKS}]))"
"""The beginning and the end of a part of a line; numbers are parts, too."""
_END_OF_COUNTER = rf"(?:{_END}|(?=\s(?:by|on|to|for|so far|yet|today|total|sur|zu|sobre|su|op)\s))"
"""What may follow a counter: "3 comments on a text"."""
_NUMBER = (
    r"(?<![a-z\d])(?<!\d[.,:/-])(?:\d{1,3}(?:[ .,'’]\d{3})+|\d+(?:[.,]\d+)?)(?!\d)"
    r"(?:\+| ?[万萬億亿천만]| ?(?:k|m|mio\.?|mln|tsd\.?|mil|тыс\.?)(?!\w))?\+?"
)
_SHORT_AGE = re.compile(
    r"(^|[·•|⋅] ?|^(?:\S+ ){0,2}[^\W\d_]\. |^@\S+ )"
    r"(?:[1-5]?\d ?(?:s|m|min)|1?\d ?h|2[0-3] ?h|[12]?\d ?d|30 ?d|[1-5]?\d ?w|1?\d ?(?:mo|y|yr))"
    r"(?=$| ?[·•|⋅])"
)
"""An age without "ago", after an initial or between separators. A day is "1d", so "24h" is none."""
_MAY_BE_SHORT_AGE = re.compile(r"\d ?(?:[smhdwy]|min|mo|yr)(?:$| ?[·•|⋅])")
_BEFORE_CAPITAL = re.compile(
    r"(?<![\w.,:/-])\d[\d.,]*[kKM]?\+? ([a-zß-ÿа-я]+(?: [a-zß-ÿа-я]+){0,2})(?= ?[A-ZÀ-ÞА-Я])"
)
"""A number and small letters before a capital one, which begins a part: "31 views Share"."""
_COPYRIGHT = re.compile(
    r"((?:©|copyright(?! (?:act|law))|版权所有)[^\d·•|⋅]{0,40}|\(c\) ?)"
    r"(?:19|20)\d\d(?: ?[-–—/,&] ?(?:(?:19|20)\d\d|\d\d(?!\d)|present))*(?!\d)",
    re.IGNORECASE,
)
_NOTICE = re.compile(r"\W*(?:©|copyright\W|\(c\)|版权所有)", re.IGNORECASE)
_HAS_DIGIT = re.compile(r"\d")
_ANY_NUMBER = re.compile(r"\d+(?:[.,:'’]\d+)*")
_NUMBER_ALONE = re.compile(r"(?<![a-z\d])\d+(?:[.,:'’]\d+)*(?:[km](?![a-z])|(?![a-z\d]))")
"""A number, but not the digits of a code such as "b12"."""
_IS_DATE = re.compile(
    r"\d\d?[:時时点] ?\d\d|\d{1,4}([./-])\d\d?\1\d{1,4}|\d[年月년월]|^\W*(?:19|20)\d\d$"
)
_CLOCK = (
    r"\d(?:[\d.:/-]*\d)?"
    r"(?:[年月日号號時时点點分秒년월일시분초]|(?:st|nd|rd|th|h|am|pm|z)(?![^\W\d_]))?"
)
_TAIL = r"[^\s\d.,;:·|/()]{0,9}"
"""The end of a word: letters, and the vowel signs and apostrophes of some scripts."""
_MAKERS = "on by at in from with using am von le par en el por em da il op door за"
"""What follows "generated"."""
_WITHOUT_SPACES = ("zh", "ja", "ko", "th")
"""Languages whose words are signs within longer words, too."""
_UNSPACED = re.compile("[\u0e00-\u0e7f\u2e80-\ud7ff]")
_PUNCTUATION = str.maketrans({**dict.fromkeys('.:：()（）[]|·•⋅,;/–—-+=~“”"!?…', " "), "©": " © "})


def begins_as_notice(text: str) -> bool:
    """Return whether a text begins with the sign of a copyright, as the foot of a page does."""
    return _NOTICE.match(text) is not None


def masked(line: str, *, in_table: bool = False) -> str:
    """Return a line without what changes by itself.

    >>> masked("3 Comments"), masked("Updated 2 days ago"), masked("Room 3")
    ('#', 'Updated #', 'Room 3')
    """
    if len(line) > _LONGEST:
        return line
    has_digit, lower = _HAS_DIGIT.search(line) is not None, line.lower()
    words = lower.translate(_PUNCTUATION).split() if has_digit else lower.split()
    if has_digit:
        line = _BEFORE_CAPITAL.sub(_mask_counted, line)
        if not in_table and _MAY_BE_SHORT_AGE.search(line):
            line = _SHORT_AGE.sub(rf"\1{_MASK}", line)
    signs = ((_STEPS[number], language) for number, language in _signs(has_digit).of(lower, words))
    due = [each for each in signs if (each[0].in_tables if in_table else each[0].in_lines)]
    for step, language in due if len(due) <= _MOST_SIGNS else ():
        line = step.mask(line, language)
    return line


def without_numbers(text: str) -> str:
    """Return a normalised text without its numbers, for the option `ignore_numbers`."""
    return _NUMBER_ALONE.sub("", text)


class _Signs(NamedTuple):
    spaced: dict[str, list[_Sign]]
    """A word -> what it is a sign of."""
    unspaced: dict[str, list[_Sign]]
    """The same of languages whose words are found within longer words."""
    pattern: re.Pattern[str]
    """Any key of `unspaced`."""

    def of(self, line: str, words: list[str]) -> list[_Sign]:
        """Return the signs in a line, in the order of the steps."""
        found: list[_Sign] = []
        if not self.spaced.keys().isdisjoint(words):
            found += [sign for word in words for sign in self.spaced.get(word, ())]
        if not line.isascii() and _UNSPACED.search(line):
            found += [sign for word in self.pattern.findall(line) for sign in self.unspaced[word]]
        return sorted({*found}) if found else found


@cache
def _signs(with_digits: bool) -> _Signs:
    """Return the signs in lines with digits, or without. A phrase is found by its longest word."""
    spaced, unspaced = dict[str, list[_Sign]](), dict[str, list[_Sign]]()
    for number, step in enumerate(_STEPS):
        for table in step.tables if with_digits else step.without_digits:
            for language, words in _rows(table):
                signs = unspaced if language in _WITHOUT_SPACES else spaced
                for phrase in _phrases_of_age(words) if table is mask_words.AGES else words:
                    sign = max(phrase.translate(_PUNCTUATION).split(), key=len)
                    signs.setdefault(sign, []).append((number, language))
    return _Signs(spaced, unspaced, re.compile(_any_of(unspaced)))


def _phrases_of_age(words: list[str]) -> list[str]:
    """Return what is a sign in a line of the table of ages: its form, or else its units."""
    form = words[0].strip("?").replace("…", " ").strip()
    return [form] if form else words[1:]


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _rows(table: str) -> list[tuple[str, list[str]]]:
    """Return the languages and words of the lines of a table."""
    rows = [line.split() for line in table.strip().splitlines()]
    return [(row[0], [word.replace("_", " ") for word in row[1:]]) for row in rows]


def _words(table: str, language: str = "") -> list[str]:
    """Return the words of a language, or of all, in a table."""
    return [word for name, row in _rows(table) for word in row if language in ("", name)]


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of words, long ones first."""
    by_length = sorted({*words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\*", _TAIL) for word in by_length) or "(?!)"


def _whole(words: Iterable[str]) -> str:
    """Return a pattern of words that no letter follows."""
    return rf"(?:{_any_of(words)})(?![^\W\d_])"


@cache
def _age(language: str) -> re.Pattern[str]:
    """Return the pattern of the ages of a language."""
    has_spaces = language not in _WITHOUT_SPACES
    number = r"\d+\+?" if has_spaces else r"\d{1,3}"
    count = rf"(?:(?:{number}|{_any_of(_words(mask_words.ONES, language))}|un['’]) ?)"
    ages = []
    for _, (form, *units) in (row for row in _rows(mask_words.AGES) if row[0] == language):
        before, _, after = form.strip("?").partition("…")
        unit = rf"(?:{_any_of(units)})"
        if has_spaces and not after.strip():
            unit += r"(?!\w)"
        unit += r"\.?" if has_spaces else " ?"
        # "1 year, 2 months ago", "vor 1 Jahr und 2 Monaten"
        more = rf"(?:,? (?:[^\W\d_]{{1,3}} )?{count}{unit})?"
        may_be_one = "?" if form[0] == "?" else ""
        ages.append(f"{re.escape(before)}{count}{may_be_one}{unit}{more}{re.escape(after)}")
    begin, end = (r"(?<!\w)", r"(?!\w)") if has_spaces else (r"(?<!\d)", r"(?![^\W\d_])")
    return _compiled(f"{begin}(?:{'|'.join(ages)}){end}")


@cache
def _day(language: str) -> re.Pattern[str]:
    days = _any_of(_words(mask_words.DAYS, language))
    clock = r",? ?(?:at |um |à |kl\.? )?\d\d?[:h]\d"
    stamped = _any_of([*_words(mask_words.STAMPED, language), *_words(mask_words.ACTED, language)])
    return _compiled(
        rf"(^|[·•|⋅] ?|(?<![^\W\d_])(?:{stamped})[:：]? ?)(?:{days})(?=$| ?[·•|⋅]|{clock})"
    )


@cache
def _date() -> re.Pattern[str]:
    """Return the pattern of a date or time; the group `name` is a month or a day."""
    short = [name for name in _words(mask_words.CALENDAR) if len(name) < 3]
    long = [name for name in _words(mask_words.CALENDAR) if len(name) > 2]
    name = rf"(?P<name>(?:{_any_of(long)})[^\s\d,;:|()\u2e80-\u9fff]{{0,9}}|{_whole(short)})"
    piece = rf"(?:{_CLOCK}|{_whole(_words(mask_words.DATE_WORDS))}|{name}|\([月火水木金土日]\))"
    return _compiled(rf"(?:[ ,./()|–-]{{0,3}}{piece})+")


@cache
def _stamped(language: str) -> re.Pattern[str]:
    words = _any_of(_words(mask_words.STAMPED, language))
    return _compiled(rf"(?<![^\W\d_])(?:{words})(?: date| time)?(?![^\W\d_])[:：,\s(]*")


def _without_stamps(line: str, language: str) -> str:
    return _without_dates(line, [each.end() for each in _stamped(language).finditer(line)])


def _without_dates(line: str, places: Iterable[int]) -> str:
    """Mask the dates that begin at some places."""
    parts, end = list[str](), 0
    for place in places:
        date = _date().match(line, place) if place >= end else None
        if date and _HAS_DIGIT.search(date[0]) and (date["name"] or _IS_DATE.search(date[0])):
            parts += line[end:place], _MASK
            end = date.end()
    return "".join([*parts, line[end:]])


@cache
def _made(language: str) -> re.Pattern[str]:
    """Return the pattern of the beginning of a line that tells how a program made the page."""
    words = _any_of(_words(mask_words.GENERATED, language))
    return _compiled(rf"^(?:{words})(?: (?:{_any_of(_MAKERS.split())})(?!\w)|[:：])")


def _without_making(line: str, language: str) -> str:
    made = _made(language).match(line)
    if not made:
        return line
    places = [place + 1 for place, each in enumerate(line) if each == " " and place >= made.end()]
    return _ANY_NUMBER.sub(_MASK, _without_dates(line, places))


@cache
def _tool(language: str) -> re.Pattern[str]:
    """Return the pattern of a tool that has made a page, and its version."""
    made = _any_of(_words(mask_words.MADE_WITH, language))
    name = r"[^\W\d][\w+#/-]{0,30}(?: [^\W\d][\w+#/-]{0,30}){0,3}"
    return _compiled(rf"(?<!\w)((?:{made}) {name}) v?\d+(?:\.\d+)+(?:[-+]?\w+)*(?![-+.]?\w){_END}")


@cache
def _present(language: str) -> re.Pattern[str]:
    people = _any_of(_words(mask_words.PEOPLE))
    online = _any_of(_words(mask_words.ONLINE, language))
    return _compiled(
        rf"\d ?(?:{people})(?: [^\W\d_]+){{0,2}}? ?(?:{online}){_END}"
        rf"|(?:{online}) ?[:：]? ?\d+ ?(?:{people})(?![^\W\d_])"
        rf"|(?:(?:{people}) (?:{online})|(?:{online}) ?(?:{people})) ?[:：(] ?\d"
    )


def _without_presence(line: str, language: str) -> str:
    return _ANY_NUMBER.sub(_MASK, line) if _present(language).search(line) else line


_COUNTERS = mask_words.COUNTED, mask_words.COUNTED_ONE, mask_words.NONE, mask_words.LABELS


class _Counter(NamedTuple):
    before_word: re.Pattern[str]
    """A number and the word for what it counts."""
    whole: re.Pattern[str]
    """The same with a word that counts other things, too: a whole part of a line."""
    number: re.Pattern[str]
    """A number that may follow a label."""
    label: re.Pattern[str]
    """A label that begins a part of a line, at the end of a text."""
    labels: tuple[str, ...]
    """Each after a space, if the language has spaces."""


@cache
def _counter(language: str, *, is_cell: bool) -> _Counter:
    """Return the patterns of the words for what sites count; words with other uses in no cell."""
    counted, one, none, labels = (_words(table, language) for table in _COUNTERS)
    also = [] if is_cell else _words(mask_words.COUNTED_ALSO, language)
    labels += counted + also
    more = r"(?:(?:total|more|new|user|customer) )?" if language == "en" else ""
    before_word = _compiled(
        rf"{_NUMBER} ?{more}{_whole(counted)}{_END_OF_COUNTER}"
        rf"|(?<!\w){_whole(none)}{_END_OF_COUNTER}"
    )
    whole = _compiled(
        rf"{_BEGIN}(?:{_NUMBER} ?{_whole(also)}{_END}|(?<!\d)1 {_whole(one)}{_END_OF_COUNTER})"
    )
    label = _compiled(rf"{_BEGIN}(?:{_any_of(labels)})\W*$")
    times = _whole(_words(mask_words.TIMES, language))
    number = _compiled(rf"{_NUMBER}(?=(?: ?{times})?{_END}| {_whole(labels)})")
    spaced = tuple(word if language in _WITHOUT_SPACES else f" {word}" for word in labels)
    return _Counter(before_word, whole, number, label, spaced)


@cache
def _all_counted() -> frozenset[str]:
    return frozenset(_words(mask_words.COUNTED))


def _mask_counted(found: re.Match[str]) -> str:
    return _MASK if found[1] in _all_counted() else found[0]


def _without_counters(line: str, language: str, *, is_cell: bool = False) -> str:
    counter = _counter(language, is_cell=is_cell)

    def mask(found: re.Match[str]) -> str:
        before = found.string[: found.start()].rstrip()
        begin = max(0, len(before) - _LONGEST_LABEL)
        if not f" {before[begin:].translate(_PUNCTUATION).rstrip().lower()}".endswith(
            counter.labels
        ):
            return found[0]
        is_named = before[-1] in ":：(（=" or before[-1] > "\u0e00"
        return _MASK if is_named or counter.label.search(before, begin) else found[0]

    line = counter.whole.sub(_MASK, counter.before_word.sub(_MASK, line))
    return counter.number.sub(mask, line)


class _Step(NamedTuple):
    mask: Callable[[str, str], str]
    """Masks one kind of numbers in a line of a language."""
    tables: tuple[str, ...]
    """The tables of its signs."""
    without_digits: tuple[str, ...] = ()
    """The tables of signs in lines that have no digit."""
    in_tables: bool = True
    """Whether it masks in a cell of a table; else the cell is the value of something."""
    in_lines: bool = True
    """Whether it masks elsewhere."""


def _each(
    pattern: Callable[[str], re.Pattern[str]], left: str = _MASK
) -> Callable[[str, str], str]:
    """Return a function that leaves `left` of what the pattern of a language finds in a line."""
    return lambda line, language: pattern(language).sub(left, line)


_STEPS = (
    _Step(_without_making, (mask_words.GENERATED,)),
    _Step(_without_stamps, (mask_words.STAMPED,)),
    _Step(_each(_tool, rf"\1 {_MASK}"), (mask_words.MADE_WITH,), in_tables=False),
    _Step(_each(lambda _: _COPYRIGHT, rf"\1{_MASK}"), (mask_words.COPYRIGHT,), in_tables=False),
    _Step(_each(_age), (mask_words.AGES,), (mask_words.AGES,)),
    _Step(_each(_day, rf"\1{_MASK}"), (mask_words.DAYS,), (mask_words.DAYS,), in_tables=False),
    _Step(_without_presence, (mask_words.ONLINE,)),
    _Step(
        _without_counters,
        (*_COUNTERS, mask_words.COUNTED_ALSO),
        (mask_words.NONE,),
        in_tables=False,
    ),
    _Step(partial(_without_counters, is_cell=True), _COUNTERS, (mask_words.NONE,), in_lines=False),
)
