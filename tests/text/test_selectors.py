"""CSS selectors of a user: what is left of a page, by host, and what is refused."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree
from made_text import prose

from dedup_filter import ConfigError, FilterConfig, NearDuplicateFilter
from dedup_filter.text.decode import parse
from dedup_filter.text.page_bytes import pack_page
from dedup_filter.text.reading import Page, read
from dedup_filter.text.selectors import MOST_CHARACTERS, Selectors, SiteSelectors

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Ice - News</title></head><body>
<header><h1>Ice</h1>Posted <b class="Date small">3 May</b> by Ann</header>
<div class="ads">Buy <div class="ads">more</div> ice</div>
<article><p>The harbour was closed by ice for eleven weeks.</p>
<p>Nobody saw a ferry <i class="Date">until March</i>.</p></article>
<div id="comments"><article>One thinks so.</article></div></body></html>"""


def said(page):
    return [block.text for block in page.blocks]


def chosen(ignore=None, content=None, page=PAGE):
    selectors = SiteSelectors.read(ignore, content).of("example.com")
    return read(page, None, None, selectors=selectors)


@pytest.mark.parametrize(
    ("ignore", "content", "texts", "effects"),
    [
        (".Date, .ads, #comments", None, "Ice|Posted by Ann|{1}|Nobody saw a ferry .", "ignored"),
        ([".Date", "#comments", ".ads"], None, "Ice|Posted by Ann|{1}|Nobody saw a ferry .", None),
        (".date", None, "Ice|Posted 3 May by Ann|Buy|more|ice|{1}|{2}|One thinks so.", ""),
        (None, "article", "{1}|{2}|One thinks so.", "content"),
        (None, "p:first-child, #comments, article", "{1}|{2}|One thinks so.", "content"),
        ("#comments", "article", "{1}|{2}", "ignored content"),
        ("article", "article", "Ice|Posted 3 May by Ann|Buy|more|ice", "ignored no_content"),
        (None, "main", None, "no_content"),
        (None, "*", None, "content"),
        (None, "html", None, "content"),
        ("*", None, None, "ignored nothing_left"),
        ("html", "p", None, "ignored no_content nothing_left"),
        ("body", None, None, "ignored nothing_left"),
        ("#none", None, None, ""),
        ("  ", [], None, ""),
    ],
)
@pytest.mark.parametrize("form", [str, str.encode, parse])
def test_what_is_left_of_a_page(ignore, content, texts, effects, form):
    given_page = form(PAGE)
    page = chosen(ignore, content, given_page)
    whole = read(form(PAGE), None, None)
    paragraphs = [block.text for block in whole.blocks if block.text.startswith(("The", "Nob"))]
    wanted = said(whole) if texts is None else texts.format("", *paragraphs).split("|")
    assert said(page) == wanted
    assert page.title == "Ice - News"
    assert page.language == "en"
    if effects is not None:
        assert page.selected == tuple(effects.split())


def test_a_part_of_a_tree_is_read_by_itself_and_nothing_is_changed():
    tree = parse(PAGE)
    before = etree.tostring(tree)
    article = tree.find(".//article")
    assert said(chosen(".Date", None, article))[1] == "Nobody saw a ferry ."
    assert said(chosen(None, "p + p", article)) == ["Nobody saw a ferry until March."]
    assert said(chosen("*", "body p", article)) == said(read(article, None, None))
    assert etree.tostring(tree) == before
    assert chosen(".ads", None, etree.ElementTree(tree)).selected == ("ignored",)
    assert etree.tostring(tree) == before


def test_hidden_parts_notes_images_and_scripts_are_left_out_too():
    beside = (
        '<div class=x hidden>one two three four</div><img class=x alt="five" src=b.png>'
        '<script class=x type="application/json">{"six": "seven eight nine ten"}</script>'
    )
    page = f"<p>{prose(1)}</p><img src=a.png>"
    selectors = Selectors((".x",))
    found = read(page + beside, None, None, "http://a/", selectors=selectors)
    assert pack_page(found) == pack_page(read(page, None, None, "http://a/"))
    assert pack_page(found) != pack_page(read(page + beside, None, None, "http://a/"))


def test_of_a_page_made_by_scripts_only_what_stays_tells_it_from_others():
    page = "<div id=app></div><script src=app.js></script><p>Loading</p><p class=n>{}</p>"
    pages = [chosen(".n", None, page.format(each)) for each in ("one", "two")]
    assert pages[0].is_by_script
    assert pages[0].unread_hash == pages[1].unread_hash
    others = [read(page.format(each), None, None) for each in ("one", "two")]
    assert others[0].unread_hash != others[1].unread_hash


def test_a_text_has_no_elements():
    selectors = Selectors(("*",), ("p",))
    assert read(None, "<p>text", None, selectors=selectors) == read(None, "<p>text", None)


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("example.com", "a"),
        ("www.example.com", "a"),
        ("news.example.com", "b"),
        ("de.news.example.com:8080", "b"),
        ("notexample.com", "d"),
        ("com", "d"),
        ("xn--bcher-kva.example", "c"),
        ("bücher.example", "c"),
        ("127.0.0.1:8000", "e"),
        ("127.0.0.1:9000", "f"),
        ("[::1]:9000", "d"),
        ("none.example", None),
        ("(no URL)", "d"),
        ("", "d"),
    ],
)
def test_of_the_names_that_fit_a_host_the_longest_counts(host, wanted):
    by_host = {
        "Example.com": "a",
        "news.example.com": ["b"],
        "bücher.example": "c",
        "*": "d",
        "127.0.0.1:8000": "e",
        "127.0.0.1": "f",
        "none.example": "",
    }
    for selectors in SiteSelectors.read(by_host, None), SiteSelectors.read(None, by_host):
        found = selectors.of(host)
        assert (None if found is None else "".join(sum(found, ()))) == wanted
    assert SiteSelectors.read({"example.com": "a"}, None).of("example.org") is None


