"""HTML -> a file, whole or not at all; never over a file of somebody else's.

A report is known by how it begins, so that one of an earlier crawl can be replaced and nothing else
is.
"""

import os
from pathlib import Path
from secrets import token_hex

from dedup_filter.errors import ConfigError

BEGINNING = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="generator" content="dedup-filter report">\n'
)


def require_free(path: str | Path, *, may_replace_report: bool = False) -> None:
    """Refuse a path where something is; an earlier report only if that may not be replaced.

    Raises:
        ConfigError: something is there, or its folder is not.
    """
    where = Path(path)
    try:
        reason = _why_not(where)
        if reason:
            raise ConfigError(f"{str(where)!r} cannot be written: {reason}")
        if not where.exists() or (may_replace_report and _is_report(where)):
            return
    except OSError as error:
        raise ConfigError(f"{str(where)!r} cannot be written: {error}") from error
    what = (
        "and is no report of this program"
        if may_replace_report
        else "and is not replaced without --force"
    )
    raise ConfigError(f"{str(where)!r} exists {what}: move it away, or choose another name")


def _why_not(path: Path) -> str:
    """Say why there can be no file at a path; "" if there can."""
    if "\0" in str(path):
        return "no name of a file has a null character"
    if not path.parent.is_dir():
        return "there is no folder for it"
    return "it is a folder" if path.is_dir() else ""


def write_whole(path: Path, content: bytes) -> None:
    """Put a file at a path, in place of what is there. Raises OSError: nothing was changed."""
    fresh = path.with_name(f"{path.name[:100]}.{token_hex(4)}.part")
    try:
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _is_report(path: Path) -> bool:
    beginning = BEGINNING.encode("ascii")
    with path.open("rb") as file:
        return file.read(len(beginning)) == beginning
