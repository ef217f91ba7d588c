"""Material for benchmarks: sub-aspects of a criterion, references, and comparisons."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.families.modules import DirectJudge
from judgesmith.programs.families.pairwise import PairwiseConfig, pair_inputs
from judgesmith.programs.families.pointwise import DirectConfig
from judgesmith.programs.features.texts import Text
from judgesmith.programs.judging.answers import read_json
from judgesmith.programs.judging.ask_once import LineOrder, Written, written_side_by_side
from judgesmith.programs.judging.dspy_executor import Asker
from judgesmith.programs.judging.executors import Executor, current_lm
from judgesmith.programs.judging.judge import without_untold
from judgesmith.programs.judging.program import Calls, PromptRequest, RequestProgram, asked, gather
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    StepsWork,
    beginning,
    read_rate_of,
    score_batch,
    work_each,
)
from judgesmith.programs.judging.scoring import criteria_text, unsendable
from judgesmith.programs.perturbing.injecting import known_sub_aspects
from judgesmith.programs.perturbing.passage import spoken_around, unwrapped
from judgesmith.results.progress import OnProgress
from judgesmith.signatures.config import steps_key
from judgesmith.signatures.items import RatedItem, item_to_judge
from judgesmith.signatures.judgement import Cause, Judgement
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.questions.pairwise import CompareAcross, Relation
from judgesmith.signatures.questions.texts import (
    FEWEST,
    MOST,
    NameSubAspects,
    Reference,
    WriteReference,
)
from judgesmith.signatures.rubric import Criterion, Rubric, folded

_LONGEST_NAME = 60
_LONGEST_DEFINITION = 1000  # as much as a file of them may hold
_LONGEST_ANSWER = 20_000
_MARK = re.compile(r"^(?:[-*•–#>]+\s+|[(\[]?\d{1,2}[.):\]]+\s*)+")
_JSON = re.compile(r"^(?:[^\n]*:)?\s*(?:```\w*\s*)?[\[{]")  # perhaps after a line of greeting
_SIDE = re.compile(r"(?P<name>[^:]+?)\s*(?::|\s[-–—]\s)\s*(?P<definition>.+)")


def infer_sub_aspects(
    rubric: Rubric,
    lm: dspy.LM | None = None,
    *,
    concurrency: int = CONCURRENCY,
    told: Callable[[str], None] | None = None,
) -> tuple[SubAspect, ...]:
    """Return the sides of every criterion, two to four each, as a model names them."""
    if not rubric.criteria:
        raise InputError("the rubric has no criteria.", hint="give a rubric with criteria.")
    orders = [_order(rubric.task, criterion) for criterion in rubric.criteria]
    answers = written_side_by_side(orders, lm or current_lm(), concurrency=concurrency)
    found: list[SubAspect] = []
    for criterion, answer in zip(rubric.criteria, answers, strict=True):
        if isinstance(answer, Cause):
            if told is not None:
                told(
                    f"{criterion.name} is taken apart in general words: {answer.text.rstrip('.')}."
                )
            found += known_sub_aspects(criterion.name, criterion.definition)
            continue
        for side in answer:
            name, _, definition = side.partition(": ")
            found.append(SubAspect(criterion=criterion.name, name=name, definition=definition))
    return tuple(found)


def _order(task: str, criterion: Criterion) -> LineOrder:
    told = {"criterion": steps_key(criterion)}
    return LineOrder(
        question=NameSubAspects if task else NameSubAspects.delete("task"),
        told={"task": task, **told} if task else told,
        field="sub_aspects",
        read=lambda text: sides_in(text, of=criterion.name),
    )


def sides_in(text: str, *, of: str) -> tuple[str, ...]:
    r"""Return what a model's answer names, each as ``NAME: DEFINITION``, the first four."""
    if len(text) > _LONGEST_ANSWER:
        raise InputError(f"the sides of {of} take {len(text):,} characters; expected a few lines.")
    found: dict[str, str] = {}
    for name, definition in _pairs(text):
        try:
            side = Criterion(name=_plain(name).rstrip(" .:"), definition=_plain(definition))
        except ValueError:
            continue
        long = len(side.name) > _LONGEST_NAME or len(side.definition) > _LONGEST_DEFINITION
        printable = side.name.isprintable() and side.definition.isprintable()
        if printable and not long and folded(side.name) != folded(of):
            found.setdefault(folded(side.name), f"{side.name}: {side.definition}")
    if len(found) < FEWEST:
        raise InputError(
            f"expected {FEWEST} to {MOST} sides of {of}, each with a name and a definition; "
            f"got {len(found)}."
        )
    return tuple(found.values())[:MOST]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands as name and definition in a text, on its lines or in its JSON."""
    plain = text.strip()
    if _JSON.search(plain):
        try:
            value = read_json(plain, list[Any])
        except ValueError:
            value = None
        if isinstance(value, dict) and list(value) in (["sub_aspects"], ["sides"]):
            (value,) = value.values()
        if isinstance(value, dict):
            yield from ((str(name), said) for name, said in value.items() if isinstance(said, str))
            return
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            yield from ((str(one.get("name", "")), str(one.get("definition", ""))) for one in value)
            return
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            plain = "\n".join(value)
    for line in plain.splitlines():
        bare = _MARK.sub("", line.strip())
        side = _SIDE.fullmatch(_plain(bare))
        # What looks like JSON and could not be read is no name.
        if side is not None and bare[:1] not in ("[", "{", '"'):
            yield side["name"], side["definition"]


def _plain(text: str) -> str:
    return " ".join(text.replace("**", "").replace("__", "").split()).strip("*_`\"' ")


Grams = frozenset[tuple[str, ...]]


def diverse(texts: Sequence[str], k: int) -> tuple[int, ...]:
    """Return which texts to keep so that those most alike are as little alike as may be."""
    if k < 0:
        raise InputError(f"k must be zero or more; got {k}.")
    grams = [grams_of(text) for text in texts]
    kept: list[int] = []
    distance = [float("inf")] * len(grams)
    while len(kept) < min(k, len(grams)):
        chosen = max(range(len(grams)), key=distance.__getitem__)
        kept.append(chosen)
        for place, one in enumerate(grams):
            distance[place] = min(distance[place], 1 - _shared(grams[chosen], one))
        distance[chosen] = -1.0
    return tuple(kept)


def overlap(first: str, second: str) -> float:
    """Return how much two texts have in common."""
    return _shared(grams_of(first), grams_of(second))


def grams_of(text: str) -> Grams:
    read = Text(text)
    return frozenset((word,) for word in read.words) | read.bigrams


def _shared(first: Grams, second: Grams) -> float:
    either = len(first | second)
    return len(first & second) / either if either else 1.0


TEMPERATURE = 1.0
"""Of every call: texts are to differ."""


def reference_writer(rubric: Rubric) -> Asker:
    """Return the DSPy program that writes good texts."""
    settings = DirectConfig(rubric=rubric, temperature=TEMPERATURE)
    lines = {"task": rubric.task, "criteria": criteria_text(rubric, settings.answers)}
    told = {name: text for name, text in lines.items() if text}
    return Asker(settings, told, write=without_untold(WriteReference, told))


def writing_steps(source: str, context: str | None, number: int) -> RequestProgram[Written]:
    """Ask for one text, and once more where the answer is not a text alone."""

    def read(fields: Mapping[str, object]) -> Written:
        text = unwrapped(str(fields["reference"] or ""), source).strip()
        if not any(map(str.isalnum, text)):
            raise InputError("an empty text")
        if problem := spoken_around(text, source):
            raise InputError(problem)
        return Written(text=text)

    inputs = {"number": str(number), "source": source, "context": context}
    ask = PromptRequest(predictor="write", inputs=inputs)
    found = yield from asked(ask, read, again=1, calls=Calls())
    return Written(cause=found) if isinstance(found, Cause) else found


def write_references(
    items: Sequence[RatedItem],
    rubric: Rubric,
    n: int,
    lm: dspy.LM | None = None,
    *,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
) -> tuple[tuple[Written, ...], ...]:
    """Return ``n`` texts for each item's source, as a model writes them."""
    if n < 0:
        raise InputError(f"n must be zero or more; got {n}.")
    lm = lm or current_lm()
    work = StepsWork[tuple[RatedItem, int], Written](
        Executor.of(reference_writer(rubric), lm),
        lambda unit: writing_steps(unit[0].source, unit[0].context, unit[1]),
        lambda unit, cause: Written(cause=cause),
    )
    units = ((item, number) for item in items for number in range(1, n + 1))
    texts = [
        written
        for _, written in work_each(
            work,
            units,
            concurrency=concurrency,
            may_begin=beginning(1, lm),
            on_progress=on_progress,
        )
    ]
    return tuple(tuple(texts[place * n : (place + 1) * n]) for place in range(len(items)))


