"""What `explain` says of a page, against what the filter keeps of it and the page's own text."""

from collections import Counter

import pytest
from bad_pages import KINDS as BAD_PAGES
from bad_pages import SMALL
from gate import rounds
from hypothesis import given, settings
from museum.arrangements import address
from museum.kinds import KINDS
from text_samples import CHINESE, FIRST, MARKUP, SECOND

from dedup_filter import NearDuplicateFilter
from dedup_filter.features.recipes import consists_of_sentences
from dedup_filter.model import Unjudged
from dedup_filter.review.excluded_text import excluded_text
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.decode import as_utf8, parse
from dedup_filter.text.page_fields import PageText
from dedup_filter.upkeep import index_at

HOSTS = {each.name: each for each in KINDS}
SITES = sorted(HOSTS)[::10]
ARTICLE = f"{FIRST} {SECOND}"


def of(html, url="http://a/", **options):
    with RecordedPages.open(None, options) as pages:
        return pages.read(url, PageText(html=html))


def explain(name, url="", index=None):
    with RecordedPages.open(index, {}) as pages:
        return pages.named(name, url)


def text_and_prints(page):
    return page.profile.text, page.profile.fingerprint, page.profile.digest.hex()


def kept(folder, url):
    """The text and fingerprint that an index has of the last page at a URL."""
    with SqliteStore.open_to_read(folder) as reader:
        record = [each for each in reader.records() if each.url == url][-1]
        return reader.content(record).text, record.fingerprint, record.digest.hex()


def characters(*texts):
    return Counter("".join("".join(texts).split()))


def texts_in(tree):
    """All text nodes of a tree, and of the pages in its frames."""
    inner = [parse(page) for page in tree.xpath("//iframe/@srcdoc")]
    return tree.xpath("//text()") + [
        t for each in inner if each is not None for t in texts_in(each)
    ]


def require_all_accounted(found, html):
    """All characters of the text nodes are kept or left out, but for the blocks of data."""
    left_out = excluded_text(found)
    told = characters(found.profile.text, *(left.text for left in left_out))
    pictures = [each.text for each in found.page.content.blocks if each.kind == "picture"]
    there = characters(*texts_in(parse(html)), *pictures)
    if "data_read" in {left.rule for left in left_out}:
        assert there <= told
    else:
        assert there == told


@pytest.mark.parametrize("site", SITES)
def test_first_page_of_a_host_and_one_whose_frame_is_known(site, tmp_path):
    kind = HOSTS[site]
    pages = [(address(n), kind.serve(n)) for n in range(5)]
    for known in (0, 4):
        folder = tmp_path / str(known)
        with NearDuplicateFilter.open(folder, keep_text=True) as filter_:
            for url, html in pages[:known]:
                filter_.see(url, html=html)
        url, html = pages[known]
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        found = explain(str(tmp_path / "page.html"), url, index=index_at(str(folder))).explained
        with NearDuplicateFilter.open(folder, keep_text=True) as filter_:
            verdict = filter_.see(url, html=html)
        assert text_and_prints(found) == kept(folder, url)
        assert (found.profile.language, found.reason) == (verdict.language, verdict.reason)
        assert found.profile.shingles == verdict.shingles
        require_all_accounted(found, html)


@given(MARKUP)
@settings(max_examples=rounds(50, 150))
def test_any_markup(markup):
    found = of(markup)
    if not isinstance(found, Unjudged):
        require_all_accounted(found, markup)


@pytest.mark.parametrize("kind", SMALL)
def test_bad_pages(kind):
    page = BAD_PAGES[kind].make(1, 0)
    found = of(page)
    with NearDuplicateFilter.open() as pages:
        verdict = pages.see("http://a/", html=page)
    assert found.reason == verdict.reason
    if not isinstance(found, Unjudged):
        assert found.profile.fingerprint == verdict.fingerprint
        require_all_accounted(found, as_utf8(page) if isinstance(page, bytes) else page)


MENU = "<ul>" + "".join(f"<li><a href=/{n}>section {n} of it</a>" for n in range(9)) + "</ul>"


def rules(found):
    return [(left.rule, left.text, left.detail) for left in excluded_text(found)]


LINKED = "1 of 2 words are links"


