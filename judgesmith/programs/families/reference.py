"""The reference judge: how much a response has in common with answers known to be good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, get_args

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.reference import measure_of, n_layers
from judgesmith.programs.judging.choices import field_choice
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.scoring import check_terms
from judgesmith.signatures.family_configs import Metric, ReferenceConfig
from judgesmith.signatures.plain_data import record_faults
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Choice, Option, Picked, Space


class ReferenceJudge(Judge):
    """Compute a metric of the response and the item's references; no model is asked.

    Parameters
    ----------
    protocol : ReferenceConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``metric="chrf"``.

    Raises
    ------
    ImportError
        If the library behind the metric is not installed; the message names the extra.
    ValueError
        If METEOR is to know synonyms and WordNet is not there, or BERTScore's weights are not.

    Examples
    --------
    >>> judge = ReferenceJudge(metric="rouge1")
    >>> known = ["The bridge was opened on Monday."]
    >>> round(judge(source="", response="It opened on Monday.", references=known).score, 1)
    60.0
    >>> judge(source="", response="It opened on Monday.").problem[:12]
    'no reference'
    """

    _settings: ReferenceConfig

    @record_faults()
    def __init__(self, protocol: ReferenceConfig | None = None, **choices: Any) -> None:
        given = protocol or ReferenceConfig()
        if given.judge != "reference":
            raise InputError(f"expected a reference protocol; got one of {given.judge}.")
        own = ReferenceConfig.model_validate({**dict(given), **choices})
        super().__init__(own)
        check_terms(own.aggregation)
        measure_of(own)
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return nothing: there are no questions."""
        return {}

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        rouge = tuple(name for name in get_args(Metric) if name.startswith("rouge"))
        choices = [
            field_choice(own, "metric", _EVERYWHERE),
            field_choice(own, "against", ("references", "source", "context")),
            field_choice(own, "several", ("max", "mean"), against=("references",)),
            field_choice(own, "stem", ("none", "porter"), metric=rouge),
            field_choice(own, "tokens", ("13a", "intl", "zh", "char"), metric=("bleu",)),
        ]
        # What is not installed everywhere competes only where it was asked for.
        synonyms = ("none", "wordnet") if own.synonyms == "wordnet" else ("none",)
        choices.append(field_choice(own, "synonyms", synonyms, metric=("meteor",)))
        if own.metric == "bertscore":
            choices.append(_layer_choice(own))
        return Space(choices=tuple(choices))

    def with_choices(self, picked: Picked, *, space: Space | None = None) -> Self:
        """Return a judge decided as ``picked`` says, as every judge does.

        BERTScore can be picked by its name though it is not among what is searched.
        """
        if space is None and picked.get("metric") == "bertscore" != self._settings.metric:
            asked = self._settings.decided({"metric": "bertscore"})
            return self.with_protocol(asked).with_choices(picked)
        return super().with_choices(picked, space=space)


_EVERYWHERE = tuple(name for name in get_args(Metric) if name != "bertscore")


def _layer_choice(own: ReferenceConfig) -> Choice:
    """Return the choice between the layers that there are, the protocol's own first."""
    layers: list[int | None] = [own.layer]
    layers += [one for one in (None, *range(1, n_layers(own))) if one != own.layer]
    options = tuple(Option(id=str(one or "last"), sets={"layer": one}) for one in layers)
    return Choice(name="layer", options=options, only_if={"metric": ("bertscore",)})
