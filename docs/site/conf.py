"""The documentation in docs/ -> a site of static pages; `sphinx-build` reads this.

    sphinx-build -c docs/site --fail-on-warning docs build/site

The pages are the Markdown files of the repository, which can be read without the site, too. This
folder holds what only the site needs: the order of pages and their style. Neither building nor
reading the site fetches anything.
"""

from importlib.metadata import version as version_of
from typing import Any

from pygments.lexers.sql import PsqlRegexLexer

project = "dedup_filter"
version = release = version_of("dedup-filter")

MARGIN = {
    "index": {
        "Begin": ["quick-start", "how-it-works"],
        "Use": ["tuning", "troubleshooting", "url-rules", "scaling", "any-crawler", "sql"],
        "Look up": ["settings", "statistics", "command-line", "python", "formats"],
        "Inside": ["architecture", "benchmarks", "decisions/index"],
    },
    "decisions/index": {"Decisions": ["[0-9]*"]},
}
"""Pages in the margin below a page, from top to bottom. A page that is nowhere is an error."""

root_doc = "index"
exclude_patterns = ["site"]
extensions = ["myst_parser"]
nitpicky = True
highlight_language = "text"
smartquotes = False

myst_heading_anchors = 4
"""The lowest level of headings that links can lead to, by the same names as on code hosts."""

html_theme = "furo"
html_title = f"dedup_filter {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


def add_margin(_: object, page: str, source: list[str]) -> None:
    """Add the tables of contents. In the files themselves readers would see them as directives."""
    for part, pages in MARGIN.get(page, {}).items():
        options = f":hidden:\n:glob:\n:caption: {part}"
        source[0] += "\n```{toctree}\n" + "\n".join([options, "", *pages]) + "\n```\n"


def setup(app: Any) -> None:
    """Register `add_margin`, and a lexer of SQL with parameters (`$1`) and commands of `psql`."""
    app.connect("source-read", add_margin)
    app.add_lexer("sql", PsqlRegexLexer)
