"""What of hidden text, noscript and script data is read, and what is counted instead."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import CHINESE, SECOND, page_of
from text_samples import FIRST as SENTENCE

from dedup_filter.text.script_data import prose_of

ARTICLE = f"{SENTENCE} {SECOND}"
FIRST = ARTICLE.partition(". ")[0]
OTHER = "Nobody had asked the farmers, who had been cutting reeds for fodder since the new year."
MENU = "<ul><li><a href=/>Home</a><li><a href=/n>News of the day</a></ul>"
LEGAL = "All rights in these pages are reserved"


def texts(markup) -> list[str]:
    return [block.text for block in page_of(f"{MENU}{markup}<p>{LEGAL}").blocks][2:]


def data(value: object) -> str:
    return f"<script type=application/json>{json.dumps(value)}</script>"


HIDDEN = [
    f"<div hidden id=S:0><p>{ARTICLE}</p></div>",
    f"<section><div hidden=until-found>{ARTICLE}</div></section>",
    f"<section><div style='opacity:0;display: none'>{ARTICLE}</div></section>",
    f"<noscript><p>{ARTICLE}</p></noscript>",
    "<x-a><template shadowrootmode=open>" * 50 + ARTICLE + "</template></x-a>" * 50,
]


STYLES = [
    "display:none",
    " Color: red;\n DISPLAY : None",
    "display: none !important; margin: 0",
    "margin:0;visibility:hidden",
    "Visibility: HIDDEN!important",
]
SHOWN = [
    "--display:none",
    "x-display: none",
    "display:none-x",
    "overflow:hidden",
    "background:url(display:none)",
    "text-decoration:none",
    "display:block",
    "visibility:visible",
]


@pytest.mark.parametrize("tag", "div p li td section h2 span b".split())
@pytest.mark.parametrize("text", [OTHER, CHINESE, "token f0e1"])
def test_a_style_hides_as_the_attribute_does(tag, text):
    def page(attribute):
        part = f"<{tag} {attribute}>{text}</{tag}>"
        return page_of(f"<p>{ARTICLE}</p><div>{part}</div><p>{LEGAL}</p>")

    hidden = page("hidden")
    assert hidden.unread_words > 0
    assert [block.text for block in page("").blocks] != [ARTICLE, LEGAL]
    for styled in (hidden, *(page(f'style="{style}"') for style in STYLES)):
        assert [block.text for block in styled.blocks] == [ARTICLE, LEGAL]
        unread = styled.unread_words, styled.unread_hash
        assert unread == (hidden.unread_words, hidden.unread_hash)


@pytest.mark.parametrize("style", SHOWN)
@pytest.mark.parametrize("tag", ["div", "span"])
def test_other_styles_hide_nothing(style, tag):
    page = page_of(f'<p>{ARTICLE}</p><div><{tag} style="{style}">{OTHER}</{tag}></div>')
    assert [block.text for block in page.blocks] == [ARTICLE, OTHER]
    assert page.unread_words == 0


def test_hidden_words_do_not_cut_the_sentence_around_them():
    page = page_of(f"<p>{FIRST} <span style='display:none'>(for robots)</span> {OTHER}</p>")
    assert [block.text for block in page.blocks] == [f"{FIRST} {OTHER}"]


@pytest.mark.parametrize("markup", HIDDEN)
def test_text_that_a_script_or_the_browser_shows_is_read_where_it_stands(markup):
    assert texts(markup) == [ARTICLE, LEGAL]
    assert page_of(MENU + markup).unread_words == 0


def test_cookie_dialogs_and_menus_do_not_count():
    dialog = f"<div hidden class=cookie-consent>{ARTICLE}</div><dialog hidden>{ARTICLE}</dialog>"
    menu = f"<div hidden>{MENU * 50}</div>"
    found = page_of(f"<p>{FIRST}</p>{dialog}{menu}")
    assert [block.text for block in found.blocks] == [FIRST]
    assert (found.unread_words, found.unread_hash) == (0, 0)


@pytest.mark.parametrize(
    "markup",
    [
        "<noscript><img src=http://tracker.example/p></noscript>",
        "<noscript>You need to enable JavaScript to run this application.</noscript>",
        "<noscript><p>Please enable <a href=/>Javascript</a> in your browser.</noscript>",
        "<noscript><style>p { opacity: 1 }</style></noscript>",
    ],
)
def test_pixels_and_notices_are_nothing(markup):
    assert texts(markup) == [LEGAL]
    found = page_of(MENU + markup)
    assert (found.unread_words, found.unread_hash) == (0, 0)
    # Nor do they part the text around them, or come with other hidden text.
    assert texts(f"one{markup} two") == ["one two", LEGAL]
    assert texts(markup + HIDDEN[0] + markup) == [ARTICLE, LEGAL]


@pytest.mark.parametrize("around", ["{}", "<div hidden>{}</div>", "<noscript>{}</noscript>"])
def test_templates_are_never_read_but_counted(around):
    inside = f"<template><li>{ARTICLE}<p hidden>of <b>them</b></p></template>"
    found = page_of(LEGAL + around.format(inside))
    assert [block.text for block in found.blocks] == [LEGAL]
    assert found.unread_words == len(ARTICLE.split()) + 2


DATA = data({"props": {"id": "a-1", "body": ARTICLE}})


@pytest.mark.parametrize("markup", [*HIDDEN[:3], DATA])
def test_beside_more_text_in_sight_it_is_counted_and_hashed(markup):
    shown, other = f"<p>{OTHER * 10}</p>", markup.replace("harbour", "port")
    found = page_of(shown + markup)
    assert [block.text for block in found.blocks] == [OTHER * 10]
    assert found.unread_words == len(ARTICLE.split())
    assert found.unread_hash not in (0, page_of(shown + other).unread_hash)
    assert found.unread_hash == page_of(shown * 2 + markup).unread_hash


ROWS = f"<table><tr id=list-S:1f><td>{ARTICLE}</table>"


@pytest.mark.parametrize(
    ("markup", "waits"),
    [
        (DATA, True),
        (f"<template>{ARTICLE}</template>", True),
        (f"<div hidden><template>{ARTICLE}</template></div>", True),
        # React streams what its script moves into sight.
        (f"<div hidden id=S:0><p>{ARTICLE}</p></div>", True),
        (f"<div hidden id=S:0><section><p hidden>{ARTICLE}</p></section></div>", True),
        (ROWS.replace("table", "table hidden", 1), True),
        (f"<div hidden>{ARTICLE}</div>", False),
        (f"<div hidden id=S:top>{ARTICLE}</div>", False),
        (f"<noscript>{ARTICLE}</noscript>", False),
    ],
)
def test_what_waits_for_a_script_is_counted_and_hashed_apart(markup, waits):
    shown = f"<p>{OTHER * 10}</p>"
    found = page_of(shown + markup)
    assert found.unread_words == len(ARTICLE.split())
    of_unread = found.unread_words, found.unread_hash
    assert (found.waiting_words, found.waiting_hash) == (of_unread if waits else (0, 0))
    dialog = f"<div hidden><p>{LEGAL}</p></div>"
    beside = page_of(shown + markup + dialog)
    assert beside.unread_hash != found.unread_hash
    assert (beside.waiting_words, beside.waiting_hash) == (found.waiting_words, found.waiting_hash)


def test_what_is_in_sight_is_not_read_again_from_script_data():
    found = page_of(f"<p>{ARTICLE.replace('. ', '.</p><p>')}</p>" + DATA)
    assert len(found.blocks) == 2
    assert found.unread_words == 0
    found = page_of(f"<p>{FIRST}.</p>" + DATA)
    assert [block.text for block in found.blocks][1:] == [ARTICLE.partition(". ")[2][:-1]]


def test_paragraphs_of_each_script_stand_in_a_container_of_their_own():
    found = page_of(DATA + data({"b": [OTHER, CHINESE]}))
    assert [block.text for block in found.blocks] == [ARTICLE, OTHER, CHINESE]
    assert {block.kind for block in found.blocks} == {"paragraph"}
    one, other, third = (block.containers.parents[block.inside] for block in found.blocks)
    assert (one != other, other == third) == (True, True)
    assert (found.unread_words, found.is_by_script) == (1, False)


CODE = "<script src=app.js></script>"


@pytest.mark.parametrize(
    ("markup", "is_hull"),
    [
        (f"<div id=root></div>{CODE}", True),
        (f"{MENU}<div id=app>\n</div><p>{FIRST}</p>{CODE}", True),
        (f"<div id=__next></div>{data({'name': 'Oak table', 'price': 90})}", True),
        (f"<noscript>{FIRST}: it works with JavaScript only.</noscript>{CODE}", True),
        (f"<p>Just a moment</p>{CODE}<div hidden>{FIRST}</div>", True),
        ("<p>Not found</p>", False),
        (f"<p>{OTHER} {OTHER}</p>{CODE}", False),
        (f"<div id=root></div>{CODE}<div hidden>{ARTICLE}</div>", False),
        (f"<div id=app></div>{data({'a': CHINESE * 3})}{data({'b': '港口保持开放'})}", False),
        (f"<div id=root></div><p>{ARTICLE} {ARTICLE}</p>{CODE}", False),
    ],
)
def test_hulls_are_made_by_script(markup, is_hull):
    assert page_of(markup).is_by_script == is_hull


PROSE = "Ice had closed the harbour for eleven weeks."


def found_in(data) -> list[str]:
    (texts,), _ = prose_of([data])
    return texts


@pytest.mark.parametrize(
    ("text", "is_prose"),
    [
        (PROSE, True),
        ("He said: “It wasn't me”, and (well) left in 1998.", True),
        ("港口保持开放，岛上没有人见过渡船。", True),
        ("ท่าเรือเปิดตลอดฤดูหนาวเพราะน้ำแข็ง", True),
        ("five words are too few", False),
        ("flex items-center justify-between px-4 py-2 bg-white md:p-8", False),
        ("https://a.example/one/two three-four five.js six_seven a/b c/d", False),
        ("M 10 20 L 30 40 C 1 2 3 4 5 6 Z", False),
        ("function (a, b) { return a + b; } // c == d", False),
        ("0 0 10px 4px rgba(0,0,0,.5), 0 1px #fff inset, a:b", False),
        ("query($id: ID!) { page(id: $id) { a_b, c_d } }", False),
    ],
)
def test_prose_is_read_and_no_other_strings_or_keys(text, is_prose):
    assert found_in(json.dumps({"a": text, PROSE: 1})) == [text] * is_prose
    assert found_in(json.dumps([text], ensure_ascii=False)) == [text] * is_prose


@given(st.text() | st.text('"\\{}[]:, ux0 <p>aé中\n'))
def test_any_string_of_json_is_read_as_json_reads_it_and_other_strings_do_no_harm(text):
    found_in(text)
    text = f"{PROSE} {text}".encode("utf-8", "replace").decode()
    if not set(text) & set("<[{"):
        assert found_in(json.dumps(text)) in ([text], [])


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (rf'x = "{PROSE} \x41 \q \u12 \' \ud800 \ud83d\ude00', [f"{PROSE} A q u12 ' ? 😀"]),
        (
            json.dumps(f"<h2>Ice</h2><p hidden>no</p><script>x</script><p>{PROSE}<br>So &amp; so."),
            ["Ice", PROSE, "So & so."],
        ),
        (f"x({json.dumps(json.dumps(json.dumps({'a': [PROSE]})))})", [PROSE]),
    ],
)
def test_escapes_markup_and_data_in_strings(data: str, texts: list[str]):
    assert found_in(data) == texts


def test_bounds_give_back_what_is_beyond():
    long, short = json.dumps([PROSE, "x" * 2**21, PROSE]), json.dumps(PROSE)
    assert prose_of([long, short]) == ([[PROSE], []], [long[2**20 :], short])


@pytest.mark.parametrize(
    "data",
    [
        '"' * 500_000,
        '\\"' * 500_000,
        '"\\' + "\\" * 500_000,
        "[" * 1_000_000,
        '["a",' * 200_000,
        '"a b c d e f g <a' * 50_000,
        '"' + "... " * 200_000,
        '"a b c d e f g' + "." * 1_000_000,
    ],
)
def test_heaps_take_no_time(data):
    assert found_in(data) == found_in(data)
