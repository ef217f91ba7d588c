"""What is sampled to be annotated, and each annotation as an example or why it is none."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.scoring.estimates import NO_CALLS, RunEstimate, estimate_judging
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, narrowed, pointed_rubric
from judgesmith.programs.families.ensemble.merging import share_of
from judgesmith.programs.families.forms import DISTILLED
from judgesmith.programs.families.forms.annotators import MOST_ERRORS, answer_in_form, errors_of
from judgesmith.programs.families.modules import DistilledJudge
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.runner import score_batch, was_not_asked
from judgesmith.results.progress import OnProgress
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import ErrorSpan, Judgement
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    import dspy


class DistilSettings(BaseModel):
    """How much is sampled, what is left out, and what is kept for validation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outputs: int = Field(default=4, ge=1)
    aspects: int = Field(default=3, ge=1)
    validation: float = Field(default=0.1, ge=0, lt=1)
    unresolved: float = Field(default=0.25, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    def fingerprint(self, about: Sequence[str]) -> str:
        """Return twelve hex digits that change with a setting or what else a run is ``about``."""
        return fingerprint_of("\n".join([self.model_dump_json(), *about]))


_WORD = re.compile(r"\w+")
_RUN = 13  # words in a row that two texts hardly share by chance
_SHARE = 0.5  # of a text's runs, from which on it is the same input in another edition


class KnownInputs:
    """Tells whether an input has the words of one of some others, or half its runs of 13 words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole: set[bytes] = set()
        self._runs: set[bytes] = set()
        for text in dict.fromkeys(texts):
            words = _words(text)
            if words:
                self._whole.add(_digest(words))
                self._runs.update(_runs(words))

    def __len__(self) -> int:
        return len(self._whole)

    def __contains__(self, text: object) -> bool:
        if not isinstance(text, str) or not self._whole:
            return False
        words = _words(text)
        if not words:
            return False
        if _digest(words) in self._whole:
            return True
        n = max(len(words) - _RUN + 1, 0)
        n_shared = sum(run in self._runs for run in _runs(words))
        return n > 0 and n_shared >= _SHARE * n


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: list[str]) -> Iterator[bytes]:
    for at in range(len(words) - _RUN + 1):
        yield _digest(words[at : at + _RUN])


def _digest(words: list[str]) -> bytes:
    return blake2b(" ".join(words).encode(errors="surrogatepass"), digest_size=12).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One output that is annotated."""

    item: RatedItem
    source: int
    criteria: tuple[str, ...]
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilSample:
    """What is annotated, and what was left out because a test has it."""

    outputs: tuple[Sampled, ...]
    n_sources: int
    n_shared: int


def sample(
    items: Sequence[RatedItem],
    groups: NDArray[np.intp],
    criteria: Sequence[str],
    settings: DistilSettings,
    *,
    known: KnownInputs | None = None,
) -> DistilSample:
    """Draw outputs, criteria and inputs for validation; an input's by its texts and the seed."""
    members: dict[int, list[int]] = {}
    for at, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(at)
    shared = {
        group
        for group, own in members.items()
        if known is not None and any(items[at].source in known for at in own)
    }
    left = [group for group in members if group not in shared]
    held = _held(left, settings)
    names = tuple(criteria) or ("",)
    drawn = []
    for group in left:
        digest = hashlib.sha256("".join(sorted(items[at].key for at in members[group])).encode())
        rng = np.random.default_rng([settings.seed, int.from_bytes(digest.digest()[:8])])
        for at in _outputs([*members[group]], items, settings.outputs, rng):
            few = min(settings.aspects, len(names))
            picked = sorted(rng.choice(len(names), few, replace=False).tolist())
            one = Sampled(
                item=items[at],
                source=group,
                criteria=tuple(names[place] for place in picked),
                split="validation" if group in held else "train",
            )
            drawn.append((at, one))
    outputs = tuple(one for _, one in sorted(drawn, key=lambda pair: pair[0]))
    return DistilSample(outputs=outputs, n_sources=len(left), n_shared=len(shared))


def _held(groups: Sequence[int], settings: DistilSettings) -> frozenset[int]:
    """Return the inputs that are for validation: one at least of two, if any are to be."""
    if settings.validation == 0 or len(groups) < 2:
        return frozenset()
    n = min(max(round(settings.validation * len(groups)), 1), len(groups) - 1)
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    return frozenset(groups[place] for place in order[:n].tolist())


def _outputs(
    places: list[int], items: Sequence[RatedItem], n: int, rng: np.random.Generator
) -> list[int]:
    """Return the places of up to ``n`` different texts, of as many different systems as can be."""
    order = [places[at] for at in rng.permutation(len(places)).tolist()]
    texts: set[str] = set()
    different = []
    for at in order:
        if items[at].key not in texts and items[at].response.strip():
            texts.add(items[at].key)
            different.append(at)
    systems: set[str] = set()
    first: list[int] = []
    rest: list[int] = []
    for at in different:
        system = items[at].system_id
        (rest if system and system in systems else first).append(at)
        systems.add(system)
    return [*first, *rest][:n]


NOT_ASKED = "not asked, as the budget was spent"
UNSCORED = "no score"
CONTRADICTS = "score and errors contradict each other"
UNRESOLVED = "too many errors are nowhere in the output"
UNGRADED = "an error has no severity"
UNREADABLE = "the answer does not read back as it is"

_STEP = 5  # points that scores are taught in


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilExample:
    """One output, one criterion, and what is to be answered."""

    sampled: Sampled
    criterion: str
    answer: str = field(default="", repr=False)
    score: int | None = None  # 0 to 100, a multiple of 5; None if missing
    n_errors: int = 0
    n_dropped: int = 0
    left_out: str = ""
    problem: str = ""

    def row(self) -> dict[str, Any]:
        """Return what is written of it, texts aside."""
        item = self.sampled.item
        said = {"problem": self.problem} if self.problem else {}
        return {
            "source_id": item.source_id,
            "system_id": item.system_id,
            "key": item.key,
            "criterion": self.criterion,
            "split": self.sampled.split,
            "score": self.score,
            "errors": self.n_errors,
            "errors_dropped": self.n_dropped,
            "left_out": self.left_out or None,
            **said,
        }

    def messages(self, question: Template) -> dict[str, list[dict[str, str]]]:
        """Return the example as a chat: what the student will be asked, and the answer."""
        item = self.sampled.item
        texts: Mapping[str, str | None] = {
            "source": item.source,
            "context": item.context,
            "response": item.response,
        }
        turns = [{"role": one.role, "content": one.text} for one in question.turns]
        asked = {"role": "user", "content": question.render(texts)}
        return {"messages": [*turns, asked, {"role": "assistant", "content": self.answer}]}


def example_of(
    sampled: Sampled, criterion: str, judgement: Judgement, *, scale: Scale, unresolved: float
) -> DistilExample:
    """Return what a judgement of one output makes of one criterion."""
    percent = _percent(judgement, criterion, scale)
    if percent is None:
        why = NOT_ASKED if was_not_asked(judgement) else UNSCORED
        said = judgement.criteria.get(criterion)
        problem = judgement.problem or (said.explanation if said else "") or UNSCORED
        return DistilExample(sampled=sampled, criterion=criterion, left_out=why, problem=problem)
    own = [one for one in judgement.errors if one.criterion == criterion]
    placed = [one for one in own if _is_placed(one, sampled.item.response)]
    score = rounded(percent)
    n_unresolved = len(own) - len(placed)
    kept = _most_severe(placed)
    found = DistilExample(
        sampled=sampled,
        criterion=criterion,
        score=score,
        n_errors=len(kept),
        n_dropped=len(own) - len(kept),
    )
    left_out = ""
    if n_unresolved > unresolved * len(own):
        left_out = UNRESOLVED
    elif any(one.severity is None for one in kept):
        left_out = UNGRADED
    elif (score == 100) == bool(kept):
        left_out = CONTRADICTS
    if left_out:
        return replace(found, left_out=left_out)
    answer = answer_in_form(kept, score)
    if not _reads_back(answer, len(kept), score):
        return replace(found, left_out=UNREADABLE)
    return replace(found, answer=answer)


def rounded(percent: float) -> int:
    """Return the multiple of five that is nearest to 0 to 100, halves up."""
    return int(_STEP * ((percent + 1e-9 + _STEP / 2) // _STEP))


def _percent(judgement: Judgement, criterion: str, scale: Scale) -> float | None:
    if criterion:
        said = judgement.criteria.get(criterion)
        return None if said is None else said.score
    share = share_of(judgement, "", scale)
    return None if share is None else 100 * share


def _is_placed(error: ErrorSpan, response: str) -> bool:
    """Say whether an error is in the output or says that something is missing there."""
    if error.start is not None and error.end is not None:
        return 0 <= error.start < error.end <= len(response)
    return error.located == "missing"


def _most_severe(errors: list[ErrorSpan]) -> list[ErrorSpan]:
    """Return the eight most severe errors, in the order of the output, what is missing last."""
    worst = sorted(errors, key=lambda one: -(one.severity or 0))[:MOST_ERRORS]
    return sorted(worst, key=lambda one: (one.start is None, one.start or 0, one.end or 0))


def _reads_back(answer: str, n_errors: int, score: int) -> bool:
    try:
        read = DISTILLED.read(answer)
    except ValueError:
        return False
    return read["score"] == score and len(errors_of(str(read["errors"]))) == n_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    """What is to be annotated, by whom."""

    judge: AnySaved
    rubric: Rubric
    sample: DistilSample
    settings: DistilSettings

    def estimate(self, lms: Mapping[str, dspy.LM], lm: dspy.LM) -> RunEstimate:
        """Return what annotating every output asks and costs."""
        found = NO_CALLS
        for criteria, places in self._by_criteria():
            items = [self.sample.outputs[place].item for place in places]
            found += estimate_judging([narrowed(self.judge, criteria)], items, lms, lm)
        return found

    def examples(
        self,
        *,
        lm: dspy.LM | None = None,
        concurrency: int = 32,
        on_progress: OnProgress | None = None,
    ) -> tuple[DistilExample, ...]:
        """Annotate every output on its criteria, and return what is made of each of them."""
        found: dict[int, list[DistilExample]] = {}
        for criteria, places in self._by_criteria():
            some = narrowed(self.judge, criteria)
            items = [self.sample.outputs[at].item for at in places]
            judged = score_batch(
                some, items, lm=lm, concurrency=concurrency, on_progress=on_progress
            )
            for at, judgement in zip(places, judged, strict=True):
                found[at] = [
                    example_of(
                        self.sample.outputs[at],
                        criterion,
                        judgement,
                        scale=some.scale,
                        unresolved=self.settings.unresolved,
                    )
                    for criterion in criteria
                ]
        return tuple(one for at in sorted(found) for one in found[at])

    def _by_criteria(self) -> Iterable[tuple[tuple[str, ...], list[int]]]:
        """Return places of outputs by the criteria that they are annotated on together."""
        found: dict[tuple[str, ...], list[int]] = {}
        for at, one in enumerate(self.sample.outputs):
            found.setdefault(one.criteria, []).append(at)
        return sorted(found.items())


def distillation(
    judge: AnySaved,
    dataset: DataSet,
    settings: DistilSettings | None = None,
    *,
    excluded: Iterable[str] = (),
) -> Distillation:
    """Return what is to be annotated for a student."""
    own = settings or DistilSettings()
    rubric = pointed_rubric(judge)
    known = KnownInputs(excluded)
    drawn = sample(dataset.items, dataset.groups, rubric.names, own, known=known)
    if not drawn.outputs:
        why = "every output is empty; give texts with a word"
        if drawn.n_shared:
            why = f"{drawn.n_shared} of {drawn.n_shared + drawn.n_sources} sources are excluded"
            why += "; give data about others"
        raise InputError(f"no output of {dataset.name} is left to annotate: {why}.")
    return Distillation(judge=judge, rubric=rubric, sample=drawn, settings=own)


def questions_of(rubric: Rubric) -> dict[str, Template]:
    """Return what a student is asked, by criterion; one empty name stands for the whole."""
    asks = "criteria" if rubric.criteria else "overall"
    judge = DistilledJudge(rubric=rubric, asks=asks)
    return dict(zip(rubric.names or ("",), judge.templates().values(), strict=True))


def reasons_of(examples: Sequence[DistilExample]) -> Mapping[str, int]:
    """Return why examples are left out, with how many, most frequent first."""
    reasons = Counter(one.left_out for one in examples if one.left_out)
    return dict(reasons.most_common())
