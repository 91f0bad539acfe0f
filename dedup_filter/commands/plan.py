"""`dedup-filter bits plan`: number of pages, distance, memory -> the layouts, ranked by their cost.

Times are estimates for a 2-core machine, from the formula in `dedup_filter.hamming.planner`. The
formula was fitted to indexes of up to 10 million random fingerprints. Larger numbers are
extrapolated, not measured; beyond the processor's cache a probe takes longer.
"""

import re
from typing import Any

import click

from dedup_filter.commands import json_option, say, write, write_lines
from dedup_filter.commands.options import max_distance_option
from dedup_filter.config import FilterConfig
from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.planner import (
    Estimate,
    chance_neighbours,
    most_entries,
    papers,
    ranked,
)
from dedup_filter.wording import counted

_MOST_PAGES = 10**15
_SHOWN = 8
_HEADINGS = (
    "layout                      tables   bits  probes      candidates   look-up us"
    "    us a page  bytes  against the best"
)
_CAPACITY = (
    "{max_distance:12}{pages:15,}{bytes_per_entry:8.0f}{look_up_us:13,.1f}"
    "{chance_neighbours:23.2g}   {layout}"
)
_LINE = (
    "{name:<27}{tables:>7}{bits:>7}{probes:>8,}{candidates:>16,.0f}{look_up_us:>13,.1f}"
    "{page_us:>13,.1f}{bytes_per_entry:>7.0f}  {reason}"
)


def _pages(value: str) -> int:
    try:
        pages = float(value)
    except ValueError:
        pages = 0
    if not 1 <= pages <= _MOST_PAGES or pages != int(pages):
        raise click.BadParameter(f"{value!r} is not a number of pages, 1 to {_MOST_PAGES:g}")
    return int(pages)


def _bytes(value: str) -> int:
    number = r"([0-9]{1,18}(?:\.[0-9]{1,9})?)"
    found = re.fullmatch(rf"{number}\s*(?:([KMGT])(I?))?B?", value.upper())
    if found is None:
        raise click.BadParameter(f"{value!r} is not a size: write it like 64GB or 500MiB")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGT".index(found[2] or " "))


@click.command("plan")
@click.option("--pages", type=_pages, metavar="NUMBER", help="Pages to be stored, like 1e9.")
@click.option("--memory", type=_bytes, metavar="SIZE", help="Memory for the index, like 64GB.")
@max_distance_option(
    default=None, show_default=f"{FilterConfig.max_distance}; without --pages, each distance"
)
@json_option
def plan_command(
    pages: int | None, memory: int | None, max_distance: int | None, as_json: bool
) -> None:
    """Rank the layouts of tables that an index can have, by time and memory.

    The memory is for the tables alone, twice while an index in memory grows. With --memory alone:
    how many pages fit for each distance. The best layout that fits comes first: an index takes it
    by itself. The layouts of the literature come last. Compare the times, in microseconds, only
    with one another: they are estimates, without the confirmation of candidates.

    \b
    layout      blocks, leading blocks: Layout(6, 3) cuts the 64 bits into 6 blocks, and each choice
                of 3 leads one table
    bits        width of the prefix that a probe looks up
    candidates  stored fingerprints that a look-up compares
    us a page   time of a look-up and an insert; the last column compares it with the best
    bytes       memory for each stored page
    """  # noqa: D301 - click must see the character
    if pages is None:
        if memory is None:
            raise click.UsageError("give --pages, --memory or both")
        _write_capacities(memory, max_distance, as_json=as_json)
        return
    if max_distance is None:
        max_distance = FilterConfig.max_distance
    rows = _rows(pages, memory, max_distance)
    if as_json:
        write_lines(rows)
        return
    say(f"{counted(pages, 'page')}, at most {counted(max_distance, 'bit')} apart.")
    chance = chance_neighbours(max_distance, pages)
    say(f"Unrelated pages near to each by chance: {chance:.2g}, if all bits are random.")
    ours, others = ([row for row in rows if row["from_literature"] is it] for it in (False, True))
    shown = [*ours[:_SHOWN], *(row for row in ours[_SHOWN:] if row["layout"] is None)]
    for line in ("", _HEADINGS, *map(_line, shown), "", *map(_line, others)):
        say(line)
    if not rows[0]["fits"]:
        least = min(row["bytes_per_entry"] for row in ours) * pages
        raise click.ClickException(f"no layout fits; the smallest needs {least / 1e9:,.3g} GB")


def _write_capacities(memory: int, max_distance: int | None, *, as_json: bool) -> None:
    distances = range(MAX_DISTANCE + 1) if max_distance is None else (max_distance,)
    capacities = [(k, *most_entries(k, memory)) for k in distances]
    if not as_json:
        say("max_distance          pages   bytes   look-up us   unrelated pages near   layout")
    for k, pages, costs in capacities:
        values = {"max_distance": k, "pages": pages, **vars(costs), "layout": repr(costs.layout)}
        values["chance_neighbours"] = chance_neighbours(k, pages)
        write(values, [_CAPACITY.format(**values)], as_json=as_json)


def _rows(pages: int, memory: int | None, max_distance: int) -> list[dict[str, Any]]:
    """Describe all layouts, the best first, the layouts of the literature last."""
    best, *others = ranked(max_distance, pages, memory)
    literature = papers(max_distance, pages)

    def row(name: str, one: Estimate) -> dict[str, Any]:
        size = one.bytes_per_entry * pages
        fits = memory is None or size <= memory
        slower = "quickest that fits" if one is best else f"{one.page_us / best.page_us:,.3g} x"
        return {
            "name": name,
            **vars(one),
            "layout": one.layout and repr(one.layout),
            "page_us": one.page_us,
            "from_literature": name in literature,
            "chosen": one is best and fits,
            "fits": fits,
            "reason": slower if fits else f"needs {size / 1e9:,.3g} GB",
        }

    none = "no tables: all compared"
    return [
        *(row(repr(one.layout) if one.layout else none, one) for one in (best, *others)),
        *(row(name, one) for name, one in literature.items()),
    ]


def _line(row: dict[str, Any]) -> str:
    return _LINE.format(**row, bits="-".join(map(str, sorted({*row["prefix_bits"]}))))
