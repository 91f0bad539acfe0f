"""Which images of a page belong to its main content, and what they are known by."""

from base64 import b64encode

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text import ImageSource, WantedParts, find_content, parse, read_page, tree_blocks
from dedup_filter.text.images import page_images

FIRST = (
    "The committee met on Tuesday to discuss how the harbour could be kept open during the"
    " winter months, when ice had closed it in three of the last five years."
)
SECOND = (
    "Several members said that an icebreaker would cost more than it saved, but the captain"
    " of the ferry told them that two farms on the island had run out of fodder in March."
)
MENU = "".join(f'<li><a href="/{n}"><img src="/{n}.svg">{n}</a></li>' for n in ("News", "Sport"))
URL = "https://a.example/news/ice.html"


def hashed(image):
    return xxhash.xxh3_64_intdigest(image if isinstance(image, bytes) else image.encode())


def images_of(markup, url=URL, **contents):
    wanted = WantedParts(images=ImageSource(url, contents))
    page = read_page(parse(markup), wanted)
    return list(page.document(find_content(page.blocks).main).images)


def test_images_of_an_article_count_and_those_of_its_frame_do_not():
    markup = f"""<body><nav><ul>{MENU}</ul></nav><footer><img src="/logo.png"></footer>
        <article><h1>Ice</h1><figure><img src="/lead.jpg"></figure><p>{FIRST}</p>
        <p>In a paragraph <img src="small.png"> {SECOND}</p>
        <figure><img src="last.jpg"><figcaption>The quay</figcaption></figure></article>
        <aside><p>Most read</p><img src="/advert.gif"></aside>
        <footer><img src="/seal.png"><p>All rights are reserved by the publisher.</p></footer>"""
    expected = ["/lead.jpg", "/news/small.png", "/news/last.jpg"]
    assert images_of(markup) == [hashed(f"https://a.example{path}") for path in expected]


def test_an_image_without_text_beside_it_belongs_to_what_is_around():
    picture = "<div><div><a href=/big><img src=lead.jpg></a></div></div>"
    article = f"<div><p>{FIRST}</p>{picture}<p>{SECOND}</p></div>"
    teasers = "".join(
        f"<div><img src={n}.jpg><a href=/{n}>Story {n} to read</a></div>" for n in range(9)
    )
    assert images_of(f"<div>{article}<div>{teasers}</div></div>") == [
        hashed("https://a.example/news/lead.jpg")
    ]


@pytest.mark.parametrize(
    ("base", "src", "absolute"),
    [
        ("", "a.png", "https://a.example/news/a.png"),
        ("", " /a.png\n", "https://a.example/a.png"),
        ("", "//cdn.example/a.png#x", "https://cdn.example/a.png"),
        ("", "https://b.example/a.png", "https://b.example/a.png"),
        ("/pictures/", "a.png", "https://a.example/pictures/a.png"),
        ("https://c.example/x/", "../a.png", "https://c.example/a.png"),
        ("http://[1/", "a.png", "https://a.example/news/a.png"),
        ("", "http://[1/a.png", "http://[1/a.png"),
    ],
)
def test_an_image_is_known_by_its_absolute_url(base, src, absolute):
    head = f'<base href="{base}">' if base else ""
    page = f"<html><head>{head}</head><body><p>{FIRST}</p><img src='{src}'><p>{SECOND}</p>"
    assert images_of(page) == [hashed(absolute)]


def test_an_image_is_known_by_its_bytes_where_they_are_given():
    page = f"<p>{FIRST}</p><img src=a.png><img src=b.png><p>{SECOND}</p>"
    wanted = [hashed(b"\x89PNG"), hashed("https://a.example/news/b.png")]
    assert images_of(page, **{"https://a.example/news/a.png": b"\x89PNG"}) == wanted
    assert images_of(page, **{"a.png": b"\x89PNG"}) == wanted


