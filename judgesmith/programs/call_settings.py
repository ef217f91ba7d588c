"""The settings of a call, as a protocol and a question want them and as a model takes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judgesmith.programs.judging import ProbabilitiesOf
from judgesmith.programs.models import AnyModel, PureEngine, Settings, request_settings, stack_of
from judgesmith.signatures.judge_protocol import JudgeProtocol


def call_config(
    protocol: JudgeProtocol, lm: AnyModel, *, temperature: float | None = None
) -> dict[str, Any]:
    """Return the sampling settings of every call to ``lm``, as DSPy names them.

    A ``temperature`` stands for the protocol's.
    A model of ours that was made without a temperature is sent none, nor are OpenAI's reasoning
    models, which refuse one; DSPy names their ceiling differently.
    """
    config: dict[str, Any] = {}
    reasons = "max_completion_tokens" in lm.kwargs
    left_out = stack_of(lm) is not None and lm.kwargs.get("temperature") is None
    if not (reasons or left_out):
        config["temperature"] = protocol.temperature if temperature is None else temperature
    if protocol.max_tokens is not None:
        config["max_completion_tokens" if reasons else "max_tokens"] = protocol.max_tokens
    return config


def probability_config(wanted: ProbabilitiesOf | None, lm: AnyModel) -> dict[str, Any]:
    """Return the settings of a call whose tokens' probabilities are wanted, as DSPy names them.

    Servers list some 20 alternatives at most; a model that is a function is asked for all
    answers, and one that was made to give another number for that one.
    """
    if wanted is None:
        return {}
    stack = stack_of(lm)
    top = wanted.top
    if stack is not None and isinstance(stack.engine, PureEngine):
        top = max(top, len(wanted.answers))
    return {"logprobs": True, "top_logprobs": lm.kwargs.get("top_logprobs") or top}


class CallSettings:
    """Settings of the calls to one model with a stack of ours, each kind of call's made once.

    Parameters
    ----------
    protocol : JudgeProtocol
        Says what calls are sampled with.
    lm : dspy.LM or StackModel
        The model, as it is now.
    """

    def __init__(self, protocol: JudgeProtocol, lm: AnyModel) -> None:
        self._protocol = protocol
        self._lm = lm
        self._known: dict[tuple[float | None, tuple[int, int] | None], Settings] = {}
        self.of(None)

    def of(self, temperature: float | None, wanted: ProbabilitiesOf | None = None) -> Settings:
        """Return the settings of a call.

        Parameters
        ----------
        temperature : float or None
            None takes the protocol's.
        wanted : ProbabilitiesOf or None
            Probabilities that are wanted of its answer, too.
        """
        # All that the settings depend on, of which hashing the answers would cost more.
        kind = temperature, None if wanted is None else (wanted.top, len(wanted.answers))
        settings = self._known.get(kind)
        if settings is None:
            config = call_config(self._protocol, self._lm, temperature=temperature)
            settings = request_settings(self._lm, **config)
            if wanted is not None:
                top = probability_config(wanted, self._lm)["top_logprobs"]
                settings = replace(settings, logprobs=top)
            self._known[kind] = settings
        return settings
