import json

import numpy as np
import pytest

import judgesmith
from judgesmith.data import DataSet
from judgesmith.experiments.evaluate.perspectives.direct import compare_directly, direct_comparison
from judgesmith.metrics.pairs.errors import (
    accuracy_apart,
    error_pairs,
    preferred_by_score,
)
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.families.pairwise import ResponsePair, prefer_each
from judgesmith.programs.families.samples_apart import preferred_samples
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import Cause, Reason

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")

NONE = np.nan
JUDGE = PairwiseJudge(weighting="none", temperature=1.0)


@pytest.fixture(scope="module")
def built():
    sources = [" ".join(f"{name}{n} stands here." for n in range(12)) for name in ("ox", "oak")]
    items = [
        RatedItem(
            source_id=f"s{place}",
            system_id=str(step),
            source=source,
            response=". ".join(source.split(". ")[: 12 - step * 2]) + " Cats ate 1987." * step,
            human={"wit": (3 - step,)},
            extra={"provenance": {"n_errors": step}},
        )
        for place, source in enumerate(sources)
        for step in range(4)
    ]
    return DataSet(name="built", items=tuple(items))


def test_pairs_are_of_one_source_the_better_text_first():
    errors = np.array([2, 0, 1, 1, NONE, 0])
    pairs = error_pairs(errors, np.array([0, 0, 0, 1, 1, 1]))
    found = list(
        zip(pairs.better.tolist(), pairs.worse.tolist(), pairs.apart.tolist(), strict=True)
    )
    assert found == [(1, 0, 2), (1, 2, 1), (2, 0, 1), (5, 3, 1)]
    assert pairs.sources.tolist() == [0, 0, 0, 1]
    assert len(error_pairs(errors, np.array([0, 0, 0, 1, 1, 1]), differences=[2])) == 1
    with pytest.raises(ValueError, match="1 error or more"):
        error_pairs(errors, np.zeros(6, int), differences=[0])


def test_scores_prefer_by_their_mean_and_ties_are_wrong():
    pairs = error_pairs(np.arange(4.0), np.zeros(4, int))
    values = np.array([[8.0, 6], [7, 7], [9, NONE], [NONE, NONE]])
    preferred = preferred_by_score(values, pairs)
    np.testing.assert_equal(preferred, [0.5, 0, NONE, 0, NONE, NONE])
    found = accuracy_apart(preferred, pairs)
    assert {k: (one.value, one.n) for k, one in found.items()} == {1: (0, 2), 2: (0, 1)}


def test_the_relation_with_the_most_votes_of_both_orders_wins_and_tied_votes_are_wrong():
    errors = np.arange(3.0)
    pairs = error_pairs(errors, np.zeros(3, int))
    votes = np.array(
        [
            [[1, 1, 0.5], [0, 1, 0.5]],  # 3 for the better, 1 for the worse, 2 neither
            [[1, 1, 1], [0, 0, 0]],  # whoever is shown first: tied, so neither
            [[0.5, 0.5, 0], [1, NONE, NONE]],  # neither has most
        ]
    )
    found = direct_comparison(votes, pairs, errors, criterion="wit")
    assert (found.apart[1].value, found.apart[1].n) == (0.5, 2)
    assert (found.apart[2].value, found.n_neither) == (0, 2)
    np.testing.assert_equal(found.by_errors.accuracy, [[NONE, 1, 0], [1, NONE, 0], [0, 0, NONE]])
    # Of the orders by themselves: 1 and neither, 1 and 0, neither and 1.
    assert found.order.consistent.value == 0
    assert found.order.flipped.value == pytest.approx(1 / 3)


def test_pairs_without_an_answer_are_counted_and_none_is_right():
    errors = np.array([0.0, 1, 2])
    pairs = error_pairs(errors, np.zeros(3, int))
    votes = np.full((3, 2, 2), NONE)
    votes[0] = 1
    found = direct_comparison(votes, pairs, errors, criterion="wit", causes={CUT_OFF: 2})
    assert (found.unscored.n, found.unscored.n_rows, found.by_errors.n_unscored) == (2, 3, 2)
    assert found.apart.keys() == {1}
    with pytest.raises(ValueError, match="none of 3 comparisons has an answer: cut off"):
        direct_comparison(
            np.full((3, 2, 2), NONE),
            pairs,
            errors,
            criterion="wit",
            causes={CUT_OFF: 3},
        )


def test_a_judge_compares_all_pairs_that_differ_by_so_many_errors(built):
    lm = judgesmith.model("offline", ledger=None)
    found = compare_directly(JUDGE, built, "wit", samples=3, differences=(1, 2), lm=lm)
    assert {k: one.n for k, one in found.apart.items()} == {1: 6, 2: 4}
    assert lm_client_of(lm).spent.calls == 10 * 2 * 3
    assert found.apart[2].value >= found.apart[1].value
    again = compare_directly(JUDGE, built, "wit", samples=3, differences=(1, 2), concurrency=1)
    assert json.dumps(found.to_dict()) == json.dumps(again.to_dict())


def test_a_set_without_errors_and_a_criterion_nobody_rated_are_refused(built):
    bare = [one.model_copy(update={"extra": {}}) for one in built]
    with pytest.raises(ValueError, match="no two texts of a source on wit differ"):
        compare_directly(JUDGE, DataSet(name="bare", items=tuple(bare)), "wit")
    with pytest.raises(ValueError, match="nobody rated 'charm'"):
        compare_directly(JUDGE, built, "charm")


def test_samples_of_a_comparison_are_those_that_the_judge_itself_would_take(tmp_path):
    lm = judgesmith.model("offline", ledger=tmp_path / "ledger.sqlite")
    pair = ResponsePair(source="It rained all day.", first="It rained.", second="All day.")
    several = preferred_samples(JUDGE, [pair], 4, lm=lm)[0]
    asked = lm_client_of(lm).spent.calls

    judge = PairwiseJudge(weighting="none", temperature=1.0, samples=4)
    ((_, together),) = prefer_each(judge, [pair], lm=lm)
    assert lm_client_of(lm).spent.calls == asked == 8
    given = np.mean([one.given.stated for one in several])
    assert together.given.probability == pytest.approx(given)
    with pytest.raises(ValueError, match="does not compare"):
        preferred_samples(ActiveCritic(), [pair], 4)
