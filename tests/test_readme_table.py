"""README's table of what is dropped, row by row, in a shop, in a newspaper and in a forum.

Each first cell has examples: what a page shows, and what a later page shows. The other cells say
what becomes of the later page on the same host and on another host.
"""

from dataclasses import dataclass, replace

import pytest
from museum.language import Writer
from test_docs import TEXTS, table

from dedup_filter import NearDuplicateFilter

KNOWN = 4
"""Pages by which the frame of a host is learnt."""
MENUS = {
    "shop": "Sofas Lamps Beds Tables Sale Basket Returns Stores",
    "news": "World Politics Sport Culture Weather Opinion Jobs Cars",
    "forum": "Index Members Rules Search Register Login Help Wiki",
    "elsewhere": "Start Regional Business Radio Video Archive Imprint About",
}
HEADLINES = {
    "shop": "Oak bookcase Helga with five shelves",
    "news": "Fishermen defended the old harbour near the bridge",
    "forum": "Which glue holds wood that is wet",
}
RIGHTS = "All rights are reserved by the owners of this {} and by all who write for it."


@dataclass(frozen=True)
class Page:
    headline: str
    sentences: tuple[str, ...]
    after: str = ""
    """What stands in the main part after the text."""
    below: str = ""
    """What stands below the main part."""
    has_frame: bool = True
    address: str = "/a/one"

    def shown(self, site):
        """Return the page as HTML of a site; three sentences are a paragraph."""
        text = [" ".join(self.sentences[at : at + 3]) for at in range(0, len(self.sentences), 3)]
        main = f"<h1>{self.headline}</h1><p>{'</p><p>'.join(text)}</p>{self.after}"
        content = f"<main>{main}</main>{self.below}"
        if self.has_frame:
            menu = "".join(f'<li><a href="/{each}">{each}</a></li>' for each in MENUS[site].split())
            footer = f"<footer><p>{RIGHTS.format(site)}</p></footer>"
            content = f"<nav><ul>{menu}</ul></nav>{content}{footer}"
        return f"<title>{self.headline}</title>{content}"


def page(site, sentences=9):
    writer = Writer(site)
    return Page(HEADLINES[site], tuple(writer.sentence() for _ in range(sentences)))


def later(first, **new):
    return first, replace(first, address="/b/two", **new)


def shows(part, old, new):
    """Make pages that show something old, and something new in its place."""
    return lambda first: later(replace(first, **{part: old}), **{part: new})


def links(seed):
    writer = Writer(seed)
    entries = (f'<li><a href="/x/{n}">{writer.headline()}</a></li>' for n in range(5))
    return f"<h3>Read on</h3><ul>{''.join(entries)}</ul>"


def facts(**values):
    rows = (f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in values.items())
    return f"<table>{''.join(rows)}</table>"


def replies(*names):
    posts = (
        f'<div class="post"><b>{name}</b><p>{Writer(name).sentence()}</p></div>' for name in names
    )
    return "".join(posts)


def edited(sentence, words):
    """Change so many words in the middle of a sentence."""
    before, after = sentence.split(" ")[:9], sentence.split(" ")[9 + words :]
    return " ".join([*before, *["zebrano"] * words, *after])


def with_price(sentences, price):
    return (f"{sentences[0]} It costs {price} euros and comes in a box.", *sentences[1:])


EXAMPLES = {
    "an id of a session or campaign in its address; no menu and no footer (print view)": [
        lambda first: (first, replace(first, address="/a/one?sid=4f1c22")),
        lambda first: (first, replace(first, address="/a/one?utm_source=mail")),
        lambda first: later(first, has_frame=False),
    ],
    "other links below `main`, or links or advertisements in an `aside` there": [
        shows("below", links(1), links(2)),
        shows("below", f"<aside>{links(1)}</aside>", f"<aside>{links(2)}</aside>"),
        shows("below", "<aside>Win a cruise!</aside>", "<aside>Half price sofas!</aside>"),
    ],
    'other comments, in an element of the class "comments"': [
        shows(
            "below",
            '<div class="comments"><p>Well said, Ada.</p></div>',
            '<div class="comments"><p>I do not agree at all.</p><p>Nonsense!</p></div>',
        )
    ],
    '"1,952 views" for "1,037 views", "2 days ago" for "3 hours ago"': [
        shows("after", "<p>1,037 views</p>", "<p>1,952 views</p>"),
        shows("after", "<p>Posted 3 hours ago</p>", "<p>Posted 2 days ago</p>"),
    ],
    "a few words of one paragraph, also a price there": [
        lambda first: later(first, sentences=(edited(first.sentences[0], 3), *first.sentences[1:])),
        lambda first: later(
            replace(first, sentences=with_price(first.sentences, "24.90")),
            sentences=with_price(first.sentences, "26.90"),
        ),
    ],
    "a line or a paragraph less, as in a story before its correction": [
        lambda first: later(first, sentences=first.sentences[:-3]),
        shows("after", "<p>Correction: the bridge was built in 1912.</p>", ""),
    ],
    "shop: another price, size or stock, in a line or a table": [
        shows("after", facts(price=24.90, size="80 cm"), facts(price=26.90, size="80 cm")),
        shows("after", facts(price=24.90, size="80 cm"), facts(price=24.90, size="90 cm")),
        shows("after", "<p class='price'>EUR 24.90</p>", "<p class='price'>EUR 26.90</p>"),
        shows("after", "<p>3 in stock</p>", "<p>7 in stock</p>"),
    ],
    'shop: another name or size in the headline ("…, 90 cm")': [
        lambda first: later(
            replace(first, headline=f"{first.headline}, 80 cm"),
            headline=f"{first.headline}, 90 cm",
        )
    ],
    "news: a few words changed in each paragraph": [
        lambda first: later(
            first,
            sentences=tuple(
                edited(sentence, 4) if number % 3 == 0 else sentence
                for number, sentence in enumerate(first.sentences)
            ),
        )
    ],
    "news: an added paragraph, or a line with a correction": [
        shows("after", "", f"<p>{Writer('more').sentence()}</p>"),
        shows("after", "", "<p>Correction: the bridge was built in 1912.</p>"),
    ],
    "news: a shorter headline, of four words": [
        lambda first: later(first, headline=first.headline.partition(" near ")[0])
    ],
    "forum: an added reply": [shows("after", replies("Ada"), replies("Ada", "Nils"))],
    "forum: page 2 of a thread": [
        lambda first: (
            replace(first, after=replies("Ada", "Olga", "Hugo"), address="/t/7?page=1"),
            replace(first, after=replies("Nils", "Ines", "Luis"), address="/t/7?page=2"),
        )
    ],
}
ROWS = table("README.md", "what differs on the later page")[1:]


