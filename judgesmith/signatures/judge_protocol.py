"""What every judge can be told, whatever its family: the part that all protocols share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.default_rubric import DEFAULT_RUBRIC
from judgesmith.signatures.demonstration import Demonstration
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.plain_faults import record_faults
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import PERCENT, Scale


class JudgeProtocol(BaseModel):
    """What a judge of any family is told; each family adds what is particular to it.

    A subclass gives ``judge`` its name as the default, and every field of its own a default, so
    that a judge can be started from a rubric alone.

    Parameters
    ----------
    judge : str
        The family of judges that understands this protocol.
    rubric : Rubric
        Task description and criteria. Without a task none is shown.
    answers : Scale
        What the model is asked to answer on: whole points or words, worst first. Judgements are
        on 0 to 100 whatever it is; demonstrations are worded on it.
    instructions : dict of str to str
        By predictor, where it differs from the signature's own.
    demonstrations : dict of str to tuple of Demonstration
        By predictor, in the order they are shown; none in families that show none.
    nearest : int or None
        How many of them are shown to a text: those that are most like it, and never the text
        itself. None shows all.
    samples : int
        Answers asked for per question, at most 1,000.
    reduction : {"mean", "median", "mode"}
        What several answers to a question come to. Of several scores that are equally frequent
        the mode is their mean. With one answer there is nothing to reduce.
    weighting : {"none", "probabilities"}
        Whether a score is the one that the model states, or the mean of all that it might have
        given, weighed by their probabilities. Needs a model that gives log-probabilities; where
        it does not, the stated score stands and the judgement says so.
    temperature : float
        Of every call, 0 to 2. Models that were made without a temperature are sent none.
    max_tokens : int or None
        Most tokens in one answer; None leaves it to the model.
    aggregation : Aggregation
        From the model's numbers to the score.

    Raises
    ------
    ValueError
        If a value is out of its range, or the aggregation needs criteria that are not asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    by_criterion: ClassVar[tuple[str, ...]] = ()
    """Fields that hold a value for each of some criteria, and can be set for one by name."""

    judge: str
    rubric: Rubric = DEFAULT_RUBRIC
    answers: Scale = PERCENT
    instructions: Mapping[str, str] = Field(default_factory=dict)
    demonstrations: Mapping[str, tuple[Demonstration, ...]] = Field(default_factory=dict)
    nearest: int | None = Field(default=None, ge=1)
    samples: int = Field(default=1, ge=1, le=1000)
    reduction: Literal["mean", "median", "mode"] = "mean"
    weighting: Literal["none", "probabilities"] = "none"
    temperature: FiniteFloat = Field(default=0.0, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1)
    aggregation: Aggregation = Field(default_factory=Aggregation)

    @field_validator("answers")
    @classmethod
    def _can_be_answered_on(cls, answers: Scale) -> Scale:
        is_whole = answers.low.is_integer() and answers.high.is_integer()
        if not (is_whole and answers.higher_is_better and answers.high - answers.low <= 100):
            raise InputError(
                "models answer in whole points, of which more are better, on 101 levels at most; "
                f"got {answers}{'' if answers.higher_is_better else ', which counts faults'}."
            )
        for label in answers.labels:
            if imitates_layout(label) or label != " ".join(label.split()) or not label:
                raise InputError(f"a word to answer with stands on one line; got {label!r}.")
        return answers

    @model_validator(mode="after")
    def _has_the_criteria_it_weighs(self) -> Self:
        asked = self.scored_criteria
        if self.aggregation.kind == "mean" and not asked:
            raise InputError("the mean of the criteria needs criteria; this judge asks for none.")
        unknown = [name for name in self.aggregation.criteria if name not in asked]
        if unknown:
            raise InputError(
                f"the aggregation weighs {', '.join(unknown)}; this judge asks for "
                f"{', '.join(asked) or 'no criteria'}."
            )
        return self

    @model_serializer(mode="wrap")
    def _family_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write the family, then what is particular to it, then what all have."""
        found: dict[str, Any] = plain(self)
        shared = [name for name in JudgeProtocol.model_fields if name != "judge"]
        own = [name for name in found if name not in JudgeProtocol.model_fields]
        return {name: found[name] for name in ("judge", *own, *shared) if name in found}

    @property
    def scores_criteria(self) -> bool:
        """Whether the judge gives each criterion of its rubric a score of its own."""
        return False

    @property
    def scored_criteria(self) -> tuple[str, ...]:
        """Names of the criteria that the judge gives a score of their own."""
        return self.rubric.names if self.scores_criteria else ()

    @property
    def tells_rubric(self) -> bool:
        """Whether the model is told anything of task and criteria."""
        return True

    @property
    def own_score(self) -> str:
        """What the score is where nothing was learned, in words."""
        return "the model's own overall score"

    @record_faults()
    def decided(self, sets: Mapping[str, Any]) -> Self:
        """Return the protocol with some parts set otherwise.

        Families in which one part rules out others put those back to what is usual.

        Raises
        ------
        ValueError
            If the parts do not go together.
        """
        return type(self).model_validate({**dict(self), **sets})

    def for_own_rubric(self) -> Self:
        """Return the protocol without what it holds for criteria of other rubrics."""
        return self

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when any part of the protocol does."""
        plain = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:12]
