"""Folder of labelled sets -> documents or pages in stream order, and which repeat one another.

Text sets: NAME.docs.jsonl.gz (a line: id, text) and NAME.pairs.tsv.gz (first columns id_a, id_b,
last column the label: dup, grey or non), seen as texts in shuffled order. Page sets:
NAME.pages.jsonl.xz (a line: id, url, html, and any field to break figures down by) and
NAME.pairs.tsv, seen as pages in the order of the file.
"""

import gzip
import json
import lzma
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stream_score import Labels

__all__ = ["LabelledSet", "Row", "read_sets"]

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}

Row = dict[str, str]


@dataclass
class LabelledSet:
    """Documents or pages in stream order, and which of them are near-duplicates."""

    name: str
    rows: list[Row]
    labels: Labels
    is_pages: bool


def lines(path: Path) -> Iterator[str]:
    """Read the lines of a file that may be compressed."""
    with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        yield from file


def read_sets(folder: Path, names: list[str]) -> Iterator[LabelledSet]:
    """Read the sets of a folder, all or those named."""
    for path in sorted([*folder.glob("*.docs.jsonl.gz"), *folder.glob("*.pages.jsonl.xz")]):
        name = path.name.split(".")[0]
        if names and name not in names:
            continue
        is_pages = ".pages." in path.name
        labels = folder / f"{name}.pairs.tsv{'' if is_pages else '.gz'}"
        if not labels.exists():  # pages of which only the things they are about are known
            continue
        rows = [json.loads(line) for line in lines(path)]
        if not is_pages:
            random.Random(1).shuffle(rows)
        pairs = lines(labels)
        next(pairs)
        cut = (line.rstrip("\n").split("\t") for line in pairs)
        yield LabelledSet(name, rows, Labels((c[0], c[1], c[-1]) for c in cut), is_pages)
