"""How a judge gets better: objectives over whole lists, and searches that make them larger.

Names are loaded when they are first used; they are listed in ``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
