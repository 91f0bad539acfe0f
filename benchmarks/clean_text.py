"""Take real pages with the true text of their articles, and measure the text that is extracted.

    python benchmarks/clean_text.py FOLDER ... [--most PAGES] [--siblings 10] [--json]

A folder holds a set of real pages (`real_page_sets` lists the forms). This library extracts the
text of each page alone; and with the frame of its host known, after pages of the host with other
articles in the same shell (`real_pages.shelled`). trafilatura, resiliparse and justext, where they
are installed, extract it from the page alone, in the same run.

Words are runs of letters and digits, each occurrence counts. The true texts lack the headline, so
lines that are an h1 of the page are left out of all texts. F1, precision and recall are means over
pages. "pages/s" is by the CPU time of this process: for the frame known, of the whole judgement of
the page, else of the extraction. Pages whose article is not found (`editable`) have no siblings, so
the table has a second part without them.

Parts of the true text that `editable` does not find, at most 20 %, stay in the siblings, so they
become frame; a caption that the set leaves out does so, too.
"""

import argparse
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from real_page_sets import Editable, RealPage, editable, read_set
from real_pages import address, shelled
from stopwatch import figure

from dedup_filter import NearDuplicateFilter
from dedup_filter.model import Unjudged
from dedup_filter.text.decode import as_utf8
from dedup_filter.text.reading import Page, clean_text, read

Extract = Callable[[bytes], str]
ALONE, KNOWN = "this library, alone", "this library, frame known"


class Score(NamedTuple):
    """The words of one page, and the seconds that their extraction took."""

    f1: float
    precision: float
    recall: float
    seconds: float


def score(found: str, page: RealPage, seconds: float) -> Score:
    """Compare the words of two texts."""
    content = read(page.body, None, None)
    headlines = set(content.shown.h1 if isinstance(content, Page) else ())
    lines = [line for line in found.splitlines() if " ".join(line.split()) not in headlines]
    there, wanted = (
        Counter(re.findall(r"\w+", text.casefold())) for text in ("\n".join(lines), page.text)
    )
    common = (there & wanted).total()
    precision, recall = common / max(there.total(), 1), common / max(wanted.total(), 1)
    f1 = 2 * common / max(there.total() + wanted.total(), 1)
    return Score(f1, precision, recall, seconds)


def ours(body: bytes) -> str:
    """Extract by the shape of the page alone."""
    page = read(body, None, None)
    if isinstance(page, Unjudged):
        return ""
    return clean_text(page, [0] * (len(page.blocks) if isinstance(page, Page) else 0))


def extractors() -> dict[str, Extract]:
    """Return what extracts the text of a page alone, of the packages that are installed."""
    found: dict[str, Extract] = {ALONE: ours}
    if find_spec("trafilatura"):
        import trafilatura

        def by_trafilatura(body: bytes, **how: Any) -> str:
            return trafilatura.extract(body, include_comments=False, **how) or ""

        found["trafilatura"] = by_trafilatura
        found["trafilatura, fast"] = lambda body: by_trafilatura(body, fast=True)
    if find_spec("resiliparse"):
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda body: extract_plain_text(
            as_utf8(body).decode("utf-8", "replace"), main_content=True
        )
    if find_spec("justext"):
        import justext

        words = justext.get_stoplist("English")
        found["justext"] = lambda body: "\n".join(
            each.text for each in justext.justext(body, words) if not each.is_boilerplate
        )
    return found


def timed(extract: Callable[[], str], page: RealPage) -> Score:
    """Measure one extraction; a page that a package fails on has no words."""
    started = time.process_time()
    try:
        found = extract()
    except Exception as fault:
        print(f"not extracted: {type(fault).__name__}: {fault}")
        found = ""
    return score(found, page, time.process_time() - started)


def with_frame(page: Editable, siblings: list[Editable]) -> Score:
    """Extract a page after others of its host."""
    with NearDuplicateFilter.open(with_text=True) as pages:
        for each in siblings:
            body = shelled(page, each.headline, each.paragraphs)
            pages.see(f"https://{page.host}/{each.page.name}", html=body)
        body = page.page.body + b"<!-- read anew: the reader caches pages -->"
        return timed(lambda: pages.see(address(page), html=body).text or "", page.page)


def measured(pages: list[RealPage], siblings: int) -> Iterator[tuple[str, str, Score]]:
    """Yield a part of the table, who extracted, and the score of each page."""
    editables = {page.name: editable(page) for page in pages}
    found = [each for each in editables.values() if isinstance(each, Editable)]
    for page in pages:
        own = editables[page.name]
        parts = ["all pages", *(["with siblings"] if isinstance(own, Editable) else [])]
        for name, extract in extractors().items():
            result = timed(partial(extract, page.body), page)
            yield from ((part, name, result) for part in parts)
        if isinstance(own, Editable):
            place = found.index(own)
            others = [*found[place + 1 :], *found[:place]]
            others = [each for each in others if each.headline != own.headline]
            yield "with siblings", KNOWN, with_frame(own, others[:siblings])


def main() -> None:
    """Measure each set, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--most", type=int, help="measure so many pages of each set")
    parser.add_argument("--siblings", type=int, default=10, help="pages of the host seen before")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for folder in options.folders:
        pages = read_set(folder)
        Random(1).shuffle(pages)
        scores = defaultdict[tuple[str, str], list[Score]](list)
        for part, name, result in measured(pages[: options.most], options.siblings):
            scores[part, name].append(result)
        for (part, name), results in sorted(scores.items()):
            row = f"{part}, {name}"
            for metric in ("f1", "precision", "recall"):
                mean = sum(getattr(each, metric) for each in results) / len(results)
                figure(
                    row, f"{metric}, words, {len(results)} pages", mean, "", as_json=options.json
                )
            seconds = sum(each.seconds for each in results)
            figure(row, "speed", len(results) / seconds, "pages/s", as_json=options.json)


if __name__ == "__main__":
    main()
