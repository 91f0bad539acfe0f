"""`dedup-filter explain`: a page -> the text that is judged, the text left out, and the rules."""

from collections import defaultdict
from collections.abc import Mapping
from math import isfinite
from typing import Any

import click

from dedup_filter.commands import (
    entry,
    head,
    json_option,
    named,
    paragraph,
    section,
    write_lines,
)
from dedup_filter.commands.options import filter_option, index_option, url_option
from dedup_filter.features.recipes import consists_of_sentences
from dedup_filter.model import as_hex
from dedup_filter.review.excluded_text import RULES, excluded_text
from dedup_filter.review.explained_page import ExplainedPage, NamedPage
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.upkeep import Index
from dedup_filter.wording import as_time, counted

_SELECTED = {
    "ignored": "ignore leaves out a part of the page",
    "content": "content names a part of the page",
    "no_content": "content names nothing on the page, so all of it is judged",
    "nothing_left": "they would leave no text, so they do not count",
}
_REASONS = {
    "no_text": "there is no text in it",
    "too_short": "it repeats only an equal page",
    "by_script": "its text is made by scripts: it repeats only an equal page",
    "binary": "it is not text",
    "too_large": "it is too large",
}


@click.command("explain")
@click.argument("page")
@url_option
@index_option
@filter_option
@json_option
def explain_command(
    page: str, url: str, index: Index | None, options: dict[str, Any], *, as_json: bool
) -> None:
    """Show which text of PAGE would be judged, which is left out, and by which rule.

    PAGE is a URL, the path of a file, or standard input (-). Each word of the page is either in the
    text kept, by which copies are found, or in lines beside it that are compared (a price, a size),
    or in the text left out. Phrases are taken for advertisements if they have hardly any function
    words around them.

    With --index the options of its crawls are used, and the frame of the page's host is known,
    without the page itself. A URL that is in the index is not fetched: its record is shown, and its
    text if it was kept (DEDUP_KEEP_TEXT).
    """
    with RecordedPages.open(index, options) as pages:
        found = pages.named(page, url)
    values = about(found) | (_judged(found.explained) if found.explained else _of_record(found))
    if as_json:
        write_lines([values])
    else:
        _write(values)


def about(found: NamedPage) -> dict[str, Any]:
    """Describe a page as far as it is known, and the record that an index has of it."""
    itself, record = found.measures, found.record
    recorded = record and {
        "outcome": record.outcome,
        "reason": record.reason,
        "original": found.kept.url_of_original,
        "distance": record.distance,
        "similarity": record.similarity,
        "fingerprint": as_hex(record.fingerprint),
        "first_seen": as_time(record.first_seen),
        "last_seen": as_time(record.last_seen),
    }
    names = "language h1 title host".split()
    return {
        **{name: getattr(found, name) for name in ("name", "url", "reason")},
        "recorded": recorded,
        **{name: itself and getattr(itself, name) for name in names},
        "fingerprint": itself and as_hex(itself.fingerprint),
        "digest": itself and itself.digest.hex(),
    }


def _of_record(found: NamedPage) -> dict[str, Any]:
    if (record := found.record) is None:
        return {}
    text = {"name": "recorded", "words": record.words, "fingerprint": as_hex(record.fingerprint)}
    words = {"kept": record.words}
    return {"texts": [text], "text": found.kept.text, "words": words, "left_out": None}


def _judged(page: ExplainedPage) -> dict[str, Any]:
    profile, known_by, left_out = page.profile, page.known_by, excluded_text(page)
    words = defaultdict[str, float](float, kept=known_by.words.count)
    for each in left_out:
        words["compared" if each.is_compared else each.rule] += each.words
    return {
        "language_by": known_by.words.language_by,
        "declared_language": page.page.content.language,
        "detail": profile.detail,
        "selected": profile.selected,
        "headline": profile.headline.parts(profile.counts),
        "host_pages": page.context.host.pages,
        "is_frame_known": profile.is_frame_known,
        "texts": [
            named(each) | {"fingerprint": as_hex(each.fingerprint)} for each in page.judged_texts
        ],
        "text": page.profile.text,
        "left_out": named(left_out),
        "words": {rule: round(count, 2) for rule, count in words.items()},
        "unread_words": profile.unread_words if isfinite(profile.unread_words) else None,
        "shingles": profile.shingles,
        "shingles_left_out": profile.shingles_without_stopword,
        "advertisements": page.advertisements,
        "are_sentences": consists_of_sentences(known_by),
    }


