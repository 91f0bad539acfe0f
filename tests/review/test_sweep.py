"""Kept pages judged again by other settings, against crawls that have those settings."""

from contextlib import nullcontext

import pytest
from command_line import run
from gate import slow
from index_feed import PARAGRAPHS, tamper
from index_feed import article as report

from crawler.demo_site.pages import build_pages
from dedup_filter import NearDuplicateFilter
from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.review.sweep import DISTANCES, SIMILARITIES, configs_of, replayed, sweep
from dedup_filter.store.sqlite_store import SqliteStore

DEMO = [
    {"url": f"https://{path[1:].replace('/', '.example/', 1)}", "html": page.body}
    for path, page in build_pages().items()
]
TEXTS = [
    {"url": f"https://texts.example/{number}.{edition}", "text": report(number, edition)}
    for edition in (0, 1)
    for number in range(4)
]
# Near in bits, and a third of the second is not in the first: a copy on another host may lack it.
LONG = [PARAGRAPHS[100:160], PARAGRAPHS[100:140] + PARAGRAPHS[200:220]]
TEXTS += [
    {"url": f"https://{host}.example/", "text": " ".join(paragraphs)}
    for host, paragraphs in zip(("long", "mirror"), LONG, strict=True)
]
OTHERS = [
    {"max_distance": 3},
    {"min_similarity": 0.97},
    {"min_similarity": 0.3, "max_distance": 9},
    {"min_similarity": None},
    {"scope": "host"},
    {"learn_frames": False},
    {"ignore_numbers": True, "min_similarity": 0.97},
    {"features": "shingles", "shingle_size": 2, "title_weight": 9},
    {"features": "words", "feature_hash": "fnv1a"},
]


