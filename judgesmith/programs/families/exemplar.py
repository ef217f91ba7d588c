"""The exemplar judge: it writes responses of known levels and compares with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, isfinite, sqrt
from typing import Any, Literal, Self

from pydantic import Field, FiniteFloat, field_validator, model_validator

from judgesmith.errors import InputError
from judgesmith.programs.judging.answers import Kind
from judgesmith.programs.judging.executors import Executor, JudgeLike
from judgesmith.programs.judging.logprobs import OVERALL, AnswerProbabilities, criterion_term
from judgesmith.programs.judging.program import (
    Calls,
    ProbabilitiesOf,
    PromptRequest,
    RequestProgram,
    asked,
    gather,
)
from judgesmith.programs.judging.prompts import QuestionForm
from judgesmith.programs.judging.registry import ATTEMPTS_TO_READ, Effort, JudgeFamily
from judgesmith.programs.judging.scoring import (
    Asking,
    Once,
    criteria_text,
    of_criteria,
    of_the_whole,
    told_rubric,
)
from judgesmith.signatures.config import WholeOrEachConfig
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, CriterionScore, Judgement, Reason, Weighting
from judgesmith.signatures.plain_data import FrozenModel
from judgesmith.signatures.scale import PERCENT, THREE, YES_NO, Scale
from judgesmith.signatures.space import Rubrics, Space, asks_choices, field_choice

Normalisation = Literal["affine", "level"]
Texts = Mapping[str, str | None]  # the source, and its context if there is any

MANNERS = {
    "dialogue": "a turn of two or three informal sentences, as people talk",
    "story": "one paragraph of fewer than 150 words, whose last sentence is complete",
    "summar": "one paragraph of two to four sentences",
    "translat": "as long as the source, in its register",
}
"""Length and register of exemplars, by what the name of a type of task holds."""

ANY_MANNER = "as long as such responses usually are, in their usual tone, complete to the last word"


class ExemplarConfig(WholeOrEachConfig):
    """The configuration of an exemplar judge."""

    judge: Literal["exemplar"] = "exemplar"
    levels: int = Field(default=5, ge=2, le=100)
    form: Literal["three", "yes-no"] = "three"
    order: Literal["one", "both"] = "one"
    normalisation: Normalisation = "affine"
    mirrored: bool = False
    verdicts: Literal["probabilities", "samples"] = "probabilities"
    n_sampled: int = Field(default=5, ge=1, le=1000)
    writer_temperature: FiniteFloat = Field(default=0.0, ge=0.0, le=2.0)
    manner: str = ""

    @field_validator("manner")
    @classmethod
    def _no_marker(cls, manner: str) -> str:
        if imitates_layout(manner):
            raise InputError(f"the manner contains a marker of the prompt layout: {manner[:80]!r}.")
        return " ".join(manner.split())

    @model_validator(mode="after")
    def _draws_in_its_own_way(self) -> Self:
        if self.samples != 1 or self.weighting != "none":
            raise InputError(
                "an exemplar judge has no samples and no weighting: it asks every comparison "
                "once, or n_sampled times with verdicts='samples'.",
                hint="leave samples and weighting as they are.",
            )
        return self

    @property
    def own_score(self) -> str:
        if self.scores_criteria:
            return "the mean of the criteria, each by comparisons with exemplars"
        return "comparisons with exemplars of quality as a whole"

    @property
    def words(self) -> Scale:
        return THREE if self.form == "three" else YES_NO

    @property
    def asked_manner(self) -> str:
        kind = self.rubric.task_type.lower()
        known = (text for part, text in MANNERS.items() if part in kind)
        return self.manner or next(known, ANY_MANNER)


@dataclass(frozen=True, slots=True)
class LevelComparison:
    """How a response compares with one exemplar."""

    better: float
    worse: float

    def __post_init__(self) -> None:
        parts = (self.better, self.worse, 1 - self.better - self.worse)
        if not all(isfinite(one) and -1e-9 <= one <= 1 + 1e-9 for one in parts):
            raise InputError(
                "better and worse must be probabilities whose sum is at most 1; got "
                f"{self.better:g} and {self.worse:g}."
            )

    def averaged(self, other: LevelComparison) -> LevelComparison:
        return LevelComparison((self.better + other.better) / 2, (self.worse + other.worse) / 2)


def largest_sum(n: int) -> int:
    """Return S, the sum of a response that is certainly better than all ``n`` exemplars."""
    return n * (n + 1) // 2


def comparison_sum(compared: Sequence[LevelComparison], *, mirrored: bool = False) -> float:
    """Return s, the sum over all exemplars of what a response gains and loses."""
    n = len(compared)
    if n < 2:
        raise InputError(f"expected comparisons with at least two exemplars; got {n}.")
    return fsum(
        level * one.better - (n + 1 - level if mirrored else level) * one.worse
        for level, one in enumerate(compared, start=1)
    )


def level_of_sum(s: float, n: int, *, mirrored: bool = False) -> float:
    above = _above_least(s, n)
    level = above / n if mirrored else sqrt(above)
    return min(max(level, 1.0), float(n))


def normalised(
    s: float,
    n: int,
    how: Normalisation,
    *,
    mirrored: bool = False,
    low: float = 0.0,
    high: float = 100.0,
) -> float:
    """Return a sum on the scale from ``low`` to ``high``; larger sums never get less."""
    if how == "affine":
        share = _above_least(s, n) / (2 * largest_sum(n))
    else:
        share = (level_of_sum(s, n, mirrored=mirrored) - 1) / (n - 1)
    return low + (high - low) * share


def _above_least(s: float, n: int) -> float:
    if n < 2:
        raise InputError(f"expected comparisons with at least two exemplars; got {n}.")
    most = largest_sum(n)
    if not abs(s) <= most + 1e-6:
        raise InputError(f"the sum over {n} exemplars lies between {-most} and {most}; got {s:g}.")
    return min(max(s + most, 0.0), 2.0 * most)


_EMPTY = "empty"  # what is wrong with an exemplar without a word
SAMPLED_AT = 1.0  # temperature of answers whose frequencies stand for probabilities
_AGAIN = 1  # number of the second attempt at a comparison
_NOT_ASKED = "the judge draws samples instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderComparisons:
    """Comparisons of a response with several texts, and how they were obtained."""

    compared: tuple[LevelComparison, ...]
    stated: tuple[LevelComparison, ...]
    mode: Literal["probabilities", "samples"]
    n: int = 0
    mass: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Verdict:
    said: str
    given: AnswerProbabilities


def comparisons(
    protocol: ExemplarConfig,
    criterion: str,
    response: str,
    others: Sequence[str],
    about: Texts,
    calls: Calls,
) -> RequestProgram[LadderComparisons | Cause]:
    """Return how a response compares with other texts, or why one comparison is missing."""
    texts = {**about, "criterion": criterion}
    turns = (False, True) if protocol.order == "both" else (False,)
    pairs = [
        {**texts, **_in_order(protocol, response, other, turned)}
        for other in others
        for turned in turns
    ]
    stated: list[str] = []
    reason, mass = _NOT_ASKED, 0.0

    def concluded(shares: Sequence[Mapping[str, float]], **how: Any) -> LadderComparisons:
        said = [{word: 1.0} for word in stated]
        compared, by_word = (_over_turns(protocol, one, turns) for one in (shares, said))
        return LadderComparisons(compared=compared, stated=by_word, mass=mass, **how)

    if protocol.verdicts == "probabilities":
        wanted = ProbabilitiesOf(field="verdict", answers=protocol.words.labels)
        asks = [PromptRequest(predictor="compare", inputs=x, probabilities=wanted) for x in pairs]
        found = yield from gather([_verdict(ask, _AGAIN, calls) for ask in asks])
        verdicts = [one for one in found if isinstance(one, _Verdict)]
        if len(verdicts) < len(found):
            return _missing(found, len(turns))
        stated = [one.said for one in verdicts]
        mass = min(one.given.mass for one in verdicts)
        reason = next((v.given.reason for v in verdicts if v.given.mode == "none"), "")
        if not reason:
            return concluded([one.given.values for one in verdicts], mode="probabilities")
    drawn = yield from gather([_drawn(one, protocol.n_sampled, calls) for one in pairs])
    counts = [one for one in drawn if isinstance(one, list)]
    if len(counts) < len(drawn):
        return _missing(drawn, len(turns))
    shares = [{word: c / len(one) for word, c in Counter(one).items()} for one in counts]
    stated = stated or [one[0] for one in counts]
    return concluded(shares, mode="samples", n=min(map(len, counts)), reason=reason)


def _in_order(protocol: ExemplarConfig, response: str, other: str, turned: bool) -> dict[str, str]:
    response_first = (protocol.form == "yes-no") != turned
    first, second = (response, other) if response_first else (other, response)
    return {"first": first, "second": second}


def _verdict(ask: PromptRequest, again: int, calls: Calls) -> RequestProgram[_Verdict | Cause]:
    def read(fields: Mapping[str, Any]) -> _Verdict:
        given = {} if calls.latest is None else calls.latest.probabilities
        none = AnswerProbabilities.none(_NOT_ASKED)
        return _Verdict(str(fields["verdict"]), given.get("verdict", none))

    return asked(ask, read, again=again, calls=calls)


def _drawn(
    inputs: Mapping[str, str | None], n: int, calls: Calls
) -> RequestProgram[list[str] | Cause]:
    """Return the verdicts among ``n`` samples of one comparison, or why none is valid."""
    ask = PromptRequest(predictor="compare", inputs=inputs, temperature=SAMPLED_AT)
    asks = [replace(ask, sample=sample) for sample in range(1, n + 1)]
    found = yield from gather([_verdict(one, n + one.sample, calls) for one in asks])
    said = [one.said for one in found if isinstance(one, _Verdict)]
    return said or next(one for one in found if isinstance(one, Cause))


def _compared(
    protocol: ExemplarConfig, shares: Mapping[str, float], turned: bool
) -> LevelComparison:
    up, down = ("Better", "Worse") if protocol.form == "three" else ("Yes", "No")
    first, second = shares.get(up, 0.0), shares.get(down, 0.0)
    return LevelComparison(second, first) if turned else LevelComparison(first, second)


def _over_turns(
    protocol: ExemplarConfig, shares: Sequence[Mapping[str, float]], turns: Sequence[bool]
) -> tuple[LevelComparison, ...]:
    """Return one comparison by text, the mean of both orders if there are two."""
    n = len(turns)
    sides = [_compared(protocol, one, turns[at % n]) for at, one in enumerate(shares)]
    if n == 1:
        return tuple(sides)
    return tuple(a.averaged(b) for a, b in zip(sides[::2], sides[1::2], strict=True))


def _missing(found: Sequence[Any], n_turns: int) -> Cause:
    place, first = next((at, one) for at, one in enumerate(found) if isinstance(one, Cause))
    return replace(first, text=f"no verdict on exemplar {place // n_turns + 1}: {first}")


WARM = 0.7  # least temperature of a second attempt: at 0 a model would write the same text again


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A response that was written for one level of quality."""

    level: int
    text: str
    flags: tuple[str, ...] = ()


