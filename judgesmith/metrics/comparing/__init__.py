"""Whether one judge is better than another, on how many rows that shows, and what has changed."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
