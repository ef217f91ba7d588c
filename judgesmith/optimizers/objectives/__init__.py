"""Objectives: what better means, as functions of a whole table of judgements."""
