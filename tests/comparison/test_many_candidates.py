"""Of many candidates each is judged as if it were the only one, in little time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_pages import measured, new, words

from dedup_filter.comparison.candidates import Candidate
from dedup_filter.comparison.rule import examined
from dedup_filter.fingerprints.block_columns import BlockColumns

TEXTS = [words(name, count) for name, count in zip("abcdef", (40, 5, 60, 90, 3, 20), strict=True)]
OTHERS = [words(name, 60) for name in "uvwxyz"]
PAGE = measured(*map(new, TEXTS))


def candidate(texts, number=0, *, is_same_host=True, distance=3):
    kept = measured(*map(new, texts or ["nothing"]))
    return Candidate(0, distance, is_same_host, False, kept.sketch, kept.headline, number)


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(TEXTS + OTHERS), unique=True), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([None, 0.0, 0.3, 0.8, 1.0]),
    st.sampled_from([0, 50, 200]),
)
def test_each_is_judged_as_by_itself(kept, least, max_missing):
    made = [candidate(texts, n, is_same_host=here) for n, (texts, here) in enumerate(kept)]
    together = examined(PAGE, made, least, max_missing)
    alone = [examined(PAGE, [each], least, max_missing)[0] for each in made]
    expected = {each.candidate.page: (each.share, each.refusal is None) for each in alone}
    assert {e.candidate.page: (e.share, e.refusal is None) for e in together} == expected
    # The nearest one's refusal is told in full.
    assert together[0].refusal == alone[together[0].candidate.page].refusal


@pytest.mark.parametrize("has", [[], TEXTS[:2]], ids=["nothing", "a little"])
def test_blocks_are_compared_only_with_the_nearest_and_those_that_have_enough(has, monkeypatch):
    compared, shares_in = list[bytes](), BlockColumns.shares_in

    def counted(self, sketch):
        compared.append(sketch)
        return shares_in(self, sketch)

    monkeypatch.setattr(BlockColumns, "shares_in", counted)
    made = [candidate([*has, words(f"n{number}n", 200)], number) for number in range(64)]
    whole = candidate([*TEXTS, *OTHERS], 64, distance=9)
    found = examined(PAGE, [*made, whole], 0.8)
    assert [each.candidate.page for each in found if each.refusal is None] == [64]
    assert compared == [made[0].sketch, whole.sketch]
    assert all(each.refusal.words > each.refusal.allowed for each in found[:-1])
