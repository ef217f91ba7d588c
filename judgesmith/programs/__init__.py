"""How a judgement is made: judges as DSPy modules, the models under them, and saved judges.

Names are loaded when they are first used: scoring with a saved judge needs no DSPy. They are
listed in ``__init__.pyi``.
"""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
