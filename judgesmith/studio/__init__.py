"""A project folder in the browser: label, review, improve.

Names are loaded when they are first used. They are listed in ``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
