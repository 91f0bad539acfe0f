"""Bytes of a page -> str -> lxml tree, whatever encoding its server and author declare.

The encoding is, in this order:

1. the encoding of a byte order mark;
2. the charset of the Content-Type header, else of a meta element or XML declaration, by the
   names of the web (w3lib: gb2312 is read as gb18030), if the bytes are valid in it. Single-byte
   encodings accept nearly any bytes, so UTF-8 is tried before them;
3. UTF-8, if the bytes are valid;
4. the declared one, or UTF-8, if nearly all bytes are valid;
5. the one that charset-normalizer finds most plausible, else the declared one, else windows-1252.

charset-normalizer gets only the text that is not ASCII, without markup: so it takes 1 ms, and errs
less than on whole pages. Latin letters without a declaration are read as windows-1252, as browsers
do. Never raises: bytes that cannot be decoded become replacement characters. A character cut off at
the end is left out.

Cost: 0.06 ms to decode 100 KB of UTF-8, 0.4 ms of GBK, 1 to 2 ms in step 5; 0.9 ms to parse 100 KB.
"""

import codecs
import re

from charset_normalizer import from_bytes
from lxml import etree, html
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    to_unicode,
)

DOCUMENT_STARTS = (
    # PDF, ZIP (also of newer office files), gzip, bzip2, 7z, xz, RAR, Zstandard, old office files.
    rb"%PDF-|PK\x03\x04|\x1f\x8b\x08|BZh|7z\xbc\xaf\x27\x1c|\xfd7zXZ\x00|Rar!\x1a\x07|\x28\xb5\x2f\xfd|"
    rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)
"""A pattern for the first bytes of documents and archives."""
_SIGNATURE = re.compile(
    DOCUMENT_STARTS + rb"|"
    # Images, sound, films (Matroska); programs, fonts, databases.
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF|OggS|ID3|\x1aE\xdf\xa3|"
    rb"\x7fELF|wOF[F2]|SQLite format 3\x00"
)
_BINARY_SAMPLE = 4096
_MAX_BINARY_SHARE = 0.05
_BINARY_BYTES = bytes(b for b in range(0x20) if b not in b"\t\n\f\r\x1b")

_MULTI_BYTE = frozenset(
    ("gb18030", "hz", "big5", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949", "johab")
)
WEB_ENCODINGS = _MULTI_BYTE | {
    *"utf-8 ascii koi8-r koi8-u mac-roman mac-cyrillic cp866 cp874".split(),
    *(f"cp{number}" for number in range(1250, 1259)),
    *(f"iso8859-{number}" for number in range(1, 17) if number != 12),
}
"""The encodings that a declaration may name, by the names of Python's codecs: the encodings of the
WHATWG Encoding Standard. Python has other codecs that are no encodings of text ("punycode", "hex").
UTF-16 is left out: a page that declares UTF-16 wrongly would be read as Chinese."""

_MAX_BROKEN_UTF8 = 0.05
"""Share of the characters beyond ASCII that may be broken. In no other encoding are 19 of 20 such
characters valid UTF-8."""
_MAX_BROKEN = 0.01
"""The same for other encodings. East Asian encodings accept most of one another's bytes."""

_CANDIDATES = (
    "gb18030 big5 big5hkscs cp932 euc_jp cp949 cp1251 koi8_r koi8_u cp1253 cp1255 cp1256 cp874 "
    "cp1252 cp1250"
).split()
_LATIN = ("cp1250", "cp1252")
_MOST_LEVELS = (256, 0)
"""Levels of a page that is too deep that stay, as far as its tags tell them; none if they are
wrong."""
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s<>/]*)[^<>]*>")
_NOT_NESTED = frozenset(
    b"a area base body br col embed head hr html iframe img input link meta param script "
    b"source style textarea title track wbr".split()
)
_IN_LINES = frozenset(
    b"abbr acronym b bdi bdo big button cite code data del dfn em font i ins kbd label mark nobr q "
    b"ruby s samp small span strike strong sub sup time tt u var".split()
)
_SAMPLED_BYTES = 500_000
_SAMPLE_BYTES = 20_000
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_MIN_FOREIGN_BYTES = 8
"""With fewer bytes beyond ASCII (a copyright sign, a word of French) a guess is worthless."""


def begins_as_file(body: bytes) -> bool:
    """Return whether a body begins as a well-known file format does that is not text."""
    return _SIGNATURE.match(body) is not None


def looks_binary(body: bytes) -> bool:
    """Return whether a body is not text in any encoding; an empty one is not binary.

    It is binary if it begins as a well-known file format does, or if more than 5 % of its first
    4 KB are bytes that no text has (WHATWG MIME Sniffing Standard, section 3).
    """
    if begins_as_file(body):
        return True
    sample = body[:_BINARY_SAMPLE]
    binary = len(sample) - len(sample.translate(None, _BINARY_BYTES))
    if binary <= _MAX_BINARY_SHARE * len(sample):
        return False
    return not read_bom(body)[0]


