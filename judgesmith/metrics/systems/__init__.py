"""Means of systems from few ratings and many judge scores."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
