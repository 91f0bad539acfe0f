"""Pages of any condition -> tree -> document; which images belong to it."""

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from lxml.etree import LIBXML_VERSION
from text_samples import CHINESE, FIRST, MARKUP, SECOND, page_of

from dedup_filter.model import Document
from dedup_filter.text.content import find_content
from dedup_filter.text.decode import parse
from dedup_filter.text.reading import Page, read, read_page

PAGE = """<!DOCTYPE html>
<html lang="en-GB"><head><title>
  Ice &amp; harbours </title><script>var ice;</script></head>
<body><nav><a href="/">Home</a> <a href="/news">News</a></nav>
<h1>Ice</h1>
<p>The harbour was closed by ice for eleven weeks, and nobody on the island saw a ferry until the
<b>end of March</b>, when the wind turned.</p>
<p>There had been plans for an icebreaker, but the council found it too dear.</p>
<form>Search <input name="q"></form><footer>© 2020 Island News</footer>
</body></html>"""

XHTML = "http://www.w3.org/1999/xhtml"
MAIN = (
    "Ice\n"
    "The harbour was closed by ice for eleven weeks, and nobody on the island saw a ferry until"
    " the end of March, when the wind turned.\n"
    "There had been plans for an icebreaker, but the council found it too dear."
)


def extract(tree: etree._Element | etree._ElementTree) -> Document:
    """The document of a page of which nothing but its tree is known."""
    return with_main_text(read_page(tree))


def with_main_text(page: Page) -> Document:
    return page.document(find_content(page.blocks).main)


def whole_text(tree: etree._Element) -> str:
    return "\n".join(block.text for block in read_page(tree).blocks)


def document(markup: str) -> Document:
    return extract(parse(markup))


def test_all_of_a_page():
    assert document(PAGE) == Document(
        text=MAIN, title="Ice & harbours", language="en", headings=("Ice",)
    )
    tree = html.fromstring(PAGE)
    assert whole_text(tree) == f"Home News\n{MAIN}\nSearch\n© 2020 Island News"


def test_a_tree_and_parts_of_it_are_read_and_not_changed():
    tree = html.fromstring(PAGE)
    before = etree.tostring(tree.getroottree())
    assert extract(tree) == extract(tree.getroottree()) == document(PAGE)
    (heading,) = tree.iter("h1")
    assert extract(heading) == Document(text="Ice", headings=("Ice",))
    assert etree.tostring(tree.getroottree()) == before


def test_trees_of_xml():
    markup = PAGE.replace("<!DOCTYPE html>", "").replace('name="q"', 'name="q"/')
    xhtml = markup.replace("<html ", f'<html xmlns="{XHTML}" ')
    assert extract(etree.fromstring(xhtml)) == document(PAGE)
    feed = etree.fromstring("<rss><channel><title>T</title><item>some words</item></channel></rss>")
    assert "some words" in whole_text(feed)


@pytest.mark.parametrize(
    "tree",
    [
        *(html.Element("html"), etree.Comment("a comment"), etree.ElementTree()),
        *(etree.ProcessingInstruction("a", "b"), etree.Entity("amp")),
    ],
)
def test_nothing_to_extract(tree: etree._Element):
    assert extract(tree) == Document(text="")


@pytest.mark.parametrize(
    ("declared", "language"),
    [
        *(('lang="en"', "en"), ('lang="zh-Hans-CN"', "zh"), ('lang="PT_br"', "pt")),
        *(('lang=" de "', "de"), ('lang="yue"', "yue"), ('xml:lang="fr"', "fr")),
        *(('lang=""', None), ('lang="english"', None), ('lang="{{ lang }}"', None), ("", None)),
    ],
)
def test_declared_language(declared: str, language: str | None):
    assert document(f"<html {declared}><p>text").language == language


@pytest.mark.parametrize("given", [None, "", " ", "A\n b ", "x" * 300])
def test_a_title_that_is_given_is_that_of_a_text_or_of_html_without_one(given):
    title = {"A\n b ": "A b", "x" * 300: "x" * 200}.get(given, "")
    assert read(None, "Some text", None, title=given) == Document("Some text", title)
    for markup in ("<p>Some text", b"<p>Some text", parse("<p>Some text")):
        assert read(markup, None, None, title=given).title == title
    for markup in ("<title>Own</title>", b"<title>Own</title>", parse("<title>Own</title>a")):
        assert read(markup, None, None, title=given).title == "Own"


