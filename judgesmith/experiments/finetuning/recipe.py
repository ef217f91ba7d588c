"""How a student is trained, as one value."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judgesmith.errors import InputError


class Recipe(BaseModel):
    """Low-rank adapters on all linear layers, trained on the answers alone.

    Defaults are published, but for ``longest``, ``at_once`` and ``seed``, which are ours: Llama-3.1
    with 8 billion parameters took about 20 GB and six hours on one A40 for 38,000 examples.

    Parameters
    ----------
    rank, alpha : int
        Of the adapters; what they add is scaled by ``alpha / rank``.
    epochs : float
        Passes over the training data.
    learning_rate : float
        At the end of the warm-up, from where it falls to 0 in a straight line.
    warmup : float
        Share of the steps, 0 to below 1, in which it rises.
    weight_decay : float
        Of AdamW.
    batch : int
        Examples per step.
    at_once : int
        Of these, how many are in memory at the same time; divides ``batch``.
    longest : int
        Tokens of question and answer at most; longer examples are left out, never cut.
    steps : int or None
        Steps to stop after, whatever the epochs.
    seed : int
        Of the adapters' first values and the order of examples.

    Raises
    ------
    ValueError
        If a value is out of its range, or a step is not made of whole batches in memory.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858.

    Examples
    --------
    >>> Recipe().rank, Recipe().learning_rate
    (16, 0.0002)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    epochs: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    learning_rate: float = Field(default=2e-4, gt=0, allow_inf_nan=False)
    warmup: float = Field(default=0.05, ge=0, lt=1)
    weight_decay: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    batch: int = Field(default=16, ge=1)
    at_once: int = Field(default=1, ge=1)
    longest: int = Field(default=4096, ge=1)
    steps: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _steps_of_whole_batches(self) -> Self:
        if self.batch % self.at_once:
            raise InputError(
                f"{self.batch} examples per step do not come in batches of {self.at_once} at once.",
                hint="choose a number that divides them.",
            )
        return self

    def fingerprint(self, about: Sequence[str]) -> str:
        """Return twelve hex digits that change with a setting or what else a run is ``about``."""
        plain = "\n".join([self.model_dump_json(), *about])
        return hashlib.sha256(plain.encode()).hexdigest()[:12]
