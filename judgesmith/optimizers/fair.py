"""Instructions under which no answer is likelier than another before anything is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.base import (
    INSTRUCTIONS,
    OFFLINE,
    JudgeOptimizer,
    RunSettings,
    judge_texts,
    problem_with,
    with_texts,
)
from judgesmith.optimizers.search.racing import OutOfBudget
from judgesmith.optimizers.trials import ENOUGH_SCORED, TrialRecord
from judgesmith.programs.families.pairwise import (
    COMPARE,
    PairwiseConfig,
    Preference,
    ResponsePair,
    as_read,
    prefer_each,
)
from judgesmith.programs.judging.ask_once import paraphrased, paraphrased_by_rule
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.judge import Judge, check_judge
from judgesmith.programs.judging.program import JudgeProgram, ModelReply, PromptRequest
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.runner import score_batch, was_not_asked
from judgesmith.programs.lm import BudgetSpent, lm_client_of
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import levels_of, whole

if TYPE_CHECKING:
    import dspy


class Overheard:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.chances: dict[str, list[Mapping[str, float]]] = {}
        self.n_stated = 0

    @property
    def protocol(self) -> JudgeConfig:
        return self._judge.protocol

    def program(self) -> Judge:
        return self._judge.with_protocol(self._judge.protocol)

    def templates(self) -> Mapping[str, Template]:
        return self._judge.templates()

    def own_models(self) -> Mapping[str, Any]:
        return self._judge.own_models()

    def steps(self, item: RatedItem) -> JudgeProgram:
        steps = self._judge.steps(item)
        try:
            asked = next(steps)
            while True:
                said = yield asked
                pairs = (
                    [(asked, said)]
                    if isinstance(asked, PromptRequest)
                    else zip(asked, said, strict=True)
                )
                for ask, reply in pairs:
                    self._hear(ask, reply)
                asked = steps.send(said)
        except StopIteration as end:
            judgement: Judgement = end.value
            return judgement

    def mean_chances(self) -> dict[str, dict[str, float]]:
        return {
            question: {
                answer: math.fsum(one[answer] for one in several) / len(several)
                for answer in several[0]
            }
            for question, several in self.chances.items()
        }

    def _hear(self, ask: PromptRequest, reply: ModelReply) -> None:
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


Tried = RatedItem | ResponsePair
"""What a wording is tried on."""


def pairs_within_sources(items: Sequence[RatedItem]) -> list[ResponsePair]:
    by_source: dict[tuple[str, str | None], list[RatedItem]] = {}
    for one in items:
        by_source.setdefault((one.source, one.context), []).append(one)
    return [
        ResponsePair.of(*both)
        for several in by_source.values()
        for both in combinations(several, 2)
        if both[0].response != both[1].response
    ]


def _of_pairs(found: Sequence[Preference]) -> Measured:
    """Return how often the text that is shown first wins; half a time where neither is better."""
    first = [one.given.probability for one in found]
    first += [None if one is None else 1 - one for one in (p.swapped.probability for p in found)]
    known = [one for one in first if one is not None]
    if not known:
        return Measured({}, 0.0)
    share = math.fsum(known) / len(known)
    return Measured({COMPARE: {"first": share, "second": 1 - share}}, len(known) / len(first))


MOST_ANSWERS = 10  # of more, such as all of 0 to 100, no even spread is expected


def imbalance(shares: Mapping[str, float]) -> float:
    even = 1 / len(shares)
    return math.fsum(abs(share - even) for share in shares.values()) / 2


@dataclass(frozen=True, slots=True)
class Measured:
    shares: Mapping[str, Mapping[str, float]]
    share_scored: float

    def imbalance(self, questions: Sequence[str]) -> float:
        found = [imbalance(self.shares[one]) for one in questions if one in self.shares]
        return math.fsum(found) / len(found) if found else math.nan


def refuse_many_answers(judge: Judge) -> None:
    """Refuse a judge that asks for one of more answers than can be equally likely."""
    if family_of(judge.protocol.judge).ranks and not isinstance(judge.protocol, PairwiseConfig):
        raise InputError(
            f"a judge of {judge.protocol.judge} ranks the responses to a source, and an even "
            "spread is looked for in answers about single texts or about pairs; search otherwise, "
            "or not at all (--optimizer protocol or none)."
        )
    if not list(judge.named_predictors()):
        raise InputError("this judge asks a model nothing by an instruction; there is no wording.")
    for name, template in judge.templates().items():
        n = len(levels_of(template.answers))
        if set(template.outputs.values()) - {"text"} and n > MOST_ANSWERS:
            raise InputError(
                f"the question {name} has {n} answers, of which no even spread can be expected.",
                hint=f"take a scale of {MOST_ANSWERS} at most, such as --choose answers=1-5.",
            )


ROUNDS, PARAPHRASES, TEXTS = 2, 5, 50  # rounds per instruction, paraphrases in each, texts tried


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    judge: Judge
    measured: Measured
    number: int


class FairPromptSearch(JudgeOptimizer):
    """Search wordings of a judge's instructions for the most even answers, without any rating.

    Every round asks for paraphrases of the best wording so far; the one whose answers, on average
    over texts, are nearest to even is taken if it is nearer. That even answers agree better with
    people is a hope that rows held out can test. A judge that compares is asked about pairs of
    responses to one source, and is even where either place wins as often: the publication's case.

    Parameters
    ----------
    n_rounds, n_paraphrases : int
        Rounds per instruction at most, and paraphrases in each.
    n_rows : int
        Texts, or pairs of texts, that each wording is tried on; drawn where there are more.
    writer : dspy.LM or None
        Who paraphrases; None takes the judge's model. The offline model writes none: its
        paraphrases are made by rule.
    on_trial : callable or None
        Told of every trial.
    **shared
        ``seed``, ``lm``, ``concurrency`` and ``on_progress``, as for ``JudgeOptimizer``.

    Attributes
    ----------
    trials_ : tuple of TrialRecord
        What was tried; the value is the imbalance with its sign turned, so that more is better.
    complete_ : bool
        False where the budget ended the search.
    writes_by_rule_ : bool
        Whether no model could write paraphrases.

    References
    ----------
    Zhou et al. (2024), "Fairer Preferences Elicit Improved Human-Aligned Large Language Model
    Judgments", EMNLP. arXiv:2406.11370.

    Examples
    --------
    >>> FairPromptSearch(n_rounds=0)
    Traceback (most recent call last):
    ...
    judgesmith.InputError: n_rounds, n_paraphrases and n_rows must be 1 or more; got 0, 5 and 50.
    """

    def __init__(
        self,
        *,
        n_rounds: int = ROUNDS,
        n_paraphrases: int = PARAPHRASES,
        n_rows: int = TEXTS,
        writer: dspy.LM | None = None,
        on_trial: Callable[[TrialRecord], None] | None = None,
        **shared: Unpack[RunSettings],
    ) -> None:
        super().__init__(**shared)
        if min(n_rounds, n_paraphrases, n_rows) < 1:
            raise InputError(
                "n_rounds, n_paraphrases and n_rows must be 1 or more; got "
                f"{n_rounds}, {n_paraphrases} and {n_rows}."
            )
        self.n_rounds = n_rounds
        self.n_paraphrases = n_paraphrases
        self.n_rows = n_rows
        self.writer = writer
        self.on_trial = on_trial

    def compile(
        self,
        student: Judge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: None = None,
        valset: None = None,
    ) -> Judge:
        """Return a judge with more even answers; ``student`` is unchanged.

        Parameters
        ----------
        student : Judge
            It competes, and stays where nothing is more even.
        trainset : sequence of dspy.Example
            Texts: source, response and perhaps context. Ratings in them are not read.
        teacher, valset : None
            Must be None.
        """
        check_judge(student)
        if teacher is not None or valset is not None:
            raise InputError(
                "FairPromptSearch needs texts only.", hint="drop teacher= and valset=."
            )
        refuse_many_answers(student)
        items = self._drawn(trainset, in_pairs=isinstance(student.protocol, PairwiseConfig))
        lm = with_own_models(student, self.lm)[1]
        if lm_client_of(lm) is None:
            raise InputError("FairPromptSearch needs a model made by judgesmith.model.")
        self.complete_ = True
        self.writes_by_rule_ = str((self.writer or lm).model) == OFFLINE
        self.trials_: tuple[TrialRecord, ...] = ()
        judge = student.with_protocol(student.protocol)
        try:
            best = _Best(judge, self._measured(judge, items, lm), 0)
        except OutOfBudget:
            self.complete_ = False
            return judge
        value = -best.measured.imbalance(list(best.measured.shares))
        self._note(TrialRecord(number=0), best.measured, value, len(items))
        by_instruction: dict[str, list[str]] = {}
        for name, predictor in judge.named_predictors():
            by_instruction.setdefault(str(predictor.signature.instructions), []).append(name)
        for questions in by_instruction.values():
            for turn in range(self.n_rounds):
                before, best = best, self._more_even(best, questions, turn, items, lm)
                if not self.complete_:
                    return best.judge
                if best is before:
                    break
        return best.judge

    def _more_even(
        self,
        best: _Best,
        questions: Sequence[str],
        turn: int,
        items: Sequence[Tried],
        lm: dspy.LM,
    ) -> _Best:
        """Return the best after one round over the questions that share an instruction."""
        name = f"{INSTRUCTIONS}{questions[0]}"
        own = judge_texts(best.judge)[name]
        leader = best
        for place in range(self.n_paraphrases):
            trial = TrialRecord(
                number=len(self.trials_),
                parent=best.number,
                changed=name,
                before=-best.measured.imbalance(questions),
            )
            try:
                found = self._paraphrased(own, sample=turn * self.n_paraphrases + place, lm=lm)
                problem = found.problem or problem_with(found.text)
                if not problem and found.text in {own, *(one.text for one in self.trials_)}:
                    problem = "it is a wording that was there before."
                if problem:
                    self._note(replace(trial, problem=problem))
                    continue
                texts = {f"{INSTRUCTIONS}{one}": found.text for one in questions}
                other = with_texts(best.judge, texts)
                measured = self._measured(other, items, lm)
            except (BudgetSpent, OutOfBudget):
                self.complete_ = False
                return leader
            after = -measured.imbalance(questions)
            self._note(replace(trial, text=found.text, after=after), measured, after, len(items))
            least = leader.measured.imbalance(questions)
            if measured.share_scored >= ENOUGH_SCORED and -after < least:
                leader = _Best(other, measured, trial.number)
        return leader

    def _paraphrased(self, text: str, *, sample: int, lm: dspy.LM) -> Any:
        if self.writes_by_rule_:
            return paraphrased_by_rule(text, sample=sample)
        return paraphrased(self.writer or lm, text, sample=sample)

    def _measured(self, judge: Judge, items: Sequence[Tried], lm: dspy.LM) -> Measured:
        how: Any = {"lm": lm, "concurrency": self.concurrency, "on_progress": self.on_progress}
        pairs = [one for one in items if isinstance(one, ResponsePair)]
        if pairs:
            found = [one for _, one in prefer_each(judge, pairs, **how)]
            if any(was_not_asked(as_read(one)) for one in found):
                raise OutOfBudget
            return _of_pairs(found)
        heard = Overheard(judge)
        said = score_batch(heard, [one for one in items if isinstance(one, RatedItem)], **how)
        if any(map(was_not_asked, said)):
            raise OutOfBudget
        n_scored = sum(one.score is not None for one in said)
        return Measured(heard.mean_chances(), n_scored / len(said))

    def _drawn(self, examples: Sequence[dspy.Example], *, in_pairs: bool) -> list[Tried]:
        items = [
            RatedItem(source=one.source, context=one.get("context"), response=one.response)
            for one in examples
        ]
        if not items:
            raise InputError(
                "no rated items to try wordings on.", hint="give a non-empty trainset."
            )
        tried: list[Tried] = list(pairs_within_sources(items) if in_pairs else items)
        if not tried:
            raise InputError("no source has two responses that differ, for a pair to compare.")
        if len(tried) > self.n_rows:
            rng = np.random.default_rng([self.seed, 21])
            places = sorted(rng.choice(len(tried), size=self.n_rows, replace=False).tolist())
            tried = [tried[place] for place in places]
        return tried

    def _note(
        self,
        trial: TrialRecord,
        measured: Measured | None = None,
        value: float = math.nan,
        n_rows: int = 0,
    ) -> None:
        if measured is not None:
            share = measured.share_scored
            trial = replace(trial, value=value, n_rows=n_rows, share_scored=share)
        self.trials_ = (*self.trials_, trial)
        if self.on_trial is not None:
            self.on_trial(trial)
