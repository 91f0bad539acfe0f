"""Numbers -> words, for logs, errors and reports."""

__all__ = ["counted"]


def counted(count: float, noun: str, plural: str | None = None) -> str:
    """Write a number of things; `plural` is their name if it is not formed with an s.

    >>> counted(1, "page"), counted(1_200, "page"), counted(2, "entry", "entries")
    ('1 page', '1,200 pages', '2 entries')
    """
    named = noun if count == 1 else plural or f"{noun}s"
    return f"{count:,.0f} {named}"
