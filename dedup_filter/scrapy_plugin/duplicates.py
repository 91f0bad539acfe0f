"""Duplicates of a crawl -> lines of JSON in a file, each as it is found (DEDUP_DUPLICATES).

    {"url": ..., "outcome": "near", "original": ..., "distance": 3, "similarity": 0.9412,
     "fingerprint": "00ab...", "cluster": 17}

A file that exists is continued, as a resumed job does. Each line is with the system before the
item goes on, so that it outlives the process. A line that could not be written whole, on a full
disk or by a process that was killed, is ended before the next one: all others can be read.
"""

import json
from pathlib import Path
from typing import BinaryIO

from dedup_filter.errors import ConfigError
from dedup_filter.model import Verdict


class DuplicatesFile:
    """Append the duplicates of a crawl to a file.

    Raises:
        ConfigError: it cannot be opened for appending; its folder is made if there is none.
    """

    def __init__(self, path: str) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = Path(path).open("ab+", buffering=0)  # noqa: SIM115
            self._is_broken = self._has_broken_end()
        except OSError as error:
            raise ConfigError(f"{path!r} cannot be written: {error}") from error

    def write(self, url: str, verdict: Verdict) -> None:
        """Append one line. Raises OSError if it cannot be written."""
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
