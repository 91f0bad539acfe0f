"""Marked text is what a walk over the tree writes, for any tree, and nothing in it is changed."""

import re
import threading

from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree, html

from dedup_filter.text.blocks import split_blocks
from dedup_filter.text.decode import parse
from dedup_filter.text.marked_text import (
    CLOSE,
    HIDE,
    IMAGE,
    LINK,
    OPEN,
    SCRIPT,
    UNHIDE,
    UNIMAGE,
    UNLINK,
    UNSCRIPT,
    marked_text,
    parts_of,
)
from dedup_filter.text.plain_text import LINE_END

XHTML = "{http://www.w3.org/1999/xhtml}"
NAMED = "div ul td table section nav".split()
BLOCKS = (
    "html body tbody p h1 hr li td tr title pre noscript template textarea object".split() + NAMED
)
ATTRIBUTES_OF = {"img": ["alt"], "input": ["value", "alt"]}
IN_PICTURES = "text tspan a div p li td span b".split()
TAGS = (
    "div p span a b br li ul td tr table h1 title script style noscript nav section button"
    f" template template pre hr x-y svg text tspan textarea object select input img"
    f" {XHTML}p {XHTML}a {{urn:x}}p"
).split()
ATTRIBUTES = st.dictionaries(
    st.sampled_from(
        [
            "class",
            "id",
            "role",
            "hidden",
            "href",
            "name",
            "src",
            "type",
            "style",
            "alt",
            "value",
            "x",
        ]
    ),
    st.sampled_from(["", "#", "#top", "/a", "nav comments", " x\n y ", "<&>'\"", "联合", "a/json"])
    | st.sampled_from(["S:", "S:0", "reader-S:1f", "S:top", "s:0"])
    | st.sampled_from(["display: block", "color: red;display:inline-table", "x;display:table-row"])
    | st.sampled_from(["--display:none", "x:y; Display : NONE", "visibility:hidden !important"]),
    max_size=3,
) | st.sampled_from([{"shadowrootmode": mode} for mode in ("open", "Closed", "İpen", "none")])
TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
) | st.sampled_from(
    ["", " ", "\n\t", "a b", "<p>", "\ue000\uf800\uf801", "&amp;", "__a = {}", "x" * 299 + "__"]
)


BEGIN, END = "\ud800", "\ud801"  # of an element in a line; no text has them


def apart(walked_text):
    """Write a space where two elements in a line touch with letters or digits."""
    written, closed, opened = "", 0, 0
    for sign in walked_text:
        if sign == BEGIN:
            opened += 1
        elif sign == END:
            closed, opened = (closed, opened - 1) if opened else (closed + 1, 0)
        else:
            touch = closed and opened and written[-1:].isalnum() and sign.isalnum()
            written, closed, opened = written + " " * bool(touch) + sign, 0, 0
    return written


def walked(element, with_images):
    """Write marked text node by node."""
    namespace, _, tag = str(element.tag).rpartition("}")
    tag = tag if namespace in ("", XHTML[:-1]) else ""
    leaf = written_whole(element, tag, with_images)
    if leaf is not None:
        return leaf
    get = element.get
    inside = element.text or ""
    if tag in ("img", "input"):
        inside = "".join(note(normalized(get(name, ""))) for name in ATTRIBUTES_OF[tag]) + inside
    for child in element:
        inside += walked(child, with_images) + (child.tail or "")
    style = get("style", "").replace(" ", "")
    if tag not in BLOCKS:
        leads_away = "name" not in element.attrib
        if "href" in element.attrib:
            leads_away = not get("href").startswith("#")
        is_link = tag == "button" or (tag == "a" and leads_away)
        gap, line = " " * (tag == "button"), LINE_END * (tag == "br")
        inside = f"{gap}{LINK}{inside}{UNLINK}{gap}" if is_link else f"{line}{inside}"
        is_line = tag in ("b", "span") and ("y:block" in style or "y:table" in style)
        block = f"{OPEN}{tag} {OPEN}{inside}{CLOSE}"
        if tag in ("b", "span") and is_concealed(element):
            return f"{HIDE}{block}{UNHIDE}"
        within = f"{BEGIN}{inside}{END}" if tag in ("b", "span") else inside
        return block if is_line else within
    is_empty = tag == "div" and "id" in element.attrib and not element.xpath("*")
    is_empty = is_empty and not str(element.xpath("normalize-space()"))
    names = f"{get('class', '')} {get('role', '')}" if tag in NAMED else ""
    rest = f"{OPEN}{inside}{CLOSE}"
    block = f"{OPEN}{tag} {names}{rest}"
    if tag == "template":
        is_hidden = get("shadowrootmode", "").encode().lower() not in (b"open", b"closed")
    else:
        is_hidden = tag == "noscript" or is_concealed(element)
    root = f"{SCRIPT}{get('id')}{UNSCRIPT}" if is_empty else ""
    ids = [each.get("id", "") for each in (element, *element) if isinstance(each.tag, str)]
    streamed = "S:" if tag in NAMED and any(re.fullmatch(".*S:[0-9a-f]*", i) for i in ids) else ""
    hidden = f"{HIDE}{OPEN}{tag} {names}{streamed}{rest}{UNHIDE}"
    return root + (hidden if is_hidden else block)


def is_concealed(element):
    """Return whether an attribute of an element hides it."""
    style = element.get("style", "").encode().lower().decode()
    rules = [rule.split("!")[0].partition(":") for rule in re.sub("[ \t\n]", "", style).split(";")]
    hidden = [("display", ":", "none"), ("visibility", ":", "hidden")]
    return "hidden" in element.attrib or any(rule in hidden for rule in rules)


