"""Everything that decides how much is read and how many sets are made in task inference."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from judgesmith.errors import InputError

Part = Literal["task", "criteria"]


class InferenceSettings(BaseModel):
    """The caps of task inference, and what it infers.

    Parameters
    ----------
    inference : {"batches", "single"}
        As many mini-batches as it takes, or one alone (an ablation).
    without : tuple of {"task", "criteria"}
        What is not inferred: without a task, criteria come from the observations only.
    n_batches, batch_size : int
        Mini-batches read at most, and rated rows in each.
    max_descriptions, max_criteria_sets : int
        Made at most, one of each per batch.
    proposed : int
        Criteria in one set.
    fewest, most : int
        Criteria that are selected from all sets.
    max_characters : int
        Of the rated texts in one question. The default leaves room in a window of 16,000 tokens.
    temperature : float
        Of every call, 0 or more.
    seed : int
        Of the order in which rows are drawn.

    Raises
    ------
    ValueError
        If a value is out of range, nothing is left to infer, or fewest exceeds most.

    References
    ----------
    "Large Language Models Are Active Critics in NLG Evaluation", stage 1, for 25 batches of 5
    and 5 sets of 10.

    Examples
    --------
    >>> InferenceSettings().batches, InferenceSettings(inference="single").batches
    (25, 1)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inference: Literal["batches", "single"] = "batches"
    without: tuple[Part, ...] = ()
    n_batches: int = Field(default=25, ge=1)
    batch_size: int = Field(default=5, ge=1)
    max_descriptions: int = Field(default=5, ge=1)
    max_criteria_sets: int = Field(default=5, ge=1)
    proposed: int = Field(default=10, ge=1)
    fewest: int = Field(default=4, ge=1)
    most: int = Field(default=10, ge=1)
    max_characters: int = Field(default=40_000, ge=1)
    temperature: FiniteFloat = Field(default=0.0, ge=0.0)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _something_to_infer(self) -> Self:
        if {"task", "criteria"} <= set(self.without):
            raise InputError("without task and criteria there is nothing to infer; leave one in.")
        if self.fewest > self.most:
            raise InputError(
                f"fewest must not exceed most; got {self.fewest} and {self.most} criteria."
            )
        return self

    @property
    def batches(self) -> int:
        """How many batches are read at most."""
        return 1 if self.inference == "single" else self.n_batches
