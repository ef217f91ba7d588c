"""Whether raters' words reach the model: demonstrations, guidelines, both, and shuffled words.

Responses of the sample set get an error of a known kind or stay as they are; the rater fails the
changed ones and says why in a sentence, so that the reason is known to be the error. The judge is
a simulated model that sees an error of a kind only if its prompt names the kind: in a guideline, or
in a demonstration whose words fit the response that it shows. The model proposes a guideline only
from words that fit, too; ``shuffled`` gives failed rows the words of an error of another kind.
Columns: the balanced accuracy on the test rows, and the mean change against ``neither`` over the
same draws with its 95% interval. This shows that the words arrive, not what a real model makes of
them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.harness import Row, benchmark
from benchmarks.simulated_endpoint.serving import simulated_lm
from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs.lm.records import Message, Prefix
from judgesmith.programs.offline.requests import read_prefix, read_user
from judgesmith.programs.perturbing import PERTURBATIONS, Donors, perturb
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

WORDS = {
    "repetition": "It says a thing twice.",
    "truncation": "It breaks off in the middle of a sentence.",
    "case_loss": "There are no capital letters.",
    "unsupported_addition": "A sentence in it has nothing to do with the source.",
}
"""What a rater writes of an error, by its kind."""

GUIDELINES = {
    "repetition": "Fail a response that says a thing twice.",
    "truncation": "Fail a response that breaks off in the middle of a sentence.",
    "case_loss": "Fail a response when there are no capital letters.",
    "unsupported_addition": "Fail where a sentence has nothing to do with the source.",
}
"""The rule that the simulated model makes of the words, by kind."""

_NAMED = {
    "repetition": "a thing twice",
    "truncation": "breaks off",
    "case_loss": "no capital letters",
    "unsupported_addition": "nothing to do with the source",
}
VERDICTS = Scale.of_labels("fail", "pass", positive="pass", ordered=True)

ARMS = {
    "neither": ("rationales", "guidelines"),
    "demonstrations": ("guidelines",),
    "guidelines": ("rationales",),
    "both": (),
    "shuffled": (),
}
"""Which ways of the words are left out, by arm."""


@dataclass
class WordsWorld:
    """A simulated model: ``kinds`` are the errors of responses; ``asked`` keeps every request."""

    kinds: Mapping[str, str | None]
    asked: list[str] = field(default_factory=list)

    def answer(self, messages: Sequence[Message], temperature: float = 0.0) -> str:
        """Return the answer to a request, in DSPy's layout."""
        self.asked.append("\n".join(one.text for one in messages))
        question = read_prefix(Prefix(tuple(messages[:-1])))
        fields = {k: v or "" for k, v in read_user(messages[-1].text, question.inputs).items()}
        if "examples" in fields:
            said: dict[str, Any] = {"guidelines": self._proposed(json.loads(fields["examples"]))}
        elif "candidates" in fields:
            known = json.loads(fields["candidates"])
            said = {"guidelines": [{"text": n["text"], "merges": [n["number"]]} for n in known]}
        else:
            named = {kind for kind in _NAMED if _NAMED[kind] in fields.get("guidelines", "")}
            for one in question.examples:
                kind = self.kinds.get((one.inputs.get("response") or "").strip())
                if kind and any(_NAMED[kind] in text for text in one.outputs.values()):
                    named.add(kind)
            score = self._score(fields.get("response", "").strip(), named)
            said = dict.fromkeys(("explanation", "critique"), "As it reads.")
            said |= {"score": score, "verdict": "pass" if score >= 50 else "fail"}
        other = "Judge the response by the criteria."  # where a text is to be rewritten
        parts = [f"[[ ## {name} ## ]]\n{_text(said.get(name, other))}" for name in question.outputs]
        return "\n\n".join([*parts, "[[ ## completed ## ]]"])

    def _proposed(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        found: dict[str, list[int]] = {}
        for row in rows:
            kind = self.kinds.get(row["response"].strip())
            if kind and _NAMED[kind] in row["rater's words"]:
                found.setdefault(kind, []).append(row["row"])
        return [{"text": GUIDELINES[kind], "rows": numbers} for kind, numbers in found.items()]

    def _score(self, response: str, named: set[str]) -> int:
        kind = self.kinds.get(response)
        middle, spread = (15, 10) if kind in named else (70, 25)
        drawn = int.from_bytes(hashlib.blake2b(response.encode(), digest_size=4).digest()) / 2**32
        return round(min(max(middle + spread * (2 * drawn - 1), 0), 100))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def explained(seed: int, *, shuffled: bool = False) -> tuple[DataSet, dict[str, str | None]]:
    """Return labelled rows with raters' words, and the kind of error in each response."""
    sample = read_items("sample")
    rng = np.random.default_rng(seed)
    donors = Donors(sample)
    items, kinds = [], []
    for item in sample:
        kind = str(rng.choice(list(WORDS))) if rng.random() < 0.5 else None
        text = item.response
        if kind is not None:
            found = perturb(item, PERTURBATIONS[kind], donors=donors, seed=seed)
            text = getattr(found, "text", text)
            kind = kind if text != item.response else None
        items.append(item.model_copy(update={"response": text}))
        kinds.append(kind)
    names = list(WORDS)
    rated = []
    for item, kind in zip(items, kinds, strict=True):
        told = kind
        if kind and shuffled:
            told = str(rng.choice([one for one in names if one != kind]))
        rated.append(_rated(item, kind, WORDS[told] if told else "Nothing is wrong with it."))
    known = {item.response.strip(): kind for item, kind in zip(items, kinds, strict=True)}
    return DataSet(name=f"raters-words-{seed}", items=tuple(rated)), known


def _rated(item: RatedItem, kind: str | None, words: str) -> RatedItem:
    return RatedItem(
        source_id=item.source_id,
        system_id=item.system_id,
        source=item.source,
        response=item.response,
        human={"overall": (0.0 if kind else 1.0,)},
        scale={"overall": VERDICTS},
        rationale={"overall": (words,)},
    )


def balanced_accuracy(arm: str, seed: int, rounds: int) -> float:
    """Return the balanced accuracy on test rows of a judge compiled with one arm."""
    dataset, kinds = explained(seed, shuffled=arm == "shuffled")
    settings = CompileSettings(
        protocol={"judge": "active-critic", "variant": "coarse"},
        criteria="given",
        optimizer="random",
        n_rounds=rounds,
        seed=seed,
        learn_weights=False,
        rationale_length=0 if "rationales" in ARMS[arm] else 600,
        guidelines=0 if "guidelines" in ARMS[arm] else 8,
    )
    found = compile_judge(dataset, settings, lm=simulated_lm(WordsWorld(kinds)))
    passes = found.targets.values[found.heldout_places] > 0.5
    share = [found.saved.scale.fraction(one.score or 0.0) for one in found.heldout_judgements]
    right = (np.asarray(share) >= 0.5) == passes
    return float((right[passes].mean() + right[~passes].mean()) / 2)


@benchmark(
    quick={"draws": 2, "rounds": 1},
    formats={"balanced accuracy": ".3f", "against neither": "+.3f"},
)
def raters_words(*, draws: int = 20, rounds: int = 6) -> Iterator[Row]:
    """Whether raters' words reach the model: demonstrations, guidelines, both, shuffled words."""
    found = {
        arm: np.asarray([balanced_accuracy(arm, seed, rounds) for seed in range(draws)])
        for arm in ARMS
    }
    for arm, values in found.items():
        change = values - found["neither"]
        wide = 1.96 * change.std(ddof=1) / math.sqrt(draws)
        middle = float(change.mean())
        yield {
            "words": arm,
            "balanced accuracy": float(values.mean()),
            "against neither": (middle, middle - wide, middle + wide),
        }
