"""Discernment: sensitivity of a judge to damaged texts, and the tests behind it."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
