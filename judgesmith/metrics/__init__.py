"""Numbers from arrays: how well scores agree with people, and how sure we are of it.

Functions ending in ``_error`` are better when lower; every other one is better when higher.
Undefined is nan, never 0, and what was left out is counted. NumPy is loaded with the first name
that is used, SciPy only where a formula needs it. The names are listed in ``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