@pytest.mark.parametrize(
    ("around", "left"),
    [
        ("<title>Sea</title>|", ("title", "Sea", "")),
        ("<title>Sea</title><title>Ice</title>|", ("title", "Ice", "not the first one")),
        ("<style>p {}</style>|", ("element", "p {}", "style")),
        ("|<script>go()</script>", ("element", "go()", "script")),
        ("|<svg><title>Sea</title></svg>", ("element", "Sea", "svg")),
        ("|<svg><text>b<title>c</title></text></svg>", ("element", "c", "title")),
        ("|<video>c</video>", ("element", "c", "video")),
        ("<div>" * 300 + "|<select>f</select>g", ("element", "f", "select")),
        ("|<iframe srcdoc='<style>p {}</style><p>four'>no</iframe>", ("element", "p {}", "style")),
        ("|<iframe srcdoc='<p>four'>no</iframe>", ("element", "no", "iframe")),
        ("|<div hidden>aside it</div>", ("hidden", "aside it", "")),
        ("|<div hidden id=S:0>aside <b>it</b></div>", ("hidden", "aside it", "")),
        ("|<template>a row <p hidden>more</template>", ("template", "a row", "")),
        ("|<noscript>JavaScript, please.</noscript>", ("notice", "JavaScript, please.", "")),
        ("|<script type=application/ld+json>{'a': 1}</script>", ("data", "{'a': 1}", "")),
        (
            f'<script type=a/json>["{ARTICLE} {SECOND}"]</script>|',
            ("data", f'["{ARTICLE} {SECOND}"]', ""),
        ),
        ("|<footer><p>Of this paper</footer>", ("frame", "Of this paper", "footer")),
        ("|<div class='x userComments'>Well said", ("frame", "Well said", "comments")),
        ("<p><a href=/>Home</a></p>|", ("container", "Home", "1 of 1 words are links")),
        (f"<p><a href=/>Prev</a> page<p>{ARTICLE}", ("before", "Prev page", LINKED)),
        (f"<p>{ARTICLE}</p><p><a href=/>Next</a> page", ("after", "Next page", LINKED)),
        (f"<p>{ARTICLE}</p><p><a href=/>Next</a> page<p>{ARTICLE}", ("links", "Next page", LINKED)),
    ],
)
def test_each_rule(around, left):
    html = around.replace("|", f"<div><p>{ARTICLE}</p></div>")
    found = of(html)
    assert left in rules(found)
    assert FIRST in found.profile.text
    require_all_accounted(found, html)


def test_hidden_text_and_data_that_are_read():
    assert rules(of(f"<p>one</p><div hidden>{ARTICLE}</div>")) == []
    data = f'{{"a": "{ARTICLE}"}}'
    found = of(f"<p>one</p><script type=application/json>{data}</script>")
    assert ("data_read", data, "") in rules(found)
    assert ARTICLE in found.profile.text


def test_frames_that_pages_of_the_host_have_shown(tmp_path, article):
    folder = tmp_path / "index"
    pages = [f"<p>Read in the harbour town since 1820</p><p>{article(n)}</p>" for n in range(4)]
    with NearDuplicateFilter.open(folder) as filter_:
        for number, html in enumerate(pages[:3]):
            filter_.see(f"http://a.example/{number}", html=html)
    (tmp_path / "a.html").write_text(pages[3])
    index = index_at(str(folder))
    here = explain(str(tmp_path / "a.html"), "http://a.example/3", index=index).explained
    assert rules(here) == [
        ("frame_seen", "Read in the harbour town since 1820", "shown by 3 earlier pages")
    ]
    assert (here.context.host.pages, here.profile.is_frame_known) == (3, True)
    for url, where in (("http://b.example/3", index), ("http://a.example/3", None)):
        assert rules(explain(str(tmp_path / "a.html"), url, index=where).explained) == []


