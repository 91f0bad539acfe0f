"""Verdicts on labelled streams may not get worse than floors.json says.

precision   of the dropped documents, the share whose original truly is a duplicate
recall      of the documents with an earlier duplicate, the share that was dropped for one
lost        documents dropped although nothing before them is even half alike
Originals that are neither alike nor different (between the two bounds) are never wrong.
"""

import json
from pathlib import Path

import pytest
from quality_stream import DIFFERENT, DUPLICATE, documents, jaccard

from dedup_filter import NearDuplicateFilter

FLOORS = json.loads(Path(__file__).with_name("floors.json").read_text(encoding="utf-8"))


def measure(language, kind):
    stream = documents(language)
    by_url = {document.url: document for document in stream}
    right = wrong = due = caught = lost = 0
    with NearDuplicateFilter.open() as pages:
        for number, document in enumerate(stream):
            verdict = pages.see(document.url, **{kind: getattr(document, kind)})
            similarities = [jaccard(document, earlier) for earlier in stream[:number]]
            has_duplicate = max(similarities, default=0) >= DUPLICATE
            due += has_duplicate
            if not verdict.is_duplicate:
                continue
            similarity = jaccard(document, by_url[verdict.original])
            right += similarity >= DUPLICATE
            wrong += similarity < DIFFERENT
            lost += max(similarities) < DIFFERENT
            caught += has_duplicate and similarity >= DIFFERENT
        pages.check()
    return {"precision": right / (right + wrong), "recall": caught / due, "lost": lost, "due": due}


@pytest.mark.parametrize("case", FLOORS)
def test_verdicts_are_as_good_as_ever(case):
    measured = measure(*case.split())
    floor = FLOORS[case]
    assert measured["due"] == floor["due"], "the stream itself has changed"
    assert measured["precision"] >= floor["precision"], measured
    assert measured["recall"] >= floor["recall"], measured
    assert measured["lost"] == 0, measured
