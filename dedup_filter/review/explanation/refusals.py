"""A refusal (why a page that is near another does not repeat it) -> a sentence for people."""

from dedup_filter.model import Refusal, Rule
from dedup_filter.wording import printable

_OF: dict[Rule, str] = {
    "hidden": "of hidden text ",
    "paragraph": "of a paragraph ",
    "lines": "of lines ",
    "words": "",
}
_LONGEST_QUOTE = 60
_LONGEST_URL = 500


def why(refusal: Refusal) -> str:
    r"""Describe the text that is missing in the near page, escaped for a log or a terminal.

    >>> why(Refusal("lines", 2, 0, "Size 40", page=1, distance=3, url="http://a/1"))
    '2 words of lines missing in http://a/1, 0 allowed: "Size 40"'
    >>> print(why(Refusal("headline", 0, 0, "Chair\x1b", page=1, distance=3, url="http://a/1")))
    headline missing in http://a/1: "Chair\x1b"
    """
    text = printable(refusal.text, _LONGEST_QUOTE)
    quote = f': "{text}"' if text else ""
    original = printable(refusal.url or "", _LONGEST_URL) or "a page without URL"
    if refusal.rule == "headline":
        return f"headline missing in {original}{quote}"
    words, allowed = (f"{figure:,.4g}" for figure in (refusal.words, refusal.allowed))
    return f"{words} words {_OF[refusal.rule]}missing in {original}, {allowed} allowed{quote}"
