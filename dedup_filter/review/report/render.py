"""Report data -> one HTML file, in UTF-8.

    page/report.html    the template; Jinja2 escapes all values, except our own style and scripts,
                        and JSON that cannot end a script element
    page/report.css     one style for light and dark
    page/*.js           one program, in the order of `_SCRIPTS`; it reads its data from a script
                        element of JSON, column by column, and writes text only as text nodes

The file's Content-Security-Policy names styles and scripts by their hashes and allows nothing else:
no request leaves the page, and no text of a crawled page can run.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dedup_filter.review.report.collect import ReportData
from dedup_filter.wording import as_time, counted, printable

if TYPE_CHECKING:
    from jinja2 import Environment

BEGINNING = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="generator" content="dedup-filter report">\n'
)
"""Of every report; the template goes on."""
_SCRIPTS = "dom differences list pair_view pair_lists main".split()
_KINDS = ("near", "exact")
_LONGEST_NAME = 300


def render(index: str, found: ReportData) -> bytes:
    """Render a report. Cost: 5 us a pair; 0.1 MB and 150 bytes a pair, without texts."""
    data = {
        "kinds": _KINDS,
        **_columns(found),
        "crawls": {each["number"]: _crawl_name(each) for each in found.crawls},
        "texts_kept": found.has_texts,
    }
    program, style = _program(), _page_file("report.css")
    template = _environment().get_template("report.html")
    html = template.render(
        policy=_policy(program, style),
        style=style,
        program=program,
        data=json_in_script(data),
        texts=json_in_script(found.texts),
        index=index,
        found=found,
    )
    return (BEGINNING + html).encode("utf-8", "backslashreplace")


def json_in_script(value: Any) -> str:
    r"""Write JSON in ASCII that cannot end a script element.

    >>> json_in_script("</script>&\u2028")
    '"\\u003c/script\\u003e\\u0026\\u2028"'
    """
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _columns(found: ReportData) -> dict[str, Any]:
    """Return pages and pairs column by column; hosts and languages are numbered."""
    places, pairs = {page: place for place, page in enumerate(found.records)}, found.pairs
    rows = found.records.values()
    hosts = sorted({each.host for each in rows})
    number_of = {host: number for number, host in enumerate(hosts)}
    pages = {
        "number": list(places),
        "url": [each.url for each in rows],
        "title": [each.h1 or each.title for each in rows],
        "host": [number_of[each.host] for each in rows],
        "words": [each.words for each in rows],
        "language": [each.language for each in rows],
        "fingerprint": [
            None if each.fingerprint is None else f"{each.fingerprint:016x}" for each in rows
        ],
        "first_seen": [each.first_seen for each in rows],
        "crawl": [each.first_crawl for each in rows],
    }
    columns = {
        "page": [places[pair.page] for pair in pairs],
        "original": [-1 if pair.original is None else places[pair.original] for pair in pairs],
        "distance": [pair.distance for pair in pairs],
        "similarity": [_thousandths(pair.similarity) for pair in pairs],
        "kind": [_KINDS.index(pair.outcome) for pair in pairs],
    }
    return {"hosts": hosts, "pages": pages, "pairs": columns}


def _thousandths(share: float | None) -> int | None:
    """Round to thousandths; only equality gives 1000."""
    return None if share is None else min(round(1000 * share), 1000 if share >= 1 else 999)


def _crawl_name(crawl: Mapping[str, Any]) -> str:
    return _short(crawl["name"] or f"crawl {crawl['number']}")


_short = partial(printable, longest=_LONGEST_NAME)


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode('utf-8')).digest()).decode('ascii')}'"


@cache
def _page_file(name: str) -> str:
    return files(__package__).joinpath("page").joinpath(name).read_text("utf-8")


@cache
def _program() -> str:
    parts = "\n".join(_page_file(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"counted": counted, "crawl_name": _crawl_name, "short": _short, "time": as_time}
    environment.filters.update(filters, number="{:,}".format)
    return environment
