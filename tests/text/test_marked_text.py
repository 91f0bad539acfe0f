"""Both writers of marked text write the same, for any tree, and change nothing in it."""

import threading

from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree, html

from dedup_filter.text import parse
from dedup_filter.text.marked_text import (
    CLOSE,
    HIDE,
    LINK,
    OPEN,
    SCRIPT,
    UNHIDE,
    UNLINK,
    UNSCRIPT,
    marked_text,
    walked_text,
)

TAGS = (
    "div p span a b br li ul td tr table h1 title script style noscript nav section button"
    " template template pre hr x-y svg {http://www.w3.org/1999/xhtml}p"
    " {http://www.w3.org/1999/xhtml}a {urn:x}p"
).split()
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["class", "id", "role", "hidden", "href", "name", "lang", "type"]),
    st.sampled_from(["", "#", "#top", "/a", "nav comments", " x\n y ", "<&>'\"", "联合", "a/json"]),
    max_size=3,
) | st.sampled_from([{"shadowrootmode": mode} for mode in ("open", "Closed", "İpen", "none")])
XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
)
TEXT = XML_TEXT | st.sampled_from(
    ["", " ", "\n\t", "a b", "<p>", "\ue000\uf800\uf801", "&amp;", "__a = {}", "x" * 299 + "__"]
)


def build(
    tag: str, attributes: dict[str, str], text: str, tail: str, children: list
) -> etree._Element:
    element = html.Element(tag, attributes) if "{" not in tag else etree.Element(tag, attributes)
    element.text = text
    element.tail = tail
    element.extend(children)
    return element


def comment(text: str, tail: str) -> etree._Comment:
    node = etree.Comment(text.replace("-", ""))
    node.tail = tail
    return node


LEAVES = st.builds(build, st.sampled_from(TAGS), ATTRIBUTES, TEXT, TEXT, st.just([])) | st.builds(
    comment, XML_TEXT, TEXT
)
TREES = st.builds(
    build,
    st.sampled_from(TAGS),
    ATTRIBUTES,
    TEXT,
    TEXT,
    st.lists(
        st.recursive(
            LEAVES,
            lambda nodes: st.builds(
                build, st.sampled_from(TAGS), ATTRIBUTES, TEXT, TEXT, st.lists(nodes, max_size=4)
            ),
        ),
        max_size=4,
    ),
)


@given(TREES)
def test_stylesheet_and_walk_agree_and_change_nothing(tree: etree._Element):
    before = etree.tostring(tree)
    assert marked_text(tree) == walked_text(tree)
    assert etree.tostring(tree) == before


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [f"<{tag}>" for tag in TAGS[:20]]
            + [f"</{tag}>" for tag in TAGS[:20]]
            + ["text", " ", "<!--x-->", "<a href=/x>", "<p hidden>", "&nbsp;", "<div id=app>"]
            + ["<template shadowrootmode=open>", "<script type=application/json>", "__x=1"]
        )
    ).map("".join)
)
def test_they_agree_on_pages(markup: str):
    tree = parse(markup)
    if tree is not None:
        assert marked_text(tree) == walked_text(tree)


def test_a_part_of_a_tree_ends_where_its_element_ends():
    part = html.fromstring("<div>before<p>one <b>two</b></p>after</div>")[0]
    assert marked_text(part) == walked_text(part) == f"{OPEN}p {OPEN}one two{CLOSE}"


def test_links_lead_away():
    tree = html.fromstring('<p><a href="/x">1</a><a href="#x">2</a><a name="x">3</a><a>4</a></p>')
    assert marked_text(tree) == f"{OPEN}p {OPEN}{LINK}1{UNLINK}23{LINK}4{UNLINK}{CLOSE}"


def test_hidden_parts_shadow_roots_and_scripts():
    tree = html.fromstring(
        "<section><p hidden>1</p><noscript>2</noscript><template>3</template>"
        "<template shadowrootmode=OPEN>4</template><div id=app> </div><div id=x>5</div>"
        "<script>code</script><script type=application/json>{}</script></section>"
    )
    expected = (
        f"{OPEN}section  {OPEN}{HIDE}{OPEN}p {OPEN}1{CLOSE}{UNHIDE}"
        f"{HIDE}{OPEN}noscript {OPEN}2{CLOSE}{UNHIDE}{HIDE}{OPEN}template {OPEN}3{CLOSE}{UNHIDE}"
        f"{OPEN}template {OPEN}4{CLOSE}{SCRIPT}app{UNSCRIPT}{OPEN}div  {OPEN} {CLOSE}"
        f"{OPEN}div  {OPEN}5{CLOSE}"
        f"{SCRIPT}{OPEN}{UNSCRIPT}{SCRIPT}application/json{OPEN}{{}}{UNSCRIPT}{CLOSE}"
    )
    assert marked_text(tree) == walked_text(tree) == expected


def nested(depth: int) -> etree._Element:
    tree = element = html.Element("div")
    for _ in range(depth):
        element = etree.SubElement(element, "div")
    element.text = "deep"
    return tree


def test_trees_of_any_depth():
    assert marked_text(nested(20_000)).endswith(CLOSE * 20_001)


def test_deep_trees_in_a_thread_with_a_small_stack():
    found = []
    usual = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(marked_text(nested(2000))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(usual)
    assert found == [walked_text(nested(2000))]


@example("\uf800\uf801\uf802\uf803")
@given(st.text(st.characters(min_codepoint=0xE000, max_codepoint=0xFDEF), min_size=1))
def test_private_use_characters_of_a_page_are_just_text(text: str):
    tree = html.Element("p", {"class": text})
    tree.text = text
    assert marked_text(tree) == f"{OPEN}p {OPEN}{text}{CLOSE}"
    div = html.Element("div", {"class": text})
    assert marked_text(div) == f"{OPEN}div {text} {OPEN}{CLOSE}"


def test_entity_references_that_were_not_resolved():
    parser = etree.XMLParser(resolve_entities=False)
    tree = etree.fromstring(b'<!DOCTYPE p [<!ENTITY e "x">]><p>a&e;b<b>c</b>&e;d</p>', parser)
    assert marked_text(tree) == walked_text(tree) == f"{OPEN}p {OPEN}abcd{CLOSE}"
