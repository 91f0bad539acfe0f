"""`dedup-filter compare`: two pages -> how alike they are, and whether one repeats the other."""

import os
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click

from dedup_filter.commands import folders, json_option, write_lines
from dedup_filter.commands.options import filter_option
from dedup_filter.commands.sections import COLUMNS, TEXTS, columns_of, entry, head, paragraph
from dedup_filter.model import Verdict
from dedup_filter.review.explanation.compare import Comparison, compare
from dedup_filter.review.explanation.compared_page import ComparedPage
from dedup_filter.review.explanation.refusals import why
from dedup_filter.review.explanation.text_diff import Change, is_letter_of_unspaced
from dedup_filter.upkeep import index_at
from dedup_filter.wording import counted, printable

_AROUND = 6
"""Words that both texts have, shown before and after a change."""
_LONGEST_WORD = 40
"""Characters of a word that are shown; wide ones take two columns."""
_COLOURS = {"gone": "red", "new": "green"}
_MARKS = {"gone": ("[-", "-]"), "new": ("{+", "+}")}


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--url",
    "urls",
    multiple=True,
    help="URL of a page in a file; give it again for B. Pages of one host are judged differently.",
)
@click.option(
    "--index",
    metavar="DIR",
    shell_complete=folders,
    help="An index: use its frames of the pages' hosts, and its records of the pages.",
)
@filter_option
@json_option
def compare_command(
    first: str,
    second: str,
    urls: tuple[str, ...],
    index: str | None,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Show how similar two pages are, and whether B would be dropped for A.

    A and B are URLs, paths of files, or standard input (-). A is taken for a page that was kept,
    and B for a later page. The output has the filter's verdict on B for each distance k (0 to 12).
    If B is near A but kept, the output says which text of B is missing in A.

    With --index the options of its crawls are used. URLs that are in the index are not fetched:
    they are compared as recorded. B is judged if all its blocks were kept (DEDUP_KEEP_TEXT).

    The output also has the bits that differ, the tables of the index that find A by B, the
    sentences of only one page, and a word diff: coloured on a terminal (unless NO_COLOR is set),
    elsewhere with the marks [-only in A-] and {+only in B+}.

    \b
    Exit codes:
    0    done, whether B repeats A or not
    2    a page or the index cannot be read
    """  # noqa: D301 - click must see the character
    if len(urls) > 2:
        raise click.UsageError("--url is given at most twice: for A and for B")
    places = (*urls, "", "")[:2]
    where = None if index is None else index_at(index)
    found = compare((first, second), places, options, where)
    if as_json:
        write_lines([_as_object(found)])
    else:
        _write(found)


def _as_object(found: Comparison) -> dict[str, Any]:
    return {
        "first": _page(found.first),
        "second": _page(found.second),
        "distance": found.distance,
        "by_text": found.by_text,
        "differing_bits": found.differing_bits,
        "max_distance": found.max_distance,
        "layout": found.layout,
        "tables": [each._asdict() for each in found.tables],
        "likeness": None if found.likeness is None else found.likeness._asdict(),
        "verdicts": None
        if found.verdicts is None
        else [{"max_distance": k, **_verdict(each)} for k, each in enumerate(found.verdicts)],
        "ignorable": None
        if found.ignorable is None
        else {
            "selector": found.ignorable.selector,
            "elements": [each._asdict() for each in found.ignorable.elements],
        },
        "only_in_first": found.only_in_first,
        "only_in_second": found.only_in_second,
        "changes": None if found.changes is None else [each._asdict() for each in found.changes],
    }


def _page(page: ComparedPage) -> dict[str, Any]:
    names = "name url reason recorded original language words digest advertisements".split()
    return {
        **{name: getattr(page, name) for name in names},
        **page.headline._asdict(),
        "fingerprints": {name: f"{value:#018x}" for name, value in page.fingerprints.items()},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    names = "outcome reason distance similarity candidates".split()
    refused = None if verdict.refused is None else verdict.refused._asdict()
    if refused:
        del refused["page"]  # A has another number in each filter
        refused["lines"] = [line.text for line in refused["lines"]]
    return {**{name: getattr(verdict, name) for name in names}, "refused": refused}


def _write(found: Comparison) -> None:
    for name, page in (("A", found.first), ("B", found.second)):
        _write_page(name, page)
    if found.likeness is not None:
        of_b, of_a, jaccard, is_estimated = found.likeness
        estimated = " (estimated by sketches)" if is_estimated else ""
        entry(
            "phrases",
            f"A has {_percent(of_b)} of B's, B has {_percent(of_a)} of A's; Jaccard similarity "
            f"{jaccard:.3f}{estimated}",
        )
    _write_verdicts(found)
    _write_bits(found)
    for name, page in (("A", found.first), ("B", found.second)):
        if page.advertisements:
            head(f"TAKEN FOR ADVERTISEMENTS IN {name}")
            for row in page.advertisements:
                paragraph(row)
    if found.only_in_first is None or found.only_in_second is None or found.changes is None:
        head("SENTENCES OF ONLY ONE PAGE: the text of one page is not known")
        return
    for name, sentences in (("A", found.only_in_first), ("B", found.only_in_second)):
        head(f"ONLY {name} SAYS" + ("" if sentences else ": nothing"))
        for sentence in sentences:
            paragraph(sentence)
    if any(change.kind != "same" for change in found.changes):
        head("WORD DIFF: from A to B")
        _write_changes(found.changes)


def _write_page(name: str, page: ComparedPage) -> None:
    entry(name, page.name if page.url in ("", page.name) else f"{page.name} ({page.url})")
    if page.recorded is not None:
        original = "" if page.original is None else f" of {page.original}"
        entry("  recorded", f"{page.recorded}{original}")
    if page.reason is not None:
        entry("  unjudged", page.reason)
    if page.digest:
        entry("  language", f"{page.language or 'unknown'}, {counted(page.words, 'word')}")
        entry(
            "  headline",
            f"h1: {page.headline.h1 or 'none'}; title: {page.headline.title or 'none'}",
        )
    for text, value in page.fingerprints.items():
        entry(f"  {text}", f"{value:#018x}")
    if len(page.fingerprints) > 1:
        entry("", TEXTS)


def _write_verdicts(found: Comparison) -> None:
    if found.verdicts is None:
        head("VERDICT: B cannot be judged again, as its blocks were not kept (DEDUP_KEEP_TEXT)")
        return
    head("VERDICT ON B, if A was kept, by distance k")
    sentences = enumerate(map(_sentence, found.verdicts))
    for sentence, group in groupby(sentences, key=lambda each: each[1]):
        distances = [distance for distance, _ in group]
        span = str(distances[0]) if len(distances) == 1 else f"{distances[0]} to {distances[-1]}"
        entry(f"  k {span}", sentence)
    if found.ignorable is not None:
        entry("  hint", f"they differ {found.ignorable.hint('B')}")


def _sentence(verdict: Verdict) -> str:
    if verdict.outcome == "unjudged":
        return f"unjudged: {verdict.reason}"
    if verdict.outcome != "new":
        share = (
            ""
            if verdict.similarity is None
            else f", A has {_percent(verdict.similarity)} of its text"
        )
        by = f"; found by {verdict.reason.replace('_', ' ')}" if verdict.reason else ""
        bits = counted(verdict.distance or 0, "bit")
        return f"{verdict.outcome}: it repeats A ({bits}{share}{by})"
    if verdict.refused is not None:
        return f"kept: {why(verdict.refused)}"
    return "new: not near"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _write_bits(found: Comparison) -> None:
    if found.distance is None:
        head("FINGERPRINTS: one page has none")
        return
    places = ", ".join(map(str, found.differing_bits)) or "none"
    head(f"FINGERPRINTS: {counted(found.distance, 'bit')} of 64 differ ({found.by_text}): {places}")
    paragraph(f"tables of {found.layout}, for k = {found.max_distance}:")
    for number, table in enumerate(found.tables, 1):
        blocks = ", ".join(f"{first} to {last}" for first, last in table.leading)
        if table.flipped < 0:
            does = "not needed"
        else:
            does = f"up to {table.flipped} are flipped: {'finds A' if table.finds else 'misses it'}"
        paragraph(f"table {number}, led by bits {blocks}: {table.differing} differ; {does}", 4)


def _write_changes(changes: list[Change]) -> None:
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    line, width, is_after_letter = "", 0, False
    for kind, word, is_letter in _marked(changes, is_coloured=is_coloured):
        gap = "" if not line or (is_letter and is_after_letter) else " "
        takes = columns_of(gap + word)
        if width + takes > COLUMNS - 2:
            click.echo(f"  {line}")
            line, width, gap = "", 0, ""
        is_plain = kind == "same" or not is_coloured
        line += gap + (word if is_plain else click.style(word, fg=_COLOURS[kind]))
        width, is_after_letter = width + takes, is_letter
    click.echo(f"  {line}")


def _marked(changes: list[Change], *, is_coloured: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield (kind, printable word, whether it is a character of a script without spaces).

    Of the words that both texts have, only some around changes are yielded.
    """
    for number, (kind, words) in enumerate(changes):
        shown, start, end = words, "", ""
        if kind == "same":
            before = words[:_AROUND] if number else []
            after = words[-_AROUND:] if number < len(changes) - 1 else []
            if len(words) > len(before) + len(after):
                shown = [*before, "...", *after]
        elif not is_coloured:
            start, end = _MARKS[kind]
        last = len(shown) - 1
        for place, word in enumerate(shown):
            shown_word = printable(word, _LONGEST_WORD)
            marked = f"{start * (place == 0)}{shown_word}{end * (place == last)}"
            yield kind, marked, is_letter_of_unspaced(word)
