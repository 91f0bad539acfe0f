"""Pieces of an array, each given by its start and length -> the places in them, in one array.

starts 7 2 9    lengths 3 0 2    ->    7 8 9 9 10
"""

import numpy as np
import numpy.typing as npt

__all__ = ["IntpArray", "places_in"]

IntpArray = npt.NDArray[np.intp]


def places_in(starts: IntpArray, lengths: IntpArray) -> IntpArray:
    """Return the places of all pieces, one piece after the other.

    Cost: 3 ns a place.

    >>> places_in(np.array([7, 2, 9]), np.array([3, 0, 2])).tolist()
    [7, 8, 9, 9, 10]
    """
    ends = lengths.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    places: IntpArray = (starts - ends + lengths).repeat(lengths)
    places += np.arange(total)
    return places
