"""How good systems are, from few human ratings and many judge scores."""
