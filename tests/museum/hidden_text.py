"""Pages whose own text stands where a reader of the visible tree does not look."""

import json
from random import Random

from museum.frames import Furniture, Layout
from museum.kinds import Page, kind
from museum.language import KINDS_OF_WOOD, THINGS, headline, paragraphs, text

LOADING = '<div id="root"><p>Loading …</p></div>'


def article(chance: Random, language: str = "en") -> Page:
    """A headline and five paragraphs."""
    title = headline(chance, language)
    return Page(title, f"<h1>{title}</h1>{paragraphs(chance, 5, language)}")


def product(chance: Random, number: int) -> Page:
    """A name, a number and a price."""
    name = f"{chance.choice(KINDS_OF_WOOD)} {chance.choice(THINGS)} {number}"
    facts = f"<p>Item {chance.randrange(10**6)}, {chance.randrange(20, 900)}.90</p>"
    return Page("Our shop", f"<h1>{name}</h1>{facts}<p>{text(chance, 1)}</p>")


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
    return layout(of, LOADING).replace("</body>", f"{script}</body>")


def linked_data(of: Furniture, body: str, layout: Layout) -> str:
    """The text is the articleBody of linked data."""
    said = body.replace("<p>", "").replace("</p>", "\n")
    data = {"@type": "NewsArticle", "headline": of.title, "articleBody": said}
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    return layout(of, LOADING).replace("</head>", f"{script}</head>")


def nuxt_data(of: Furniture, body: str, layout: Layout) -> str:
    """The text is one of the strings of Nuxt's flat list."""
    data = [["Reactive", 1], {"data": 2}, {"title": 3, "body": 4}, of.title, body]
    script = f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(data)}</script>'
    return layout(of, LOADING).replace("</body>", f"{script}</body>")


def script_state(of: Furniture, body: str, layout: Layout) -> str:
    """The text is in a statement of a script."""
    state = json.dumps({"entities": {"posts": [{"body": body}]}}).replace("<", "\\u003c")
    script = f"<script>window.__INITIAL_STATE__ = {state};</script>"
    return layout(of, LOADING).replace("</body>", f"{script}</body>")


def untitled(chance: Random, number: int) -> Page:
    """An article whose <title> is that of its site."""
    return article(chance)._replace(title="The Gazette")


@kind(pages=20, amount="story", wrap=streamed)
def streamed_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=20, layout="divs", notice=8, wrap=streamed)
def streamed_products(chance: Random, number: int) -> Page:
    return product(chance, number)


@kind(pages=12, amount="story", language="zh", wrap=streamed)
def chinese_streamed_articles(chance: Random, number: int) -> Page:
    return article(chance, "zh")


@kind(pages=20, amount="story", wrap=in_shadow)
def shadow_root_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=12, amount="story", layout="divs", wrap=all_in_shadow)
def nested_shadow_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=12, amount="story", layout="divs", notice=10, wrap=folded)
def folded_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=20, amount="story", wrap=without_script)
def noscript_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=20, amount="bytes", wrap=next_data)
def next_data_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=12, amount="bytes", layout="divs", wrap=next_data)
def next_data_products(chance: Random, number: int) -> Page:
    return product(chance, number)


@kind(pages=12, amount="bytes", notice=9, wrap=linked_data)
def linked_data_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=12, amount="bytes", layout="divs", wrap=nuxt_data)
def nuxt_data_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)


@kind(pages=12, amount="bytes", wrap=script_state)
def script_state_articles(chance: Random, number: int) -> Page:
    return untitled(chance, number)
