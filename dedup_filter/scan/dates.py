"""The date of a page, in any form that feeds and archives have -> Unix seconds."""

import re
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from math import isfinite

_MILLISECONDS = 1e11
"""A larger number is in milliseconds: in seconds it would be after the year 5138."""
_FRACTION = re.compile(r"\.(\d{1,6})\d*")
_DIGITS_OF_TIME = re.compile(r"\d{14}")


def seconds_of(value: object) -> float | None:
    """Return the Unix seconds of a date; None: the value is not a date.

    A date is a number of seconds or milliseconds, a text in the form of ISO 8601, RFC 5322 (as in
    mails and feeds) or YYYYMMDDhhmmss, or a date of Parquet. Without a zone it is UTC.

    >>> seconds_of("2026-11-23T17:00:00Z") == seconds_of("Mon, 23 Nov 2026 18:00:00 +0100")
    True
    """
    try:
        if isinstance(value, str):
            value = _read_date(value.strip())
        if isinstance(value, date):
            if not isinstance(value, datetime):
                value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - below
            return value.replace(tzinfo=value.tzinfo or timezone.utc).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return value / 1000 if abs(value) >= _MILLISECONDS else float(value)
    except (ValueError, OverflowError, TypeError):
        pass
    return None


def _read_date(text: str) -> datetime | float:
    if _DIGITS_OF_TIME.fullmatch(text):
        return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=timezone.utc)
    try:
        return float(text)
    except ValueError:
        pass
    try:
        # Python 3.10 does not read "Z", and only fractions of 3 or 6 digits.
        padded = _FRACTION.sub(lambda found: f".{found[1]:0<6}", text)
        return datetime.fromisoformat(re.sub("[Zz]$", "+00:00", padded))
    except ValueError:
        return parsedate_to_datetime(text)
