"""WARC files for tests, written with warcio."""

import gzip
import io
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HTML = "text/html; charset=utf-8"


def page(number: int, words: int = 100) -> bytes:
    text = " ".join(f"the {number * 7919 + word * word}th word" for word in range(words))
    return f"<html><title>Page {number}</title><body><p>{text}</p></body></html>".encode()


def response(
    url: str, body: bytes, content_type: str | None = HTML, status: str = "200 OK", **headers: str
) -> bytes:
    """Return one gzip member with a response record."""
    fields = [(name.replace("_", "-"), value) for name, value in headers.items()]
    if content_type is not None:
        fields.append(("Content-Type", content_type))
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    http = StatusAndHeaders(status, fields, protocol="HTTP/1.1")
    made = writer.create_warc_record(
        url, "response", payload=io.BytesIO(body), length=len(body), http_headers=http
    )
    writer.write_record(made)
    return out.getvalue()


def record(url: str, kind: str, content: bytes) -> bytes:
    """Return one gzip member with any record; warcio refuses to write unsound ones."""
    fields = f"WARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nContent-Length: {len(content)}"
    return gzip.compress(f"WARC/1.0\r\n{fields}\r\n\r\n".encode() + content + b"\r\n\r\n")


def write(path: Path, *members: bytes) -> Path:
    path.write_bytes(b"".join(members))
    return path