EMPTY = "no word in it"
COPY = "a copy of the source"
TWICE = "the same as another"
NOT_WRITTEN = "not written"
UNRATED = "no quality score"
LOWER = "lower quality than others"
SPARE = "good, but not needed"
"""Why a candidate is no reference."""

SHARE = 0.5
"""How much of the candidates for a source the quality filter leaves, if no more are needed."""


@dataclass(frozen=True, kw_only=True)
class FoundReferences:
    """The references of each source, and how many other candidates were dropped, by reason."""

    by_item: tuple[tuple[Reference, ...], ...]
    n_candidates: int
    dropped: Mapping[str, int]
    causes: tuple[Cause, ...] = ()

    @property
    def n_without(self) -> int:
        return sum(not several for several in self.by_item)


def references_for(
    items: Sequence[RatedItem],
    rubric: Rubric,
    n: int,
    lm: dspy.LM | None = None,
    *,
    responses: Sequence[Sequence[str]] = (),
    written: Sequence[Sequence[Written]] = (),
    share: float = SHARE,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
) -> FoundReferences:
    """Return up to ``n`` references for each item's source, good ones that differ."""
    if n < 1:
        raise InputError(f"n must be at least 1; got {n}.")
    if not 0 < share <= 1:
        raise InputError(f"share must be above 0 and at most 1; got {share}.")
    for name, given in (("responses", responses), ("written", written)):
        if given and len(given) != len(items):
            raise InputError(
                f"{name} holds texts for each of {len(items)} items; it has {len(given)} entries."
            )
    sieve = _Sieve()
    usable = [
        list(
            sieve.usable(
                item,
                responses[place] if responses else (),
                written[place] if written else (),
            )
        )
        for place, item in enumerate(items)
    ]
    rated = iter(
        score_batch(
            DirectJudge(rubric=rubric),
            [
                item_to_judge(item.source, one.text, item.context)
                for item, several in zip(items, usable, strict=True)
                if len(several) > n
                for one in several
            ],
            lm=lm,
            concurrency=concurrency,
            on_progress=on_progress,
        )
    )
    by_item = tuple(
        sieve.chosen(several, rated, n, share) if len(several) > n else tuple(several)
        for several in usable
    )
    return FoundReferences(
        by_item=by_item,
        n_candidates=sieve.n_candidates,
        dropped=dict(sieve.dropped),
        causes=tuple(sieve.causes),
    )


