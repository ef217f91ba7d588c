"""The steps of every family: what is asked and what it comes to, without DSPy."""
