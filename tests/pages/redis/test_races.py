"""Crawlers that meet the same content at the same moment, on one server and on a cluster.

A. No two pages that are kept are near-duplicates.
B. Every page that is dropped repeats one that was kept.

The oracle knows what the pages are like, and compares each with each.
"""

import random
from collections import Counter

import pytest
from shared_crawlers import Article, crawl_together
from shared_groups import CRAWLERS, require_each_once, require_no_loss, rounds_of_crawlers
from site_pages import framed

from dedup_filter import NearDuplicateFilter

MANY_GROUPS = 800
"""So many that crawlers meet at some of them, however the system runs their processes."""


@pytest.mark.parametrize("groups", [40, pytest.param(MANY_GROUPS, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["see", "claim"])
def test_crawlers_keep_each_content_once(servers, way, groups):
    rounds = rounds_of_crawlers(f"{type(servers).__name__} {way}", groups)
    run = crawl_together(servers.url, way, rounds, min_similarity=0.7)
    assert set(run.became) == {like for each in rounds for likes in each for like in likes}
    assert set(run.whats()) <= {"kept", "dropped", "released"}
    require_each_once(run.became)
    require_no_loss(run.became)
    # Nothing was lost altogether: of each group a page is kept, unless all were given back.
    fates = {}
    for like, (what, _) in run.became.items():
        fates.setdefault(like.url.split("/")[3], set()).add(what)
    assert all("kept" in each or each == {"released"} for each in fates.values())
    assert run.whats()["dropped"] > groups
    assert run.counts["met"] > 0 or groups < MANY_GROUPS, "they did not meet"


@pytest.mark.parametrize("articles", [8, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["see", "claim"])
def test_pages_whose_frames_are_learnt_meanwhile_are_kept_once(servers, way, articles, article):
    """All of them crawl two mirrors of a site, in any order."""
    chance, rounds = random.Random("mirrors"), []
    for crawler in range(CRAWLERS):
        pages = [
            Article(f"http://{crawler}{mirror}.example/{number}", framed(article(number)))
            for mirror in "ab"
            for number in range(articles)
        ]
        rounds.append([chance.sample(pages, len(pages))])
    run = crawl_together(servers.url, way, rounds, min_similarity=0.7)
    kept = Counter()
    for page, (what, original) in run.became.items():
        number = page.url.rpartition("/")[2]
        kept[number] += what == "kept"
        assert original is None or original.rpartition("/")[2] == number
    assert kept == Counter(map(str, range(articles)))
    with NearDuplicateFilter.open(servers.url, max_distance=3) as pages:
        pages.check()
        assert len(pages) == articles
