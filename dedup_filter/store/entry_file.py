"""The entries of an index in one file beside the database, so that the index opens quickly.

    arrays -> entries.bin     one after the other, as `numpy.save` writes them
    entries.bin -> checksum   noted in the database, which says that the file has its entries

The file is derived from the database and may be deleted at any time. A file whose checksum is not
the noted one (damaged, cut short, of another index, of another day) is not used.

Cost: reads all bytes twice, 90 a page: 0.5 s for 10 million pages if the system has cached them.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.errors import StoreError

Array = npt.NDArray[Any]

_AT_ONCE = 1 << 22


class UnusableEntries(Exception):  # noqa: N818 - no fault: the entries are read from the database
    """The reason why the file cannot be used, as a message for the log."""


class EntryFile:
    """The file at a path; it need not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def save(self, arrays: Iterable[Array]) -> str:
        """Replace the file; return the checksum.

        Raises:
            StoreError: the file cannot be written; an older one is still there.
        """
        coming = self._path.with_suffix(".new")
        try:
            with coming.open("wb") as file:
                for array in arrays:
                    np.save(file, array, allow_pickle=False)
            checksum = _checksum(coming)
            coming.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                coming.unlink(missing_ok=True)
            raise StoreError(
                f"{self._path} cannot be written: {error.strerror or error}; look at the room and "
                "the rights there (without this file opening takes longer)"
            ) from error
        return checksum

    def load(self, checksum: str) -> list[Array] | None:
        """Return the arrays; None: there is no file.

        Raises:
            UnusableEntries: the file has another checksum, or cannot be read.
        """
        arrays = []
        try:
            if _checksum(self._path) != checksum:
                raise UnusableEntries(f"{self._path} is not as it was written")
            with self._path.open("rb") as file:
                while file.peek(1):
                    arrays.append(np.load(file, allow_pickle=False))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UnusableEntries(str(error)) from error
        return arrays


def _checksum(path: Path) -> str:
    hashed = xxhash.xxh3_128()
    with path.open("rb") as file:
        while part := file.read(_AT_ONCE):
            hashed.update(part)
    return hashed.hexdigest()
