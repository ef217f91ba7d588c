"""BERTScore's matching, against its definition token by token."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.families.reference import greedy_matching


def matched(response, reference, said=None, known=None):
    response, reference = np.asarray(response, float), np.asarray(reference, float)
    return greedy_matching(
        response,
        reference,
        response_counts=np.ones(len(response), bool) if said is None else np.asarray(said),
        reference_counts=np.ones(len(reference), bool) if known is None else np.asarray(known),
    )


def cosine(one, other):
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / (math.hypot(*one) * math.hypot(*other))


@st.composite
def texts(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    counts = [rng.random(n) < 0.7 for n in sizes]
    for one in counts:
        one[0] = True
    return *(rng.normal(size=(n, 3)) for n in sizes), *counts


@pytest.mark.no_cover
@given(texts())
def test_matches_the_definition_counted_token_by_token(drawn):
    response, reference, said, known = drawn
    best = [max(cosine(one, other) for other in reference) for one in response]
    precision = np.mean([one for one, counts in zip(best, said, strict=True) if counts])
    best = [max(cosine(one, other) for other in response) for one in reference]
    recall = np.mean([one for one, counts in zip(best, known, strict=True) if counts])
    both = precision + recall
    f1 = 2 * precision * recall / both if both > 0 else 0
    assert matched(*drawn) == pytest.approx((precision, recall, f1), abs=1e-9, rel=1e-9)


@given(texts(), st.floats(0.1, 10))
def test_turning_the_texts_round_swaps_precision_and_recall_and_lengths_do_not_count(drawn, factor):
    response, reference, said, known = drawn
    precision, recall, f1 = matched(response, reference, said, known)
    turned = matched(factor * reference, response, known, said)
    assert turned == pytest.approx((recall, precision, f1), abs=1e-9, rel=1e-6)


def test_a_worked_value():
    # The response's only token is the reference's first, and 0.6 like its second.
    precision, recall, f1 = matched([[1, 0]], [[5, 0], [3, 4]])
    assert (precision, recall, f1) == pytest.approx((1, 0.8, 1.6 / 1.8))


def test_a_token_that_does_not_count_can_still_be_matched_with():
    without = matched([[1, 0]], [[0, 1]])
    assert without == (0, 0, 0)
    assert matched([[1, 0]], [[0, 1], [1, 0]], known=[True, False])[:2] == (1, 0)


def test_texts_that_point_away_from_each_other_have_no_f1_but_0():
    assert matched([[1, 0]], [[-1, 0]]) == (-1, -1, 0)


@pytest.mark.parametrize(
    ("response", "counts", "said"),
    [
        ([[0, 0]], [True], "without a direction"),
        ([[math.nan, 1]], [True], "without a direction"),
        ([[math.inf, 1]], [True], "without a direction"),
        ([[1, 0]], [False], "no token to match"),
    ],
)
def test_what_cannot_be_matched_is_refused(response, counts, said):
    with pytest.raises(ValueError, match=said):
        matched(response, [[1, 0]], said=counts)
