"""Named arrays and a note -> one file -> the same arrays, mapped into memory.

    8 bytes   XXH3-64 of all the rest
    8 bytes   the length of the next part
    JSON      the format, the note, and name, type and shape of each array; spaces pad it
    arrays    each padded to 8 bytes

All numbers are little-endian.

Arrays are loaded as they were saved, or not at all, and the caller makes them anew from the
records. `UnusableTables` is the reason if the file is damaged. Files are never changed. `save`
gives each file a new name, and then deletes the others.

Cost: loading reads all bytes once, half a gigabyte in 0.02 s if the system has cached them; after
that the system decides whether they stay in memory.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.errors import StoreError

Array = npt.NDArray[Any]

FORMAT = 4
_NUMBER = 8
_ALIGNMENT = 8


class UnusableTables(Exception):  # noqa: N818 - no fault: the tables are made anew
    """The reason why tables cannot be used, as a message for the log."""


class TableFiles:
    """The files of tables in a folder; `save` makes the folder if there is none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> str:
        """Write arrays and a note, plain JSON, to a new file; return its name.

        Raises:
            StoreError: the file cannot be written; the older files are still there.
        """
        name = f"{token_hex(8)}.bin"
        little = {
            each: np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            for each, array in arrays.items()
        }
        described = [[each, array.dtype.str, array.shape] for each, array in little.items()]
        head = json.dumps({"format": FORMAT, "about": about, "arrays": described}).encode()
        head = head.ljust(_padded(len(head)))
        parts = [memoryview(_number(len(head)) + head)]
        for array in little.values():
            parts.append(array.reshape(-1).view(np.uint8).data)
            parts.append(memoryview(bytes(_padded(array.nbytes) - array.nbytes)))
        checksum = xxhash.xxh3_64()
        for part in parts:
            checksum.update(part)
        path = self._folder / name
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(_number(checksum.intdigest()))
                file.writelines(parts)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise StoreError(
                f"the tables in {self._folder} cannot be written: {error.strerror or error}; "
                "look at the room and the rights there (without them opening takes longer)"
            ) from error
        for other in self._folder.iterdir():
            if other != path:
                # On Windows mapped files cannot be deleted before the process that maps them ends.
                with suppress(OSError):
                    other.unlink()
        return name

    def load(self, name: str) -> tuple[dict[str, Array], dict[str, Any]] | None:
        """Return the arrays of a file, read-only, and the note; None: there is no such file.

        Raises:
            UnusableTables: the file differs from what was saved.
        """
        path = self._folder / name
        try:
            mapped = np.memmap(path, np.uint8, "r")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise UnusableTables(str(error)) from error
        checksum, content = mapped[:_NUMBER].tobytes(), mapped[_NUMBER:]
        if checksum != _number(xxhash.xxh3_64_intdigest(content.data)):
            raise UnusableTables(f"{path} is not as it was written")
        at = _NUMBER + int.from_bytes(content[:_NUMBER].tobytes(), "little")
        manifest = json.loads(content[_NUMBER:at].tobytes())
        if manifest["format"] != FORMAT:
            raise UnusableTables(f"they have format {manifest['format']}, not {FORMAT}")
        arrays = {}
        for each, dtype, shape in manifest["arrays"]:
            size = prod(shape) * np.dtype(dtype).itemsize
            arrays[each] = content[at : at + size].view(dtype).reshape(shape)
            at += _padded(size)
        return arrays, manifest["about"]

    @property
    def nbytes(self) -> int:
        """Size on disk in bytes."""
        return sum(path.stat().st_size for path in self._folder.glob("*"))


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER, "little")