def n_rounds(levels: int) -> int:
    return (levels - 2).bit_length() + 1


def written_exemplars(
    protocol: ExemplarConfig, criterion: str, texts: Texts, calls: Calls
) -> RequestProgram[tuple[Exemplar, ...] | Cause]:
    writing = _Writing(protocol, texts, criterion, calls)
    n = protocol.levels
    causes = yield from gather([writing.end(1, other=n), writing.end(n, other=1)])
    cause = next(filter(None, causes), None) or (yield from writing.between(1, n))
    return cause or tuple(writing.found[level] for level in range(1, n + 1))


@dataclass(frozen=True, slots=True)
class _Writing:
    protocol: ExemplarConfig
    texts: Texts
    criterion: str
    calls: Calls
    found: dict[int, Exemplar] = field(default_factory=dict)

    def end(self, level: int, *, other: int) -> RequestProgram[Cause | None]:
        """Write the worst or the best response; return the cause if that fails."""
        name = "worst" if level == 1 else "best"
        said = f"{level} of {self.protocol.levels}: the {name} possible response"
        return self._one("end", level, said, beside=(other,))

    def between(self, low: int, high: int) -> RequestProgram[Cause | None]:
        """Write all between two that are there; return why one is missing, or nothing."""
        if high - low < 2:
            return None
        level = (low + high) // 2
        said = f"{level} of {self.protocol.levels}, where {self.protocol.levels} is the best"
        cause = yield from self._one("between", level, said, beside=(low, high))
        if cause:
            return cause
        causes = yield from gather([self.between(low, level), self.between(level, high)])
        return next(filter(None, causes), None)

    def _one(
        self, question: str, level: int, said: str, beside: tuple[int, ...]
    ) -> RequestProgram[Cause | None]:
        inputs = {**self.texts, "criterion": self.criterion, "level": said}
        if question == "between":
            low, high = beside
            inputs |= {"worse": self.found[low].text, "better": self.found[high].text}
        own = self.protocol.writer_temperature
        first = PromptRequest(predictor=question, inputs=inputs, temperature=own)
        cause = Cause(Reason.OTHER, "")
        for ask in (first, replace(first, sample=1, temperature=max(own, WARM))):
            reply = self.calls((yield ask))
            if reply.fields is None:
                cause = reply.cause or cause
                if reply.final:
                    break
                continue
            text = str(reply.fields["exemplar"]).strip()
            flags = self._flags(text, beside)
            if text or level not in self.found:  # a copy still says more than nothing
                self.found[level] = Exemplar(level=level, text=text, flags=flags)
            if not flags:
                break
        if level in self.found:
            return None
        return replace(cause, text=f"no exemplar of level {level}: {cause}")

    def _flags(self, text: str, beside: tuple[int, ...]) -> tuple[str, ...]:
        if not text:
            return (_EMPTY,)
        copied = (one for one in beside if one in self.found and _alike(self.found[one].text, text))
        return tuple(f"copy of level {one}" for one in copied)


