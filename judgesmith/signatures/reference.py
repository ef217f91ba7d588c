"""What can be chosen about a judge that compares a response with references and asks no model."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.weights import weights_name

Metric = Literal["rougeL", "rouge1", "rouge2", "bleu", "chrf", "meteor", "bertscore"]


class ReferenceProtocol(JudgeProtocol):
    """The whole of a reference metric.

    Parameters
    ----------
    judge : str
        Always ``reference``.
    metric : {"rougeL", "rouge1", "rouge2", "bleu", "chrf", "meteor", "bertscore"}
        What is computed of a response and one reference, 0 to 100.
    against : {"references", "source", "context"}
        What the response is compared with: the item's references, or a text of it.
    several : {"max", "mean"}
        What the numbers against several references come to.
    stem : {"none", "porter"}
        Whether ROUGE takes inflected English words for the same.
    tokens : {"13a", "intl", "zh", "char"}
        What BLEU takes for a token, by sacreBLEU's names.
    synonyms : {"none", "wordnet"}
        Whether METEOR takes synonyms for the same; needs WordNet where NLTK looks for it.
    weights : str
        What BERTScore computes with: a folder, which is kept as a hash of what is in it, or such a
        hash. Empty takes the folder that ``$JUDGESMITH_WEIGHTS`` names.
    layer : int or None
        Whose output BERTScore compares, 1 for the first; None takes the last.
    rubric, aggregation
        See ``JudgeProtocol``; nobody is told the rubric.

    Raises
    ------
    ValueError
        If something is set that only a model could follow, or weights are not there.

    Examples
    --------
    >>> ReferenceProtocol(metric="chrf").own_score
    'chrf against references'
    """

    judge: Literal["reference"] = "reference"
    metric: Metric = "rougeL"
    against: Literal["references", "source", "context"] = "references"
    several: Literal["max", "mean"] = "max"
    stem: Literal["none", "porter"] = "none"
    tokens: Literal["13a", "intl", "zh", "char"] = "13a"
    synonyms: Literal["none", "wordnet"] = "none"
    weights: str = Field(default="", validate_default=True)
    layer: int | None = Field(default=None, ge=1)

    @field_validator("weights")
    @classmethod
    def _known_by_content(cls, weights: str, info: ValidationInfo) -> str:
        wanted = weights or info.data.get("metric") == "bertscore"
        return weights_name(weights) if wanted else weights

    @model_serializer(mode="wrap")
    def _family_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what BERTScore alone has where it is not set."""
        found = super()._family_first(plain)
        unset = [name for name in ("weights", "layer") if not found.get(name)]
        return {name: value for name, value in found.items() if name not in unset}

    @model_validator(mode="after")
    def _asks_nobody(self) -> Self:
        for name in ("samples", "weighting", "temperature"):
            usual = type(self).model_fields[name].default
            if getattr(self, name) != usual:
                raise InputError(
                    f"a reference metric asks no model: {name} must be {usual}; got "
                    f"{getattr(self, name)}."
                )
        return self

    @property
    def tells_rubric(self) -> bool:
        """Nobody is told anything."""
        return False

    @property
    def own_score(self) -> str:
        """What the score is where nothing was learned."""
        return f"{self.metric} against {self.against}"
