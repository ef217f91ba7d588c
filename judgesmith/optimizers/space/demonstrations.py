"""Which demonstrations are shown: how they are drawn, and as choices of a space."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.optimizers.rows import IntArray, Rows
from judgesmith.programs.families.active_critic import (
    assessing_names,
    assessments_text,
    critic_inputs,
    question_names,
)
from judgesmith.programs.families.verdict import VerdictConfig, verdict_forms, verdict_inputs
from judgesmith.programs.families.wrapped import ModuleConfig, WrappedConfig, rated_question
from judgesmith.programs.features import lexical_features
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.judging.logprobs import as_stated
from judgesmith.programs.judging.scoring import place_of
from judgesmith.signatures.config import ActiveCriticConfig, Demonstration, JudgeConfig
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import CriterionScore, Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import NO_YES, Scale, is_percent, level_of
from judgesmith.signatures.space import Choice, Option, Picked

NEAR = 10.0  # a run is kept when its overall is this near to the human score, of 100
FEWEST_KEPT = 25  # with fewer runs that near, the nearest ones are kept up to this number

Shown = Mapping[str, tuple[Demonstration, ...]]
ShowingConfig = ActiveCriticConfig | VerdictConfig | WrappedConfig | ModuleConfig
"""Of judges that show rated examples."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Rows that may be shown, with what the teacher made of them."""

    rows: Rows
    runs: Mapping[int, Judgement]
    partial_demos: bool = False

    def draw(
        self, protocol: ShowingConfig, n: int, n_bootstrapped: int, rng: np.random.Generator
    ) -> Shown:
        runs = sorted(self.runs) if has_runs(protocol) else ()
        kept = np.asarray(runs, dtype=int)
        with_runs = rng.permutation(kept)[:n_bootstrapped]
        others = np.setdiff1d(np.arange(len(self.rows)), with_runs)
        labelled = rng.permutation(others)[: n - len(with_runs)]
        labelled = self.explained(labelled, taken=with_runs.tolist())
        order = rng.permutation(np.concatenate([with_runs, labelled])).tolist()
        return self.shown(protocol, order, with_runs.tolist())

    def explained(self, rows: IntArray, *, taken: Iterable[int] = ()) -> IntArray:
        """Return rows with others in place of those that no rater explained, equally rated."""
        if not self.rows.rationale:
            return rows
        known = [bool(one) for one in self.rows.rationale]
        used = {*taken, *rows.tolist()}
        found = []
        for row in rows.tolist():
            equal = np.flatnonzero(self.rows.human == self.rows.human[row]).tolist()
            others = [one for one in equal if known[one] and one not in used]
            found.append(row if known[row] or not others else others[row % len(others)])
            used.add(found[-1])
        return np.asarray(found, dtype=np.intp)

    def shown(
        self, protocol: ShowingConfig, order: Sequence[int], with_runs: Iterable[int]
    ) -> Shown:
        """Return the rows in ``order`` by question, those in ``with_runs`` with their runs."""
        bootstrapped = set(with_runs)
        if isinstance(protocol, WrappedConfig | ModuleConfig):
            return self._rated(protocol, order, bootstrapped)
        shown = {}
        for question in _questions_of(protocol):
            drawn = [
                self._decided(protocol, question, row, row in bootstrapped)
                if isinstance(protocol, VerdictConfig)
                else self._shown(protocol, question, row, row in bootstrapped)
                for row in order
            ]
            if found := tuple(one for one in drawn if one is not None):
                shown[question] = found
        return shown

    def _shown(
        self, protocol: ActiveCriticConfig, question: str, row: int, bootstrapped: bool
    ) -> Demonstration | None:
        item = self.rows.items[row]
        inputs = {
            **critic_inputs(protocol, question),
            **{name: getattr(item, name) for name in ("source", "context", "response")},
        }
        assessing = question in assessing_names(protocol)
        outputs: Mapping[str, Any] | None
        if bootstrapped:
            run = self.runs[row]
            names = protocol.rubric.names
            criteria = {name: run.criteria[name] for name in names if name in run.criteria}
            if question == "overall":
                inputs["assessments"] = assessments_text(criteria, protocol.answers)
            if assessing:
                outputs = _assessed(protocol, question, criteria)
            else:
                # The run's own score stays: its explanation argues for that one.
                outputs = _in_words(run.explanation, _as_asked(run.raw or 0.0, protocol), protocol)
        elif assessing:
            outputs = self._labelled(protocol, question, row)
        else:
            words = "" if question == "grade" else self.rows.words(row)
            outputs = _in_words(words, self._percent(protocol, row), protocol)
        if outputs is None:
            return None
        kind = "bootstrapped" if bootstrapped else "labelled"
        return Demonstration.model_validate({"inputs": inputs, "outputs": outputs, "kind": kind})

    def _rated(
        self, protocol: WrappedConfig | ModuleConfig, order: Sequence[int], runs: set[int]
    ) -> Shown:
        """Return rows in the only question of a wrapped signature or module."""
        asked = rated_question(protocol)
        assert asked is not None  # refused by demonstrated
        shown = []
        for row in order:
            item, run = self.rows.items[row], self.runs[row] if row in runs else None
            percent = self.rows.percent()[row] if run is None else run.raw
            words = self.rows.words(row) if run is None else run.explanation
            told = {asked.words: words} if asked.words and words else {}
            outputs = {**told, asked.score: level_of(percent or 0.0, protocol.answers)}
            inputs = {field: getattr(item, text) for text, field in asked.texts.items()}
            kind = "labelled" if run is None else "bootstrapped"
            given = {"inputs": inputs, "outputs": outputs, "kind": kind}
            shown.append(Demonstration.model_validate(given))
        return {asked.predictor: tuple(shown)} if shown else {}

    def _decided(
        self, protocol: VerdictConfig, question: str, row: int, bootstrapped: bool
    ) -> Demonstration | None:
        """Return a row with people's label, and their words or those of a run that came to it."""
        item, place = self.rows.items[row], place_of(question)
        run = self.runs[row] if bootstrapped else None
        if place is None:
            answers, words = protocol.answers, self.rows.words(row)
            label = label_in(item, float(self.rows.percent()[row]), answers)
            said, why = (None, "") if run is None else (run.raw, run.explanation)
        else:
            name, answers = protocol.rubric.names[place], NO_YES
            points = self.rows.criteria.get(folded(name))
            percent = math.nan if points is None else float(points[row])
            words, label = self.rows.words(row, name), label_in(item, percent, answers)
            one = None if run is None else run.criteria.get(name)
            said, why = (None, "") if one is None else (one.score, one.explanation)
        own = None if said is None else str(level_of(said, answers))
        if run is not None and not answers.ordered:
            own = run.label
        label = own if label is None and place is not None else label
        if label is None:
            return None
        kind = "bootstrapped" if own == label and why else "labelled"
        words = why if kind == "bootstrapped" else words
        told = {"critique": words} if words and protocol.explain != "none" else {}
        texts = {name: getattr(item, name) for name in ("source", "context", "response")}
        inputs = {**verdict_inputs(protocol, question), **texts}
        outputs = {**told, "verdict": label}
        return Demonstration.model_validate({"inputs": inputs, "outputs": outputs, "kind": kind})

    def _percent(self, protocol: ActiveCriticConfig, row: int) -> float:
        return _as_asked(float(self.rows.percent()[row]), protocol)

    def _labelled(
        self, protocol: ActiveCriticConfig, question: str, row: int
    ) -> dict[str, Any] | None:
        """Return what people said of the criteria that a question asks for."""
        criteria = {}
        for name in protocol.rubric.names:
            points = self.rows.criteria.get(folded(name))
            if points is not None and not np.isnan(points[row]):
                score = round(float(points[row]))
                words = self.rows.words(row, name) or LEFT_OUT
                criteria[name] = CriterionScore(score=score, explanation=words)
        if question != "assess" or len(criteria) == len(protocol.rubric.names):
            return _assessed(protocol, question, criteria)
        if self.partial_demos:
            words = self.rows.words(row) or LEFT_OUT
            graded = CriterionScore(score=self._percent(protocol, row), explanation=words)
            return {"assessments": _records({"overall": graded}, protocol)}
        return None