def _alike(first: str, second: str) -> bool:
    return first.casefold().split() == second.casefold().split()


WHOLE = "quality as a whole"
"""What the criterion is called where exemplars are of all things together."""

_ENDS = Scale.categorical("the worst", "the best")
_TEXT: tuple[Mapping[str, Kind], ...] = ({"exemplar": "text"},)


def exemplar_forms(protocol: ExemplarConfig) -> dict[str, QuestionForm]:
    texts = ("source", "context")
    told = ("criterion", "level")
    return {
        "end": QuestionForm(texts=texts, told=told, outputs=_TEXT, answers=PERCENT),
        "between": QuestionForm(
            texts=(*texts, "worse", "better"), told=told, outputs=_TEXT, answers=PERCENT
        ),
        "compare": QuestionForm(
            texts=(*texts, "first", "second"),
            told=("criterion",),
            outputs=({"verdict": "points"},),
            answers=protocol.words,
        ),
    }


def exemplar_inputs(protocol: ExemplarConfig, question: str) -> dict[str, str]:
    task = protocol.rubric.task
    if question == "compare":
        return told_rubric(protocol.rubric)
    return {**({"task": task} if task else {}), "manner": protocol.asked_manner}


def exemplar_calls(protocol: ExemplarConfig) -> int:
    """Return the calls of a text by itself: N exemplars and N comparisons for each criterion."""
    n_orders = 2 if protocol.order == "both" else 1
    n_drawn = protocol.n_sampled if protocol.verdicts == "samples" else 1
    n_criteria = len(protocol.rubric.criteria) if protocol.scores_criteria else 1
    return n_criteria * protocol.levels * (1 + n_orders * n_drawn)


