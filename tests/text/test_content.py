"""What is a page's main content, and what its menus, on pages that anybody would judge alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import CHINESE, FIRST, MARKUP, SECOND, blocks_of, main_text

from dedup_filter.text.blocks import text_hash
from dedup_filter.text.content import find_content, first_link, menus

RIGHT_TO_LEFT = "اجتمعت اللجنة يوم الثلاثاء لمناقشة كيفية إبقاء الميناء مفتوحا خلال أشهر الشتاء"
FOOTER = (
    "Copyright 2020 by the publisher. No part of this may be copied in any form or by any means."
)
MENU = "".join(f'<li><a href="/{name}">{name} and more</a></li>' for name in ("News", "Arts"))
TEASERS = "".join(
    f'<div class="teaser"><a href="/{n}">Story number {n} that you should read</a></div>'
    for n in range(12)
)
BOTH = f"<p>{FIRST}</p><p>{SECOND}</p>"


def framed(article: str) -> str:
    return f"""<html><head><title>Harbour</title></head><body>
        <div id="top"><ul>{MENU}</ul></div>
        <div id="page"><div id="main">{article}</div><div id="right">{TEASERS}</div></div>
        <div class="footer"><p>{FOOTER}</p></div></body></html>"""


@pytest.mark.parametrize(
    ("article", "expected"),
    [
        *(
            (f"<h1>{headline}</h1><p>{text}</p><p>{text}</p>", [headline, text, text])
            for headline, text in [("港口保持开放", CHINESE), ("الميناء", RIGHT_TO_LEFT)]
        ),
        # Short lines between paragraphs stay, and so do listings and links within sentences.
        (
            f"<p>{FIRST}</p><p>Not so.</p><h2>Costs</h2><p>{SECOND}</p>",
            [FIRST, "Not so.", "Costs", SECOND],
        ),
        (
            f"<h1>On f</h1><p>{FIRST}</p><pre>def f(x):\n  return x</pre><p>{SECOND}</p>",
            ["On f", FIRST, "def f(x):", "return x", SECOND],
        ),
        (
            f"<p>{FIRST.replace('ice', '<a href=/i>ice</a>')}</p><ul>{MENU}</ul><p>{SECOND}</p>",
            [FIRST, SECOND],
        ),
        (f"<p>{FOOTER}</p>{BOTH}<p>{FOOTER}</p>", [FOOTER, FIRST, SECOND, FOOTER]),
    ],
)
def test_articles_in_frames(article, expected):
    assert main_text(framed(article)) == expected
    comments = f'<section class="comments"><p>{FOOTER}</p><p>{FOOTER}</p></section>'
    aside = f"<aside><h3>Most read</h3><p>{FOOTER}</p></aside>"
    other = f"<nav>{MENU}</nav><main><article>{article}</article>{comments}</main>{aside}"
    assert main_text(other) == expected, "in another frame"


def test_sections_of_a_manual_page():
    sections = "".join(
        f'<div class="section"><h2><a href="#s{n}">Section {n}</a></h2><p>{FIRST}</p>'
        f"<pre>open --harbour {n}</pre><dl><dt>--brief</dt><dd>Be brief.</dd></dl></div>"
        for n in range(1, 5)
    )
    page = f"""<div class="navheader"><a href="prev">Prev</a> <a href="next">Next</a></div>
        <div class="chapter"><h1>Harbours</h1><p>{FIRST}</p>{sections}
        <table><tr><th>Option</th><th>Meaning</th></tr><tr><td>-w</td><td>in winter</td></tr>
        </table></div><div class="navfooter"><a href="/">Prev</a> <a href="/2">Next</a></div>"""
    of_sections = [
        text
        for n in range(1, 5)
        for text in (f"Section {n}", FIRST, f"open --harbour {n}", "--brief", "Be brief.")
    ]
    table = ["Option", "Meaning", "-w", "in winter"]
    assert main_text(page) == ["Harbours", FIRST, *of_sections, *table]


CELLS = [f"cell {n}" for n in range(40)]
VERSES = ["Ice again,", "and the ferry", "waits for March,", "as we do."]
PLACES = "".join(f"<p>{line}</p>" for line in VERSES)
NOTICES = [f"{FOOTER} {FOOTER}"] * 3
WALL = f"<div>{''.join(f'<p>{notice}</p>' for notice in NOTICES)}</div>"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"<table>{''.join(f'<tr><td>{cell}</td></tr>' for cell in CELLS)}</table>", CELLS),
        (f"<form><input name=q><div>{BOTH}</div></form>", [FIRST, SECOND]),
        ("<form><label>Name</label><input name=n><button>Send</button></form>", []),
        (f"<h1>Index</h1><ul>{MENU}</ul>", ["Index"]),
        (f"<ul>{MENU}</ul><h1>Harbour</h1><div>{PLACES}</div>", ["Harbour", *VERSES]),
        (f"<nav><p>{FIRST}</p></nav>", [FIRST]),
        ("", []),
        # The last headline before the text that is no link.
        (f"<div><h1>Ice</h1><ul>{MENU}</ul></div><div>{BOTH}</div>", ["Ice", FIRST, SECOND]),
        (
            f"<h1>News</h1><ul>{MENU}</ul><h1>Ice</h1><ul>{MENU}</ul><div>{BOTH}</div><h1>Read</h1>",
            ["Ice", FIRST, SECOND],
        ),
        (f"<h1><a href=/>News</a></h1><ul>{MENU}</ul><div>{BOTH}</div>", [FIRST, SECOND]),
        # The class names of a whole article say what it is about, and are no frame's.
        (
            f'<article class="post author-anna search">{BOTH}</article>{WALL}',
            [FIRST, SECOND, *NOTICES],
        ),
    ],
)
def test_main_text(page, expected):
    assert main_text(page) == expected


def test_cards_below_links_are_content_and_below_an_article_they_are_not():
    cards = [
        f"<div><span>{FIRST} So it is said on page {n}.</span><small>Author</small>"
        f"<div><a href=/t>a tag</a></div></div>"
        for n in range(10)
    ]
    found = main_text(f"<h2>Quotes to remember for the winter</h2>{''.join(cards)}")
    assert len([text for text in found if text.startswith(FIRST)]) == 10
    article = f"<article>{BOTH}<p>{FIRST}</p></article>"
    page = f"<ul>{MENU}</ul>{article}<div>{''.join(cards[:2])}</div>"
    assert main_text(page) == [FIRST, SECOND, FIRST]


LINKS = "".join(f'<li><a href="/{n}">Chapter {n} of the manual</a></li>' for n in range(40))


@pytest.mark.parametrize(
    ("page", "count"),
    [
        (f"<div><h1>Manual</h1><p>{FIRST}</p><ul>{LINKS}</ul></div>", 42),
        (f"<div>{BOTH}</div><div><ul>{LINKS}</ul></div>", 2),
        (f"<ul>{LINKS}</ul>", 40),
    ],
)
def test_own_content_of_a_table_of_contents_is_all_of_it(page, count):
    assert len(find_content(blocks_of(page)).own) == count


@pytest.mark.parametrize("name", ["author-bio", "postAuthor", "bio", "userComments", "cookieText"])
def test_named_frames_are_dropped_and_what_holds_the_page_is_not(name):
    comments = f'<div class="{name}"><p>{FOOTER}</p></div>'
    assert main_text(f"<div>{BOTH}{comments}</div>") == [FIRST, SECOND]
    assert main_text(f'<div class="{name}">{BOTH}</div>') == [FIRST, SECOND]


ARTICLE = f"<h1>Ice</h1>{BOTH}<p>{FIRST}</p>"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        # An article, between other frames or within one, and open up to the end of the page.
        ("<div>{links}</div><{tag}>{article}</{tag}><footer>{note}</footer>", "article"),
        (
            "<article><{tag}><div><a href=/>Up</a></div><section>{article}</section></article>",
            "article",
        ),
        ("<{tag}>{article}<nav>{note}</nav><div class=comments>{note}</div></{tag}>", "article"),
        ("<div>{links}</div><div class=note>{note}</div><{tag}>{article}", "article"),
        ("<{tag}><nav>{links}</nav><menu><div>{article}</div></menu>{links}</{tag}>", "article"),
        # Text beside a headline, or beside a longer text, is still a frame.
        ("<h1>Ice</h1><div>{links}</div><{tag}><p>{both}</p></{tag}>", "headline"),
        ("<div>{article}</div><{tag}><p>{note}</p></{tag}>", "article"),
        ("<div><p>{both}</p></div><{tag}><h2>More</h2><p>{both}</p></{tag}>", "text"),
        ("<div><p>{both}</p></div><{tag}>{more}{more}{more}</{tag}>", "text"),
        ("<div>{links}</div><{tag}><p>{both}</p></{tag}>", "text"),
    ],
)
@pytest.mark.parametrize(
    "texts", [[FIRST, SECOND, FIRST], [CHINESE] * 3, [RIGHT_TO_LEFT * 2, RIGHT_TO_LEFT]]
)
def test_an_article_in_the_element_of_a_frame_is_read(page, expected, texts):
    article = f"<h1>Ice</h1>{''.join(f'<p>{text}</p>' for text in texts)}"
    both, note = " ".join(texts), " ".join(VERSES)
    more = f"<h2>More</h2><p>{both}</p>"
    found = {"article": ["Ice", *texts], "headline": ["Ice"], "text": [" ".join(texts)]}
    parts = {"article": article, "both": both, "more": more, "links": TEASERS, "note": note}
    for tag in ("aside", "dialog", "footer", "menu", "nav"):
        assert main_text(page.format(tag=tag, **parts)) == found[expected], tag


def test_a_long_article_in_many_frames_is_read():
    deep = f"{'<aside>' * 200}{ARTICLE * 2_000}"
    assert len(main_text(deep)) == 8_000
    assert main_text(f"<aside><form>{ARTICLE}</form></aside>") == ["Ice", FIRST, SECOND, FIRST]


@given(MARKUP, st.sampled_from([0, 2, 3]))
def test_content_is_some_of_the_blocks_in_order(markup, dropped):
    blocks = blocks_of(markup)
    given_blocks = [block for block in blocks if not dropped or block.position % dropped]
    chosen = find_content(given_blocks).main
    assert set(chosen) <= set(given_blocks)
    assert [block.position for block in chosen] == sorted({block.position for block in chosen})
    assert all(3 * block.link_words <= block.words for block in chosen)


HEAD = ["home", "news", "sports", "arts"]
NEXT = ["letters", "weather", "shop", "archive"]
FOOT = ["terms", "contact", "help", "staff"]
TEXT = "<p>A paragraph of the page that is nobody's menu.</p>"
NAMES = [*HEAD, *NEXT, "ice", "fish", *FOOT]


def links(*names: str) -> str:
    return "".join(f"<li><a href=/{number}>{name}</a></li>" for number, name in enumerate(names))


def named(at: int) -> str:
    """Menus of which one has the name of the host."""
    return links(*(name if n != at else "a.example" for n, name in enumerate(NAMES)))


RELATED = links("ice", "fish", "ships", "nets")
OTHER_STORY = f"<p>A story of the hills, and of those who live there.</p>{links('snow')}"
IN_A_BLOCK = "".join(f"<a href=/{number}>word{number}</a> " for number in range(6))


@pytest.mark.parametrize(
    ("markup", "other", "count"),
    [
        # They are the first two and the last, whatever stands between.
        (
            f"{links(*HEAD, *NEXT)}{TEXT}{RELATED}{links(*FOOT)}",
            f"{links(*HEAD, *NEXT)}{OTHER_STORY}{links(*FOOT)}",
            3,
        ),
        # What they say tells them apart, and not where they lead.
        (links(*HEAD), links(*HEAD).replace("href=/", "href=/other/"), 1),
        (links(*HEAD), links(*HEAD[:3], "culture"), 0),
        (links(*HEAD), links(*reversed(HEAD)), 0),
        # One may hold the name of the host.
        *((links(*NAMES), named(at), 2) for at in (0, 4, 13)),
        (links(*NAMES), named(9), 3),
        # They have four links: these are the first menu and the last; eight the second and that.
        *((TEXT + links(*NAMES[:n]),) * 2 + (0,) for n in (0, 3)),
        *((TEXT + links(*NAMES[:n]),) * 2 + (2 if n > 4 else 1,) for n in (4, 5, 7, 8)),
        # Or six words of links in a block.
        (f"<p>{IN_A_BLOCK}</p>", f"<p>{IN_A_BLOCK}</p>{TEXT}", 1),
        (f"<p>{IN_A_BLOCK[18:]}</p>", f"<p>{IN_A_BLOCK[18:]}</p>{TEXT}", 0),
    ],
)
def test_menus_in_common(markup: str, other: str, count: int):
    one, another = menus(blocks_of(markup)), menus(blocks_of(other))
    assert len(set(one) & set(another)) == count


def test_what_is_known_of_a_menu_and_of_a_block_with_the_same_text_is_not_mixed_up():
    assert text_hash("\n".join(HEAD)) not in menus(blocks_of(links(*HEAD)))
    (block,) = blocks_of(f"<a href=/>{' '.join(HEAD * 3)}</a>")
    assert menus([block]) != [block.hash]


@pytest.mark.parametrize(
    ("markup", "position"),
    [
        ("<p>one</p>", 0),
        ("<p>1 2 3 4 5</p><p><a href=/>1</a> 2 3 4 5</p><p><a href=/>1</a> 2 3 4</p>", 2),
        ("<p>one</p><p><a href=/>two</a></p><p><a href=/>three</a></p>", 1),
    ],
)
def test_links_begin_where_a_fifth_of_a_block_is_links(markup: str, position: int):
    assert first_link(blocks_of(markup)) == position
