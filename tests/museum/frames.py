"""A page's own title and text -> the page as a site serves it: menus, sidebars, notices, footers.

A layout places the same furniture in another markup: semantic elements, divs without meaning,
tables, or the bare frame of a manual. A wrap puts the text in there where a reader of the visible
tree does not look.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MENUS = {
    "en": "Home News Sport Business Arts Weather Travel Archive Contact Newsletter".split(),
    "zh": "首页 新闻 体育 财经 科技 娱乐 天气 旅游 专题 联系我们".split(),
}
COOKIES = {
    "en": """We and our partners store information on your device, such as cookies, to show you the
        pages that you ask for and to count how often they are read. Choose Accept to agree to all
        of it, or Settings to choose for yourself. You can change your mind at any time.""",
    "zh": "为了给您提供更好的服务，本网站使用Cookie。继续浏览即表示您同意。您可以随时更改设置。",
}
LEGAL = {
    "en": """All content of this site is protected by copyright and must not be reproduced.
        |No part of it may be sent on in any form without the written permission of the publisher,
        except for short quotations with a link to the page that they are from.
        |The publisher takes no responsibility for what is said on the sites that are linked here.
        |Complaints are answered within ten working days by the editor, whose decision may be taken
        to the press council of the county in which the complaint was made.
        |Prices include the tax that is due in the country of the customer, but not the delivery.
        |Goods that were ordered by mistake can be sent back within fourteen days of their arrival,
        as long as they are in the box in which they came and have not been used.
        |The cost of sending them back is borne by the customer, unless what was delivered is not
        what had been ordered, or has a fault that it had before it left our warehouse.
        |We keep your address as long as the law demands and give it to nobody but the carrier.
        |You may ask at any time what we know about you, and have it corrected or deleted.
        |This agreement is governed by the law of the place where the company has its seat, and the
        courts of that place decide on whatever the parties to it cannot settle between themselves.
        |Should one of these terms be void, the others stay in force as they are written here.
        |Offers on these pages can be withdrawn until we have confirmed an order in writing.""",
    "zh": """本网站所刊载的全部内容，包括文字、图片、音频和视频，其版权均属于本公司所有。
        |未经本公司书面授权，任何单位和个人不得以任何方式转载、复制或者用于商业用途。
        |凡注明来源为其他媒体的作品，均转载自其他媒体，并不代表本网站赞同其观点。
        |如因作品内容、版权和其他问题需要同我们联系，请在三十日内与编辑部联系。
        |我们将在收到通知以后的七个工作日之内予以答复并且作出处理。
        |商品自签收之日起七日内，在不影响二次销售的情况下可以无理由退货，运费由买家承担。
        |因本协议引起的争议，由公司所在地的人民法院管辖，并适用当地的法律。""",
}
SIDEBAR = {
    "en": """Most read|Ten walks for a rainy weekend|What the new bus timetable means for you
        |Win two tickets for the opera|Our readers' favourite bakeries|Advertise with us""",
    "zh": "热门文章|雨天周末的十条散步路线|新公交时刻表|赢取两张歌剧门票|读者喜爱的面包店|广告合作",
}
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
        return MENUS[self.language]

    @property
    def sidebar(self) -> list[str]:
        return SIDEBAR[self.language].split("|")

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
    return [" ".join(each.split()) for each in LEGAL[language].split("|")[:sentences]]


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
        f'<div class="cookie-banner" role="dialog"><p>{COOKIES[of.language]}</p>'
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
        f"<div>{COOKIES[of.language]}</div></div>",
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
