"""See many made pages in an index in memory: what the process grows by, and what the filter tells.

    python benchmarks/memory.py [--pages 100000] [--steps 5] [--json]

A page has a frame of 40 lines that all pages of its host show, and 12 paragraphs of 25 words of its
own; every tenth repeats an earlier page. A host has 200 pages, which come one after the other.

Told of all pages kept so far: by how many bytes a page the process has grown since the first page,
with which word lists were loaded; and `nbytes` of the filter. Some parts do not grow for ever:
frames (a million blocks), pages that wait to be judged again (100 MB), caches. "The last pages" are
those since the figures before. Linux only.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from stopwatch import figure
from store import resident

from dedup_filter import NearDuplicateFilter

PAGES_OF_HOST = 200
COPIED = 10
"""One page of so many repeats an earlier one."""
WORDS = [f"{first}{last}" for first in ("ka", "lo", "mi", "nu", "pe") for last in range(4_000)]
FUNCTION_WORDS = (
    "the of and to in is for on that by with as at from it was are be this which".split()
)


def pages(count: int) -> Iterator[tuple[str, str]]:
    """Yield URLs and HTML."""
    chance = random.Random(1)
    for number in range(count):
        host = number // PAGES_OF_HOST
        of_host = random.Random(host)
        frame = "".join(f"<li><a href='/{n}'>{line(of_host, 3)}</a></li>" for n in range(40))
        article = random.Random(
            10**9 + (chance.randrange(number) if number % COPIED == 9 else number)
        )
        text = "".join(f"<p>{line(article, 25)}.</p>" for _ in range(12))
        title = line(article, 6)
        html = f"<title>{title}</title><ul>{frame}</ul><main><h1>{title}</h1>{text}</main>"
        yield f"https://host-{host}.example/{number}", html


def line(chance: random.Random, words: int) -> str:
    """Make a line, every third word of which is a function word."""
    chosen = (chance.choice(WORDS if n % 3 else FUNCTION_WORDS) for n in range(words))
    return " ".join(chosen)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not Path("/proc/self/statm").exists():
        parser.error("the memory of a process is told by Linux only")
    with NearDuplicateFilter.open() as index:
        index.see("https://example.com/", html="<p>The first page, of the kind that is read first.")
        began, before = resident(), (0, 0, 0)
        for number, (url, html) in enumerate(pages(given.pages), 1):
            index.see(url, html=html)
            if number % (given.pages // given.steps) == 0:
                now = (len(index), resident() - began, index.nbytes)
                case = f"{now[0]:,} kept of {number:,}"
                new = [there - then for there, then in zip(now, before, strict=True)]
                for name, (kept, grown, told) in (("all pages", now), ("the last pages", new)):
                    figure(
                        case, f"{name}: resident", grown / kept, "bytes/page", as_json=given.json
                    )
                    figure(case, f"{name}: nbytes", told / kept, "bytes/page", as_json=given.json)
                before = now


if __name__ == "__main__":
    main()
