"""Index -> named arrays -> files -> the same arrays, memory-mapped; or a reason why not.

    tables/7/manifest.json      first line: checksum of the rest; then what is in the folder
    tables/7/rows.bin           the bytes of one array, little-endian

Each saving is a new generation, a folder with the next number. Its manifest is put there last, by
renaming; then older generations go. A generation without a manifest was never finished. Only the
newest that has one counts: an older one that is still there may be out of date in a way that nobody
remembers.

Guarantee: what is loaded is what was saved, byte for byte, by length and checksum, also after a
power failure. Anything else is a reason, in words for a log; the tables can be made anew from the
database.

Cost: loading reads all bytes once, half a gigabyte in 0.02 s when the system has them in memory;
after that they are the system's, to keep in memory or not.

The note of an index says for which distance and by which layout its arrays were made. Arrays that
are given back are used as they are; `HammingIndex` verifies their shapes.
"""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from dedup_filter.errors import StoreError
from dedup_filter.hamming import HammingIndex, Layout, SealedArrays

__all__ = ["NO_TABLES", "Array", "SavedTables", "TableFiles", "from_tables", "to_tables"]

FORMAT = 1
NO_TABLES = "there are none"
"""The reason why nothing is loaded from a folder where nothing was saved."""
_MANIFEST = "manifest.json"

Array = npt.NDArray[Any]


class SavedTables(NamedTuple):
    """What was saved: arrays that cannot be written to, and what was noted of them."""

    arrays: dict[str, Array]
    about: dict[str, Any]


class TableFiles:
    """The generations of table files in a folder, which is made when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, arrays: Mapping[str, Array], about: Mapping[str, Any]) -> None:
        """Write a new generation and remove the older ones.

        The names of arrays become names of files; `about` is plain JSON.

        Raises:
            StoreError: the files cannot be written; the older generation is still there.
        """
        older = self._generations()
        generation = self._folder / str(max(older, default=0) + 1)
        try:
            generation.mkdir(parents=True)
            described = {name: _write(generation, name, array) for name, array in arrays.items()}
            manifest = {"format": FORMAT, "arrays": described, "about": about}
            body = json.dumps(manifest, sort_keys=True).encode()
            fresh = generation / f"{_MANIFEST}.new"
            fresh.write_bytes(_checksum(body).encode() + b"\n" + body)
            fresh.replace(generation / _MANIFEST)
        except OSError as error:
            shutil.rmtree(generation, ignore_errors=True)
            raise StoreError(
                f"the tables in {self._folder} cannot be written: {error.strerror or error}; "
                "look at the room and the rights there (without them opening takes longer)"
            ) from error
        for folder in older.values():
            # On Windows files that are mapped stay until the process that maps them ends.
            shutil.rmtree(folder, ignore_errors=True)

    def load(self) -> SavedTables | str:
        """Return the newest generation, or the reason why there is none that can be used."""
        there = self._generations()
        finished = [number for number in there if (there[number] / _MANIFEST).exists()]
        if not finished:
            return NO_TABLES
        generation = there[max(finished)]
        try:
            checksum, _, body = (generation / _MANIFEST).read_bytes().partition(b"\n")
            if checksum != _checksum(body).encode():
                return f"{generation / _MANIFEST} is not as it was written"
            manifest = json.loads(body)
            if manifest["format"] != FORMAT:
                return f"they have format {manifest['format']}, not {FORMAT}"
            arrays = {
                name: _read(generation, name, described)
                for name, described in manifest["arrays"].items()
            }
            return SavedTables(arrays, manifest["about"])
        except (OSError, ValueError) as error:
            return str(error)
        except (KeyError, TypeError, AttributeError) as error:  # JSON, but not of our making
            return f"their manifest is not what it should be ({error!r})"

    @property
    def nbytes(self) -> int:
        """Size on disk in bytes."""
        return sum(path.stat().st_size for path in self._folder.glob("*/*"))

    def _generations(self) -> dict[int, Path]:
        with suppress(OSError):
            there = (each for each in self._folder.iterdir() if each.name.isdecimal())
            return {int(each.name): each for each in there}
        return {}


def to_tables(index: HammingIndex, prefix: str = "") -> tuple[dict[str, Array], dict[str, Any]]:
    """Compact an index and return its arrays by name, and the note.

    With a prefix to their names the arrays of several indices can be kept together.
    """
    sealed = index.sealed()
    arrays: dict[str, Array] = {f"{prefix}rows": sealed.rows}
    for number, (run, directory) in enumerate(zip(sealed.runs, sealed.directories, strict=True)):
        arrays[f"{prefix}run{number}"] = run
        arrays[f"{prefix}directory{number}"] = directory
    return arrays, {"max_distance": sealed.max_distance, "layout": astuple(sealed.layout)}


def from_tables(
    arrays: Mapping[str, Array], note: Mapping[str, Any], prefix: str = ""
) -> HammingIndex:
    """Make an index that uses the arrays.

    Raises:
        ValueError, KeyError, TypeError: they cannot be those of an index.
    """
    count = sum(name.startswith(f"{prefix}run") for name in arrays)
    return HammingIndex.from_sealed(
        SealedArrays(
            _layout(note["layout"]),
            note["max_distance"],
            np.asarray(arrays[f"{prefix}rows"]),
            tuple(arrays[f"{prefix}run{number}"] for number in range(count)),
            tuple(arrays[f"{prefix}directory{number}"] for number in range(count)),
        )
    )


def _layout(described: list[Any]) -> Layout:
    blocks, leading, nested, radius = described
    return Layout(blocks, leading, None if nested is None else _layout(nested), radius)


def _write(generation: Path, name: str, array: Array) -> dict[str, Any]:
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    content = little.reshape(-1).view(np.uint8).data
    (generation / f"{name}.bin").write_bytes(content)
    return {"dtype": little.dtype.str, "shape": array.shape, "checksum": _checksum(content)}


def _read(generation: Path, name: str, described: dict[str, Any]) -> Array:
    path = generation / f"{name}.bin"
    dtype, shape = np.dtype(described["dtype"]), tuple(described["shape"])
    length = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if path.stat().st_size != length:
        raise ValueError(f"{path} has another length than when it was written")
    if not length:  # nothing cannot be mapped
        return np.empty(shape, dtype)
    mapped = np.memmap(path, np.uint8, "r")
    if _checksum(mapped.data) != described["checksum"]:
        raise ValueError(f"{path} is not as it was written")
    array: Array = mapped.view(dtype).reshape(shape)
    return array


def _checksum(content: bytes | memoryview) -> str:
    return xxhash.xxh3_64_hexdigest(content)
