"""Tree -> marked text: all text, with marks around blocks, links, hidden parts, scripts -> parts.

    <div class="a">one <a href="/">two</a><p>three</div>
    OPEN "div a " OPEN "one " LINK "two" UNLINK OPEN "p " OPEN "three" CLOSE CLOSE

CLOSE is two OPEN: an empty head. Split at OPEN, marked text gives texts and heads in turn.

    <div hidden>one</div><noscript>two</noscript>     likewise <template>
    HIDE OPEN "div  " OPEN "one" CLOSE UNHIDE HIDE OPEN "noscript " OPEN "two" CLOSE UNHIDE

    <script type="module">go()</script><script>__STATE__ = {}</script><div id="app"></div>
    SCRIPT OPEN UNSCRIPT SCRIPT OPEN "__STATE__ = {}" UNSCRIPT SCRIPT "app" UNSCRIPT ...

A declared shadow root is an ordinary block. The text of a script is written only if it may be data:
JSON, or the state of a page. An empty element with an id is marked too, for a script may fill it.

`parts_of` separates again what is in sight, what is hidden, and the scripts; `concealed` decides
which of it is read. Hidden parts without text are left out there, and so are notices in noscript
that ask for JavaScript. What is in a template belongs to it, wherever the template stands.

The writer is a compiled XSLT (output method "text"): in C, three times as fast as a walk in Python.
libxslt recurses on the C stack, and a tree of a thousand levels crashes a thread with a small one,
so an iterative walk writes the same text of deep trees. Neither changes the tree.

The marks are boundaries like those of MIME multipart messages (RFC 2046, 5.1.1): random private-use
characters drawn once a process. No page can know them, so its text needs no escaping. They never
leave this layer.

Cost: 0.6 ms for a page of 100 KB (930 elements, 28,000 characters), a tenth of it to find the depth
of the tree; 2.1 ms for a deep tree; 0.05 ms for the parts of a page with thirty scripts.
"""

import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from lxml import etree

from dedup_filter.text.elements import BLOCK_LEVEL, CONTAINERS, LINKS, SKIPPED

__all__ = [
    "CLOSE",
    "HIDE",
    "LINK",
    "OPEN",
    "SCRIPT",
    "UNHIDE",
    "UNLINK",
    "UNSCRIPT",
    "Parts",
    "Script",
    "marked_text",
    "parts_of",
    "walked_text",
    "without_marks",
]

_MAX_XSLT_DEPTH = 256
_XHTML = "http://www.w3.org/1999/xhtml"
_PLACE = "starts-with(@href, '#') or (@name and not(@href))"
_SHADOW_MODES = ("open", "closed")
_START = 300
_STATE = "__"
"""Frameworks keep a page's state in variables with such names: __NUXT__, __INITIAL_STATE__."""
_EMPTY = "@id and not(*) and normalize-space() = ''"


def _boundary(lead: int) -> str:
    # Each mark has a lead character of its own, which is in no mark's tail: so no mark overlaps
    # another one, itself, or the text of the page.
    return chr(lead) + "".join(chr(0xE000 + secrets.randbelow(0x1800)) for _ in range(3))


OPEN, LINK, UNLINK, HIDE, UNHIDE, SCRIPT, UNSCRIPT = (_boundary(0xF800 + i) for i in range(7))
CLOSE = OPEN + OPEN

_ALL_MARKS = re.compile("|".join((OPEN, LINK, UNLINK, HIDE, UNHIDE, SCRIPT, UNSCRIPT)))
_NOSCRIPT = f"{OPEN}noscript "
_TEMPLATE = f"{OPEN}template "
_NOTICE = 400
"""Characters up to which a noscript that names JavaScript is a notice that asks for it."""


class Script(NamedTuple):
    """A script as a page has it."""

    type: str
    text: str


class Parts(NamedTuple):
    """The marked text of a page, in parts."""

    visible: str
    """What is in sight."""
    segments: Sequence[tuple[str, str]]
    """The place ("" in sight, "hidden", "template") and the text of each, in page order; empty if
    nothing is hidden."""
    scripts: Sequence[Script]
    """Those that may hold data."""
    has_code: bool
    """Whether there are other scripts."""
    empty_ids: Sequence[str]
    """The ids of empty elements."""

    def marked(self, *places: str) -> str:
        """Return the marked text that stands in some places."""
        return _joined(self.segments, *places)


def marked_text(tree: etree._Element) -> str:
    """Write all text of a tree with marks around its blocks, links, hidden parts and scripts."""
    if _is_deep(tree):
        return walked_text(tree)
    return str(_write(tree))


