"""What a command writes -> a file, whole or not at all; never over another one unasked."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from dedup_filter.errors import ConfigError


def require_free(
    path: str | Path,
    may_replace: Callable[[Path], bool] = lambda _: False,
    but: str = "is not replaced without --force",
) -> None:
    """Refuse a path where something is that may not be replaced; `but` says why not.

    Raises:
        ConfigError: that is there, or there can be no file.
    """
    where = Path(path)
    require_place(where)
    try:
        is_free = not where.exists() or may_replace(where)
    except OSError as error:
        raise ConfigError(f"{str(where)!r} cannot be written: {error}") from error
    if not is_free:
        raise ConfigError(f"{str(where)!r} exists and {but}: move it away, or choose another name")


def require_place(path: Path) -> None:
    """Refuse a path where there can be no file. Raises ConfigError: why."""
    try:
        reason = _why_not(path)
    except OSError as error:
        reason = str(error)
    if reason:
        raise ConfigError(f"{str(path)!r} cannot be written: {reason}")


def _why_not(path: Path) -> str:
    """Say why there can be no file at a path; "" if there can."""
    if "\0" in str(path):
        return "no name of a file has a null character"
    if not path.parent.is_dir():
        return "there is no folder for it"
    if not os.access(path.parent, os.W_OK):
        return "nothing can be written in its folder"
    return "it is a folder" if path.is_dir() else ""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of what is at a path when all of it is written.

    Raises:
        OSError: it cannot be written. Then, and after any other error, nothing was changed.
    """
    fresh = path.with_name(f"{path.name[:100]}.{token_hex(4)}.part")
    try:
        with fresh.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