def decode(body: bytes, content_type: str | None = None) -> str:
    """Read a page's bytes as text; `content_type` is the value of the header."""
    return as_utf8(body, content_type).decode()


def as_utf8(body: bytes, content_type: str | None = None) -> bytes:
    """Return a page's bytes as UTF-8; valid UTF-8 is not copied."""
    encoding, mark = read_bom(body)
    if encoding is not None:
        return _recoded(body[len(mark or b"") :], encoding)
    declared = _declared(body, content_type)
    claims = (declared, "utf-8") if declared in _MULTI_BYTE else ("utf-8", declared)
    for read in (_wholly, _nearly):
        for claim in filter(None, claims):
            found = read(body, claim)
            if found is not None:
                return found
    return _recoded(body, guess_encoding(body) or declared or "cp1252")


def parse(markup: str | bytes) -> html.HtmlElement | None:
    """Parse a page, bytes as UTF-8, by the rules of HTML; None when there is nothing in it.

    XHTML is parsed as HTML, too: as XML, one stray "&" would end the page. libxml2 ends a page at
    the first element that is 2,048 levels deep (a thread of replies, a tag that is never closed).
    Such a page is parsed again, with blocks in a row in place of its deep elements.
    """
    # Unpaired surrogates have no UTF-8; libxml2 ends a text at NUL.
    body = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    if b"\0" in body:
        body = body.replace(b"\0", b"")
    if not body or body.isspace():
        return None
    root, is_whole = _parsed(body)
    for most in _MOST_LEVELS:
        if not is_whole:
            root, is_whole = _parsed(_flattened(body, most))
    return root


def _parsed(body: bytes) -> tuple[html.HtmlElement | None, bool]:
    """Parse a page; return also whether it was parsed to its end."""
    # To collect ids for XPath's id() would take a twelfth of the time.
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, collect_ids=False)
    # The parser recovers from any other fault, and returns None for a page without elements.
    root = etree.fromstring(body, parser)
    last = parser.error_log.last_error
    # Versions of libxml2 give this error different types.
    return root, last is None or "Excessive depth" not in last.message


def _flattened(body: bytes, most: int) -> bytes:
    """Write elements below so many levels as paragraphs in a row, without their tags in lines."""
    level = 0

    def flat(tag: re.Match[bytes]) -> bytes:
        nonlocal level
        is_end, name = tag[1], tag[2].lower()
        if name in _NOT_NESTED:
            return tag[0]
        level += not is_end
        is_deep = level > most
        level = max(level - bool(is_end), 0)
        if not is_deep:
            return tag[0]
        return b" " if name in _IN_LINES or b"-" in name else b"<p>"

    return _TAG.sub(flat, body)


def guess_encoding(body: bytes) -> str | None:
    """Return the most plausible ASCII-compatible encoding of a body, None if it is undecidable.

    Single-byte encodings of Latin letters count as one: "cp1252".
    """
    # The texts between tags: no candidate has the bytes of "<" and ">" inside a character.
    texts = (piece.rpartition(b">")[2] for piece in body[:_SAMPLED_BYTES].split(b"<"))
    sample = b" ".join(text for text in texts if not text.isascii())[:_SAMPLE_BYTES]
    if len(sample) - len(sample.translate(None, _BEYOND_ASCII)) < _MIN_FOREIGN_BYTES:
        return None
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    encoding = None if best is None else best.encoding
    return "cp1252" if encoding in _LATIN else encoding


def _declared(body: bytes, content_type: str | None) -> str | None:
    in_header = http_content_type_encoding(content_type)
    if in_header in WEB_ENCODINGS:
        return in_header
    in_body = html_body_declared_encoding(body)
    return in_body if in_body in WEB_ENCODINGS else None


def _recoded(body: bytes, encoding: str) -> bytes:
    return to_unicode(body, encoding).encode("utf-8", "replace")


def _wholly(body: bytes, encoding: str) -> bytes | None:
    try:
        if encoding == "utf-8":
            return body[: codecs.utf_8_decode(body, "strict", False)[1]]
        text = codecs.getincrementaldecoder(encoding)().decode(body, final=False)
    except UnicodeError:
        return None
    return text.encode("utf-8", "replace")


def _nearly(body: bytes, encoding: str) -> bytes | None:
    text = to_unicode(body, encoding)
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    bearable = _MAX_BROKEN_UTF8 if encoding == "utf-8" else _MAX_BROKEN
    is_bearable = text.count("\ufffd") <= bearable * beyond_ascii
    return text.encode("utf-8", "replace") if is_bearable else None
