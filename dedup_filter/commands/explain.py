"""`dedup-filter explain`: a page -> the text that is judged, the text left out, and the rules."""

from collections import defaultdict
from dataclasses import asdict
from typing import Any

import click

from dedup_filter.commands import folders, json_option, say, write_lines
from dedup_filter.commands.options import filter_option
from dedup_filter.commands.sections import TEXTS, entry, head, paragraph
from dedup_filter.model import as_hex
from dedup_filter.review.explanation.excluded_text import ExcludedText
from dedup_filter.review.explanation.explain import Explanation, explain
from dedup_filter.upkeep import index_at
from dedup_filter.wording import counted, printable

_TOP = 20
_LONGEST_NAME = 70
_RULES = {
    "ignored": "left out by selectors of ignore",
    "outside": "outside the elements that selectors of content name",
    "element": "in elements that are never read",
    "hidden": "hidden, or in noscript, while more words are visible",
    "template": "in templates",
    "notice": "noscript that only requests JavaScript",
    "data": "script data without prose that is read",
    "data_read": "script data; its prose is read after all other text",
    "markup": "escaped HTML in hidden text; it is read as HTML",
    "title": "title of the page; it counts for headline and digest",
    "frame_seen": "frame: earlier pages of the host had it",
    "frame": "page frame by an element's tag or class name",
    "container": "outside the container that holds the main content",
    "before": "before the main content: short, or links",
    "after": "after the main content: short, or links",
    "links": "mostly links, within the main content",
}
_SELECTED = {
    "ignored": "ignore leaves out a part of the page",
    "content": "content names a part of the page",
    "no_content": "content names nothing on the page, so all of it is judged",
    "nothing_left": "they would leave no text, so they do not count",
}
_LANGUAGE_BY = {
    "script": "recognized by its script",
    "declaration": "as the page declares",
    "stopwords": "recognized by its stopwords",
    "nothing": "its words include too few stopwords of any language",
}
_REASONS = {
    "no_text": "there is no text in it",
    "too_short": "its texts have fewer than 20 words: it repeats only an equal page",
    "by_script": "its text is made by scripts: it repeats only an equal page",
    "binary": "it is not text",
    "too_large": "it is too large",
}


@click.command("explain")
@click.argument("page")
@click.option("--url", default="", help="URL of a page in a file; its host has a frame.")
@click.option(
    "--index",
    metavar="DIR",
    shell_complete=folders,
    help="An index: use its frame of the page's host, or its record of the page.",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=_TOP,
    show_default=True,
    metavar="N",
    help="Number of features to write, largest weight first. (--json: all)",
)
@filter_option
@json_option
def explain_command(
    page: str, url: str, index: str | None, top: int, options: dict[str, Any], *, as_json: bool
) -> None:
    """Show which text of PAGE would be judged, which is left out, and by which rule.

    PAGE is a URL, the path of a file, or standard input (-). The page is judged as if it came
    now: without --index nothing is known of its host. Each word of the page is either in the text
    kept or in the text left out.

    With --index the options of its crawls are used, and the frame of the page's host is known. A
    URL that is in the index is not fetched: its record is shown. A record has the page's text only
    if it was kept (DEDUP_KEEP_TEXT), and never the parts that were not read.

    The output also has the phrases taken for advertisements, as they have hardly any function
    words around them; the features of the fingerprint with their weights; and the tally of each of
    its 64 bits: the sum of these weights, added if the hash of a feature has a 1, else subtracted.

    \b
    Exit codes: 0 done, 2 the page or the index cannot be read.
    """  # noqa: D301 - click must see the character
    found = explain(page, url, options, None if index is None else index_at(index))
    if as_json:
        write_lines([_as_object(found)])
    else:
        _write(found, top)


def _as_object(found: Explanation) -> dict[str, Any]:
    values = asdict(found)
    values["texts"] = [
        text | {"fingerprint": as_hex(text["fingerprint"])} for text in values["texts"]
    ]
    values["left_out"] = (
        None if found.left_out is None else [each._asdict() for each in found.left_out]
    )
    values["features"] = [feature._asdict() for feature in found.features]
    values["words"] = found.words
    values["fingerprint_hex"] = as_hex(found.fingerprint)
    return values