def exemplar_efforts(protocol: ExemplarConfig, n_responses: int) -> dict[str, Effort]:
    """Return how often each question is asked for the responses to a source."""
    n_criteria = len(protocol.rubric.criteria) if protocol.scores_criteria else 1
    n_pairs = n_criteria * protocol.levels * (2 if protocol.order == "both" else 1) * n_responses
    sampled = protocol.n_sampled + (protocol.verdicts == "probabilities")
    n_compared = n_pairs if protocol.verdicts == "probabilities" else n_pairs * sampled

    def written(n: int) -> Effort:
        each = Effort.each(n * n_criteria * n_responses)
        return replace(each, usual=n * n_criteria)

    return {
        "end": written(2),
        "between": written(protocol.levels - 2),
        "compare": Effort(
            usual=n_compared,
            calls=n_compared,
            unlisted=n_pairs * sampled,
            most=ATTEMPTS_TO_READ * n_pairs * sampled,
        ),
    }


def criteria_lines(protocol: ExemplarConfig) -> dict[str, str]:
    """Return the criteria that exemplars are of, as the model reads them, by name."""
    rubric = protocol.rubric
    lines = criteria_text(rubric, _ENDS)
    if protocol.scores_criteria:
        return dict(zip(rubric.names, lines.split("\n"), strict=True))
    whole = f"{WHOLE}: How good is the response, all things taken together?"
    return {WHOLE: f"{whole}\nWhat counts in it:\n{lines}" if rubric.criteria else whole}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    score: CriterionScore
    how: Weighting


