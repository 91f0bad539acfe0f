"""Visits of the pages of a host -> the places of its pages whose text changes by itself.

A slot is a kind of place in the pages of a host: the names of the two innermost elements around a
block (`Containers.slot`). Clocks, quotations, teasers and advertisements stand in slots. If the
text of a slot has changed in four of five visits, at least `VISITS` of `URLS` URLs, and the other
text of these pages has stayed, the slot is learnt: at one address, its text may be missing. Text of
other pages that stands in such a slot is compared as any other.

A number alone may be a price, or a counter of any wording ("942 people follow"). So it is learnt by
itself, from `NUMBER_VISITS` visits of each of `URLS` URLs: new prices on all pages at once teach
nothing. A slot in which a price has changed is never learnt.

Counts are kept among the sightings of the host (`host_frames`), each under a hash of its own. They
begin with the first change of a slot, so slots that stay take no room.
"""

from collections.abc import Mapping, Sequence
from enum import IntFlag
from typing import Literal, NamedTuple, get_args

import xxhash

SlotChange = Literal["change", "number", "both", "stay", "value"]
"""What the text did since the last visit: half or more changed, or a number alone, or other text
beside such a number, or nothing changed, or a price did."""

VISITS, URLS, NUMBER_VISITS = 4, 3, 3
_SHARE = 0.8
_ANY = xxhash.xxh3_64_intdigest(b"\0learnt\0")
"""Counts the learnt slots of a host."""


class Learnt(IntFlag):
    """What changes at each visit in a slot."""

    NOTHING = 0
    TEXT = 1
    NUMBER = 2


class _Kind(NamedTuple):
    """How a slot is learnt."""

    learnt: Learnt
    changes: tuple[SlotChange, ...]
    """The visits by which it is learnt."""
    visits: int
    """The number of them that each URL needs."""
    prefix: str = ""
    """The names of its counts begin with it."""

    def hash(self, name: str, *values: int) -> int:
        """Return the hash of a count."""
        return _hash(self.prefix + name, *values)

    def counted(
        self, sightings: Mapping[int, int], slot: int, url_key: int
    ) -> tuple[list[int], int]:
        """Return the hashes that count a change at a URL, and the number of URLs with enough."""
        at, url = self.hash("at", slot, url_key), self.hash("url", slot)
        visits = sightings.get(at, 0) + 1
        is_new, is_enough = visits <= self.visits, visits == self.visits
        return [at] * is_new + [url] * is_enough, sightings.get(url, 0) + is_enough


_KINDS = (
    _Kind(Learnt.TEXT, ("change", "both"), 1),
    _Kind(Learnt.NUMBER, ("number", "both"), NUMBER_VISITS, "number "),
)


def learnt_of(sightings: Mapping[int, int], slots: Sequence[int]) -> list[Learnt]:
    """Return what is learnt of each slot of a page, (n,)."""
    if _ANY not in sightings:
        return [Learnt.NOTHING] * len(slots)
    learnt = {slot: _learnt(sightings, slot) for slot in {*slots}}
    return [learnt[slot] for slot in slots]


def changed_at(sightings: Mapping[int, int], slot: int) -> int:
    """Return at how many URLs the text of a slot, or its number, has changed."""
    return max(sightings.get(kind.hash("url", slot), 0) for kind in _KINDS)


def lessons(
    sightings: Mapping[int, int],
    slots: Sequence[int],
    changed: Mapping[int, SlotChange],
    url_key: int,
) -> tuple[list[int], list[int]]:
    """Return the hashes by which a visit of a page is counted, and the slots that are learnt by it.

    `slots`: of all blocks of the page. `changed`: slot -> what its text did. Each hash counts once.
    """
    known, learnt = dict(zip(slots, learnt_of(sightings, slots), strict=True)), list[int]()
    # Learnt slots are counted again, so that they are not forgotten first.
    found = [
        kind.hash("learnt", slot)
        for slot, learnt_there in known.items()
        for kind in _KINDS
        if learnt_there & kind.learnt
    ]
    found += [_ANY] if found else []
    for slot, change in changed.items():
        visits = {each: sightings.get(_hash(each, slot), 0) for each in get_args(SlotChange)}
        if change == "stay" and not any(visits.values()):
            continue
        found.append(_hash(change, slot))
        visits[change] += 1
        times = sum(visits.values())
        for kind in (each for each in _KINDS if change in each.changes):
            counted, urls = kind.counted(sightings, slot, url_key)
            found += counted
            changes = sum(visits[each] for each in kind.changes)
            is_new = not (visits["value"] or known.get(slot, 0) & kind.learnt)
            if is_new and urls >= URLS and times >= VISITS and changes >= _SHARE * times:
                found += [kind.hash("learnt", slot), _ANY]
                learnt.append(slot)
    return [*dict.fromkeys(found)], learnt


def _learnt(sightings: Mapping[int, int], slot: int) -> Learnt:
    if _hash("value", slot) in sightings:
        return Learnt.NOTHING
    found = Learnt.NOTHING
    for kind in _KINDS:
        if kind.hash("learnt", slot) in sightings:
            found |= kind.learnt
    return found


def _hash(name: str, *values: int) -> int:
    return xxhash.xxh3_64_intdigest(f"\0{name}\0{values}".encode())
