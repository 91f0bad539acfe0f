"""Bytes of a page -> str -> lxml tree, whatever its server and author say of the encoding.

    looks_binary   whether the bytes are text in any encoding
    decode         bytes and Content-Type -> str
    as_utf8        the same as bytes of UTF-8, without the way to str and back for pages of UTF-8
    parse          str or UTF-8 -> lxml tree, always by the rules of HTML

The encoding is, in this order:

1. that of a byte order mark, or UTF-16 if the zero bytes stand as they do there;
2. the charset of the Content-Type header, else of a meta element or XML declaration, by the
   names and aliases of the web (w3lib: gb2312 is read as gb18030), if the bytes are text in
   it. Single-byte encodings accept nearly any bytes, and hardly any text but UTF-8 is valid
   UTF-8, so UTF-8 is tried before a declared single-byte encoding;
3. UTF-8, if the bytes are valid;
4. the declared one, or UTF-8, if nearly all bytes are valid;
5. the one that charset-normalizer finds most plausible, else the declared one, else windows-1252.

charset-normalizer is given only the text that is not ASCII, without markup, and only encodings
that the web has used. So it takes 1 ms, and errs less than on whole pages. Encodings of Latin
letters cannot be told apart by their bytes: without a declaration they are read as windows-1252,
as browsers do, so that two copies of a page are read alike.

A body is binary if it begins as a well-known file format does, or if more than 5 % of its first
4 KB are bytes that no text has ("binary data bytes", WHATWG MIME Sniffing Standard, section 3;
random or compressed bytes have 10.5 %).

XHTML is parsed as HTML, too: as XML, its elements would be in a namespace, and one stray "&" would
end the page. libxml2 limits the depth of a tree (2.14 to 2,048 levels) and leaves out what comes
after; above 256 levels a page is malformed or hostile.

Never raises: bytes that cannot be decoded become replacement characters, a binary body the empty
string. A character cut off at the end is left out.

Cost: 5 us for `looks_binary`; 0.06 ms to decode 100 KB of UTF-8, 0.4 ms of GBK, 1 to 2 ms in step
5; 0.9 ms to parse 100 KB, 0.2 ms to free the tree. Not collecting ids for XPath's id() saves a
twelfth of that; dropping comments or the element classes of lxml.html saves nothing measurable.
"""

import codecs

from charset_normalizer import from_bytes
from lxml import etree, html
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    to_unicode,
)

__all__ = ["WEB_ENCODINGS", "as_utf8", "decode", "guess_encoding", "looks_binary", "parse"]

_SIGNATURES = (
    b"%PDF-",
    b"PK\x03\x04",  # zip and formats made of it: office documents, e-books, jars
    b"\x1f\x8b\x08",  # gzip
    b"BZh",
    b"7z\xbc\xaf\x27\x1c",
    b"\xfd7zXZ\x00",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",  # zstandard
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",  # JPEG
    b"GIF87a",
    b"GIF89a",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\x1aE\xdf\xa3",  # Matroska, WebM
    b"\x7fELF",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",  # old office documents
    b"wOFF",
    b"wOF2",
    b"SQLite format 3\x00",
)
_BINARY_SAMPLE = 4096
_MAX_BINARY_SHARE = 0.05
_BINARY_BYTES = bytes(b for b in range(0x20) if b not in b"\t\n\f\r\x1b")

