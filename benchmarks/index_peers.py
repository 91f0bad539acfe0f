"""Other ways to find the fingerprints within k bits, each behind the same two functions.

A peer is made of an array of fingerprints and a distance; its `look_up` answers for one query
at a time, as a crawl asks. All are set to be exact. What is not installed is left out.

gaoya is not here: its index takes texts, not fingerprints. (benchmarks/page.py has it.)
simhash-pybind has no index either: `find_all` compares all with all, see benchmarks/pairs.py.
"""

from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PEERS", "LookUp", "Peer", "UInt64Array"]

UInt64Array = npt.NDArray[np.uint64]
LookUp = Callable[[int], int]
"""Query -> how many stored fingerprints are within the distance."""


class Peer(NamedTuple):
    """How to make one, and where it makes sense."""

    make: Callable[[UInt64Array, int], LookUp]
    package: str | None = None
    most_entries: int = 10_000_000
    most_distance: int = 12

    def why_not(self, entries: int, distance: int) -> str | None:
        """Tell why it is left out, or None."""
        if self.package and find_spec(self.package) is None:
            return f"{self.package} is not installed"
        if entries > self.most_entries:
            return f"takes too long for more than {self.most_entries:,}"
        return "exact only for smaller k" if distance > self.most_distance else None


def numpy_scan(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Compare the query with everything; list what is near, the nearest first."""

    def look_up(query: int) -> int:
        distances = np.bitwise_count(fingerprints ^ np.uint64(query))
        places = (distances <= distance).nonzero()[0]
        found = zip(distances[places].tolist(), places.tolist(), strict=True)
        return len(sorted(found))

    return look_up


def dict_of_buckets(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Keep four dicts of lists by 16 bits each: the textbook's way, exact up to k = 3."""
    shifts = (0, 16, 32, 48)
    tables: list[dict[int, list[int]]] = [defaultdict(list) for _ in shifts]
    for fingerprint in fingerprints.tolist():
        for shift, table in zip(shifts, tables, strict=True):
            table[fingerprint >> shift & 0xFFFF].append(fingerprint)

    def look_up(query: int) -> int:
        found = set()
        for shift, table in zip(shifts, tables, strict=True):
            for candidate in table.get(query >> shift & 0xFFFF, ()):
                if (candidate ^ query).bit_count() <= distance:
                    found.add(candidate)
        return len(found)

    return look_up


def sorted_lists(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Keep four SortedLists in permuted order: the literal permuted tables, exact up to k = 3."""
    from sortedcontainers import SortedList

    # Of four blocks of 16 bits the one that leads and the first change places.
    def swapped(words: int, place: int) -> int:
        first, rest = words >> 48, words & ~(0xFFFF << 48 | 0xFFFF << place)
        return (words >> place & 0xFFFF) << 48 | rest | first << place if place < 48 else words

    places = (48, 32, 16, 0)
    tables = [SortedList(swapped(each, p) for each in fingerprints.tolist()) for p in places]
    tail = (1 << 48) - 1

    def look_up(query: int) -> int:
        found = set()
        for place, table in zip(places, tables, strict=True):
            permuted = swapped(query, place)
            for candidate in table.irange(permuted & ~tail, permuted | tail):
                bits = (candidate ^ permuted).bit_count()
                if bits <= distance:
                    found.add((bits, swapped(candidate, place)))
        return len(sorted(found))

    return look_up


def _as_bytes(fingerprints: UInt64Array) -> npt.NDArray[np.uint8]:
    return fingerprints.view(np.uint8).reshape(-1, 8)


def faiss_multi_hash(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Ask IndexBinaryMultiHash: 4 x 16 bits, as many flips as make it exact."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, 4, 16)
    index.nflip = distance // 4
    index.add(_as_bytes(fingerprints))
    return _faiss_look_up(index, distance)


def faiss_flat(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Ask IndexBinaryFlat, which compares everything."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryFlat(64)
    index.add(_as_bytes(fingerprints))
    return _faiss_look_up(index, distance)


def _faiss_look_up(index: object, distance: int) -> LookUp:
    search = index.range_search  # type: ignore[attr-defined]

    def look_up(query: int) -> int:
        asked = np.array([[query]], np.uint64).view(np.uint8)
        _, _, found = search(asked, distance + 1)  # faiss reports what is nearer than that
        return len(found)

    return look_up


def pynear_mih(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Ask MIHBinaryIndex of 4 parts for the ten nearest in its radius."""
    import pynear

    index = pynear.MIHBinaryIndex(4)
    index.set(_as_bytes(fingerprints))
    search = index.searchKNN_arrays

    def look_up(query: int) -> int:
        asked = np.array([[query]], np.uint64).view(np.uint8)
        _, distances = search(asked, 10, distance)
        return int(np.count_nonzero(distances <= distance))

    return look_up


def pypi_simhash(fingerprints: UInt64Array, distance: int) -> LookUp:
    """Ask PyPI's SimhashIndex."""
    from simhash import Simhash, SimhashIndex

    entries = [(str(row), Simhash(value)) for row, value in enumerate(fingerprints.tolist())]
    index = SimhashIndex(entries, k=distance)
    return lambda query: len(index.get_near_dups(Simhash(query)))


PEERS = {
    "faiss MultiHash": Peer(faiss_multi_hash, "faiss"),
    "faiss Flat": Peer(faiss_flat, "faiss"),
    "pynear MIH": Peer(pynear_mih, "pynear"),
    "simhash": Peer(pypi_simhash, "simhash", most_entries=100_000, most_distance=7),
    "dict of buckets": Peer(dict_of_buckets, most_distance=3),
    "4 SortedLists": Peer(sorted_lists, "sortedcontainers", 1_000_000, most_distance=3),
    "numpy scan": Peer(numpy_scan, most_entries=10**9),
}
