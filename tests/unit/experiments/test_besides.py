import json

import numpy as np
import pytest

from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.score_files import Scores
from judgesmith.experiments import evaluate_judge, evaluate_scores
from judgesmith.metrics import tie_aware_accuracy, weighted_kappa
from judgesmith.programs import ActiveCritic
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import PERCENT

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")

NAN = float("nan")
HUMAN = [(1, 5), (2, 3), (4, 4), (5, 1), (3, 2), (2, 4)]


def dataset(human=HUMAN, scale=None):
    """Sources with two responses each, of growing length."""
    form = {"overall": scale or Scale(low=1, high=5)}
    items = [
        RatedItem(
            source=f"s{n}",
            system_id="ab"[k],
            response="x" * (3 + 2 * n + 7 * k),
            human={"overall": value if isinstance(value, tuple) else (value,)},
            scale=form,
        )
        for n, pair in enumerate(human)
        for k, value in enumerate(pair)
    ]
    return DataSet(name="toy", items=tuple(items))


LIKERT = Scale(low=1, high=5)


def found(values, data=None, aggregate="mean", answers=LIKERT, **more):
    data = data or dataset()
    scores = Scores(
        values=np.asarray(values, float),
        problems=tuple(CUT_OFF if np.isnan(value) else None for value in values),
        label="x",
        criterion=None,
        n_unused=0,
        **more,
    )
    targets = targets_of(data, aggregate=aggregate)
    return evaluate_scores(
        scores, data, targets, answers=answers, rng=np.random.default_rng(0)
    ).besides


JUDGE = [1, 4, 2, 3, 5, 4, 5, 2, 3, 3, 1, 4]
PEOPLE = [value for pair in HUMAN for value in pair]


def test_pairs_and_ties_count_as_the_metric_says():
    one = found(JUDGE)
    assert one.pairs["dataset"].value == pytest.approx(tie_aware_accuracy(PEOPLE, JUDGE))
    assert one.pairs["sample"].n_groups == 6


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_scores_on_peoples_scale_have_a_kappa(weights):
    one = found(JUDGE)
    direct = weighted_kappa(PEOPLE, JUDGE, levels=range(1, 6), weights=weights)
    assert one.kappa[weights].value == pytest.approx(direct)
    assert (one.levels, one.no_kappa, str(one.judge_scale)) == ((1, 2, 3, 4, 5), None, "1..5")
    assert one.confusion.n == 12


def test_scores_go_to_the_nearest_level():
    moved = [value + 0.4 if value < 3 else value - 0.4 for value in JUDGE]
    assert found(moved).kappa["linear"].value == found(JUDGE).kappa["linear"].value


def test_a_judges_own_scale_is_laid_on_peoples():
    data = read_items("sample").subset(range(40))
    whole = [
        item.model_copy(update={"human": {"overall": (1.0 + i % 5,)}})
        for i, item in enumerate(data)
    ]
    data = DataSet(name="whole", items=tuple(whole))
    one = evaluate_judge(ActiveCritic(), data, rng=np.random.default_rng(0)).besides
    assert (str(one.judge_scale), one.no_kappa, one.concordance) == ("0..100", None, None)
    assert set(one.kappa) == {"linear", "quadratic"}


@pytest.mark.parametrize(
    ("values", "human", "scale", "why"),
    [
        ([20 * v for v in JUDGE], HUMAN, None, "scores from 20 to 100 are not on the judge's own"),
        (JUDGE, [((1, 2), 5), *HUMAN[1:]], None, "people's values are not all whole points of 1"),
        (JUDGE, HUMAN, Scale(low=0, high=100), "people's scale 0..100 has no levels, or more"),
        (JUDGE, HUMAN, Scale(low=0.5, high=5.5), "people's scale 0.5..5.5 has no levels"),
        (JUDGE, HUMAN, Scale(low=1, high=5, higher_is_better=False), "people count faults, on"),
    ],
)
def test_where_there_is_no_kappa_it_says_why(values, human, scale, why):
    one = found(values, dataset(human, scale))
    assert one.no_kappa.startswith(why)
    assert (dict(one.kappa), one.confusion, one.levels) == ({}, None, ())


def test_scores_that_look_like_points_of_peoples_scale_are_not_taken_for_them():
    one = found(JUDGE, answers=None)
    assert one.no_kappa == (
        "nobody knows what the scores from 1 to 5 are points of; say so with --answers LOW..HIGH"
    )
    assert (dict(one.kappa), one.judge_scale, one.concordance) == ({}, None, None)
    assert found(JUDGE, answers=PERCENT).kappa["linear"].value < 0.1


def test_means_may_be_made_levels():
    human = [((1, 1, 2), 5), *HUMAN[1:]]
    assert found(JUDGE, dataset(human)).no_kappa is not None
    assert found(JUDGE, dataset(human), aggregate="mode").no_kappa is None


def test_concordance_is_of_scores_on_one_scale_alone():
    assert found(JUDGE).concordance["dataset"]["concordance"].n == 12
    assert found([20 * value for value in JUDGE], answers=PERCENT).concordance is None


def test_how_either_uses_its_scale_is_told_of_scored_rows():
    values = [4.0] * 9 + [NAN, 3, 3]
    one = found(values)
    assert (one.judge_use.n_used, one.judge_use.most_used) == (2, 4)
    assert (one.judge_use.most_used_share.n, one.human_use.most_used_share.n) == (11, 11)


def test_length_is_looked_at_beside_ratings_and_empty_responses_are_left_out():
    data = dataset()
    items = [
        item.model_copy(update={"response": ""}) if n == 0 else item for n, item in enumerate(data)
    ]
    lengths = [len(item.response) for item in data]
    one = found([1 + 0.1 * n for n in lengths], DataSet(name="toy", items=tuple(items)))
    assert one.length.slope.n == 11
    assert one.length.correlation.value > 0.9
    assert one.reliability == 1


def test_raters_say_how_reliable_ratings_are():
    human = [((a, a + b), (b, b)) for a, b in [(1, 2), (2, 3), (4, 1), (3, 1), (3, 2), (2, 2)]]
    assert 0 < found(JUDGE, dataset(human)).reliability < 1


def test_without_any_score_there_is_nothing_to_tell():
    assert found([NAN] * 12) is None


def test_it_is_ready_for_json():
    for values in (JUDGE, [3.0] * 12, [20.0 * value for value in JUDGE]):
        plain = found(values, answers=None).to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["kendall_c"]["dataset"]["n"] == 12
    assert plain["scale_use"]["judge"]["n_used"] == 5
    assert plain["length_bias"]["slope"]["n"] == 12
    assert plain["concordance"] is plain["confusion"] is None
