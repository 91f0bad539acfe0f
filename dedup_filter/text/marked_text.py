"""Tree -> marked text: all text, with marks around blocks, links, hidden parts, scripts -> parts.

    <div class="a">one <a href="/">two</a><p>three</div>
    OPEN "div a " OPEN "one " LINK "two" UNLINK OPEN "p " OPEN "three" CLOSE CLOSE

    <div hidden>one</div>     likewise a style "display:none" or "visibility:hidden", <noscript>,
                              <template>; "S:" at the end of a head: as React streams text that
                              its script makes visible
    HIDE OPEN "div  " OPEN "one" CLOSE UNHIDE

    <script>go()</script><script>__STATE__ = {}</script><div id="app"></div>
    SCRIPT OPEN UNSCRIPT SCRIPT OPEN "__STATE__ = {}" UNSCRIPT SCRIPT "app" UNSCRIPT ...

    <img alt="one" src="a.png"><svg><text>two</text></svg><style>three</style>
    SCRIPT "note" OPEN "one" UNSCRIPT IMAGE "a.png" UNIMAGE OPEN "svg " OPEN CLOSE OPEN "text " ...
    UNREAD "style" OPEN "three" ENDUNREAD     only with images; only with unread text

    <video src="/a/b.mp4?x=1">    SOURCE "/a/b.mp4?x=1" UNSOURCE     only with sources

CLOSE is two OPEN: an empty head. Split at OPEN, marked text gives texts and heads in turn. A `br`
is written as `LINE_END`. Notes are texts beside the text: options, alternatives of images, values
of inputs. The page of a frame (`srcdoc`) is written in its place.

Block-level elements are the elements that browsers display as blocks (HTML Standard, section 15.3,
flow content), including inline elements whose style attribute makes them blocks. The text of a
script is written only if it may be data. An empty element with an id is marked, because a script
may fill it. The marks are boundaries as in MIME multipart messages (RFC 2046, 5.1.1): random
private-use characters drawn once a process. No page can know them: its text needs no escaping.

The writer is a compiled XSLT (output method "text"): in C, three times as fast as a walk in Python.
It never changes the tree. libxslt recurses on the C stack, so elements more than 256 levels deep
(the page is malformed or hostile) are written as blocks in a row, including hidden parts.

Cost: 0.6 ms for a page of 100 KB (930 elements, 28,000 characters).
"""

import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from lxml import etree

from dedup_filter.text.decode import parse
from dedup_filter.text.plain_text import LINE_END

_CHOICES = "audio canvas datalist iframe noframes select video".split()
"""Elements whose text is one of several choices, or a fallback for the content that they show."""
_SKIPPED = ["style", "svg", *_CHOICES]
"""Elements whose content is not read as text of the page, except the text elements of svg."""
_PICTURE_BLOCKS = "text div p li td".split()
"""Elements that begin a block in a picture; HTML elements stand in a foreignObject."""
_IN_PICTURES = [*_PICTURE_BLOCKS, *"a b code em i span strong textpath textPath th tspan".split()]
"""Elements in a picture whose text is shown."""
# Hidden values change at each fetch.
_NO_TEXT_INPUTS = " hidden checkbox radio password file range color "
_MOST_FRAMES, _MOST_IN_FRAMES, _MOST_NESTING = 64, 2**20, 3
"""Pages in `srcdoc` attributes that are read, their characters, and their depth of nesting. Pages
beyond these bounds count as unread."""
_CONTAINERS = (
    "article aside blockquote dd details dialog div dl fieldset figure footer form header hgroup "
    "main menu nav ol section table td ul"
).split()
"""The block-level elements whose class and role are read."""
_OTHER_BLOCKS = (
    "address applet body caption center dir dt figcaption frameset h1 h2 h3 h4 h5 h6 hr html "
    "legend li listing noscript object optgroup p plaintext pre search summary tbody template "
    "textarea tfoot th thead title tr xmp"
).split()

_INLINE = "b em i label small span strong".split()
"""Inline elements that a style may turn into a block, and an attribute may hide. Links are left
out: to check the style of each link would take 0.1 ms a page."""
_IS_LINE = " or ".join(
    f"contains(translate(@style, ' ', ''), 'display:{value}')"
    for value in ("block", "flex", "grid", "table", "list")
)
# The first test fails for nearly all styles, and takes a tenth of the time of the others.
_IS_LINE = f"contains(@style, 'display') and ({_IS_LINE})"

