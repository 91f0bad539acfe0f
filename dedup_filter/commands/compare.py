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
from dedup_filter.review.explanation.refusals import why
from dedup_filter.review.explanation.side import Side
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
    help="Where a page in a file was found; again for B. Pages of one host are judged otherwise.",
)
@click.option(
    "--index",
    metavar="DIR",
    shell_complete=folders,
    help="An index: what it knows of the pages' hosts, or of the pages themselves.",
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
    """Tell how alike two pages are, and whether B would be dropped for A.

    A and B are URLs, paths of files, or standard input (-). A is taken for a page that was kept,
    and B for one that comes after it. For each distance k (0 to 12) the filter's verdict on B is
    told, and what of B is missing in A if it is near and kept all the same.

    With --index the options of its crawls hold. URLs that are in the index are not fetched: they
    are compared as recorded. B is judged if all its blocks were kept (DEDUP_KEEP_TEXT).

    Written are also the bits that differ, which tables of the index find A by B, what only one of
    them says, and a word diff: coloured on a terminal (unless NO_COLOR is set), with the marks
    [-only in A-] and {+only in B+} elsewhere.

    \b
    Exit codes:
    0    done, whether B repeats A or not
    2    a page or the index cannot be read
    """  # noqa: D301 - click must see the character
    if len(urls) > 2:
        raise click.UsageError("--url is for A and for B: give it at most twice")
    places = (*urls, "", "")[:2]
    where = None if index is None else index_at(index)
    found = compare((first, second), places, options, where)
    if as_json:
        write_lines([_as_object(found)])
    else:
        _tell(found)


def _as_object(found: Comparison) -> dict[str, Any]:
    return {
        "first": _side(found.first),
        "second": _side(found.second),
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


def _side(side: Side) -> dict[str, Any]:
    names = "name url reason recorded original language words digest advertisements".split()
    return {
        **{name: getattr(side, name) for name in names},
        **side.headline._asdict(),
        "fingerprints": {name: f"{value:#018x}" for name, value in side.fingerprints.items()},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    names = "outcome reason distance similarity candidates".split()
    refused = None if verdict.refused is None else verdict.refused._asdict()
    if refused:
        del refused["page"]  # A has a number of its own in each of the filters
        refused["lines"] = [line.text for line in refused["lines"]]
    return {**{name: getattr(verdict, name) for name in names}, "refused": refused}


def _tell(found: Comparison) -> None:
    for name, side in (("A", found.first), ("B", found.second)):
        _tell_side(name, side)
    if found.likeness is not None:
        of_b, of_a, jaccard, is_estimated = found.likeness
        estimated = " (estimated by sketches)" if is_estimated else ""
        entry(
            "phrases",
            f"A has {_percent(of_b)} of B's, B has {_percent(of_a)} of A's; Jaccard similarity "
            f"{jaccard:.3f}{estimated}",
        )
    _tell_verdicts(found)
    _tell_bits(found)
    for name, side in (("A", found.first), ("B", found.second)):
        if side.advertisements:
            head(f"TAKEN FOR ADVERTISEMENTS IN {name}")
            for row in side.advertisements:
                paragraph(row)
    if found.only_in_first is None or found.only_in_second is None or found.changes is None:
        head("WHAT ONLY ONE OF THEM SAYS: the text of one is not known")
        return
    for name, sentences in (("A", found.only_in_first), ("B", found.only_in_second)):
        head(f"ONLY {name} SAYS" + ("" if sentences else ": nothing"))
        for sentence in sentences:
            paragraph(sentence)
    if any(change.kind != "same" for change in found.changes):
        head("WORD DIFF: from A to B")
        _tell_changes(found.changes)


def _tell_side(name: str, side: Side) -> None:
    entry(name, side.name if side.url in ("", side.name) else f"{side.name} ({side.url})")
    if side.recorded is not None:
        original = "" if side.original is None else f" of {side.original}"
        entry("  recorded", f"{side.recorded}{original}")
    if side.reason is not None:
        entry("  unjudged", side.reason)
    if side.digest:
        entry("  language", f"{side.language or 'unknown'}, {counted(side.words, 'word')}")
        entry(
            "  headline",
            f"h1: {side.headline.h1 or 'none'}; title: {side.headline.title or 'none'}",
        )
    for text, value in side.fingerprints.items():
        entry(f"  {text}", f"{value:#018x}")
    if len(side.fingerprints) > 1:
        entry("", TEXTS)


def _tell_verdicts(found: Comparison) -> None:
    if found.verdicts is None:
        head("VERDICT: B cannot be judged again, as its blocks were not kept (DEDUP_KEEP_TEXT)")
        return
    head("VERDICT ON B, if A was kept, by distance k")
    said = enumerate(map(_said, found.verdicts))
    for sentence, group in groupby(said, key=lambda each: each[1]):
        distances = [distance for distance, _ in group]
        span = str(distances[0]) if len(distances) == 1 else f"{distances[0]} to {distances[-1]}"
        entry(f"  k {span}", sentence)
    if found.ignorable is not None:
        entry("  hint", f"they differ {found.ignorable.told('B')}")


def _said(verdict: Verdict) -> str:
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


def _tell_bits(found: Comparison) -> None:
    if found.distance is None:
        head("FINGERPRINTS: one of them has none")
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


def _tell_changes(changes: list[Change]) -> None:
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
    """Yield words, printable, with their kinds, and whether each is one of a script without spaces.

    Of those that both texts have, only some around changes.
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
