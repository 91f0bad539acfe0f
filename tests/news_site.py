"""A small newspaper, as the quick start shows it: nine pages, two of which come again.

/                         links to all others
/news/1 ... /news/4       articles between menu and footer
/print/1                  the first article, without menu and footer
/news/2?session=a1b2      the second article as it was
/gallery                  hardly any text
"""

_HEADLINES = (
    "Bridge to reopen in May",
    "Library lends garden tools",
    "Ferry timetable changes",
    "Old mill becomes a school",
)
_MENU = "<nav><ul>" + "<li><a href='/'>News</a></li>" * 5 + "</ul></nav>"
_FOOTER = "<footer><p>All rights reserved by this newspaper and its authors.</p></footer>"


def news_site(article):
    """Return the pages by path; `article` makes a text of a seed."""
    pages = {
        f"/news/{number}": _page(headline, _paragraphs(article(number, words=270)))
        for number, headline in enumerate(_HEADLINES, 1)
    }
    printed = "<p>Printed on Monday</p>" + _paragraphs(article(1, words=270))
    pages["/print/1"] = _page(_HEADLINES[0], printed, menu="", footer="")
    pages["/news/2?session=a1b2"] = pages["/news/2"]
    pages["/gallery"] = _page("Pictures of the week", "<p>Photo: J. Doe</p>")
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in pages)
    return {"/": _page("The News", f"<ul>{links}</ul>"), **pages}


def _paragraphs(text):
    words = text.split()
    parts = [" ".join(words[start : start + 45]) for start in range(0, len(words), 45)]
    return "<p>" + "</p><p>".join(parts) + "</p>"


def _page(headline, body, menu=_MENU, footer=_FOOTER):
    return (
        f'<!doctype html><html lang="en"><head><title>{headline}</title></head><body>{menu}'
        f"<main><h1>{headline}</h1>{body}</main>{footer}</body></html>"
    )
