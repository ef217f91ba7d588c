"""The expert weights that ``judgesmith discern`` is told to take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.cli.faults import OptionError, blaming

if TYPE_CHECKING:
    from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
    from judgesmith.experiments.robustness.version_weights import Shares, VersionWeights

AUTO, NONE = "auto", "none"


def given_weights(weights: str, perturbed: PerturbedSet) -> Shares | None:
    """Return the weights in a file, read before anything is asked; None where none is named."""
    from judgesmith.experiments.robustness.version_weights import read_weights
    from judgesmith.metrics.perturbations import EXPERT_WEIGHTS

    if weights in (AUTO, NONE, *EXPERT_WEIGHTS):
        return None
    if not Path(weights).is_file():
        raise OptionError(
            f"there is no file {weights}.",
            option="--weights",
            hint=f"name one, or auto, none, {', '.join(EXPERT_WEIGHTS)}.",
        )
    with blaming("--weights"):
        return read_weights(weights, perturbed.kinds)


def weights_for(
    weights: str,
    given: Shares | None,
    perturbed: PerturbedSet,
    metrics: Sequence[str],
    task: str | None,
) -> VersionWeights:
    """Return expert weights for the judge's metrics, or why there are none."""
    from judgesmith.experiments.robustness.version_weights import (
        VersionWeights,
        fitted_weights,
        missing_metrics,
        weights_of_task,
    )

    if weights == NONE:
        return VersionWeights(said="none, as asked for")
    if weights == AUTO:
        return weights_of_task(task, perturbed.kinds, metrics)
    if given is not None:
        with blaming("--weights"):
            return fitted_weights(given, metrics, said=f"from {Path(weights).name}")
    missing = missing_metrics(weights, metrics)
    if missing:
        raise OptionError(
            f"the weights for {weights} need scores on {', '.join(missing)}, and the judge has "
            f"{', '.join(metrics)}.",
            option="--weights",
            hint="give others in a file.",
        )
    return weights_of_task(weights, perturbed.kinds, metrics)
