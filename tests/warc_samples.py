"""WARC files for tests."""

import gzip
from pathlib import Path

HTML = "text/html; charset=utf-8"


def page(number: int, words: int = 100) -> bytes:
    text = " ".join(f"the {number * 7919 + word * word}th word" for word in range(words))
    return f"<html><title>Page {number}</title><body><p>{text}</p></body></html>".encode()


def head(first: str, **fields: str | int | None) -> bytes:
    """Return the lines of a head; a field whose value is None is left out."""
    lines = (
        f"{name.replace('_', '-')}: {value}" for name, value in fields.items() if value is not None
    )
    return "\r\n".join([first, *lines, "", ""]).encode()


def http(
    body: bytes, content_type: str | None = HTML, status: str = "200 OK", **headers: str
) -> bytes:
    """Return an HTTP response."""
    return head(f"HTTP/1.1 {status}", Content_Type=content_type, **headers) + body


def plain(
    kind: str, content: bytes, url: str | None = None, first: str = "WARC/1.0", **fields: str | None
) -> bytes:
    """Return a record that is not compressed."""
    named = {"WARC_Date": "2026-01-02T03:04:05Z", "Content_Length": str(len(content)), **fields}
    return head(first, WARC_Type=kind, WARC_Target_URI=url, **named) + content + b"\r\n\r\n"


def record(url: str | None, kind: str, content: bytes, **fields: str | None) -> bytes:
    """Return one gzip member with a record."""
    return gzip.compress(plain(kind, content, url, **fields), mtime=0)


def response(
    url: str, body: bytes, content_type: str | None = HTML, status: str = "200 OK", **headers: str
) -> bytes:
    """Return one gzip member with a response record."""
    return record(url, "response", http(body, content_type, status, **headers))


def write(path: Path, *members: bytes) -> Path:
    path.write_bytes(b"".join(members))
    return path
