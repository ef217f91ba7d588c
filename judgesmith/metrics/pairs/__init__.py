"""Which of two texts is better: pairwise accuracy with ties, votes, orders, and strengths."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
