"""How many texts a screened search judges at most: most configurations on few rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from judgesmith.optimizers.search.racing import FEWEST_ROWS
from judgesmith.optimizers.search.screening import ScreeningStage


def screened_texts(
    n_trials: int,
    by_row: Sequence[int],
    *,
    anew: bool = False,
    screen: ScreeningStage | None = None,
) -> int:
    """Return how many texts are judged at most, by all that are tried beside the start.

    Parameters
    ----------
    n_trials : int
        Configurations that are tried.
    by_row : sequence of int
        How many texts each row has, changed versions of it counted.
    anew : bool
        Whether who goes on is asked about the first rows again, as where a comparison depends on
        which others there are.
    screen : ScreeningStage or None
        On which parts of the rows, and how many go on; None takes the default.

    Examples
    --------
    Of 108 configurations, 12 are judged on a fifth of 200 rows, and 2 of these on all:

    >>> screened_texts(108, [1] * 200) == 96 * 10 + 10 * 40 + 2 * 200
    True
    >>> screened_texts(5, [1] * 200), screened_texts(5, [2] * 200)
    (520, 1040)
    """
    screen = screen or ScreeningStage()
    stops = screen.stops(len(by_row), FEWEST_ROWS)
    dearest = sorted(by_row, reverse=True)
    texts = [sum(dearest[:n_rows]) for n_rows in stops]
    if anew:
        texts = list(itertools.accumulate(texts))
    reach = [n_trials]
    for number in range(1, len(stops)):
        reach.append(min(reach[-1], screen.n_staying(len(stops) - number)))
    ended = [one - after for one, after in itertools.pairwise([*reach, 0])]
    return sum(n * each for n, each in zip(ended, texts, strict=True))
