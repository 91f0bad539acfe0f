"""Tree -> marked text: all text, with marks where blocks, links, hidden parts and scripts are.

    <div class="a">one <a href="/">two</a><p>three</div>
    OPEN "div a " OPEN "one " LINK "two" UNLINK OPEN "p " OPEN "three" CLOSE CLOSE

CLOSE is an empty head between two OPEN, so that one split at OPEN gives heads and texts in
turn.

    <div hidden>one</div><noscript>two</noscript>     likewise <template>
    HIDE OPEN "div  " OPEN "one" CLOSE UNHIDE HIDE OPEN "noscript " OPEN "two" CLOSE UNHIDE

    <script type="module">go()</script><script>__STATE__ = {}</script><div id="app"></div>
    SCRIPT OPEN UNSCRIPT SCRIPT OPEN "__STATE__ = {}" UNSCRIPT SCRIPT "app" UNSCRIPT ...

A declared shadow root is an ordinary block. Of scripts the text is written that may be data: JSON,
or the state of a page. Beside them stand the empty elements with an id, which a script may fill.
What is read of all this, `concealed` tells.

One compiled XSLT (output method "text") writes it in C, three times as fast as a walk in
Python. The marks are boundary strings like those of a MIME multipart message (RFC 2046,
5.1.1): random private-use characters drawn once a process, which no page can know, so that
a page's own text needs no escaping. They never leave this layer.

libxslt recurses on the C stack, and a tree a thousand levels deep crashes a thread that
has a small one. Deep trees are therefore read by an iterative walk, which writes the same
text. Neither changes the tree.

Cost: 0.6 ms for a page of 100 KB (930 elements, 28,000 characters), a tenth of it to see how deep
the tree is; 2.1 ms if deep.
"""

import secrets
from collections.abc import Collection, Iterator
from string import ascii_lowercase, ascii_uppercase

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
    "marked_text",
    "walked_text",
]

_MAX_XSLT_DEPTH = 256
_XHTML = "http://www.w3.org/1999/xhtml"
_PLACE = "starts-with(@href, '#') or (@name and not(@href))"
_SHADOW_MODES = ("open", "closed")
_START = 300
_STATE = "__"
"""Frameworks give what they keep a page's state in such names: __NUXT__, __INITIAL_STATE__."""
_EMPTY = "@id and not(*) and normalize-space() = ''"


def _boundary(lead: int) -> str:
    # The lead character is a mark's own and does not occur in its tail, so marks cannot
    # overlap themselves, one another or a piece of the page's text.
    return chr(lead) + "".join(chr(0xE000 + secrets.randbelow(0x1800)) for _ in range(3))


OPEN, LINK, UNLINK, HIDE, UNHIDE, SCRIPT, UNSCRIPT = (_boundary(0xF800 + i) for i in range(7))
CLOSE = OPEN + OPEN


def marked_text(tree: etree._Element) -> str:
    """Write all text of a tree with marks around its blocks, links, hidden parts and scripts."""
    if _is_deep(tree):
        return walked_text(tree)
    return str(_write(tree))


def walked_text(tree: etree._Element) -> str:
    """Write what `marked_text` writes, by a walk in Python that no depth can overflow."""
    return "".join(_pieces(tree))


def _pieces(tree: etree._Element) -> Iterator[str]:
    walk = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, node in walk:
        # Comments and the like have functions for tags; only what follows them is text.
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
        # Not lower(): XPath can make only the letters of ASCII small.
        mode = (element.get("shadowrootmode") or "").translate(_SMALL)
        return mode not in _SHADOW_MODES
    return tag == "noscript" or "hidden" in element.attrib


def _empty_root(element: etree._Element) -> str:
    """Tell of an element that a script may fill."""
    if _name(element) != "div" or not _is_empty(element):
        return ""
    return f"{SCRIPT}{element.get('id')}{UNSCRIPT}"


def _script(node: etree._Element) -> str:
    """Write a script, "" for what is none."""
    if not isinstance(node.tag, str) or _name(node) != "script":
        return ""
    kind, text = node.get("type", ""), str(_string(node))
    has_data = "json" in kind or _STATE in text[:_START]
    return f"{SCRIPT}{kind if has_data else ''}{OPEN}{text if has_data else ''}{UNSCRIPT}"


def _is_link(element: etree._Element) -> bool:
    """Tell a link that leads away from a place, or a reference to one, on the same page."""
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
    """Tell an HTML element's name, "" for an element of another language."""
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
        # Only elements: one that was cut out of its tree still has its tail beside it.
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
    """Tell of an empty element that a script may fill."""
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


_BLOCKS = BLOCK_LEVEL | {"noscript", "template"}
_SKIPPED = SKIPPED | {"script"}
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)
_SHOWN = {
    "noscript": "false()",
    "template": " or ".join(f"{_small('@shadowrootmode')} = '{mode}'" for mode in _SHADOW_MODES),
}
"""When what is in an element is in sight; elsewhere, where it has no attribute `hidden`."""
_write = _stylesheet()
_string = etree.XPath("string()")
_is_empty = etree.XPath(f"boolean({_EMPTY})")
_is_deep = etree.XPath("boolean(" + "/*" * _MAX_XSLT_DEPTH + ")")
