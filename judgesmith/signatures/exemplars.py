"""What a judge by synthetic exemplars asks, and what can be chosen about it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.whole_or_each import WholeOrEachProtocol

THREE = Scale.categorical("Worse", "Similar", "Better")
"""How a second text compares with a first one."""

YES_NO = Scale.categorical("No", "Yes")
"""Whether a first text is better than a second one."""

MANNERS = {
    "dialogue": "a turn of two or three informal sentences, as people talk",
    "story": "one paragraph of fewer than 150 words, whose last sentence is complete",
    "summar": "one paragraph of two to four sentences",
    "translat": "as long as the source, in its register",
}
"""Length and register of exemplars, by what the name of a type of task holds."""

ANY_MANNER = "as long as such responses usually are, in their usual tone, complete to the last word"


class ExemplarProtocol(WholeOrEachProtocol):
    """The whole of a judge by synthetic exemplars but its models.

    Parameters
    ----------
    judge : str
        Always ``exemplar``.
    asks : {"overall", "criteria"}
        Exemplars of quality as a whole, or of each criterion, whose mean is the score.
    levels : int
        N: exemplars per source and criterion, from level 1 (worst) to N (best); 2 to 100.
    form : {"three", "yes-no"}
        Whether a comparison is answered by Better, Worse or Similar, or by Yes or No.
    order : {"one", "both"}
        Whether each comparison is asked in one order of the texts, or in both, which are averaged.
    normalisation : {"affine", "level"}
        How the sum over comparisons becomes a score; see ``programs.exemplar_scores``.
    mirrored : bool
        Whether being worse than level i costs N + 1 - i instead of i.
    verdicts : {"probabilities", "samples"}
        Where the probabilities of answers come from: the model's log-probabilities and, where
        there are none, ``n_sampled`` answers; or these from the first.
    n_sampled : int
        Answers that are drawn for a comparison without log-probabilities, 1 to 1,000.
    writer_temperature : float
        Of the calls that write exemplars, 0 to 2.
    manner : str
        Length and register of exemplars in a few words; empty goes by the rubric's ``task_type``.
    rubric, instructions, temperature, max_tokens, aggregation
        See ``JudgeProtocol``. ``answers`` is not used: no points are asked for.

    Raises
    ------
    ValueError
        If a value is out of its range, or several samples or weighted scores are asked for:
        ``verdicts`` and ``n_sampled`` say that here.

    Examples
    --------
    >>> ExemplarProtocol(levels=3).scored_criteria
    ()
    """

    judge: Literal["exemplar"] = "exemplar"
    asks: Literal["overall", "criteria"] = "overall"
    levels: int = Field(default=5, ge=2, le=100)
    form: Literal["three", "yes-no"] = "three"
    order: Literal["one", "both"] = "one"
    normalisation: Literal["affine", "level"] = "affine"
    mirrored: bool = False
    verdicts: Literal["probabilities", "samples"] = "probabilities"
    n_sampled: int = Field(default=5, ge=1, le=1000)
    writer_temperature: FiniteFloat = Field(default=0.0, ge=0.0, le=2.0)
    manner: str = ""

    @field_validator("manner")
    @classmethod
    def _no_marker(cls, manner: str) -> str:
        if imitates_layout(manner):
            raise InputError(f"the manner holds what questions are laid out with: {manner[:80]!r}.")
        return " ".join(manner.split())

    @model_validator(mode="after")
    def _draws_in_its_own_way(self) -> Self:
        if self.samples != 1 or self.weighting != "none":
            raise InputError(
                "an exemplar judge asks every comparison once, or as often as n_sampled says with "
                "verdicts='samples'; leave samples and weighting as they are."
            )
        return self

    @property
    def own_score(self) -> str:
        """What the score is made of where nothing was learned."""
        if self.scores_criteria:
            return "the mean of the criteria, each by comparisons with exemplars"
        return "comparisons with exemplars of quality as a whole"

    @property
    def words(self) -> Scale:
        """What a comparison is answered with."""
        return THREE if self.form == "three" else YES_NO

    @property
    def asked_manner(self) -> str:
        """Length and register that are asked for."""
        kind = self.rubric.task_type.lower()
        known = (text for part, text in MANNERS.items() if part in kind)
        return self.manner or next(known, ANY_MANNER)
