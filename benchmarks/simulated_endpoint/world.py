"""A simulated model: how it answers a judging prompt about a rated text.

One world is one model. Its judgement of a criterion is a mix of what people rated and of noise:

- The weight of the human rating is the prompt's agreement: the measured level of the set plus the
  measured effect of every change that the prompt makes (``effects``), an interaction of every two
  changes, and effects of its own instructions and demonstrations. The last three are normal draws
  of the world with half the size of a typical measured effect: how large they are is not known.
- Two fifths of the noise is the text's own, the same under every prompt: errors of one model under
  two prompts correlate by .32 to .50 in published answers. The rest is drawn by prompt and text.
- Criteria of one answer share half of the noise (halo), and criteria that people did not rate
  follow the rated quality to four fifths.
- An overall score after assessments is half what the assessments say.
- Of all answers 2% cannot be read.

A null world has no effects, and its prompts have no noise of their own. Every draw is a hash of
the world's seed, the prompt and the text, so that equal requests have equal answers; only the
second answer to the same request may differ where the first could not be read.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from benchmarks.simulated_endpoint.effects import MeasuredEffects
from benchmarks.simulated_endpoint.reading import (
    JudgingRequest,
    PromptParts,
    digest,
    read_request,
)
from judgesmith.programs.lm.records import Message
from judgesmith.programs.offline.judging import read_assessments
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import Scale

SHARED_NOISE = 0.4
HALO = 0.5
UNRATED_TRUTH = 0.8
OWN_EFFECT = 0.5
"""Standard deviation of interactions, instructions and demonstrations, in typical effects."""

MALFORMED = 0.02
SPREAD = 0.2
"""Of the answers, as a share of the scale, before they are rounded."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Truth:
    """What people rated of a text, standardised: as a whole, and by criterion."""

    key: str
    overall: float
    criteria: Mapping[str, float]


@dataclass(kw_only=True)
class World:
    """One simulated model.

    Attributes
    ----------
    seed : int
        Tells models from each other.
    effects : MeasuredEffects
        What prompts do.
    is_null : bool
        Whether no prompt matters.
    """

    seed: int
    effects: MeasuredEffects
    is_null: bool = False
    truths: dict[str, Truth] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    agreement: dict[str, float] = field(default_factory=dict)

    def learn(self, items: Sequence[RatedItem], human: Sequence[float]) -> None:
        """Take in what people rated: the mean rating of each item, and its criteria."""
        names = sorted({name for item in items for name in item.human})
        columns = {
            folded(name): _standard(
                [np.mean(item.human[name]) if item.human.get(name) else np.nan for item in items]
            )
            for name in names
        }
        overall = _standard(list(human))
        for place, item in enumerate(items):
            known = digest(item.source.strip(), item.response.strip())
            self.truths[known] = Truth(
                known,
                float(overall[place]),
                {
                    name: float(one[place])
                    for name, one in columns.items()
                    if one[place] == one[place]
                },
            )

    def fresh(self, items: Sequence[RatedItem], n: int, *, seed: int) -> list[RatedItem]:
        """Return new texts with the ratings of drawn ones, which the model judges anew."""
        drawn = np.random.default_rng([seed, 31]).integers(len(items), size=n)
        found = []
        for number, place in enumerate(drawn.tolist()):
            item = items[place]
            text = f"{item.response} ({number})"
            old = self.truths[digest(item.source.strip(), item.response.strip())]
            key = digest(item.source.strip(), text.strip())
            self.truths[key] = Truth(f"{seed} {number}", old.overall, old.criteria)
            found.append(item.model_copy(update={"response": text}))
        return found

    def answer(self, messages: Sequence[Message], *, temperature: float = 0.0) -> str:
        """Return the answer to a request."""
        known = digest(*(f"{one.role} {one.text}" for one in messages))
        repeat = self.asked[known]
        self.asked[known] += 1
        request = read_request(messages)
        if request is None:
            return written_text(messages, f"{self.seed} {repeat}")
        if self._uniform("malformed", known, repeat) < MALFORMED:
            return "I am sorry, but I cannot give a rating for this."
        return self._judged(request, f"{repeat}" if temperature > 0 else "", temperature)

    def _judged(self, request: JudgingRequest, sample: str, temperature: float) -> str:
        parts = request.parts
        known = digest(request.source, request.response)
        truth = self.truths.get(known) or Truth(known, self._normal("unknown", known), {})
        weight = self.weight(parts)
        rest = math.sqrt(1 - weight**2)

        def latent(criterion: str) -> float:
            name = folded(criterion)
            noise = self._noise(parts.key, truth.key, name)
            if sample:
                noise += (
                    0.3 * temperature * self._normal("sample", parts.key, truth.key, name, sample)
                )
            return weight * self._truth(truth, name) + rest * noise

        fields = []
        for name in parts.outputs:
            if name == "assessments":
                records = [
                    {
                        key: criterion
                        if key == "criterion"
                        else point(latent(criterion), parts.answers)
                        if key == "score"
                        else "As the response shows."
                        for key in parts.record_keys
                    }
                    for criterion in parts.criteria
                ]
                fields.append((name, json.dumps(records)))
            elif name in ("score", "rating"):
                one = latent(parts.criteria[0] if len(parts.criteria) == 1 else "")
                if request.notes:
                    one = self._with_notes(one, request.notes, parts.answers)
                fields.append((name, str(point(one, parts.answers))))
            else:
                fields.append((name, "The response does this to some extent."))
        return _laid_out(fields)

    def _with_notes(self, own: float, notes: str, answers: Scale) -> float:
        scores = read_assessments(notes, answers)
        if not scores:
            return own
        noted = (float(np.mean(list(scores.values()))) / 100 - 0.5) / SPREAD
        return (own + noted) / 2

    def weight(self, parts: PromptParts) -> float:
        """Return how much of the human rating is in the answers to a prompt."""
        if parts.key not in self.agreement:
            z = self.effects.level
            if not self.is_null:
                own = OWN_EFFECT * self.effects.typical
                z += sum(self.effects.changes.get(change, 0.0) for change in parts.changes)
                pairs = itertools.combinations(sorted(parts.changes), 2)
                z += own * sum(self._normal("interaction", *pair) for pair in pairs)
                z += own * self._normal("instructions", parts.instructions)
                z += own * self._normal("shown", parts.shown) if parts.shown else 0.0
            self.agreement[parts.key] = math.tanh(z)
        return self.agreement[parts.key]

    def _truth(self, truth: Truth, criterion: str) -> float:
        if not criterion:
            return truth.overall
        if criterion in truth.criteria:
            return (truth.overall + truth.criteria[criterion]) / 2
        own = self._normal("truth", truth.key, criterion)
        return UNRATED_TRUTH * truth.overall + math.sqrt(1 - UNRATED_TRUTH**2) * own

    def _noise(self, prompt: str, text: str, criterion: str) -> float:
        own = "" if self.is_null else prompt
        shared = self._haloed("text", text, criterion)
        return math.sqrt(SHARED_NOISE) * shared + math.sqrt(1 - SHARED_NOISE) * self._haloed(
            "prompt", f"{own} {text}", criterion
        )

    def _haloed(self, kind: str, key: str, criterion: str) -> float:
        whole = self._normal(kind, key)
        return math.sqrt(HALO) * whole + math.sqrt(1 - HALO) * self._normal(
            kind, key, criterion, "c"
        )

    def _uniform(self, *key: object) -> float:
        text = "\x1f".join(map(str, (self.seed, *key)))
        drawn = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return (int.from_bytes(drawn, "big") + 0.5) / 2**64

    def _normal(self, *key: object) -> float:
        return _NORMAL.inv_cdf(min(max(self._uniform(*key), 1e-12), 1 - 1e-12))


