"""What of hidden text, noscript and script data is read, and what is counted instead."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_samples import CHINESE, page_of

from dedup_filter.text.concealed import prose_of

ARTICLE = (
    "The committee met on Tuesday to discuss how the harbour could be kept open during the"
    " winter months, when ice had closed it in three of the last five years. Several members said"
    " that an icebreaker would cost more than it saved, but the captain of the ferry told them"
    " that two farms on the island had run out of fodder in March."
)
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
    f"<noscript><p>{ARTICLE}</p></noscript>",
    f"<noscript>&lt;p class=a&gt;{ARTICLE}&lt;/p&gt;&lt;img src=x&gt;</noscript>",
]
SHADOWED = [
    f"<x-a><template shadowrootmode=open><p>{ARTICLE}</p></template></x-a>",
    f"<x-a><template shadowrootmode=CLOSED><slot></slot>{ARTICLE}</template></x-a>",
    "<x-a><template shadowrootmode=open>" * 50 + ARTICLE + "</template></x-a>" * 50,
]


@pytest.mark.parametrize("markup", [*HIDDEN, *SHADOWED])
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
        "<noscript>&lt;img src=http://tracker.example/p&gt;</noscript>",
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


DATA = [
    data({"props": {"id": "a-1", "body": ARTICLE}}),
    data([{"body": f"<h2 class=x>{FIRST}</h2>"}, [[ARTICLE.partition(". ")[2]]]]),
    f"<script type='application/ld+json'>[{{'a': 1, \"articleBody\": \"{ARTICLE}\"",
    f"<script>window.__NUXT__=(function(a){{return {{x:[{{t:{json.dumps(ARTICLE)}}}]}}}})</script>",
    f"<script>self.__next_f.push([1,{json.dumps('2:' + json.dumps(['$', ARTICLE]))}])</script>",
    f"<script>__STATE__ = JSON.parse({json.dumps(json.dumps({'a': [ARTICLE]}))})</script>",
    f"<script type=application/json>{'[' * 9_000}{json.dumps(ARTICLE)}{']' * 9_000}</script>",
]


@pytest.mark.parametrize("script", DATA)
def test_sentences_in_script_data_are_read(script):
    found = page_of(f"{MENU}<p>{LEGAL}</p>{script}")
    words = " ".join(block.text for block in found.blocks[3:]).replace(".", "").split()
    assert words == ARTICLE.replace(".", "").split()
    assert {block.kind for block in found.blocks[3:]} == {"paragraph"}
    assert (found.unread_words, found.is_by_script) == (0, False)


@pytest.mark.parametrize("markup", [*HIDDEN, DATA[0]])
def test_beside_more_text_in_sight_it_is_counted_and_hashed(markup):
    shown = f"<p>{OTHER * 10}</p>"
    found = page_of(shown + markup)
    assert [block.text for block in found.blocks] == [OTHER * 10]
    assert found.unread_words == len(ARTICLE.split())
    assert found.unread_hash not in (
        0,
        page_of(shown + markup.replace("harbour", "port")).unread_hash,
    )
    assert found.unread_hash == page_of(shown * 2 + markup).unread_hash


def test_what_is_in_sight_is_not_read_again_from_script_data():
    found = page_of(f"<p>{ARTICLE.replace('. ', '.</p><p>')}</p>" + DATA[0])
    assert len(found.blocks) == 2
    assert found.unread_words == 0
    found = page_of(f"<p>{FIRST}.</p>" + DATA[0])
    assert [block.text for block in found.blocks][1:] == [ARTICLE.partition(". ")[2][:-1]]


def test_paragraphs_of_each_script_stand_in_a_container_of_their_own():
    blocks = page_of(DATA[0] + data({"b": [OTHER, CHINESE]})).blocks
    assert [block.text for block in blocks] == [ARTICLE, OTHER, CHINESE]
    one, other, third = (block.containers.parents[block.inside] for block in blocks)
    assert one != other
    assert other == third


CODE = "<script src=app.js></script>"


@pytest.mark.parametrize(
    ("markup", "is_hull"),
    [
        (f"<div id=root></div>{CODE}", True),
        (f"<div id=root>Loading …</div>{CODE}", True),
        (f"{MENU}<div id=app>\n</div><p>{FIRST}</p>{CODE}", True),
        (f"<div id=__next></div>{data({'name': 'Oak table', 'price': 90})}", True),
        (f"<noscript>{FIRST}: it works with JavaScript only.</noscript>{CODE}", True),
        (f"<p>Just a moment</p>{CODE}<div hidden>{FIRST}</div>", True),
        ("<p>Not found</p>", False),
        (f"<p>{OTHER} {OTHER}</p>{CODE}", False),
        (f"<div id=root></div>{CODE}<div hidden>{ARTICLE}</div>", False),
        (f"<div id=root></div>{CODE}{DATA[0]}", False),
        (f"<div id=app></div>{data({'a': CHINESE * 3})}{data({'b': '港口保持开放'})}", False),
        (f"<div id=root></div><p>{ARTICLE} {ARTICLE}</p>{CODE}", False),
        (f"{MENU * 5}{CODE}", False),
    ],
)
def test_hulls_are_made_by_script(markup, is_hull):
    assert page_of(markup).is_by_script == is_hull


MARKUP = (
    "<div hidden>,</div>,<noscript>,</noscript>,<template>,</template>,<p>,<li>,&lt;p&gt;,\0,\\u12,"
    "<template shadowrootmode=open>,<script>__x=,<script type=application/json>,</script>"
)
PIECES = st.sampled_from([*MARKUP.split(","), '{"a": "', '"}', ARTICLE, OTHER, "a few words"])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_mixture_gives_a_page(markup):
    found = page_of(markup)
    positions = [block.position for block in found.blocks]
    assert positions == sorted(set(positions))
    assert (found.unread_hash == 0) == (found.unread_words == 0)


PROSE = "Ice had closed the harbour for eleven weeks."


def found_in(data) -> list[str]:
    (texts,), _ = prose_of([data])
    return texts


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "He said: “It wasn't me”, and (well) left in 1998.",
        "港口保持开放，岛上没有人见过渡船。",
        "ท่าเรือเปิดตลอดฤดูหนาวเพราะน้ำแข็ง",
    ],
)
def test_prose(text):
    assert found_in(json.dumps({"a": text})) == [text]
    assert found_in(json.dumps([text], ensure_ascii=False)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "five words are too few",
        "flex items-center justify-between px-4 py-2 bg-white md:p-8",
        "https://a.example/one/two three-four five.js six_seven a/b c/d",
        "M 10 20 L 30 40 C 1 2 3 4 5 6 Z",
        "function (a, b) { return a + b; } // c == d",
        "0 0 10px 4px rgba(0,0,0,.5), 0 1px #fff inset, a:b",
        "query($id: ID!) { page(id: $id) { a_b, c_d } }",
    ],
)
def test_what_is_not_prose(text):
    assert found_in(json.dumps({"a": text, PROSE: 1})) == []


@given(st.text())
def test_any_string_of_json_is_read_as_json_reads_it(text):
    text = f"{PROSE} {text}".encode("utf-8", "replace").decode()
    if not set(text) & set("<[{"):
        assert found_in(json.dumps(text)) in ([text], [])


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (
            rf'x = "{PROSE} \x41 \q \u12 \' \ud800 \ud83d\ude00',
            [f"{PROSE} A q u12 ' ? 😀"],
        ),
        (
            json.dumps(f"<h2>Ice</h2><p hidden>no</p><script>x</script><p>{PROSE}<br>So &amp; so."),
            ["Ice", f"{PROSE} So & so."],
        ),
        (f"x({json.dumps(json.dumps(json.dumps({'a': [PROSE]})))})", [PROSE]),
    ],
)
def test_escapes_markup_and_data_in_strings(data: str, texts: list[str]):
    assert found_in(data) == texts


def test_bounds_give_back_what_is_beyond():
    many = json.dumps([f"{PROSE} {number}" for number in range(10_000)])
    (first, second), unsearched = prose_of([many, json.dumps(PROSE)])
    assert (len(first), second) == (4_096, [])
    assert unsearched == [many, json.dumps(PROSE)]
    long = json.dumps([PROSE, "x" * 2**21, PROSE])
    assert prose_of([long]) == ([[PROSE]], [long[2**20 :]])


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


@given(st.text(st.sampled_from('"\\{}[]:, ux0 <p>aé中\n')))
def test_never_raises(data):
    found_in(data)
