"""Texts, templates and pages.tsv -> the pages of the demo site, ready to be served.

    articles/<name>.txt    header lines, then paragraphs, separated by empty lines
    templates/<name>.html  HTML with $placeholders: $title, $author, $date; $body (paragraphs, or
                           the list of an index page) and $lines (the same with line breaks between
                           them, for old table layouts); $related (links to other pages of the
                           site); $comments (on articles only); $home; $charset
    pages.tsv              which article is shown by which template, at which path

In a table, empty lines and lines that start with # are skipped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

SITE_FOLDER = Path(__file__).parent
_RELATED_LINKS = 4
_REVISED = "@revised"


class Article(NamedTuple):
    """A text, without any page around it."""

    title: str
    author: str = ""
    date: str = ""
    paragraphs: tuple[str, ...] = ()


class ServedPage(NamedTuple):
    """A page as the server sends it."""

    content_type: str
    body: bytes


@dataclass(frozen=True)
class _Row:
    path: str
    template: str
    content: str
    charset: str

    @property
    def site(self) -> str:
        """The first part of the path, as "/north-post/"; for the front page "/"."""
        return "/" + "/".join(self.path.split("/")[1:2]) + "/" if self.path != "/" else "/"

    @property
    def is_index(self) -> bool:
        return self.content == "index"


def read_rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table of the demo site."""
    for line in (SITE_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def read_article(name: str) -> Article:
    """Read an article; `en/sundial@revised` is `en/sundial` with its revisions in revisions.tsv."""
    base = name.removesuffix(_REVISED)
    text = (SITE_FOLDER / "articles" / f"{base}.txt").read_text(encoding="utf-8")
    for article, old, new in read_rows("revisions.tsv") if name.endswith(_REVISED) else ():
        if article == base:
            assert old in text, f"revisions.tsv: {base} has no {old!r}"
            text = text.replace(old, new)
    header, *paragraphs = text.strip().split("\n\n")
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    return Article(fields["title"], fields["author"], fields["date"], tuple(paragraphs))


def build_pages() -> dict[str, ServedPage]:
    """Return the pages by path and query, in the order of pages.tsv."""
    rows = [_Row(*fields) for fields in read_rows("pages.tsv")]
    return {row.path: _serve(row, _render(row, rows)) for row in rows}


def _serve(row: _Row, html: str) -> ServedPage:
    # Old sites name their charset only in the page.
    content_type = "text/html; charset=utf-8" if row.charset == "utf-8" else "text/html"
    return ServedPage(content_type, html.encode(row.charset, "xmlcharrefreplace"))


def _render(row: _Row, rows: list[_Row]) -> str:
    article = _index(row) if row.is_index else read_article(row.content)
    parts = _index_parts(row, rows) if row.is_index else _article_parts(row, rows, article)
    template = Template(_read_template(row.template))
    return template.substitute(
        parts,
        title=escape(article.title),
        author=escape(article.author),
        date=escape(article.date),
        home=escape(row.site),
        charset=row.charset,
    )


def _index(row: _Row) -> Article:
    name = row.site.strip("/").replace("-", " ").title() or "Sites of the demo"
    return Article(name)


def _index_parts(row: _Row, rows: list[_Row]) -> dict[str, str]:
    if row.path == "/":
        listed = [other for other in rows if other.is_index and other is not row]
    else:
        listed = [other for other in rows if other.site == row.site and not other.is_index]
    links = _list(_link(other) for other in listed)
    return {"body": links, "lines": links, "related": "", "comments": ""}


def _article_parts(row: _Row, rows: list[_Row], article: Article) -> dict[str, str]:
    paragraphs = [escape(paragraph, quote=False) for paragraph in article.paragraphs]
    is_notice = row.content.startswith("notices/")
    return {
        "body": "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs),
        "lines": "<BR><BR>\n".join(paragraphs),
        "related": _list(_link(other) for other in _related(row, rows)),
        "comments": "" if is_notice else _read_template(f"{row.template}.comments"),
    }


def _related(row: _Row, rows: list[_Row]) -> list[_Row]:
    """Return the next pages of the same site in the table; after the last comes the first."""
    site = [other for other in rows if other.site == row.site and not other.is_index]
    here = site.index(row)
    return (site[here + 1 :] + site[:here])[:_RELATED_LINKS]


def _link(row: _Row) -> str:
    title = _index(row).title if row.is_index else read_article(row.content).title
    return f'<a href="{escape(row.path)}">{escape(title)}</a>'


def _list(links: Iterator[str]) -> str:
    return "<ul>" + "\n".join(f"<li>{link}</li>" for link in links) + "</ul>"


def _read_template(name: str) -> str:
    file = SITE_FOLDER / "templates" / f"{name}.html"
    return file.read_text(encoding="utf-8") if file.exists() else ""
