"""Sends requests through LiteLLM, for providers that lm15 does not know."""

import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from judgesmith.programs.lm.errors import public_address, redacted
from judgesmith.programs.lm.records import ModelAnswer, ModelRequest


class LiteLLMEngine:
    """Asks one model through LiteLLM, without its cache and retries."""

    def __init__(self, model: str, *, api_base: str | None = None, timeout: float = 600.0) -> None:
        self.model = model
        provider = model.partition("/")[0]
        self.endpoint = public_address(api_base) if api_base else f"litellm:{provider}"
        self.route = f"LiteLLM, {self.endpoint if api_base else provider}"
        self._options: dict[str, Any] = {"timeout": timeout}
        if api_base:
            self._options["api_base"] = api_base

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        from dspy.clients.engines.litellm_engine import AsyncLiteLLMEngine

        with self._our_errors():
            sent, changed = self._request(request)
            response = await AsyncLiteLLMEngine(**self._options).complete(sent)
        return self._answer(response, changed)

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        from dspy.clients.engines.litellm_engine import LiteLLMEngine as Wrapped

        with self._our_errors():
            sent, changed = self._request(request)
            response = Wrapped(**self._options).complete(sent)
        return self._answer(response, changed)

    def _request(self, request: ModelRequest) -> tuple[Any, tuple[str, ...]]:
        from judgesmith.programs.lm.dspy_lm import request_to_dspy

        _stay_private()
        return request_to_dspy(request, self.model)

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        from judgesmith.programs.lm.lm15_bridge import error_from_lm15

        try:
            yield
        except Exception as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None

    def _answer(self, response: Any, changed: tuple[str, ...]) -> ModelAnswer:
        from judgesmith.programs.lm.lm15_bridge import GARBLED, answer_from_lm15, error_from_reply

        try:
            return answer_from_lm15(response, changed)
        except GARBLED as fault:
            raise error_from_reply(fault, self.model, self.endpoint) from None

    async def aclose(self) -> None:
        """Do nothing: LiteLLM's connections belong to the whole process."""

    def close(self) -> None:
        """Do nothing: LiteLLM's connections belong to the whole process."""


class _WithoutKeys(logging.Filter):
    """Takes keys out of what is logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redacted(record.getMessage()), None
        if record.exc_info:
            record.exc_text = redacted("".join(traceback.format_exception(*record.exc_info)))
        return True


_WITHOUT_KEYS = _WithoutKeys()


def _stay_private() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for name in ("LiteLLM", "httpx"):
        logging.getLogger(name).addFilter(_WITHOUT_KEYS)
