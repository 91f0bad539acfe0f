"""Send every page of real references through the filter and tell what its drops have lost.

    python benchmarks/references.py [CASE ...] [--orders 5] [--limit 300] [--examples 20]

A case is one of `CASES`, or names of Debian packages joined by "+": each is a host of its own, and
its pages come in a shuffled order, one package after the other. What is true of them is told by
`reference_pages.py`:

    lost        dropped; the original has another headline and another text
    other text  dropped; the original may have the same headline, but its text is another
    inside      share of the page's own phrases that the original has
    copies      an earlier page has the same headline and the same text
    due         another edition has a page at the same path, with a Jaccard similarity from 0.8

Cost: the pages of a case are judged once an order, and read once or twice for the truth.
"""

import argparse
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

from reference_pages import Drop, Reference, Truth
from stopwatch import figure

from dedup_filter import NearDuplicateFilter

CASES = {
    "javadoc": "openjdk-17-doc",
    "javadoc-small": "libcommons-math3-java-doc",
    "git-sqlite": "git-doc+sqlite3-doc",
    "llvm": "llvm-14-doc+llvm-16-doc",
    "doxygen": "libeigen3-doc",
    "sphinx": "python-django-doc",
}
INSIDE = 0.8


class Outcome(NamedTuple):
    """What one crawl did."""

    urls: list[str]
    drops: dict[str, tuple[str, str]]
    """Original and kind of verdict of each dropped page."""


Pages = list[tuple[Reference, list[str]]]
"""References one after the other, and of each the paths of its pages in their order."""


def shuffled(references: list[Reference], limit: int | None, seed: int) -> Pages:
    """Take so many pages of each reference, always the same ones, in an order of their own."""
    chosen = [random.Random(0).sample(each.paths, len(each.paths))[:limit] for each in references]
    for paths in chosen:
        random.Random(seed).shuffle(paths)
    return list(zip(references, chosen, strict=True))


def see_all(pages: Pages) -> Outcome:
    """Show all pages to a filter."""
    urls, drops = [], {}
    with NearDuplicateFilter.open() as near:
        for reference, path in ((each, path) for each, paths in pages for path in paths):
            url = reference.at(path)
            verdict = near.see(url, html=reference.body(path))
            urls.append(url)
            if verdict.is_duplicate:
                drops[url] = (str(verdict.original), str(verdict.outcome))
    return Outcome(urls, drops)


def count(outcome: Outcome, drops: list[Drop], truth: Truth) -> dict[str, int]:
    """Compare one crawl with the truth."""
    copies = truth.copies(outcome.urls)
    due = truth.due() & set(outcome.urls)
    on_one_host = [drop for drop in drops if drop.is_one_host]
    figures = {
        "pages": len(outcome.urls),
        "dropped": len(drops),
        "dropped as exact": sum(drop.outcome.startswith("exact") for drop in drops),
        "lost": sum(drop.is_lost for drop in drops),
        "lost, on one host": sum(drop.is_lost for drop in on_one_host),
        "other text, on one host": sum(not drop.is_same_text for drop in on_one_host),
        "dropped, less than .8 inside": sum(drop.inside < INSIDE for drop in drops),
        "copies": len(copies),
        "copies kept": len(copies - outcome.drops.keys()),
    }
    editions = {"due": len(due), "due, kept": len(due - outcome.drops.keys())}
    return figures | editions if due else figures


def show_worst(drops: list[Drop], most: int) -> None:
    """Print the drops that lose most."""
    for drop in sorted(drops, key=lambda drop: (not drop.is_lost, drop.inside))[:most]:
        found = "lost" if drop.is_lost else "same headline or text"
        print(f"{found}, {drop.outcome}, {drop.inside:.0%} inside, Jaccard {drop.jaccard:.2f}")
        print(f"    {drop.url}\n    {drop.original}")


def measure(case: str, options: argparse.Namespace) -> None:
    """Crawl a case in each order; print figures."""
    packages = CASES.get(case, case).split("+")
    references = [Reference(package, options.cache) for package in packages]
    truth = Truth(references)
    dropped = []
    for seed in range(options.orders):
        pages = shuffled(references, options.limit, seed)
        outcome = see_all(pages)
        drops = [truth.drop(url, *drop) for url, drop in outcome.drops.items()]
        for metric, value in count(outcome, drops, truth).items():
            figure(f"{case}, order {seed}", metric, value, "pages", as_json=options.json)
        show_worst(drops, options.examples)
        dropped.append(len(drops))
    spread = (max(dropped) - min(dropped)) / len(outcome.urls)
    figure(case, "spread of dropped", spread * 100, "% of pages", as_json=options.json)


def main() -> None:
    """Measure each case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "references"))
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--limit", type=int, help="so many pages of each package")
    parser.add_argument("--examples", type=int, default=0, help="show so many of the worst drops")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for case in options.cases:
        measure(case, options)


if __name__ == "__main__":
    main()
