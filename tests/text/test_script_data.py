"""What of the data of scripts identifies a page, and what changes with each fetch."""

import json

import pytest
from made_text import prose
from text_samples import page_of

from dedup_filter.text.script_data import prose_of, values_of

LAMP = {"id": 7, "sku": "OAK-7", "name": "Oak lamp", "price": 107.5, "tags": ["new", "red"]}
STATE = {"page": "/product/[sku]", "product": LAMP}


def values(data: object) -> list[str]:
    return values_of([json.dumps(data)]).splitlines()


def test_values_are_names_codes_and_numbers():
    assert values(STATE) == sorted(
        ["/product/[sku]", "7", "OAK-7", "Oak lamp", "107.5", "new", "red"]
    )


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda data: f"window.__STATE__ = {json.dumps(data)};",
        lambda data: f"__S__ = JSON.parse({json.dumps(json.dumps(data))})",
        lambda data: json.dumps(data, indent=2),
        lambda data: json.dumps(dict(reversed(data.items()))),
    ],
)
def test_they_do_not_depend_on_how_the_data_is_written(write):
    assert values_of([write(STATE)]) == values_of([json.dumps(STATE)])


TOKENS = [
    ("csrfToken", "plain", "other"),
    ("_token", "aB", "cD"),
    ("sessionId", 18, 19),
    ("request_id", "7", "8"),
    ("x", "hKGKr04Xrulo7sFB", "MMwUtdRt1bBA1jQS"),
    ("x", "8af2c91be3", "9bd0c1aa42"),
    ("x", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "5a1104e0-1f89-41d3-8a0c-0305e82c33ff"),
    ("src", "/static/main-8af2c91be3.js", "/static/main-0bf2c91b77.js"),
    ("x", "2026-05-03T10:11:12.345Z", "2026-05-03T10:11:14.001Z"),
    ("x", "2026-05-03 10:11:12+02:00", "2026-05-03 10:12:41+02:00"),
    ("x", 1767225600123, 1767225688456),
    ("x", 1767225600, 1767225688),
    ("x", 0.8437293847561, 0.1293847561243),
    ("now", 5, 6),
]
NAMES = [
    ("sku", "OAK-7", "OAK-8"),
    ("sku", "SKU-2026-00017", "SKU-2026-00018"),
    ("model", "WH1000XM5", "WH1000XM6"),
    ("gtin", "4006381333931", "4006381333948"),
    ("name", "Oak lamp", "Elm lamp"),
    ("name", "橡木台灯", "榆木台灯"),
    ("price", 107, 108),
    ("price", "1.299,00", "1.399,00"),
    ("price", 12.5, 12.25),
    ("url", "/lamps/oak-lamp-2026-edition", "/lamps/elm-lamp-2026-edition"),
    ("starts", "2026-12-10T19:30:00", "2026-12-11T19:30:00"),
    ("starts", "2026-12-10T19:30:00+01:00", "2026-12-10T20:30:00+01:00"),
    ("starts", "2026-12-10T19:30:00.000Z", "2026-12-10T20:30:00.000Z"),
    ("where", "52.52000", "48.13743"),
    ("x", "internationalisation", "internationalization"),
]


@pytest.mark.parametrize(("key", "one", "other"), TOKENS)
def test_a_token_makes_no_difference(key, one, other):
    assert values({"a": LAMP, key: one}) == values({"a": LAMP, key: other})
    assert values({"a": [{"b": {key: one}}, 5]}) == values({"a": [{"b": {key: other}}, 5]})


@pytest.mark.parametrize(("key", "one", "other"), NAMES)
def test_a_name_or_a_number_makes_a_difference(key, one, other):
    assert values({"a": LAMP, key: one}) != values({"a": LAMP, key: other})
    assert values({"session": {key: one}, "x": 5}) != values({"session": {key: other}, "x": 5})


def shell(product: dict, build: str, shown: str = "", about: str = "") -> str:
    state = {"props": {**product, "description": about}, "buildId": build}
    return (
        f"<title>Shop</title><div id=root>{shown}</div>"
        f"<script id=__NEXT_DATA__ type=application/json>{json.dumps(state)}</script>"
        "<script src=/app.js></script>"
    )


