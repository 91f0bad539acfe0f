"""What is a page's main content, and what its menus, on pages that anybody would judge alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import CHINESE, FIRST, SECOND, blocks_of, main_text

from dedup_filter.text import find_content, first_link, text_hash
from dedup_filter.text.content import menus

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
    ("headline", "text"),
    [("Harbour to stay open", FIRST), ("港口保持开放", CHINESE), ("الميناء", RIGHT_TO_LEFT)],
)
def test_article_in_a_frame(headline, text):
    article = f'<div dir="auto"><h1>{headline}</h1><p>{text}</p><p>{text}</p></div>'
    assert main_text(framed(article)) == [headline, text, text]


@pytest.mark.parametrize(
    ("article", "expected"),
    [
        pytest.param(
            f"<p>{FIRST}</p><p>Not so.</p><h2>Costs</h2><p>{SECOND}</p>",
            [FIRST, "Not so.", "Costs", SECOND],
            id="short lines between paragraphs",
        ),
        pytest.param(
            f"<p>{FIRST.replace('ice', '<a href=/i>ice</a>')}</p><ul>{MENU}</ul><p>{SECOND}</p>",
            [FIRST, SECOND],
            id="links within sentences stay and lists of links go",
        ),
        pytest.param(
            f"<h1>On f</h1><p>{FIRST}</p><pre>def f(x):\n  return x</pre><p>{SECOND}</p>",
            ["On f", FIRST, "def f(x): return x", SECOND],
            id="a listing",
        ),
        pytest.param(
            f"<p>{FOOTER}</p>{BOTH}<p>{FOOTER}</p>", [FOOTER, FIRST, SECOND, FOOTER], id="all good"
        ),
    ],
)
def test_between_paragraphs(article, expected):
    assert main_text(framed(article)) == expected
    comments = f'<section class="comments"><p>{FOOTER}</p><p>{FOOTER}</p></section>'
    aside = f"<aside><h3>Most read</h3><p>{FOOTER}</p></aside>"
    other = f"<nav>{MENU}</nav><main><article>{article}</article>{comments}</main>{aside}"
    assert main_text(other) == expected, "in another frame"


def test_sections_of_a_manual_page():
    sections = "".join(
        f'<div class="section"><h2><a href="#s{n}">Section {n}</a></h2><p>{FIRST}</p>'
        f"<pre>open --harbour {n}</pre><p>{SECOND}</p></div>"
        for n in range(1, 5)
    )
    page = f"""<div class="navheader"><a href="prev">Prev</a> <a href="next">Next</a></div>
        <div class="chapter"><h1>Harbours</h1><p>{FIRST}</p>{sections}
        <table><tr><th>Option</th><th>Meaning</th></tr><tr><td>-w</td><td>in winter</td></tr>
        </table></div><div class="navfooter"><a href="/">Prev</a> <a href="/2">Next</a></div>"""
    of_sections = [
        text for n in range(1, 5) for text in (f"Section {n}", FIRST, f"open --harbour {n}", SECOND)
    ]
    table = ["Option", "Meaning", "-w", "in winter"]
    assert main_text(page) == ["Harbours", FIRST, *of_sections, *table]


def test_options_described_in_a_list():
    options = "".join(
        f"<dt><code>--{name}</code></dt><dd>{text}</dd>"
        for name, text in [("all", SECOND), ("brief", "Be brief."), ("check", FIRST)]
    )
    page = f"<ul>{MENU}</ul><h1>harbour(1)</h1><p>{FIRST}</p><h2>Options</h2><dl>{options}</dl>"
    listed = ["--all", SECOND, "--brief", "Be brief.", "--check", FIRST]
    assert main_text(page) == ["harbour(1)", FIRST, "Options", *listed]


CELLS = [f"cell {n}" for n in range(40)]
VERSES = ["Ice again,", "and the ferry", "waits for March,", "as we do."]
PLACES = "".join(f"<p>{line}</p>" for line in VERSES)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"<table>{''.join(f'<tr><td>{cell}</td></tr>' for cell in CELLS)}</table>", CELLS),
        (f"<form><input name=q><div>{BOTH}</div></form>", [FIRST, SECOND]),
        ("<form><label>Name</label><input name=n><button>Send</button></form>", []),
        ("<form><p>Name<input name=n></p><p>Street<input name=s></p></form>", ["Name", "Street"]),
        (f"<ul>{MENU}</ul>", []),
        (f"<h1>Index</h1><ul>{MENU}</ul>", ["Index"]),
        ("<pre>for x in y:\n    print(x)</pre>", ["for x in y: print(x)"]),
        (f"<ul>{MENU}</ul><h1>Harbour</h1><div>{PLACES}</div>", ["Harbour", *VERSES]),
        (f"<nav><p>{FIRST}</p></nav>", [FIRST]),
        ("", []),
    ],
)
def test_pages_without_paragraphs(page, expected):
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


@pytest.mark.parametrize(
    ("page", "headlines"),
    [
        (f"<div><h1>Ice</h1><ul>{MENU}</ul></div><div>{BOTH}</div>", ["Ice"]),
        (
            f"<h1>News</h1><ul>{MENU}</ul><h1>Ice</h1><ul>{MENU}</ul><div>{BOTH}</div><h1>Read</h1>",
            ["Ice"],
        ),
        (f"<h1><a href=/>Island News</a></h1><ul>{MENU}</ul><div>{BOTH}</div>", []),
    ],
)
def test_the_last_headline_before_the_text_that_is_no_link(page, headlines):
    assert main_text(page) == [*headlines, FIRST, SECOND]


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


def test_class_names_of_a_whole_article_say_what_it_is_about():
    article = f'<article class="post author-anna search">{BOTH}</article>'
    wall = f"<div>{f'<p>{FOOTER} {FOOTER}</p>' * 3}</div>"
    assert {FIRST, SECOND} <= set(main_text(article + wall))


@pytest.mark.parametrize("name", ["author-bio", "postAuthor", "bio", "userComments", "cookieText"])
def test_named_frames_are_dropped_and_what_holds_the_page_is_not(name):
    comments = f'<div class="{name}"><p>{FOOTER}</p></div>'
    assert main_text(f"<div>{BOTH}{comments}</div>") == [FIRST, SECOND]
    assert main_text(f'<div class="{name}">{BOTH}</div>') == [FIRST, SECOND]


def test_blocks_can_be_dropped_beforehand():
    page = framed(f"<p>{FOOTER}</p><p>{FIRST}</p><p>{FOOTER}</p><p>{SECOND}</p>")
    left = [block for block in blocks_of(page) if block.text != FOOTER]
    assert [block.text for block in find_content(left).main] == [FIRST, SECOND]


WORDS = st.sampled_from(["one ", "two ", "three ", "网页"]).flatmap(
    lambda word: st.integers(0, 60).map(lambda times: word * times)
)
PIECES = st.sampled_from(
    "<div> </div> <p> <nav> </nav> <form> </form> <a_href=/> </a> <li> <h1>".split()
).map(lambda piece: piece.replace("_", " "))


@pytest.mark.parametrize("dropped", [0, 2, 3])
@given(pieces=st.lists(WORDS | PIECES, max_size=30))
def test_content_is_some_of_the_blocks_in_order(pieces, dropped):
    blocks = blocks_of("<body>" + "".join(pieces))
    given_blocks = [block for block in blocks if not dropped or block.position % dropped]
    chosen = find_content(given_blocks).main
    assert set(chosen) <= set(given_blocks)
    assert [block.position for block in chosen] == sorted({block.position for block in chosen})
    assert all(3 * block.link_words <= block.words for block in chosen)


HEAD = ["home", "news", "sports", "arts"]
NEXT = ["letters", "weather", "shop", "archive"]
FOOT = ["terms", "contact", "help", "staff"]
TEXT = "<p>A paragraph of the page that is nobody's menu.</p>"


def links(*names: str) -> str:
    return "".join(f"<li><a href=/{number}>{name}</a></li>" for number, name in enumerate(names))


def menus_of(markup: str) -> list[int]:
    return menus(blocks_of(markup))


def common(markup: str, other: str) -> int:
    """Count the menus that two pages have in common."""
    return len(set(menus_of(markup)) & set(menus_of(other)))


class TestMenus:
    def test_are_the_first_two_and_the_last_whatever_stands_between(self):
        def page(text: str, *related: str) -> str:
            return f"{links(*HEAD, *NEXT)}<p>{text}</p>{links(*related)}{links(*FOOT)}"

        one = page("A story of the sea.", "ice", "fish", "ships", "nets")
        other = page("A story of the hills, and of those who live there.", "snow")
        assert len(menus_of(one)) == 3
        assert menus_of(one) == menus_of(other)

    def test_are_told_apart_by_what_they_say_and_not_by_where_they_lead(self):
        assert common(links(*HEAD), links(*HEAD).replace("href=/", "href=/other/")) == 1
        assert common(links(*HEAD), links(*HEAD[:3], "culture")) == 0
        assert common(links(*HEAD), links(*reversed(HEAD))) == 0

    @pytest.mark.parametrize(("at", "left"), [(0, 2), (4, 2), (-1, 2), (9, 3)])
    def test_one_may_hold_the_name_of_the_host(self, at, left):
        names = [*HEAD, *NEXT, "ice", "fish", *FOOT]
        named = list(names)
        named[at] = "a.example"
        assert common(links(*names), links(*named)) == left

    @pytest.mark.parametrize(("count", "found"), [(0, 0), (3, 0), (4, 1), (5, 2), (7, 2), (8, 2)])
    def test_have_four_links(self, count, found):
        """Four are the first menu and the last, and eight the second and the last."""
        assert len(menus_of(TEXT + links(*(HEAD + NEXT)[:count]))) == found

    @pytest.mark.parametrize(("words", "found"), [(5, 0), (6, 1)])
    def test_or_six_words_of_links_in_a_block(self, words, found):
        one = "".join(f"<a href=/{number}>word{number}</a> " for number in range(words))
        assert len(menus_of(f"<p>{one}</p>{TEXT}")) == found

    def test_are_no_text(self):
        """What is known of a menu and of a block with the same text is not mixed up."""
        assert text_hash("\n".join(HEAD)) not in menus_of(links(*HEAD))
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
    def test_begin_where_a_fifth_of_a_block_is_links(self, markup, position):
        assert first_link(blocks_of(markup)) == position
