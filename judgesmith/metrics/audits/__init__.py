"""Audits of a judge: bias by length, position, own family and group, and use of the scale."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
