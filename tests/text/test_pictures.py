"""Pages of a few words are known by their pictures, films and the pages in their frames."""

import pytest
from gate import slow
from made_text import prose
from text_samples import page_of, texts_of

from dedup_filter.text.reading import clean_text

SHOWN = [
    "<img src='{}'>",
    "<figure><a href=/big><img alt='' src='{}'></a></figure>",
    "<p>See <img class=x src='{}' width=640></p>",
    "<img src='data:image/gif;base64,R0' data-src='{}'>",
    "<video src='{}'></video>",
    "<video controls><source src='{}' type=video/mp4>No film</video>",
    "<audio src='{}'></audio>",
    "<iframe src='{}' width=560></iframe>",
    "<embed src='{}'>",
    "<object data='{}'></object>",
    "<table><tr><td><img src='{}'></table>",
]
FEW = ["Previous Next", prose(1, words=40), "上一张 下一张"]


def page(markup: str, text: str = "", title: str = "Gallery") -> str:
    head = "<nav><a href=/>Home</a> <a href=/all>All pictures</a></nav><img src=/logo.svg>"
    return f"<title>{title}</title>{head}<main><h1>Gallery</h1>{markup}<p>{text}</p></main>"


@pytest.mark.parametrize("markup", SHOWN)
@pytest.mark.parametrize(
    ("text", "known"),
    [
        (FEW[0], 4),
        (FEW[1], 0),
        (FEW[2], 0),
        *(slow(text, known) for text, known in zip(FEW, (0, 4, 4), strict=True)),
    ],
)
def test_other_pictures_are_other_pages(pages, markup, text, known):
    for number in range(known):
        other = page(markup.format(f"/x/{number}.jpg"), prose(7 + number), f"Other {number}")
        pages.see(f"https://a.example/x/{number}", html=other)
    addresses = ["/img/1.jpg", "/img/2.jpg", "https://cdn.example/img/1.jpg?w=3#x"]
    found = [
        pages.see(f"https://a.example/{n}", html=page(markup.format(address), text))
        for n, address in enumerate(addresses)
    ]
    assert [each.is_duplicate for each in found] == [False, False, True]
    assert (found[2].outcome, found[2].original) == ("exact", "https://a.example/0")


@pytest.mark.parametrize(
    ("markup", "paths"),
    [
        ("<img src=/a/b.png><video src=c.mp4></video>", ["/a/b.png", "c.mp4"]),
        ("<img src='//cdn.example/a.png;s=1?b=c'>", ["/a.png"]),
        ("<iframe src='https://v.example/embed/x7?auto=1'></iframe>", ["/embed/x7"]),
        ("<img src='https://a.example'><img src=/><img src=''><img>", []),
        ("<img src=data:image/png;base64,R0lG><iframe></iframe>", []),
        ("<img src=/p.gif width=1 height=1><img src=/q.gif width=0>", []),
        ("<iframe srcdoc='<p>two'></iframe>", ["two"]),
        ("<div hidden><img src=/a.png></div><noscript><img src=/a.png></noscript>", []),
        ("<template><img src=/a.png></template>", []),
        ("<iframe srcdoc='<img src=/a.png>'></iframe>", ["/a.png"]),
        ("".join(f"<img src=/{n}>" for n in range(1, 100)), [f"/{n}" for n in range(1, 65)]),
    ],
)
def test_pictures_are_blocks_where_they_stand(markup, paths):
    assert texts_of(f"<p>one</p>{markup}<p>three</p>") == ["one", *paths, "three"]
    assert texts_of(f"<p>{prose(1, words=60)}</p>{markup}")[1:] in ([], ["two"])


def test_the_logo_of_a_host_counts_for_nothing(pages):
    for number in range(3):
        about = f"<p>{prose(number + 1, words=45)}</p>"
        pages.see(f"https://a.example/{number}", html=page(about, "", f"Page {number}"))
    shown = page(f"<p>{prose(9, words=45)}</p>")
    whole = pages.see("https://a.example/7", html=shown.replace("<img src=/logo.svg>", ""))
    again = pages.see("https://a.example/8", html=shown)
    assert (whole.outcome, again.original) == ("new", "https://a.example/7")


def test_pictures_make_no_page_of_a_shell():
    images = "".join(f"<img src=/icons/{n}.svg>" for n in range(30))
    assert page_of(f"<p>Loading</p>{images}<script src=/app.js></script>").is_by_script


def test_clean_text_has_no_addresses():
    shown = page_of(page("<img src=/img/1.jpg>", FEW[1]))
    assert "/img/1.jpg" in [block.text for block in shown.blocks]
    assert clean_text(shown, [0] * len(shown.blocks)) == f"Gallery\n{FEW[1]}"
