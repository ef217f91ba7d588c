"""Rated data in and out: formats, columns, targets, scores on file, published sets.

Names are loaded when they are first used: reading data needs no model. They are listed in
``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
