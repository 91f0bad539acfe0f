"""Time pages of one template, all within k bits of one another and none a near-duplicate.

    python benchmarks/hot_spots.py [--json] [--pages 10000] [--stored 100000]

Beside ordinary pages, in the same run: what a page costs from its ready profile to its verdict
("judged"), with its record in a store in memory and so many ordinary pages there already; and
what it costs from its text.
"""

import argparse
import random
import time

from made_profiles import made_profile, see
from stopwatch import figure

from dedup_filter import FilterConfig
from dedup_filter.comparison.candidates import MOST_COMPARED
from dedup_filter.fingerprints.profile import PageProfile, profile
from dedup_filter.fingerprints.read_page import ReadPage, texts_of
from dedup_filter.model import Document
from dedup_filter.store.location import MEMORY, open_store
from dedup_filter.store.sqlite.sqlite_pages import SqlitePages

WORDS = 400


def profile_of(number: int, fingerprint: int) -> PageProfile:
    """Make a page that shares no shingle with any other."""
    return made_profile(random.Random(number), WORDS, fingerprint)


def fingerprints(kind: str, count: int, distance: int) -> list[int]:
    """Return fingerprints of strangers, or of a crowd within the distance of one another."""
    chance = random.Random(kind)
    centre = chance.getrandbits(64)
    if kind == "ordinary":
        return [chance.getrandbits(64) for _ in range(count)]
    most = distance // 2 if kind == "template" else 0
    flips = (chance.sample(range(64), chance.randint(0, most)) for _ in range(count))
    return [centre ^ sum(1 << bit for bit in bits) for bits in flips]


def judged_microseconds(kind: str, distance: int, count: int, stored: int) -> tuple[float, int]:
    """Return the mean time from profile to verdict, and how many comparisons were capped."""
    config = FilterConfig(max_distance=distance)
    kept = SqlitePages(config, open_store(MEMORY, config, None))
    for number, fingerprint in enumerate(fingerprints("ordinary", stored, distance)):
        see(kept, f"https://example.org/{number}", profile_of(count + number, fingerprint))
    pages = [profile_of(*one) for one in enumerate(fingerprints(kind, count, distance))]
    started = time.process_time()
    for number, page in enumerate(pages):
        see(kept, f"https://example.com/{number}", page)
    return (time.process_time() - started) / count * 1e6, kept.capped


def profile_microseconds(count: int = 300) -> float:
    """Return the mean time from the text of a page to its profile."""
    chance = random.Random(7)
    words = ["the", "of", "is", *("".join(chance.choices("abcdeilnorst", k=7)) for _ in range(999))]
    texts = [" ".join(chance.choices(words, k=WORDS)) for _ in range(count)]
    config = FilterConfig()
    profile(texts_of(ReadPage.of(Document(texts[0]), config)), config)
    started = time.process_time()
    for text in texts:
        profile(texts_of(ReadPage.of(Document(text), config)), config)
    return (time.process_time() - started) / count * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--stored", type=int, default=100_000, help="ordinary pages before them")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    making = profile_microseconds()
    figure("hot spots", "text to profile", making, "us/page", as_json=options.json)
    figure("hot spots", "most compared", MOST_COMPARED, "pages", as_json=options.json)
    for distance in (3, 7, 12):
        case = f"hot spots k={distance}"
        ordinary = 0.0
        for kind in ("ordinary", "template", "same fingerprint"):
            taken, capped = judged_microseconds(kind, distance, options.pages, options.stored)
            ordinary = ordinary or taken
            figure(case, f"{kind}: judged", taken, "us/page", as_json=options.json)
            figure(case, f"{kind}: capped", capped, "pages", as_json=options.json)
            ratio = taken / ordinary
            figure(case, f"{kind}: judged / ordinary", ratio, "times", as_json=options.json)
            whole = (making + taken) / (making + ordinary)
            figure(case, f"{kind}: from text / ordinary", whole, "times", as_json=options.json)


if __name__ == "__main__":
    main()