def walked_text(tree: etree._Element) -> str:
    """Write what `marked_text` writes, by a walk in Python that no depth can overflow."""
    return "".join(_pieces(tree))


def parts_of(marked: str) -> Parts:
    """Separate what is in sight, what is hidden, and the scripts of marked text."""
    text, *others = _split(marked, SCRIPT)
    pieces = [piece.partition(UNSCRIPT) for piece in others]
    written = [script for script, _, _ in pieces]
    scripts = [Script(*each.split(OPEN, 1)) for each in written if OPEN in each and each != OPEN]
    ids = [each for each in written if OPEN not in each]
    marked = "".join([text, *(after for _, _, after in pieces)])
    segments = list(_segments(marked)) if HIDE[0] in marked else []
    visible = _joined(segments, "") if segments else marked
    return Parts(
        visible,
        segments if any(place for place, _ in segments) else [],
        scripts,
        OPEN in written,
        ids,
    )


def without_marks(marked: str) -> str:
    """Replace each mark by a space; heads stay."""
    return _ALL_MARKS.sub(" ", marked)


def _pieces(tree: etree._Element) -> Iterator[str]:
    walk = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, node in walk:
        # The tag of a comment and the like is a function; only what follows it is text.
        is_read = isinstance(node.tag, str) and not _is_skipped(node)
        if event == "start":
            if is_read:
                yield _opening(node)
                yield node.text or ""
            else:
                yield _script(node)
                walk.skip_subtree()
            continue
        if is_read:
            yield _closing(node)
        if node is not tree:
            yield node.tail or ""


def _opening(element: etree._Element) -> str:
    tag = _name(element)
    if tag in _BLOCKS:
        names = f"{element.get('class', '')} {element.get('role', '')}"
        head = f"{OPEN}{tag} {names if tag in CONTAINERS else ''}{OPEN}"
        return _empty_root(element) + (HIDE if _is_hidden(element) else "") + head
    if _is_link(element):
        return LINK
    return " " if tag == "br" else ""


def _closing(element: etree._Element) -> str:
    if _name(element) in _BLOCKS:
        return CLOSE + (UNHIDE if _is_hidden(element) else "")
    return UNLINK if _is_link(element) else ""


def _is_hidden(element: etree._Element) -> bool:
    tag = _name(element)
    if tag == "template":
        # Not lower(): the stylesheet can make only ASCII letters small.
        mode = (element.get("shadowrootmode") or "").translate(_SMALL)
        return mode not in _SHADOW_MODES
    return tag == "noscript" or "hidden" in element.attrib


def _empty_root(element: etree._Element) -> str:
    """Mark an empty element, which a script may fill."""
    if _name(element) != "div" or not _is_empty(element):
        return ""
    return f"{SCRIPT}{element.get('id')}{UNSCRIPT}"


def _script(node: etree._Element) -> str:
    """Write a script; "" for another node."""
    if not isinstance(node.tag, str) or _name(node) != "script":
        return ""
    kind, text = node.get("type", ""), str(_string(node))
    has_data = "json" in kind or _STATE in text[:_START]
    return f"{SCRIPT}{kind if has_data else ''}{OPEN}{text if has_data else ''}{UNSCRIPT}"


def _is_link(element: etree._Element) -> bool:
    """Tell whether an element leads away: no place on this page, and no reference to one."""
    tag = _name(element)
    if tag != "a":
        return tag in LINKS
    target = element.get("href")
    if target is None:
        return "name" not in element.attrib
    return not target.startswith("#")


def _is_skipped(element: etree._Element) -> bool:
    return _name(element) in _SKIPPED


def _name(element: etree._Element) -> str:
    """Return the name of an HTML element, "" for an element of another namespace."""
    namespace, _, name = element.tag.rpartition("}")
    return name if namespace in ("", "{" + _XHTML) else ""


