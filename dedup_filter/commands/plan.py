"""`dedup-filter plan`: the layouts there are for so many pages, what each costs, and which is best.

Times are estimates for a 2-core machine, from the formula in `dedup_filter.hamming.planner`: it
was fitted to indexes of up to 10 million random fingerprints. What they say of more is
arithmetic, not measured; beyond the processor's cache a probe takes longer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from dedup_filter.commands.options import json_option, max_distance_option
from dedup_filter.commands.streams import scaled, write_lines
from dedup_filter.config import FilterConfig
from dedup_filter.wording import counted

if TYPE_CHECKING:
    from dedup_filter.hamming.planner import Estimate

__all__ = ["plan_command"]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_MOST_PAGES = 10**15
_SHOWN = 8
_HEADINGS = ("layout", "tables", "bits", "probes", "candidates", "look-up", "page", "bytes", "")


def _pages(value: str) -> int:
    """Read 1000000 or 1e6."""
    try:
        pages = float(value)
    except ValueError:
        pages = 0
    if not 1 <= pages <= _MOST_PAGES or pages != int(pages):
        raise click.BadParameter(f"{value!r} is not a number of pages, 1 to {_MOST_PAGES:g}")
    return int(pages)


def _bytes(value: str) -> int:
    """Read 64GB, 500 MB or 1.5GiB."""
    found = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Z]*)", value.upper())
    if found is None or found[2] not in _UNITS:
        raise click.BadParameter(f"{value!r} is not a size: write it like 64GB or 500MiB")
    return int(float(found[1]) * _UNITS[found[2]])


@click.command("plan")
@click.option(
    "--pages", type=_pages, metavar="NUMBER", required=True, help="Pages to be stored, like 1e9."
)
@click.option("--memory", type=_bytes, metavar="SIZE", help="What the index may take, like 64GB.")
@max_distance_option(FilterConfig.max_distance)
@json_option
def plan_command(pages: int, memory: int | None, max_distance: int, as_json: bool) -> None:
    """Rank the layouts of an index: which tables, how many probes, what time and memory.

    The memory is that of the tables alone; what the records of the pages take is not in it.
    The best one that fits into the memory comes first; what the literature proposes is listed
    after the others, for comparison. Times are estimates for a 2-core machine: compare them with
    one another. They leave out what it takes to confirm a candidate.

    \b
    bits        of the prefix that a probe looks up
    candidates  stored fingerprints that a look-up compares
    page        time of a look-up and of an insert; the last column: against the best
    bytes       of memory for each page stored
    """  # noqa: D301 - click must see the character
    from dedup_filter.hamming.planner import chance_neighbours, estimate, paper_layouts, ranked

    best = ranked(max_distance, pages, memory)
    papers = {
        name: estimate(layout, max_distance, pages)
        for name, layout in paper_layouts(max_distance).items()
    }
    if as_json:
        write_lines(_objects(best, papers, pages, memory))
        return
    chance = chance_neighbours(max_distance, pages)
    click.echo(f"{counted(pages, 'page')}, at most {counted(max_distance, 'bit')} apart.")
    click.echo(f"Unrelated pages near to each by chance: {chance:.2g}, if bits are fair coins.\n")
    scan = [one for one in best[_SHOWN:] if one.layout is None]
    shown = [*best[:_SHOWN], *scan]
    rows = [_row(_name(one), one, _reason(one, best[0], pages, memory)) for one in shown]
    rows.append([""] * len(_HEADINGS))
    rows += [_row(name, one, _reason(one, best[0], pages, memory)) for name, one in papers.items()]
    for line in _table(rows):
        click.echo(line)
    if not _fits(best[0], pages, memory):
        least = min(one.bytes_per_entry for one in best) * pages
        raise click.ClickException(f"no layout fits; the smallest needs {least / 1e9:,.3g} GB")


def _objects(
    best: Sequence["Estimate"], papers: dict[str, "Estimate"], pages: int, memory: int | None
) -> Iterable[dict[str, Any]]:
    named = [(_name(one), one, False) for one in best]
    named += [(name, one, True) for name, one in papers.items()]
    for name, one, of_paper in named:
        yield {
            "name": name,
            "layout": None if one.layout is None else repr(one.layout),
            "from_literature": of_paper,
            "chosen": one is best[0] and _fits(one, pages, memory),
            "tables": one.tables,
            "prefix_bits": list(one.prefix_bits),
            "probes": one.probes,
            "candidates": one.candidates,
            "look_up_us": round(one.look_up_us, 2),
            "page_us": round(one.page_us, 2),
            "bytes_per_page": round(one.bytes_per_entry, 1),
            "fits": _fits(one, pages, memory),
            "reason": _reason(one, best[0], pages, memory),
        }


def _name(one: "Estimate") -> str:
    if one.layout is None:
        return "no tables: all compared"
    if one.layout.nested is not None:
        return f"{one.layout.block_count} x {one.layout.nested.block_count} blocks, nested"
    return f"{one.layout.block_count} blocks, {one.layout.leading_blocks} lead"


def _fits(one: "Estimate", pages: int, memory: int | None) -> bool:
    return memory is None or one.bytes_per_entry * pages <= memory


def _reason(one: "Estimate", best: "Estimate", pages: int, memory: int | None) -> str:
    if not _fits(one, pages, memory):
        return f"needs {one.bytes_per_entry * pages / 1e9:,.3g} GB"
    if one is best:
        return "quickest that fits" if memory is not None else "quickest"
    slower = one.page_us / best.page_us
    if slower < 1.005:
        return "as quick"
    return f"{slower:.3g} x: {_most_costly(one, best)}"


def _most_costly(one: "Estimate", best: "Estimate") -> str:
    more = {
        "candidates": one.candidates / (best.candidates or 1),
        "probes": one.probes / (best.probes or 1),
        "tables": one.tables / best.tables,
    }
    return f"more {max(more, key=lambda part: more[part])}"


def _row(name: str, one: "Estimate", reason: str) -> list[str]:
    shortest, longest = one.prefix_bits
    bits = str(shortest) if shortest == longest else f"{shortest}-{longest}"
    times = [_time(one.look_up_us), _time(one.page_us)]
    counts = [f"{one.probes:,}", _count(one.candidates)]
    return [name, str(one.tables), bits, *counts, *times, f"{one.bytes_per_entry:.0f}", reason]


def _count(value: float) -> str:
    return scaled(value, {"G": 1e9, "M": 1e6, "k": 1e3}) or f"{value:.3g}"


def _time(microseconds: float) -> str:
    return scaled(microseconds, {"s": 1e6, "ms": 1e3}) or f"{microseconds:.3g} us"


def _table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    lines = [_HEADINGS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *figures, reason in lines:
        shown = [figure.rjust(width) for figure, width in zip(figures, widths[1:-1], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *shown, reason]).rstrip()
