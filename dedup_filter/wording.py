"""Numbers and strings -> text for logs, errors and reports."""

from datetime import datetime, timezone
from json import JSONDecodeError

_SHOWN_OF_JSON = 20


def as_time(seconds: int) -> str:
    """Write Unix seconds as ISO 8601 in UTC.

    >>> as_time(1_700_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def counted(count: float, noun: str) -> str:
    """Write a number with a noun whose plural ends in s.

    >>> counted(1, "page"), counted(1_200, "page")
    ('1 page', '1,200 pages')
    """
    return f"{count:,.0f} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Write a share, 0 to 1, as a percentage: 100 % only for 1.

    >>> percent(1), percent(0.999), percent(0.947), percent(0.004)
    ('100 %', '99 %', '95 %', '1 %')
    """
    return "100 %" if share >= 1 else f"{min(max(round(100 * share), 1), 99)} %"


def printable(text: str, longest: int | None = None) -> str:
    r"""Escape characters that move a cursor, colour a terminal or start a line; cut at `longest`.

    >>> printable("http://a/\x1b[31m\n"), printable("http://a/", 4)
    ('http://a/\\x1b[31m\\n', 'http...')
    """
    shown = text[:longest]
    is_whole = len(shown) == len(text)
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    return shown if is_whole else f"{shown}..."


def json_fault(error: JSONDecodeError) -> str:
    """Say what is wrong in JSON, and show the place.

    >>> json_fault(JSONDecodeError("Expecting value", '{"a": .b}', 6))
    "Expecting value at '.b}'"
    """
    rest = error.doc[error.pos :].rstrip()
    return f"{error.msg} at {repr(printable(rest, _SHOWN_OF_JSON)) if rest else 'its end'}"
