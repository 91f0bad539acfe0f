"""Kinds of pages that are no articles, or hardly pages at all, and what the filter says of each.

`KINDS` has for each kind a function, seed and number of edits -> page, and what the filter says of
four pages on hosts of their own: one, the same again, one with two edits, another one. Judged pages
are new, exact, near and new; pages with too few words to be judged, or whose text is made by
scripts, repeat only verbatim; what holds no text never repeats anything.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

JUDGED = ("new", "exact", "near", "new")
SHORT = ("too_short", "exact", "too_short", "too_short")
NO_TEXT = ("no_text",) * 4
BY_SCRIPT = ("by_script", "exact", "by_script", "by_script")
BINARY = ("binary",) * 4
TOO_LARGE = ("too_large",) * 4

LATIN = "abcdefghiklmnoprstuw"
HAN = "春山雪河水村田菜孩学校院球老师课阳光暖门喝茶谈论收成天气晚饭看星简单满足远城市海船桥灯"
ARABIC = [letter + mark for letter in "بتجدرسعفقكلمن" for mark in ("", "\u064e", "\u0650\u0651")]
EMOJI = [chr(code) for code in range(0x1F400, 0x1F43F)]


class Kind(NamedTuple):
    make: Callable[[int, int], str | bytes]
    said: tuple[str, ...]


def words(seed, count, letters=LATIN, length=5):
    """Words that occur about three times each, other ones for each seed."""
    chance = random.Random(f"{seed} {letters}")
    known = ["".join(chance.choices(letters, k=length)) for _ in range(count // 3)]
    return chance.choices(known, k=count)


def edit(pieces, edits):
    changed = {(37 * number + 40) % len(pieces) for number in range(edits)}
    return ["edited" if number in changed else piece for number, piece in enumerate(pieces)]


def grouped(seed, edits, count, size):
    """Words, in groups of so many."""
    return list(zip(*[iter(edit(words(seed, count), edits))] * size, strict=True))


def sentences(seed, edits, glue="the {} of a {} is in", letters=LATIN):
    pairs = zip(*[iter(edit(words(seed, 120, letters), edits))] * 2, strict=True)
    return " ".join(glue.format(*pair) for pair in pairs)


def around(template, said=JUDGED):
    """A kind of pages that have sentences in the place of TEXT, seed and edits in that of ID."""

    def make(seed, edits):
        named = template.replace("ID", f"{seed}{edits}")
        return named.replace("TEXT", sentences(seed, edits))

    return Kind(make, said)


def each(count, size, template, whole="{}", said=JUDGED):
    """A kind of pages that repeat a template, with groups of words in it."""

    def make(seed, edits):
        groups = grouped(seed, edits, count, size)
        return whole.format("".join(template.format(*group) for group in groups))

    return Kind(make, said)


def chinese(seed, edits):
    return f"<p>{'，'.join(edit(words(seed, 150, HAN, 4), edits))}。</p>"


def emoji(seed, edits):
    return f"<p>{' '.join(words(seed, 200, EMOJI[edits:], 3))}</p>"


def arabic(seed, edits):
    return f"<html lang=ar dir=rtl><p>{sentences(seed, edits, '{} في {} من', ARABIC)}"


def article(seed, edits):
    return f"<html><body><p>{sentences(seed, edits)}</p></body></html>"


def broken_markup(seed, edits):
    text = sentences(seed, edits)
    return (
        f"<p <b>{text[:300]}</ <<>><table><tr><i></table></i>{text[300:]} & &#xFFFFFFF; "
        "<![CDATA[ x ]]> <div class='a' class=\"b\"><a href='x> <!-- open"
    )


XHTML = (
    '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html>'
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>TEXT</p></body></html>'
)
FRAMESET = (
    '<html><head><title>Site ID</title></head><frameset cols="20%,*"><frame src=menu.html>'
    "<frame src=ID.html><noframes>Get a browser</noframes></frameset>"
)
FEED_ITEM = (
    "<item><title>{0}</title><link>http://a/{0}</link>"
    "<description>&lt;p&gt;the {1} of a {2}</description></item>"
)
FORM = "<form action=/send>{}<button>Send</button></form>"
LINK = "<li><a href=/{0}>{0} {1}</a></li>"

KINDS = {
    "table": each(200, 2, "<tr><td>{}</td><td>{}</td></tr>", "<table>{}</table>"),
    "form": each(160, 2, "<p><label>{0} {1}</label><input name={0}></p>", FORM),
    # Its links are no main content, and the words outside them are too few.
    "links": each(160, 2, LINK, "<ul>{}</ul>", said=SHORT),
    "listing": each(200, 4, "    {} = {}({}, {})\n", "<pre>{}"),
    "poem": each(160, 4, "<p>{} {},<br>{} {}</p>", "<h1>Poem</h1><div>{}</div>"),
    "chinese": Kind(chinese, JUDGED),
    # Neither letters nor digits: nothing that could be told apart with any certainty.
    "emoji": Kind(emoji, NO_TEXT),
    "arabic": Kind(arabic, JUDGED),
    "NUL characters": Kind(lambda *page: article(*page).replace(" ", "\0 "), JUDGED),
    "a NUL byte": Kind(lambda *page: article(*page).replace("is", "i\0s", 1).encode(), JUDGED),
    "unpaired surrogates": Kind(lambda *page: article(*page).replace("is", "\ud800"), JUDGED),
    "broken markup": Kind(broken_markup, JUDGED),
    "a page cut off": around('<div><table><tr><td><p>TEXT<a href="/lin'),
    "unclosed comment": around("<!-- TEXT", NO_TEXT),
    "three hundred levels": around("<div>" * 300 + "<p>TEXT</p>" + "</div>" * 300),
    "no such charset": Kind(
        lambda *page: f"<meta charset=x-none>{chinese(*page)}".encode(), JUDGED
    ),
    "xhtml": around(XHTML),
    "feed": each(150, 3, FEED_ITEM, '<?xml version="1.0"?><rss><channel>{}</channel></rss>'),
    "frameset": around(FRAMESET, NO_TEXT),
    "forwarding in words": around(
        "<meta http-equiv=refresh content='0; url=/'><title>Moved</title>Go on to "
        "<a href=/ID>page ID</a>",
        SHORT,
    ),
    "script alone": around(
        "<div id=app></div><script>TEXT</script><noscript>Use it</noscript>", BY_SCRIPT
    ),
    "script beside a frame": around(
        "<a href=/>News of the day</a><div id=root></div><script src=app.js?ID></script>"
        "<p>All rights reserved</p>",
        BY_SCRIPT,
    ),
    "too many shadow roots": around(
        "<template shadowrootmode=open>" * 3_000 + "<p>TEXT</p>", JUDGED
    ),
    "a million paragraphs": Kind(lambda *page: f"<p>{page}" * 1_000_000, TOO_LARGE),
    "eighty thousand paragraphs": each(80_000, 1, "<p>{}"),
    "picture alone": around("<title>A picture</title><img src=ID.jpg alt='TEXT'>", SHORT),
    "nothing": around("", NO_TEXT),
    "noise": Kind(lambda *page: random.Random(f"{page}").randbytes(5000), BINARY),
    "a megabyte of a word": Kind(
        lambda seed, edits: f"<p>{f'word{seed} ' * 170_000}{'edited ' * edits}", JUDGED
    ),
    "a megabyte in one word": Kind(
        lambda seed, edits: f"<p>{LATIN[seed] * 1_000_000}{'edited' * edits}", SHORT
    ),
}
LARGE = {"a million paragraphs", "eighty thousand paragraphs"}
SMALL = [name for name in KINDS if "megabyte" not in name and name not in LARGE]
