"""A page's own title and text -> the page as a site serves it: menus, sidebars, notices, footers.

A layout places the same furniture in another markup: semantic elements, divs without meaning,
tables, or the bare frame of a manual. A wrap puts the text in there where a reader of the visible
tree does not look.
"""

import html
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from museum.language import TEXTS

RELATED = {"en": "See also", "zh": "相关阅读"}
RIGHTS = {"en": "Copyright {} Ltd. All rights reserved.", "zh": "版权所有 {} 有限公司 保留一切权利"}


@dataclass(frozen=True)
class Furniture:
    title: str
    site: str
    language: str
    notice: int
    others: list[str]

    @property
    def menu(self) -> list[str]:
        return TEXTS.MENUS[self.language]

    @property
    def sidebar(self) -> list[str]:
        return TEXTS.SIDEBAR[self.language]

    @property
    def related(self) -> list[str]:
        return [RELATED[self.language], *self.others] if self.others else []

    @property
    def legal(self) -> list[str]:
        return legal(self.notice, self.language)

    @property
    def rights(self) -> str:
        return RIGHTS[self.language].format(self.site)


Layout = Callable[[Furniture, str], str]


def legal(sentences: int, language: str = "en") -> list[str]:
    return TEXTS.LEGAL[language][:sentences]


def table(rows: Iterable[tuple[object, ...]]) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def listed(*entries: str) -> str:
    return f"<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>"


def links(names: list[str]) -> str:
    """A list of links; a session's number goes where the mark stands."""
    return listed(*(f'<a href="/page/{n}{{session}}">{name}</a>' for n, name in enumerate(names)))


