"""Judges that compare: one ranks the responses to a source, one says which of two is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.pairwise import (
    Preference,
    pair_inputs,
    preference_steps,
    source_steps,
)
from judgesmith.programs.judging.choices import field_choice, rubric_choice
from judgesmith.programs.judging.judge import Judge, own_protocol, without_untold
from judgesmith.signatures.family_configs import PairwiseConfig
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.questions.pairwise import CompareTwo
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Choice, Space

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved import SavedJudge


class PairwiseJudge(Judge):
    """Rank the responses to a source by comparing two at a time, in both orders.

    A response by itself has no score: ask for all of a source with ``rank``, or for many sources
    with ``judge_items``. Scores are ranks within a source and say nothing about another one.

    Parameters
    ----------
    protocol : PairwiseConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``ranking="all"``.

    Raises
    ------
    ValueError
        If the parts make no such judge.

    Examples
    --------
    >>> source = "The bridge opened on Monday. Two thousand people crossed it."
    >>> said = ["The bridge opened on Monday.", "The the bridge in 1987 cats."]
    >>> [found.score for found in PairwiseJudge().rank(source=source, responses=said)]
    [100.0, 0.0]
    """

    _settings: PairwiseConfig

    def __init__(self, protocol: PairwiseConfig | None = None, **choices: Any) -> None:
        own = own_protocol(PairwiseConfig, protocol, choices, called="a protocol of pairs")
        super().__init__(own)
        self.compare = dspy.Predict(without_untold(CompareTwo, pair_inputs(own)))
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as there are any."""
        return pair_inputs(self._settings)

    def rank(
        self, *, source: str, responses: Sequence[str], context: str | None = None
    ) -> list[Judgement]:
        """Return the judgements of all responses to one source, in order, asked through DSPy."""
        return self.taken(
            source_steps(self._settings, source=source, context=context, responses=responses)
        )

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices: list[Choice] = [rubric_choice(own, rubrics)] if own.rubric.criteria else []
        choices += [
            field_choice(own, "ranking", ("beam", "all")),
            field_choice(own, "weighting", ("probabilities", "none")),
        ]
        return Space(choices=tuple(choices))


class PreferenceJudge:
    """Say which of two responses to a source is better, always asked in both orders.

    Parameters
    ----------
    judge : Pairs, SavedJudge, PairwiseConfig or None
        How it asks; None takes the defaults. A saved judge asks in the words that this version has.
    **choices
        Parts of the protocol to set, such as ``rubric``.

    Raises
    ------
    ValueError
        If it is a judge that compares nothing.

    Examples
    --------
    >>> judge = PreferenceJudge()
    >>> found = judge(
    ...     source="The bridge opened on Monday. Two thousand people crossed it.",
    ...     first="The the bridge in 1987 cats.",
    ...     second="The bridge opened on Monday.",
    ... )
    >>> found.probability < 0.5, found.disagree, found.given.mode
    (True, False, 'probabilities')
    """

    def __init__(
        self, judge: PairwiseJudge | SavedJudge | PairwiseConfig | None = None, **choices: Any
    ) -> None:
        asks: Any = judge
        if hasattr(asks, "program"):
            asks = asks.program()
        if isinstance(asks, Judge) and not isinstance(asks, PairwiseJudge):
            raise InputError(
                f"a judge of the kind {asks.protocol.judge} compares nothing.",
                hint="take one of pairs.",
            )
        if not isinstance(asks, PairwiseJudge) or choices:
            own: Any = asks.protocol if isinstance(asks, PairwiseJudge) else asks
            asks = PairwiseJudge(own, **choices)
        self.judge: PairwiseJudge = asks

    @property
    def protocol(self) -> PairwiseConfig:
        """How it asks."""
        own = self.judge.protocol
        assert isinstance(own, PairwiseConfig)
        return own

    def __call__(
        self, *, source: str, first: str, second: str, context: str | None = None
    ) -> Preference:
        """Return which of two responses is better, asked through DSPy's current model.

        Parameters
        ----------
        source, first, second : str
            What was answered, and both answers, verbatim.
        context : str or None
            Further material that the responses may draw on.
        """
        steps = preference_steps(
            self.protocol, source=source, first=first, second=second, context=context
        )
        return self.judge.taken(steps)
