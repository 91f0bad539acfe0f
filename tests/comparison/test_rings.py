"""Asked in rings, first within few bits, an index gives the verdicts that it gives at once."""

import random

import pytest
from gate import rounds, slow
from made_stories import edited, page, paragraphs, story, teasers

from dedup_filter import NearDuplicateFilter
from dedup_filter.hamming.hamming_index import HammingIndex

PAGES = rounds(60, 120)


def stream(seed):
    """Pages of some stories on three hosts: copies, edited and cut ones, and ones beside others."""
    chance = random.Random(seed)
    for number in range(PAGES):
        host = f"http://{chance.choice('aabc')}.example/"
        texts = story(chance.randrange(8), 6)
        for _ in range(chance.choice([0, 0, 1, 2, 9])):
            place = chance.randrange(len(texts))
            texts[place] = edited(texts[place], chance.choice([1, 2, 6]), chance.randrange(3))
        if chance.random() < 0.2:
            del texts[chance.randrange(len(texts)) :]
        beside = teasers(chance.randrange(3)) if chance.random() < 0.5 else ""
        html = page(paragraphs(texts), beside=f"<aside>{beside}</aside>")
        if chance.random() < 0.2:
            link = f'<link rel="canonical" href="{host}{chance.randrange(number + 1)}">'
            html = html.replace("<head>", f"<head>{link}")
        url = f"{host}{chance.randrange(number + 1) if chance.random() < 0.1 else number}"
        yield url, html


def verdicts(folder, seed, options):
    """Verdicts on a stream, whose second half is another crawl; some pages are released."""
    found, seen = [], list(stream(seed))
    for crawl, part in ("first", seen[: PAGES // 2]), ("second", seen[PAGES // 2 :]):
        with NearDuplicateFilter.open(folder, crawl=crawl, **options) as pages:
            for number, (url, html) in enumerate(part):
                claimed = pages.claim(url, html=html)
                (pages.release if number % 7 == 3 else pages.commit)(claimed)
                found.append(claimed._replace(candidates=0))
    return found


@pytest.fixture
def asked(monkeypatch):
    """The distance of each look-up."""
    distances, within = [], HammingIndex.within

    def noted(index, fingerprint, max_distance=None, most=None):
        if index.max_distance and most:
            distances.append(index.max_distance if max_distance is None else max_distance)
        return within(index, fingerprint, max_distance, most)

    monkeypatch.setattr(HammingIndex, "within", noted)
    return distances


@pytest.mark.parametrize(
    ("seed", "options", "most"),
    [
        (1, {}, 64),
        slow(3, {"max_distance": 6}, 1),
        slow(2, {}, 3),
        slow(8, {"shared_phrases": False}, 2),
        slow(4, {"scope": "host"}, 64),
        slow(5, {"canonical": True}, 64),
        slow(6, {"changes": True}, 64),
        slow(7, {"min_similarity": None}, 64),
    ],
)
def test_the_verdicts_are_the_same(tmp_path, monkeypatch, asked, seed, options, most):
    for module in "look_ups", "candidates":
        monkeypatch.setattr(f"dedup_filter.comparison.{module}.MOST_COMPARED", most)
    expected = verdicts(tmp_path / "one", seed, options)
    k = options.get("max_distance", 12)
    assert set(asked) == {k}
    at_once = len(asked)
    asked.clear()
    monkeypatch.setattr("dedup_filter.hamming.hamming_index.first_ring", lambda *_: 3)
    assert verdicts(tmp_path / "other", seed, options) == expected
    assert len({each.outcome for each in expected}) >= 3
    assert set(asked) == {3, k}
    assert asked.count(k) < at_once