def document(of: Furniture, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{of.title}</title><link rel="stylesheet" href="/s.css">'
    return (
        f'<!DOCTYPE html><html lang="{of.language}"><head>{head}</head><body>{body}</body></html>'
    )


def semantic(of: Furniture, body: str) -> str:
    related = f"<aside>{links(of.related)}</aside>" if of.related else ""
    return document(
        of,
        f'<div class="cookie-banner" role="dialog"><p>{TEXTS.COOKIES[of.language]}</p>'
        "<button>OK</button></div>"
        f'<header><a href="/">{of.site}</a><nav>{links(of.menu)}</nav></header>'
        f"<main><article>{body}</article></main>{related}<aside>{links(of.sidebar)}</aside>"
        f"<footer>{''.join(f'<p>{each}</p>' for each in of.legal)}<p>{of.rights}</p></footer>",
    )


def divs(of: Furniture, body: str) -> str:
    """Divs whose classes a tool made up."""
    related = f'<div class="x7">{links(of.related)}</div>' if of.related else ""
    return document(
        of,
        f'<div class="a1"><div>{of.site}</div><div class="b3">{links(of.menu)}</div></div>'
        f'<div class="c4"><div class="d5">{body}</div>{related}'
        f'<div class="d6">{links(of.sidebar)}</div></div>'
        f'<div class="e9"><div>{" ".join(of.legal)}</div><div>{of.rights}</div>'
        f"<div>{TEXTS.COOKIES[of.language]}</div></div>",
    )


def tables(of: Furniture, body: str) -> str:
    """A table of the nineties: the menu to the left, the text to the right."""
    menu = "<br>".join(f'<a href="/{name}{{session}}">{name}</a>' for name in of.menu)
    more = "<br>".join(of.sidebar + of.related)
    return document(
        of,
        f'<table width="780"><tr><td colspan="2"><b>{of.site}</b></td></tr>'
        f'<tr><td width="140">{menu}<br>{more}</td><td>{body}</td></tr>'
        f'<tr><td colspan="2"><font size="1">{" ".join(of.legal)}<br>{of.rights}</font></td></tr>'
        "</table>",
    )


def manual(of: Furniture, body: str) -> str:
    """A bar above and below, as tools that write manuals do."""
    bar = f'<div class="navbar">{links(["Overview", "Tree", "Index", "Help", *of.related])}</div>'
    notice = f"<p><small>{' '.join(of.legal)} {of.rights}</small></p>"
    return document(of, f'{bar}<div class="body">{body}</div>{bar}{notice}')


def print_view(of: Furniture, body: str) -> str:
    """The text alone, below the name of the site."""
    return document(of, f"<p>{of.site}</p><hr>{body}<hr><p>{of.rights}</p>")


def other_paper(of: Furniture, body: str) -> str:
    """A frame that shares nothing with those above."""
    menu = "Politics Local Opinion Money Health Food Puzzles Obituaries Jobs Cars Homes".split()
    offers = [f"Save {5 + number} % on {name} insurance" for number, name in enumerate(menu)]
    return document(
        of,
        f'<div id="top">{listed(*menu)}</div>'
        f'<div class="promo"><p>Subscribe to the Courier for one pound a week</p></div>'
        f'<div id="story">{body}</div><div class="offers">{links(offers)}</div>'
        "<div id='foot'><p>The Courier is a member of the regional newspaper society and follows "
        "its code of practice. If you have a complaint, ring the readers' editor on weekdays.</p>"
        "<p>Terms of use, privacy, accessibility, work for us</p></div>",
    )


LOADING = '<div id="root"><p>Loading …</p></div>'


def streamed(of: Furniture, body: str, layout: Layout) -> str:
    """A server streams the text in a hidden container, and a script moves it into view."""
    shell = layout(of, '<!--$?--><template id="B:0"></template><p>Loading …</p><!--/$-->')
    late = f'<div hidden id="S:0">{body}</div><script>$RC("B:0","S:0")</script></body>'
    return shell.replace("</body>", late)


def in_shadow(of: Furniture, body: str, layout: Layout) -> str:
    """The text is the shadow of an element."""
    style = "<style>:host { display: block }</style>"
    return layout(
        of, f'<my-page><template shadowrootmode="open">{style}{body}</template></my-page>'
    )


def all_in_shadow(of: Furniture, body: str, layout: Layout) -> str:
    """The whole page is an element's shadow, and its text that of another one in there."""
    page = in_shadow(of, body, layout).replace("</body>", "</template></my-app></body>")
    return page.replace("<body>", '<body><my-app><template shadowrootmode="open">')


def folded(of: Furniture, body: str, layout: Layout) -> str:
    """The text is in a section that the reader opens, and in a tab that a script shows."""
    head, end, rest = body.partition("</p>")
    tab = f'<div role="tabpanel" class="pane" style="display:none">{rest}</div>'
    return layout(of, f"<details><summary>Read it</summary>{head}{end}</details>{tab}")


def without_script(of: Furniture, body: str, layout: Layout) -> str:
    """The text is for who runs no scripts."""
    return layout(of, f"{LOADING}<noscript>{body}</noscript>")


def in_srcdoc(of: Furniture, body: str, layout: Layout) -> str:
    """The text is the document of an inner frame."""
    return layout(of, f'<h1>{of.title}</h1><iframe srcdoc="{html.escape(body)}"></iframe>')


def next_data(of: Furniture, body: str, layout: Layout) -> str:
    """The text is in the data of Next.js, inside a frame that is visible."""
    data = {"props": {"pageProps": {"post": {"title": of.title, "content": body}}}, "page": "/[x]"}
    script = f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(data)}</script>'
    return _before("</body>", script, layout(of, LOADING))


def linked_data(of: Furniture, body: str, layout: Layout) -> str:
    said = body.replace("<p>", "").replace("</p>", "\n")
    data = {"@type": "NewsArticle", "headline": of.title, "articleBody": said}
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return _before("</head>", script, layout(of, LOADING))


def nuxt_data(of: Furniture, body: str, layout: Layout) -> str:
    """The text is one of the strings of Nuxt's flat list."""
    data = [["Reactive", 1], {"data": 2}, {"title": 3, "body": 4}, of.title, body]
    script = f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(data)}</script>'
    return _before("</body>", script, layout(of, LOADING))


def script_state(of: Furniture, body: str, layout: Layout) -> str:
    state = json.dumps({"entities": {"posts": [{"body": body}]}}).replace("<", "\\u003c")
    script = f"<script>window.__INITIAL_STATE__ = {state};</script>"
    return _before("</body>", script, layout(of, LOADING))


def _before(end: str, script: str, page: str) -> str:
    return page.replace(end, f"{script}{end}")