_STYLE = f"concat(';', translate(., '{ascii_uppercase} &#9;&#10;', '{ascii_lowercase}'), ';')"
_IS_CONCEALED = " or ".join(
    f"contains({_STYLE}, ';{value}{end}')"
    for value in ("display:none", "visibility:hidden")
    for end in ";!"
)
_MAY_BE_CONCEALED = " or ".join(
    f"contains(., '{part}')" for part in ("isplay", "isibility", "ISPLAY", "ISIBILITY")
)
_IS_HIDDEN = f"@hidden or @style[{_MAY_BE_CONCEALED}][{_IS_CONCEALED}]"
"""The first test of a style takes a sixth of the time of the second, and fails for nearly all."""

_MAX_DEPTH = 256
_PLACE = "starts-with(@href, '#') or (@name and not(@href))"
"""A place on the page, or a reference to one: a link that does not lead away."""
_LOWER = f"translate({{}}, '{ascii_uppercase}', '{ascii_lowercase}')"
_MODE, _TYPE = _LOWER.format("@shadowrootmode"), _LOWER.format("@type")
_IS_SHADOW = f"{_MODE} = 'open' or {_MODE} = 'closed'"
_IS_SHOWN = f"not(contains('{_NO_TEXT_INPUTS}', concat(' ', {_TYPE}, ' ')))"
"""Whether a reader sees the value of an input as text."""
_START = 300
"""Characters at the start of a script in which it names the variable that it sets."""
_STATE = re.compile(r"""\b__\w+["'\]]*\s*(?:=(?!=)|\.push\()""")
"""Frameworks keep a page's state in variables with such names: __NUXT__, __INITIAL_STATE__."""
_MAY_BE_STATE = f"contains(., '__') and contains(substring(., 1, {_START}), '__')"
_EMPTY = "@id and not(*) and normalize-space() = ''"


def _boundary(lead: int) -> str:
    # Each mark has its own lead character, which is in no mark's tail: so no mark overlaps another
    # mark, itself, or the text of the page.
    return chr(lead) + "".join(chr(0xE000 + secrets.randbelow(0x1800)) for _ in range(3))


_ALL = [_boundary(0xF800 + number) for number in range(17)]
OPEN, LINK, UNLINK, HIDE, UNHIDE, SCRIPT, UNSCRIPT, IMAGE, UNIMAGE, UNREAD, ENDUNREAD = _ALL[:11]
_FRAME, _UNFRAME, SOURCE, UNSOURCE, _BEGIN, _END = _ALL[11:]
CLOSE = OPEN + OPEN

_ANY_MARK = re.compile("|".join(_ALL))
_IMAGE = re.compile(f"{IMAGE}.*?{UNIMAGE}", re.DOTALL)
_SOURCE = re.compile(
    f"{SOURCE}(?:[a-zA-Z][a-zA-Z+.-]*:)?(?://[^/?#{UNSOURCE[0]}]*)?(.*?){UNSOURCE}", re.DOTALL
)
_QUERY = re.compile("[?#;]")
_MOST_SOURCES = 64
"""Pictures of a page that count as its text."""
_SOURCES = "(@data-src | @src | source/@src)[normalize-space() and not(starts-with(., 'data:'))]"
_IS_PIXEL = "@width = '0' or @width = '1' or @height = '0' or @height = '1'"
_NOSCRIPT = f"{OPEN}noscript "
_TEMPLATE = f"{OPEN}template "
_TITLE = f"{OPEN}title {OPEN}"
_WAITS = "S:"
"""The start of the id of a hidden part that a script makes visible; written at the head's end."""
_IS_STREAMED = (
    f"(@id | */@id)[contains(., '{_WAITS}')"
    f" and not(translate(substring-after(., '{_WAITS}'), '0123456789abcdef', ''))]"
)
"""Streamed rows stand in a table of their own, whose child has the id."""
_NOTE = "note"
_PLACES = ["hidden", "waiting", "template"]
"""If several of these are around a piece, it belongs to the last one in this list."""
_NOTICE = 400
"""A noscript of at most this many characters that names JavaScript is a notice to enable it."""


class Parts(NamedTuple):
    """The marked text of a page, in parts."""

    visible: str
    segments: Sequence[tuple[str, str]]
    """The place ("" visible, "hidden", "waiting", "template") and the text of each, in page order;
    empty if nothing is hidden. Waiting is hidden text that a script makes visible."""
    data: Sequence[str]
    """The texts of scripts that are data, or set the state of the page."""
    has_scripts: bool
    empty_ids: Sequence[str]
    """The ids of empty elements."""
    notes: Sequence[str] = ()
    """Texts that a reader may see apart: options, alternatives of images, values of inputs."""

    def marked(self, *places: str) -> str:
        """Return the marked text that stands in some places."""
        return "".join([text for place, text in self.segments if place in places])