def _stylesheet() -> etree.XSLT:
    inside = "<xsl:apply-templates/>"
    link = _text(LINK) + inside + _text(UNLINK)
    has_data = (
        f"contains(@type, 'json') or"
        f" (contains(., '{_STATE}') and contains(substring(., 1, {_START}), '{_STATE}'))"
    )
    data = (
        _text(SCRIPT)
        + '<xsl:value-of select="@type"/>'
        + _text(OPEN)
        + '<xsl:value-of select="."/>'
        + _text(UNSCRIPT)
    )
    script = (
        f'<xsl:choose><xsl:when test="{has_data}">{data}</xsl:when>'
        f"<xsl:otherwise>{_text(SCRIPT + OPEN + UNSCRIPT)}</xsl:otherwise></xsl:choose>"
    )
    templates = [
        # Only the element: if it is part of a larger tree, its tail stands beside it.
        '<xsl:template match="/"><xsl:apply-templates select="*"/></xsl:template>',
        _template(SKIPPED, ""),
        _template({"script"}, script),
        _template({"br"}, _text(" ") + inside),
        _template(LINKS, link),
        _template({f"a[{_PLACE}]"}, inside),
    ]
    templates += [_template({tag}, _root_mark(tag) + _block(tag, inside)) for tag in _BLOCKS]
    return etree.XSLT(
        etree.XML(
            '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
            f' xmlns:h="{_XHTML}"><xsl:output method="text" encoding="UTF-8"/>'
            f"{''.join(templates)}</xsl:stylesheet>"
        )
    )


def _block(tag: str, inside: str) -> str:
    block = _head(tag) + inside + _text(CLOSE)
    hidden = _text(HIDE) + block + _text(UNHIDE)
    when = f'<xsl:when test="{_SHOWN.get(tag, "not(@hidden)")}">{block}</xsl:when>'
    return f"<xsl:choose>{when}<xsl:otherwise>{hidden}</xsl:otherwise></xsl:choose>"


def _root_mark(tag: str) -> str:
    """Mark an empty element, which a script may fill."""
    mark = f'{_text(SCRIPT)}<xsl:value-of select="@id"/>{_text(UNSCRIPT)}'
    return f'<xsl:if test="{_EMPTY}">{mark}</xsl:if>' if tag == "div" else ""


def _small(value: str) -> str:
    return f"translate({value}, '{ascii_uppercase}', '{ascii_lowercase}')"


def _template(tags: Collection[str], body: str) -> str:
    match = "|".join(f"{tag}|h:{tag}" for tag in sorted(tags))
    return f'<xsl:template match="{match}">{body}</xsl:template>'


def _head(tag: str) -> str:
    if tag not in CONTAINERS:
        return _text(f"{OPEN}{tag} {OPEN}")
    names = f'<xsl:value-of select="@class"/>{_text(" ")}<xsl:value-of select="@role"/>'
    return _text(f"{OPEN}{tag} ") + names + _text(OPEN)


def _text(text: str) -> str:
    return f"<xsl:text>{text}</xsl:text>"


def _split(text: str, mark: str) -> list[str]:
    """Split as `str.split` does, at rare marks in a third of its time.

    To find one character takes a fraction of the time to find a string of four.
    """
    pieces = []
    start, lead = 0, text.find(mark[0])
    while lead >= 0:
        if text.startswith(mark, lead):
            pieces.append(text[start:lead])
            start = lead + len(mark)
        lead = text.find(mark[0], lead + 1)
    return [*pieces, text[start:]]


def _joined(segments: Sequence[tuple[str, str]], *places: str) -> str:
    return "".join([text for place, text in segments if place in places])


def _segments(marked: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each segment; hidden ones without text are left out."""
    around: list[bool] = []  # the hidden parts around a piece: whether each is a template
    templates = 0
    for is_hidden, hidden in enumerate(_split(marked, HIDE)):
        for is_end, piece in enumerate(_split(hidden, UNHIDE)):
            if is_end:
                templates -= around.pop()
            elif is_hidden:
                around.append(piece.startswith(_TEMPLATE))
                templates += around[-1]
            if not around:
                yield "", piece
            elif _has_text(piece) and not (len(around) == 1 and _is_notice(piece)):
                yield "template" if templates else "hidden", piece


def _has_text(piece: str) -> bool:
    """Tell whether there is text between the heads."""
    return any(text and not text.isspace() for text in piece.split(OPEN)[0::2])


def _is_notice(piece: str) -> bool:
    return len(piece) <= _NOTICE and piece.startswith(_NOSCRIPT) and "javascript" in piece.lower()


_BLOCKS = BLOCK_LEVEL | {"noscript", "template"}
_SKIPPED = SKIPPED | {"script"}
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_SHOWN = {
    "noscript": "false()",
    "template": " or ".join(f"{_small('@shadowrootmode')} = '{mode}'" for mode in _SHADOW_MODES),
}
"""When the content of an element is in sight; of others, if it has no attribute `hidden`."""
_write = _stylesheet()
_string = etree.XPath("string()")
_is_empty = etree.XPath(f"boolean({_EMPTY})")
_is_deep = etree.XPath("boolean(" + "/*" * _MAX_XSLT_DEPTH + ")")
