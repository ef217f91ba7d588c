"""Preferences between two texts: recorded, and held against people's and against themselves."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.data.items import DataSet, check_dataset
from judgesmith.data.score_files import SWAPPED, PairedAnswers
from judgesmith.data.scores import BETWEEN, pair_in
from judgesmith.data.targets import Targets
from judgesmith.drafts import draft_beside, put
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.experiments.evaluate.agreement import Unscored, oriented
from judgesmith.experiments.evaluate.judged_rows import recorded_as
from judgesmith.metrics import preference_agreement
from judgesmith.metrics.pairs import (
    BradleyTerry,
    OrderConsistency,
    PreferenceAgreement,
    bradley_terry,
    order_consistency,
    preferences_from_scores,
)
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.families.pairwise import OneOrder, ResponsePair, prefer_each
from judgesmith.programs.judging.executors import endpoint_of, with_own_models
from judgesmith.programs.judging.runner import sources_of
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import Cause

if TYPE_CHECKING:
    import dspy

PRIOR = 1.0
"""Comparisons with an average system that every system is taken to have had, half of them won:
strengths are finite then, whatever was won."""

ANSWERS = ("second", "neither", "first")
"""The answers in the order of a confusion matrix."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PreferenceEvaluation(Result, report="judgesmith.cli.shared.agreement:print_preferences"):
    """Agreement of preferences with those that follow from people's ratings.

    Attributes
    ----------
    label, target : str
        What was evaluated, and against which ratings.
    given : PreferenceAgreement
        Of the answers with the first text shown first.
    swapped, combined : PreferenceAgreement or None
        Of those with the second text shown first, and of both together, where a text wins that
        wins in one order at least and loses in none; None where there is one order alone.
    order : OrderConsistency or None
        How often the answer is the same in both orders.
    unscored : Unscored
        Pairs without an answer in ``given``, among those whose texts are both rated.
    n_tied : int
        Pairs between whose texts people see no difference.
    n_unrated : int
        Pairs left out because a text of theirs is unrated.
    scored_by : str
        As in ``Evaluation``: the name of the criterion of the answers where it is not the target.
    rankings : dict of str to BradleyTerry
        The strengths of the systems by ``people`` and by the ``judge``, from the same pairs; empty
        where no pair is of two systems.
    """

    label: str
    target: str
    given: PreferenceAgreement
    swapped: PreferenceAgreement | None
    combined: PreferenceAgreement | None
    order: OrderConsistency | None
    unscored: Unscored
    n_tied: int
    n_unrated: int
    scored_by: str = "score"
    rankings: Mapping[str, BradleyTerry] = field(default_factory=dict)
    data: str = ""

    @property
    def by_order(self) -> Mapping[str, PreferenceAgreement]:
        """Return the agreement by the order of the texts."""
        several = {"given": self.given, "swapped": self.swapped, "combined": self.combined}
        return {name: one for name, one in several.items() if one is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON."""
        return {
            "judge": self.label,
            "target": self.target,
            "rows": {
                "pairs": self.unscored.n_rows,
                "tied": self.n_tied,
                "unscored": self.unscored.n,
                "unrated": self.n_unrated,
            },
            **self.unscored.to_dict(),
            "preferences": {name: _plain(one) for name, one in self.by_order.items()},
            "order": plain_order(self.order),
            **({"systems": ranking_rows(self.rankings)} if self.rankings else {}),
        }


def ranking_rows(rankings: Mapping[str, BradleyTerry]) -> list[dict[str, Any]]:
    """Return a row per system, the strongest by people first, ready for JSON."""
    people = rankings["people"]
    order = np.argsort(-people.strengths, kind="stable")
    return [
        {
            "system": people.systems[at],
            **{name: one.strength(people.systems[at]).to_dict() for name, one in rankings.items()},
        }
        for at in order.tolist()
    ]


def plain_order(order: OrderConsistency | None) -> dict[str, Any] | None:
    """Return how often a judge's answer is the same in both orders, ready for JSON."""
    if order is None:
        return None
    return {
        "consistent": order.consistent.to_dict(),
        "flipped": order.flipped.to_dict(),
        "first_place": order.first_place.to_dict(),
        "unscored": order.n_unscored,
    }


def evaluate_preferences(
    answers: PairedAnswers, dataset: DataSet, targets: Targets, *, confidence: float = 0.95
) -> PreferenceEvaluation:
    """Report how well preferences agree with people's ratings of the two texts.

    People prefer the text that they rated better, and neither where both have the same value.

    Parameters
    ----------
    answers : PairedAnswers
        As ``read_recorded`` returns them.
    dataset : DataSet
        The set they were read for.
    targets : Targets
        Which ratings count.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.

    Raises
    ------
    ValueError
        If in no pair both texts are rated, people prefer neither text of any, or no pair has an
        answer.
    """
    check_dataset(dataset)
    human = oriented(targets)
    people = preferences_from_scores(human[answers.first], human[answers.second])
    rated = np.flatnonzero(~np.isnan(people))
    people = people[rated]
    given, swapped = answers.given[rated], answers.swapped[rated]
    _refuse_useless(answers, targets, people, given)
    sources = dataset.groups[answers.first[rated]]

    def agreed(said: np.ndarray) -> PreferenceAgreement:
        return preference_agreement(people, said, sources=sources, confidence=confidence)

    both = answers.has_both_orders
    judged = _won(given, swapped) if both else given
    unscored = Unscored.of((answers.problems[place] for place in rated.tolist()), len(rated))
    return PreferenceEvaluation(
        label=answers.label,
        target=targets.name,
        given=agreed(given),
        swapped=agreed(swapped) if both else None,
        combined=agreed(judged) if both else None,
        order=order_consistency(given, swapped, sources=sources, confidence=confidence)
        if both
        else None,
        unscored=replace(unscored, n=int(np.isnan(given).sum())),
        n_tied=int(np.sum(people == 0.5)),
        data=dataset.name,
        n_unrated=len(answers.first) - len(rated),
        scored_by=recorded_as(answers.criterion, targets),
        rankings=_rankings(
            {"people": people, "judge": judged},
            [(dataset[i].system_id, dataset[j].system_id) for i, j in _pairs(answers, rated)],
            sources,
            confidence=confidence,
        ),
    )


def _pairs(answers: PairedAnswers, rated: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(answers.first[rated].tolist(), answers.second[rated].tolist(), strict=True))


def _rankings(
    preferred: Mapping[str, np.ndarray],
    systems: list[tuple[str, str]],
    sources: np.ndarray,
    *,
    confidence: float,
) -> dict[str, BradleyTerry]:
    """Return the strengths of systems, from the pairs of two of them that all gave an answer to."""
    kept = np.asarray([one != other for one, other in systems], dtype=bool)
    for said in preferred.values():
        kept &= ~np.isnan(said)
    if not kept.any():
        return {}
    first, second = (
        [pair[k] for pair, own in zip(systems, kept, strict=True) if own] for k in (0, 1)
    )
    return {
        name: bradley_terry(
            said[kept],
            first=first,
            second=second,
            sources=sources[kept].tolist(),
            prior=PRIOR,
            confidence=confidence,
        )
        for name, said in preferred.items()
    }


def _won(given: np.ndarray, swapped: np.ndarray) -> np.ndarray:
    """Return what both orders say together: a win and a tie are a win, two winners a tie."""
    return np.asarray((np.sign(given + swapped - 1) + 1) / 2)


def _refuse_useless(
    answers: PairedAnswers, targets: Targets, people: np.ndarray, given: np.ndarray
) -> None:
    n = len(answers.first)
    if not people.size:
        raise InputError(
            f"none of {n} pairs has two responses with ratings of {targets.name}.",
            hint="choose another target.",
        )
    if np.all(people == 0.5):
        raise InputError(
            f"both responses have equal ratings in all {len(people)} pairs on {targets.name}: a "
            "judge "
            "cannot agree or disagree with that.",
            hint="choose another target.",
        )
    if np.isnan(given).all():
        raise InputError(f"{answers.label} gave no answer on any rated pair, of {len(people)}.")


def _plain(one: PreferenceAgreement) -> dict[str, Any]:
    return {
        "accuracy": one.accuracy.to_dict(),
        "accuracy_decided": one.accuracy_decided.to_dict(),
        "confusion": {
            people: dict(zip(ANSWERS, row, strict=True))
            for people, row in zip(ANSWERS, one.confusion, strict=True)
        },
        "unscored": one.n_unscored,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPairs:
    """What a recording wrote."""

    n_pairs: int
    n_sources: int
    n_unanswered: int
    causes: Mapping[Cause, int]
    stated: Mapping[str, int]
    order: OrderConsistency | None  # same answer in both orders, and first text wins; None without


@file_faults()
def record_pairs(
    judge: SavedJudge,
    items: Iterable[RatedItem],
    output: str | Path,
    *,
    n_pairs: int | None = None,
    seed: int = 0,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> RecordedPairs:
    """Compare the responses to each source in pairs; write a pair's two orders as JSON lines."""
    output = Path(output)
    if output.suffix != ".jsonl":
        raise InputError(
            "rows are written as JSON Lines.", hint=f"name a file in .jsonl, not {output}."
        )
    judge, lm = with_own_models(judge, lm)
    given = list(items)
    pairs = pairs_of(given, n_pairs=n_pairs, seed=seed)
    compared = prefer_each(judge, pairs, lm=lm, concurrency=concurrency, on_progress=on_progress)
    marks = {"target": judge.target, "run": _run(judge, lm, pairs)}
    n_before = 0 if overwrite else _answers_in(output, marks["run"])
    causes, stated = Counter[Cause](), Counter[str]()
    answers: list[tuple[float, float]] = []
    with draft_beside(output) as draft:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            for pair, found in compared:
                for name, one in (("", found.given), (SWAPPED, found.swapped)):
                    row = _row(pair, one, judge=f"{judge.fingerprint}{name}") | marks
                    file.write(json.dumps(row) + "\n")
                    if one.reason:
                        stated[one.reason] += 1
                if found.cause is not None:
                    causes[found.cause] += 1
                answers.append((_number(found.given.stated), _number(found.swapped.stated)))
            file.flush()
            os.fsync(file.fileno())
        table = np.asarray(answers)
        if int(np.sum(~np.isnan(table))) < n_before:
            raise ExistingFileError(
                f"{output} holds more answers than there are now.",
                hint="name another file (the answers are cached), or replace it with --force.",
            )
        put(draft, output)
    has_both = bool(np.any(~np.isnan(table).any(axis=1)))
    sources = [f"{pair.source_id} {pair.source}" for pair in pairs]
    return RecordedPairs(
        n_pairs=len(pairs),
        n_sources=len(set(sources)),
        n_unanswered=causes.total(),
        causes=dict(causes.most_common()),
        stated=dict(stated.most_common()),
        order=order_consistency(*table.T, sources=sources) if has_both else None,
    )


def pairs_of(
    items: Sequence[RatedItem], *, n_pairs: int | None = None, seed: int = 0
) -> list[ResponsePair]:
    """Return the pairs of responses to each source, in the order of the names of their systems."""
    if n_pairs is not None and n_pairs < 1:
        raise InputError(f"at least 1 pair of each source is compared; got {n_pairs}.")
    found: list[ResponsePair] = []
    named: set[tuple[str, str]] = set()
    for places in sources_of(items):
        own = sorted((items[place] for place in places), key=lambda item: item.system_id)
        if len(own) > 1:
            _check_names(own)
            _check_source(own, named)
        pairs = list(combinations(own, 2))
        if n_pairs is not None and n_pairs < len(pairs):
            drawn = _rng(own[0], seed).choice(len(pairs), size=n_pairs, replace=False)
            pairs = [pairs[place] for place in sorted(drawn.tolist())]
        found += [ResponsePair.of(first, second) for first, second in pairs]
    if not found:
        raise InputError("no source has two responses to compare; rows of a source share its id.")
    return found


def _check_names(items: Sequence[RatedItem]) -> None:
    names = [item.system_id for item in items]
    twice = next((name for name in names if names.count(name) > 1), None)
    if "" in names or twice is not None:
        which = f"{twice!r} twice" if twice else "none"
        raise InputError(
            f"each response to a source is named by its system; got {which} for the source "
            f"{items[0].source_id[:80]!r}.",
            hint="name the column with --map system_id=COLUMN.",
        )
    keys = {("", name) for name in names}
    for first, second in combinations(names, 2):
        joined = f"{first}{BETWEEN}{second}"
        if pair_in({"source_id": "", "system_id": joined}, keys) != (("", first), ("", second)):
            raise InputError(
                f"systems are told apart in {joined[:80]!r} by the {BETWEEN!r} between them, which "
                "does not say here which two are meant.",
                hint=f"give systems names without {BETWEEN!r}.",
            )


def _check_source(items: Sequence[RatedItem], named: set[tuple[str, str]]) -> None:
    """Refuse a response that another one to another source is called like; remember the names."""
    for item in items:
        key = (item.source_id, item.system_id)
        if key in named:
            raise InputError(
                f"the id {item.source_id[:80]!r} stands for several sources, and each has a "
                f"response of {item.system_id[:80]!r}.",
                hint="give every source an id of its own, or leave ids out with --map source_id=.",
            )
        named.add(key)


def _rng(item: RatedItem, seed: int) -> np.random.Generator:
    named = json.dumps([item.source_id, item.source, item.context]).encode()
    own = int.from_bytes(hashlib.blake2b(named, digest_size=8).digest())
    return np.random.default_rng([seed, own])


def _row(pair: ResponsePair, found: OneOrder, *, judge: str) -> dict[str, Any]:
    return {
        "source_id": pair.source_id,
        "system_id": f"{pair.first_id}{BETWEEN}{pair.second_id}",
        "judge": judge,
        "score": found.stated,
        "probability": found.probability,
        "mode": None if found.stated is None else found.mode,
        "problem": None if found.cause is None else found.cause.text,
        **({} if found.cause is None else {"reason": found.cause.reason}),
    }


def _number(value: float | None) -> float:
    return nan if value is None else value


def _run(judge: SavedJudge, lm: dspy.LM, pairs: Sequence[ResponsePair]) -> str:
    """Return twelve hex digits that tell runs apart: by judge, model, and what is compared."""
    state = hashlib.sha256(json.dumps([judge.fingerprint, str(lm.model), endpoint_of(lm)]).encode())
    for pair in pairs:
        texts = [pair.source_id, pair.first_id, pair.second_id]
        texts += [pair.source, pair.context or "", pair.first, pair.second]
        state.update(json.dumps(texts).encode())
    return state.hexdigest()[:12]


def _answers_in(output: Path, run: str) -> int:
    """Return how many answers of this run a file holds already."""
    if not output.exists():
        return 0
    n = 0
    for row in _rows_in(output):
        if row.get("run") != run:
            raise ExistingFileError(
                f"{output} holds something else than this judge's comparisons of these pairs.",
                hint="name another file, or replace it with --force.",
            )
        n += row.get("score") is not None
    return n


def _rows_in(output: Path) -> Iterator[Mapping[str, Any]]:
    with file_faults(output), output.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield row if isinstance(row, dict) else {}
