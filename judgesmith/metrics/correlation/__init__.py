"""Correlation with human ratings at three levels, with intervals and differences."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
