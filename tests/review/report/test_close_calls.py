"""Close calls: the pairs, and the rules that the filter's verdicts had named."""

import pytest

from dedup_filter import NearDuplicateFilter
from dedup_filter.review.recorded_pages import RecordedPages
from dedup_filter.review.report.close_calls import SHARE_BEYOND, close_calls_of
from dedup_filter.review.report.collect import collect
from dedup_filter.upkeep.directory import DirectoryIndex


def calls_of(index, **options):
    with RecordedPages.open(DirectoryIndex(str(index)), options) as pages:
        found = collect(pages.recorded, pages.recorded.records(), pages.config, 1_000)
        calls = close_calls_of(pages, found)
    assert {page for pair in calls.pairs for page in pair[:2]} <= {*found.records}
    return calls, found


def page(headline, text, more=""):
    return f"<html><body><h1>{headline}</h1><p>{text}</p>{more}</body></html>"


@pytest.fixture
def judged(tmp_path, article):
    """Near pages that were kept, each for another reason, and the refusals of their verdicts."""
    index, refusals = tmp_path / "index", {}
    paragraph = f"<p>{article(9, words=60)}</p>"
    with NearDuplicateFilter.open(index, keep_text=True) as pages:
        for number, (headline, more) in enumerate(
            [("Ships", ""), ("Cranes", ""), ("Ships", paragraph), ("Ships", "<li>Size 40</li>")]
        ):
            url = f"https://a.example/{number}"
            verdict = pages.see(url, html=page(headline, article(1), more))
            if verdict.refused is not None:
                refusals[verdict.page] = verdict.refused
    assert {each.rule for each in refusals.values()} >= {"headline", "lines"}
    return index, refusals


def test_each_kept_page_names_the_rule_of_its_verdict(judged):
    index, refusals = judged
    calls, _ = calls_of(index)
    rules = {call.pair[:2]: (call.rule, call.why) for call in calls.kept}
    for number, refusal in refusals.items():
        rule, sentence = rules[number, refusal.page]
        assert rule == refusal.rule
        assert refusal.text[:20] in sentence
    assert all(
        call.pair.kind == "kept" and call.pair.page > call.pair.original for call in calls.kept
    )


def test_without_kept_blocks_no_rule_is_named_but_the_distance_is(tmp_path, article):
    index = tmp_path / "index"
    with NearDuplicateFilter.open(index, max_distance=0, shared_phrases=False) as pages:
        for edits in (0, 1):
            pages.see(f"https://{edits}.example/", text=article(1, edits=edits))
    ((within,), (beyond,), none) = (
        calls_of(index, max_distance=distance)[0].kept for distance in (12, 6, 0)
    )
    assert (within.rule, beyond.rule, none) == ("not known", "distance", [])
    assert f"{beyond.pair.distance} bits, at most 6 are near" in beyond.why


def test_duplicates_that_were_nearly_kept_come_closest_first(index):
    calls, found = calls_of(index)
    rooms = []
    for call in calls.dropped:
        _, _, distance, similarity, kind = call.pair
        assert kind == "near"
        by_bits = found.records[call.pair.page].reason is None
        rooms.append(min((similarity - 0.8) / SHARE_BEYOND, (12 - distance) / 3 if by_bits else 1))
        assert call.rule in ("distance", "similarity")
    assert rooms
    assert rooms == sorted(rooms)
    assert rooms[-1] < 1
    near = [pair for pair in found.pairs if pair.kind == "near"]
    assert len(near) > len(calls.dropped)


def test_of_too_many_pairs_some_are_examined(judged, monkeypatch):
    index, _ = judged
    monkeypatch.setattr("dedup_filter.review.report.close_calls._MOST_EXAMINED", 2)
    monkeypatch.setattr("dedup_filter.review.report.close_calls._MOST_LISTED", 1)
    calls, _ = calls_of(index)
    assert calls.candidates > calls.examined == 2
    assert len(calls.kept) == 1