def exemplar_once(protocol: ExemplarConfig, asking: Asking) -> Once:
    lines = criteria_lines(protocol)
    found = yield from gather([_one(protocol, line, asking) for line in lines.values()])
    answers = [one if isinstance(one, Cause) else one.score for one in found]
    if protocol.scores_criteria:
        terms = [criterion_term(name) for name in lines]
        judgement = of_criteria(dict(zip(lines, answers, strict=True)))
    else:
        terms = [OVERALL]
        judgement = of_the_whole(*answers)
    scored = zip(terms, found, strict=True)
    how = {term: one.how for term, one in scored if not isinstance(one, Cause)}
    return judgement.model_copy(update={"weighting": how})


def _one(protocol: ExemplarConfig, line: str, asking: Asking) -> RequestProgram[_Scored | Cause]:
    item, calls = asking.item, asking.calls
    texts: Texts = {"source": item.source, "context": item.context}
    exemplars = yield from written_exemplars(protocol, line, texts, calls)
    if isinstance(exemplars, Cause):
        return exemplars
    others = [one.text for one in exemplars]
    found = yield from comparisons(protocol, line, item.response, others, texts, calls)
    return found if isinstance(found, Cause) else _scored(protocol, found, exemplars)


def _scored(
    protocol: ExemplarConfig, found: LadderComparisons, exemplars: tuple[Exemplar, ...]
) -> _Scored:
    def points(compared: tuple[LevelComparison, ...]) -> tuple[float, float]:
        s = comparison_sum(compared, mirrored=protocol.mirrored)
        how = protocol.normalisation
        return s, normalised(s, protocol.levels, how, mirrored=protocol.mirrored)

    s, score = points(found.compared)
    return _Scored(
        score=CriterionScore(score=score, explanation=_said(s, found, exemplars)),
        how=Weighting(
            mode=found.mode,
            stated=points(found.stated)[1],
            mass=found.mass,
            reason=found.reason,
            n=found.n,
            sum=s,
        ),
    )


def _said(s: float, found: LadderComparisons, exemplars: tuple[Exemplar, ...]) -> str:
    by: dict[str, list[str]] = {"better than": [], "like": [], "worse than": []}
    for exemplar, one in zip(exemplars, found.compared, strict=True):
        alike = 1 - one.better - one.worse
        likeliest = max((one.better, "better than"), (one.worse, "worse than"), (alike, "like"))
        by[likeliest[1]].append(str(exemplar.level))
    parts = [f"{how} {', '.join(levels)}" for how, levels in by.items() if levels]
    flags = [f"that of level {one.level} is {_flagged(one)}" for one in exemplars if one.flags]
    noted = f" Of the exemplars, {'; '.join(flags)}." if flags else ""
    most = largest_sum(len(exemplars))
    return f"Of levels 1 to {len(exemplars)} {'; '.join(parts)} (sum {s:+.2f} of {most}).{noted}"


def _flagged(exemplar: Exemplar) -> str:
    """Return what is wrong with an exemplar: ``empty``, ``a copy of level 1``."""
    return ", ".join(one if one == _EMPTY else f"a {one}" for one in exemplar.flags)


class Rung(FrozenModel):
    """One exemplar, and how the judge places it against the one below."""

    level: int
    text: str
    flags: tuple[str, ...] = ()
    above: FiniteFloat | None = None


class Ladder(FrozenModel):
    """The exemplars of one source and criterion."""

    criterion: str
    rungs: tuple[Rung, ...] = ()
    problem: str = ""


