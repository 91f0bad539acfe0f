"""A file of fingerprints -> numbers from 0 to 2**64-1, each with the number of its line.

A line holds one fingerprint, decimal or hexadecimal (0x...), with or without blanks around it; or
is a line of `dedup-filter bits fingerprint --json`. Blank lines, and lines of pages without a
fingerprint, are counted but hold nothing. Cost: 1 us a line.
"""

import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from dedup_filter.errors import DedupError
from dedup_filter.hamming.pairs import UInt64Array

_LONGEST_WORD = 1000
_LONGEST_LINE = 100_000
"""A line may hold a URL of 10,000 characters and more."""
_FINGERPRINT = re.compile(rb"[0-9]+|0[xX][0-9a-fA-F]+")


def all_in(file: BinaryIO) -> UInt64Array:
    """Return all fingerprints of a file, in its order; errors as for `each_in`."""
    return np.fromiter(each_in(file), np.uint64)


def each_in(file: BinaryIO) -> Iterator[int]:
    """Yield each fingerprint in a file, as its line arrives.

    Raises:
        DedupError: a line is not a fingerprint; the message has the number of the line.
    """
    for number, line in enumerate(iter(partial(file.readline, _LONGEST_LINE), b""), 1):
        word = line.strip()
        is_cut = len(line) == _LONGEST_LINE and line[-1:] != b"\n"
        while is_cut and (more := file.readline(_LONGEST_LINE)):
            is_cut = more[-1:] != b"\n"
        if word[:1] == b"{":
            word = _in_json(word)
        if not word:
            continue
        is_one = len(word) <= _LONGEST_WORD and _FINGERPRINT.fullmatch(word)
        value = int(word, 16 if word[:2].lower() == b"0x" else 10) if is_one else 1 << 64
        if value >> 64:
            shown = line.strip()[:40].decode(errors="backslashreplace")
            name = "standard input" if file is sys.stdin.buffer else repr(file.name)
            raise DedupError(
                f"{name}, line {number}: {shown!r} is no fingerprint; expected a number from 0 to "
                "18446744073709551615, decimal or hexadecimal with 0x"
            )
        yield value


def _in_json(line: bytes) -> bytes:
    """Return the fingerprint in a line of `fingerprint --json`; empty if its page has none.

    Any other line is returned unchanged.
    """
    try:
        value = json.loads(line)["fingerprint"]
    except (ValueError, KeyError, RecursionError):
        return line
    return b"" if value is None else str(value).encode(errors="replace").strip() or line
