"""From scores to what people would say, how far off they are, and when to leave a row to people."""

from judgesmith.front_door import stub_door

__getattr__, __dir__, __all__ = stub_door(__name__, __file__)