def marked_text(
    tree: etree._Element,
    *,
    with_images: bool = False,
    with_unread: bool = False,
    with_sources: bool = False,
) -> str:
    """Write all text of a tree with marks around its blocks, links, hidden parts and scripts.

    `with_unread`: also the text of elements that are never read, between marks of its own.
    `with_sources`: also the addresses of pictures, films and pages in frames, see `with_pictures`.
    """
    options = with_images, with_unread, with_sources
    return _written(tree, options, [_MOST_FRAMES, _MOST_IN_FRAMES])


def with_pictures(marked: str, *, are_text: bool) -> str:
    """Write each source as a block that is its path, or leave all out."""
    if SOURCE[0] not in marked:
        return marked
    room = iter(range(_MOST_SOURCES))

    def block(source: re.Match[str]) -> str:
        path = " ".join(_QUERY.split(source[1], 1)[0].split())
        is_text = path.strip("/") and next(room, None) is not None
        return f"{OPEN}picture {OPEN}{path}{CLOSE}" if is_text else ""

    return _SOURCE.sub(block if are_text else "", marked)


def _written(
    tree: etree._Element, options: tuple[bool, bool, bool], room: list[int], depth: int = 0
) -> str:
    """Write a tree, and the pages in its frames while `room` lasts: their number and length."""
    marked = str(_stylesheet(bool(_is_deep(tree)), *options)(tree))
    marked = _apart(marked) if _BEGIN[0] in marked else marked
    if _FRAME[0] not in marked:
        return marked
    first, *others = marked.split(_FRAME)
    written = [first]
    for page, _, after in (each.partition(_UNFRAME) for each in others):
        if depth < _MOST_NESTING and room[0] and len(page) <= room[1]:
            room[:] = room[0] - 1, room[1] - len(page)
            inside = parse(page)
            inner = "" if inside is None else _written(inside, options, room, depth + 1)
            # Browsers do not show the title of a page in a frame.
            inner = f"{OPEN}iframe {OPEN}{inner.replace(_TITLE, f'{OPEN}p {OPEN}')}{CLOSE}"
        else:
            inner = "" if options[1] else f"{SCRIPT}{_NOTE}{OPEN}{page}{UNSCRIPT}"
        written += [inner, after]
    return "".join(written)


def _apart(marked: str) -> str:
    """Separate the texts of elements in a line that touch: "<b>11</b><b>1</b>" is not 111."""
    for marks, left in ((_BEGIN + _END, ""), (_BEGIN * 2, _BEGIN), (_END * 2, _END)):
        while marks in marked:
            marked = marked.replace(marks, left)
    first, *others = pieces = marked.split(_END + _BEGIN)
    touch = (one[-1:].isalnum() and other[:1].isalnum() for one, other in pairwise(pieces))
    others = [f" {other}" if is_so else other for is_so, other in zip(touch, others, strict=True)]
    return "".join([first, *others]).replace(_BEGIN, "").replace(_END, "")


def parts_of(marked: str) -> Parts:
    """Separate the visible text, the hidden text, and the scripts of marked text.

    Left out are hidden parts without text, images in hidden parts, and notices in noscript to
    enable JavaScript. Text in a template belongs to the template, wherever the template stands.
    """
    first, *others = marked.split(SCRIPT)
    pieces = [piece.partition(UNSCRIPT) for piece in others]
    scripts = [script.partition(OPEN) for script, _, _ in pieces]
    notes = [text for kind, is_script, text in scripts if is_script and kind == _NOTE]
    if notes:
        scripts = [each for each in scripts if each[:2] != (_NOTE, OPEN)]
    data = [text for kind, _, text in scripts if text and (kind or _STATE.search(text, 0, _START))]
    ids = [script for script, is_script, _ in scripts if not is_script]
    marked = "".join([first, *(after for _, _, after in pieces)])
    segments = [each for each in segments_of(marked) if each[0] != "notice"]
    visible = "".join([text for place, text in segments if not place]) if segments else marked
    if not any(place for place, _ in segments):
        segments = []
    return Parts(visible, segments, data, len(ids) < len(scripts), ids, notes)


def text_of(marked: str) -> str:
    """Return the text of a piece of marked text without marks and heads."""
    return " ".join(_ANY_MARK.sub(" ", " ".join(marked.split(OPEN)[0::2])).split())


