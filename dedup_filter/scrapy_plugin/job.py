"""JOBDIR -> the name of the crawl, so that a job that is resumed is the same crawl.

Without a JOBDIR every crawl is a new one. With it, the crawl gets a name when it first begins,
kept in the job's folder; its pages are compared with those of the earlier runs as pages of one
crawl, not as pages of an earlier one.
"""

import os
import re
from pathlib import Path
from uuid import uuid4

from dedup_filter.errors import StoreError

__all__ = ["crawl_name", "index_of_job"]

_NAME = re.compile("[0-9a-f]{32}")


def index_of_job(folder: str) -> str:
    """Return where the index of a job is unless DEDUP_INDEX says otherwise."""
    return str(Path(folder).absolute() / "dedup_index")


def crawl_name(folder: str) -> str:
    """Return the name of a job's crawl, given and written down the first time.

    Raises:
        StoreError: the file cannot be read or written, or holds something else.
    """
    path = Path(folder) / "dedup_filter.crawl"
    try:
        if not path.exists():
            _write_whole(path, uuid4().hex)
        name = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"the name of the job's crawl, {path}, cannot be kept: {error}") from error
    if not _NAME.fullmatch(name):
        raise StoreError(
            f"{path} names no crawl: delete it, and the job's next run counts as a new crawl"
        )
    return name


def _write_whole(path: Path, text: str) -> None:
    """Write a file that after a crash is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
