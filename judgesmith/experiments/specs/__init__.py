"""What is to be run, declared: a specification, read with every mistake at once, and its cells."""

from judgesmith.experiments.specs.grid import Cell, cells_of
from judgesmith.experiments.specs.settings import settings_of
from judgesmith.experiments.specs.spec import Spec

__all__ = ["Cell", "Spec", "cells_of", "settings_of"]
