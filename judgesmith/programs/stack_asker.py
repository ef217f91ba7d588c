"""A judge asked through templates and its models' stacks, without DSPy: the fast way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from judgesmith.programs.answering import answered_at_once
from judgesmith.programs.asking import Askable, Asker
from judgesmith.programs.call_settings import CallSettings
from judgesmith.programs.families import family_of
from judgesmith.programs.judging import AnySteps, Ask, Reply, Steps
from judgesmith.programs.models import (
    AnyModel,
    ContextWindowExceeded,
    ModelError,
    ModelRequest,
    Stack,
    stack_of,
)
from judgesmith.programs.nearest import nearest_prefixes
from judgesmith.programs.replies import lacking, readable, too_long, unreadable
from judgesmith.programs.reply_probabilities import refusal_of
from judgesmith.programs.text_likelihood import text_reply, text_request
from judgesmith.programs.turns import in_turn
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How one model is asked: by its name, through its stack, with the settings of its calls."""

    model: str
    stack: Stack
    settings: CallSettings

    @classmethod
    def to(cls, lm: AnyModel, protocol: JudgeProtocol) -> _Way:
        """Return the way to a model that has a stack of ours."""
        stack = stack_of(lm)
        assert stack is not None
        return cls(model=str(lm.model), stack=stack, settings=CallSettings(protocol, lm))


class StackAsker(Asker):
    """Renders questions from templates, asks the stack, and reads the answers.

    Parameters
    ----------
    judge : Judge or SavedJudge
        As it is now: later changes to it do not reach the asker.
    lm : dspy.LM or StackModel
        A model with a stack of ours.
    own : dict of str to model
        Other such models of single questions, by predictor.
    """

    def __init__(self, judge: Askable, lm: AnyModel, own: Mapping[str, AnyModel]) -> None:
        protocol = judge.protocol
        templates = judge.templates()
        models = {name: own.get(name, lm) for name in templates}
        # One way for each model; its settings are those of now, whatever becomes of it.
        ways = {id(one): _Way.to(one, protocol) for one in models.values()}
        self._steps: Callable[..., Steps] = judge.steps
        self._family = family_of(protocol.judge)
        self._ways = {name: ways[id(one)] for name, one in models.items()}
        self._templates = {name: (one, one.prefix()) for name, one in templates.items()}
        self._nearest = nearest_prefixes(protocol, templates)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for stack in {id(way.stack): way.stack for way in self._ways.values()}.values():
            await stack.aclose()

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""
        texts = self._family.more_texts(item.references)
        steps = self._steps(
            source=item.source, response=item.response, context=item.context, **texts
        )
        return await self.taken(steps)

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to; questions that do not wait for each other go out at once."""
        return await answered_at_once(steps, self._reply)

    async def _reply(self, ask: Ask) -> Reply:
        template, prefix = self._templates[ask.predictor]
        way = self._ways[ask.predictor]
        stack = way.stack
        if ask.continuation is not None:
            likelihood = text_request(way.model, template, ask)
            return await in_turn(lambda: text_reply(stack, likelihood))
        if ask.probabilities is not None and stack.refused_logprobs:
            return await self._without(ask, stack.refused_logprobs)
        if ask.predictor in self._nearest:
            prefix = self._nearest[ask.predictor].of(ask.inputs)
        request = ModelRequest(
            model=way.model,
            prefix=prefix,
            user=template.render(ask.inputs),
            settings=way.settings.of(ask.temperature, ask.probabilities),
            sample=ask.sample,
            attempt=ask.attempt,
        )
        if ask.attempt and not stack.may_renew(request):
            return Reply(kept=True)
        identity = stack.identity(request)
        try:
            answer = await in_turn(lambda: stack.complete(request, identity=identity))
        except ContextWindowExceeded as fault:
            return too_long(fault)
        except ModelError as fault:
            refused = refusal_of(fault) if ask.probabilities is not None else None
            if refused is None:
                raise
            stack.refused_logprobs = refused
            return await self._without(ask, refused)
        call = identity.hex()
        try:
            fields = template.read(answer.text)
        except ValueError as fault:
            return unreadable(fault, call=call, answer=answer)
        return readable(fields, call=call, answer=answer, ask=ask)

    async def _without(self, ask: Ask, reason: str) -> Reply:
        """Ask without the probabilities that the endpoint refuses, and say so."""
        reply = await self._reply(replace(ask, probabilities=None))
        return lacking(reply, ask, reason)