def test_title_is_the_first_and_not_that_of_a_picture():
    svg = "<svg><title>Icon</title></svg>"
    page = f"<body>{svg}<title>One</title><title>Two</title><p>text"
    assert document(page) == Document(text="text", title="One")


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("\ufeff<p>text", "text"),
        ("<p>網頁 page ページ 🙂👨\u200d👩\u200d👧</p>", "網頁 page ページ 🙂👨\u200d👩\u200d👧"),
        ("<p>&lt;p&gt; &amp;amp; &nbsp; &bogus;", "<p> &amp; &bogus;"),
        (f'<?xml version="1.0" encoding="GB2312"?><html xmlns="{XHTML}"><p>港 A & B', "港 A & B"),
        # What the page declares was for its bytes.
        ('<meta charset="utf-16"><p>联合国 größer', "联合国 größer"),
    ],
)
def test_odd_pages(markup: str, text: str):
    assert whole_text(parse(markup)) == text


@pytest.mark.parametrize(
    ("markup", "is_joined"),
    [
        (PAGE, False),
        (f"{PAGE}<div hidden>More words that nobody reads</div>", True),
        ("<p>…</p><footer>© 2020</footer>", True),
    ],
)
def test_all_blocks_are_joined_where_the_main_text_does_not_tell_as_much(markup, is_joined):
    tree = parse(markup)
    assert extract(tree).whole_text == (whole_text(tree) if is_joined else "")


def test_no_tree_of_nothing():
    nothing = ["", " \n\t", "\0\0", "<!-- only a comment -->", "<!DOCTYPE html>"]
    assert list(map(parse, nothing)) == [None] * 5


def test_equal_bytes_are_read_once():
    body = PAGE.encode()
    page, other = read(body, None, None), read(body, None, "text/html; charset=utf-16")
    assert read(bytes(bytearray(body)), None, None) is page is not other


def test_text_longer_than_libxml2_takes_by_default():
    assert len(document("<p>" + "w" * 11_000_000).text) == 11_000_000


URL = "https://a.example/news/ice.html"


def hashed(*urls):
    return [xxhash.xxh3_64_intdigest(url.encode()) for url in urls]


def images_of(markup):
    return list(with_main_text(page_of(markup, URL)).images)


def test_images_of_an_article_count_and_those_of_its_frame_do_not():
    menu = "".join(f'<li><a href="/{n}"><img src="/{n}.svg">{n}</a></li>' for n in ("a", "b"))
    teasers = "".join(
        f"<div><img src={n}.jpg><a href=/{n}>Story {n} to read</a></div>" for n in range(9)
    )
    # Without text beside it a picture belongs to what is around it.
    markup = f"""<body><nav><ul>{menu}</ul></nav><footer><img src="/logo.png"></footer>
        <article><h1>Ice</h1><figure><img src="/lead.jpg"></figure><p>{FIRST}</p>
        <div><div><a href=/big><img src=/news/big.jpg></a></div></div>
        <p>In a paragraph <img src="small.png"> {SECOND}</p>
        <figure><img src="last.jpg"><figcaption>The quay</figcaption></figure></article>
        <div>{teasers}</div><aside><p>Most read</p><img src="/advert.gif"></aside>
        <footer><img src="/seal.png"><p>All rights are reserved by the publisher.</p></footer>"""
    expected = ["/lead.jpg", "/news/big.jpg", "/news/small.png", "/news/last.jpg"]
    assert images_of(markup) == hashed(*(f"https://a.example{path}" for path in expected))


