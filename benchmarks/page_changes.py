"""Two versions of a page -> what the later one says that the earlier one does not, and its kind.

The text is read by a walk through lxml's tree that shares no code with the library. Words are
compared as multisets, outside lines that both versions have:

    same      no word differs
    stamps    only numbers and dates differ, near a counting or stamping word in a short line
    links     only words in links and buttons differ
    frame     the same, and words in nav, aside, footer, or a header outside the article
    less      no word is new but in these places; some are gone
    changed   5 words are new, or a number in a table or list
    unclear   all else: 1 to 4 new words, a new date in a line of its own, words in another order

On a page with more words in links than outside, words in links count as text. Elements that a style
sheet hides count as visible.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree
from lxml import html as lxml_html

__all__ = ["CLASSES", "REPEATS", "Change", "Line", "compare", "lines_of", "words_of"]

REPEATS = ("same", "stamps", "links", "frame", "less")
CLASSES = (*REPEATS, "unclear", "changed")
LEAST_NEW = 5
"""New words of a changed page."""
SHORT_LINE = 20
"""Most words of a line with stamps."""
STAMPED = range(-3, 9)
"""Words whose numbers a counting or stamping word explains, counted from it: 12 comments."""
TEXT, LINK, FRAME = PLACES = range(3)
"""Where a word stands: outside links, in a link, in an element that is the frame of a page."""

WORDS = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
STAMPS = frozenset(
    "ago comments copyright created edited followers generated likes modified online posted "
    "published rating ratings read reads replies reviewed revised running reviews shares updated "
    "viewed views visitors visits votes aktualisiert aufrufe stand uhr vor commentaires consulté "
    "il jour vues".split()
)
DATES = frozenset(
    "jan january feb february mar march apr april may jun june jul july aug august sep sept "
    "september oct october nov november dec december mon monday tue tuesday wed wednesday thu "
    "thursday fri friday sat saturday sun sunday am pm gmt utc bst est edt pst pdt aedt aest cet "
    "ago hour hours minute minutes second seconds day days week weeks month months year years "
    "min mins hr hrs h m today yesterday janvier février mars avril mai juin juillet août "
    "septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche "
    "januar februar märz juni juli oktober dezember montag dienstag mittwoch donnerstag freitag "
    "samstag sonntag uhr janv févr avr juil déc mär okt dez heure heures jours semaine semaines "
    "mois ans stunden tagen".split()
)
UNSEEN = etree.XPath(
    "//script|//style|//noscript|//template|//title|//svg|//iframe|//textarea|//select|//*[@hidden]"
    "|//*[contains(translate(@style, ' ', ''), 'display:none')]"
    "|//*[contains(translate(@style, ' ', ''), 'visibility:hidden')]"
)
FRAMES = etree.XPath(
    "//nav|//aside|//footer|//*[@role='banner' or @role='navigation' or @role='complementary']"
    "|//*[@role='contentinfo']|//header[not(ancestor::article or ancestor::main or .//h1)]"
)
INLINE = frozenset(
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark q "
    "s samp small span strike strong sub sup time tt u var wbr".split()
)
LINKS, CELLS = frozenset(("a", "button")), frozenset(("td", "th", "li", "dd", "dt"))


class Line(NamedTuple):
    """The words of a block of a page, without the blocks inside."""

    words: tuple[tuple[str, ...], ...]
    """By place."""
    is_cell: bool = False
    """Whether it is in a table or list."""

    def unstamped(self) -> "Line":
        """Take numbers and dates near a counting or stamping word out of a short line."""
        if sum(map(len, self.words)) > SHORT_LINE:
            return self
        return Line(tuple(map(_unstamped, self.words)), self.is_cell)

    def is_date(self) -> bool:
        """Tell whether the text of the line is a date or a time."""
        text = self.words[TEXT]
        return not DATES.isdisjoint(text) and all(map(_is_date, text))


def _unstamped(words: tuple[str, ...]) -> tuple[str, ...]:
    stamps = [at for at, word in enumerate(words) if word in STAMPS]
    near = {at + step for at in stamps for step in STAMPED}
    return tuple(w for at, w in enumerate(words) if at not in near or not _is_date(w))


def _is_date(word: str) -> bool:
    return word in DATES or any(map(str.isdigit, word))


def lines_of(body: bytes) -> list[Line]:
    """Read all visible text of a page, line by line."""
    if not body.strip():
        return []
    try:
        body.decode()
        encoding = "utf-8"
    except UnicodeDecodeError:
        encoding = None
    parser = lxml_html.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True)
    root: Any = lxml_html.document_fromstring(body, parser=parser)
    unseen: Any = UNSEEN(root)
    for element in unseen:
        if element.getparent() is not None:
            element.drop_tree()
    return list(_lines(root))


def _lines(root: Any) -> Iterator[Line]:
    found: Any = FRAMES(root)
    frame = set(found)
    parts: list[list[str]] = [[] for _ in PLACES]
    links = cells = frames = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        is_start = event == "start"
        if element.tag not in INLINE and any(parts):
            yield _line(parts, is_cell=cells > 0)
            parts = [[] for _ in PLACES]
        step = 1 if is_start else -1
        links += step * (element.tag in LINKS)
        cells += step * (element.tag in CELLS)
        frames += step * (element in frame)
        if piece := element.text if is_start else element.tail:
            place = FRAME if frames else LINK if links else TEXT
            for each, pieces in enumerate(parts):
                pieces.append(piece if each == place else " ")
    yield _line(parts, is_cell=cells > 0)


def _line(parts: list[list[str]], *, is_cell: bool) -> Line:
    words = (tuple(WORDS.findall("".join(part).lower())) for part in parts)
    return Line(tuple(words), is_cell)


def words_of(lines: list[Line]) -> list[list[str]]:
    """Return all words in their order, by place."""
    return [[word for line in lines for word in line.words[place]] for place in PLACES]


class Change(NamedTuple):
    """What a later version says that an earlier one does not."""

    kind: str
    """One of `CLASSES`."""
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def compare(earlier: list[Line], later: list[Line]) -> Change:
    """Find the kind of a pair of versions, and the words that differ; `<word>` is beside text."""
    if words_of(earlier) == words_of(later):
        return Change("same")
    old, new = ([line.unstamped() for line in lines] for lines in (earlier, later))
    if words_of(old) == words_of(new):
        return Change("stamps")
    if any(len(words[LINK]) > len(words[TEXT]) for words in (words_of(old), words_of(new))):
        old, new = ([_with_links(line) for line in lines] for lines in (old, new))
    came, went = Counter(new) - Counter(old), Counter(old) - Counter(new)
    plus = [_count(came, place) - _count(went, place) for place in PLACES]
    minus = [_count(went, place) - _count(came, place) for place in PLACES]
    dates = _count(Counter({line: n for line, n in came.items() if line.is_date()}), TEXT)
    text = plus[TEXT] - dates
    cells = _count(Counter({line: n for line, n in came.items() if line.is_cell}), TEXT)
    is_value = any(any(map(str.isdigit, word)) for word in text & cells)
    if is_value or text.total() >= LEAST_NEW:
        kind = "changed"
    elif plus[TEXT]:
        kind = "unclear"
    elif minus[TEXT]:
        kind = "less"
    elif plus[FRAME] or minus[FRAME]:
        kind = "frame"
    else:
        kind = "links" if plus[LINK] or minus[LINK] else "unclear"
    beside = [f"<{word}>" for word in plus[LINK] + plus[FRAME]]
    return Change(kind, (*plus[TEXT], *beside), tuple(minus[TEXT]))


def _with_links(line: Line) -> Line:
    text, linked, frame = line.words
    return Line((text + linked, (), frame), line.is_cell)


def _count(lines: Counter[Line], place: int) -> Counter[str]:
    words: Counter[str] = Counter()
    for line, times in lines.items():
        for word in line.words[place]:
            words[word] += times
    return words
