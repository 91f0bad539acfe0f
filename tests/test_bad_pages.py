"""Pages that are no articles, or hardly pages at all: what the filter says of each kind.

For each kind four pages come, each from a host of its own: one, the same again, a twin with two
edits, and another page of the kind. `KINDS` says what each is: judged pages are new, exact, near
and new; pages with too few words to be judged repeat only verbatim; what holds no text never
repeats anything. The tests below it see the same pages on one host, as parsed trees, by every
recipe for features, and all kinds in one index.
"""

import random
from html import escape

import pytest

from dedup_filter import NearDuplicateFilter
from dedup_filter.text import parse

JUDGED = ("new", "exact", "near", "new")
SHORT = ("too_short", "exact", "too_short", "too_short")
NO_TEXT = ("no_text",) * 4
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
    script_alone: NO_TEXT,
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
LARGE = {kind for kind in KINDS if "megabyte" in kind.__name__}
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
    assert tuple(map(said, verdicts)) == KINDS[kind][: len(verdicts)]


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