def label_in(item: RatedItem, percent: float, answers: Scale) -> str | None:
    """Return the label that people gave a row; None where that is not known."""
    if math.isnan(percent):
        return None
    if answers.ordered or round(percent):
        return str(level_of(percent, answers)) if answers.ordered else answers.positive
    # Of labels without an order a percentage tells the good one from the others alone.
    given = list(item.human.values())
    several = Counter(given[0]) if len(given) == 1 else Counter[float]()
    (place, _), *_ = several.most_common(1) or [(math.nan, 0)]
    return answers.labels[int(place)] if place in range(len(answers.labels)) else None


def demonstrated(protocol: JudgeConfig) -> ShowingConfig:
    if isinstance(protocol, ModuleConfig) and rated_question(protocol) is None:
        raise InputError(
            f"{protocol.module} does more than ask its only predictor for a score, so ratings are "
            "no examples of its answers; compile it with optimizer='miprov2' or DSPy's "
            "BootstrapFewShot, which show its own runs."
        )
    if not isinstance(protocol, ShowingConfig):
        raise InputError(
            f"a {protocol.judge} judge shows no graded examples; search none for it, or use an "
            "active-critic judge."
        )
    return protocol


def _questions_of(protocol: ActiveCriticConfig | VerdictConfig) -> Iterable[str]:
    if isinstance(protocol, VerdictConfig):
        return verdict_forms(protocol)
    return question_names(protocol)