_MULTI_BYTE = frozenset(
    ("gb18030", "hz", "big5", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949", "johab")
)
WEB_ENCODINGS = _MULTI_BYTE | {
    "utf-8",
    "ascii",
    "koi8-r",
    "koi8-u",
    "mac-roman",
    "mac-cyrillic",
    "cp866",
    "cp874",
    *(f"cp{number}" for number in range(1250, 1259)),
    *(f"iso8859-{number}" for number in range(1, 17) if number != 12),
}
"""The encodings that a declaration may name, by the names of Python's codecs: those of the WHATWG
Encoding Standard. Python knows others that are no encodings of text ("punycode", "hex"). UTF-16 is
left out: a page that declares it without being it would be read as Chinese."""

_MAX_BROKEN_UTF8 = 0.05
"""Share of the characters beyond ASCII that may be broken. No other encoding has bytes of which 19
of 20 are valid UTF-8."""
_MAX_BROKEN = 0.01
"""The same for other encodings. Those of East Asia accept most of one another's bytes."""

_CANDIDATES = (
    "gb18030 big5 big5hkscs cp932 euc_jp cp949 cp1251 koi8_r koi8_u cp1253 cp1255 cp1256 cp874 "
    "cp1252 cp1250"
).split()
_LATIN = ("cp1250", "cp1252")
_SAMPLED_BYTES = 500_000
_SAMPLE_BYTES = 20_000
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_MIN_FOREIGN_BYTES = 8
"""With fewer bytes beyond ASCII (a copyright sign, a word of French) a guess is worthless."""


def looks_binary(body: bytes) -> bool:
    """Tell whether a body is not text in any encoding; an empty one is not binary.

    >>> looks_binary(b"%PDF-1.7 ..."), looks_binary(b"<p>text"), looks_binary(b"")
    (True, False, False)
    """
    if body.startswith(_SIGNATURES):
        return True
    if read_bom(body)[0] or _utf16_without_mark(body):
        return False
    sample = body[:_BINARY_SAMPLE]
    binary = len(sample) - len(sample.translate(None, _BINARY_BYTES))
    return binary > _MAX_BINARY_SHARE * len(sample)


def decode(body: bytes, content_type: str | None = None) -> str:
    """Read a page's bytes as text; `content_type` is the value of the header.

    >>> decode("<p>联合国".encode("gbk"), "text/html; charset=gb2312")
    '<p>联合国'
    """
    if looks_binary(body):
        return ""
    marked = _decode_marked(body)
    return _decode_unmarked(body, _declared(body, content_type)) if marked is None else marked


def as_utf8(body: bytes, content_type: str | None = None) -> bytes:
    """Return what `decode` reads, as bytes of UTF-8.

    >>> as_utf8("<p>联合国".encode("gbk"), "text/html; charset=gb2312").decode()
    '<p>联合国'
    """
    if looks_binary(body):
        return b""
    text = _decode_marked(body)
    if text is None:
        declared = _declared(body, content_type)
        valid = None if declared in _MULTI_BYTE else _valid_utf8(body)
        if valid is not None:
            return valid
        text = _decode_unmarked(body, declared)
    return text.encode("utf-8", "replace")


def parse(markup: str | bytes) -> html.HtmlElement | None:
    """Parse a page, bytes as UTF-8; None when there is nothing in it."""
    # Unpaired surrogates have no UTF-8; libxml2 ends a text at NUL.
    body = markup.encode("utf-8", "replace") if isinstance(markup, str) else markup
    if b"\0" in body:
        body = body.replace(b"\0", b"")
    if not body or body.isspace():
        return None
    # The parser recovers from any fault, and returns None for a page without elements.
    return etree.fromstring(
        body, html.HTMLParser(encoding="utf-8", huge_tree=True, collect_ids=False)
    )


def guess_encoding(body: bytes) -> str | None:
    """Return the most plausible ASCII-compatible encoding of a body, None if there is no telling.

    Single-byte encodings of Latin letters count as one: "cp1252".
    """
    text = _foreign_text(body)
    foreign = len(text) - len(text.translate(None, _BEYOND_ASCII))
    if foreign < _MIN_FOREIGN_BYTES:
        return None
    best = from_bytes(text, cp_isolation=_CANDIDATES).best()
    if best is None:
        return None
    return "cp1252" if best.encoding in _LATIN else best.encoding


def _utf16_without_mark(body: bytes) -> str | None:
    """Return the byte order of UTF-16 text that lacks its mark; None for other bytes.

    Markup is ASCII, so at least a fifth of the high bytes are zero, and hardly a low one.
    """
    sample = body[:_BINARY_SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if even + odd <= 0.1 * len(sample):
        return None
    if even > 20 * odd:
        return "utf-16-be"
    return "utf-16-le" if odd > 20 * even else None


def _decode_marked(body: bytes) -> str | None:
    """Decode a body with a byte order mark, or in UTF-16; None: another body."""
    encoding, mark = read_bom(body)
    if encoding is not None and mark is not None:
        return to_unicode(body[len(mark) :], encoding)
    utf16 = _utf16_without_mark(body)
    return None if utf16 is None else to_unicode(body, utf16)


def _valid_utf8(body: bytes) -> bytes | None:
    """Return valid UTF-8 without a character that is cut off at its end; None for other bytes."""
    try:
        _, length = codecs.utf_8_decode(body, "strict", False)
    except UnicodeError:
        return None
    return body[:length]


def _declared(body: bytes, content_type: str | None) -> str | None:
    in_header = http_content_type_encoding(content_type)
    if in_header in WEB_ENCODINGS:
        return in_header
    in_body = html_body_declared_encoding(body)
    return in_body if in_body in WEB_ENCODINGS else None


def _decode_unmarked(body: bytes, declared: str | None) -> str:
    claims = (declared, "utf-8") if declared in _MULTI_BYTE else ("utf-8", declared)
    encodings = [encoding for encoding in claims if encoding is not None]
    for read in (_wholly, _nearly):
        for encoding in encodings:
            text = read(body, encoding)
            if text is not None:
                return text
    return to_unicode(body, guess_encoding(body) or declared or "cp1252")


def _wholly(body: bytes, encoding: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(body, final=False)
    except UnicodeError:
        return None


def _nearly(body: bytes, encoding: str) -> str | None:
    text = to_unicode(body, encoding)
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    bearable = _MAX_BROKEN_UTF8 if encoding == "utf-8" else _MAX_BROKEN
    return text if text.count("\ufffd") <= bearable * beyond_ascii else None


def _foreign_text(body: bytes) -> bytes:
    """Join the texts between tags that are not ASCII, up to the length of a sample.

    No candidate has the bytes of "<" and ">" inside a character.
    """
    texts = (piece.rpartition(b">")[2] for piece in body[:_SAMPLED_BYTES].split(b"<"))
    return b" ".join(text for text in texts if not text.isascii())[:_SAMPLE_BYTES]