@pytest.mark.parametrize(
    ("shown", "about"),
    [("", prose(1, words=70)), (f"<p>{prose(2, words=40)}</p>", ""), ("", "港口" * 60 + "。")],
)
@pytest.mark.parametrize("key", ["sku", "name", "price"])
def test_a_shell_repeats_another_with_equal_values(pages, shown, about, key):
    other = {**LAMP, key: 5}
    states = [(LAMP, "hKGKr04Xrulo7sFB"), (other, "hKGKr04Xrulo7sFB"), (LAMP, "MMwUtdRt1bBA1jQS")]
    found = [
        pages.see(f"https://a.example/{n}", html=shell(*state, shown, about))
        for n, state in enumerate(states)
    ]
    assert [each.outcome for each in found] == ["new", "new", "exact"]
    assert found[2].original == "https://a.example/0"


def test_beside_more_text_values_are_not_compared(pages):
    about, long = f"<p>{prose(3, words=70)}</p>", prose(4, words=250)
    for shown, read in (about, ""), ("", long):
        one, other = (page_of(shell(LAMP | {"price": n}, "b", shown, read)) for n in (1, 2))
        assert one.unread_hash == other.unread_hash
        assert one.waiting_words == 0


ABOUT = (
    "We tell you around the clock what has happened in the valley and in the towns of the coast."
)
STORY = "Ice had closed the harbour for eleven weeks, and the ferry waited for the end of March."


@pytest.mark.parametrize(
    "around",
    [
        lambda site, story: [site, story],
        lambda site, story: {"@context": "https://schema.org", "@graph": [story, site]},
        lambda site, story: {**story, "publisher": site, "author": [site, site]},
        lambda site, story: {**story, "isPartOf": {"@type": "WebPage", "about": site}},
        lambda site, story: {"html": json.dumps([site, story])},
        lambda site, story: [{**site, "address": {"@type": "PostalAddress", "x": "}"}}, story],
    ],
)
@pytest.mark.parametrize("of_story", ["Article", "Product", "Recipe"])
def test_what_describes_the_site_is_no_text_of_the_page(around, of_story):
    story = {"@type": of_story, "description": STORY}
    kinds = "Organization NewsMediaOrganization WebSite Person ImageObject SearchAction".split()
    for name in [*kinds, "https://schema.org/WebSite", ["Thing", "Organization"]]:
        site = {"@type": name, "name": 'A "brand" {', "description": ABOUT}
        for written in (json.dumps(around(site, story)), json.dumps(around(site, story), indent=1)):
            assert set(prose_of([written])[0][0]) == {STORY}


def test_a_description_of_the_site_that_is_cut_off_is_left_out():
    written = json.dumps([{"@type": "Recipe", "a": STORY}, {"@type": "WebSite", "b": ABOUT}])
    assert prose_of([written[:-5]])[0] == [[STORY]]
    assert prose_of(["}" * 9 + written + "{" * 9])[0] == [[STORY]]


def streamed(texts: list[str], cut: int, build: str) -> str:
    rows = [f'0:["$","main",null,{{"buildId":"{build}"}}]\n']
    rows += [f"{n:x}:T{len(text.encode()):x},{text}" for n, text in enumerate(texts, 1)]
    rows.append('ff:["$","p",null,{"children":"' + ABOUT + '"}]\n')
    stream = "".join(rows)
    pieces = [stream[place : place + cut] for place in range(0, len(stream), cut)]
    return "".join(
        f"<script>self.__next_f.push([1,{json.dumps(each)}])</script>" for each in pieces
    )


@pytest.mark.parametrize("cut", [7, 60, 200, 900])
@pytest.mark.parametrize(
    "texts", [[STORY, f'He said: "{STORY}"'], ["港口保持开放，岛上没有人见过渡船。", STORY], []]
)
def test_a_stream_is_read_wherever_it_is_cut(cut, texts):
    page, whole = (
        page_of(streamed(texts, size, build))
        for size, build in ((cut, "hKGKr04Xrulo7sFB"), (9_999, "MMwUtdRt1bBA1jQS"))
    )
    assert [block.text for block in page.blocks] == [*texts, ABOUT]
    assert [block.text for block in whole.blocks] == [*texts, ABOUT]
    assert page.unread_hash == whole.unread_hash


@pytest.mark.parametrize(
    "data",
    [
        "1:T" + "f" * 11_111 + ",",
        "1:T1,a" * 11_111,
        '{"@type":' * 11_111,
        '{"@type":"Person"' * 3_333,
        '"@type":[' * 11_111,
        "1.1" * 11_111,
        "a1-" * 11_111,
        '"\\' * 11_111,
        "T00:00:00." * 11_111,
    ],
)
def test_hostile_data_is_searched_in_linear_time(data):
    for written in data, json.dumps(data), f"self.__next_f.push([1,{json.dumps(data)}])":
        prose_of([written])
        values_of([written])
