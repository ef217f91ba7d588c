import numpy as np
import pytest

from judgesmith.metrics.spans.agreement import span_agreement_difference
from judgesmith.metrics.spans.matching import matched_span_agreement, span_character_agreement

GOLD = [[(0, 5)], [(3, 9)], [(2, 4)], [], [(0, 2), (6, 9)]]
ONE = [[(0, 5)], [(3, 8)], [(2, 5)], [], [(0, 2)]]
OTHER = [[(4, 9)], [(3, 8)], [], [(0, 1)], [(5, 9)]]


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("measure", [span_character_agreement, matched_span_agreement])
@pytest.mark.parametrize("statistic", ["precision", "recall", "f1", "macro_f1"])
def test_the_difference_is_that_of_the_two_values_and_turns_around(measure, statistic):
    one, other = measure(GOLD, ONE, rng=rng()), measure(GOLD, OTHER, rng=rng())
    found = span_agreement_difference(one, other, statistic=statistic, rng=rng())
    back = span_agreement_difference(other, one, statistic=statistic, rng=rng())
    assert found.first == getattr(one, statistic).value
    assert found.second == getattr(other, statistic).value
    assert found.value == found.first - found.second == -back.value
    assert (found.low, found.high) == pytest.approx((-back.high, -back.low))
    assert found.p_value == back.p_value
    assert (found.n, found.n_groups) == (5, 5)


def test_resamples_are_those_of_repeated_texts():
    one = span_character_agreement(GOLD, ONE, rng=rng())
    other = span_character_agreement(GOLD, OTHER, rng=rng())
    found = span_agreement_difference(one, other, rng=rng(), n_resamples=20, confidence=0.5)
    drawn = rng().integers(5, size=(20, 5))
    differences = []
    for rows in drawn:
        values = [
            span_character_agreement(
                [GOLD[k] for k in rows], [side[k] for k in rows], rng=rng(), n_resamples=20
            ).f1.value
            for side in (ONE, OTHER)
        ]
        differences.append(values[0] - values[1])
    assert min(differences) <= found.low <= found.high <= max(differences)
    assert found.low == pytest.approx(np.quantile(differences, 0.25), abs=0.1)


def test_texts_that_one_judge_did_not_score_are_left_out_for_both():
    one = span_character_agreement(GOLD, [None, *ONE[1:]], rng=rng())
    other = span_character_agreement(GOLD, [*OTHER[:-1], None], rng=rng())
    found = span_agreement_difference(one, other, rng=rng(), sources=list("aabbc"))
    assert (found.n, found.n_groups) == (3, 2)
    middle = span_character_agreement(GOLD[1:-1], ONE[1:-1], rng=rng())
    assert found.first == middle.f1.value


def test_a_judge_does_not_differ_from_itself():
    one = span_character_agreement(GOLD, ONE, rng=rng())
    found = span_agreement_difference(one, one, rng=rng())
    assert found.value == 0
    assert np.isnan([found.low, found.high, found.p_value]).all()
    none = span_character_agreement([], [], rng=rng())
    assert span_agreement_difference(none, none, rng=rng()).n_undefined == 1


def test_what_cannot_be_compared_is_refused():
    one = span_character_agreement(GOLD, ONE, rng=rng())
    with pytest.raises(ValueError, match="same texts; got 5 and 4"):
        span_agreement_difference(
            one, span_character_agreement(GOLD[1:], ONE[1:], rng=rng()), rng=rng()
        )
    with pytest.raises(ValueError, match="same gold spans in the same way; text 0 differs"):
        span_agreement_difference(one, matched_span_agreement(GOLD, ONE, rng=rng()), rng=rng())
    with pytest.raises(ValueError, match="statistic must be one of"):
        span_agreement_difference(one, one, statistic="f2", rng=rng())
    with pytest.raises(ValueError, match="one label per item"):
        span_agreement_difference(one, one, sources=[1], rng=rng())
    with pytest.raises(TypeError, match="rng"):
        span_agreement_difference(one, one, rng="0")


@pytest.mark.no_cover
def test_equal_judges_are_told_apart_no_more_often_than_they_may():
    generator = np.random.default_rng(1)
    wrong = 0
    for _ in range(300):
        gold = [[(0, int(size))] for size in generator.integers(5, 20, size=40)]
        ours = [
            span_character_agreement(
                gold,
                [[(0, int(generator.integers(1, text[0][1] + 1)))] for text in gold],
                rng=generator,
                n_resamples=20,
            )
            for _ in range(2)
        ]
        found = span_agreement_difference(*ours, rng=generator, n_resamples=200)
        wrong += found.p_value <= 0.05
    assert 0.015 <= wrong / 300 <= 0.085


def test_severities_that_are_no_whole_numbers_are_one_gold_however_spans_cut_it():
    gold = [[(0, 7, 0.1)], [(2, 9, 0.1)], [(0, 3, 0.3)]]
    whole = [[(0, 7, 0.1)], [(3, 8, 0.1)], [(1, 4, 0.1)]]
    parts = [[(0, 3, 0.1), (3, 5, 0.1), (5, 7, 0.1)], [(3, 8, 0.1)], [(1, 2, 0.1), (2, 4, 0.1)]]
    one, other = (
        span_character_agreement(gold, spans, weighted=True, rng=rng()) for spans in (whole, parts)
    )
    found = span_agreement_difference(one, other, rng=rng())
    assert found.value == pytest.approx(0, abs=1e-12)
    assert np.isnan([found.low, found.high, found.p_value]).all()
