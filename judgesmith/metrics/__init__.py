"""Statistics of scores: agreement between a judge and human ratings, with intervals.

``x(human, judge)`` is the value, ``x_interval(human, judge)`` an estimate with its interval, and
``x_difference(human, judge, other)`` the paired comparison of two judges on the same rows:

>>> from judgesmith import metrics
>>> human, judge, other = [1, 2, 3, 4, 5, 3], [1, 2, 3, 5, 4, 3], [3, 1, 2, 5, 3, 2]
>>> metrics.spearman_interval(human, judge)
Estimate(spearman 0.9412, 95% interval [0, 1] by rows, n=6 rows)
>>> found = metrics.spearman_difference(human, judge, other)
>>> round(found.first, 2), round(found.second, 2), found.low <= found.value <= found.high
(0.94, 0.45, True)

Arguments mean the same everywhere. ``human``, ``judge`` and ``other`` have one score per row; nan
or None in a judge's is unscored. ``sources`` and ``systems`` are labels, one per row: what was
responded to, and who responded. Without ``sources=`` rows are resampled; with it, the rows of a
source are resampled together. ``confidence`` is the nominal coverage of an interval, a fraction;
``seed`` is a whole number or a ``numpy.random.Generator``; ``n_resamples`` is 20 or more.

A ``ValueError`` names lists that do not pair up, a missing or infinite human score, a missing
label, text where numbers belong, or a setting out of its range; a ``TypeError`` other kinds.
Functions ending in ``_error`` or ``_cost`` are better when lower; all others when higher.
Undefined is nan, never 0, and what is left out is counted. NumPy is loaded with the first name
that is used, SciPy only where a formula needs it. The names are listed in ``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
