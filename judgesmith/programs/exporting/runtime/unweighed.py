"""Probabilities of answers, which this judge does not ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgesmith.signatures.judgement import Judgement

OVERALL = "overall"

Found = Mapping[str, Any]


class AnswerProbabilities:
    """How probable each answer was: nobody asks."""


def criterion_term(name: str) -> str:
    """Return what the score on a criterion is called beside the overall one."""
    return f"criterion:{name}"


def weighed(judgement: Judgement, found: Found, answers: object) -> Judgement:
    """Return a judgement as it is."""
    return judgement


def joined_weighting(several: object, reduce: object) -> Found:
    """Return how the scores of several samples were weighed: they were not."""
    return {}


def refusal_of(fault: Exception) -> str | None:
    """Return what an endpoint says that refuses log-probabilities: none is asked for them."""
    return None


def without_probabilities(wanted: object, reason: str) -> Found:
    """Return the record of a reply without probabilities: there is none."""
    return {}


def probabilities_in(answer: object, wanted: object, fields: object) -> Found:
    """Return the probabilities that are wanted of an answer: none are."""
    return {}


def answer_by_dspy(logprobs: object) -> None:
    """Return an answer made of log-probabilities: there are none."""