@dataclass
class _Sieve:
    """Selects references from candidates and counts why others are dropped."""

    n_candidates: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    causes: dict[Cause, None] = field(default_factory=dict)

    def usable(
        self, item: RatedItem, responses: Sequence[str], written: Sequence[Written]
    ) -> Iterator[Reference]:
        """Yield the candidates for a source that say something of their own."""
        own = {tuple(Text(text).words) for text in (item.source, item.context) if text}
        seen: set[tuple[str, ...]] = set()
        for name, one in (
            *((f"given-{n}", Written(text=text)) for n, text in enumerate(item.references, 1)),
            *((f"response-{n}", Written(text=text)) for n, text in enumerate(responses, 1)),
            *((f"written-{n}", one) for n, one in enumerate(written, 1)),
        ):
            self.n_candidates += 1
            text = one.text.strip()
            words = tuple(Text(text).words)
            if one.cause:
                self.dropped[NOT_WRITTEN] += 1
                self.causes[one.cause] = None
            elif not words:
                self.dropped[EMPTY] += 1
            elif words in own:
                self.dropped[COPY] += 1
            elif words in seen:
                self.dropped[TWICE] += 1
            else:
                seen.add(words)
                yield Reference(id=name, text=text)

    def chosen(
        self, candidates: Sequence[Reference], judged: Iterator[Judgement], n: int, share: float
    ) -> tuple[Reference, ...]:
        rated: list[Reference] = []
        unrated: list[Reference] = []
        for one in candidates:
            judgement = next(judged)
            if judgement.cause:
                unrated.append(one)
                self.causes[judgement.cause] = None
            elif judgement.score is not None:
                quality = round(judgement.score / 100, 6)
                rated.append(one.model_copy(update={"quality": quality}))
        rated.sort(key=lambda one: -(one.quality or 0.0))
        # What 0.7 times 10 is in binary is more than 7.
        n_good = max(n, math.ceil(round(share * len(rated), 9)))
        good = (rated[:n_good] + unrated)[: max(n, len(rated[:n_good]))]
        kept = tuple(good[place] for place in diverse([one.text for one in good], n))
        self.dropped[LOWER] += max(len(rated) - n_good, 0)
        self.dropped[UNRATED] += sum(one not in good for one in unrated)
        self.dropped[SPARE] += len(good) - len(kept)
        self.dropped = +self.dropped
        return kept


