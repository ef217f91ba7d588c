"""Finding all pairs that two orders of the same rows disagree about, without looking at pairs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.metrics.checks import IntArray

__all__ = ["inversion_passes"]

AnyInt = NDArray[np.signedinteger[Any]]
Pass = tuple[AnyInt, AnyInt, IntArray, IntArray]


def inversion_passes(codes: IntArray) -> Iterator[Pass]:
    """Yield, bit by bit, the inversions of a list of codes as slices.

    A pair is inverted if the earlier code is larger. Each such pair is found at the highest
    bit in which its codes differ: there the list, stably sorted by the bits above, holds both
    in one block, the earlier one with the bit set, the later one without. It takes
    O(n log(largest code)) time.

    Yields
    ------
    low : int array
        Positions in ``codes`` whose bit is not set, in the order of the list at this bit.
    high : int array
        Those whose bit is set, likewise.
    first, last : int arrays, shape of ``low``
        ``low[k]`` is inverted with ``high[first[k]:last[k]]``.

    Examples
    --------
    >>> sum(int(np.sum(last - first)) for *_, first, last in inversion_passes(np.array([2, 0, 1])))
    2
    """
    # Half the memory to move; positions and codes are far below two thousand million.
    few = max(len(codes), int(codes.max(initial=0))) < 2**31
    current: AnyInt = codes.astype(np.int32 if few else np.int64)
    rows: AnyInt = np.arange(len(codes), dtype=current.dtype)
    ordered = np.sort(current)
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        is_high = (current >> bit & 1).astype(bool)
        becomes_high = (ordered >> bit & 1).astype(bool)
        # Sorted places are taken and filled several times faster than masks.
        place, place_high = np.flatnonzero(~is_high), np.flatnonzero(is_high)
        new_place, new_high = np.flatnonzero(~becomes_high), np.flatnonzero(becomes_high)
        low, high = rows[place], rows[place_high]
        # Once sorted by this bit too, a block holds its low rows first: those with the bit set
        # that come before one of them then are the ones of earlier blocks.
        rank = np.arange(len(low))
        yield low, high, new_place - rank, place - rank
        arranged = np.empty_like(current)
        arranged[new_place], arranged[new_high] = current[place], current[place_high]
        rows = np.empty_like(rows)
        rows[new_place], rows[new_high] = low, high
        current = arranged
