"""What can be chosen about judges that ask a model in the form it was trained on."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from judgesmith.errors import InputError
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.whole_or_each import WholeOrEachProtocol


class FormProtocol(WholeOrEachProtocol):
    """The part of a protocol that all models with a form of their own share.

    A subclass names the ``form`` in which its model scores one response, and gives ``judge`` and
    ``answers`` their defaults; the scale is the form's and stays.

    Parameters
    ----------
    asks : {"criteria", "overall"}
        One question for each criterion, whose mean is the score, or one about all of them.
    rubric, instructions, samples, reduction, temperature, max_tokens, aggregation
        See ``JudgeProtocol``.

    Raises
    ------
    ValueError
        If another scale is set, demonstrations are shown, or probabilities are to weigh scores.
    """

    form: ClassVar[str]

    @model_validator(mode="after")
    def _keeps_to_the_form(self) -> Self:
        own = type(self).model_fields["answers"].default
        model = f"{'an' if self.judge[0] in 'aeiou' else 'a'} {self.judge} model"
        if self.answers != own:
            raise InputError(f"{model} answers on {own}, as it was trained to; got {self.answers}.")
        if self.demonstrations:
            raise InputError(f"the form of {model} shows no demonstrations.")
        if self.weighting != "none":
            raise InputError(
                f"{model} writes words before its score, after which one level has "
                "nearly all probability: weighting must be none; choose samples instead."
            )
        return self


class PrometheusProtocol(FormProtocol):
    """The whole of a judge that asks a Prometheus model but that model.

    Examples
    --------
    >>> PrometheusProtocol().answers.high
    5.0
    """

    form: ClassVar[str] = "prometheus-absolute"
    judge: Literal["prometheus"] = "prometheus"
    answers: Scale = Scale(low=1, high=5)


class ThemisProtocol(FormProtocol):
    """The whole of a judge that asks a Themis model but that model.

    Examples
    --------
    >>> ThemisProtocol().answers.high
    5.0
    """

    form: ClassVar[str] = "themis"
    judge: Literal["themis"] = "themis"
    answers: Scale = Scale(low=1, high=5)


class AutoJProtocol(FormProtocol):
    """The whole of a judge that asks an Auto-J model but that model.

    Parameters
    ----------
    asks : {"overall", "criteria"}
        One question about the whole, as the model was trained, or one for each criterion.

    Examples
    --------
    >>> AutoJProtocol().asks, AutoJProtocol().answers.high
    ('overall', 10.0)
    """

    form: ClassVar[str] = "auto-j-single"
    judge: Literal["auto-j"] = "auto-j"
    asks: Literal["criteria", "overall"] = "overall"
    answers: Scale = Scale(low=1, high=10)
