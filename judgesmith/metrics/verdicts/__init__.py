"""Labels such as pass and fail: confusion, thresholds, comparisons, aggregation of raters."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
