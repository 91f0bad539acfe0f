"""`dedup-filter explain`: a page -> the text that is judged, the text left out, and the rules."""

from collections import defaultdict
from math import isfinite
from typing import Any

import click

from dedup_filter.commands import folders, json_option, say, write_lines
from dedup_filter.commands.options import filter_option
from dedup_filter.commands.sections import TEXTS, entry, head, paragraph
from dedup_filter.features.recipes import consists_of_sentences
from dedup_filter.model import as_hex
from dedup_filter.review.explanation.excluded_text import ExcludedText, excluded_text
from dedup_filter.review.explanation.explained_page import ExplainedPage
from dedup_filter.review.explanation.named_features import Simhash, advertisements, simhash_of
from dedup_filter.review.explanation.named_page import NamedPage, explain
from dedup_filter.store.records import PageRecord
from dedup_filter.upkeep import index_at
from dedup_filter.wording import as_time, counted, printable

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
@click.option("--bits", is_flag=True, help="Also the features of the fingerprint, and its tallies.")
@filter_option
@json_option
def explain_command(
    page: str, url: str, index: str | None, bits: bool, options: dict[str, Any], *, as_json: bool
) -> None:
    """Show which text of PAGE would be judged, which is left out, and by which rule.

    PAGE is a URL, the path of a file, or standard input (-). Without --index nothing is known of
    its host. Each word of the page is either in the text kept or in the text left out. Phrases are
    taken for advertisements if they have hardly any function words around them.

    With --index the options of its crawls are used, and the frame of the page's host is known;
    blocks of the page itself are not counted. A URL that is in the index is not fetched: its record
    is shown. A record has the page's text only if it was kept (DEDUP_KEEP_TEXT), and never the
    parts that were not read.

    With --bits: each feature of the fingerprint with its weight, and the tally of each of the 64
    bits: the sum of these weights, added if the hash of a feature has a 1, else subtracted.

    \b
    Exit codes: 0 done, 2 the page or the index cannot be read.
    """  # noqa: D301 - click must see the character
    found = explain(page, url, options, None if index is None else index_at(index))
    explained = found.explained
    simhash = None
    if bits and explained is not None and explained.profile.texts:
        document, known_by = explained.texts.document, explained.analysed.known_by
        simhash = simhash_of(document, known_by, explained.config)
    if as_json:
        write_lines([_as_object(found, simhash)])
    else:
        _write(found, simhash)


def _as_object(found: NamedPage, simhash: Simhash | None) -> dict[str, Any]:
    page, record = found.explained, found.measures
    values: dict[str, Any] = {
        "name": found.name,
        "url": found.url,
        "reason": found.reason,
        "recorded": _recorded(found),
    }
    if record is not None:
        values |= {
            "language": record.language,
            "h1": record.h1,
            "title": record.title,
            "host": record.host,
            "text": found.kept.text if page is None else page.text,
            "fingerprint": as_hex(record.fingerprint),
            "digest": record.digest.hex(),
        }
    return values | _object_of_page(page) | _object_of_bits(simhash)


def _object_of_page(page: ExplainedPage | None) -> dict[str, Any]:
    if page is None:
        return {"left_out": None}
    profile, left_out = page.profile, excluded_text(page)
    return {
        "language_by": page.analysed.all.words.language_by,
        "declared_language": page.texts.document.language,
        "selected": profile.selected,
        "headline": profile.headline.parts(profile.around.times_shown),
        "host_pages": page.context.host.pages,
        "is_frame_known": profile.around.is_frame_known,
        "texts": [
            each._asdict() | {"fingerprint": as_hex(each.fingerprint)} for each in page.judged_texts
        ],
        "left_out": [each._asdict() for each in left_out],
        "words": {"kept": page.analysed.known_by.words.count, **_words_of_rules(left_out)},
        "unread_words": profile.unread_words if isfinite(profile.unread_words) else None,
        "shingles": profile.shingles,
        "shingles_left_out": profile.shingles_without_stopword,
        "advertisements": advertisements(page.analysed.known_by),
        "are_sentences": consists_of_sentences(page.analysed.known_by),
    }


def _object_of_bits(simhash: Simhash | None) -> dict[str, Any]:
    if simhash is None:
        return {}
    features = [feature._asdict() for feature in simhash.features]
    return {"features": features, "tallies": simhash.tallies}


def _words_of_rules(left_out: list[ExcludedText]) -> dict[str, float]:
    words = defaultdict[str, float](float)
    for each in left_out:
        words[each.rule] += each.words
    return {rule: round(count, 2) for rule, count in words.items()}


def _recorded(found: NamedPage) -> dict[str, Any] | None:
    record = found.record
    if record is None:
        return None
    return {
        "outcome": record.outcome,
        "reason": record.reason,
        "original": found.kept.url_of_original,
        "distance": record.distance,
        "similarity": record.similarity,
        "fingerprint": as_hex(record.fingerprint),
        "first_seen": as_time(record.first_seen),
        "last_seen": as_time(record.last_seen),
    }


