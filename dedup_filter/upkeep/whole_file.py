"""The output of a command -> a file, whole or not at all; nothing is replaced unasked."""

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
    """Require that a path is free or may be replaced; `but` says in the error why it may not.

    Raises:
        ConfigError: the path is not free, or no file can be there.
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
    """Require that a file can be at a path. ConfigError: why it cannot."""
    reason: str | None = None
    try:
        if "\0" in str(path):
            reason = "the name of a file cannot have a null character"
        elif not path.parent.is_dir():
            reason = "its folder does not exist"
        elif not os.access(path.parent, os.W_OK):
            reason = "its folder is not writable"
        elif path.is_dir():
            reason = "it is a folder"
    except OSError as error:
        reason = str(error)
    if reason:
        raise ConfigError(f"{str(path)!r} cannot be written: {reason}")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces the file at a path once it is written whole.

    Raises:
        OSError: the file cannot be written. After this or any other error, nothing was changed.
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
