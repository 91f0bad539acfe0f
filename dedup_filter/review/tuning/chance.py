"""Fingerprints of unrelated pages -> how many of them are within k bits of a page by chance.

If the bits of fingerprints were fair coin tosses, n * 2**-64 * (64 choose 0 + ... + 64 choose k) of
n pages would be near. Real fingerprints match more often: their bits are biased and correlated,
since all pages of a language share words. So the distances of unrelated pages are measured.

    counted        pairs within k bits where the earlier page has less than a fifth of the later: if
                   there are `_ENOUGH` of them, their share of all pairs is the answer
    extrapolated   otherwise: the tail of the beta-binomial distribution that has the mean and the
                   variance of the distances of random pairs; on six sets of 1,000 to 2,700 pages it
                   was between a nineteenth of the counted number and all of it
"""

from dataclasses import dataclass
from math import comb, exp, inf, lgamma

import numpy as np

from dedup_filter.hamming.layout import MAX_DISTANCE
from dedup_filter.hamming.pairs import FINGERPRINT_BITS, IntpArray, UInt64Array
from dedup_filter.review.tuning.record_pairs import Pages, Pairs

_ENOUGH = 10
"""With this many counted pairs, one standard error is a third of their number."""
_UNRELATED = 0.2
"""Two pages are unrelated if the later one has less than this share of its text in the other."""
_SAMPLE = 1_000_000
"""Random pairs for mean and variance: 0.1 s."""
_SEED = 20_070_508


@dataclass(frozen=True)
class Chance:
    """How likely two unrelated pages are within k bits."""

    mean: float
    """Mean number of bits in which two unrelated pages differ; 32 for fair coin tosses."""
    deviation: float
    """Standard deviation of this number; 4 for fair coin tosses."""
    rates: list[float]
    """By k, from 0 to `MAX_DISTANCE`: the share of all pairs of unrelated pages within k bits."""
    are_counted: list[bool]
    """By k, whether the share was counted, not extrapolated."""

    def candidates(self, max_distance: int, pages: int) -> float:
        """Return how many of `pages` unrelated pages are near to a page."""
        return self.rates[max_distance] * pages


def fair_rate(max_distance: int) -> float:
    """Return the share of pairs within k bits if all bits were fair coin tosses.

    >>> f"{fair_rate(12):.2g}"
    '2.3e-07'
    """
    near = sum(comb(FINGERPRINT_BITS, bits) for bits in range(max_distance + 1))
    return float(near / 2**FINGERPRINT_BITS)


def chance_of(pages: Pages, pairs: Pairs) -> Chance | None:
    """Measure the distances of unrelated pages; None: there are fewer than two such pages."""
    places = np.flatnonzero(pages.are_long & (pages.twins == np.arange(pages.size)))
    if len(places) < 2:
        return None
    distances = _random_distances(pages.fingerprints[places])
    unrelated = distances[distances > MAX_DISTANCE]
    if not len(unrelated):
        return None
    mean, variance = float(unrelated.mean()), float(unrelated.var())
    are_near = pairs.shares < _UNRELATED
    counts = np.bincount(pairs.distances[are_near], minlength=MAX_DISTANCE + 1).cumsum()
    every = len(places) * (len(places) - 1) / 2
    rates, are_counted = [], []
    for k in range(MAX_DISTANCE + 1):
        is_counted = int(counts[k]) >= _ENOUGH
        counted = int(counts[k]) / every
        least = max(counted, fair_rate(k))
        rates.append(counted if is_counted else max(least, _tail(mean, variance, k)))
        are_counted.append(is_counted)
    return Chance(mean, variance**0.5, rates, are_counted)


def _random_distances(fingerprints: UInt64Array) -> IntpArray:
    chance = np.random.default_rng(_SEED)
    one, other = chance.integers(0, len(fingerprints), (2, _SAMPLE))
    are_two = one != other
    differing = fingerprints[one[are_two]] ^ fingerprints[other[are_two]]
    distances: IntpArray = np.bitwise_count(differing).astype(np.intp)
    return distances


def _tail(mean: float, variance: float, most: int) -> float:
    """Return the probability that a beta-binomial number of bits is at most `most`.

    >>> abs(_tail(32, 16, 12) / fair_rate(12) - 1) < 1e-3  # without overdispersion: binomial
    True
    """
    bits, share = FINGERPRINT_BITS, mean / FINGERPRINT_BITS
    overdispersion = (variance / (bits * share * (1 - share)) - 1) / (bits - 1)
    size = min(1 / overdispersion - 1 if overdispersion > 0 else inf, 1e7)
    a, b = share * size, (1 - share) * size
    whole = _log_beta(a, b)
    return sum(
        comb(bits, each) * exp(_log_beta(each + a, bits - each + b) - whole)
        for each in range(most + 1)
    )


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