def has_runs(protocol: ShowingConfig) -> bool:
    """Whether examples may be shown with what a judge made of them, and not with ratings alone."""
    if isinstance(protocol, WrappedConfig | ModuleConfig):
        asked = rated_question(protocol)
        return asked is not None and asked.words is not None
    return isinstance(protocol, VerdictConfig) or protocol.variant != "vanilla"


def _as_asked(percent: float, protocol: ActiveCriticConfig) -> float:
    """Return a whole number where models answer on 0 to 100; other scales round by themselves."""
    return round(percent) if is_percent(protocol.answers) else percent


def kept_runs(
    rows: Rows, judgements: Sequence[Judgement], *, criteria: Sequence[str] = ()
) -> dict[int, Judgement]:
    judgements = [as_stated(one) for one in judgements]  # what an answer that is shown says
    distance = {
        row: abs(one.raw - percent)
        for row, (one, percent) in enumerate(zip(judgements, rows.percent(), strict=True))
        if one.raw is not None
        and (one.criteria or one.explanation)
        and _is_whole(one, criteria)
        and not imitates_layout(one.explanation)
        and not any(imitates_layout(each.explanation) for each in one.criteria.values())
    }
    nearest = sorted(distance, key=lambda row: (distance[row], row))
    n_near = sum(gap <= NEAR for gap in distance.values())
    return {row: judgements[row] for row in nearest[: max(n_near, FEWEST_KEPT)]}


def shown_keys(shown: Shown) -> tuple[str, ...]:
    """Return ``RatedItem.key`` of every row that demonstrations were made from, each once."""
    return tuple(dict.fromkeys(one.key for several in shown.values() for one in several))


