"""`dedup-filter tune`: an index with its pages, settings -> what each would drop more or less."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import click

from dedup_filter.commands import json_option, location_argument, progress, say, write_lines
from dedup_filter.commands.options import (
    filter_option,
    given_settings,
    max_distance_option,
    number_option,
)
from dedup_filter.errors import ConfigError
from dedup_filter.model import Verdict
from dedup_filter.review.sweep import KINDS, Effect, sweep
from dedup_filter.store.location import folder_of
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.wording import counted, percent, printable

_EXAMPLES = 3
"""Changes of each kind that are shown of a setting, if there are several settings."""
_LONGEST_URL = 300
_LONGEST_VALUE = 60
_OF_NOW = ("max_distance", "min_similarity")


@click.command("tune")
@location_argument(metavar="DIR")
@max_distance_option(multiple=True, default=(), show_default=False)
@click.option(
    "--min-similarity",
    multiple=True,
    metavar="SHARE",
    help='Share of a page that its original must have, 0 to 1; "none": bits alone decide.',
)
@filter_option
@number_option("--most", 1, "Judge only so many pages: the first.")
@click.option("--hosts", default="", metavar="NAMES", help="Judge only pages of hosts a,b,c.")
@json_option
def tune_command(
    index: str,
    max_distance: tuple[int, ...],
    min_similarity: tuple[str, ...],
    options: dict[str, Any],
    as_json: bool,
    **given: Any,
) -> None:
    """Show what other settings would drop more or less than now, without crawling.

    DIR is an index in a directory that has kept its pages (DEDUP_KEEP_TEXT). They are judged again
    in the same order, with the options of the last crawl ("now") and with each setting; nothing is
    written to the index. --max-distance and --min-similarity can be repeated: all combinations are
    tried, each with all of --set. Without a setting, common values are tried. With one setting, all
    pages whose verdict changes are shown; else some of them.
    """
    settings = [
        {**options, **given_settings(max_distance=bits, min_similarity=share)}
        for bits, share in product(max_distance or [None], min_similarity or [None])
        if max_distance or min_similarity or options
    ]
    if folder_of(index) is None:
        raise ConfigError(
            f"{index!r} is not a directory: other indexes do not keep the text of pages"
        )
    with SqliteStore.open_to_read(index) as recorded:
        effects = sweep(
            recorded,
            settings,
            lambda records, total: progress(records, "judging", total),
            most=given["most"],
            hosts=[each.strip() for each in given["hosts"].split(",") if each.strip()],
            examples=None if len(settings) == 1 else _EXAMPLES,
        )
        lacking = recorded.count() - len(recorded.with_text())
    if as_json:
        write_lines(map(_object, effects))
        return
    for line in _report(effects):
        say(line)
    if lacking:
        pages = counted(lacking, "page")
        say(f"note    {pages} left out: their text was not kept (DEDUP_KEEP_TEXT)")


def _object(effect: Effect) -> dict[str, Any]:
    return {
        "options": dict(effect.options),
        "dropped": effect.dropped,
        **{kind: effect.changed[kind] for kind in KINDS},
        "changes": [
            {"url": url, "change": kind, "before": before.as_json(), "after": after.as_json()}
            for url, kind, before, after in effect.examples
        ],
    }


def _report(effects: list[Effect]) -> Iterator[str]:
    now, *others = effects
    names = [f"now, {_named({name: now.options[name] for name in _OF_NOW})}"]
    for effect in others:
        names.append(_named(effect.options))
        if effect.examples:
            yield f"{names[-1]}:"
            for url, kind, before, after in effect.examples:
                verdicts = f"was {_verdict(before)}, would be {_verdict(after)}"
                name = kind.replace("_", " ")
                yield f"  {name:<14}  {printable(url, _LONGEST_URL)}  {verdicts}"
            yield ""
    wide = max(map(len, names))
    heads = "".join(f"{each.replace('_', ' '):>16}" for each in ("dropped", *KINDS))
    yield f"{'setting':<{wide}}{heads}"
    for name, effect in zip(names, effects, strict=True):
        counts = (effect.dropped, *(effect.changed[kind] for kind in KINDS))
        yield f"{name:<{wide}}{''.join(f'{each:>16,}' for each in counts)}"


def _named(options: Mapping[str, Any]) -> str:
    """Name a setting by what differs from now.

    >>> _named({"max_distance": 3, "min_similarity": None}), _named({})
    ('max_distance 3, min_similarity none', 'as now')
    """
    shown = (
        f"{name} {'none' if value is None else str(value)[:_LONGEST_VALUE]}"
        for name, value in options.items()
    )
    return ", ".join(shown) or "as now"


def _verdict(verdict: Verdict) -> str:
    """Describe a verdict.

    >>> _verdict(Verdict("near", "http://a/", 3, 0.941)), _verdict(Verdict("new"))
    ('near http://a/ (3 bits, 94 % similar)', 'new')
    """
    if not verdict.is_duplicate:
        return verdict.outcome
    original = printable(verdict.original or "a forgotten page", _LONGEST_URL)
    if verdict.distance is None or verdict.similarity is None:
        return f"{verdict.outcome} {original}"
    bits, share = counted(verdict.distance, "bit"), percent(verdict.similarity)
    return f"{verdict.outcome} {original} ({bits}, {share} similar)"
