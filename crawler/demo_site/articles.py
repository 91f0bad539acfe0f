"""articles/<name>.txt -> article.

A file has header lines, then paragraphs, separated by empty lines.
"""

from dataclasses import dataclass

from crawler.demo_site.tables import SITE_FOLDER, read_rows

__all__ = ["Article", "read_article"]

_REVISED = "@revised"


@dataclass(frozen=True)
class Article:
    """A text, without any page around it."""

    title: str
    author: str
    date: str
    paragraphs: list[str]


def read_article(name: str) -> Article:
    """Read an article; `en/sundial@revised` is `en/sundial` with its revisions in revisions.tsv."""
    base = name.removesuffix(_REVISED)
    text = (SITE_FOLDER / "articles" / f"{base}.txt").read_text(encoding="utf-8")
    if name.endswith(_REVISED):
        text = _revise(base, text)
    header, *paragraphs = text.strip().split("\n\n")
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    return Article(fields["title"], fields["author"], fields["date"], paragraphs)


def _revise(name: str, text: str) -> str:
    for article, old, new in read_rows("revisions.tsv"):
        if article != name:
            continue
        if old not in text:
            raise ValueError(f"revisions.tsv: {name} has no {old!r}")
        text = text.replace(old, new)
    return text
