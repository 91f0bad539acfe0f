"""Show every kind of look-alikes of the tests to the filter: what was lost, what was found.

    python benchmarks/look_alikes.py [--only KIND ...] [--arrangement host hosts names copies ...]
        [--failed] [--verbose]

One line a kind and arrangement (`tests/museum/arrangements.py` explains them): pages that were
dropped though no other says the same, copies that were found with their original. --verbose names
each page that was judged wrongly. All of it takes a minute.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from museum.arrangements import PLACES, Seen, arrangements, judged, streams
from museum.kinds import KINDS


def wanted(arrangement: str, asked: list[str]) -> bool:
    """Tell whether an arrangement is asked for."""
    group = "copies" if arrangement not in PLACES else arrangement
    return not asked or arrangement in asked or group in asked


def tell(seen: list[Seen]) -> Counter[str]:
    """Count what was judged, by what should have come of it."""
    totals: Counter[str] = Counter()
    for each in seen:
        if not each.shown.is_looked_at:
            continue
        group = "copies" if each.shown.original else "pages"
        totals[group] += 1
        totals[f"wrong {group}"] += each.is_wrong
    return totals


def how(seen: list[Seen]) -> str:
    """Say how pages were lost."""
    lost = (each.verdict for each in seen if each.is_wrong and not each.shown.original)
    counts = Counter(f"{verdict.outcome} {verdict.similarity or 0:.2f}" for verdict in lost)
    return ", ".join(f"{count} x {case}" for case, count in counts.most_common(4))


def name_wrong(seen: list[Seen]) -> None:
    """Print each page that was judged wrongly."""
    for shown, verdict in (each for each in seen if each.is_wrong):
        meant = f", a copy of {shown.original}" if shown.original else ""
        said = f"{verdict.outcome} {verdict.reason or ''} {verdict.original or ''}"
        print(f"    {shown.url}{meant}: {said} {verdict.similarity}")


def line(case: str, counts: Counter[str], seen: list[Seen]) -> str:
    """Say what became of a kind in an arrangement."""
    figures = f"lost {counts['wrong pages']:3} of {counts['pages']:3}"
    if counts["copies"]:
        found = counts["copies"] - counts["wrong copies"]
        figures = f"found {found:2} of {counts['copies']:2}"
    return f"{case:56} {figures}  {how(seen)}".rstrip()


def summary(totals: Counter[str]) -> str:
    """Say what became of all."""
    found = totals["copies"] - totals["wrong copies"]
    return (
        f"lost {totals['wrong pages']} of {totals['pages']} pages, "
        f"found {found} of {totals['copies']} copies"
    )


def options() -> argparse.Namespace:
    """Read what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[""], help="kinds whose names contain this")
    parser.add_argument("--arrangement", nargs="+", default=[])
    parser.add_argument("--failed", action="store_true", help="print lines of faults only")
    parser.add_argument("--verbose", action="store_true", help="name pages judged wrongly")
    return parser.parse_args()


def main() -> None:
    """Judge, print, count."""
    asked, start = options(), time.process_time()
    totals, failed = Counter[str](), set[str]()
    kinds = [kind for kind in KINDS if any(part in kind.name for part in asked.only)]
    cases = [(kind, each) for kind in kinds for each in arrangements(kind)]
    for kind, arrangement in cases:
        if not wanted(arrangement, asked.arrangement):
            continue
        seen = [each for stream in streams(kind, arrangement) for each in judged(stream)]
        counts = tell(seen)
        totals += counts
        if counts["wrong pages"] or counts["wrong copies"]:
            failed.add(kind.name)
        elif asked.failed:
            continue
        print(line(f"{kind.name:45}{arrangement}", counts, seen))
        if asked.verbose:
            name_wrong(seen)
    seconds = time.process_time() - start
    print(f"{len(kinds)} kinds, {len(failed)} with faults; {summary(totals)}; {seconds:.0f} s")


if __name__ == "__main__":
    main()