def _standard(values: Sequence[float]) -> np.ndarray:
    column = np.asarray(values, dtype=float)
    spread = np.nanstd(column)
    return np.asarray((column - np.nanmean(column)) / (spread if spread > 0 else 1.0))


def point(latent: float, answers: Scale) -> int | str:
    """Return a latent judgement in points of a scale, in steps of five where there are 100."""
    if answers.labels:
        place = round((0.5 + SPREAD * latent) * (len(answers.labels) - 1))
        return answers.labels[min(max(place, 0), len(answers.labels) - 1)]
    wide = answers.high - answers.low
    step = 5 if wide > 50 else 1
    points = answers.low + step * round((0.5 + SPREAD * latent) * wide / step)
    return int(min(max(points, answers.low), answers.high))


def _laid_out(fields: Sequence[tuple[str, str]]) -> str:
    texts = [f"[[ ## {name} ## ]]\n{text}" for name, text in fields]
    return "\n\n".join([*texts, "[[ ## completed ## ]]"])


_OPENINGS = ("Grade", "Judge", "Rate", "Assess", "Weigh", "Evaluate")
_MANNERS = ("strictly", "as careful readers would", "by the whole scale", "by its worst error")


def written_text(messages: Sequence[Message], seed: str) -> str:
    """Return what the model writes where it is asked to write instructions: one of some texts."""
    told = "\n".join(one.text for one in messages)
    drawn = int(digest(told, seed), 16)
    opening = _OPENINGS[drawn % len(_OPENINGS)]
    manner = _MANNERS[drawn // 7 % len(_MANNERS)]
    sentence = f"{opening} how good the response is for its source, {manner}. ({drawn % 997})"
    asked = told.rpartition("Respond with")[2]
    if names := re.findall(r"\[\[ ## (\w+) ## \]\]", asked):
        return _laid_out([(name, sentence) for name in names if name != "completed"])
    if names := re.findall(r"`(\w+)`", asked):
        return json.dumps(dict.fromkeys(names, sentence))
    return f"```\n{sentence}\n```"