class LadderJudgement(Judgement):
    """The ladders of one source, and as the score how many neighbours are in order."""

    ladders: tuple[Ladder, ...] = ()


class LadderExecutor(Executor):
    """Writes the exemplars of items' sources and compares neighbours; responses are not read."""

    def __init__(self, judge: JudgeLike, lm: Any = None) -> None:
        if not isinstance(judge.protocol, ExemplarConfig):
            raise InputError(
                f"only exemplar judges write exemplars; this is one of the family "
                f"{judge.protocol.judge}."
            )
        self._protocol = judge.protocol
        self._executor = Executor.of(judge, lm)

    async def judge(self, item: RatedItem) -> Judgement:
        return await self._executor.run(ladder_steps(self._protocol, item))

    async def aclose(self) -> None:
        await self._executor.aclose()


def ladder_steps(protocol: ExemplarConfig, item: RatedItem) -> RequestProgram[LadderJudgement]:
    """Write the exemplars of one source for every criterion, and compare neighbours."""
    calls = Calls()
    texts: Texts = {"source": item.source, "context": item.context}
    lines = criteria_lines(protocol).items()
    found = yield from gather([_ladder(protocol, *one, texts, calls) for one in lines])
    ladders, causes = tuple(one for one, _ in found), [cause for _, cause in found]
    placed = [rung.above for one in ladders for rung in one.rungs if rung.above is not None]
    if not placed:
        cause = next(filter(None, causes), Cause(Reason.OTHER, "there are no neighbours"))
        why = {"score": None, "problem": cause.text, "reason": cause.reason}
        return LadderJudgement(**why, calls=tuple(calls.made), ladders=ladders)
    score = 100 * sum(one > 0 for one in placed) / len(placed)
    return LadderJudgement(score=score, calls=tuple(calls.made), ladders=ladders)


def _ladder(
    protocol: ExemplarConfig, name: str, line: str, texts: Texts, calls: Calls
) -> RequestProgram[tuple[Ladder, Cause | None]]:
    """Return the exemplars of one criterion, and why some, or their verdicts, are missing."""
    written = yield from written_exemplars(protocol, line, texts, calls)
    if isinstance(written, Cause):
        return Ladder(criterion=name, problem=str(written)), written
    pairs = zip(written[1:], written[:-1], strict=True)
    courses = [comparisons(protocol, line, a.text, [b.text], texts, calls) for a, b in pairs]
    verdicts = yield from gather(courses)
    found = [None if isinstance(one, Cause) else one.compared[0] for one in verdicts]
    above = [None, *(None if one is None else one.better - one.worse for one in found)]
    missing = next((one for one in verdicts if isinstance(one, Cause)), None)
    ladder = Ladder(
        criterion=name,
        rungs=tuple(
            Rung(level=one.level, text=one.text, flags=one.flags, above=by)
            for one, by in zip(written, above, strict=True)
        ),
        problem="" if missing is None else str(missing),
    )
    return ladder, missing


EXEMPLARS = (2, 3, 5, 9)  # how many exemplars compete; more cost more calls and gain ever less


def exemplar_space(protocol: ExemplarConfig, rubrics: Rubrics = None) -> Space:
    choices = (
        *asks_choices(protocol, rubrics),
        field_choice(protocol, "levels", {str(n): n for n in EXEMPLARS}),
        field_choice(protocol, "form", ("three", "yes-no")),
        field_choice(protocol, "order", ("one", "both")),
        field_choice(protocol, "normalisation", ("affine", "level")),
        field_choice(protocol, "mirrored", {"no": False, "yes": True}),
    )
    return Space(choices=choices)


EXEMPLAR = JudgeFamily(
    name="exemplar",
    about="compares with texts that a model wrote to be the worst, the best, and between",
    protocol=ExemplarConfig,
    forms=exemplar_forms,
    once=exemplar_once,
    inputs=exemplar_inputs,
    calls=exemplar_calls,
    efforts=exemplar_efforts,
    roles=(("writer", ("end", "between")),),
    questions="judgesmith.signatures.questions.exemplar:QUESTIONS",
    space=exemplar_space,
    judge="judgesmith.programs.families.modules:ExemplarJudge",
)