COMPARE = "compare"
"""The question."""

_AGAIN = 1  # number of the second attempt at a question
_TURNED: Mapping[Relation, Relation] = {"first": "second", "similar": "similar", "second": "first"}
_SIGNS: Mapping[Relation, Literal[-1, 0, 1]] = {"first": 1, "similar": 0, "second": -1}


@dataclass(frozen=True, slots=True)
class AcrossPair:
    """Two texts to compare, each with its own source."""

    first: RatedItem
    second: RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A model's answers about a pair in both orders, and the relation that follows."""

    given: Relation | None = None
    swapped: Relation | None = None
    cause: Cause | None = None
    calls: tuple[str, ...] = ()

    @property
    def relation(self) -> Relation | None:
        """The relation that both orders agree on, ``similar`` if they do not, or None."""
        if self.given is None or self.swapped is None:
            return None
        return self.given if self.given == self.swapped else "similar"

    @property
    def sign(self) -> Literal[-1, 0, 1] | None:
        """1 where the first is better, -1 where the second is, 0 for similar; None without one."""
        return None if self.relation is None else _SIGNS[self.relation]

    @property
    def disagree(self) -> bool | None:
        """Whether the two orders differ; None where one has no answer."""
        if self.given is None or self.swapped is None:
            return None
        return self.given != self.swapped


def across_steps(pair: AcrossPair) -> RequestProgram[Compared]:
    """Ask which text of a pair is better, in both orders at once."""
    sides = [(pair.first, pair.second), (pair.second, pair.first)]
    inputs = [{**_shown("first", one), **_shown("second", two)} for one, two in sides]
    fault = unsendable({name.replace("_", " "): text or "" for name, text in inputs[0].items()})
    if fault is not None:
        return Compared(cause=fault)
    calls = Calls()
    given, swapped = yield from gather(
        [
            asked(PromptRequest(predictor=COMPARE, inputs=shown), _read, again=_AGAIN, calls=calls)
            for shown in inputs
        ]
    )
    missing = next((one for one in (given, swapped) if isinstance(one, Cause)), None)
    return Compared(
        given=None if isinstance(given, Cause) else given,
        swapped=None if isinstance(swapped, Cause) else _TURNED[swapped],
        cause=missing and replace(missing, text=f"a comparison has no answer: {missing}"),
        calls=tuple(calls.made),
    )


def _shown(place: str, item: RatedItem) -> dict[str, str | None]:
    return {
        f"{place}_source": item.source,
        f"{place}_context": item.context,
        place: item.response,
    }


def _read(fields: Mapping[str, Any]) -> Relation:
    better: Relation = fields["better"]
    return better


CALLS_PER_PAIR = 2
"""Model calls that a pair takes if every answer can be read: one for each order."""


def across_comparer(criterion: Criterion, *, task: str = "") -> Asker:
    """Return the DSPy program that compares texts about different sources on one criterion."""
    settings = PairwiseConfig(rubric=Rubric(task=task, criteria=(criterion,)))
    told = pair_inputs(settings)
    return Asker(settings, told, compare=without_untold(CompareAcross, told))


class Comparator:
    """Compares texts about different sources on one criterion, many pairs at a time."""

    def __init__(
        self,
        criterion: Criterion,
        *,
        task: str = "",
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
    ) -> None:
        self._lm = lm or current_lm()
        self._executor = Executor.of(across_comparer(criterion, task=task), self._lm)
        self._concurrency = concurrency

    def each(
        self, pairs: Iterable[AcrossPair], *, on_progress: OnProgress | None = None
    ) -> Iterator[tuple[AcrossPair, Compared]]:
        work = StepsWork[AcrossPair, Compared](
            self._executor,
            across_steps,
            lambda pair, cause: Compared(cause=cause),
            readable=read_rate_of(self._lm),
            judged=lambda found: (_as_read(found),),
        )
        return work_each(
            work,
            pairs,
            concurrency=self._concurrency,
            may_begin=beginning(CALLS_PER_PAIR, self._lm),
            on_progress=on_progress,
        )


_READ = Judgement(score=0.0)


def _as_read(found: Compared) -> Judgement:
    """Return what was read of a pair: something if one order has an answer, or why nothing was."""
    if found.cause and found.given is None and found.swapped is None:
        return Judgement.unscored(found.cause, calls=found.calls)
    return _READ
