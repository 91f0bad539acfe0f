"""HTML -> a file, whole or not at all; a file that is not a report is never replaced.

A report is recognized by its beginning, so that only a report of an earlier crawl is replaced.
"""

from pathlib import Path

from dedup_filter.upkeep import whole_file

BEGINNING = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="generator" content="dedup-filter report">\n'
)


def require_free(path: str | Path, *, may_replace_report: bool = False) -> None:
    """Require that nothing is at a path; with `may_replace_report`, an earlier report may be.

    Raises:
        ConfigError: something else is there, or its folder does not exist.
    """
    if may_replace_report:
        whole_file.require_free(path, _is_report, "is no report of this program")
    else:
        whole_file.require_free(path)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at a path, in place of an earlier file. OSError: nothing was changed."""
    with whole_file.whole_file(path) as file:
        file.write(content)


def _is_report(path: Path) -> bool:
    beginning = BEGINNING.encode("ascii")
    with path.open("rb") as file:
        return file.read(len(beginning)) == beginning
