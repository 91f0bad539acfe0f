"""What `compare` says of two pages, against filters that see them, and shares counted by hand."""

import shutil
from itertools import count, pairwise
from random import Random

import numpy as np
import pytest
from gate import slow
from hypothesis import given
from hypothesis import strategies as st
from museum.arrangements import address, arrangements, copies_of
from museum.kinds import KINDS
from text_samples import FIRST, SECOND

from dedup_filter import NearDuplicateFilter
from dedup_filter.review import compare as module
from dedup_filter.review.compare import compare, word_changes
from dedup_filter.review.refusals import Ignorable
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.upkeep import index_at

ARTICLE = f"{FIRST} {SECOND}"


def said(verdict):
    """What is the same whatever number a page has."""
    refused = verdict.refused and verdict.refused._replace(page=0)
    return verdict._replace(page=None, original_page=None, refused=refused)


def pairs_of(kind):
    """Two pages of a host, and some copies of one of them."""
    number = Random(kind.name).randrange(kind.pages - 1)
    one = (address(number), kind.serve(number))
    others = [(address(number + 1), kind.serve(number + 1))]
    copies = copies_of(kind, number)
    sorts = [each for each in arrangements(kind) if each in copies]
    others += [(copies[sort].url, copies[sort].markup) for sort in sorts[:: len(sorts) // 2]]
    return [(one, other) for other in others]


def files(folder, *pages):
    paths = [folder / f"{number}.html" for number in range(len(pages))]
    for path, (_, html) in zip(paths, pages, strict=True):
        path.write_text(html, encoding="utf-8")
    return list(map(str, paths)), [url for url, _ in pages]


@pytest.mark.parametrize(
    "kind",
    [*KINDS[::24], *(slow(kind) for kind in KINDS[12::24])],
    ids=lambda kind: kind.name,
)
def test_the_verdict_is_that_of_a_filter_that_sees_both(kind, tmp_path):
    for one, other in pairs_of(kind):
        for distance in (0, 3, 12):
            found = compare(*files(tmp_path, one, other), {"max_distance": distance})
            with NearDuplicateFilter.open(max_distance=distance) as pages:
                pages.see(one[0], html=one[1])
                expected = pages.see(other[0], html=other[1])
            assert found.verdict == expected._replace(page=None)


@pytest.mark.parametrize("kind", KINDS[1::18], ids=lambda kind: kind.name)
def test_the_verdict_with_an_index_is_that_of_its_next_crawl(kind, tmp_path):
    """The first page is in the index, among others; each crawl finds it as it was kept."""
    folder, copies = tmp_path / "index", count()
    with NearDuplicateFilter.open(folder, keep_text=True) as pages:
        seen = [pages.see(address(each), html=kind.serve(each)) for each in range(4)]
    number = max(each for each, verdict in enumerate(seen) if verdict.outcome == "new")
    index = index_at(str(folder))
    here = (address(4), kind.serve(4))
    copy = (f"https://mirror.example/{number}", kind.serve(number))
    again = (address(number), kind.serve(number))
    for other in (here, copy, again):
        (path,), (url,) = files(tmp_path, other)
        for distance in (0, 12):
            options = {"max_distance": distance}
            found = compare([address(number), path], ["", url], options, index)
            assert (found.first.record.outcome, found.second.record) == ("new", None)
            later = shutil.copytree(folder, tmp_path / f"copy-{next(copies)}")
            with NearDuplicateFilter.open(later, **options) as pages:
                expected = pages.see(other[0], html=other[1])
            verdict = found.verdict
            if expected.original in (None, address(number)):
                assert (verdict.outcome, verdict.original) == (expected.outcome, expected.original)
                assert verdict.distance == expected.distance
            if verdict.outcome == "near":
                stored = recorded(folder, address(number)).fingerprint
                prints = [each.fingerprint for each in found.second.page.profile.texts]
                assert found.distance in {(stored ^ each).bit_count() for each in prints}


def test_a_page_that_is_kept_first_counts_for_its_host_beside_an_index(tmp_path, article):
    """The index has one more page of their host or none: the frame of the last is known by both."""
    menu = "".join(f"<li><a href=/{n}>section {n} of it</a>" for n in range(9))
    pages = [
        (
            f"http://a.example/{n}",
            f"<ul>{menu}</ul><h1>Story</h1><p>{article(n // 2, edits=n % 2)}</p>",
        )
        for n in range(1, 4)
    ]
    for known in (0, 1):
        folder = tmp_path / str(known)
        with NearDuplicateFilter.open(folder) as kept:
            for url, html in [("http://x.example/", f"<p>{SECOND}"), *pages[:known]]:
                kept.see(url, html=html)
        found = compare(*files(tmp_path, *pages[1:]), index=index_at(str(folder)))
        with NearDuplicateFilter.open(folder) as kept:
            kept.see(pages[1][0], html=pages[1][1])
            expected = kept.see(pages[2][0], html=pages[2][1])
        assert said(found.verdict) == said(expected)
        assert found.second.page.context.host.pages == 1 + known
        assert found.second.page.profile.is_frame_known == bool(known)


RELATIONS = [
    (("", ""), "as pages of one host, as A and B have no URL (give them with --url)"),
    (("http://a/1", ""), "as pages of two hosts, as B has no URL"),
    (
        ("http://a/1", "http://a/2"),
        "as pages of one host, a; the frame of B's host is not known: 1",
    ),
    (("http://a/1", "http://b/2"), "as pages of two hosts, a and b; the frame of B's host is not"),
]


@pytest.mark.parametrize(("urls", "assumed"), RELATIONS)
def test_the_relation_that_was_assumed(tmp_path, urls, assumed):
    paths, _ = files(tmp_path, *(("", f"<p>{ARTICLE}") for _ in urls))
    assert compare(paths, urls).assumed.startswith(assumed)
    given = given_texts(tmp_path, ARTICLE, ARTICLE)
    assert "B is a plain text, without a frame" in compare(given, urls).assumed


def recorded(folder, url):
    with SqliteStore.open_to_read(folder) as reader:
        return next(each for each in reader.records() if each.url == url)


def words(name, count):
    return " ".join(f"{name}{number} of the" for number in range(count))


def given_texts(folder, *texts):
    paths = [folder / f"{number}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return list(map(str, paths))


def phrases(text):
    cut = text.lower().split()
    return {tuple(cut[n : n + 3]) for n in range(len(cut) - 2)}


def test_shares_of_phrases(tmp_path):
    one, other = f"{words('a', 45)} {words('b', 10)}", f"{words('a', 45)} {words('c', 20)}"
    found = compare(given_texts(tmp_path, one, other)).likeness
    both = len(phrases(one) & phrases(other))
    assert found.of_second == pytest.approx(both / len(phrases(other)))
    assert found.of_first == pytest.approx(both / len(phrases(one)))
    assert found.jaccard == pytest.approx(both / len(phrases(one) | phrases(other)))
    assert not found.is_estimated


class TestInAnIndex:
    ONE = f"{ARTICLE} {words('a', 50)}"
    OTHER = f"{ARTICLE} {words('a', 47)} {words('b', 3)}"
    URLS = ("http://a.example/1", "http://b.example/1")

    def index(self, folder, **options):
        with NearDuplicateFilter.open(folder, **options) as pages:
            for url, text in zip(self.URLS, (self.ONE, self.OTHER), strict=True):
                verdict = pages.see(url, text=text)
        assert verdict.outcome == "near"
        return index_at(str(folder)), verdict

    def test_two_records(self, tmp_path):
        index, verdict = self.index(tmp_path / "index")
        found = compare(self.URLS, index=index)
        assert (found.second.record.outcome, found.second.kept.url_of_original) == (
            "near",
            self.URLS[0],
        )
        assert found.distance == verdict.distance
        assert found.likeness.of_second == pytest.approx(verdict.similarity, abs=0.01)
        assert (found.verdict, found.changes) == (None, None)

    def test_two_records_with_texts(self, tmp_path):
        index, verdict = self.index(tmp_path / "index", keep_text=True)
        found = compare(self.URLS, index=index)
        assert (found.verdict.outcome, found.verdict.similarity) == ("near", verdict.similarity)
        assert "b0" in [word for change in found.changes for word in change.words]

    @pytest.mark.parametrize("keep_text", [False, True])
    def test_a_dropped_page_is_compared_as_if_it_were_kept(self, tmp_path, keep_text):
        index, _ = self.index(tmp_path / "index", keep_text=keep_text)
        paths = given_texts(tmp_path, self.OTHER, self.OTHER.replace("b2", "c2"))
        for path, outcome in zip(paths, ("exact", "near"), strict=True):
            urls = ["", "http://c.example/"]
            found = compare([self.URLS[1], path], urls, index=index)
            assert (found.first.record.outcome, found.verdict.outcome) == ("near", outcome)
            assert found.verdict.original == self.URLS[1]

    @pytest.mark.parametrize("keep_text", [False, True])
    def test_a_record_and_a_file(self, tmp_path, keep_text):
        index, verdict = self.index(tmp_path / "index", keep_text=keep_text)
        one, other = given_texts(tmp_path, self.ONE, self.OTHER)
        found = compare([self.URLS[0], other], ["", "http://c.example/"], index=index).verdict
        assert (found.outcome, found.original) == ("near", self.URLS[0])
        assert found.similarity == verdict.similarity
        found = compare([self.URLS[0], other], ["", self.URLS[0]], index=index).verdict
        assert found.outcome == "revisit"
        found = compare([one, self.URLS[1]], index=index).verdict
        assert (None if found is None else found.outcome) == ("near" if keep_text else None)


@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [
        ("%PDF-1.7", f"<p>{ARTICLE}", "new"),
        (f"<p>{ARTICLE}", "%PDF-1.7", "unjudged"),
        (f"<p>{ARTICLE}", "<p>a few words", "unjudged"),
        ("<p>a few words", "<p>a few words", "exact"),
        (f"<p>{ARTICLE}", "<p>...", "unjudged"),
        ("<p>...", "<p>...", "unjudged"),
        ("", f"<p>{ARTICLE}", "new"),
    ],
)
def test_pages_that_are_hardly_any(tmp_path, one, other, outcome):
    paths, urls = files(tmp_path, ("http://a/", one), ("http://b/", other))
    index = tmp_path / "index"
    with NearDuplicateFilter.open(index) as pages:
        pages.see("http://c/", text=SECOND)
    for where in (None, index_at(str(index))):
        assert compare(paths, urls, index=where).verdict.outcome == outcome


PRODUCT = (
    "<nav><a href=/>Shop</a></nav><main><h1>Oak chair</h1><div>EUR {}</div><article><p>"
    f"{ARTICLE}</p></article><ul><li>Size {{}}</li></ul></main><footer>All rights reserved</footer>"
)


def test_the_diff_has_all_text_that_is_compared_and_counts_its_words(tmp_path):
    """A price above the main text, a size below it; no menu, no footer."""
    pages = [("http://a/1", PRODUCT.format(price, size)) for price, size in ((17, 40), (18, 41))]
    found = compare(*files(tmp_path, *pages))
    changed = [(each.kind, each.words) for each in found.changes if each.kind != "same"]
    assert changed == [("gone", ["17"]), ("new", ["18"]), ("gone", ["40"]), ("new", ["41"])]
    compared = f"Oak chair EUR 18 {ARTICLE} Size 41".split()
    told = [word for each in found.changes if each.kind != "gone" for word in each.words]
    assert told == compared
    assert found.second.words == len(compared)


def test_two_fetches_of_one_page_are_compared_in_all_their_text(tmp_path, article):
    """The second has more new words than a short text has; the rest is no frame for that."""
    menu = "".join(f"<li><a href=/{n}>section {n} of it</a>" for n in range(9))
    before = f"<ul>{menu}</ul><h1>Story</h1><p>{article(1)}</p>"
    more = article(2, words=30)
    pages = [("http://a/1", before), ("http://a/1", f"{before}<p>{more}</p>")]
    found = compare(*files(tmp_path, *pages))
    assert found.second.words == found.first.words + len(more.split())
    assert [change.kind for change in found.changes] == ["same", "new"]


LINE = '<p>By Anna <span class="sold">Sold {} times</span></p>'


@pytest.mark.parametrize(
    ("other", "selector"),
    [
        (f"<h1>Ice</h1><p>{ARTICLE}</p>{LINE.format(1038)}", ".sold"),
        # Without the element, the page is another one all the same: it has another headline.
        (f"<h1>Snow</h1><p>{ARTICLE}</p>{LINE.format(1038)}", None),
        (f"<h1>Ice</h1><p>{ARTICLE}</p><p>Sold 1038 times</p>", None),
    ],
)
def test_a_hint_is_proved(tmp_path, other, selector):
    one = f"<h1>Ice</h1><p>{ARTICLE}</p>{LINE.format(1037)}"
    paths, urls = files(tmp_path, ("http://a/1", one), ("http://a/2", other))
    found = compare(paths, urls)
    assert not found.verdict.is_duplicate
    assert (found.ignorable and found.ignorable.selector) == selector
    if selector:
        assert compare(paths, urls, {"ignore": selector}).verdict.is_duplicate


def test_a_hint_that_the_filter_refutes_is_not_given(tmp_path, monkeypatch):
    """The element that was found makes no difference to the verdict."""
    wrong = Ignorable(".other", ())
    monkeypatch.setattr(module, "ignorable", lambda *_: wrong)
    pages = [f"<h1>Ice</h1><p>{ARTICLE}</p>{LINE.format(n)}<i class=other>so</i>" for n in (1, 2)]
    paths, urls = files(tmp_path, *zip(("http://a/1", "http://a/2"), pages, strict=True))
    found = compare(paths, urls)
    assert found.verdict.refused.lines
    assert found.ignorable is None


TEXT = st.lists(
    st.sampled_from("the sea froze. in March\n snow fell. 港口 保持 开放。 ice\n".split(" ")),
    max_size=30,
).map(" ".join)


@given(TEXT, TEXT)
def test_a_word_diff_makes_the_second_text_of_the_first(one, other):
    changes = word_changes(one, other)
    for text, kind in ((one, "gone"), (other, "new")):
        told = [
            word for change in changes if change.kind in ("same", kind) for word in change.words
        ]
        assert "".join(told) == "".join(text.split())
    assert all(a.kind != b.kind for a, b in pairwise(changes))
    if one == other:
        assert {change.kind for change in changes} <= {"same"}


def test_frequent_words_of_long_texts_are_found_in_both():
    text = " ".join(f"the {number} of the" for number in range(300))
    changes = word_changes(text, f"{text} once more")
    assert [change.kind for change in changes] == ["same", "new"]
    lines = "\n".join([*["the same line"] * 300, "another"])
    assert [change.kind for change in word_changes(lines, f"first\n{lines}")] == ["new", "same"]


def test_long_texts_take_no_time():
    chance = np.random.default_rng(1)
    one, other = (" ".join(map(str, chance.integers(0, 50, 20_000))) for _ in range(2))
    assert [change.kind for change in word_changes(one, other)] == ["gone", "new"]