@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("data:image/png;base64," + b64encode(b"\x89PNG\0picture").decode(), b"\x89PNG\0picture"),
        ("DATA:image/gif;BASE64, R0lG", b"GIF"),
        ("data:image/svg+xml,%3Csvg/%3E", b"<svg/>"),
        ("data:image/png;base64,R0lGOA", b"GIF8"),
        ("data:image/png;base64,&", b"&"),
        ("data:", b""),
    ],
)
def test_an_image_in_its_own_address_is_known_by_its_content(url, content):
    assert images_of(f"<p>{FIRST}</p><img src='{url}'><p>{SECOND}</p>") == [hashed(content)]


@pytest.mark.parametrize(
    "image",
    [
        "<img>",
        "<img src=''>",
        "<noscript><img src=a.png></noscript>",
        "<template><img src=a.png></template>",
        "<div hidden><img src=a.png></div>",
        "<picture><source srcset=a.png></picture>",
    ],
)
def test_what_shows_no_image_gives_none(image):
    assert images_of(f"<p>{FIRST}</p>{image}<p>{SECOND}</p>") == []


def test_images_do_not_change_the_text_nor_the_tree():
    markup = f"<body>in<img src=a>side <a href=/b><img src=b></a><p>{FIRST}<img src=c></p></body>"
    tree = parse(markup)
    plain = [(block.text, block.words, block.link_words) for block in tree_blocks(tree)]
    page = read_page(tree, WantedParts(images=ImageSource(URL)))
    assert [(block.text, block.words, block.link_words) for block in page.blocks] == plain
    assert len(page.images) == 3
    assert tree.xpath("count(//img/text())") == 0


def test_an_image_without_text_around_it_belongs_to_nothing():
    assert images_of("<img src=a.png>") == []


def test_only_a_thousand_images_of_a_page_are_looked_at():
    page = f"<p>{FIRST}</p>" + "".join(f"<img src={n}.png>" for n in range(1100))
    assert len(images_of(page)) == 1000


def test_a_page_of_great_depth_has_no_images():
    page = "<div>" * 1500 + f"<p>{FIRST}</p><img src=a.png>"
    assert images_of(page) == []


def test_a_part_of_a_page_has_its_own_images():
    tree = parse(f"<div id=a><p>{FIRST}</p><img src=a></div><div><p>x</p><img src=b></div>")
    part = tree.get_element_by_id("a")
    assert [image.hash for image in page_images(part, ImageSource(URL))] == [
        hashed("https://a.example/news/a")
    ]


def test_bytes_of_images_are_not_kept_with_the_page():
    source = ImageSource(URL, {"a.png": b"GIF"})
    page = read_page(parse(f"<p>{FIRST}</p><img src=a.png>"), WantedParts(True, source))
    assert page.wanted.headings
    assert page.wanted.images.contents == {}
    assert [image.hash for image in page.images] == [hashed(b"GIF")]


PIECES = [
    *(
        "<div>|</div>|<p>|</p>|<nav>|</nav>|<a href=/>|</a>|<ul><li>|</ul>|<table><tr><td>|"
        "</table>|<noscript>|</noscript>|<pre>|<br>|<h1>|</h1>|<title>|</title>|<svg>|"
        "<!-- -->|<base href=http://b/c/>|<img>|<img src=''>|<img src=a.png>|"
        "<img src='http://[1/'>|<img src=data:,x>|word"
    ).split("|"),
    " ",
    FIRST,
    SECOND,
]


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_no_page_is_read_otherwise_because_of_its_images(pieces):
    tree = parse("".join(pieces))
    if tree is None:
        return
    plain, page = read_page(tree), read_page(tree, WantedParts(True, ImageSource(URL)))
    texts = [[(b.text, b.words, b.link_words, b.position) for b in p.blocks] for p in (plain, page)]
    assert texts[0] == texts[1]
    content = find_content(page.blocks).main
    found = page.document(content).images
    assert len(found) <= len(page.images) <= "".join(pieces).count("<img src")
    assert page.document([]).images == ()
    everything = page.document(page.blocks).images
    assert set(found) <= set(everything)
    count = len(tree_blocks(tree))  # the title's too, which may stand anywhere
    assert all(0 <= image.first <= image.end <= count for image in page.images)
