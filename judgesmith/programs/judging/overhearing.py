"""A judge that is overheard: what it answers on the way to its scores, by question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.judging.program import Ask, Reply, Steps
from judgesmith.programs.judging.prompts import Template
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import levels_of, whole


class Overheard:
    """Asks what a judge asks, and keeps the chances of each answer."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.chances: dict[str, list[Mapping[str, float]]] = {}
        self.n_stated = 0

    @property
    def protocol(self) -> JudgeConfig:
        """The judge as one value."""
        return self._judge.protocol

    def templates(self) -> Mapping[str, Template]:
        """Return every question, rendered up to the item, by predictor."""
        return self._judge.templates()

    def own_models(self) -> Mapping[str, Any]:
        """Return the models that single predictors have, by predictor."""
        return self._judge.own_models()

    def steps(self, **texts: Any) -> Steps:
        """Return the judgement of one response, as a generator of questions."""
        steps = self._judge.steps(**texts)
        try:
            asked = next(steps)
            while True:
                said = yield asked
                pairs = [(asked, said)] if isinstance(asked, Ask) else zip(asked, said, strict=True)
                for ask, reply in pairs:
                    self._hear(ask, reply)
                asked = steps.send(said)
        except StopIteration as end:
            judgement: Judgement = end.value
            return judgement

    def mean_chances(self) -> dict[str, dict[str, float]]:
        """Return the mean distribution of the answers to each question."""
        return {
            question: {
                answer: math.fsum(one[answer] for one in several) / len(several)
                for answer in several[0]
            }
            for question, several in self.chances.items()
        }

    def _hear(self, ask: Ask, reply: Reply) -> None:
        if reply.fields is None:
            return
        wanted = ask.probabilities
        field = "score" if wanted is None else wanted.field
        answers = tuple(levels_of(self.protocol.answers)) if wanted is None else wanted.answers
        names = (field,) if wanted is None else wanted.names
        heard = self.chances.setdefault(ask.predictor, [])
        for name in names:
            found = reply.probabilities.get(name)
            if found is not None and found.mode == "probabilities":
                heard.append({one: found.values.get(one, 0.0) for one in answers})
                continue
            value = reply.fields.get(field)
            said = str(whole(value)) if isinstance(value, int | float) else str(value)
            if said in answers:
                self.n_stated += 1
                heard.append({one: float(one == said) for one in answers})
        if not heard:
            del self.chances[ask.predictor]