def written_whole(element, tag, with_images):
    """Write an element whose inside is no part of the text around; None: it is another one."""
    get, found = element.get, None
    src = " ".join((get("src") or "").split())
    if not isinstance(element.tag, str) or tag == "style":
        found = ""
    elif tag == "svg":
        found = picture(element)
    elif tag == "select":
        texts = element.xpath("descendant::text()")
        found = note("".join(f"{normalized(text)}\n" for text in texts))
    elif tag == "script":
        data = str(element.xpath("string()"))
        is_json = "json" in get("type", "")
        data = data if is_json or "__" in data[:300] else ""
        found = f"{SCRIPT}{'json' * is_json}{OPEN}{data}{UNSCRIPT}"
    elif with_images and tag == "img" and src:
        found = f"{note(normalized(get('alt', '')))}{IMAGE}{src}{UNIMAGE}"
    return found


def note(text):
    return f"{SCRIPT}note{OPEN}{text}{UNSCRIPT}" if text.strip("\n") else ""


def normalized(text):
    """Return a text as XPath's normalize-space() does."""
    return " ".join(filter(None, re.split("[ \t\r\n]+", text)))


def picture(element):
    """Write the shown text of a picture, each text node by itself."""
    if not element.xpath("descendant::text"):
        return ""
    written = f"{OPEN}svg {OPEN}"
    for node in element.xpath("descendant::node()"):
        if isinstance(node, str):
            parent = node.getparent()
            parent = parent.getparent() if node.is_tail else parent
            written += node if parent.tag in IN_PICTURES else ""
        elif node.tag in ("text", "div", "p", "li", "td"):
            written += f"{CLOSE}{OPEN}text {OPEN}"
        elif node.tag == "br" or (node.tag == "tspan" and "x" in node.attrib):
            written += LINE_END
    return written + CLOSE


def build(tag, attributes, text, tail, children):
    element = html.Element(tag, attributes) if "{" not in tag else etree.Element(tag, attributes)
    element.text, element.tail = text, tail
    element.extend(children)
    return element


def comment(text, tail):
    node = etree.Comment(text.replace("-", ""))
    node.tail = tail
    return node


def trees(children):
    return st.builds(build, st.sampled_from(TAGS), ATTRIBUTES, TEXT, TEXT, children)


LEAVES = trees(st.just([])) | st.builds(comment, TEXT, TEXT)
TREES = trees(
    st.lists(st.recursive(LEAVES, lambda nodes: trees(st.lists(nodes, max_size=4))), max_size=4)
)


@example(
    parse('<a href="/x">1</a><a href="#x">2</a><a name="x">3</a><a>4</a><div id=app> </div>'), False
)
@example(parse("<p hidden>1</p><noscript>2</noscript><template>3</template><div id=x>5"), False)
@example(
    parse("<template shadowrootmode=OPEN>4</template><script type=application/json>{}</script>"),
    False,
)
@given(TREES, st.booleans())
def test_it_is_what_a_walk_writes_and_changes_nothing(tree, with_images):
    before = etree.tostring(tree)
    assert marked_text(tree, with_images=with_images) == apart(walked(tree, with_images))
    assert etree.tostring(tree) == before


def test_a_part_of_a_tree_ends_where_its_element_ends():
    part = html.fromstring("<div>before<p>one <b>two</b></p>after</div>")[0]
    assert marked_text(part) == f"{OPEN}p {OPEN}one two{CLOSE}"


def nested(depth, deepest):
    tree = element = html.Element("div")
    for _ in range(depth - 1):
        element = etree.SubElement(element, "div")
    element.extend(html.fragments_fromstring(deepest))
    return tree


def test_what_is_deeper_than_256_levels_is_written_as_blocks_in_a_row():
    inside = (
        "<p>1 <b>2</b><br>3</p><div class=a><h1>4 <a href=/>5</a></h1></div><script>no</script>"
        "<ul><li>6</ul>"
    )
    tree = nested(253, inside)
    assert marked_text(tree) == apart(walked(tree, with_images=False))
    for depth in (254, 256):
        visible = parts_of(marked_text(nested(depth, inside))).visible
        blocks = split_blocks(visible).blocks
        kinds = [(block.text, block.link_words, block.kind) for block in blocks]
        lines = [("1 2", 0, "paragraph"), ("3", 0, "paragraph")]
        assert kinds == [*lines, ("4 5", 1, "headline"), ("6", 0, "item")]


def test_trees_of_any_depth_in_a_thread_with_a_small_stack():
    found = []
    usual = threading.stack_size(512 * 1024)
    try:
        tree = nested(5_000, "<p>deep</p>")
        thread = threading.Thread(target=lambda: found.append(marked_text(tree)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(usual)
    assert split_blocks(found[0]).blocks[0].text == "deep"


@example("\uf800\uf801\uf802\uf803")
@given(st.text(st.characters(min_codepoint=0xE000, max_codepoint=0xFDEF), min_size=1))
def test_private_use_characters_of_a_page_are_just_text(text):
    div = html.Element("div", {"class": text})
    div.text = text
    assert marked_text(div) == f"{OPEN}div {text} {OPEN}{text}{CLOSE}"


def test_entity_references_that_were_not_resolved():
    parser = etree.XMLParser(resolve_entities=False)
    tree = etree.fromstring(b'<!DOCTYPE p [<!ENTITY e "x">]><p>a&e;b<b>c</b>&e;d</p>', parser)
    assert marked_text(tree) == f"{OPEN}p {OPEN}abcd{CLOSE}"
