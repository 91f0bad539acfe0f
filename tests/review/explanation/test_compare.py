"""What `compare` says of two pages, against filters that see them, and shares counted by hand."""

import shutil
from itertools import count, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from museum.arrangements import address, arrangements, copies_of
from museum.kinds import KINDS
from strategies import damage_up_to, fingerprints
from text_samples import FIRST, SECOND

from dedup_filter import NearDuplicateFilter
from dedup_filter.hamming.layout import Layout
from dedup_filter.hamming.planner import plan
from dedup_filter.review.explanation.compare import compare
from dedup_filter.review.explanation.table_look_ups import look_ups
from dedup_filter.review.explanation.text_diff import only_in, word_changes
from dedup_filter.store.sqlite.page_reader import PageReader
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
    [*KINDS[::24], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[12::24])],
    ids=lambda kind: kind.name,
)
def test_verdicts_are_those_of_a_filter_that_sees_both(kind, tmp_path):
    for one, other in pairs_of(kind):
        found = compare(*files(tmp_path, one, other))
        for distance, verdict in enumerate(found.verdicts):
            with NearDuplicateFilter.open(max_distance=distance) as pages:
                pages.see(one[0], html=one[1])
                expected = pages.see(other[0], html=other[1])
            assert verdict._replace(page=None) == expected._replace(page=None)


@pytest.mark.parametrize("kind", KINDS[1::18], ids=lambda kind: kind.name)
def test_verdicts_with_an_index_are_those_of_its_next_crawl(kind, tmp_path):
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
        found = compare([address(number), path], ["", url], index=index)
        assert (found.first.recorded, found.second.recorded) == ("new", None)
        for distance in (0, 3, 12):
            later = shutil.copytree(folder, tmp_path / f"copy-{next(copies)}")
            with NearDuplicateFilter.open(later, max_distance=distance) as pages:
                expected = pages.see(other[0], html=other[1])
            verdict = found.verdicts[distance]
            if verdict.outcome == "near":
                record = recorded(folder, address(number))
                assert found.first.fingerprints == {"recorded": record.fingerprint}
                assert found.distance <= 12
                bits = sum(1 << bit for bit in found.differing_bits)
                prints = found.second.fingerprints
                assert prints[found.by_text] ^ bits == record.fingerprint
            if expected.original in (None, address(number)):
                assert (verdict.outcome, verdict.original) == (expected.outcome, expected.original)
                assert verdict.distance == expected.distance


def recorded(folder, url):
    with PageReader.open_to_read(folder) as reader:
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
    one, other = f"{words('a', 90)} {words('b', 20)}", f"{words('a', 90)} {words('c', 40)}"
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
        assert (found.second.recorded, found.second.original) == ("near", self.URLS[0])
        assert found.distance == verdict.distance == len(found.differing_bits)
        assert found.likeness.of_second == pytest.approx(verdict.similarity, abs=0.01)
        assert found.likeness.is_estimated
        assert (found.verdicts, found.changes, found.only_in_first) == (None, None, None)

    def test_two_records_with_texts(self, tmp_path):
        index, verdict = self.index(tmp_path / "index", keep_text=True)
        found = compare(self.URLS, index=index)
        assert [said(each).outcome for each in found.verdicts[verdict.distance :]] == ["near"] * (
            13 - verdict.distance
        )
        assert found.verdicts[12].similarity == verdict.similarity
        assert "b0" in [word for change in found.changes for word in change.words]

    def test_a_file_after_a_record(self, tmp_path):
        index, verdict = self.index(tmp_path / "index")
        (path,) = given_texts(tmp_path, self.OTHER)
        found = compare([self.URLS[0], path], ["", "http://c.example/"], index=index)
        assert found.verdicts[12].outcome == "near"
        assert found.verdicts[12].similarity == verdict.similarity
        assert found.verdicts[12].original == self.URLS[0]

    def test_a_record_after_a_file(self, tmp_path):
        index, _ = self.index(tmp_path / "index", keep_text=True)
        (path,) = given_texts(tmp_path, self.ONE)
        found = compare([path, self.URLS[1]], index=index)
        assert found.verdicts[12].outcome == "near"

    def test_the_same_url_in_a_later_crawl(self, tmp_path):
        index, _ = self.index(tmp_path / "index")
        (path,) = given_texts(tmp_path, self.OTHER)
        found = compare([self.URLS[0], path], ["", self.URLS[0]], index=index)
        assert found.verdicts[12].outcome == "revisit"


def test_the_first_block_that_the_first_page_lacks(tmp_path):
    page = f"<p>{ARTICLE}</p><p>Price: 17</p>"
    found = compare(
        *files(
            tmp_path,
            ("http://a/1", f"<h1>Ice</h1>{page}"),
            ("http://a/2", f"<h1>Ice</h1>{page.replace('17', '18')}"),
        )
    )
    refused = found.verdicts[12].refused
    assert (refused.rule, refused.words, refused.text) == ("lines", 2, "Price: 18")
    assert (found.only_in_first, found.only_in_second) == (["Price: 17"], ["Price: 18"])


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
        found = compare(paths, urls, index=where)
        assert {verdict.outcome for verdict in found.verdicts} == {outcome}


layouts = st.one_of(
    st.integers(0, 12).map(lambda k: (plan(k), k)),
    st.just((Layout(6, 3), 3)),
    st.just((Layout(4, 1, Layout(4)), 3)),
    st.just((Layout(13), 12)),
)


@given(fingerprints, damage_up_to(14), layouts)
def test_some_table_finds_what_is_near_and_each_as_its_probes_do(one, damage, layout_and_k):
    layout, k = layout_and_k
    other = one ^ damage
    found = look_ups(one, other, layout, k)
    assert any(table.finds for table in found) == (damage.bit_count() <= k)
    for table, shape in zip(found, layout.table_shapes, strict=True):
        positions = [p for first, last in table.leading for p in range(first, last - 1, -1)]
        assert positions == list(shape.order[: shape.prefix_bits])
        prefix = 64 - shape.prefix_bits
        asked = {shape.permuted(one ^ mask) >> prefix for mask in shape.probes(k)}
        meets = shape.permuted(other) >> prefix in asked
        assert table.finds == (meets and damage.bit_count() <= k)
        assert table.differing == sum(damage >> position & 1 for position in positions)


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


@given(TEXT, TEXT)
def test_nothing_is_only_in_a_text_that_has_all_of_it(one, other):
    assert only_in(one, f"{other}\n{one}") == []
    assert all("".join(each.split()) in "".join(one.split()) for each in only_in(one, other))


def test_sentences_of_one_text_only():
    assert only_in(f"{ARTICLE}\nIt froze again.", f"it froze  AGAIN.\n{FIRST}") == [
        SECOND.rstrip(".")
    ]


def test_long_texts_take_no_time():
    chance = np.random.default_rng(1)
    one, other = (" ".join(map(str, chance.integers(0, 50, 20_000))) for _ in range(2))
    assert [change.kind for change in word_changes(one, other)] == ["gone", "new"]