@pytest.mark.parametrize("given", [None, "", " ", [], (), {}, {"example.com": []}, {"*": None}])
def test_no_selectors_are_none(given):
    assert SiteSelectors.read(given, given).of("example.com") is None


REFUSED = [
    ("a >", "'a >'"),
    ([".date", "p::text"], "'p::text'"),
    ("a::attr(href)", "attr"),
    (":nope", ":nope"),
    ("ns|a", "namespace ns"),
    ("[ns|a]", "namespace ns"),
    ("a" * 2**20, "1,048,576 characters"),
    (["a, b"] * 3000, f"{MOST_CHARACTERS:,}"),
    ("a " * 4999, "recursion"),
    ("*" + ">*" * 4000, "recursion"),
    ("[a='\x01']", r"[a='\x01']"),
    ({"https://example.com/": "a"}, "'https://example.com/'"),
    ({"*.example.com": "a"}, "'*.example.com'"),
    ({"": "a"}, "not ''"),
    ({1: "a"}, "not 1"),
    ({"example.com": {"a": "b"}}, "{'a': 'b'}"),
    ({"example.com": "a >"}, "'a >'"),
    (5, "not 5"),
    (b"a", "b'a'"),
    (["a", None], "['a', None]"),
]


@pytest.mark.parametrize("option", ["ignore", "content"])
@pytest.mark.parametrize(("value", "words"), REFUSED)
def test_what_is_no_selector_is_refused_in_one_sentence(option, value, words):
    with pytest.raises(ConfigError) as caught:
        NearDuplicateFilter.open(**{option: value})
    message = str(caught.value)
    assert message.startswith(f"{option} ")
    assert words in message
    assert len(message) < 300
    assert message.isprintable()


def test_long_lists_and_odd_selectors_are_taken():
    for value in (", ".join(f".c{n}" for n in range(1300)), "a:hover", "p:has(> b), é#ü"):
        config = FilterConfig(ignore=value)
        assert said(read(PAGE, None, None, selectors=config.selectors.of("a")))


# The oracle: a page as a tree of (name, classes, children); what has a class is never written.

NAMES = ["div", "section", "ul", "aside", "span", "b"]
leaves = st.one_of(
    st.integers(0, 30).map(lambda seed: prose(seed, words=30)),
    st.sampled_from(["3 hours ago", "1,204 views", "By Ann", "Size 40", ""]),
)
classes = st.sampled_from(["", "", "", "x", "y", "x y", "xy"])
trees = st.recursive(
    st.tuples(st.just("p"), classes, st.lists(leaves, max_size=2)),
    lambda inner: st.tuples(st.sampled_from(NAMES), classes, st.lists(inner | leaves, max_size=4)),
    max_leaves=20,
)


def written(node, left_out=frozenset()):
    if isinstance(node, str):
        return node
    name, names, children = node
    if left_out & {*names.split()}:
        return ""
    inner = "".join(written(child, left_out) for child in children)
    # A p ends at each block within it, so that its tree would be another one.
    return f'<{name} class="{names}">{inner}</{name}>'


def page_of(node, left_out=frozenset()):
    return f"<html lang=en><title>News</title><body>{written(node, left_out)}</body></html>"


def nodes_by(node, wanted):
    if isinstance(node, str):
        return []
    if wanted in node[1].split():
        return [node]
    return [found for child in node[2] for found in nodes_by(child, wanted)]


def without_inline_blocks(node, is_inline=False):
    """Name blocks within inline elements "b", so that the parser moves nothing."""
    if isinstance(node, str):
        return node
    name, names, children = node
    name = "b" if is_inline else name
    is_inline = name in ("p", "span", "b")
    return name, names, [without_inline_blocks(child, is_inline) for child in children]


@given(trees.map(without_inline_blocks), st.sampled_from([{"x"}, {"x", "y"}]))
@example(("div", "", [("div", "x", ["3 hours ago"]), ("p", "", [prose(1)])]), {"x"})
def test_an_ignored_element_is_as_if_it_were_not_on_the_page(node, left_out):
    selectors = Selectors(tuple(f".{each}" for each in sorted(left_out)))
    page, oracle = page_of(node), read(page_of(node, left_out), None, None)
    if not oracle.blocks and page != page_of(node, left_out):
        oracle = read(page, None, None)
    for form in (page, page.encode(), parse(page)):
        found = read(form, None, None, selectors=selectors)
        assert pack_page(found) == pack_page(oracle)


@given(trees.map(without_inline_blocks))
def test_of_a_page_only_its_content_is_read(node):
    page, content = page_of(node), nodes_by(node, "x")
    inner = "".join(map(written, content))
    oracle = read(f"<html lang=en><title>News</title>{inner}</html>", None, None)
    found = read(page, None, None, selectors=Selectors((), (".x",)))
    assert isinstance(found, Page)
    assert ("no_content" in found.selected) == (not content)
    if not content or not oracle.blocks:
        oracle = read(page, None, None)
    # The parser puts a body around what the oracle has.
    assert [block.hash for block in found.blocks] == [block.hash for block in oracle.blocks]
