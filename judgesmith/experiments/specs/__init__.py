"""What is to be run, declared: a specification, read with every mistake at once, and its cells."""

from judgesmith.experiments.specs.faults import Mistake, SpecError
from judgesmith.experiments.specs.grid import Cell, cells_of
from judgesmith.experiments.specs.reading import read_spec, spec_of
from judgesmith.experiments.specs.sets import read_sets
from judgesmith.experiments.specs.settings import settings_of
from judgesmith.experiments.specs.spec import Spec

__all__ = [
    "Cell",
    "Mistake",
    "Spec",
    "SpecError",
    "cells_of",
    "read_sets",
    "read_spec",
    "settings_of",
    "spec_of",
]
