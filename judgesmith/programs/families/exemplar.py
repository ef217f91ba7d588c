"""The judge by synthetic exemplars: absolute scores, though it only ever compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from judgesmith.programs.families.steps.exemplar import (
    exemplar_forms,
    exemplar_inputs,
)
from judgesmith.programs.judging.choices import asks_choices, field_choice
from judgesmith.programs.judging.judge import Judge, own_protocol
from judgesmith.signatures.family_configs import ExemplarConfig
from judgesmith.signatures.questions.exemplar import (
    CompareThree,
    CompareYesNo,
    WriteBetween,
    WriteEnd,
)
from judgesmith.signatures.questions.on_scale import without_fields
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Choice, Option, Space

LEVELS = (2, 3, 5, 9)
"""How many exemplars compete; more cost more calls and gain ever less."""


class ExemplarJudge(Judge):
    """Compare a response with texts written to be the worst, the best, and between.

    Parameters
    ----------
    protocol : ExemplarConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``levels=3`` or ``form="yes-no"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Direct scoring through comparisons with synthetic exemplars; levels between the ends by
    halving, for any number of them, and the normalised scores are ours.

    Examples
    --------
    >>> judge = ExemplarJudge(levels=3)
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.weighting["overall"].mode, len(found.calls)
    ('probabilities', 6)
    """

    _settings: ExemplarConfig

    def __init__(self, protocol: ExemplarConfig | None = None, **choices: Any) -> None:
        own = own_protocol(
            ExemplarConfig, protocol, choices, called="a protocol of exemplar judges"
        )
        super().__init__(own)
        compare = CompareThree if own.form == "three" else CompareYesNo
        signatures = {"end": WriteEnd, "between": WriteBetween, "compare": compare}
        for name in exemplar_forms(own):
            signature = signatures[name]
            if "task" not in exemplar_inputs(own, name):
                signature = without_fields(signature, "task")
            setattr(self, name, dspy.Predict(signature))
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and manner as far as the question has them."""
        return exemplar_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [
            *asks_choices(own, rubrics),
            _plain_choice(own, "levels", {str(n): n for n in LEVELS}),
            field_choice(own, "form", ("three", "yes-no")),
            field_choice(own, "order", ("one", "both")),
            field_choice(own, "normalisation", ("affine", "level")),
            _plain_choice(own, "mirrored", {"no": False, "yes": True}),
        ]
        return Space(choices=tuple(choices))


def _plain_choice(protocol: ExemplarConfig, name: str, values: Mapping[str, Any]) -> Choice:
    """Return the choice between values that are no texts, by id; the protocol's own first."""
    own = getattr(protocol, name)
    ids = {value: option for option, value in values.items()}
    ordered = dict.fromkeys((own, *values.values()))
    options = tuple(Option(id=ids.get(one, str(one)), sets={name: one}) for one in ordered)
    return Choice(name=name, options=options)