def crawled(feed, folder=None, crawls=1, **options):
    """Judge pages in so many crawls; return what is said of the recorded pages."""
    judged = []
    size = -(-len(feed) // crawls)
    for start in range(0, len(feed), size):
        with NearDuplicateFilter.open(*[folder] if folder else [], **options) as pages:
            judged += [pages.see(**each) for each in feed[start : start + size]]
    return [said(verdict) for verdict in judged if verdict.reason != "no_text"]


def said(judged):
    return judged.outcome, judged.original, judged.distance, judged.similarity


def verdicts_of(folder, *settings):
    """What is said of each page, by the options of the crawl and by each setting."""
    with SqliteStore.open_to_read(folder) as recorded:
        configs = configs_of(recorded, settings or [{}])
        rows = [verdicts for _, verdicts in replayed(recorded, recorded.records(), configs)]
    return [[said(verdict) for verdict in column] for column in zip(*rows, strict=True)]


def swept(folder, *settings, **bounds):
    with SqliteStore.open_to_read(folder) as recorded:
        return sweep(recorded, settings, lambda values, _: nullcontext(values), **bounds)


def changes(folder, **options):
    return [(each.url, each.kind) for each in swept(folder, options)[1].examples]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A crawl of the demo site and of some texts; without shared phrases, the distance matters."""
    folder = tmp_path_factory.mktemp("finished") / "index"
    crawled(DEMO + TEXTS, folder, keep_text=True, shared_phrases=False)
    return folder


@pytest.mark.parametrize("settings", [OTHERS[:1], slow(OTHERS)], ids=["one", "all"])
def test_the_verdicts_are_those_of_crawls_with_these_settings(finished, settings):
    """Now is the crawl itself."""
    now, *others = verdicts_of(finished, *settings)
    assert now == crawled(DEMO + TEXTS, shared_phrases=False)
    for options, found in zip(settings, others, strict=True):
        assert found == crawled(DEMO + TEXTS, **{"shared_phrases": False, **options}), options
        assert found != now, f"{options} change nothing"


@pytest.mark.slow
def test_an_index_that_was_exported_and_imported_is_judged_the_same(finished, tmp_path):
    export = run("index", "export", str(finished))[1]
    assert run("index", "import", str(tmp_path / "other"), text=export)[0] == 0
    assert verdicts_of(tmp_path / "other", OTHERS[0]) == verdicts_of(finished, OTHERS[0])


@pytest.mark.slow
def test_a_later_crawl_is_replayed_as_one(tmp_path):
    """Other pages at other hosts come in a second crawl, and none at its URL again."""
    crawled(DEMO, tmp_path / "index", crawls=2, keep_text=True)
    crawled(DEMO, tmp_path / "other", crawls=2, max_distance=3)
    found = verdicts_of(tmp_path / "index", {"max_distance": 3})[1]
    with SqliteStore.open_to_read(tmp_path / "other") as other:
        expected = [(record.outcome, record.distance) for record in other.records()]
    assert [(outcome, distance) for outcome, _, distance, _ in found] == expected


@pytest.mark.slow
def test_the_options_of_the_last_crawl_are_those_that_are_not_given(tmp_path):
    before = {"max_distance": 4, "min_similarity": 0.9, "learn_frames": False, "features": "words"}
    crawled(DEMO, tmp_path, keep_text=True, **before)
    assert verdicts_of(tmp_path, {"max_distance": 12}) == [
        crawled(DEMO, **before),
        crawled(DEMO, **before | {"max_distance": 12}),
    ]
    now, effect = swept(tmp_path, {"max_distance": 12})
    assert now.options.items() >= before.items()
    assert effect.options == {"max_distance": 12}


@pytest.mark.slow
def test_without_a_setting_the_usual_values_are_tried(finished):
    now, *effects = swept(finished)
    assert [effect.options for effect in effects] == [
        *({"max_distance": bits} for bits in DISTANCES if bits != 12),
        *({"min_similarity": share} for share in SIMILARITIES if share != 0.8),
    ]
    for effect in effects:
        more, fewer = effect.changed["newly_dropped"], effect.changed["newly_kept"]
        assert effect.dropped == now.dropped + more - fewer
    assert len({effect.dropped for effect in effects}) > 2


def test_kinds_of_changes_are_counted_and_their_originals_named(tmp_path):
    """With no word to spare the second is kept, and the third repeats that exactly."""
    texts = [report(1), report(1, 1), report(1, 1).upper(), report(1, 1) + " Two words."]
    feed = [{"url": f"https://{n}.example/", "text": text} for n, text in enumerate(texts)]
    crawled(feed, tmp_path, keep_text=True)
    now, effect = swept(tmp_path, {"min_similarity": 1})
    found = [
        (url[8], kind, before.original[8], after.original and after.original[8])
        for url, kind, before, after in effect.examples
    ]
    assert found == [
        ("1", "newly_kept", "0", None),
        ("2", "other_original", "0", "1"),
        ("3", "newly_kept", "0", None),
    ]
    assert effect.changed == {"newly_kept": 2, "other_original": 1}
    assert (now.dropped, effect.dropped) == (3, 1)
    crawled(feed, tmp_path / "strict", keep_text=True, min_similarity=1)
    found = swept(tmp_path / "strict", {"min_similarity": 0.8}, examples=1)[1]
    assert found.changed == {"newly_dropped": 2, "other_original": 1}
    originals = [(each.url[8], each.after.original[8]) for each in found.examples]
    assert originals == [("1", "0"), ("2", "0")]


def test_some_pages_are_judged_as_if_there_were_no_others(finished, tmp_path):
    options = {"shared_phrases": False, "max_distance": 3}
    _, effect = swept(finished, {"max_distance": 3}, most=40)
    first = crawled(DEMO + TEXTS, **options)[:40]
    assert effect.dropped == sum(outcome in ("near", "exact") for outcome, *_ in first)
    hosts = ["texts.example", "long.example", "mirror.example"]
    _, effect = swept(finished, {"max_distance": 3}, hosts=hosts)
    of_hosts = crawled(TEXTS, **options)
    assert effect.dropped == sum(outcome in ("near", "exact") for outcome, *_ in of_hosts)
    with pytest.raises(ConfigError, match=r"has no page of none\.example"):
        swept(finished, hosts=["none.example"])


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
        swept(finished, options)


def test_pages_that_cannot_be_judged_again_are_refused(tmp_path):
    crawled(TEXTS[:-1], tmp_path, keep_text=True)
    tamper(tmp_path, "UPDATE contents SET form = x'00' WHERE page = 2")
    with pytest.raises(StoreCorrupt, match="page 2 cannot be judged again"):
        swept(tmp_path)


def test_pages_whose_text_was_not_kept_are_left_out(tmp_path):
    crawled(TEXTS[:-1], tmp_path / "some", keep_text=True)
    crawled(TEXTS[-1:], tmp_path / "some")
    crawled(TEXTS[:-1], tmp_path / "fewer", keep_text=True)
    some, fewer = (swept(tmp_path / name)[0] for name in ("some", "fewer"))
    assert some.dropped == fewer.dropped
    crawled(TEXTS, tmp_path / "none")
    with pytest.raises(ConfigError, match=r"not kept the text of its pages.*DEDUP_KEEP_TEXT"):
        swept(tmp_path / "none")


def test_images_count_where_they_were_kept(tmp_path):
    options = {"features": "shingles", "image_weight": 40, "min_similarity": None}
    feed = [
        {"url": f"https://{n}.example/", "html": f'<p>{report(1)}<img src="/{n}.png"></p>'}
        for n in range(3)
    ]
    crawled(feed, tmp_path, keep_text=True, **options)
    assert verdicts_of(tmp_path, {"max_distance": 2})[1] == crawled(feed, max_distance=2, **options)


def test_canonical_links_are_kept_with_the_pages(tmp_path, article):
    """A page of eight paragraphs, two parts that name it, and one that does not."""

    def page(numbers, link=""):
        text = "".join(f"<p>{article(number, words=60)}</p>" for number in numbers)
        return f"<html><head><title>Story</title>{link}</head><body><h1>Story</h1>{text}"

    link = '<link rel="canonical" href="/0">'
    pages = [page(range(8)), page(range(3), link), page(range(3, 6), link), page(range(5, 8))]
    urls = [f"http://a.example/{number}" for number in range(4)]
    feed = [{"url": url, "html": html} for url, html in zip(urls, pages, strict=True)]
    for before, kind in ((True, "newly_kept"), (False, "newly_dropped")):
        folder = tmp_path / str(before)
        crawled(feed, folder, keep_text=True, canonical=before, shared_phrases=False)
        assert changes(folder, canonical=not before) == [(url, kind) for url in urls[1:3]]
