"""Pages that are no articles, or hardly pages at all: what the filter says of each kind.

For each kind four pages come, each from a host of its own: one, the same again, a twin with two
edits, and another page of the kind. `KINDS` says what each is: judged pages are new, exact, near
and new; pages with too few words to be judged, or whose text is made by scripts, repeat only
verbatim; what holds no text never repeats anything. The tests below it see the same pages on one
host, as parsed trees, by every recipe for features, and all kinds in one index.
"""

import json
import random
from html import escape

import pytest
from lxml import etree

from dedup_filter import NearDuplicateFilter
from dedup_filter.text import parse

JUDGED = ("new", "exact", "near", "new")
SHORT = ("too_short", "exact", "too_short", "too_short")
NO_TEXT = ("no_text",) * 4
BY_SCRIPT = ("by_script", "exact", "by_script", "by_script")
BINARY = ("binary",) * 4
TOO_LARGE = ("too_large",) * 4

LATIN = "abcdefghiklmnoprstuw"
HAN = "春山雪河水村田菜孩学校院球老师课阳光暖门喝茶谈论收成天气晚饭看星简单满足远城市海船桥灯"
ARABIC = [letter + mark for letter in "بتجدرسعفقكلمن" for mark in ("", "\u064e", "\u0650\u0651")]
HEBREW = [letter + mark for letter in "אבגדהלמנרשת" for mark in ("", "\u05b8", "\u05bc\u05b4")]
EMOJI = [chr(code) for code in range(0x1F400, 0x1F43F)]


