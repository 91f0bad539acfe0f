"""Whatever a page's bytes are said to be, its text comes out."""

import codecs
import encodings
import gzip
import random
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_filter.text import as_utf8, decode, looks_binary
from dedup_filter.text.decode import WEB_ENCODINGS, guess_encoding

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
    pytest.param(CHINESE, "gb2312", id="gb2312"),
    pytest.param(CHINESE, "gbk", id="gbk"),
    pytest.param(CHINESE + "㐂𠮷", "gb18030", id="gb18030"),
    pytest.param(TAIWANESE, "big5", id="big5"),
    pytest.param(JAPANESE, "shift_jis", id="shift_jis"),
    pytest.param(JAPANESE, "euc-jp", id="euc-jp"),
    pytest.param(KOREAN, "euc-kr", id="euc-kr"),
    pytest.param(RUSSIAN, "windows-1251", id="windows-1251"),
    pytest.param(RUSSIAN, "koi8-r", id="koi8-r"),
    pytest.param(GERMAN, "iso-8859-1", id="iso-8859-1"),
]


@pytest.mark.parametrize(("text", "charset"), LEGACY)
class TestLegacyEncodings:
    def test_declared_in_the_header(self, text: str, charset: str):
        body = page(text).encode(charset)
        assert decode(body, f"text/html; charset={charset}") == page(text)

    def test_declared_in_a_meta_element(self, text: str, charset: str):
        declared = page(text, charset)
        assert decode(declared.encode(charset)) == declared

    def test_not_declared(self, text: str, charset: str):
        assert decode(page(text).encode(charset), "text/html") == page(text)

    def test_declared_as_utf8(self, text: str, charset: str):
        body = page(text, "utf-8").encode(charset)
        assert decode(body, "text/html; charset=utf-8") == page(text, "utf-8")

    def test_utf8_declared_as_this(self, text: str, charset: str):
        declared = page(text, charset)
        assert decode(declared.encode(), f"text/html; charset={charset}") == declared


def test_gbk_characters_under_the_name_gb2312():
    text = page(CHINESE + "镕喆", "gb2312")
    assert decode(text.encode("gbk")) == text


@pytest.mark.parametrize(
    ("text", "charset", "declared"),
    [
        pytest.param(CHINESE, "gbk", "big5", id="gbk as big5"),
        pytest.param(CHINESE, "gbk", "windows-1253", id="gbk as greek"),
        pytest.param(TAIWANESE, "big5", "shift_jis", id="big5 as shift_jis"),
        pytest.param(TAIWANESE, "big5", "euc-kr", id="big5 as euc-kr"),
        pytest.param(JAPANESE, "shift_jis", "euc-kr", id="shift_jis as euc-kr"),
        pytest.param(JAPANESE, "euc-jp", "shift_jis", id="euc-jp as shift_jis"),
        pytest.param(KOREAN, "euc-kr", "windows-1255", id="euc-kr as hebrew"),
    ],
)
def test_declaration_that_the_bytes_contradict(text: str, charset: str, declared: str):
    body = page(text, declared).encode(charset)
    assert decode(body, f"text/html; charset={declared}") == page(text, declared)


def test_a_few_broken_bytes_do_not_contradict_a_declaration():
    text = page(CHINESE * 10, "gbk")
    body = text.encode("gbk").replace("决议".encode("gbk"), b"\xff\xff", 1)
    assert decode(body) == text.replace("决议", "\ufffd\ufffd", 1)


def test_iso_2022_jp_is_seven_bits_but_not_ascii():
    text = page(JAPANESE, "iso-2022-jp")
    assert decode(text.encode("iso-2022-jp")) == text


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark_is_believed_before_any_declaration(codec: str):
    text = page(CHINESE, "gb2312")
    assert decode(text.encode(codec), "text/html; charset=big5") == text


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [CHINESE, GERMAN])
def test_utf16_without_mark_or_declaration(text: str, codec: str):
    assert decode(page(text).encode(codec)) == page(text)


def test_utf16_declared_by_a_page_that_is_not():
    text = page("plain text")
    assert decode(text.encode(), "text/html; charset=utf-16") == text


def test_a_few_broken_bytes_leave_the_rest_utf8():
    text = page(CHINESE * 10)
    body = text.encode().replace("国".encode(), b"\xe5\x9b", 1)
    assert decode(body) == text.replace("国", "\ufffd", 1)


def test_body_cut_in_the_middle_of_a_character():
    assert decode("<p>联合国".encode()[:-1]) == "<p>联合"


def test_stray_latin_byte_in_ascii():
    assert decode(b"<p>\xa9 2020 Example Inc.") == "<p>© 2020 Example Inc."


