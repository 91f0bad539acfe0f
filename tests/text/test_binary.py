import gzip
import random
import zlib

import pytest

from dedup_filter.text import looks_binary

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
def test_is_binary(body: bytes):
    assert looks_binary(body)


TEXT = "<html><body><p>网页 page 頁\t\n</p></body></html>"


@pytest.mark.parametrize(
    "codec", ["utf-8", "gb18030", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]
)
def test_text_is_not_binary(codec: str):
    assert not looks_binary(TEXT.encode(codec))


def test_empty_body_is_not_binary():
    assert not looks_binary(b"")


def test_a_page_with_some_nul_bytes_is_not_binary():
    assert not looks_binary((TEXT * 10).encode() + b"\0\0\0")


def test_terminal_escapes_of_iso_2022_are_not_binary():
    assert not looks_binary("日本語の文章と english ".encode("iso-2022-jp") * 50)
