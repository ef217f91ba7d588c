"""Labels and verdicts: what a judge's passes and fails are worth."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
