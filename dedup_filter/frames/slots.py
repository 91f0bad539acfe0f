"""Visits of the pages of a host -> the places of its pages whose text changes by itself.

A slot is a kind of place in the pages of a host: the names of the two innermost elements around a
block (`Containers.slot`). Clocks, quotations, teasers and advertisements stand in slots. If the
text of a slot has changed in four of five visits, at least `VISITS` of `URLS` URLs, and the other
text of these pages has stayed, the slot is learnt: at one address, its text may be missing. Text of
other pages that stands in such a slot is compared as any other.

A slot in which a number alone has changed once holds values, such as prices. It is never learnt.

Counts are kept among the sightings of the host (`host_frames`), each under a hash of its own. They
begin with the first change of a slot, so slots that stay take no room.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import xxhash

SlotChange = Literal["change", "stay", "value"]
"""What the text did since the last visit: half or more changed, or none, or a number alone."""

VISITS, URLS = 4, 3
_SHARE = 0.8
_ANY = xxhash.xxh3_64_intdigest(b"\0learnt\0")
"""Counts the learnt slots of a host."""


def are_learnt(sightings: Mapping[int, int], slots: Sequence[int]) -> list[bool]:
    """Return which slots of a page are learnt, (n,)."""
    learnt = _learnt(sightings, slots)
    return [slot in learnt for slot in slots]


def changed_at(sightings: Mapping[int, int], slot: int) -> int:
    """Return at how many URLs the text of a slot has changed."""
    return sightings.get(_hash("url", slot), 0)


def lessons(
    sightings: Mapping[int, int],
    slots: Sequence[int],
    changed: Mapping[int, SlotChange],
    url_key: int,
) -> tuple[list[int], list[int]]:
    """Return the hashes by which a visit of a page is counted, and the slots that are learnt by it.

    `slots`: of all blocks of the page. `changed`: slot -> what its text did. Each hash counts once.
    """
    times, learnt = sightings.get, list[int]()
    # Learnt slots are counted again, so that they are not forgotten first.
    known = _learnt(sightings, slots)
    found = [_ANY, *(_hash("learnt", slot) for slot in known)] if known else []
    for slot, change in changed.items():
        if change == "value":
            found.append(_hash("value", slot))
            continue
        has_changed, at_url = change == "change", _hash("at", slot, url_key)
        on_change, on_stay, on_url = (_hash(name, slot) for name in ("change", "stay", "url"))
        is_new_url = has_changed and at_url not in sightings
        if has_changed:
            found += [on_change, *([at_url, on_url] if is_new_url else ())]
        elif on_change in sightings:
            found.append(on_stay)
        changes, stays = times(on_change, 0) + has_changed, times(on_stay, 0) + (not has_changed)
        urls, visits = times(on_url, 0) + is_new_url, changes + stays
        is_new = slot not in known and _hash("value", slot) not in sightings
        if is_new and visits >= VISITS and urls >= URLS and changes >= _SHARE * visits:
            found += [_hash("learnt", slot), _ANY]
            learnt.append(slot)
    return [*dict.fromkeys(found)], learnt


def _learnt(sightings: Mapping[int, int], slots: Sequence[int]) -> set[int]:
    if _ANY not in sightings:
        return set()
    learnt = {slot for slot in set(slots) if _hash("learnt", slot) in sightings}
    return {slot for slot in learnt if _hash("value", slot) not in sightings}


def _hash(name: str, *values: int) -> int:
    return xxhash.xxh3_64_intdigest(f"\0{name}\0{values}".encode())
