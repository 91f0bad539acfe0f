"""Verdicts on labelled streams may not get worse than FLOORS says.

due         documents with an earlier duplicate; another number means another stream
precision   of the dropped documents, the share whose original truly is a duplicate
recall      of the documents that are due, the share that was dropped for one
lost        documents dropped although nothing before them is even half alike
Originals that are neither alike nor different (between the two bounds) are never wrong.
"""

import pytest
from quality_stream import DIFFERENT, DUPLICATE, documents, jaccard

from dedup_filter import NearDuplicateFilter

FLOORS = {
    "en text": {"due": 83, "precision": 1.0, "recall": 0.95},
    "zh text": {"due": 45, "precision": 1.0, "recall": 0.9},
    "zh-hant text": {"due": 26, "precision": 1.0, "recall": 0.95},
    "en html": {"due": 83, "precision": 1.0, "recall": 0.85},
    "zh html": {"due": 45, "precision": 1.0, "recall": 0.85},
    "zh-hant html": {"due": 26, "precision": 1.0, "recall": 0.84},
}


QUICK = ["zh text"]


@pytest.mark.parametrize(
    "case",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in FLOORS],
)
def test_verdicts_are_as_good_as_ever(case):
    language, kind = case.split()
    stream = documents(language)
    by_url = {document.url: document for document in stream}
    right = wrong = due = caught = lost = 0
    with NearDuplicateFilter.open() as pages:
        for number, document in enumerate(stream):
            verdict = pages.see(document.url, **{kind: getattr(document, kind)})
            most = max((jaccard(document, earlier) for earlier in stream[:number]), default=0)
            due += most >= DUPLICATE
            if not verdict.is_duplicate:
                continue
            similarity = jaccard(document, by_url[verdict.original])
            right += similarity >= DUPLICATE
            wrong += similarity < DIFFERENT
            lost += most < DIFFERENT
            caught += most >= DUPLICATE and similarity >= DIFFERENT
        pages.check()
    floor = FLOORS[case]
    assert (due, lost) == (floor["due"], 0)
    assert right / (right + wrong) >= floor["precision"]
    assert caught / due >= floor["recall"]