@cache
def _stylesheet(
    is_deep: bool, with_images: bool, with_unread: bool, with_sources: bool
) -> etree.XSLT:
    inside, data = "<xsl:apply-templates/>", _value(".") + _text(UNSCRIPT)
    unread = _unread("local-name()") if with_unread else ""
    source = _source(_SOURCES) if with_sources else ""
    line = _value("normalize-space()") + _text("&#10;")
    lines = f'<xsl:for-each select="descendant::text()">{line}</xsl:for-each>'
    framed = _text(_FRAME) + _value("@srcdoc") + _text(_UNFRAME)
    scripts = (
        ("contains(@type, 'json')", _text(f"{SCRIPT}json{OPEN}") + data),
        (_MAY_BE_STATE, _text(f"{SCRIPT}{OPEN}") + data),
        ("true()", _text(f"{SCRIPT}{OPEN}{UNSCRIPT}") + unread),
    )
    media = source + (unread or _note(".", lines))
    # No predicate in a match: libxslt would count the siblings of each element for it.
    templates = [
        # Only the element: if it is part of a larger tree, its tail is not part of the page.
        '<xsl:template match="/"><xsl:apply-templates select="*"/></xsl:template>',
        _template(["style"], unread),
        _template(["svg"], _picture(unread, with_unread)),
        _template(_CHOICES, unread or _note(".", lines)),
        _template(["audio", "video"], media),
        _template(["iframe"], _choice(("@srcdoc", framed + unread), ("true()", media))),
        _template(["embed"], source + inside),
        _template(["script"], _choice(*scripts)),
        _template(["br"], _text(LINE_END) + inside),
        _template(
            ["a"], _choice((_PLACE, inside), ("true()", _text(LINK) + inside + _text(UNLINK)))
        ),
        # A button is drawn as a box, apart from the text around it.
        _template(["button"], _text(f" {LINK}") + inside + _text(f"{UNLINK} ")),
    ]
    for tag in _INLINE:
        block = _text(f"{OPEN}{tag} {OPEN}") + inside + _text(CLOSE)
        hidden = (_IS_HIDDEN, _text(HIDE) + block + _text(UNHIDE))
        within = _text(_BEGIN) + inside + _text(_END)
        plain = ("not(@style or @hidden)", within)  # so are most
        body = _choice(plain, hidden, (_IS_LINE, block), ("true()", within))
        templates.append(_template([tag], body))
    templates += [_block_template(tag, inside) for tag in _CONTAINERS + _OTHER_BLOCKS]
    if with_sources:
        templates.append(_block_template("object", _source("@data") + inside))
    alternative = "" if with_unread else _note("@alt")
    image = inside
    if with_images:
        address = _text(IMAGE) + _value("normalize-space(@src)") + _text(UNIMAGE)
        image = _choice(("normalize-space(@src)", address), ("true()", inside))
    templates.append(_template(["img"], alternative + source + image))
    if alternative:
        value = _choice((_IS_SHOWN, _note("@value") + _note("@placeholder") + alternative))
        templates.append(_template(["input"], value + inside))
    if is_deep:
        templates.append(_deep_template(with_unread))
    return etree.XSLT(
        etree.XML(
            '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
            ' xmlns:h="http://www.w3.org/1999/xhtml"><xsl:output method="text" encoding="UTF-8"/>'
            f"{''.join(templates)}</xsl:stylesheet>"
        )
    )


def _block_template(tag: str, inside: str) -> str:
    is_shown = {"template": _IS_SHADOW, "noscript": "false()"}.get(tag, f"not({_IS_HIDDEN})")
    head, rest, waits = _text(f"{OPEN}{tag} "), _text(OPEN) + inside + _text(CLOSE), ""
    if tag in _CONTAINERS:
        head += _value("@class") + _text(" ") + _value("@role")
        waits = f'<xsl:if test="{_IS_STREAMED}">{_text(_WAITS)}</xsl:if>'
    hidden = _text(HIDE) + head + waits + rest + _text(UNHIDE)
    body = _choice((is_shown, head + rest), ("true()", hidden))
    if tag == "div":  # an empty one, which a script may fill
        root = _text(SCRIPT) + _value("@id") + _text(UNSCRIPT)
        body = f'<xsl:if test="{_EMPTY}">{root}</xsl:if>{body}'
    return _template([tag], body)


def _note(path: str, text: str = "") -> str:
    """Write a note if a path has text: `text`, by default the text of the path."""
    value = f"normalize-space({path})"
    body = _text(f"{SCRIPT}{_NOTE}{OPEN}") + (text or _value(value)) + _text(UNSCRIPT)
    return f'<xsl:if test="{value}">{body}</xsl:if>'


def _source(path: str) -> str:
    """Write the addresses at a path, except the address of a pixel that counts visits."""
    each = _text(SOURCE) + _value("normalize-space()") + _text(UNSOURCE)
    each = f'<xsl:for-each select="{path}">{each}</xsl:for-each>'
    return f'<xsl:if test="not({_IS_PIXEL})">{each}</xsl:if>'