def title_of(page: Mapping[str, Any]) -> str:
    """Return the name of a page, and its URL if that is another."""
    name, url = page["name"], page["url"]
    return str(name) if url in ("", name) else f"{name} ({url})"


def _write(values: dict[str, Any]) -> None:
    reason, recorded, left_out = (values.get(key) for key in ("reason", "recorded", "left_out"))
    entry("page", title_of(values))
    if reason is not None:
        detail = f"{values['detail']}, " if values.get("detail") else ""
        entry("unjudged", f"{reason}: {detail}{_REASONS.get(reason, 'see the settings')}")
    if recorded is not None:
        parts = [f"{key} {value}" for key, value in recorded.items() if value is not None]
        if values["fingerprint"] != recorded["fingerprint"]:
            parts.append("judged now it gets another one (below), as more of its host is known")
        entry("recorded", ", ".join(parts))
    if "texts" not in values:
        return
    _write_figures(values)
    if values["text"] is None:
        head("TEXT: it was not kept (DEDUP_KEEP_TEXT): give the page as a file, and --url")
    else:
        section(
            f"TEXT KEPT ({counted(values['words']['kept'], 'word')})", values["text"].split("\n")
        )
    if left_out is None:
        head("LEFT OUT: not recorded")
    else:
        _write_left_out(left_out, values["words"])
    if values.get("advertisements"):
        share = f"{values['shingles_left_out']:,} of {values['shingles']:,} phrases"
        few = "" if values["are_sentences"] else "; as hardly any are in sentences, all words count"
        title = f"TAKEN FOR ADVERTISEMENTS: {share} have too few function words around them{few}"
        section(title, values["advertisements"])


def _write_figures(values: dict[str, Any]) -> None:
    language, declared = values["language"] or "unknown", values.get("declared_language")
    by = f" (by {values['language_by']})" if values.get("language_by") else ""
    also = f"; it declares {declared}" if declared not in (None, language) else ""
    entry("language", f"{language}{by}{also}")
    if values.get("selected"):
        entry("selectors", "; ".join(_SELECTED[each] for each in values["selected"]))
    counts = " | ".join(values.get("headline", ()))
    h1, title = values["h1"] or "none", values["title"] or "none"
    entry("headline", f"{f'{counts}; ' if counts else ''}own h1: {h1}; title: {title}")
    if values["host"] and "host_pages" in values:
        frame = "its frame is known" if values["is_frame_known"] else "its frame is not known"
        entry("host", f"{values['host']}: {counted(values['host_pages'], 'page')} counted, {frame}")
    for text in values["texts"]:
        value = text["fingerprint"] or "nothing is looked up by it"
        entry("text", f"{text['name']}: {counted(text['words'], 'word')}, {value}")
    if values.get("unread_words"):
        entry("unread", f"{counted(values['unread_words'], 'word')} hidden, or data of scripts")


def _write_left_out(excluded: list[dict[str, Any]], words: dict[str, float]) -> None:
    if words.get("compared"):
        compared = (each["text"] for each in excluded if each["is_compared"])
        section(f"COMPARED WITH IT ({counted(words['compared'], 'word')})", compared)
    left_out = [each for each in excluded if not each["is_compared"]]
    all_words = sum(words[rule] for rule in {each["rule"] for each in left_out})
    head(f"LEFT OUT ({counted(round(all_words, 2), 'word')})")
    for rule in dict.fromkeys(each["rule"] for each in left_out):
        paragraph(f"{RULES[rule]} ({counted(words[rule], 'word')}):")
        for each in (each for each in left_out if each["rule"] == rule):
            detail = each["detail"]
            paragraph(f"{each['text']} [{detail}]" if detail else each["text"], "    ")
