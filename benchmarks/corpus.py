"""A path -> the pages that a benchmark runs on.

A folder gives its files (.html, .htm); a .jsonl file, which may be packed as .gz or .xz, gives the
field `html` of each line.
"""

import gzip
import json
import lzma
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Page", "read_pages"]

WHERE = """\
Give a folder or a .jsonl(.gz, .xz) file. Such data can be had freely:
  manuals as packages of Debian (python3.13-doc, debian-handbook, postgresql-doc-15, ...):
    apt-get download NAME, dpkg -x FILE FOLDER, then FOLDER/usr/share/doc/NAME/html
  the Web Content Extraction Benchmark (github.com/chatnoir-eu/web-content-extraction-benchmark):
    pages of many sites with their main text"""


class Page(NamedTuple):
    """What a crawler has of a page."""

    url: str
    body: bytes


def read_pages(path: Path | None, most: int) -> list[Page]:
    """Read up to so many pages; end the program with advice if there are none."""
    return _some([], path) if path is None else _some(list(islice(_pages(path), most)), path)


def _pages(path: Path) -> Iterator[Page]:
    if path.is_dir():
        for file in _files(path, ".html", ".htm"):
            yield Page(f"http://{path.name}/{file.relative_to(path)}", file.read_bytes())
        return
    for number, row in enumerate(_rows(path)):
        url = row.get("url") or f"http://{path.name}/{number}"
        yield Page(url, row["html"].encode("utf-8", "replace"))


def _files(folder: Path, *endings: str) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.suffix in endings and file.is_file() and not file.is_symlink():
            yield file


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    with openers.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _some(samples: list[Any], path: Path | None) -> list[Any]:
    if not samples:
        sys.exit(WHERE if path is None else f"{path}: nothing to measure here.\n{WHERE}")
    return samples
