"""Number of successes, number of trials -> their share, with a 95 % confidence interval."""

from typing import NamedTuple

_Z = 1.959964
"""95 % of a normal distribution lie within this many standard deviations."""


class Estimate(NamedTuple):
    """A share, with its 95 % confidence interval."""

    value: float
    low: float
    high: float


def wilson(right: int, of: int) -> Estimate | None:
    """Return a share with its interval by Wilson's score (1927); None: there are no trials.

    >>> wilson(81, 100)  # doctest: +ELLIPSIS
    Estimate(value=0.81, low=0.722..., high=0.874...)
    """
    if not of:
        return None
    share, z2 = right / of, _Z * _Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z / (1 + z2 / of) * (share * (1 - share) / of + z2 / (4 * of * of)) ** 0.5
    # Rounding must not move the share out of the interval.
    return Estimate(share, min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share))
