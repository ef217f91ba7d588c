"""Texts made worse on purpose, and controls that make none worse."""

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

__all__ = [
    "ADDITIONS",
    "CONTROLS",
    "PERTURBATIONS",
    "TASKS",
    "Amount",
    "Donors",
    "Every",
    "amount_of",
    "perturb",
    "perturbations_for",
]
