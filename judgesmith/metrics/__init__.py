"""Numbers from arrays: how well scores agree with people, and how sure we are of it.

``x(human, judge)`` is a number, ``x_interval(human, judge)`` an estimate with its interval, and
``x_difference(human, judge, other)`` the paired comparison of two judges on the same rows:

>>> from judgesmith import metrics
>>> human, judge, other = [1, 2, 3, 4, 5, 3], [1, 2, 3, 5, 4, 3], [3, 1, 2, 5, 3, 2]
>>> found = metrics.agreement_difference(human, judge, other)
>>> round(found.first, 2), round(found.second, 2), found.low < found.value < found.high
(0.9, 0.41, True)

Give ``sources=`` where several rows answer one thing: they are then resampled together.
Functions ending in ``_error`` are better when lower; every other one is better when higher.
Undefined is nan, never 0, and what was left out is counted. NumPy is loaded with the first name
that is used, SciPy only where a formula needs it. The names are listed in ``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
