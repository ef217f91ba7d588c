"""Good and different texts for every source: chosen, rated, or written by a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.families.direct import DirectJudge
from judgesmith.programs.features.words import Text
from judgesmith.programs.judging.ask_once import Written
from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.executors import Asker, current_lm
from judgesmith.programs.judging.judge import without_untold
from judgesmith.programs.judging.program import AnySteps, Ask, Calls, Steps, asked
from judgesmith.programs.judging.runner import CONCURRENCY, Work, beginning, judge_items, work_each
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.programs.perturbing.differences import spoken_around, unwrapped
from judgesmith.signatures.config import DirectConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.questions.benchmark import Reference, WriteReference
from judgesmith.signatures.rubric import Rubric

if TYPE_CHECKING:
    from judgesmith.signatures.judgement import Judgement


Grams = frozenset[tuple[str, ...]]


def diverse(texts: Sequence[str], k: int) -> tuple[int, ...]:
    """Return which texts to keep so that those most alike are as little alike as may be."""
    if k < 0:
        raise InputError(f"keep zero texts or more; got {k}.")
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
    """Return the words of a text and its pairs of neighbouring words."""
    read = Text(text)
    return frozenset((word,) for word in read.words) | read.bigrams


def _shared(first: Grams, second: Grams) -> float:
    either = len(first | second)
    return len(first & second) / either if either else 1.0


TEMPERATURE = 1.0
"""Of every call: texts are to differ."""


class ReferenceWriter(AskingModule):
    """The DSPy program that writes one good text."""

    def __init__(self, rubric: Rubric) -> None:
        super().__init__(DirectConfig(rubric=rubric, temperature=TEMPERATURE))
        self.write = dspy.Predict(without_untold(WriteReference, self.fixed_inputs("write")))

    @property
    def protocol(self) -> DirectConfig:
        """Task and criteria, and what the calls are made with."""
        own = self._settings
        assert isinstance(own, DirectConfig)
        return own

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as there are any."""
        rubric = self.protocol.rubric
        lines = criteria_text(rubric, self.protocol.answers)
        told = {"task": rubric.task, "criteria": lines}
        return {name: text for name, text in told.items() if text}

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Refuse: what writes texts judges none."""
        raise TypeError("a writer of references judges no text; use write_references.")

    def forward(self, *, source: str, number: int = 1, context: str | None = None) -> Written:
        """Write one text, asked through DSPy's current model."""
        return self.taken(writing_steps(source, context, number))


def writing_steps(source: str, context: str | None, number: int) -> AnySteps[Written]:
    """Ask for one text, and once more where the answer is not a text alone."""

    def read(fields: Mapping[str, object]) -> Written:
        text = unwrapped(str(fields["reference"] or ""), source).strip()
        if not any(map(str.isalnum, text)):
            raise InputError("an empty text")
        if problem := spoken_around(text, source):
            raise InputError(problem)
        return Written(text=text)

    inputs = {"number": str(number), "source": source, "context": context}
    ask = Ask(predictor="write", inputs=inputs)
    found = yield from asked(ask, read, again=1, calls=Calls())
    return Written(problem=found) if isinstance(found, str) else found


def write_references(
    items: Sequence[RatedItem],
    rubric: Rubric,
    n: int,
    lm: dspy.LM | None = None,
    *,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> tuple[tuple[Written, ...], ...]:
    """Return ``n`` texts for each item's source, as a model writes them."""
    if n < 0:
        raise InputError(f"write zero texts or more for each source; got {n}.")
    lm = lm or current_lm()
    work = _Writing(Asker.of(ReferenceWriter(rubric), lm))
    units = ((item, number) for item in items for number in range(1, n + 1))
    texts = [
        written
        for _, written in work_each(
            work, units, concurrency=concurrency, may_begin=beginning(1, lm), progress=progress
        )
    ]
    return tuple(tuple(texts[place * n : (place + 1) * n]) for place in range(len(items)))


class _Writing(Work["tuple[RatedItem, int]", Written]):
    """Sources with numbers, for each of which a text is written."""

    def __init__(self, asker: Asker) -> None:
        super().__init__(asker)

    async def done(self, unit: tuple[RatedItem, int]) -> Written:
        """Return one text, or why there is none."""
        item, number = unit
        return await self.asker.taken(writing_steps(item.source, item.context, number))

    def undone(self, unit: tuple[RatedItem, int], problem: str) -> Written:
        """Return why the model could not be asked."""
        return Written(problem=problem)


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
    """The references of sources, and what became of the other candidates."""

    by_item: tuple[tuple[Reference, ...], ...]
    n_candidates: int
    dropped: Mapping[str, int]
    problems: tuple[str, ...] = ()

    @property
    def n_without(self) -> int:
        """How many items have no reference."""
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
    progress: Callable[[int], None] | None = None,
) -> FoundReferences:
    """Return up to ``n`` references for each item's source, good ones that differ."""
    if n < 1:
        raise InputError(f"each source needs 1 reference or more; got {n}.")
    if not 0 < share <= 1:
        raise InputError(f"share is above 0 and at most 1; got {share}.")
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
        judge_items(
            DirectJudge(rubric=rubric),
            [
                _as_rated(item, one)
                for item, several in zip(items, usable, strict=True)
                if len(several) > n
                for one in several
            ],
            lm=lm,
            concurrency=concurrency,
            progress=progress,
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
        problems=tuple(sieve.problems),
    )


@dataclass
class _Sieve:
    """What is taken from many candidates, and why the others are not."""

    n_candidates: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    problems: dict[str, None] = field(default_factory=dict)

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
            if one.problem:
                self.dropped[NOT_WRITTEN] += 1
                self.problems[one.problem] = None
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
        """Return ``n`` of more candidates, whose judgements come next."""
        rated: list[Reference] = []
        unrated: list[Reference] = []
        for one in candidates:
            judgement = next(judged)
            if judgement.score is None:
                unrated.append(one)
                self.problems[str(judgement.problem)] = None
            else:
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


def _as_rated(item: RatedItem, candidate: Reference) -> RatedItem:
    return RatedItem(source=item.source, context=item.context, response=candidate.text)
