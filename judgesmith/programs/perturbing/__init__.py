"""Perturbations: changes that make texts worse, and controls that do not."""

from judgesmith.programs.perturbing.catalogue import (
    ADDITIONS,
    CONTROLS,
    PERTURBATIONS,
    TASKS,
    Amount,
    Donors,
    Every,
    amount_of,
    perturbations_for,
)
from judgesmith.programs.perturbing.rules import perturb

__all__ = ["ADDITIONS", "CONTROLS", "PERTURBATIONS", "TASKS", "Amount", "Donors", "Every"]
__all__ += ["amount_of", "perturb", "perturbations_for"]
