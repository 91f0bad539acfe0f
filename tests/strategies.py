"""Fingerprints as they come: anywhere, at the edges, in clusters; and ways to damage them."""

from hypothesis import strategies as st

ALL_ONES = 2**64 - 1

edges = st.sampled_from([0, 1, 2**63, ALL_ONES - 1, ALL_ONES, 0xFFFF << 48, 0xFFFF])
fingerprints = st.one_of(st.integers(0, ALL_ONES), edges)


def _word(positions):
    return sum(1 << position for position in positions)


@st.composite
def concentrated(draw, bits):
    """Exactly so many bits, all inside a window: a few blocks take the whole damage."""
    width = draw(st.integers(max(bits, 1), 64))
    start = draw(st.integers(0, 64 - width))
    inside = st.sets(st.integers(start, start + width - 1), min_size=bits, max_size=bits)
    return _word(draw(inside))


@st.composite
def spread(draw, bits):
    """Exactly so many bits, spread evenly over some number of windows: no block is spared."""
    windows = draw(st.integers(1, 16))
    order = draw(st.permutations(range(windows)))
    ends = [64 * window // windows for window in range(windows + 1)]
    chosen = set()
    for number in range(bits):
        window = order[number % windows]
        free = sorted(set(range(ends[window], ends[window + 1])) - chosen)
        chosen.add(draw(st.sampled_from(free or sorted(set(range(64)) - chosen))))
    return _word(chosen)


def damage(bits):
    return st.one_of(concentrated(bits), spread(bits))


def damage_up_to(bits):
    return st.integers(0, bits).flatmap(damage)


@st.composite
def crowds(draw, max_distance):
    """Distinct stored fingerprints, and a query that many of them are about `max_distance` from."""
    query = draw(fingerprints)
    near = st.integers(0, max_distance + 2).flatmap(damage).map(lambda bits: query ^ bits)
    at_the_bound = damage(max_distance).map(lambda bits: query ^ bits)
    stored = draw(st.sets(st.one_of(fingerprints, near, at_the_bound), max_size=12))
    return sorted(stored), query
