"""A file of fingerprints -> numbers from 0 to 2**64-1.

A line holds one fingerprint, decimal or hexadecimal (0x...), with or without blanks around it.
Blank lines hold nothing. Cost: 1 us a line.
"""

import re
import sys
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from dedup_filter.errors import DedupError
from dedup_filter.hamming.pairs import UInt64Array

_LONGEST_LINE = 1000
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
        if not word:
            continue
        is_one = len(line) < _LONGEST_LINE and _FINGERPRINT.fullmatch(word)
        value = int(word, 16 if word[:2].lower() == b"0x" else 10) if is_one else 1 << 64
        if value >> 64:
            shown = word[:40].decode(errors="backslashreplace")
            name = "standard input" if file is sys.stdin.buffer else repr(file.name)
            raise DedupError(
                f"{name}, line {number}: {shown!r} is no fingerprint; expected a number from 0 to "
                "18446744073709551615, decimal or hexadecimal with 0x"
            )
        yield value
