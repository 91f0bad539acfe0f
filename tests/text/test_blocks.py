import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from dedup_filter.text import Block, parse, tree_blocks
from dedup_filter.text.blocks import split_blocks
from dedup_filter.text.marked_text import LINK, marked_text


def blocks(markup: str) -> list[Block]:
    tree = parse(markup)
    assert tree is not None
    return tree_blocks(tree)


def texts(markup: str) -> list[str]:
    return [block.text for block in blocks(markup)]


def test_block_level_elements_part_text_and_inline_elements_do_not():
    assert texts("<div>a <b>b</b>c<p>d</p>e<ul><li>f<li>g</ul></div>") == [
        "a bc",
        "d",
        "e",
        "f",
        "g",
    ]


def test_of_a_heap_of_class_names_only_the_first_count():
    heap = "a" * 1_000_000
    (block,) = blocks(f'<div class="comments {heap}">text</div>')
    assert block.container.role.frame == "named"
    (block,) = blocks(f'<div class="{heap} comments">text</div>')
    assert block.container.role.frame == ""


def test_white_space_is_collapsed_and_line_breaks_are_white_space():
    assert texts("<p>  one\n\t two<br>three<br/>\xa0four </p>") == ["one two three four"]


@pytest.mark.parametrize(
    "markup",
    [
        "<script>var a</script>",
        "<style>p {}</style>",
        "<noscript>enable it</noscript>",
        "<template><p>x</p></template>",
        "<svg><title>icon</title><text>x</text></svg>",
        "<select><option>one<option>two</select>",
        "<textarea>x</textarea>",
        "<iframe src=x>no frames</iframe>",
        "<div hidden><p>x</p></div>",
        "<!-- comment -->",
    ],
)
def test_what_nobody_sees_is_no_text(markup: str):
    assert texts(f"<p>before</p>{markup}<p>after</p>") == ["before", "after"]


@pytest.mark.parametrize(
    ("markup", "kind"),
    [
        ("<title>x</title>", "title"),
        ("<h3>x</h3>", "heading"),
        ("<p>x</p>", "paragraph"),
        ("<ul><li>x</ul>", "item"),
        ("<dl><dt>x</dl>", "item"),
        ("<table><tr><td>x</table>", "cell"),
        ("<pre>x</pre>", "code"),
        ("<table><caption>x</caption></table>", "caption"),
        ("<div>x</div>", "other"),
    ],
)
def test_kind(markup: str, kind: str):
    assert [block.kind for block in blocks(markup)] == [kind]


def test_link_words():
    found = blocks(
        "<p>one <a href=/>two three</a> four <a href=/>five</a></p>"
        "<p><button>send it</button></p><p><a href='#note'>in page</a></p>"
    )
    assert [(block.words, block.link_words) for block in found] == [(5, 3), (2, 2), (2, 0)]


def test_a_link_around_blocks_holds_their_words():
    tree = html.fromstring("<div>x <a href='/'><div>one two</div><p>three</p> four</a> five</div>")
    assert [(b.text, b.link_words) for b in tree_blocks(tree)] == [
        ("x", 0),
        ("one two", 2),
        ("three", 1),
        ("four five", 1),
    ]


def test_links_within_links():
    tree = html.fromstring("<p><a href='/'>one <i></i> two</a> three</p>")
    inner = html.fromstring("<a href='/'>inner</a>")
    tree[0][0].append(inner)
    (block,) = tree_blocks(tree)
    assert block.text == "one inner two three"


def test_containers_know_their_blocks():
    found = blocks("<p>a</p><section><h2>b</h2><div><p>c</p>d</div></section><p>e</p>")
    a, b, c, d, e = found
    section = b.container.parent
    assert section is not None
    assert found[section.first : section.end] == [b, c, d]
    assert found[d.container.first : d.container.end] == [c, d]
    assert a.container.parent == e.container.parent


@pytest.mark.parametrize(
    ("markup", "is_frame"),
    [
        ("<nav><p>x</p></nav>", True),
        ("<footer><div class=content>x</div></footer>", True),
        ("<div class='Page-Footer wide'><ul><li>x</ul></div>", True),
        ("<div role=complementary>x</div>", True),
        ("<form>x</form>", True),
        ("<div class='has-comments'>x</div>", False),
        ("<div class='navigate commentary'>x</div>", False),
        ("<section id=comments>x</section>", False),
    ],
)
def test_frames(markup: str, is_frame: bool):
    (block,) = blocks(f"<article>{markup}</article>")
    assert (block.container.frame is not None) == is_frame


def test_a_page_is_freed_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        found = blocks("<nav><ul><li>menu</ul></nav><div class=comments><p>x</p></div>")
        assert found.pop().container.frame is not None
        del found
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_blocks_are_known_again_by_their_text():
    one, other, again = blocks("<p>The same\n text</p><p>another</p><li><b>The</b> same text")
    assert one.hash == again.hash != other.hash


def test_an_end_of_a_link_alone_ends_nothing():
    tree = html.fromstring("<p><a href='/'>one</a> two</p>")
    ((block,), _) = split_blocks(marked_text(tree).replace(LINK, ""))
    assert (block.text, block.words, block.link_words) == ("one two", 2, 0)


def test_tree_without_any_text():
    assert tree_blocks(html.Element("div")) == []


def test_tree_with_an_inline_root():
    tree = html.fromstring("<span>one <b>two</b></span>")
    assert [block.text for block in tree_blocks(tree)] == ["one two"]


MARKUP = st.lists(
    st.sampled_from(
        "<div> </div> <p> <a_href=/> </a> <ul><li> <td> </table> <table> one two \n".split(" ")
    )
).map(lambda pieces: "<body>x" + "".join(pieces).replace("_", " "))


@given(MARKUP)
def test_blocks_are_all_text_in_order(markup: str):
    found = blocks(markup)
    tree = parse(markup)
    assert tree is not None
    assert "".join("".join(block.text.split()) for block in found) == "".join(
        str(tree.text_content()).split()
    )
    assert [block.position for block in found] == list(range(len(found)))
    for block in found:
        assert block.container.first <= block.position < block.container.end
        assert block.words > 0