def test_headline_of_a_list_of_links_that_stands_outside_of_it(tmp_path):
    """Such a page is judged with its links, and its headline is in no text."""
    notice = "<p>Read in the harbour town since 1820</p>"
    items = "".join(f"<li><a href=/{n}>Part number {n} of the harbour</a>" for n in range(40))
    menu = "<p><a href=/>One of the other papers of this town</a></p>" * 5
    text = f"<div><p>{ARTICLE}</p><ul>{items}</ul><p>{FIRST}</p></div>"
    html = f"{notice}<h1>All parts</h1>{menu}{text}"
    folder = tmp_path / "index"
    with NearDuplicateFilter.open(folder, keep_text=True) as pages:
        pages.see("http://a/1", html=notice)
    (tmp_path / "a.html").write_text(html)
    found = explain(str(tmp_path / "a.html"), "http://a/2", index=index_at(str(folder))).explained
    with NearDuplicateFilter.open(folder, keep_text=True) as pages:
        pages.see("http://a/2", html=html)
    assert found.profile.text == kept(folder, "http://a/2")[0]
    assert "Part number 7 of the harbour" in found.profile.text
    assert ("container", "All parts", "") in rules(found)
    require_all_accounted(found, html)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f"<html lang=en>{ARTICLE}", ("en", "declaration", "en")),
        (f"<html lang=de-AT>{ARTICLE}", ("en", "stopwords", "de")),
        (f"<html lang=en>{CHINESE}", ("zh", "script", "en")),
        (f"<p>{'qx zv ' * 30}", (None, "nothing", None)),
        (f"<p>{ARTICLE}", ("en", "stopwords", None)),
    ],
)
def test_language(markup, expected):
    found = of(markup)
    by = found.known_by.words.language_by
    assert (found.profile.language, by, found.page.content.language) == expected


def test_phrases_taken_for_advertisements():
    offer = "buy cheap copper lanterns discount shipping worldwide orders today winter sale"
    found = of(f"<p>{ARTICLE}</p><p>{' '.join([offer] * 3)}</p><p>{ARTICLE}</p>")
    assert consists_of_sentences(found.known_by)
    assert any(offer in row for row in found.advertisements)
    assert 20 < found.profile.shingles_without_stopword < found.profile.shingles
    assert not consists_of_sentences(of(f"<p>{' '.join([offer] * 9)}").known_by)


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (b"%PDF-1.7 ", "binary"),
        ("", "no_text"),
        ("<p>a few words", "too_short"),
        ("<p>...", "no_text"),
        ("<div id=root></div><script src=a.js></script>", "by_script"),
        ("<p>" + "<b>" * 200_001, "too_large"),
    ],
)
def test_why_a_page_would_be_unjudged(html, reason):
    found = of(html)
    with NearDuplicateFilter.open() as pages:
        assert pages.see("http://a/", html=html).reason == reason
    assert found.reason == reason
    assert isinstance(found, Unjudged) or found.profile.fingerprint is None


class TestPageOfAnIndex:
    """A page, and a copy at another host that has no other page."""

    URL, COPY = "http://a.example/1", "http://b.example/1"

    def index(self, folder, article, **options):
        html = f"<title>One</title>{MENU}<p>{article(1)}"
        (folder / "a.html").write_text(html)
        with NearDuplicateFilter.open(folder / "i", **options) as pages:
            verdicts = [pages.see(url, html=html) for url in (self.URL, self.COPY)]
        assert [verdict.outcome for verdict in verdicts] == ["new", "exact"]
        return index_at(str(folder / "i")), verdicts[0]

    def test_its_own_blocks_are_not_its_frame(self, tmp_path, article):
        """Neither of a kept page nor of a copy, nor of a page in a file at such a URL."""
        index, verdict = self.index(tmp_path, article, keep_text=True)
        file = str(tmp_path / "a.html")
        for arguments in ((self.URL,), (self.COPY,), (file, self.URL), (file, self.COPY)):
            found = explain(*arguments, index=index).explained
            assert (found.profile.fingerprint, found.profile.text) == (
                verdict.fingerprint,
                article(1),
            )
            assert {left.rule for left in excluded_text(found)} <= {"before", "title"}
            [text] = found.judged_texts
            assert (text.name, text.words) == ("new, main, span", len(article(1).split()))

    def test_recorded_without_its_text(self, tmp_path, article):
        index, verdict = self.index(tmp_path, article)
        found = explain(self.URL, index=index)
        assert (found.explained, found.compared_text, found.reason) == (None, None, None)
        assert (found.measures.fingerprint, found.measures.title) == (verdict.fingerprint, "One")
        copy = explain(self.COPY, index=index)
        assert (copy.record.outcome, copy.kept.url_of_original) == ("exact", self.URL)
