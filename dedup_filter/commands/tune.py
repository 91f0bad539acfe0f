"""`dedup-filter tune`: pages -> the effect of each setting on them, and a suggested setting."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import click

from dedup_filter.commands import json_option, progress, say, write_lines
from dedup_filter.commands.options import field_options, filter_option
from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.estimate import Estimate
from dedup_filter.review.tuning.labels import Labelled, Rightness, labelled, labels_in
from dedup_filter.review.tuning.record_pairs import pages_of, pairs_of
from dedup_filter.review.tuning.source import opened
from dedup_filter.review.tuning.tune import Border, Step, Tuning, tune
from dedup_filter.store.sqlite.page_reader import PageReader
from dedup_filter.upkeep.directory import options_noted
from dedup_filter.wording import counted

_BAR = 40
_LONGEST = 100
_WIDE = 12
_HEADINGS = "k   pairs  similar  confirmed  dropped           by chance    if bits were fair"
_TUNED = ("max_distance", "min_similarity")


def _number(_: object, __: object, given: str | None) -> int | None:
    if given is None:
        return None
    try:
        number = float(given)
    except ValueError:
        number = 0
    if not 1 <= number < 2**63:
        raise click.BadParameter(f"{given!r} is not a number of pages, such as 1e6")
    return int(number)


@click.command("tune")
@click.argument("source")
@click.option(
    "--labels",
    type=click.File("rb"),
    metavar="FILE",
    help='Judged pairs, one a line: {"a": URL, "b": URL, "same": true}.',
)
@click.option(
    "--pages",
    callback=_number,
    metavar="NUMBER",
    help="Estimate chance for this many pages, like 1e6; default: the pages of SOURCE.",
)
@click.option(
    "--examples",
    type=click.IntRange(0, 100),
    default=3,
    metavar="NUMBER",
    help="Pairs shown of each kind.",
)
@field_options
@filter_option
@json_option
def tune_command(source: str, as_json: bool, **given: Any) -> None:
    """Show the effect of each setting on your pages, and suggest one.

    SOURCE is an index in a directory, a feed (JSON lines, or an export), or a WARC file. A feed or
    WARC file is read first, 3 to 5 ms a page; --set workers=auto uses all cores. Pages are compared
    by fingerprints, sketches and headlines. `rejudge` shows the exact effect of a setting.

    \b
    similar    mean share of the later page's phrases that the earlier one has
    confirmed  pairs in which the later page would be dropped for the earlier one
    by chance  unrelated pages that are as near, for each page; ~: extrapolated

    With --labels: precision and recall of each setting with 95 % confidence, and the best setting.

    Exit codes: 0 done, 2 SOURCE or FILE cannot be read, has no pages, or a label is malformed.
    """  # noqa: D301 - click must see the character
    labels: BinaryIO | None = given["labels"]
    judged = list(labels_in(labels)) if labels is not None else None
    for name in _TUNED:
        if name in given["options"]:
            raise ConfigError(f"{name} is the setting to be found: leave it out")
    with opened(
        source,
        given["fields"],
        given["options"],
        lambda them, total: progress(them, "reading", total),
    ) as (snapshot, notes):
        config = FilterConfig.of(options_noted(snapshot))
        pages = pages_of(snapshot, by_phrases=config.shared_phrases)
        pairs = pairs_of(
            snapshot,
            pages,
            by_host=config.scope == "host",
            watch=lambda them, total: progress(them, "comparing", total),
        )
        tuning = tune(pages, pairs, planned=given["pages"], examples=given["examples"])
        tuning = tuning._replace(notes=[*notes, *tuning.notes])
        found = None if judged is None else labelled(snapshot, pages, judged)
        if as_json:
            write_lines([{"source": source, **_as_object(snapshot, tuning, found)}])
        else:
            for line in _report(snapshot, source, tuning, found):
                say(line)


def _as_object(reader: PageReader, tuning: Tuning, found: Labelled | None) -> dict[str, Any]:
    """Return all as plain values of JSON."""
    chance = tuning.chance
    return {
        **tuning._asdict(),
        "nearest": {str(bits): count for bits, count in tuning.nearest.items()},
        "chance": None if chance is None else vars(chance),
        "steps": [step._asdict() for step in tuning.steps],
        "shares": {f"{share:g}": count for share, count in tuning.shares.items()},
        "border": [_border_object(reader, each) for each in tuning.border],
        "suggested": tuning.suggested._asdict(),
        "labels": None if found is None else _labels_object(found),
    }


def _border_object(reader: PageReader, each: Border) -> dict[str, Any]:
    page, original = reader.record(each.page), reader.record(each.original)
    return {
        "kind": each.kind,
        "url": page.url,
        "headline": page.h1 or page.title,
        "original": original.url,
        "original_headline": original.h1 or original.title,
        "distance": each.distance,
        "similarity": each.similarity,
    }


def _labels_object(found: Labelled) -> dict[str, Any]:
    settings = [_rightness_object(each) for each in found.settings]
    best = None if found.best is None else _rightness_object(found.best)
    return {**found._asdict(), "settings": settings, "best": best}


def _rightness_object(each: Rightness) -> dict[str, Any]:
    return {
        name: value._asdict() if isinstance(value, Estimate) else value
        for name, value in each._asdict().items()
    }


def _report(
    reader: PageReader, source: str, tuning: Tuning, found: Labelled | None
) -> Iterator[str]:
    """Write all for people, at most 80 columns where URLs allow it."""
    yield (
        f"{source}: {counted(tuning.pages, 'page')}, {tuning.long:,} with enough text, "
        f"{tuning.exact:,} equal to an earlier page"
    )
    k, share = tuning.suggested[:2]
    yield f"Suggested: max_distance {k}, min_similarity {share:g}"
    yield from (f"- {reason}" for reason in tuning.suggested.reasons)
    yield from (f"note: {note}" for note in tuning.notes)
    yield from ("", "Bits to the nearest earlier page (beyond 12 by a sample):")
    yield from _histogram(tuning)
    if tuning.chance is not None:
        yield (
            f"Unrelated pages differ in {tuning.chance.mean:.1f} bits, "
            f"+-{tuning.chance.deviation:.1f}; fair bits in 32.0, +-4.0."
        )
    yield from ("", f"min_similarity {share:g}; chance is estimated for {tuning.planned:,} pages:")
    yield _HEADINGS
    yield from (_step_line(step) for step in tuning.steps)
    yield from ("", f"max_distance {k}; pages dropped by min_similarity:")
    yield "   ".join(f"{each:g}: {count:,}" for each, count in tuning.shares.items())
    kind = ""
    for each in tuning.border:
        if each.kind != kind:
            kind = each.kind
            yield from ("", f"At the border, {kind}:")
        yield from _border_lines(_border_object(reader, each))
    if found is not None:
        yield from ("", *_labels_lines(found))


def _histogram(tuning: Tuning) -> Iterator[str]:
    most = max(tuning.nearest.values(), default=1)
    last = max(tuning.nearest, default=0)
    for bits in range(last + 1):
        count = tuning.nearest.get(bits, 0)
        yield f"{bits:>2} {count:>9,.0f} {'#' * round(_BAR * count / most)}".rstrip()


def _step_line(step: Step) -> str:
    """Write a line of the table of k.

    >>> _step_line(Step(12, 5, 0.5, 4, 70, 0.0213, False, 0.00021))
    '12      5     50 %          4       70             ~0.021             0.00021'
    """
    mean = "-" if step.mean_similarity is None else f"{100 * step.mean_similarity:.0f} %"
    by_chance = f"{'' if step.is_counted else '~'}{step.by_chance:.2g}"
    return (
        f"{step.max_distance:<2} {step.pairs:>6} {mean:>8} {step.confirmed:>10} "
        f"{step.dropped:>8} {by_chance:>18} {step.by_fair_bits:>19.2g}"
    )


def _border_lines(each: dict[str, Any]) -> Iterator[str]:
    bits, share = counted(each["distance"], "bit"), 100 * each["similarity"]
    yield f"  {bits}, {share:.0f} % similar: {_short(each['url'])}  {_short(each['headline'])}"
    yield f"{'':<{_WIDE}}and {_short(each['original'])}  {_short(each['original_headline'])}"


def _labels_lines(found: Labelled) -> Iterator[str]:
    yield (
        f"Labels: {counted(found.same, 'pair')} the same, {found.different:,} different, "
        f"{found.unknown:,} of pages that are not here"
    )
    if found.best is not None:
        best = found.best
        yield f"Best: max_distance {best.max_distance}, min_similarity {best.min_similarity:g}"
        for name in ("precision", "recall", "f1"):
            yield f"  {name:<9} {_estimate(getattr(best, name))}"
    yield f"- {found.reason}"


def _estimate(share: Estimate | None) -> str:
    """Write a share with its interval.

    >>> _estimate(Estimate(0.9, 0.81, 0.95))
    '0.900 (0.810 to 0.950)'
    """
    return "-" if share is None else f"{share.value:.3f} ({share.low:.3f} to {share.high:.3f})"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