@pytest.mark.parametrize(
    ("base", "src", "absolute"),
    [
        ("", "a.png", "https://a.example/news/a.png"),
        ("", "//cdn.example/a.png#x", "https://cdn.example/a.png"),
        ("", "data:image/png;base64,R0lG", "data:image/png;base64,R0lG"),
        ("/pictures/", "a.png", "https://a.example/pictures/a.png"),
        ("https://c.example/x/", "../a.png", "https://c.example/a.png"),
        ("http://[1/", "a.png", "https://a.example/news/a.png"),
        ("", "http://[1/a.png", "http://[1/a.png"),
    ],
)
def test_an_image_is_known_by_its_absolute_url(base, src, absolute):
    head = f'<base href="{base}">' if base else ""
    page = f"<html><head>{head}</head><body><p>{FIRST}</p><img src='{src}'><p>{SECOND}</p>"
    assert images_of(page) == hashed(absolute)


def test_what_shows_no_image_gives_none():
    image = "<img src=a.png>"
    hidden = f"<div hidden>{image}</div><picture><source srcset=a.png></picture>"
    unread = f"<noscript>{image}</noscript><template>{image}</template>"
    nothing = f"<img><img src=' '>{unread}{hidden}"
    assert images_of(f"<p>{FIRST}</p>{nothing}<p>{SECOND}</p>") == []
    assert images_of("<img src=data:,x>") == []  # no text around


def test_only_a_thousand_images_of_a_page_are_looked_at():
    page = f"<p>{FIRST}</p>" + "".join(f"<img src={n}.png>" for n in range(1100))
    assert len(images_of(page)) == 1000


NESTED = [
    ("<dl><dd>", "</dd></dl>"),
    ("<div class=reply>", "</div>"),
    ("<ul><li>", ""),
    ("<table><tr><td>", "</table>"),
    ("<blockquote>", ""),
    ("<b>", ""),
    ("<font size=2><i>", ""),
    ("<button>", ""),
    ("<x-part>", "</x-part>"),
    # End tags that close nothing.
    ("<div></b>", ""),
    ("<section></p></div>", "</section>"),
]


@pytest.mark.parametrize(("start", "end"), NESTED)
def test_text_below_the_levels_of_the_parser_is_read(start, end):
    link = '<a href="/next">Next &amp; last</a>'
    deep = f"{start * 3_000}<p>{FIRST}</p>{link}{end * 3_000}<p>{SECOND}</p>"
    for text in (FIRST, CHINESE):
        page = page_of(f"<title>Talk</title><nav>Home</nav><h1>Ice</h1>{deep.replace(FIRST, text)}")
        found = [block.text for block in page.blocks]
        assert (page.title, found[:2], found[-1]) == ("Talk", ["Home", "Ice"], SECOND)
        # A libxml2 without the limit reads all levels, and text far below them without its links.
        links = [block.link_words for block in page.blocks if block.text == "Next & last"]
        assert links in ([3], [] if LIBXML_VERSION < (2, 14) else [3])
        assert text in "\n".join(found)


@pytest.mark.parametrize("tag", ["<a", "<div", "<div <", "<div>", "<a href=/>", "</div>", "< div"])
def test_many_tags_that_are_never_closed_take_linear_time(tag):
    page = page_of(f"{'<div>' * 3_000}{tag * 20_000}> <p>{SECOND}")
    assert [block.text for block in page.blocks][-1:] in ([SECOND], [])


def measures(page):
    blocks = [(b.text, b.words, b.link_words, b.position, b.kind) for b in page.blocks]
    return blocks, page.title, page.unread_words, page.unread_hash


@given(
    MARKUP | st.text() | st.text(st.sampled_from("<>/=\"'& divpanvtlesc!-é中\0\ud800\ue000\uf800"))
)
def test_any_mixture_gives_a_page_which_is_not_read_otherwise_because_of_its_images(markup):
    tree = parse(markup)
    assert tree is None or tree.tag == "html"
    page = page_of(markup, URL)
    assert measures(page) == measures(page_of(markup))
    positions = [block.position for block in page.blocks]
    assert positions == sorted(set(positions))
    assert (page.unread_hash == 0) == (page.unread_words == 0)
    assert (page.waiting_hash == 0) == (page.waiting_words == 0)
    shown = sum(block.words for block in page.blocks)
    assert page.waiting_words <= max(page.unread_words, 2 * shown + 1)
    found = with_main_text(page).images
    assert len(found) <= len(page.images) <= markup.count("<img src")
    assert page.document([]).images == ()
    assert set(found) <= set(page.document(page.blocks).images)