@pytest.mark.parametrize(
    "charset", ["none", "", "hex", "punycode", "unicode_escape", "utf-7", "base64", "x" * 1000]
)
def test_names_that_are_not_encodings_of_the_web(charset: str):
    text = page(CHINESE)
    assert decode(text.encode(), f"text/html; charset={charset}") == text


def test_empty_body():
    assert decode(b"") == ""
    assert decode(b"", "text/html; charset=gbk") == ""


def test_a_few_nul_bytes_do_not_hide_a_page():
    body = page(GERMAN).encode().replace(b"</p>", b"\0</p>")
    assert decode(body).replace("\0", "") == page(GERMAN)


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
def test_never_raises(body: bytes, content_type: str | None):
    assert isinstance(decode(body, content_type), str)


@given(
    st.binary(max_size=60)
    | st.sampled_from([page(CHINESE), page(GERMAN, "utf-8"), page(JAPANESE, "iso-2022-jp")]).map(
        str.encode
    ),
    st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, "é".encode()[:1], b"\0"]),
    st.sampled_from([None, "text/html; charset=utf-8", "text/html; charset=gbk", "charset=hz"]),
)
@example("<p>é".encode("utf-16-le"), b"", None)
@example(b"%PDF-1.7", b"", None)
def test_as_utf8_is_what_decode_reads(body: bytes, odd: bytes, content_type: str | None):
    for given_bytes in (odd + body, body + odd):
        text = decode(given_bytes, content_type)
        assert as_utf8(given_bytes, content_type) == text.encode("utf-8", "replace")


@pytest.mark.parametrize("charset", ["gbk", "utf-16", "utf-8-sig", "shift_jis"])
def test_as_utf8_of_other_encodings(charset: str):
    body = page(CHINESE).encode(charset, "ignore")
    assert (
        as_utf8(body, f"text/html; charset={charset}")
        == decode(body, f"text/html; charset={charset}").encode()
    )


class TestGuess:
    """What the bytes of pages that declare nothing are read as."""

    def test_latin_encodings_are_one(self):
        polish = "<p>Zażółć gęślą jaźń, pójdźże kiń tę chmurność w głąb flaszy.</p>" * 5
        german = "<p>Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.</p>" * 5
        assert guess_encoding(polish.encode("cp1250")) == "cp1252"
        assert guess_encoding(german.encode("cp1252")) == "cp1252"

    def test_markup_and_scripts_do_not_drown_the_text(self):
        script = b"<script>" + b"var a = [1, 2, 3];" * 5000 + b"</script>"
        assert guess_encoding(script + f"<p>{CHINESE}</p>".encode("gbk")) == "gb18030"

    def test_next_to_nothing_gives_none(self):
        assert guess_encoding(b"<p>plain") is None
        assert guess_encoding(b"<p>caf\xe9") is None


def test_every_encoding_of_the_web_is_known_by_this_name():
    for name in WEB_ENCODINGS:
        assert encodings.search_function(name).name == name  # type: ignore[union-attr]


NOISE = random.Random(20070601).randbytes(10_000)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"%PDF-1.4 and then text", id="pdf"),
        pytest.param(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", id="png"),
        pytest.param(b"\xff\xd8\xff\xe0\0\x10JFIF", id="jpeg"),
        pytest.param(b"GIF89a\x01\0\x01\0", id="gif"),
        pytest.param(b"PK\x03\x04 mimetype", id="zip"),
        pytest.param(gzip.compress(b"<p>text" * 100), id="gzip"),
        pytest.param(zlib.compress(NOISE), id="deflate"),
        pytest.param(NOISE, id="noise"),
        pytest.param(b"\0" * 1000, id="nothing but NUL"),
        pytest.param(b"\0\0\0\x18ftypmp42" + NOISE, id="mp4"),
    ],
)
def test_binary_bodies(body: bytes):
    assert looks_binary(body)


@pytest.mark.parametrize(
    "body",
    [
        *(
            pytest.param("<html><p>网页 page 頁\t\n</p></html>".encode(codec), id=codec)
            for codec in ("utf-8", "gb18030", "utf-8-sig", "utf-16", "utf-16-le", "utf-32")
        ),
        pytest.param(b"", id="empty"),
        pytest.param("<p>网页 page 頁\t\n</p>".encode() * 20 + b"\0\0\0", id="some NUL bytes"),
        # Its terminal escapes are binary data bytes, but for one that the standard leaves out.
        pytest.param("日本語の文章と english ".encode("iso-2022-jp") * 50, id="iso-2022-jp"),
    ],
)
def test_bodies_that_are_not_binary(body: bytes):
    assert not looks_binary(body)
