"""Take real pages, edit them as sites do, and count: copies that are found, other pages lost.

    python benchmarks/real_pages.py FOLDER ... [--most PAGES] [--only NAME ...] [--json] [-v]

A folder holds a set of real pages with the texts of their articles (`real_page_sets` lists the
forms). Sets that can be had freely: scrapinghub/article-extraction-benchmark, test/test-pages of
mozilla/readability, tests/data of codelucas/newspaper. This library and, where they are installed,
trafilatura + datasketch see the same pages in the same order.

Each edit of a page has a crawl of its own, in which the page comes before it.

    alone            the article alone on another host: headline and paragraphs, or as text=
    another shell    the article in the page of another site of the set in place of that one's own,
                     under the same headline, or another one; with byline and credit
    same host        another URL of the page: nothing changed; other headlines in the links beside
                     the article; a block of links more; a hidden block more; a number in a short
                     line beside the article one higher; a paragraph less. With a paragraph more it
                     says something new, and must be kept
    mirror           the same on another host

"host new": nothing else of the hosts is known. "frame known": two other articles have come before
in the page of each host. Before all edits, all pages of the set are one crawl. Copies are those
whose articles have a Jaccard similarity of word 4-grams from 0.8 with an earlier one, and those
that the set has twice by URL; from 0.4 pages are half like an earlier one.

Left out are pages of which headline or article are not found, and edits that a page has no place
for. A page takes some 4 s.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from random import Random
from typing import NamedTuple

import real_page_sets
from real_page_sets import Draft, Editable, RealPage, editable, read_set
from reference_pages import DIFFERENT, DUPLICATE, jaccard, text_shingles
from side_by_side import Fetch, Tally, new_judges
from stopwatch import figure

MIRROR = "www.elsewhere.example"
AWAY = f"https://{MIRROR}/story"
TABLES = ("alone", "another shell", "same host", "mirror")
TEASERS = 6
BYLINE, CREDIT = "By Robin Marlowe", "This article was first published by {}."


class Others(NamedTuple):
    """Other pages of the set, for what an edit needs."""

    shell: Editable
    """The page of another site."""
    known: list[Editable]
    """Four articles that show frames."""
    headlines: list[str]
    passage: str | None


def others_of(pages: list[Editable], number: int) -> Others:
    """Choose pages after one, of other hosts and under other headlines."""
    page = pages[number]
    rest = [*pages[number + 1 :], *pages[:number]]
    rest = [each for each in rest if each.host != page.host and each.headline != page.headline]
    shell, *more = rest
    known = [each for each in more if each.host != shell.host][:4]
    passage = next(filter(None, (each.passage() for each in more[4:])), None)
    return Others(shell, known, [each.headline for each in more[-4 * TEASERS :]], passage)


Edit = Callable[[Draft, Others, Editable], bool]
EDITS: dict[str, Edit] = {
    "unchanged": lambda *_: True,
    "other headlines beside": lambda draft, others, _: draft.change_teasers(others.headlines),
    "links below the article": lambda draft, others, _: added(draft, others, "div"),
    "aside or footer of links": lambda draft, others, page: added(draft, others, page.aside),
    "hidden block": lambda draft, others, _: draft.add_hidden(others.known[0].text[:400]),
    "number beside": lambda draft, *_: draft.change_number(),
    "paragraph less": lambda draft, *_: draft.remove_paragraph(),
    "paragraph more": lambda draft, others, _: draft.add_paragraph(others.passage),
}
"""What is done to a page at another URL; False: it has no place for it."""
NEW = "paragraph more"
"""The edit that makes another page."""


def added(draft: Draft, others: Others, tag: str) -> bool:
    """Add a block of links."""
    return draft.add_teasers(tag, others.headlines[:TEASERS])


def shelled(shell: Editable, headline: str, paragraphs: list[str]) -> bytes:
    """Put an article into the page of another one."""
    draft = shell.draft()
    draft.replace_article(headline, paragraphs)
    return draft.markup()


def retitled(page: Editable) -> str:
    """Return what another newsroom might write over the article: words from its middle."""
    middle = page.paragraphs[len(page.paragraphs) // 2]
    words = middle.split()
    return " ".join(words[:9]) if len(words) > 5 else middle[:25]


class Variant(NamedTuple):
    """A page that may say what an article says."""

    table: str
    name: str
    url: str
    content: str | bytes
    is_copy: bool = True
    is_text: bool = False


def variants(page: Editable, others: Others) -> Iterator[Variant]:
    """Edit a page in all ways."""
    title, blocks = escape(page.headline), "".join(f"<p>{escape(p)}</p>" for p in page.paragraphs)
    alone = f"<meta charset=utf-8><title>{title}</title><body><h1>{title}</h1>{blocks}</body>"
    yield Variant("alone", "html", AWAY, alone.encode())
    yield Variant("alone", "text", AWAY, page.text, is_text=True)
    bylined = [BYLINE, *page.paragraphs, CREDIT.format(page.host)]
    for name, headline, paragraphs in (
        ("same headline", page.headline, page.paragraphs),
        ("other headline", retitled(page), page.paragraphs),
        ("byline and credit", page.headline, bylined),
    ):
        url = f"https://{others.shell.host}.shell.example/story"
        yield Variant("another shell", name, url, shelled(others.shell, headline, paragraphs))
    for name, edit in EDITS.items():
        draft = page.draft()
        if edit(draft, others, page):
            for table, url in ("same host", f"{address(page)}?copy=1"), ("mirror", AWAY):
                yield Variant(table, name, url, draft.markup(), name != NEW)


def address(page: Editable) -> str:
    """Return a URL of a page that no other page of the set has."""
    return f"https://{page.host}/{page.page.name}"


def frames(table: str, page: Editable, others: Others) -> Iterator[Fetch]:
    """Put other articles into the pages of the hosts that an edit is about."""
    shell = f"{others.shell.host}.shell.example"
    hosts = [(page, page.host, others.known[:2])]
    if table == "another shell":
        hosts.append((others.shell, shell, others.known[2:]))
    elif table == "mirror":  # of these articles, too
        hosts.append((page, MIRROR, others.known[:2]))
    for frame, host, articles in hosts:
        for each in articles:
            content = shelled(frame, each.headline, each.paragraphs)
            yield Fetch(f"https://{host}/{each.page.name}", content, each.page.name, ())


def crawls(page: Editable, others: Others, only: list[str] | None) -> Iterator[list[Fetch]]:
    """Give a crawl for each edit of a page, and one more with frames that are known."""
    first = Fetch(address(page), page.draft().markup(), page.page.name, ())
    known = {each: list(frames(each, page, others)) for each in TABLES}
    for edit in variants(page, others):
        if chosen(edit, only):
            says = page.page.name if edit.is_copy else f"{page.page.name} and more"
            for state, before in (("host new", []), ("frame known", known[edit.table])):
                groups = ((edit.table, f"{edit.name}, {state}"),)
                yield [*before, first, Fetch(edit.url, edit.content, says, groups, edit.is_text)]


def chosen(edit: Variant, only: list[str] | None) -> bool:
    """Tell whether an edit is wanted: the table or the name begins with one of `only`."""
    return only is None or any(each.startswith(tuple(only)) for each in (edit.table, edit.name))


def whole_set(pages: list[RealPage]) -> Iterator[Fetch]:
    """Give all pages; one says what the first page says that it is a copy of."""
    holders: dict[int, list[int]] = defaultdict(list)
    fetched: dict[str, int] = {}
    says: list[str] = []
    shingles = [text_shingles(page.text) for page in pages]
    for number, page in enumerate(pages):
        own = shingles[number]
        shared = {other for each in own for other in holders[each]}
        alike = {other: jaccard(shingles[other], own) for other in sorted(shared)}
        original = next((o for o, share in alike.items() if share >= DUPLICATE), number)
        row = "pages"
        if (first := fetched.setdefault(page.url.rstrip("/"), number)) != number:
            original, row = first, "fetched again"
        elif original == number and max(alike.values(), default=0) >= DIFFERENT:
            row = "pages half like an earlier one"
        for each in own:
            holders[each].append(number)
        says.append(page.name if original == number else says[original])
        groups = (("all pages in one crawl", row),)
        yield Fetch(f"{page.url}#{page.name}", page.body, says[number], groups)


def measure(folder: Path, most: int | None, only: list[str] | None, tally: Tally) -> Counter[str]:
    """Judge the pages of a set and their edits; count pages that could be edited, or why not."""
    pages = read_set(folder)
    if not pages:
        sys.exit(f"{folder}: no set of a known form is here:\n{real_page_sets.__doc__}")
    Random(1).shuffle(pages)
    tally.judge(whole_set(pages), new_judges())
    results = [editable(page) for page in pages]
    found = [each for each in results if isinstance(each, Editable)]
    for number, page in enumerate(found[:most]):
        for crawl in crawls(page, others_of(found, number), only):
            tally.judge(crawl, new_judges())
    return Counter(each if isinstance(each, str) else "editable" for each in results)


def main() -> None:
    """Measure each set, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--most", type=int, help="edit so many pages of each set, 0: none")
    parser.add_argument("--only", nargs="+", help="beginnings of names of tables or edits")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="print misses and losses")
    options = parser.parse_args()
    for folder in options.folders:
        tally = Tally(is_verbose=options.verbose)
        counts = measure(folder, options.most, options.only, tally)
        for result, count in counts.items():
            figure(folder.name, result, count, "pages", as_json=options.json)
        tally.report(as_json=options.json)


if __name__ == "__main__":
    main()