def _write(found: Explanation, top: int) -> None:
    entry("page", found.name if found.url in ("", found.name) else f"{found.name} ({found.url})")
    if found.reason is not None:
        entry("unjudged", f"{found.reason}: {_REASONS.get(found.reason, 'see the settings')}")
    if found.recorded is not None:
        shown = {**found.recorded, "fingerprint": as_hex(found.recorded["fingerprint"])}
        parts = [f"{name} {value}" for name, value in shown.items() if value is not None]
        if found.fingerprint != found.recorded["fingerprint"]:
            parts.append("judged now it gets another one (below), as more of its host is known")
        entry("recorded", ", ".join(parts))
    if not found.digest:
        return
    _write_page(found)
    if found.text is None:
        head("TEXT: it was not kept (DEDUP_KEEP_TEXT)")
    else:
        head(f"TEXT KEPT ({counted(found.words['kept'], 'word')})")
        for block in found.text.split("\n"):
            paragraph(block)
    _write_left_out(found)
    if found.shingles is not None:
        _write_advertisements(found)
    _write_fingerprint(found, top)


def _write_page(found: Explanation) -> None:
    how = f", {_LANGUAGE_BY[found.language_by]}" if found.language_by else ""
    declared = f" (it declares {found.declared_language})" if found.declared_language else ""
    entry("language", f"{found.language or 'unknown'}{how}{declared}")
    if found.selected:
        entry("selectors", "; ".join(_SELECTED[each] for each in found.selected))
    parts = " | ".join(found.headline) or "none"
    entry("headline", f"{parts} (h1: {found.h1 or 'none'}; title: {found.title or 'none'})")
    if found.host:
        frame = "its frame is known" if found.is_frame_known else "its frame is not known yet"
        entry("host", f"{found.host}: {counted(found.host_pages, 'page')} kept, {frame}")
    for text in found.texts:
        value = as_hex(text.fingerprint) or "nothing is looked up by it"
        entry("text", f"{text.name}: {counted(text.words, 'word')}, {value}")
    if len(found.texts) > 1:
        entry("", TEXTS)
    if found.unread_words:
        entry("unread", f"{counted(found.unread_words, 'word')} in hidden parts and script data")
    entry("digest", found.digest)


def _write_left_out(found: Explanation) -> None:
    if found.left_out is None:
        head("LEFT OUT: not recorded")
        return
    by_rule = defaultdict[str, list[ExcludedText]](list)
    for each in found.left_out:
        by_rule[each.rule].append(each)
    words = sum(each.words for each in found.left_out)
    head(f"LEFT OUT ({counted(words, 'word')})")
    for rule, members in by_rule.items():
        paragraph(f"{_RULES[rule]} ({counted(found.words[rule], 'word')}):")
        for each in members:
            span = "in the span" if each.is_in_span else ""
            notes = "; ".join(filter(None, (each.detail, span)))
            paragraph(f"{each.text} [{notes}]" if notes else each.text, 4)


def _write_advertisements(found: Explanation) -> None:
    share = f"{found.shingles_left_out:,} of {found.shingles:,} phrases"
    effect = "" if found.are_sentences else "; as hardly any are in sentences, all words count"
    head(f"TAKEN FOR ADVERTISEMENTS: {share} have too few function words around them{effect}")
    for row in found.advertisements:
        paragraph(row)


def _write_fingerprint(found: Explanation, top: int) -> None:
    if found.features:
        shown = min(top, len(found.features))
        head(f"FEATURES: {shown:,} of {len(found.features):,}, largest weight first")
        for feature in found.features[:top]:
            kind = "" if feature.kind == "text" else f" ({feature.kind})"
            say(f"  {feature.weight:9.3f}  {printable(feature.name, _LONGEST_NAME)}{kind}")
        head("TALLIES: the sum of weights, added or subtracted, for each bit")
        for first in range(0, 64, 8):
            row = "".join(f"{each:10.2f}" for each in found.tallies[first : first + 8])
            say(f"  {63 - first:2} to {56 - first:2}{row}")
    value = found.fingerprint
    head(f"FINGERPRINT {'none' if value is None else f'{as_hex(value)} = {value}'}")
