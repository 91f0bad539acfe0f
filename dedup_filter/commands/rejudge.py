"""`dedup-filter rejudge`: a finished crawl, other settings -> the verdicts that would change."""

from typing import Any

import click

from dedup_filter.commands import json_option, progress, say, write_lines
from dedup_filter.commands.options import filter_option, given_settings, max_distance_option
from dedup_filter.errors import ConfigError
from dedup_filter.review.tuning.rejudge import Judged, Rejudged, Rejudgement, rejudge
from dedup_filter.store.location import folder_of
from dedup_filter.store.sqlite.page_reader import Snapshot
from dedup_filter.wording import counted

_CHANGES = {
    "dropped": "newly dropped",
    "kept": "newly kept",
    "other_original": "other original",
}
_LONGEST_URL = 300


@click.command("rejudge")
@click.argument("directory", metavar="DIR")
@max_distance_option(default=None)
@click.option(
    "--min-similarity",
    "-s",
    metavar="SHARE",
    help='Share of a page that its original must have, 0 to 1; "none": bits alone decide.',
)
@filter_option
@json_option
def rejudge_command(
    directory: str,
    max_distance: int | None,
    min_similarity: str | None,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Show which verdicts of a finished crawl other settings would change, without crawling.

    DIR is an index in a directory; nothing is written to it, and a crawl may go on. Options that
    are not given are taken from its last crawl. The output lists the pages that would be newly
    dropped, newly kept, or dropped for another page, each with its old and new verdict; then the
    totals.

    If the crawl kept its pages (DEDUP_KEEP_TEXT), all are judged again in the same order: these
    are exactly the verdicts of a crawl with the new settings. Every option that affects a verdict
    can be given. Otherwise only --max-distance and --min-similarity can be given, and the answer is
    an ESTIMATE by fingerprints and sketches. The output says which it is.

    With --json: an object for each such page, and a last one with the settings and the totals.

    Exit codes: 0 done, 2 there is no index, it cannot be read, or an option cannot be given.
    """
    given = options | given_settings(max_distance=max_distance, min_similarity=min_similarity)
    if folder_of(directory) is None:
        raise ConfigError(
            f"{directory!r} is not a directory: other indexes record no dropped pages"
        )
    with Snapshot.open_to_read(directory) as snapshot:
        answer = rejudge(
            snapshot, given, lambda them, total: progress(them, "judging again", total)
        )
        for each in answer.changes():
            if as_json:
                write_lines([{"page": each.page, "url": each.url, **_change(each)}])
            else:
                say(_line(each))
        if as_json:
            write_lines([{"index": directory, **_totals(answer)}])
        else:
            for line in _summary(directory, answer):
                say(line)


def _change(each: Rejudged) -> dict[str, Any]:
    return {
        "change": each.change,
        "before": each.before._asdict(),
        "after": each.after._asdict(),
    }


def _totals(answer: Rejudgement) -> dict[str, Any]:
    names = ("pages", "dropped_before", "dropped_after", *_CHANGES)
    return {
        "is_exact": answer.is_exact,
        "before": answer.before,
        "after": answer.after,
        **{name: answer.totals[name] for name in names},
        "notes": answer.notes,
    }


def _line(each: Rejudged) -> str:
    before, after = _verdict(each.before), _verdict(each.after)
    return f"{_CHANGES[str(each.change)]:<14}  {_short(each.url)}  was {before}, would be {after}"


def _verdict(judged: Judged) -> str:
    """Describe a verdict.

    >>> _verdict(Judged("near", "http://a/", 1, 3, 0.941)), _verdict(Judged("new"))
    ('near http://a/ (3 bits, 94 % similar)', 'new')
    """
    if not judged.is_duplicate:
        return judged.outcome
    original = "a forgotten page" if judged.original is None else _short(judged.original)
    if judged.distance is None or judged.similarity is None:
        return f"{judged.outcome} {original}"
    bits, share = counted(judged.distance, "bit"), f"{judged.similarity:.0%}".replace("%", " %")
    return f"{judged.outcome} {original} ({bits}, {share} similar)"


def _short(url: str) -> str:
    return url if len(url) <= _LONGEST_URL else f"{url[:_LONGEST_URL]}..."


def _summary(directory: str, answer: Rejudgement) -> list[str]:
    changed = [
        f"{name} {value} -> {answer.after[name]}"
        for name, value in answer.before.items()
        if value != answer.after[name]
    ]
    totals = answer.totals
    how = (
        "exact: every page was judged again"
        if answer.is_exact
        else "an ESTIMATE by fingerprints and sketches, as pages were not kept (DEDUP_KEEP_TEXT)"
    )
    return [
        f"index     {directory}: {counted(totals['pages'], 'page')}",
        f"verdicts  {how}",
        f"settings  {', '.join(changed) or 'as in the crawl'}",
        f"dropped   {totals['dropped_before']:,} before, {totals['dropped_after']:,} now",
        "changes   " + ", ".join(f"{totals[name]:,} {text}" for name, text in _CHANGES.items()),
        *(f"note      {note}" for note in answer.notes),
    ]
