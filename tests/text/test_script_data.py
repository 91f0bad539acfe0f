"""Which strings of script data are prose, however broken the data."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.text.script_data import Strings

PROSE = "Ice had closed the harbour for eleven weeks."


def found(data: str) -> list[str]:
    return list(Strings().of(data))


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "He said: “It wasn't me”, and (well) left in 1998.",
        "港口保持开放，岛上没有人见过渡船。",
        "ท่าเรือเปิดตลอดฤดูหนาวเพราะน้ำแข็ง",
    ],
)
def test_prose(text: str):
    assert found(json.dumps({"a": text})) == found(json.dumps([text], ensure_ascii=False)) == [text]


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
def test_what_is_not_prose(text: str):
    assert found(json.dumps({"a": text, PROSE: 1})) == []


@given(st.text())
def test_any_string_of_json_is_read_as_json_reads_it(text: str):
    text = f"{PROSE} {text}".encode("utf-8", "replace").decode()
    if not set(text) & set("<[{"):
        assert found(json.dumps(text)) in ([text], [])


def test_escapes_of_javascript_and_broken_ones():
    assert found(rf'x = "{PROSE} \x41 \q \u12 \' \ud800 \ud83d\ude00') == [
        f"{PROSE} A q u12 ' ? 😀"
    ]


def test_markup_is_read_as_what_it_shows():
    html = f"<h2>Ice</h2><p hidden>no</p><script>x</script><p>{PROSE}<br>So &amp; so.</p>"
    assert found(json.dumps(html)) == ["Ice", f"{PROSE} So & so."]


def test_data_in_strings():
    nested = data = {"a": [PROSE]}
    for _ in range(3):
        nested = json.dumps(nested)
    assert found(f"x({nested})") == [PROSE]
    assert found(json.dumps(json.dumps(data)).replace('"', '"', 1)) == [PROSE]


def test_bounds_give_back_what_is_beyond():
    strings = Strings()
    many = json.dumps([f"{PROSE} {number}" for number in range(10_000)])
    assert len(list(strings.of(many))) == 4_096
    assert list(strings.of(json.dumps(PROSE))) == []
    assert strings.left == [many, json.dumps(PROSE)]
    strings = Strings()
    long = json.dumps([PROSE, "x" * 2**21, PROSE])
    assert list(strings.of(long)) == [PROSE]
    assert strings.left == [long[2**20 :]]


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
def test_heaps_take_no_time(data: str):
    assert found(data) == found(data)


@given(st.text(st.sampled_from('"\\{}[]:, ux0 <p>aé中\n')))
def test_never_raises(data: str):
    found(data)
