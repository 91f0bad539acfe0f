"""`dedup-filter compare`: two pages -> whether one would be dropped for the other, and why."""

from collections.abc import Iterator
from typing import Any

import click

from dedup_filter.commands import entry, head, json_option, named, paragraph, write_lines
from dedup_filter.commands.explain import about, title_of
from dedup_filter.commands.options import filter_option, index_option
from dedup_filter.review.compare import Change, Comparison, compare, is_letter_of_unspaced
from dedup_filter.review.refusals import why
from dedup_filter.upkeep import Index
from dedup_filter.wording import counted, percent, printable

_AROUND = 6
"""Words that both texts have, shown before and after a change."""
_LONGEST_WORD, _LONGEST = 40, 80
"""Characters of a word and of a missing line that are shown."""
_WAY_OUT = (
    ": crawl with DEDUP_KEEP_TEXT, or give the page as a file with its URL (--url), or leave out "
    "--index, so that both pages are fetched"
)
_MARKS = {"gone": ("[-", "-]"), "new": ("{+", "+}")}


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--url",
    "urls",
    multiple=True,
    help="URL of a page in a file; give it again for a second file. Pages of one host are judged "
    "differently.",
)
@index_option
@filter_option
@json_option
def compare_command(
    first: str,
    second: str,
    urls: tuple[str, ...],
    index: Index | None,
    options: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Show whether a crawl that has kept A would drop B for it, and why.

    A and B are URLs, paths of files, or standard input (-). Pages of one host are judged more
    strictly. If B is near A but kept, the output says which text of B is missing in A, and which
    elements make the difference if B without them would be dropped. Last comes a word diff of all
    text that is compared, with the marks [-only in A-] and {+only in B+}.

    With --index the options of its crawls are used, and the frames that they have found. URLs that
    are in the index are compared as recorded, and the output says what the crawl said of B. B is
    judged again if its blocks were kept (DEDUP_KEEP_TEXT).
    """
    if len(urls) > 2:
        raise click.UsageError("--url is given at most twice: for A and for B")
    if len(urls) == 1 and "://" in first:
        urls = ("", *urls)
    found = compare((first, second), (*urls, "", "")[:2], options, index)
    values = _object(found)
    if as_json:
        write_lines([values])
    else:
        _write(found, values)


def _object(found: Comparison) -> dict[str, Any]:
    verdict, said = found.verdict, None
    if verdict is not None:
        names = "outcome reason distance similarity lost lost_words candidates".split()
        said = {name: getattr(verdict, name) for name in names}
        said["refused"] = refused = named(verdict.refused)
        if refused:
            del refused["page"]  # a number that no index has
            refused["lines"] = [line["text"] for line in refused["lines"]]
    first, second = (about(page) | {"words": page.words} for page in (found.first, found.second))
    return {
        "assumed": found.assumed,
        "verdict": said,
        "ignorable": named(found.ignorable),
        "first": first,
        "second": second,
        "distance": found.distance,
        "max_distance": found.config.max_distance,
        "likeness": named(found.likeness),
        "share_in_crawl": found.share_in_crawl,
        "changes": named(found.changes),
    }


def _write(found: Comparison, values: dict[str, Any]) -> None:
    entry("judged", found.assumed)
    if (in_crawl := _in_crawl(found)) is not None:
        entry("in the crawl", in_crawl)
    entry("verdict", _sentence(found))
    if found.ignorable is not None:
        entry("hint", f"they differ {found.ignorable.hint('B')}")
    _write_page("A", values["first"])
    _write_page("B", values["second"])
    _write_shared(found)
    if (changes := found.changes) is None:
        head(f"WORD DIFF: the text of one page is not known{_WAY_OUT}")
        return
    kinds, is_lost = (
        {change.kind for change in changes},
        found.loss is not None and found.loss.lines,
    )
    if kinds <= {"same"}:
        beside = "; what is lost or missing stands beside the text" if is_lost else ""
        head(f"WORD DIFF: none{beside}")
        return
    masked = "" if is_lost or "new" not in kinds else "; what changes by itself is not compared"
    head(f"WORD DIFF: from A to B{masked}")
    paragraph("".join(_marked(changes)))


def _write_shared(found: Comparison) -> None:
    """Write how much of B is in A.

    The share of the log of the crawl comes first, then the share now, then that of phrases.
    """
    if found.share_in_crawl is not None:
        share, what = found.share_in_crawl, "text of B, by the log of the crawl"
    elif found.loss is not None:
        share, what = found.loss.similarity, "text of B"
    elif found.likeness is not None:
        share, what = found.likeness.of_second, "phrases of B"
    else:
        return
    entry("shared", f"A has {percent(share)} of the {what}")
    if share < 1 and found.loss is not None and found.loss.lines:
        is_dropped = found.verdict is not None and found.verdict.is_duplicate
        entry(
            "lost" if is_dropped else "missing",
            " | ".join(printable(each, _LONGEST) for each in found.loss.lines),
        )


def _in_crawl(found: Comparison) -> str | None:
    """Return what the crawl of the index said of the second page; None: it is not recorded."""
    record = found.second.record
    if record is None:
        return None
    if record.is_kept:
        why = f" ({record.reason})" if record.reason else ""
        is_first = found.first.record is not None and found.first.record.page > record.page
        return f"{record.outcome}{why}{'; A came later' if is_first else ''}"
    bits = "" if record.distance is None else f" ({counted(record.distance, 'bit')})"
    original = "A" if found.repeats_in_crawl else found.second.kept.url_of_original
    return f"{record.outcome}: B repeats {original or 'a page that was forgotten'}{bits}"


def _write_page(name: str, page: dict[str, Any]) -> None:
    entry(name, title_of(page))
    if (recorded := page["recorded"]) is not None:
        original = recorded["original"]
        entry("  recorded", recorded["outcome"] + (f" of {original}" if original else ""))
    if page["reason"] is not None:
        entry("  reason", page["reason"])
    if page["digest"] is not None:
        entry("  text", f"{counted(page['words'], 'word')}, {page['language'] or 'unknown'}")
        entry("  headline", f"h1: {page['h1'] or 'none'}; title: {page['title'] or 'none'}")


def _sentence(found: Comparison) -> str:
    verdict = found.verdict
    if verdict is None:
        return f"none: B cannot be judged again, as its text was not kept{_WAY_OUT}"
    if verdict.outcome == "unjudged":
        return f"unjudged: {verdict.reason}"
    if verdict.outcome != "new":
        by = f"; found by {verdict.reason.replace('_', ' ')}" if verdict.reason else ""
        return f"{verdict.outcome}: B repeats A ({counted(verdict.distance or 0, 'bit')}{by})"
    if verdict.refused is not None:
        return f"kept: {why(verdict.refused._replace(url='A'))}"
    return f"new: {_why_new(found)}"


def _why_new(found: Comparison) -> str:
    if found.are_out_of_scope:
        return "A is a page of another host, and scope is host"
    if found.distance is None:
        return "one page has too little text to be near another"
    most = found.config.max_distance
    return f"not near ({found.distance} bits differ, max_distance {most})"


def _marked(changes: list[Change]) -> Iterator[str]:
    """Yield the words of a diff; of those that both texts have, only some around changes."""
    is_after_letter = True
    for number, (kind, words) in enumerate(changes):
        shown, (start, end) = words, _MARKS.get(kind, ("", ""))
        if kind == "same":
            before = words[:_AROUND] if number else []
            after = words[-_AROUND:] if number < len(changes) - 1 else []
            if len(words) > len(before) + len(after):
                shown = [*before, "...", *after]
        last = len(shown) - 1
        for place, word in enumerate(shown):
            is_letter = is_letter_of_unspaced(word)
            text = f"{start * (place == 0)}{printable(word, _LONGEST_WORD)}{end * (place == last)}"
            yield text if is_letter and is_after_letter else f" {text}"
            is_after_letter = is_letter
