"""`dedup-filter tune`: an index with its pages, settings -> what each would drop more or less."""

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

import click

from dedup_filter.commands import json_option, named, progress, say, write_lines
from dedup_filter.commands.options import filter_option, given_settings, max_distance_option
from dedup_filter.errors import ConfigError
from dedup_filter.estimate import Estimate
from dedup_filter.model import Verdict
from dedup_filter.review.labels import labels_in
from dedup_filter.review.sweep import KINDS, Change, Effect, Sweep
from dedup_filter.store.location import folder_of
from dedup_filter.store.sqlite.snapshot import Snapshot
from dedup_filter.wording import counted, printable

_EXAMPLES = 3
_LONGEST_URL = 300
_LONGEST_VALUE = 60


def _new_file(_: object, __: object, given: Path | None) -> Path | None:
    if given is not None and given.exists():
        raise click.BadParameter(f"{given} exists, and your labels may be in it")
    return given


@click.command("tune")
@click.argument("directory", metavar="DIR")
@max_distance_option(multiple=True, default=(), show_default=False)
@click.option(
    "--min-similarity",
    multiple=True,
    metavar="SHARE",
    help='Share of a page that its original must have, 0 to 1; "none": bits alone decide.',
)
@filter_option
@click.option(
    "--labels",
    type=click.File("rb"),
    metavar="FILE",
    help='Judged pairs, one a line: {"a": URL, "b": URL, "same": true}.',
)
@click.option(
    "--pairs",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_new_file,
    metavar="FILE",
    help='Write the shown pairs to a new file of labels; "same" is null until you judge.',
)
@click.option(
    "--examples",
    type=click.IntRange(0),
    metavar="N",
    help=f"Pairs shown of each kind; default: {_EXAMPLES}, or all for one setting.",
)
@click.option("--most", type=click.IntRange(1), metavar="N", help="Judge only the first N pages.")
@click.option("--hosts", default="", metavar="NAMES", help="Judge only pages of hosts a,b,c.")
@json_option
def tune_command(
    directory: str,
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

    With --labels: precision and recall of each setting, with 95 % confidence. With --json: an
    object for "now", and one for each setting.

    Exit codes: 0 done, 2 DIR cannot be read or has not kept its pages, an option or label is wrong.
    """
    labels: BinaryIO | None = given["labels"]
    judged = [] if labels is None else list(labels_in(labels))
    settings = _settings(max_distance, min_similarity, options)
    if folder_of(directory) is None:
        raise ConfigError(
            f"{directory!r} is not a directory: other indexes do not keep the text of pages"
        )
    hosts = [each.strip() for each in given["hosts"].split(",") if each.strip()]
    examples = given["examples"]
    if examples is None and len(settings) != 1:
        examples = _EXAMPLES
    with Snapshot.open_to_read(directory) as snapshot:
        sweep = Sweep(snapshot, settings, most=given["most"], hosts=hosts)
        pages, tried = counted(len(sweep.pages), "page"), counted(len(sweep.configs), "setting")
        if not as_json:
            say(f"judging {pages} by {tried}", err=True)
        effects = sweep.run(lambda them, total: progress(them, "judging", total), judged, examples)
    if as_json:
        write_lines(map(_object, effects))
    else:
        for line in _report(effects, is_mixed=sweep.is_mixed):
            say(line)
    if given["pairs"] is not None:
        given["pairs"].write_text("".join(_pairs(effects)), encoding="utf-8")


def _settings(
    distances: tuple[int, ...], similarities: tuple[str, ...], options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return all combinations of the values; without any, none."""
    if not (distances or similarities or options):
        return []
    return [
        {**options, **given_settings(max_distance=bits, min_similarity=share)}
        for bits, share in product(distances or [None], similarities or [None])
    ]


def _pairs(effects: list[Effect]) -> Iterator[str]:
    """Return a line for each pair that the examples name, to be labelled."""
    changes = [change for effect in effects for change in effect.examples]
    for a, b in dict.fromkeys((each.url, each.original) for each in changes if each.original):
        yield json.dumps({"a": a, "b": b, "same": None}) + "\n"


def _object(effect: Effect) -> dict[str, Any]:
    return {
        "options": dict(effect.options),
        "dropped": effect.dropped,
        **{kind: effect.changed[kind] for kind in KINDS},
        "labels": named(effect.scores),
        "changes": [
            {"url": url, "change": kind, "before": before.as_json(), "after": after.as_json()}
            for url, kind, before, after in effect.examples
        ],
    }


def _report(effects: list[Effect], *, is_mixed: bool) -> Iterator[str]:
    now = {name: effects[0].options[name] for name in ("max_distance", "min_similarity")}
    names = [f"now, {_named(now)}", *(_named(effect.options) for effect in effects[1:])]
    wide = max(map(len, names))
    is_scored = effects[0].scores is not None
    heads = [f"{each.replace('_', ' '):>16}" for each in ("dropped", *KINDS)]
    heads += [f"  {each:<22}" for each in ("precision", "recall") if is_scored]
    for name, effect in zip(names[1:], effects[1:], strict=True):
        if effect.examples:
            yield f"{name}:"
            yield from (f"  {_line(change)}" for change in effect.examples)
            yield ""
    yield f"{'setting':<{wide}}{''.join(heads)}".rstrip()
    for name, effect in zip(names, effects, strict=True):
        yield f"{name:<{wide}}{_row(effect)}".rstrip()
    if (scores := effects[0].scores) is not None:
        yield (
            f"labels  {counted(scores.same, 'pair')} the same, {scores.different:,} different, "
            f"{scores.unknown:,} of pages that are not here"
        )
    if is_mixed:
        yield 'note    crawls of this index had different options: "now" is the last one\'s'


def _row(effect: Effect) -> str:
    counts = [effect.dropped, *(effect.changed[kind] for kind in KINDS)]
    scores = effect.scores
    shares = () if scores is None else (scores.precision, scores.recall)
    return "".join(f"{each:>16,}" for each in counts) + "".join(
        f"  {_share(each):<22}" for each in shares
    )


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


def _line(change: Change) -> str:
    before, after = _verdict(change.before), _verdict(change.after)
    kind = change.kind.replace("_", " ")
    return f"{kind:<14}  {printable(change.url, _LONGEST_URL)}  was {before}, would be {after}"


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
    bits, share = counted(verdict.distance, "bit"), 100 * verdict.similarity
    return f"{verdict.outcome} {original} ({bits}, {share:.0f} % similar)"


def _share(share: Estimate | None) -> str:
    """Write a share with its interval.

    >>> _share(Estimate(0.9, 0.81, 0.95))
    '0.900 (0.810 to 0.950)'
    """
    return "-" if share is None else f"{share.value:.3f} ({share.low:.3f} to {share.high:.3f})"
