"""Whatever a page's bytes are said to be, its text comes out."""

import codecs
import encodings
import gzip
import random
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_filter.text.decode import WEB_ENCODINGS, as_utf8, decode, guess_encoding, looks_binary

CHINESE = "联合国大会通过决议，各国代表在会上发言，讨论了气候变化和粮食安全等重要问题。"
TAIWANESE = "聯合國大會通過決議，各國代表在會上發言，討論了氣候變化和糧食安全等重要問題。"
JAPANESE = "このページでは、検索エンジンがウェブページの重複をどのように見つけるかを説明します。"
KOREAN = "이 문서는 웹 페이지의 중복을 검색 엔진이 어떻게 찾아내는지 자세하게 설명합니다."
RUSSIAN = "Эта страница объясняет, как поисковая машина находит повторяющиеся документы."
GERMAN = "Die Straße führt über die Brücke zum schönen Häuschen, größer als früher."


def page(text: str, charset: str | None = None) -> str:
    meta = f'<meta charset="{charset}">' if charset else ""
    style = "<style>body { color: #333 }</style>" * 20
    return f"<html><head>{meta}<title>x</title>{style}</head><body><p>{text}</p></body></html>"


LEGACY = [
    (CHINESE, "gb2312"),
    (CHINESE, "gbk"),
    (CHINESE + "㐂𠮷", "gb18030"),
    (TAIWANESE, "big5"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc-jp"),
    (KOREAN, "euc-kr"),
    (RUSSIAN, "windows-1251"),
    (RUSSIAN, "koi8-r"),
    (GERMAN, "iso-8859-1"),
]


@pytest.mark.parametrize(("text", "charset"), LEGACY)
def test_legacy_encodings(text: str, charset: str):
    plain, declared, other = page(text), page(text, charset), page(text, "utf-8")
    assert decode(plain.encode(charset), f"text/html; charset={charset}") == plain
    assert decode(declared.encode(charset)) == declared
    assert decode(plain.encode(charset), "text/html") == plain, "not declared"
    assert decode(other.encode(charset), "text/html; charset=utf-8") == other
    assert decode(declared.encode(), f"text/html; charset={charset}") == declared, "is UTF-8"


@pytest.mark.parametrize(
    ("text", "charset", "declared"),
    [
        (CHINESE, "gbk", "big5"),
        (CHINESE, "gbk", "windows-1253"),
        (TAIWANESE, "big5", "shift_jis"),
        (TAIWANESE, "big5", "euc-kr"),
        (JAPANESE, "shift_jis", "euc-kr"),
        (JAPANESE, "euc-jp", "shift_jis"),
        (KOREAN, "euc-kr", "windows-1255"),
    ],
)
def test_declaration_that_the_bytes_contradict(text: str, charset: str, declared: str):
    body = page(text, declared).encode(charset)
    assert decode(body, f"text/html; charset={declared}") == page(text, declared)


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark_is_believed_before_any_declaration(codec: str):
    text = page(CHINESE, "gb2312")
    assert decode(text.encode(codec), "text/html; charset=big5") == text


@pytest.mark.parametrize("charset", "none  hex punycode unicode_escape utf-7 base64".split(" "))
def test_names_that_are_not_encodings_of_the_web(charset: str):
    for name in (charset, charset * 1000):
        assert decode(page(CHINESE).encode(), f"text/html; charset={name}") == page(CHINESE)


def broken(text: str, codec: str, part: str, noise: bytes) -> bytes:
    return text.encode(codec).replace(part.encode(codec), noise, 1)


RARE, IN_GBK, SEVEN_BITS = (
    CHINESE + "镕喆",
    page(CHINESE * 10, "gbk"),
    page(JAPANESE, "iso-2022-jp"),
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        # What the web calls gb2312 is gbk.
        (page(RARE, "gb2312").encode("gbk"), page(RARE, "gb2312")),
        # Seven bits, but not ASCII.
        (SEVEN_BITS.encode("iso-2022-jp"), SEVEN_BITS),
        # A page that declares UTF-16 without being it.
        (page("plain", "utf-16").encode(), page("plain", "utf-16")),
        # A few broken bytes contradict neither UTF-8 nor a declaration.
        (
            broken(CHINESE * 10, "utf-8", "国", b"\xe5\x9b"),
            (CHINESE * 10).replace("国", "\ufffd", 1),
        ),
        (broken(IN_GBK, "gbk", "决议", b"\xff\xff"), IN_GBK.replace("决议", "\ufffd\ufffd", 1)),
        # A character that is cut off, and one of another encoding.
        ("<p>联合国".encode()[:-1], "<p>联合"),
        (b"<p>\xa9 2020 Example Inc.", "<p>© 2020 Example Inc."),
        (page(GERMAN).encode().replace(b"</p>", b"\0</p>"), page(GERMAN).replace("</p>", "\0</p>")),
        (b"", ""),
    ],
)
def test_odd_bytes(body: bytes, text: str):
    assert decode(body) == text