def words(seed, count, letters=LATIN, length=5):
    """Words that occur about three times each, other ones for each seed."""
    chance = random.Random(f"{seed} {letters}")
    known = ["".join(chance.choices(letters, k=length)) for _ in range(count // 3)]
    return chance.choices(known, k=count)


def edit(pieces, edits):
    changed = {(37 * number + 40) % len(pieces) for number in range(edits)}
    return ["edited" if number in changed else piece for number, piece in enumerate(pieces)]


def grouped(pieces, size):
    return zip(*[iter(pieces)] * size, strict=True)


def sentences(seed, edits, glue="the {} of a {} is in", letters=LATIN):
    return " ".join(
        glue.format(*pair) for pair in grouped(edit(words(seed, 120, letters), edits), 2)
    )


def table(seed, edits):
    cells = grouped(edit(words(seed, 200), edits), 2)
    return f"<table>{''.join(f'<tr><td>{a}</td><td>{b}</td></tr>' for a, b in cells)}</table>"


def form(seed, edits):
    labels = grouped(edit(words(seed, 160), edits), 2)
    fields = "".join(f"<p><label>{a} {b}</label><input name={a}></p>" for a, b in labels)
    return f"<form action=/send>{fields}<button>Send</button></form>"


def links(seed, edits):
    names = grouped(edit(words(seed, 160), edits), 2)
    return f"<ul>{''.join(f'<li><a href=/{a}>{a} {b}</a></li>' for a, b in names)}</ul>"


def listing(seed, edits):
    lines = grouped(edit(words(seed, 200), edits), 4)
    return "<pre>" + "\n".join(f"    {a} = {b}({c}, {d})" for a, b, c, d in lines) + "</pre>"


def poem(seed, edits, lines=40):
    verses = grouped(edit(words(seed, 4 * lines), edits), 4)
    return (
        f"<h1>Poem</h1><div>{''.join(f'<p>{a} {b},<br>{c} {d}</p>' for a, b, c, d in verses)}</div>"
    )


def haiku(seed, edits):
    return poem(seed, edits, lines=3)


def mixed(seed, edits):
    chinese = words(seed, 75, HAN, 6)
    english = grouped(edit(words(seed, 150), edits), 2)
    pieces = (f"{a} {b} 的{c}，" for (a, b), c in zip(english, chinese, strict=True))
    return f"<p>{' '.join(pieces)}</p>"


def chinese(seed, edits):
    return f"<p>{'，'.join(edit(words(seed, 150, HAN, 4), edits))}。</p>"


def emoji(seed, edits):
    return f"<p>{' '.join(words(seed, 200, EMOJI[edits:], 3))}</p>"


def arabic(seed, edits):
    return f"<html lang=ar dir=rtl><p>{sentences(seed, edits, '{} في {} من', ARABIC)}"


def hebrew(seed, edits):
    return f"<html lang=he dir=rtl><p>{sentences(seed, edits, '{} של {} על', HEBREW)}"


def article(seed, edits):
    return f"<html><body><p>{sentences(seed, edits)}</p></body></html>"


def nul_characters(seed, edits):
    return article(seed, edits).replace(" ", "\0 ")


def a_nul_byte(seed, edits):
    return article(seed, edits).replace("is", "i\0s", 1).encode()


def unpaired_surrogates(seed, edits):
    return article(seed, edits).replace("is", "\ud800")


def broken_markup(seed, edits):
    start, end = sentences(seed, edits)[:300], sentences(seed, edits)[300:]
    return (
        f"<p <b>{start}</ <<>><table><tr><i></table></i>{end} & &#xFFFFFFF; "
        "<![CDATA[ x ]]> <div class='a' class=\"b\"><a href='x> <!-- open"
    )


def a_page_cut_off(seed, edits):
    return f'<div><table><tr><td><p>{sentences(seed, edits)}<a href="/lin'


def unclosed_comment(seed, edits):
    return f"<!-- {sentences(seed, edits)}"


def three_hundred_levels(seed, edits):
    return "<div>" * 300 + f"<p>{sentences(seed, edits)}</p>" + "</div>" * 300


def levels_after_the_text(seed, edits):
    return f"<p>{sentences(seed, edits)}</p>" + "<div>" * 100_000


def gbk_called_latin(seed, edits):
    return f"<meta charset=iso-8859-1>{chinese(seed, edits)}".encode("gbk")


def latin_called_utf8(seed, edits):
    text = article(seed, edits).replace("is", "été")
    return f"<meta charset=utf-8>{text}".encode("cp1252")


def no_such_charset(seed, edits):
    return f"<meta charset=x-none>{chinese(seed, edits)}".encode()


def xhtml(seed, edits):
    body = f"<body><p>{sentences(seed, edits)}</p></body>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html>'
        f'<html xmlns="http://www.w3.org/1999/xhtml">{body}</html>'
    )


def feed(seed, edits):
    entries = "".join(
        f"<item><title>{a}</title><link>http://a/{a}</link>"
        f"<description>{escape(f'<p>the {b} of a {c}')}</description></item>"
        for a, b, c in grouped(edit(words(seed, 150), edits), 3)
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{entries}</channel></rss>'


def data_in_xml(seed, edits):
    rows = grouped(edit(words(seed, 200), edits), 2)
    cells = "".join(f"<row><x>{a} </x><y>{b} </y></row>" for a, b in rows)
    return f'<?xml version="1.0"?><rows>{cells}</rows>'


def data_in_json(seed, edits):
    pairs = grouped(edit(words(seed, 200), edits), 2)
    return "{" + ", ".join(f'"{a}": "{b}"' for a, b in pairs) + "}"


def frameset(seed, edits):
    return f"""<html><head><title>Site {seed}{edits}</title></head><frameset cols="20%,*">
        <frame src=menu.html><frame src={seed}.html><noframes>Get a browser</noframes></frameset>"""


def forwarding(seed, edits):
    return f"<meta http-equiv=refresh content='0; url=/{seed}{edits}'><title>Moved</title>"


def forwarding_in_words(seed, edits):
    link = f"<a href=/{seed}{edits}>page {seed} {edits}</a>"
    return f"<meta http-equiv=refresh content='0; url=/'><title>Moved</title>Go on to {link}"


def script_alone(seed, edits):
    return f"<div id=app></div><script>{sentences(seed, edits)}</script><noscript>Use it</noscript>"


FRAME = (
    "<ul><li><a href=/>Home</a><li><a href=/n>News of the day</a></ul>{}<p>All rights reserved</p>"
)


def script_beside_a_frame(seed, edits):
    return FRAME.format(f"<div id=root></div><script src=app.js?{seed}{edits}></script>")


def streamed(seed, edits):
    hidden = f'<div hidden id="S:0"><p>{sentences(seed, edits)}</p></div>'
    return FRAME.format(f'<div id=root>Loading</div>{hidden}<script>$RC("B:0","S:0")</script>')


def shadow_roots(seed, edits):
    inner = f"<my-text><template shadowrootmode=closed><p>{sentences(seed, edits)}</template>"
    return FRAME.format(f"<my-page><template shadowrootmode=open>{inner}</my-text></template>")


def noscript(seed, edits):
    pixel = "<noscript><img src=http://t.example/pixel></noscript>"
    return FRAME.format(f"{pixel}<noscript><p>{sentences(seed, edits)}</p></noscript>")


def escaped_noscript(seed, edits):
    inside = escape(f"<p>{sentences(seed, edits)}</p><img src=x>")
    return FRAME.format(f"<noscript>{inside}</noscript>")


def json_script(data, of_type="application/json"):
    written = data if isinstance(data, str) else json.dumps(data)
    return FRAME.format(f"<div id=__next></div><script type={of_type}>{written}</script>")


def next_data(seed, edits):
    props = {"cls": "flex items-center px-4", "html": f"<p>{sentences(seed, edits)}</p>"}
    return json_script({"props": {"pageProps": props}, "buildId": "x" * 40})


def linked_data(seed, edits):
    return json_script({"articleBody": sentences(seed, edits)}, "application/ld+json")


def nuxt_state(seed, edits):
    text = json.dumps(sentences(seed, edits))
    return FRAME.format(f"<script>window.__NUXT__=(function(a){{return {{b:{text}}}}}(1))</script>")


def flight(seed, edits):
    row = "2:" + json.dumps(["$", "p", None, {"children": sentences(seed, edits)}])
    return FRAME.format(f"<script>self.__next_f.push([1,{json.dumps(row)}])</script>")


def broken_json(seed, edits):
    return json_script(f'{{"a": [, "b": "{sentences(seed, edits)}", "c": "\\x20 \\q \\u12')


def cookie_dialog(seed, edits):
    notice = sentences("the same on all pages", 0) * 2
    dialog = f'<div hidden class="cookie-consent"><p>{notice}</p></div>'
    return FRAME.format(f"<p>{sentences(seed, edits)}</p>{dialog}")


def hidden_menu(seed, edits):
    return FRAME.format(f"<p>{sentences(seed, edits)}</p><div hidden>{links(99, 0) * 4}</div>")


def row_templates(seed, edits):
    rows = "<template><li>{{ the name of a thing }}</li></template>" * 20
    return FRAME.format(f"<p>{sentences(seed, edits)}</p>{rows}")


def json_of_a_megabyte(seed, edits):
    return json_script({"rows": [[n, f"id-{n}"] for n in range(50_000)], "a": 1}) + (
        f"<p>{sentences(seed, edits)}</p>"
    )


def short_strings(seed, edits):
    return json_script(["a", f"{seed}", f"{edits}"] * 300_000)


def deep_json(seed, edits):
    return json_script("[" * 100_000 + json.dumps(sentences(seed, edits)) + "]" * 100_000)


def too_many_shadow_roots(seed, edits):
    return "<template shadowrootmode=open>" * 3_000 + f"<p>{sentences(seed, edits)}</p>"


def a_million_paragraphs(seed, edits):
    return f"<p>{seed} {edits}" * 1_000_000


def eighty_thousand_paragraphs(seed, edits):
    return "".join(f"<p>{word}" for word in edit(words(seed, 80_000), edits))


def picture_alone(seed, edits):
    return f"<title>A picture</title><img src={seed}{edits}.jpg alt='{sentences(seed, edits)}'>"


def nothing(seed, edits):
    return ""


def white_space(seed, edits):
    return " \n\t\xa0\u3000" * (100 * seed + edits)


def nul_bytes(seed, edits):
    return b"\0" * (1000 * seed + edits)


def noise(seed, edits):
    return random.Random(f"{seed} {edits}").randbytes(5000)


def ten_megabytes_of_a_word(seed, edits):
    return f"<p>{f'word{seed} ' * 1_700_000}{'edited ' * edits}"


def ten_megabytes_in_one_word(seed, edits):
    return f"<p>{LATIN[seed] * 10_000_000}{'edited' * edits}"


def a_megabyte_of_a_word(seed, edits):
    return f"<p>{f'word{seed} ' * 170_000}{'edited ' * edits}"


def a_megabyte_in_one_word(seed, edits):
    return f"<p>{LATIN[seed] * 1_000_000}{'edited' * edits}"


KINDS = {
    table: JUDGED,
    form: JUDGED,
    # Its links are no main content, and the words outside them are too few.
    links: SHORT,
    listing: JUDGED,
    poem: JUDGED,
    haiku: SHORT,
    mixed: JUDGED,
    chinese: JUDGED,
    # Neither letters nor digits: nothing that could be told apart with any certainty.
    emoji: NO_TEXT,
    arabic: JUDGED,
    hebrew: JUDGED,
    nul_characters: JUDGED,
    a_nul_byte: JUDGED,
    unpaired_surrogates: JUDGED,
    broken_markup: JUDGED,
    a_page_cut_off: JUDGED,
    unclosed_comment: NO_TEXT,
    three_hundred_levels: JUDGED,
    levels_after_the_text: JUDGED,
    gbk_called_latin: JUDGED,
    latin_called_utf8: JUDGED,
    no_such_charset: JUDGED,
    xhtml: JUDGED,
    feed: JUDGED,
    data_in_xml: JUDGED,
    data_in_json: JUDGED,
    frameset: NO_TEXT,
    forwarding: NO_TEXT,
    forwarding_in_words: SHORT,
    script_alone: BY_SCRIPT,
    script_beside_a_frame: BY_SCRIPT,
    streamed: JUDGED,
    shadow_roots: JUDGED,
    noscript: JUDGED,
    escaped_noscript: JUDGED,
    next_data: JUDGED,
    linked_data: JUDGED,
    nuxt_state: JUDGED,
    flight: JUDGED,
    broken_json: JUDGED,
    cookie_dialog: JUDGED,
    hidden_menu: JUDGED,
    row_templates: JUDGED,
    json_of_a_megabyte: JUDGED,
    short_strings: BY_SCRIPT,
    deep_json: JUDGED,
    # libxml2 builds 2,048 levels and leaves out what is below, since 2.14.
    too_many_shadow_roots: NO_TEXT if etree.LIBXML_VERSION >= (2, 14) else JUDGED,
    a_million_paragraphs: TOO_LARGE,
    eighty_thousand_paragraphs: JUDGED,
    picture_alone: NO_TEXT,
    nothing: NO_TEXT,
    white_space: NO_TEXT,
    nul_bytes: BINARY,
    noise: BINARY,
    ten_megabytes_of_a_word: TOO_LARGE,
    ten_megabytes_in_one_word: TOO_LARGE,
    # One shingle, and two edits bring three more: unlike the page without them.
    a_megabyte_of_a_word: ("new", "exact", "new", "new"),
    a_megabyte_in_one_word: SHORT,
}
LARGE = {
    *(kind for kind in KINDS if "megabyte" in kind.__name__),
    short_strings,
    a_million_paragraphs,
    eighty_thousand_paragraphs,
}
SMALL = [kind for kind in KINDS if kind not in LARGE]


def names(kind):
    return kind.__name__.replace("_", " ") if callable(kind) else None


def four_pages(kind):
    return [kind(1, 0), kind(1, 0), kind(1, 2), kind(2, 0)]


def said(verdict):
    return verdict.reason or verdict.outcome


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_pages_of_a_kind(kind):
    with NearDuplicateFilter.open() as pages:
        verdicts = [
            pages.see(f"https://{number}.example/", html=html)
            for number, html in enumerate(four_pages(kind))
        ]
        pages.check()
    assert tuple(map(said, verdicts)) == KINDS[kind]
    originals = {verdict.original for verdict in verdicts if verdict.is_duplicate}
    assert originals <= {"https://0.example/"}


@pytest.mark.parametrize("kind", SMALL, ids=names)
def test_the_same_as_parsed_trees(kind):
    html = [page for page in four_pages(kind) if isinstance(page, str)]
    trees = [parse(page) for page in html]
    with NearDuplicateFilter.open() as pages:
        verdicts = [
            pages.see(f"https://{number}.example/", html=tree)
            for number, tree in enumerate(trees)
            if tree is not None
        ]
    # A tree has no bytes to know it by.
    expected = ("by_script",) * 4 if KINDS[kind] == BY_SCRIPT else KINDS[kind]
    assert tuple(map(said, verdicts)) == expected[: len(verdicts)]


@pytest.mark.parametrize("recipe", ["shingles", "words", "keywords"])
@pytest.mark.parametrize("kind", SMALL, ids=names)
def test_the_same_by_other_recipes(kind, recipe):
    with NearDuplicateFilter.open(features=recipe, max_distance=12) as pages:
        verdicts = [
            pages.see(f"https://{number}.example/", html=html)
            for number, html in enumerate(four_pages(kind))
        ]
    alone, again, edited, other = map(said, verdicts)
    assert (alone, again, other) == (*KINDS[kind][:2], KINDS[kind][3])
    assert edited in (KINDS[kind][2], "new"), "a recipe may forgive less, but makes no error"


@pytest.mark.parametrize("earlier_pages", [0, 4], ids="{} pages before".format)
@pytest.mark.parametrize("kind", SMALL, ids=names)
def test_on_one_host_a_page_repeats_its_own_versions_only(kind, earlier_pages):
    with NearDuplicateFilter.open() as pages:
        for seed in range(3, 3 + earlier_pages):
            assert not pages.see(f"https://a.example/{seed}", html=kind(seed, 0)).is_duplicate
        first, again, edited, other = (
            pages.see(f"https://a.example/page/{number}", html=html)
            for number, html in enumerate(four_pages(kind))
        )
        pages.check()
    assert not first.is_duplicate
    assert not other.is_duplicate
    assert again.outcome == ("exact" if "exact" in KINDS[kind] else "unjudged")
    # Where every line is a block, an edited one is new on its host and found nowhere: kept.
    assert edited.original in (None, "https://a.example/page/0")


def test_the_shell_of_an_application_repeats_its_bytes_only():
    """All that the page is stands in its bytes; the address that a script reads is not in them."""
    with NearDuplicateFilter.open() as pages:
        shell = script_beside_a_frame(1, 0)
        assert said(pages.see("https://a.example/1", html=shell)) == "by_script"
        assert said(pages.see("https://a.example/2", html=shell + "<!-- -->")) == "by_script"
        assert said(pages.see("https://a.example/3", html=shell.encode())) == "exact"
        pages.check()


def test_no_kind_repeats_another():
    with NearDuplicateFilter.open() as pages:
        for seed, kind in enumerate(SMALL, start=10):
            verdict = pages.see(f"https://{kind.__name__}.example/", html=kind(seed, 0))
            assert said(verdict) == KINDS[kind][0]
        pages.check()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (chinese(1, 0), chinese(1, 0).encode("gbk")),
        (chinese(1, 0), f"<meta charset=utf-8>{chinese(1, 0)}".encode("gbk")),
        (chinese(1, 0), no_such_charset(1, 0)),
        (article(1, 0), nul_characters(1, 0)),
        (article(1, 0), three_hundred_levels(1, 0)),
        (article(1, 0), levels_after_the_text(1, 0)),
        (article(1, 0), xhtml(1, 0)),
        (article(1, 0), xhtml(1, 0).encode("utf-16")),
        (arabic(1, 0), arabic(1, 0).replace(" ", "\u200f \u200e")),
        (hebrew(1, 0), hebrew(1, 0).replace(" ", "\u2067 \u2069")),
    ],
    ids=lambda page: "",
)
def test_the_same_text_in_worse_condition_is_an_exact_repeat(one, other):
    with NearDuplicateFilter.open() as pages:
        assert pages.see("https://0.example/", html=one).outcome == "new"
        assert pages.see("https://1.example/", html=other).outcome == "exact"