def demonstration_plan(
    n: int, n_trials: int, rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """Yield how many demonstrations each round shows, and how many of them bootstrapped."""
    for number in range(n_trials):
        yield (n if number else 0), (int(rng.integers(n + 1)) if number > 1 else 0)


def _assessed(
    protocol: ActiveCriticConfig, question: str, criteria: Mapping[str, CriterionScore]
) -> dict[str, Any] | None:
    if question == "assess":
        return {"assessments": _records(criteria, protocol)}
    name = protocol.rubric.names[assessing_names(protocol).index(question)]
    one = criteria.get(name)
    if one is None or one.score is None:
        return None
    return _in_words(one.explanation, one.score, protocol)


def _records(
    criteria: Mapping[str, CriterionScore], protocol: ActiveCriticConfig
) -> list[dict[str, Any]]:
    keys = {
        "before": ("criterion", "explanation", "score"),
        "after": ("criterion", "score", "explanation"),
        "none": ("criterion", "score"),
    }[protocol.explain]
    records = []
    for name, one in criteria.items():
        score = None if one.score is None else level_of(one.score, protocol.answers)
        record = {"criterion": name, "explanation": one.explanation or LEFT_OUT, "score": score}
        records.append({key: record[key] for key in keys})
    return records


def _in_words(explanation: str, score: float, protocol: ActiveCriticConfig) -> dict[str, Any]:
    """Return an answer, without its explanation if none is asked for or given."""
    silent = protocol.explain == "none" or explanation in ("", LEFT_OUT)
    told = {} if silent else {"explanation": explanation}
    return {**told, "score": level_of(score, protocol.answers)}


def _is_whole(judgement: Judgement, criteria: Sequence[str]) -> bool:
    """Say whether no criterion is without a score: a gap is nothing to learn from."""
    scored = [name for name, one in judgement.criteria.items() if one.score is not None]
    return len(scored) == len(judgement.criteria) and set(criteria) <= set(scored)


NUMBERS = (3, 0, 1, 2, 5, 8)  # demonstrations that compete; the first is what Active-Critic shows

N, CHOSEN, DRAW, RUNS, ORDER = (
    *("demonstrations", "demonstrations.chosen", "demonstrations.draw"),
    *("demonstrations.runs", "demonstrations.order"),
)
NAMES = (N, CHOSEN, DRAW, RUNS, ORDER)

NEAREST = "nearest"  # the id of the option that shows each text those rows that are most like it
POOL = 64  # rows among which the nearest are looked for, by default

OnlyIf = Mapping[str, tuple[str, ...]]
NOT_DECIDED: OnlyIf = MappingProxyType({})


def demonstration_choices(
    n_rows: int, *, most: int, n_demo_sets: int, with_runs_if: OnlyIf | None = NOT_DECIDED
) -> tuple[Choice, ...]:
    limit = min(n_rows, most)
    usual = tuple(n for n in NUMBERS if n <= limit)
    numbers = tuple(str(n) for n in (usual if limit in usual else (*usual, limit)))
    some = tuple(n for n in numbers if n != "0")
    if not some:
        return ()
    several = tuple(n for n in some if n != "1")
    # The nearest of no more rows than are shown anyway would always be the same ones.
    ways = (*_WAYS, NEAREST) if n_rows > limit else tuple(_WAYS)
    drawn: OnlyIf = {CHOSEN: tuple(_WAYS)} if NEAREST in ways else {}
    found = [
        _choice(N, numbers),
        _choice(CHOSEN, ways, some),
        _choice(DRAW, tuple(map(str, range(n_demo_sets))), some, drawn),
    ]
    if with_runs_if is not None:
        found.append(_choice(RUNS, ("some", "none", "all"), some, {**with_runs_if, **drawn}))
    if several:
        found.append(_choice(ORDER, ("drawn", "rising", "falling"), several, drawn))
    return tuple(found)


def _choice(
    name: str, ids: tuple[str, ...], n_shown: tuple[str, ...] = (), only_if: OnlyIf = NOT_DECIDED
) -> Choice:
    options = tuple(Option(id=one) for one in ids)
    return Choice(
        name=name, options=options, only_if={**only_if, N: n_shown} if n_shown else only_if
    )


@dataclass(frozen=True, slots=True)
class Drawer:
    pool: Pool
    seed: int
    n_pool: int = POOL

    def shown(self, protocol: ShowingConfig, picked: Picked) -> Shown:
        n = int(picked.get(N, "0"))
        if n == 0:
            return {}
        # What is not chosen is as it usually is: a search may leave any of these choices out.
        chosen = picked.get(CHOSEN, next(iter(_WAYS)))
        if chosen == NEAREST:
            return self._to_look_in(protocol)
        rng = np.random.default_rng([self.seed, 2, int(picked.get(DRAW, "0")), n])
        rows = self.pool.explained(_WAYS[chosen](self.pool, n, rng))
        runs = np.asarray(sorted(self.pool.runs), dtype=np.intp)
        n_runs = int(rng.integers(1, n + 1))
        n_runs = {"none": 0, "all": n}.get(picked.get(RUNS, "none"), n_runs)
        with_runs = rng.permutation(np.intersect1d(rows, runs))[:n_runs]
        human = self.pool.rows.human[rows]
        order = picked.get(ORDER, "drawn")
        if order != "drawn":
            rows = rows[np.argsort(human if order == "rising" else -human, kind="stable")]
        return self.pool.shown(protocol, rows.tolist(), with_runs.tolist())

    def _to_look_in(self, protocol: ShowingConfig) -> Shown:
        """Return the rows among which the nearest are looked for, spread over the scores."""
        rng = np.random.default_rng([self.seed, 3])
        n = min(self.n_pool, len(self.pool.rows))
        rows = np.sort(self.pool.explained(_stratified(self.pool, n, rng)))
        return self.pool.shown(protocol, rows.tolist(), ())


def _at_random(pool: Pool, n: int, rng: np.random.Generator) -> IntArray:
    return rng.permutation(len(pool.rows))[:n]


def _stratified(pool: Pool, n: int, rng: np.random.Generator) -> IntArray:
    """Draw one row from each of ``n`` stretches of the human scores, in random order."""
    mixed = rng.permutation(len(pool.rows))
    ordered = mixed[np.argsort(pool.rows.human[mixed], kind="stable")]
    edges = np.linspace(0, len(ordered), n + 1).astype(np.intp)
    drawn = [ordered[rng.integers(a, b)] for a, b in itertools.pairwise(edges)]
    return rng.permutation(np.asarray(drawn, dtype=np.intp))


def _diverse(pool: Pool, n: int, rng: np.random.Generator) -> IntArray:
    """Draw a row, then always the one that is least like all drawn so far, by lexical features."""
    rows = [lexical_features(r.source, r.context, r.response).values for r in pool.rows.items]
    values = np.asarray(rows, dtype=float)
    spread = values.std(axis=0)
    points = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    drawn = [int(rng.integers(len(points)))]
    nearest = np.full(len(points), np.inf)
    while len(drawn) < n:
        nearest = np.minimum(nearest, np.sum((points - points[drawn[-1]]) ** 2, axis=1))
        nearest[drawn] = -1.0
        drawn.append(int(np.argmax(nearest)))
    return np.asarray(drawn, dtype=np.intp)


_WAYS: dict[str, Callable[[Pool, int, np.random.Generator], IntArray]] = {
    "stratified": _stratified,
    "random": _at_random,
    "diverse": _diverse,
}
