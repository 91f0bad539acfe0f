"""How a page is cut into blocks and containers, and which of these are page frame."""

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from text_samples import blocks_of, texts_of

from dedup_filter.text.blocks import NOWHERE, split_blocks, text_hash
from dedup_filter.text.decode import parse
from dedup_filter.text.headlines import part_hash
from dedup_filter.text.marked_text import LINK, marked_text
from dedup_filter.text.plain_text import normalize
from dedup_filter.text.reading import read_page

UNSEEN = (
    "<script>var a</script><style>p {}</style><noscript>no</noscript><!-- comment -->"
    "<template><p>x</p></template><svg><title>icon</title>x</svg>"
    "<select><option>one<option>two</select><video>no</video><iframe>no</iframe>"
    "<div hidden><p>x</p></div>"
)
PICTURE = (
    "<text>one <tspan>two</tspan></text><text><tspan x=0>three</tspan><tspan dy=1em>four</tspan>"
    "</text><foreignObject><div><b>five</b></div></foreignObject>"
)
BEFORE = "More than anything that is hidden"


@pytest.mark.parametrize(
    ("markup", "texts"),
    [
        ("<div>a <b>b</b>c<p>d</p>e<ul><li>f<li>g</ul></div>", ["a bc", "d", "e", "f", "g"]),
        ("<p>  one\n\t two<br>three<br/>\xa0four </p>", ["one two", "three", "four"]),
        ("<h1>one<br>two</h1><h2>three<br>four</h2><br>five", ["one two", "three four", "five"]),
        ("<pre>one\n  two\r\n\nthree<b>\nfour</b></pre>", ["one", "two", "three", "four"]),
        ("<xmp>one\ntwo</xmp><pre><p>one\ntwo</p></pre>", ["one", "two", "one two"]),
        (
            "<p>one <span style='display: block'>two</span>three<b style=display:flex>four</b>",
            ["one", "two", "three", "four"],
        ),
        (
            "<p>one<i style='display: inline-block'>two</i><u style='color: red'>three</u></p>",
            ["onetwothree"],
        ),
        ("<td>one<br>two<ul><li>three<br><br>four", ["one", "two", "three", "four"]),
        (f"<p>{BEFORE}</p>{UNSEEN}<p>after</p>", [BEFORE, "after"]),
        (
            "a<textarea>one\ntwo</textarea>b<object data=x>three</object>c",
            ["a", "one", "two", "b", "x", "three", "c"],
        ),
        (
            f"a<svg><title>t</title><desc>d</desc><g>{PICTURE}</g></svg>b",
            ["a", "one two", "three", "four", "five", "b"],
        ),
        ("<p><b>11</b><b>1</b> <i><b>H</b></i>i<i></i><span>2</span><i>x</i>", ["11 1 Hi2 x"]),
        ("<p>S<button>Add to cart</button><a href=/>Acme</a>!", ["S Add to cart Acme!"]),
    ],
)
def test_texts(markup, texts):
    assert texts_of(markup) == texts


def test_kinds():
    page = (
        "<h1>headline</h1><h3>heading</h3><p>paragraph</p><ul><li>item</ul><dl><dt>pair<dd>pair</dl>"
        "<table><caption>caption</caption><tr><td>cell</table><pre>code</pre><div>other</div>"
    )
    assert [block.kind for block in blocks_of(page)] == texts_of(page)


@pytest.mark.parametrize(
    ("markup", "counts"),
    [
        ("<p>one <a href=/>two three</a> four <a href=/>five</a></p>", [(5, 3)]),
        ("<p><button>send it</button></p><p><a href='#note'>in page</a></p>", [(2, 2), (2, 0)]),
        (
            "<div>x <a href='/'><div>one two</div><p>three</p> four</a> five</div>",
            [(1, 0), (2, 2), (1, 1), (2, 1)],
        ),
        # One that begins in a line goes on in the next.
        ("<p>one <a href=/>two<br>three<br></a>four</p>", [(2, 1), (1, 1), (1, 0)]),
    ],
)
def test_link_words(markup, counts):
    blocks = read_page(html.fromstring(f"<div>{markup}</div>")).blocks
    assert [(block.words, block.link_words) for block in blocks] == counts


def test_a_link_within_a_link_ends_that():
    tree = html.fromstring("<p><a href='/'>one <i></i> two</a> three</p>")
    tree[0][0].append(html.fromstring("<a href='/'>inner</a>"))
    assert [block.text for block in read_page(tree).blocks] == ["one inner two three"]
    (block,) = split_blocks(marked_text(tree).replace(LINK, "")).blocks
    assert (block.text, block.words, block.link_words) == ("one inner two three", 4, 0)


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


INVISIBLE = [
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "&shy;",
    "&#8203;",
    "&zwnj;",
]


@pytest.mark.parametrize("unseen", INVISIBLE)
@pytest.mark.parametrize(
    "text", ["33", "Cases per municipality", "می خواهم", "क् ष", "港口保持开放"]
)
def test_unseen_characters_make_no_difference(unseen, text):
    pages = [text, text[:1] + unseen + text[1:], unseen + text, f"{unseen} {text} {unseen}"]
    found = [blocks_of(f"<h1>{page}</h1><p>{page}</p>") for page in pages]
    assert {block.hash for blocks in found for block in blocks} == {text_hash(text)}
    assert [len(blocks) for blocks in found] == [2] * 4
    normal = {normalize(block.text) for blocks in found for block in blocks}
    assert normal == {normalize(text)}
    assert len({part_hash(page) for page in (text, f"{text[:1]}\u200b{text[1:]}")}) == 1


@pytest.mark.parametrize("unseen", INVISIBLE)
def test_a_block_of_unseen_characters_is_none(unseen):
    assert blocks_of(f"<p>{unseen}</p><td> {unseen} {unseen * 3}</td>") == []


def test_a_word_is_shown_as_its_author_joined_it():
    (block,) = blocks_of("<p>می\u200cخواهم</p>")
    assert block.text == "می\u200cخواهم"
