"""A finished crawl judged by other options, against a crawl that has those options."""

import sqlite3
from contextlib import nullcontext

import pytest
from command_line import run
from index_feed import PARAGRAPHS, tamper
from index_feed import article as report

from crawler.demo_site.pages import build_pages
from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.review.tuning.rejudge import rejudge
from dedup_filter.store.sqlite.page_reader import Snapshot

DEMO = [
    {"url": f"https://{path[1:].replace('/', '.example/', 1)}", "html": page.body}
    for path, page in build_pages().items()
]
TEXTS = [
    {"url": f"https://texts.example/{number}.{edition}", "text": report(number, edition)}
    for edition in (0, 1)
    for number in range(4)
]
# Near in bits, and a third of the second is not in the first.
LONG = [PARAGRAPHS[100:160], PARAGRAPHS[100:140] + PARAGRAPHS[200:220]]
TEXTS += [
    {"url": f"https://long.example/{number}", "text": " ".join(paragraphs)}
    for number, paragraphs in enumerate(LONG)
]
OTHERS = [
    {"max_distance": 3},
    {"max_distance": 0},
    {"min_similarity": 0.97},
    {"min_similarity": 0.3, "max_distance": 9},
    {"min_similarity": None},
    {"scope": "host"},
    {"learn_frames": False},
    {"features": "shingles", "shingle_size": 2, "title_weight": 9},
    {"features": "words", "feature_hash": "fnv1a"},
]