DECLARED = ["gbk", "big5", "shift_jis", "euc-kr", "utf-16", "hz", "iso-2022-jp", "cp1255"]


@given(
    st.binary(max_size=2000)
    | st.binary(max_size=200).map(lambda noise: page(CHINESE).encode("gbk") + noise),
    st.none()
    | st.text(max_size=40)
    | st.sampled_from(DECLARED).map("text/html; charset={}".format),
)
@example(codecs.BOM_UTF16_LE + b"\x00\xd8", None)
@example(b"\xff" * 1000, "text/html; charset=hz")
@example(b"", "text/html; charset=gbk")
def test_never_raises(body: bytes, content_type: str | None):
    assert isinstance(decode(body, content_type), str)


def test_valid_utf8_is_not_copied():
    body = page(CHINESE).encode()
    assert as_utf8(body) is body
    assert as_utf8(body + "é".encode()[:1]) == body


@pytest.mark.parametrize(
    ("body", "guess"),
    [
        # Latin encodings are one, scripts do not drown the text, next to nothing gives none.
        ("<p>Zażółć gęślą jaźń, pójdźże kiń tę chmurność.</p>".encode("cp1250") * 5, "cp1252"),
        (f"<p>{GERMAN}</p>".encode("cp1252") * 5, "cp1252"),
        (b"<script>" + b"a=1;" * 20_000 + f"</script>{CHINESE}".encode("gbk"), "gb18030"),
        (b"<p>plain", None),
        (b"<p>caf\xe9", None),
    ],
)
def test_what_bytes_are_that_nothing_is_said_of(body: bytes, guess: str | None):
    assert guess_encoding(body) == guess


def test_every_encoding_of_the_web_is_known_by_this_name():
    for name in WEB_ENCODINGS:
        assert encodings.search_function(name).name == name  # type: ignore[union-attr]


NOISE = random.Random(20070601).randbytes(10_000)


BINARY = [
    *(b"%PDF-1.4 and text" * 9, b"\xff\xd8\xff\xe0 and text" * 9, b"PK\x03\x04 and text" * 9),
    *(b"GIF89a and text" * 9, b"\x89PNG\r\n and text" * 9, b"wOF2 and text" * 9),
    *(gzip.compress(b"<p>text" * 100, mtime=0), zlib.compress(NOISE), NOISE, b"\0" * 1000),
    b"\0\0\0\x18ftypmp42" + NOISE,
]
CODECS = ("utf-8", "gb18030", "utf-8-sig", "utf-16", "utf-32")
TEXTS = [
    *("<html><p>网页 page 頁\t\n</p></html>".encode(codec) for codec in CODECS),
    b"",
    "<p>网页 page 頁\t\n</p>".encode() * 20 + b"\0\0\0",
    # Its terminal escapes are binary data bytes, but for one that the standard leaves out.
    "日本語の文章と english ".encode("iso-2022-jp") * 50,
]


@pytest.mark.parametrize("body", BINARY + TEXTS, ids=lambda body: f"{body[:9]}")
def test_binary_bodies(body: bytes):
    assert looks_binary(body) == (body in BINARY)
