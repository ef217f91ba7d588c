"""How well a judge's preferences between two texts agree with people's, and with themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.agreeing import Unscored, oriented
from judgesmith.experiments.dataset import DataSet, check_dataset
from judgesmith.experiments.judged_rows import recorded_as
from judgesmith.experiments.recorded_pairs import PairedAnswers
from judgesmith.experiments.targets import Targets
from judgesmith.metrics import preference_agreement
from judgesmith.metrics.pairs import (
    OrderConsistency,
    PreferenceAgreement,
    order_consistency,
    preferences_from_scores,
)

ANSWERS = ("second", "neither", "first")
"""The answers in the order of a confusion matrix."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PreferenceEvaluation:
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
        }


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
    answers: PairedAnswers, dataset: DataSet, targets: Targets
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

    Raises
    ------
    ValueError
        If no pair has two rated texts, people prefer neither text of any, or no pair has an
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
        return preference_agreement(people, said, sources=sources)

    both = answers.has_both_orders
    unscored = Unscored.of((answers.problems[place] for place in rated.tolist()), len(rated))
    return PreferenceEvaluation(
        label=answers.label,
        target=targets.name,
        given=agreed(given),
        swapped=agreed(swapped) if both else None,
        combined=agreed(_won(given, swapped)) if both else None,
        order=order_consistency(given, swapped, sources=sources) if both else None,
        unscored=replace(unscored, n=int(np.isnan(given).sum())),
        n_tied=int(np.sum(people == 0.5)),
        n_unrated=len(answers.first) - len(rated),
        scored_by=recorded_as(answers.criterion, targets),
    )


def _won(given: np.ndarray, swapped: np.ndarray) -> np.ndarray:
    """Return what both orders say together: a win and a tie are a win, two winners a tie."""
    return np.asarray((np.sign(given + swapped - 1) + 1) / 2)


def _refuse_useless(
    answers: PairedAnswers, targets: Targets, people: np.ndarray, given: np.ndarray
) -> None:
    n = len(answers.first)
    if not people.size:
        raise InputError(
            f"none of {n} pairs has two texts that people rated on {targets.name}.",
            hint="choose another target.",
        )
    if np.all(people == 0.5):
        raise InputError(
            f"people rated both texts alike in all {len(people)} pairs on {targets.name}: a judge "
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
