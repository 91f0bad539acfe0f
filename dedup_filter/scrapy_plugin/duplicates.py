"""Duplicates of a crawl -> lines of JSON in a file, written as they are found (DEDUP_DUPLICATES).

    {"url": ..., "outcome": "near", "original": ..., "distance": 3, "similarity": 0.9412,
     "fingerprint": "00ab...", "cluster": 17}

An existing file is continued, for example by a resumed job. Each line reaches the operating system
before the item goes on, so it outlives the process. If a full disk or a killed process leaves a
part of a line, this part is ended before the next line: all other lines can be read.
"""

import json
from pathlib import Path
from typing import BinaryIO

from dedup_filter.errors import ConfigError
from dedup_filter.model import Verdict


class DuplicatesFile:
    """Append the duplicates of a crawl to a file; its folder is made if there is none.

    Raises:
        ConfigError: the file cannot be opened for appending.
    """

    def __init__(self, path: str) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = Path(path).open("ab+", buffering=0)  # noqa: SIM115
            self._is_broken = self._has_broken_end()
        except OSError as error:
            raise ConfigError(f"{path!r} cannot be written: {error}") from error

    def write(self, url: str, verdict: Verdict) -> None:
        """Append one line. OSError: it cannot be written."""
        line = json.dumps({"url": url, **verdict.as_json()}).encode("ascii") + b"\n"
        line = b"\n" * self._is_broken + line
        self._is_broken = True
        written = self._file.write(line)
        if written != len(line):
            raise OSError(f"{written} of {len(line)} bytes were written")
        self._is_broken = False

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _has_broken_end(self) -> bool:
        size = self._file.seek(0, 2)
        self._file.seek(max(size - 1, 0))
        return self._file.read(1) not in (b"", b"\n")