def _write(found: NamedPage, simhash: Simhash | None) -> None:
    page, record = found.explained, found.measures
    entry("page", found.name if found.url in ("", found.name) else f"{found.name} ({found.url})")
    if found.reason is not None:
        entry("unjudged", f"{found.reason}: {_REASONS.get(found.reason, 'see the settings')}")
    if (recorded := _recorded(found)) is not None and record is not None:
        parts = [f"{name} {value}" for name, value in recorded.items() if value is not None]
        if as_hex(record.fingerprint) != recorded["fingerprint"]:
            parts.append("judged now it gets another one (below), as more of its host is known")
        entry("recorded", ", ".join(parts))
    if record is None:
        return
    if page is None:
        _write_record(record, found.kept.text)
        return
    _write_page(page)
    head(f"TEXT KEPT ({counted(page.analysed.known_by.words.count, 'word')})")
    for block in page.text.split("\n"):
        paragraph(block)
    _write_left_out(excluded_text(page))
    _write_advertisements(page)
    if simhash is not None:
        _write_bits(simhash)


def _write_record(record: PageRecord, text: str | None) -> None:
    entry("headline", f"h1: {record.h1 or 'none'}; title: {record.title or 'none'}")
    entry("text", f"{counted(record.words, 'word')}, language {record.language or 'unknown'}")
    if text is None:
        head("TEXT: it was not kept (DEDUP_KEEP_TEXT)")
        return
    head("TEXT KEPT; what was left out is not recorded")
    for block in text.split("\n"):
        paragraph(block)


def _write_page(page: ExplainedPage) -> None:
    profile, headline = page.profile, page.profile.headline
    declared = page.texts.document.language
    how = _LANGUAGE_BY[page.analysed.all.words.language_by]
    also = f" (it declares {declared})" if declared else ""
    entry("language", f"{profile.language or 'unknown'}, {how}{also}")
    if profile.selected:
        entry("selectors", "; ".join(_SELECTED[each] for each in profile.selected))
    parts = " | ".join(headline.parts(profile.around.times_shown)) or "none"
    entry("headline", f"{parts} (h1: {headline.h1 or 'none'}; title: {headline.title or 'none'})")
    if page.place.host:
        frame = "its frame is known" if profile.around.is_frame_known else "its frame is not known"
        kept = counted(page.context.host.pages, "page")
        entry("host", f"{page.place.host}: {kept} kept, {frame}")
    for text in page.judged_texts:
        value = as_hex(text.fingerprint) or "nothing is looked up by it"
        entry("text", f"{text.name}: {counted(text.words, 'word')}, {value}")
    if len(page.judged_texts) > 1:
        entry("", TEXTS)
    if profile.unread_words and isfinite(profile.unread_words):
        words = counted(profile.unread_words, "word")
        entry("unread", f"{words} in hidden parts and script data")


def _write_left_out(left_out: list[ExcludedText]) -> None:
    by_rule = defaultdict[str, list[ExcludedText]](list)
    for each in left_out:
        by_rule[each.rule].append(each)
    words = _words_of_rules(left_out)
    head(f"LEFT OUT ({counted(round(sum(words.values()), 2), 'word')})")
    for rule, members in by_rule.items():
        paragraph(f"{_RULES[rule]} ({counted(words[rule], 'word')}):")
        for each in members:
            span = "in the span" if each.is_in_span else ""
            notes = "; ".join(filter(None, (each.detail, span)))
            paragraph(f"{each.text} [{notes}]" if notes else each.text, 4)


def _write_advertisements(page: ExplainedPage) -> None:
    known_by, rows = page.analysed.known_by, advertisements(page.analysed.known_by)
    if not rows:
        return
    share = f"{page.profile.shingles_without_stopword:,} of {page.profile.shingles:,} phrases"
    is_used = not consists_of_sentences(known_by)
    effect = "; as hardly any are in sentences, all words count" if is_used else ""
    head(f"TAKEN FOR ADVERTISEMENTS: {share} have too few function words around them{effect}")
    for row in rows:
        paragraph(row)


def _write_bits(simhash: Simhash) -> None:
    head(f"FEATURES of the fingerprint {as_hex(simhash.fingerprint)}, largest weight first")
    for feature in simhash.features:
        kind = "" if feature.kind == "text" else f" ({feature.kind})"
        say(f"  {feature.weight:9.3f}  {printable(feature.name, _LONGEST_NAME)}{kind}")
    head("TALLIES: the sum of weights, added or subtracted, for each bit")
    for first in range(0, 64, 8):
        row = "".join(f"{each:10.2f}" for each in simhash.tallies[first : first + 8])
        say(f"  {63 - first:2} to {56 - first:2}{row}")
