"""Crawl real programs that show a page at many URLs, learn rules of it, and crawl again with them.

    python benchmarks/url_rules.py FOLDER [--software mediawiki dokuwiki wordpress] [--json]
                                   [--articles 60] [--most URLS] [--keep NEW] [--peers PYTHON]
    python benchmarks/url_rules.py --mine 1000000 [--json]

FOLDER has HTML pages, such as those of Debian's `git-doc`, of which the articles are made;
`dust_software.py` tells what is installed, or what to install. Of each program there are

    1. a crawl that follows all links of the host, until so many URLs are known
    2. one of these URLs with the filter, the answers being those of the first, as they are of all
       that follow: so pages come in the same order
    3. rules that are learnt of its record, as `dedup-filter rules` does
    4. crawls with these rules
       - "add-on": in the add-on duplicate-url-discarder
       - "applied": with DEDUP_URL_RULES="apply"

"Downloads for nothing" are those that the filter drops. A content is lost if it was kept by the
first crawl and no page that the other kept has .8 of its runs of four words, those left out that a
tenth of all pages have: its frame. So another copy may stand for a page.

--keep NEW: the answers stay in this folder, and with it another time no server is asked.

--peers: PYTHON is the interpreter of an environment with Scrapy and MaybeDont (`pip install scrapy
maybedont`), whose downloader middleware learns while it crawls. It keeps all that it downloads.

--mine: what it takes to learn rules of so many recorded pages, half of them duplicates of ten
kinds, on ten hosts.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dust_software import SOFTWARE, articles_in, served
from stopwatch import figure

from dedup_filter.upkeep import index_at
from dedup_filter.urls.mining import Page, mine
from dedup_filter.urls.recorded import judged_pages
from dedup_filter.urls.rules_file import write_rules

CRAWL = Path(__file__).with_name("dust_crawl.py")
FILTER = "dedup_filter.Addon"
FOUND = 0.8
"""Share of the runs of words of a content that a page must have which stands for it."""
FRAME = 0.1
"""Share of pages that have a run of words of their frame."""
PEERS_FIRST = 100
"""Pages after which MaybeDont begins: by its default, 300, these crawls would be nearly over."""
Tell = Callable[[str, str, float, str], None]


class Crawl(NamedTuple):
    """What a crawl asked for and kept."""

    known: list[str]
    kept: Mapping[str, str]
    """URL -> text."""
    stats: Mapping[str, int]

    @property
    def requests(self) -> int:
        """Requests that were made."""
        return self.stats["downloader/request_count"]

    @property
    def dropped(self) -> int:
        """Pages that the filter dropped: downloads for nothing."""
        return self.stats.get("dedup/items_dropped", 0)


def crawl(
    python: str, start: str, most: int, known: Sequence[str] | None, settings: Mapping[str, Any]
) -> Crawl:
    """Run a crawl in a process of its own."""
    order = {"start": start, "most": most, "known": known, "settings": settings}
    done = subprocess.run(
        [python, str(CRAWL)], input=json.dumps(order), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the crawl failed: {done.stderr[-2000:]}")
    told = json.loads(done.stdout)
    return Crawl(told["known"], told["kept"], told["stats"])


def compare(name: str, folder: Path, options: argparse.Namespace, tell: Tell) -> None:
    """Crawl one program in all ways."""
    index, rules = folder / "index", folder / "rules.json"
    settings = {"HTTPCACHE_DIR": str(folder / "answers"), "LOG_FILE": str(folder / "log")}
    settings["LOG_LEVEL"] = "INFO"
    filtered = {**settings, "ADDONS": {FILTER: 500}, "DEDUP_INDEX": str(index)}
    known = folder / "known.json"
    if not known.exists():
        with served(name, articles_in(options.folder, options.articles), folder) as start:
            urls = crawl(sys.executable, start, options.most, None, settings).known
        known.write_text(json.dumps([start, urls]))
    start, urls = json.loads(known.read_text())
    shutil.rmtree(index, ignore_errors=True)
    first = crawl(sys.executable, start, 0, urls, filtered)
    tell_of(name, "without rules", first, first, tell)
    with index_at(str(index)).recorded() as recorded:
        mined = mine(judged_pages(recorded))
    write_rules(rules, mined.proven, force=True)
    for proven in mined.proven:
        print(proven.rule, proven.evidence.support, file=sys.stderr)
    tell(name, "rules", len(mined.proven), "rules")
    applied = folder / "applied"
    shutil.rmtree(applied, ignore_errors=True)
    live = {"ADDONS": {FILTER: 500}, "DEDUP_URL_RULES": "apply", "DEDUP_INDEX": str(applied)}
    discarder = {FILTER: 500, "dedup_filter.urls.discarder.Addon": 600}
    ways: dict[str, dict[str, Any]] = {
        "add-on": {"ADDONS": discarder, "DUD_LOAD_RULE_PATHS": [str(rules)]},
        "applied": {**live, "DEDUP_URL_RULES_FILE": str(rules)},
    }
    for way, added in ways.items():
        second = crawl(sys.executable, start, 0, first.known, settings | added)
        tell_of(name, way, second, first, tell)
    if options.peers is not None:
        middleware = {"maybedont.scrapy_middleware.AvoidDupContentMiddleware": 543}
        theirs = {
            "DOWNLOADER_MIDDLEWARES": middleware,
            "AVOID_DUP_CONTENT_ENABLED": True,
            "AVOID_DUP_CONTENT_INITIAL_QUEUE_LIMIT": PEERS_FIRST,
        }
        peer = crawl(options.peers, start, 0, first.known, {**settings, **theirs})
        tell_of(name, "MaybeDont", peer, first, tell)


def tell_of(name: str, way: str, crawl: Crawl, first: Crawl, tell: Tell) -> None:
    """Print the figures of a crawl, beside those of the first."""
    case = f"{name}, {way}"
    tell(case, "requests", crawl.requests, "requests")
    if crawl is first:
        tell(case, "downloads for nothing", crawl.dropped, "pages")
        tell(case, "kept", len(crawl.kept), "pages")
        return
    tell(case, "requests saved", first.requests - crawl.requests, "requests")
    if "dedup/pages" in crawl.stats:
        not_made = 1 - crawl.dropped / max(first.dropped, 1)
        tell(case, "downloads for nothing", crawl.dropped, "pages")
        tell(case, "downloads for nothing not made", not_made, "")
        tell(case, "rules retired", crawl.stats.get("dedup/rules/contradicted", 0), "rules")
    tell(case, "kept", len(crawl.kept), "pages")
    lost = [url for url, share in shares_found(first.kept, crawl.kept) if share < FOUND]
    tell(case, "contents lost", len(lost), "pages")
    for url in lost:
        print(f"{case}: lost {url!r}", file=sys.stderr)


def shares_found(
    first: Mapping[str, str], second: Mapping[str, str]
) -> Iterator[tuple[str, float]]:
    """Yield, for each page of a crawl, how much of its content the nearest of another has."""
    runs = {url: runs_of(text) for url, text in first.items()}
    counts = Counter(run for of_page in runs.values() for run in of_page)
    most = FRAME * len(first)
    have: dict[int, list[str]] = defaultdict(list)
    for url, text in second.items():
        for run in runs_of(text):
            have[run].append(url)
    for url, of_page in runs.items():
        own = [run for run in of_page if counts[run] <= most]
        found = Counter(other for run in own for other in have.get(run, ()))
        share = max(found.values(), default=0) / len(own) if own else 1.0
        yield url, 1.0 if url in second else share


def runs_of(text: str) -> set[int]:
    """Return the hashes of the runs of four words of a text."""
    words = text.lower().split()
    return {hash(tuple(words[place : place + 4])) for place in range(max(len(words) - 3, 1))}


def recorded_pages(count: int) -> Iterator[Page]:
    """Make pages as an index records them: half of them are duplicates of the other half."""
    kinds = (
        "/story/{0}?sid={1:x}",
        "/story/{0}?utm_source=a{1}&utm_medium=b{1}",
        "/print/story/{0}",
        "/story/{0}/amp",
        "/story/{0}/",
        "/story/{0};jsessionid={1:x}",
        "/Story/{0}",
        "/story/{0}?start=0",
        "/index?do=login&to={0}",
        "/story/{0}-print.html",
    )
    for number in range(count // 2):
        host = f"https://h{number % 10}.example"
        yield Page(f"{host}/story/{number}", number)
        url = kinds[number // 10 % len(kinds)].format(number, number * 2_654_435_761 % 2**32)
        same = -1 - number % 10 if "login" in url else number
        yield Page(host + url, same)


def time_mining(count: int, tell: Tell) -> None:
    """Learn rules of so many pages, and print what it takes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    made = sum(1 for _ in recorded_pages(count))
    making = time.process_time() - began
    mined = mine(recorded_pages(count))
    seconds = time.process_time() - began - 2 * making
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    case = f"mining {made:,} pages"
    tell(case, "rules", len(mined.proven), "rules")
    tell(case, "requests saved, of those possible", mined.saved / mined.duplicates, "")
    tell(case, "CPU", seconds, "s")
    tell(case, "CPU, a page", seconds / made * 1e6, "us")
    tell(case, "memory, a page", memory / made, "B")


def main() -> None:
    """Crawl, learn, crawl again, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--software", nargs="+", choices=SOFTWARE, default=[*SOFTWARE])
    parser.add_argument("--articles", type=int, default=60)
    parser.add_argument("--most", type=int, default=1500, help="URLs of a crawl")
    parser.add_argument("--peers", metavar="PYTHON", help="crawl by MaybeDont, too")
    parser.add_argument("--mine", type=int, metavar="PAGES", help="only time the mining")
    parser.add_argument(
        "--keep", type=Path, help="leave answers in this folder, or take those there"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    def tell(case: str, metric: str, value: float, unit: str) -> None:
        figure(case, metric, value, unit, as_json=options.json)

    if options.mine is not None:
        time_mining(options.mine, tell)
        return
    if options.folder is None:
        parser.error("FOLDER is missing")
    for name in options.software:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) if options.keep is None else options.keep / name
            folder.mkdir(parents=True, exist_ok=True)
            compare(name, folder, options, tell)


if __name__ == "__main__":
    main()