def _picture(unread: str, with_unread: bool) -> str:
    """Write the text of a picture, if it shows any, as blocks in a row: see `_deep_template`."""
    shown = _either("parent", _IN_PICTURES)
    piece = _choice(
        (_either("self", _PICTURE_BLOCKS), _text(f"{CLOSE}{OPEN}text {OPEN}")),
        ("self::br or (self::tspan and (@x or @dy))", _text(LINE_END)),
        (f"self::text() and ({shown})", _value(".")),
        ("self::text()", _unread("local-name(..)") if with_unread else ""),
    )
    texts = f'<xsl:for-each select="descendant::node()">{piece}</xsl:for-each>'
    has_text = "descendant::*[self::text or self::foreignobject or self::foreignObject]"
    block = _text(f"{OPEN}svg {OPEN}") + texts + _text(CLOSE)
    return _choice((has_text, block), ("true()", unread))


def _unread(name: str) -> str:
    """Write unread text, and the name of its element."""
    return _text(UNREAD) + _value(name) + _text(OPEN) + _value(".") + _text(ENDUNREAD)


def _deep_template(with_unread: bool) -> str:
    """Write an element that is too deep as blocks in a row: each ends where the next begins."""
    unread = _either("parent", [*_SKIPPED, "script", "noscript", "template"])
    of_choice = f"self::text() and ({_either('parent', _CHOICES)})"
    notes = [(of_choice, "."), ("self::img", "@alt"), ("self::iframe", "@srcdoc")]
    of_unread = (
        _choice(("self::text()", _unread("local-name(..)")))
        if with_unread
        else _choice(*((test, _note(path)) for test, path in notes))
    )
    start = _text(CLOSE + OPEN) + _value("local-name()") + _text(f" {OPEN}")
    piece = _choice(
        (_either("self", _CONTAINERS + _OTHER_BLOCKS), start),
        ("self::br", _text(LINE_END)),
        (f"not(self::text()) or {unread}", of_unread),
        ("parent::a", _text(LINK) + _value(".") + _text(UNLINK)),
        ("parent::button", _text(f" {LINK}") + _value(".") + _text(f"{UNLINK} ")),
        ("true()", _value(".")),
    )
    return (
        f'<xsl:template match="{"*/" * _MAX_DEPTH}*" priority="9">'
        f'<xsl:for-each select="descendant-or-self::node()">{piece}</xsl:for-each></xsl:template>'
    )


def _either(axis: str, tags: Collection[str]) -> str:
    return " or ".join(f"{axis}::{tag}" for tag in tags)


def _template(tags: Collection[str], body: str) -> str:
    match = "|".join(f"{tag}|h:{tag}" for tag in tags)
    return f'<xsl:template match="{match}">{body}</xsl:template>'


def _choice(*cases: tuple[str, str]) -> str:
    whens = (f'<xsl:when test="{test}">{body}</xsl:when>' for test, body in cases)
    return f"<xsl:choose>{''.join(whens)}</xsl:choose>"


def _value(path: str) -> str:
    return f'<xsl:value-of select="{path}"/>'


def _text(text: str) -> str:
    return f"<xsl:text>{text}</xsl:text>"


def segments_of(marked: str) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each piece of marked text without scripts, see `Parts`.

    Nothing is yielded if nothing is hidden. The place of a noscript that only requests JavaScript
    is "notice". Hidden pieces without text are left out.
    """
    if HIDE[0] not in marked:
        return
    around: list[str] = []  # the places of the hidden parts around a piece
    for is_hidden, hidden in enumerate(marked.split(HIDE)):
        for is_end, piece in enumerate(hidden.split(UNHIDE)):
            if is_end:
                around.pop()
            elif is_hidden:
                waits = piece.split(OPEN, 2)[1].endswith(_WAITS)
                is_template = piece.startswith(_TEMPLATE)
                around.append("template" if is_template else "waiting" if waits else "hidden")
            if not around:
                yield "", piece
                continue
            shown = _IMAGE.sub("", piece) if IMAGE[0] in piece else piece
            shown = with_pictures(shown, are_text=False)
            if any(text and not text.isspace() for text in shown.split(OPEN)[0::2]):
                is_short = len(around) == 1 and len(shown) <= _NOTICE
                if is_short and shown.startswith(_NOSCRIPT) and "javascript" in shown.lower():
                    yield "notice", shown
                else:
                    yield max(around, key=_PLACES.index), shown


_is_deep = etree.XPath("boolean(" + "/*" * _MAX_DEPTH + ")")
