"""What is a page's main content, and what its menus, on pages that anybody would judge alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import CHINESE, FIRST, SECOND, blocks_of, main_text

from dedup_filter.text import find_content, first_link, menus, text_hash

MENU = "".join(
    f'<li><a href="/{name}">{name} and more</a></li>' for name in ("News", "Sport", "Arts")
)
TEASERS = "".join(
    f'<div class="teaser"><a href="/{n}">Story number {n} that you should read</a></div>'
    for n in range(12)
)
FOOTER = (
    "Copyright 2020 by the publisher. No part of this may be copied in any form or by any means."
)


def framed(article: str) -> str:
    return f"""<html><head><title>Harbour</title></head><body>
        <div id="top"><ul>{MENU}</ul></div>
        <div id="page"><div id="main">{article}</div><div id="right">{TEASERS}</div></div>
        <div class="footer"><p>{FOOTER}</p></div></body></html>"""


RIGHT_TO_LEFT = "اجتمعت اللجنة يوم الثلاثاء لمناقشة كيفية إبقاء الميناء مفتوحا خلال أشهر الشتاء"


@pytest.mark.parametrize(
    ("headline", "text"),
    [("Harbour to stay open", FIRST), ("港口保持开放", CHINESE), ("الميناء", RIGHT_TO_LEFT)],
)
def test_article_in_a_frame(headline, text):
    article = f'<div dir="auto"><h1>{headline}</h1><p>{text}</p><p>{text}</p></div>'
    assert main_text(framed(article)) == [headline, text, text]


def test_the_same_article_in_another_frame():
    article = f"<p>{FIRST}</p><p>{SECOND}</p>"
    other = f"""<nav>{MENU}</nav><main><article>{article}</article>
        <section class="comments"><p>{FOOTER}</p><p>{FOOTER}</p></section></main>
        <aside><h3>Most read</h3><p>{FOOTER}</p></aside>"""
    assert main_text(other) == main_text(framed(article)) == [FIRST, SECOND]


def test_short_lines_between_paragraphs_belong_to_them():
    article = f"<p>{FIRST}</p><p>Not so.</p><h2>Costs</h2><p>{SECOND}</p>"
    assert main_text(framed(article)) == [FIRST, "Not so.", "Costs", SECOND]


def test_links_within_sentences_stay_and_lists_of_links_go():
    linked = FIRST.replace("harbour", '<a href="/harbour">harbour</a>')
    article = f"<p>{linked}</p><ul>{MENU}</ul><p>{SECOND}</p>"
    assert main_text(framed(article)) == [FIRST, SECOND]


def test_sections_of_a_manual_page():
    sections = "".join(
        f'<div class="section"><h2><a href="#s{n}">Section {n}</a></h2><p>{FIRST}</p>'
        f"<pre>open --harbour {n}</pre><p>{SECOND}</p></div>"
        for n in range(1, 5)
    )
    page = f"""<div class="navheader"><a href="prev">Prev</a> <a href="next">Next</a></div>
        <div class="chapter"><h1>Harbours</h1><p>{FIRST}</p>{sections}
        <table><tr><th>Option</th><th>Meaning</th></tr>
        <tr><td>-w</td><td>in winter</td></tr><tr><td>-s</td><td>in summer</td></tr></table></div>
        <div class="navfooter"><a href="prev">Prev</a> <a href="next">Next</a></div>"""
    found = main_text(page)
    assert found[:2] == ["Harbours", FIRST]
    assert [text for text in found if text.startswith("open")] == [
        f"open --harbour {n}" for n in range(1, 5)
    ]
    assert [text for text in found if text.startswith("Section")] == [
        f"Section {n}" for n in range(1, 5)
    ]
    assert found[-6:] == ["Option", "Meaning", "-w", "in winter", "-s", "in summer"]


def test_options_described_in_a_list():
    options = "".join(
        f"<dt><code>--{name}</code></dt><dd>{text}</dd>"
        for name, text in [("all", SECOND), ("brief", "Be brief."), ("check", FIRST)]
    )
    page = f"<ul>{MENU}</ul><h1>harbour(1)</h1><p>{FIRST}</p><h2>Options</h2><dl>{options}</dl>"
    assert main_text(page) == [
        "harbour(1)", FIRST, "Options", "--all", SECOND, "--brief", "Be brief.", "--check", FIRST,
    ]  # fmt: skip


def test_blog_post_with_a_code_listing():
    listing = "def f(x):\n    return x\n\nprint(f(1))\n"
    article = f"<h1>On f</h1><p>{FIRST}</p><pre><code>{listing}</code></pre><p>{SECOND}</p>"
    listed = "def f(x): return x print(f(1))"
    assert main_text(framed(article)) == ["On f", FIRST, listed, SECOND]


class TestPagesWithoutParagraphs:
    def test_one_table(self):
        rows = [(f"item {n}", str(n)) for n in range(20)]
        cells = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)
        assert main_text(f"<table>{cells}</table>") == [cell for row in rows for cell in row]

    def test_one_form_around_the_whole_page(self):
        page = f"<form><input name=q><div><p>{FIRST}</p><p>{SECOND}</p></div></form>"
        assert main_text(page) == [FIRST, SECOND]

    def test_nothing_but_the_fields_of_a_form(self):
        page = "<form><label>Name</label><input name=n><button>Send</button></form>"
        assert main_text(page) == []
        page = "<form><p>Name<input name=n></p><p>Street<input name=s></p></form>"
        assert main_text(page) == ["Name", "Street"]

    def test_one_list_of_links(self):
        assert main_text(f"<ul>{MENU}</ul>") == []
        assert main_text(f"<h1>Index</h1><ul>{MENU}</ul>") == ["Index"]

    def test_one_code_listing(self):
        assert main_text("<pre>for x in y:\n    print(x)</pre>") == ["for x in y: print(x)"]

    def test_poem(self):
        lines = ["Ice again,", "and the ferry", "waits for March,", "as we do."]
        verses = "".join(f"<p>{line}</p>" for line in lines)
        assert main_text(f"<ul>{MENU}</ul><h1>Harbour</h1><div>{verses}</div>") == [
            "Harbour",
            *lines,
        ]

    def test_all_inside_a_frame_element(self):
        assert main_text(f"<nav><p>{FIRST}</p></nav>") == [FIRST]

    def test_no_blocks_at_all(self):
        assert find_content([]).main == []


class TestCards:
    CARD = "<div><span>{}</span><small>Author</small><div><a href=/t>a tag</a></div></div>"
    QUOTES = tuple(f"{FIRST} This is said on page {n}." for n in range(10))

    def test_each_below_a_link(self):
        cards = "".join(self.CARD.format(quote) for quote in self.QUOTES)
        found = main_text(f"<h2>Quotes to remember for the winter</h2>{cards}")
        assert len([text for text in found if text.startswith(FIRST)]) == 10

    def test_below_an_article_are_not_part_of_it(self):
        cards = "".join(self.CARD.format(quote) for quote in self.QUOTES[:2])
        article = f"<article><p>{FIRST}</p><p>{SECOND}</p><p>{FIRST}</p></article>"
        assert main_text(f"<ul>{MENU}</ul>{article}<div>{cards}</div>") == [FIRST, SECOND, FIRST]


class TestHeadline:
    def test_above_the_container_of_the_text(self):
        page = f"""<div class="hero"><h1>Harbour open</h1><ul>{MENU}</ul></div>
            <div><p>{FIRST}</p><p>{SECOND}</p></div>"""
        assert main_text(page) == ["Harbour open", FIRST, SECOND]

    def test_the_last_one_before_the_text(self):
        page = f"""<h1>The Island News</h1><ul>{MENU}</ul><h1>Harbour open</h1><ul>{MENU}</ul>
            <div><p>{FIRST}</p><p>{SECOND}</p></div><h1>Most read</h1>"""
        assert main_text(page) == ["Harbour open", FIRST, SECOND]

    def test_not_one_that_is_a_link(self):
        page = f"<h1><a href=/>Island News</a></h1><ul>{MENU}</ul><div><p>{FIRST}</p></div>"
        assert main_text(page) == [FIRST]


class TestOwnContent:
    LINKS = "".join(f'<li><a href="/{n}">Chapter {n} of the manual</a></li>' for n in range(40))

    def own_text(self, markup: str) -> list[str]:
        return [block.text for block in find_content(blocks_of(markup)).own]

    def test_of_a_table_of_contents_is_all_of_it(self):
        page = f"<div><h1>Manual</h1><p>{FIRST}</p><ul>{self.LINKS}</ul></div>"
        assert len(self.own_text(page)) == 42

    def test_of_an_article_beside_a_long_list_is_the_article(self):
        page = f"<div><p>{FIRST}</p><p>{SECOND}</p></div><div><ul>{self.LINKS}</ul></div>"
        assert self.own_text(page) == [FIRST, SECOND]

    def test_of_links_alone_is_all_of_them(self):
        assert len(self.own_text(f"<ul>{self.LINKS}</ul>")) == 40


def test_class_names_of_a_whole_article_say_what_it_is_about():
    article = f'<article class="post author-anna search"><p>{FIRST}</p><p>{SECOND}</p></article>'
    wall = f"<div>{f'<p>{FOOTER} {FOOTER}</p>' * 3}</div>"
    assert {FIRST, SECOND} <= set(main_text(article + wall))


@pytest.mark.parametrize("name", ["author-bio", "postAuthor", "bio", "userComments", "cookieText"])
def test_class_names_of_frames_in_any_spelling(name: str):
    framed_text = f'<div class="{name}"><p>{FOOTER}</p></div>'
    assert main_text(f"<div><p>{FIRST}</p><p>{SECOND}</p>{framed_text}</div>") == [FIRST, SECOND]


def test_named_frames_are_dropped_and_what_holds_the_page_is_not():
    comments = f'<div class="comments"><p>{FOOTER}</p><p>{FOOTER}</p></div>'
    assert main_text(f"<p>{FIRST}</p><p>{SECOND}</p>{comments}") == [FIRST, SECOND]
    assert main_text(f'<div class="comments"><p>{FIRST}</p><p>{SECOND}</p></div>') == [
        FIRST,
        SECOND,
    ]


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
def test_content_is_some_of_the_blocks_in_order(pieces: list[str], dropped: int):
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
