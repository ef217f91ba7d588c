"""What a judge rewards that people do not: length, place, own family, scale, groups."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
