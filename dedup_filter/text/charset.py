"""Bytes without a trustworthy declaration -> the encoding they look like.

charset-normalizer judges candidates by how plausible the decoded letters are. It is given
the stretches of text that are not ASCII, without the markup, and the encodings that the web
has used, which makes it both faster (1 ms) and surer than on whole pages.

Encodings for Latin letters cannot be told apart by their bytes with any certainty. Pages in
them that declare nothing are read as windows-1252, as browsers do, and so at least two
copies of a page are read alike.
"""

from charset_normalizer import from_bytes

__all__ = ["MULTI_BYTE", "WEB_ENCODINGS", "guess_encoding"]

MULTI_BYTE = frozenset(
    ("gb18030", "hz", "big5", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949", "johab")
)

WEB_ENCODINGS = MULTI_BYTE | {
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
"""What a page can be declared to be in, by the names of Python's codecs.

Those of the WHATWG Encoding Standard; no others, because Python also knows "punycode", "hex"
and "unicode_escape". UTF-16 is not among them: bytes that are not it read as Chinese.
"""

_CANDIDATES = [
    "gb18030",
    "big5",
    "big5hkscs",
    "cp932",
    "euc_jp",
    "cp949",
    "cp1251",
    "koi8_r",
    "koi8_u",
    "cp1253",
    "cp1255",
    "cp1256",
    "cp874",
    "cp1252",
    "cp1250",
]
_LATIN = ("cp1250", "cp1252")
_SAMPLED_BYTES = 500_000
_SAMPLE_BYTES = 20_000
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_MIN_FOREIGN_BYTES = 8
"""Fewer are a copyright sign or a word of French, and look like anything."""


def guess_encoding(body: bytes) -> str | None:
    """Name the ASCII-compatible encoding that a body is most likely in; None: no telling."""
    text = _foreign_text(body)
    foreign = len(text) - len(text.translate(None, _BEYOND_ASCII))
    if foreign < _MIN_FOREIGN_BYTES:
        return None
    best = from_bytes(text, cp_isolation=_CANDIDATES).best()
    if best is None:
        return None
    return "cp1252" if best.encoding in _LATIN else best.encoding


def _foreign_text(body: bytes) -> bytes:
    """Join the stretches between tags that are not ASCII, as far as a sample needs them.

    None of the candidates uses the bytes of "<" and ">" inside a character.
    """
    stretches = (piece.rpartition(b">")[2] for piece in body[:_SAMPLED_BYTES].split(b"<"))
    return b" ".join(text for text in stretches if not text.isascii())[:_SAMPLE_BYTES]
