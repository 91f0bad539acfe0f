"""Sentences of an article, and pages taken apart, for the tests of the text layer."""

from hypothesis import strategies as st

from dedup_filter.text.blocks import Block
from dedup_filter.text.content import find_content
from dedup_filter.text.decode import parse
from dedup_filter.text.reading import Page, read_page

FIRST = (
    "The committee met on Tuesday to discuss how the harbour could be kept open during the"
    " winter months, when ice had closed it in three of the last five years."
)
SECOND = (
    "Several members said that an icebreaker would cost more than it saved, but the captain"
    " of the ferry told them that two farms on the island had run out of fodder in March."
)
CHINESE = "委员会星期二开会，讨论怎样让港口在冬季保持开放，因为过去五年里有三年港口被冰封住。"
PIECES = [
    *(
        "<div>|</div>|<p>|</p>|<nav>|</nav>|<a href=/>|</a>|<ul><li>|</ul>|<table><tr><td>|"
        "</table>|<noscript>|</noscript>|<pre>|<br>|<h1>|</h1>|<h2>|<form>|</form>|<aside>|"
        "<div class=comments>|<textarea>|</textarea>|<svg><text>|</svg>|<tspan x=1>|"
        "<select><option>|</select>|<object>|<video>|<img alt=a>|<input value=b>|"
        "<div hidden>|<title>|</title>|<svg>|<base href=http://b/c/>|<img>|"
        "<img src=''>|<img src=a.png>|<img src='http://[1/'>|<img src=data:,x>|word|&lt;p&gt;|"
        "\\u12|<script>__x=|<script type=application/json>|</script>|<template>|</template>|"
        "<template shadowrootmode=open>"
    ).split("|"),
    *('<a |<!-- |-->|<![CDATA[|]]>|<?x|&#x|&|</|>|"|\'|=| |\0|\ud800|{"a": "|"}').split("|"),
    *(FIRST, SECOND, CHINESE, "a few words more ", "<h1>Ice</h1>") * 4,
]
MARKUP = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
"""Pages in any condition."""


def page_of(markup: str, images_of: str | None = None) -> Page:
    """Take a page apart; one of nothing has no blocks."""
    tree = parse(markup)
    return Page(()) if tree is None else read_page(tree, images_of)


def blocks_of(markup: str) -> list[Block]:
    """Return the blocks of a page."""
    return list(page_of(markup).blocks)


def texts_of(markup: str) -> list[str]:
    """Return the texts of the blocks of a page."""
    return [block.text for block in blocks_of(markup)]


def main_text(markup: str) -> list[str]:
    """Return the texts of the main content of a page, of which nothing else is known."""
    return [block.text for block in find_content(blocks_of(markup)).main]