def crawled(feed, folder=None, crawls=1, **options):
    """Judge pages in so many crawls; return what is said of those with text, but page numbers."""
    judged = []
    size = -(-len(feed) // crawls)
    for start in range(0, len(feed), size):
        with NearDuplicateFilter.open(*[folder] if folder else [], **options) as pages:
            judged += [pages.see(**each) for each in feed[start : start + size]]
    return [said(verdict) for verdict in judged if verdict.reason != "no_text"]


def said(judged):
    return judged.outcome, judged.original, judged.distance, judged.similarity


def rejudged(folder, **options):
    with Snapshot.open_to_read(folder) as snapshot:
        answer = rejudge(snapshot, options, lambda values, _: nullcontext(values))
        return answer, list(answer.pages)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A crawl of the demo site and of some texts, with pages kept; the distance tells something."""
    folder = tmp_path_factory.mktemp("finished") / "index"
    crawled(DEMO + TEXTS, folder, keep_text=True, shared_phrases=False)
    return folder


@pytest.mark.parametrize("options", OTHERS, ids=str)
def test_the_verdicts_are_those_of_a_crawl_with_these_options(finished, options):
    answer, pages = rejudged(finished, **options)
    expected = crawled(DEMO + TEXTS, **{"shared_phrases": False, **options})
    assert answer.is_exact
    assert [said(page.after) for page in pages] == expected
    assert expected != [said(page.before) for page in pages], "these options change nothing"
    urls = {page.page: page.url for page in pages}
    for page in pages:
        assert urls.get(page.after.original_page) == page.after.original


def test_with_its_own_options_nothing_changes(finished):
    answer, pages = rejudged(finished)
    assert [page.after for page in pages] == [page.before for page in pages]
    assert list(answer.changes()) == []
    assert answer.before == answer.after


def test_the_options_of_the_crawl_are_those_that_are_not_given(tmp_path):
    before = {"max_distance": 4, "min_similarity": 0.9, "learn_frames": False, "features": "words"}
    crawled(DEMO, tmp_path, keep_text=True, **before)
    answer, pages = rejudged(tmp_path, max_distance=12)
    assert {name: answer.before[name] for name in before} == before
    assert answer.after == answer.before | {"max_distance": 12}
    assert [said(page.after) for page in pages] == crawled(DEMO, **before | {"max_distance": 12})


def test_a_later_crawl_is_replayed_as_one(tmp_path):
    """Other pages at other hosts come in a second crawl, and none at its URL again."""
    crawled(DEMO, tmp_path / "index", crawls=2, keep_text=True)
    crawled(DEMO, tmp_path / "other", crawls=2, max_distance=3)
    answer, pages = rejudged(tmp_path / "index", max_distance=3)
    with Snapshot.open_to_read(tmp_path / "other") as other:
        expected = [(record.outcome, record.distance) for record in other.records()]
    assert [(page.after.outcome, page.after.distance) for page in pages] == expected
    assert answer.notes == []


def test_an_index_that_was_exported_and_imported_is_judged_the_same(finished, tmp_path):
    export = run("index", "export", str(finished))[1]
    assert run("index", "import", str(tmp_path / "other"), text=export)[0] == 0
    here, there = (rejudged(index, max_distance=3) for index in (finished, tmp_path / "other"))
    assert there[1] == here[1]
    assert (there[0].is_exact, there[0].before) == (True, here[0].before)


def test_a_page_that_was_revisited_is_told(tmp_path):
    crawled(TEXTS, tmp_path, keep_text=True)
    crawled([{**TEXTS[0], "text": TEXTS[0]["text"] + " And more."}], tmp_path, keep_text=True)
    answer, pages = rejudged(tmp_path)
    assert len(pages) == len(TEXTS)
    assert answer.notes == [
        "1 page came again in a later crawl: judged is the last form of each, in its first place"
    ]


def test_changes_are_told_apart_and_counted(tmp_path):
    feed = [
        {"url": "https://a.example/", "text": report(1)},
        {"url": "https://b.example/", "text": report(1, 1)},
        {"url": "https://c.example/", "text": report(1, 1) + " Of two words."},
        {"url": "https://d.example/", "text": report(1)},
    ]
    crawled(feed, tmp_path, keep_text=True)
    answer, _ = rejudged(tmp_path, min_similarity=1, max_distance=12)
    pages = {page.url[8]: page for page in rejudged(tmp_path, min_similarity=1)[1]}
    assert [pages[name].change for name in "abcd"] == [None, "kept", "kept", None]
    with Snapshot.open_to_read(tmp_path) as snapshot:
        answer = rejudge(snapshot, {"min_similarity": 1}, lambda values, _: nullcontext(values))
        assert [page.url[8] for page in answer.changes()] == ["b", "c"]
    assert answer.totals == {"pages": 4, "dropped_before": 3, "dropped_after": 1, "kept": 2}
    crawled(feed, tmp_path / "strict", keep_text=True, min_similarity=1)
    pages = {page.url[8]: page for page in rejudged(tmp_path / "strict", min_similarity=0.8)[1]}
    assert [pages[name].change for name in "abcd"] == [None, "dropped", "dropped", None]


def test_another_original_is_a_change(tmp_path):
    """With no bit to spare the second is kept, and the third repeats that exactly."""
    texts = [report(1), report(1, 1), report(1, 1).upper()]
    feed = [{"url": f"https://{n}.example/", "text": text} for n, text in enumerate(texts)]
    crawled(feed, tmp_path, keep_text=True)
    pages = rejudged(tmp_path, min_similarity=1)[1]
    assert [page.change for page in pages] == [None, "kept", "other_original"]
    assert pages[2].after.original == "https://1.example/"


PHRASES = [{"shared_phrases": True}, {"shared_phrases": False}]


@pytest.fixture(scope="module", params=PHRASES, ids=str)
def bare(request, tmp_path_factory):
    """The same crawl, of which nothing but records was kept, and the options that it had."""
    folder = tmp_path_factory.mktemp("bare") / "index"
    crawled(DEMO + TEXTS, folder, **request.param)
    return folder, request.param


class TestWithoutPages:
    """Nothing but records was kept."""

    def test_its_own_options_give_its_own_verdicts(self, bare):
        answer, pages = rejudged(bare[0])
        assert not answer.is_exact
        assert [page.after for page in pages] == [page.before for page in pages]

    @pytest.mark.parametrize("options", OTHERS[:5], ids=str)
    def test_few_verdicts_are_wrong(self, bare, options):
        index, own = bare
        answer, pages = rejudged(index, **options)
        expected = crawled(DEMO + TEXTS, **own | options)
        assert not answer.is_exact
        wrong = [
            page.url
            for page, (outcome, *_) in zip(pages, expected, strict=True)
            if page.after.is_duplicate != (outcome in ("near", "exact"))
        ]
        assert len(wrong) <= len(pages) // 20, wrong

    @pytest.mark.parametrize("own", PHRASES, ids=str)
    def test_of_plain_texts_none_is(self, tmp_path, own):
        crawled(TEXTS, tmp_path, **own)
        for options in OTHERS[:5]:
            pages = rejudged(tmp_path, **options)[1]
            assert [said(page.after) for page in pages] == crawled(TEXTS, **own | options)

    @pytest.mark.parametrize("host", ["a.example", "b.example"])
    def test_what_phrases_find_beyond_k_bits_is_what_they_find_for_a_crawl(
        self, tmp_path, article, host
    ):
        """A page that the crawl found so, and one that it kept for its `min_similarity`."""
        whole = [article(number, words=60) for number in range(8)]
        edited = " ".join(whole[2:5]).split()
        for at in range(len(edited) // 6, len(edited), len(edited) // 3):
            edited[at] = f"edited{at}"
        texts = "\n\n".join(whole), "\n\n".join(whole[2:5]), " ".join(edited)
        hosts = "a.example", host, host
        feed = [
            {"url": f"https://{on}/{number}", "text": text}
            for number, (on, text) in enumerate(zip(hosts, texts, strict=True))
        ]
        before = crawled(feed, tmp_path, min_similarity=0.97)
        assert [outcome for outcome, *_ in before] == ["new", "near", "new"]
        for options in [{}, *OTHERS[:5], {"min_similarity": 0.8}]:
            pages = rejudged(tmp_path, **options)[1]
            expected = crawled(feed, **{"min_similarity": 0.97, **options})
            assert [said(page.after)[:3] for page in pages] == [each[:3] for each in expected]
        assert [distance > 12 for _, _, distance, _ in expected[1:]] == [True, True]

    def test_one_page_that_was_not_kept_makes_an_estimate(self, tmp_path):
        crawled(TEXTS[:-1], tmp_path, keep_text=True)
        crawled(TEXTS[-1:], tmp_path)
        assert not rejudged(tmp_path)[0].is_exact

    @pytest.mark.parametrize("options", OTHERS[5:], ids=str)
    def test_other_options_are_refused(self, bare, options):
        with pytest.raises(ConfigError, match=r"only if pages were kept .*DEDUP_KEEP_TEXT"):
            rejudged(bare[0], **options)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_pages": 5}, "max_pages cannot be judged by: pages beyond that bound"),
        ({"workers": 2}, "workers cannot be judged by: it changes no verdict"),
        ({"features": "shingles", "image_weight": 5}, "images of the pages were not kept"),
        ({"max_distance": 13}, "max_distance must be a whole number from 0 to 12"),
        ({"max_distanse": 3}, "did you mean max_distance"),
    ],
)
def test_options_that_cannot_be_judged_by_are_refused(finished, options, why):
    with pytest.raises(ConfigError, match=why):
        rejudged(finished, **options)


def test_images_count_where_they_were_kept(tmp_path):
    options = {"features": "shingles", "image_weight": 40}
    pictures = [f'<img src="/{n}.png">' for n in range(3)]
    feed = [
        {"url": f"https://{n}.example/", "html": f"<p>{report(1)}{picture}</p>"}
        for n, picture in enumerate(pictures)
    ]
    crawled(feed, tmp_path, keep_text=True, min_similarity=None, **options)
    pages = rejudged(tmp_path, max_distance=2)[1]
    after = crawled(feed, min_similarity=None, max_distance=2, **options)
    assert [said(page.after) for page in pages] == after


def test_other_versions_are_told(finished, tmp_path):
    copy = tmp_path / "copy"
    source = sqlite3.connect(finished / "pages.sqlite3")
    copy.mkdir()
    target = sqlite3.connect(copy / "pages.sqlite3")
    source.backup(target)
    source.close()
    target.close()
    tamper(
        copy,
        """UPDATE meta SET value = json_set(value, '$.jieba', '0.1') WHERE key = 'scheme';
        UPDATE crawls SET options = NULL""",
    )
    notes = rejudged(copy)[0].notes
    assert notes == [
        "no crawl has noted its options: taken are the defaults",
        "other versions made its fingerprints (jieba): some changes are theirs",
    ]
    tamper(copy, "UPDATE forms SET form = x'00' WHERE page = 2")
    with pytest.raises(StoreCorrupt, match="page 2 cannot be judged again"):
        rejudged(copy)


def canonical_feed(article):
    """A page of eight paragraphs, parts that name it, and one that does not."""

    def page(numbers, link=""):
        text = "".join(f"<p>{article(number, words=60)}</p>" for number in numbers)
        return f"<html><head><title>Story</title>{link}</head><body><h1>Story</h1>{text}"

    link = '<link rel="canonical" href="/whole">'
    pages = [page(range(8)), page(range(3), link), page(range(3, 6), link), page(range(5, 8))]
    names = "whole", 1, 2, 3
    return [
        {"url": f"http://a.example/{name}", "html": html}
        for name, html in zip(names, pages, strict=True)
    ]


def test_canonical_links_are_kept_with_the_pages(tmp_path, article):
    feed = canonical_feed(article)
    crawled(feed, tmp_path / "on", keep_text=True, canonical=True, shared_phrases=False)
    answer, pages = rejudged(tmp_path / "on")
    assert answer.is_exact
    assert [page.after.outcome for page in pages] == ["new", "near", "near", "new"]
    assert [page.change for page in pages] == [None] * 4
    _, pages = rejudged(tmp_path / "on", canonical=False)
    assert [page.change for page in pages] == [None, "kept", "kept", None]
    crawled(feed, tmp_path / "off", keep_text=True, shared_phrases=False)
    _, pages = rejudged(tmp_path / "off", canonical=True)
    assert [page.change for page in pages] == [None, "dropped", "dropped", None]


def test_estimates_believe_what_was_found_by_url(tmp_path, article):
    crawled(canonical_feed(article), tmp_path, canonical=True, shared_phrases=False)
    for options, changes in (({"max_distance": 3}, 0), ({"min_similarity": None}, 2)):
        answer, pages = rejudged(tmp_path, **options)
        assert not answer.is_exact
        assert [page.change for page in pages].count("kept") == changes
