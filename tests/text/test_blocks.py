"""How a page is cut into blocks and containers, and which of these are page frame."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from text_samples import blocks_of, texts_of

from dedup_filter.text import parse, read_page
from dedup_filter.text.blocks import NOWHERE, role_of, split_blocks
from dedup_filter.text.marked_text import LINK, marked_text


def test_block_level_elements_part_text_and_inline_elements_do_not():
    markup = "<div>a <b>b</b>c<p>d</p>e<ul><li>f<li>g</ul></div>"
    assert texts_of(markup) == ["a bc", "d", "e", "f", "g"]


def test_white_space_is_collapsed_and_line_breaks_are_white_space():
    assert texts_of("<p>  one\n\t two<br>three<br/>\xa0four </p>") == ["one two three four"]


def test_what_nobody_sees_is_no_text():
    unseen = (
        "<script>var a</script><style>p {}</style><noscript>no</noscript><!-- comment -->"
        "<template><p>x</p></template><svg><title>icon</title><text>x</text></svg>"
        "<select><option>one<option>two</select><textarea>x</textarea><iframe src=x>no</iframe>"
        "<div hidden><p>x</p></div>"
    )
    before = "More than anything that is hidden"
    assert texts_of(f"<p>{before}</p>{unseen}<p>after</p>") == [before, "after"]


def test_kinds():
    page = (
        "<h1>headline</h1><h3>heading</h3><p>paragraph</p><ul><li>item</ul><dl><dt>item</dl>"
        "<table><caption>caption</caption><tr><td>cell</table><pre>code</pre><div>other</div>"
    )
    assert [block.kind for block in blocks_of(page)] == texts_of(page)


def test_link_words():
    found = blocks_of(
        "<p>one <a href=/>two three</a> four <a href=/>five</a></p>"
        "<p><button>send it</button></p><p><a href='#note'>in page</a></p>"
    )
    assert [(block.words, block.link_words) for block in found] == [(5, 3), (2, 2), (2, 0)]


def test_links_around_blocks_and_within_links():
    tree = html.fromstring("<div>x <a href='/'><div>one two</div><p>three</p> four</a> five</div>")
    assert [(block.text, block.link_words) for block in read_page(tree).blocks] == [
        ("x", 0),
        ("one two", 2),
        ("three", 1),
        ("four five", 1),
    ]
    tree = html.fromstring("<p><a href='/'>one <i></i> two</a> three</p>")
    tree[0][0].append(html.fromstring("<a href='/'>inner</a>"))
    assert [block.text for block in read_page(tree).blocks] == ["one inner two three"]
    (block,) = split_blocks(marked_text(tree).replace(LINK, "")).blocks
    assert (block.text, block.words, block.link_words) == ("one inner two three", 4, 0)


def test_containers_know_their_blocks():
    found = blocks_of("<p>a</p><section><h2>b</h2><div><p>c</p>d</div></section><p>e</p>")
    a, b, c, d, e = found
    around = a.containers
    section = around.parents[b.inside]
    assert found[around.firsts[section] : around.ends[section]] == [b, c, d]
    assert found[around.firsts[d.inside] : around.ends[d.inside]] == [c, d]
    assert around.parents[a.inside] == around.parents[e.inside]


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
        # Of a heap of class names only the first count.
        (f'<div class="comments {"a" * 1_000_000}">x</div>', True),
        (f'<div class="{"a" * 1_000_000} comments">x</div>', False),
    ],
)
def test_frames(markup, is_frame):
    (block,) = blocks_of(f"<article>{markup}</article>")
    assert (block.containers.frames[block.inside] != NOWHERE) == is_frame


def test_the_sure_frame_around_all_and_the_named_one_within_all_count():
    around = blocks_of("<nav><div class=comments><nav>x</nav></div></nav>")[0].containers
    assert around.roles[around.frames[-1]] == role_of("nav ")
    assert around.parents[around.frames[-1]] == around.frames[-1] - 1
    assert around.frames[-1] < len(around.roles) - 2
    around = blocks_of("<form><div class=comments><p>x</p></div></form>")[0].containers
    assert around.frames[-1] == len(around.roles) - 2


def test_a_page_is_freed_without_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        found = blocks_of("<nav><ul><li>menu</ul></nav><div class=comments><p>x</p></div>")
        assert len(found) == 2
        del found
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_blocks_are_known_again_by_their_text():
    one, other, again = blocks_of("<p>The same\n text</p><p>another</p><li><b>The</b> same text")
    assert one.hash == again.hash != other.hash


def test_trees_without_text_or_with_an_inline_root():
    assert read_page(html.Element("div")).blocks == []
    tree = html.fromstring("<span>one <b>two</b></span>")
    assert [block.text for block in read_page(tree).blocks] == ["one two"]


MARKUP = st.lists(
    st.sampled_from(
        "<div> </div> <p> <a_href=/> </a> <ul><li> <td> </table> <table> one two \n".split(" ")
    )
).map(lambda pieces: "<body>x" + "".join(pieces).replace("_", " "))


@given(MARKUP)
def test_blocks_are_all_text_in_order(markup):
    tree = parse(markup)
    found = read_page(tree).blocks
    assert "".join("".join(block.text.split()) for block in found) == "".join(
        str(tree.text_content()).split()
    )
    assert [block.position for block in found] == list(range(len(found)))
    for block in found:
        first, end = block.containers.firsts[block.inside], block.containers.ends[block.inside]
        assert first <= block.position < end
        assert block.words > 0