def test_all_rows_have_examples():
    assert [row[0] for row in ROWS] == [*EXAMPLES]


KINDS_OF_SITES = tuple(f"{site}: " for site in HEADLINES)
CASES = [
    pytest.param(
        site,
        row,
        id=f"{site}: {row[0].removeprefix(f'{site}: ')}",
        marks=[] if row[0].startswith(f"{site}: ") or site == "shop" else [pytest.mark.slow],
    )
    for row in ROWS
    for site in HEADLINES
    if row[0].startswith(f"{site}: ") or not row[0].startswith(KINDS_OF_SITES)
]


@pytest.mark.parametrize(("site", "row"), CASES)
def test_pages_are_dropped_and_kept_as_the_table_says(site, row):
    new, same_host, other_host = row
    for make in EXAMPLES[new]:
        first, second = make(page(site))
        assert fate(site, site, first, second, is_known=False) == same_host
        assert fate(site, site, first, second, is_known=True) == same_host
        assert fate(site, "elsewhere", first, second, is_known=True) == other_host


def test_on_another_host_a_fifth_of_the_words_may_be_new():
    first = page("news")
    for more, expected in ((1, "dropped"), (4, "**kept**")):
        new = tuple(Writer("more").sentence() for _ in range(more))
        second = replace(first, sentences=(*first.sentences, *new), address="/b/two")
        assert fate("news", "elsewhere", first, second, is_known=True) == expected


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<h1>Pictures</h1><p>Three photos of the old mill.</p>", "too_short"),
        (
            f"<p>Loading …</p><script>{'render(data); ' * 400}</script><div id=app></div>",
            "by_script",
        ),
        (b"%PDF-1.7 \x00\x01\x02 stream", "binary"),
        (b"<p>a</p>" * 3_000_000, "too_large"),
    ],
    ids=["too_short", "by_script", "binary", "too_large"],
)
def test_pages_that_cannot_be_judged_are_kept(html, reason):
    with NearDuplicateFilter.open() as pages:
        verdict = pages.see("https://news.example/1", html=html)
    assert (verdict.outcome, verdict.reason, verdict.is_duplicate) == ("unjudged", reason, False)


@pytest.mark.parametrize(
    ("limit", "old", "new", "expected"),
    [
        (
            "A value in an `aside`",
            "<aside>EUR 24.90</aside>",
            "<aside>EUR 26.90</aside>",
            "dropped",
        ),
        ("`footer`", "<footer>EUR 24.90</footer>", "<footer>EUR 26.90</footer>", "dropped"),
        ("`form`", "<form>EUR 24.90</form>", "<form>EUR 26.90</form>", "dropped"),
        ("or `dialog`", "<dialog>EUR 24.90</dialog>", "<dialog>EUR 26.90</dialog>", "dropped"),
        ("such as a quote of the day", "<p>Less is more.</p>", "<p>Do or do not.</p>", "**kept**"),
        ("Rows in another order", facts(a=1, b=2, c=3), facts(c=3, a=1, b=2), "dropped"),
        ("other pictures", '<img src="/1.jpg">', '<img src="/2.jpg">', "dropped"),
        ("films", '<video src="/1.mp4"></video>', '<video src="/2.mp4"></video>', "dropped"),
        ("form values", '<input value="24.90">', '<input value="26.90">', "dropped"),
    ],
)
def test_limits_are_as_they_are_told(limit, old, new, expected):
    assert limit in TEXTS["README.md"].partition("## Limits")[2]
    first, second = shows("below", old, new)(page("shop"))
    assert fate("shop", "shop", first, second, is_known=True) == expected


def fate(site, other, first, second, *, is_known):
    """Return what becomes of the second page; the first one is kept."""
    with NearDuplicateFilter.open() as pages:
        for at in {site, other} if is_known else ():
            for number in range(KNOWN):
                writer = Writer(f"{at} {number}")
                known = Page(writer.headline(), tuple(writer.sentence() for _ in range(6)))
                pages.see(f"https://{at}.example/first/{number}", html=known.shown(at))
        kept = pages.see(f"https://{site}.example{first.address}", html=first.shown(site))
        verdict = pages.see(f"https://{other}.example{second.address}", html=second.shown(other))
    assert kept.outcome == "new"
    return "dropped" if verdict.is_duplicate else "**kept**"
