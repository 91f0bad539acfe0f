import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter import clusters
from dedup_filter.hamming.clusters import DisjointSets


def components(pairs):
    """Join whatever shares a member, until nothing does."""
    found = []
    for pair in pairs:
        touched = [members for members in found if members & set(pair)]
        found = [members for members in found if members not in touched]
        found.append(set(pair).union(*touched))
    return sorted(sorted(members) for members in found)


some_pairs = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40)


@given(some_pairs, st.integers(1, 7), st.randoms())
def test_clusters_are_the_connected_components_in_whatever_order_pairs_come(pairs, size, rng):
    expected = components(pairs)
    turned = [pair[::-1] if rng.random() < 0.5 else pair for pair in pairs]
    rng.shuffle(turned)
    assert clusters(turned) == expected
    assert clusters(np.array(pairs, np.uint64).reshape(-1, 2)) == expected
    sets = DisjointSets(31)
    for start in range(0, len(turned), size):
        batch = np.array(turned[start : start + size])
        sets.unite(batch[:, 0], batch[:, 1])
    assert [each.tolist() for each in sets.clusters()] == [each for each in expected if each[1:]]
    assert sum(map(len, sets.clusters(least_size=1))) == 31


@pytest.mark.parametrize("order", ["ascending", "descending", "zigzag"])
def test_a_long_chain_is_one_cluster(order):
    numbers = np.arange(50_000)
    if order == "descending":
        numbers = numbers[::-1].copy()
    elif order == "zigzag":
        numbers = np.stack(np.split(numbers, 2), axis=1).ravel()
    assert clusters(np.stack((numbers[:-1], numbers[1:]), axis=1)) == [list(range(50_000))]


def test_the_largest_fingerprints_stay_what_they_are_and_urls_can_be_clustered_too():
    last = 2**64 - 1
    assert clusters([(last, 0), (last - 1, last)]) == [[0, last - 1, last]]
    assert clusters(np.array([(last, 0)], np.uint64)) == [[0, last]]
    assert clusters([("b", "a"), ("c", "b")]) == [["a", "b", "c"]]


def test_no_pairs_make_no_clusters():
    assert clusters([]) == clusters(np.empty((0, 2), np.uint64)) == []
    assert DisjointSets(0).clusters() == []


@pytest.mark.parametrize("bad", [[(1, 2, 3)], [(1,)], np.zeros((2, 3), int), np.zeros(4, int)])
def test_what_is_no_pair_is_refused(bad):
    with pytest.raises(ValueError, match="two"):
        clusters(bad)
