"""HTML -> a file, whole or not at all; never over a file of somebody else's.

A report is known by how it begins, so that one of an earlier crawl can be replaced and nothing else
is.
"""

from pathlib import Path

from dedup_filter.upkeep import whole_file

BEGINNING = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="generator" content="dedup-filter report">\n'
)


def require_free(path: str | Path, *, may_replace_report: bool = False) -> None:
    """Refuse a path where something is; an earlier report only if that may not be replaced.

    Raises:
        ConfigError: something is there, or its folder is not.
    """
    if may_replace_report:
        whole_file.require_free(path, _is_report, "is no report of this program")
    else:
        whole_file.require_free(path)


def write_whole(path: Path, content: bytes) -> None:
    """Put a file at a path, in place of what is there. Raises OSError: nothing was changed."""
    with whole_file.whole_file(path) as file:
        file.write(content)


def _is_report(path: Path) -> bool:
    beginning = BEGINNING.encode("ascii")
    with path.open("rb") as file:
        return file.read(len(beginning)) == beginning
