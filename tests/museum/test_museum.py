"""None of the pages that look alike is dropped, and all of their copies are."""

from pathlib import Path

import pytest
from gate import rounds
from museum.arrangements import (
    COPIED,
    ORDERS,
    PLACES,
    Shown,
    address,
    arrangements,
    judged,
    streams,
)
from museum.kinds import KINDS, LEAST_OWN, own_phrases

GAPS = {
    (kind, arrangement)
    for line in Path(__file__).with_name("known_gaps.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
    for kind, _, listed in [line.partition(":")]
    for arrangement in listed.split()
}


def cases():
    """Each arrangement of each kind; one sort of copies alone only where `together` is a gap.

    `together` begins with the pages of `host`, which is a case where either is a gap. Other
    places are slow, and three of four kinds. `benchmarks/look_alikes.py` has all, in all orders.
    """
    for number, kind in enumerate(KINDS):
        gaps = {arrangement for name, arrangement in GAPS if name == kind.name}
        usual = [each for each in (*PLACES, "together") if each != "host" or each in gaps]
        for arrangement in arrangements(kind) if "together" in gaps else usual:
            is_quick = arrangement in ("together", "host") and (number % 4 == 0 or gaps)
            marks = [] if is_quick else [pytest.mark.slow]
            if arrangement in gaps:
                marks.append(pytest.mark.xfail(reason="known gap"))
            yield pytest.param(kind, arrangement, id=f"{kind.name}-{arrangement}", marks=marks)


@pytest.mark.parametrize(("kind", "arrangement"), list(cases()))
def test_museum(kind, arrangement):
    are_looked_at = (kind.name, "host") not in GAPS
    # Whether a gap shows may depend on the order, and on the pages that are copied.
    is_gap = (kind.name, arrangement) in GAPS
    copied, orders = (COPIED, len(ORDERS)) if is_gap else (rounds(4, COPIED), 1)
    wrong = [
        (seen.shown.url, seen.verdict.outcome, seen.verdict.original, seen.verdict.similarity)
        for stream in streams(
            kind, arrangement, are_originals_looked_at=are_looked_at, copied=copied, orders=orders
        )
        for seen in judged(stream)
        if seen.is_wrong
    ]
    assert wrong == []


def test_known_gaps_are_cases():
    assert {(kind.name, each) for kind in KINDS for each in arrangements(kind)} >= GAPS


@pytest.mark.slow
def test_all_kinds_in_one_crawl():
    """Some pages of each kind that is judged right on one host, each on a host of its own."""
    kinds = [kind for kind in KINDS if not {(kind.name, "host"), (kind.name, "hosts")} & GAPS]
    hosts = {kind: f"www.{kind.name}.example".replace("_", "-") for kind in kinds}
    stream = [
        Shown(address(number, hosts[kind]), kind.serve(number, "The Gazette"))
        for number in range(rounds(2, 5))
        for kind in kinds
    ]
    assert [seen.shown.url for seen in judged(stream) if seen.is_wrong] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_pages_of_a_kind_differ_as_much_as_it_says(kind):
    assert min(own_phrases(kind.contents)) >= max(LEAST_OWN[kind.amount], 1)
