"""Tab-separated files: one row a line; empty lines and lines that start with # are skipped."""

from collections.abc import Iterator
from pathlib import Path

__all__ = ["SITE_FOLDER", "read_rows"]

SITE_FOLDER = Path(__file__).parent


def read_rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a file of the demo site."""
    for line in (SITE_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")
