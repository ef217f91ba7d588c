"""Judges are compared with each other."""

import json

import numpy as np
import pytest

import judgesmith
from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.score_files import PairedAnswers, Scores
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.evaluate.agreement import LEVELS, STATISTICS, gain_report
from judgesmith.experiments.evaluate.comparing import (
    compare_judges,
    comparison_tests,
    shared_target,
)
from judgesmith.experiments.evaluate.perspectives.direct import compare_directly, direct_comparison
from judgesmith.experiments.evaluate.preferring import evaluate_preferences
from judgesmith.metrics import holm, preference_agreement, tie_aware_accuracy
from judgesmith.metrics.comparing import williams_test
from judgesmith.metrics.correlation import agreement_difference
from judgesmith.metrics.pairs import order_consistency
from judgesmith.metrics.pairs.errors import accuracy_apart, error_pairs, preferred_by_score
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.families.pairwise import ResponsePair, prefer_each
from judgesmith.programs.families.samples_apart import preferred_samples
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason

# comparing

NAN = float("nan")


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(40))


@pytest.fixture(scope="module")
def saved(data):
    return compile_judge(data, CompileSettings(n_rounds=2), lm=model(ledger=None)).saved


def rng():
    return np.random.default_rng(0)


def scores(values, **more):
    problems = tuple(
        Cause(Reason.CUT_OFF, "cut off") if np.isnan(value) else None for value in values
    )
    more = {"label": "x", "criterion": None, "n_unused": 0} | more
    return Scores(values=np.asarray(values, float), problems=problems, **more)


def noisy(data, spread, seed):
    """Return what people said, with noise."""
    human = targets_of(data, "overall").values
    return human + np.random.default_rng(seed).normal(scale=spread, size=len(human))


def compared(data, first, second, **options):
    return compare_judges(scores(first), scores(second), data, seed=rng(), **options)


@pytest.mark.no_cover
def test_the_gain_is_the_paired_difference_of_the_metrics(data):
    first, second = noisy(data, 0.5, 1), noisy(data, 2.0, 2)
    found = compared(data, first, second, objective="pearson@sample", confidence=0.8)
    seed = int(rng().integers(2**63))
    direct = agreement_difference(
        targets_of(data, "overall").values,
        first,
        second,
        sources=data.groups,
        systems=[item.system_id for item in data],
        statistic="pearson",
        level="system",
        seed=np.random.default_rng(seed),
        confidence=0.8,
        n_resamples=10_000,
    )
    systems = found.unseen["system"]["pearson"]
    assert (systems.first, systems.second) == (direct.first, direct.second)
    assert (systems.confidence, systems.n, systems.n_groups) == (0.8, 40, 10)
    assert found.gain == found.unseen["sample"]["pearson"]
    assert str(found.objective) == "pearson@sample"


@pytest.mark.no_cover
def test_a_judge_that_is_clearly_better_is_called_so_whichever_comes_first():
    data = read_items("sample")
    good, bad = noisy(data, 0.2, 1), noisy(data, 3.0, 2)
    ahead, behind = compared(data, good, bad), compared(data, bad, good)
    assert (ahead.better, behind.better) == ("a", "b")
    assert ahead.gain.value == pytest.approx(-behind.gain.value)
    assert ahead.gain.p_value < 0.05


@pytest.mark.no_cover
def test_two_sources_carry_no_clear_difference_however_they_agree(data):
    few = data.subset(range(8))
    found = compared(few, noisy(few, 0.01, 1), noisy(few, 3.0, 2))
    assert found.gain.n_groups == 2
    assert np.isnan([found.gain.low, found.gain.p_value]).all()
    assert found.better is None
    decided = found.to_dict()["objective"]["gain"]
    assert decided["reason"] == "an interval needs 5 sources or more; got 2"
    assert decided["low"] is decided["high"] is decided["p_value"] is None
    assert found.to_dict()["objective"]["better"] is None


@pytest.mark.no_cover
def test_only_rows_that_both_scored_are_compared_and_the_others_are_counted(data):
    first, second = noisy(data, 1.0, 1), noisy(data, 1.0, 2)
    first[:6], second[4:12] = NAN, NAN
    found = compared(data, first, second)
    assert (found.gain.n, found.a.unscored.n, found.b.unscored.n) == (28, 6, 8)
    assert found.to_dict()["rows"]["unscored"] == {"a": 6, "b": 8}
    assert found.to_dict()["problems"]["a"] == {"cut off": 6}


@pytest.mark.no_cover
def test_rows_that_either_was_made_from_are_compared_apart(data, saved):
    found = compare_judges(saved, ActiveCritic(), data, seed=rng())
    assert (found.n_unseen, found.n_seen, found.a.n_seen, found.b.n_seen) == (12, 28, 28, 0)
    assert found.unseen["dataset"]["pearson"].n == 12
    assert found.seen["dataset"]["pearson"].n == 28
    assert found.gain == found.unseen["dataset"]["pearson"]
    plain = found.to_dict()
    assert (plain["objective"]["on"], plain["unknown"]) == ("unseen", None)
    assert plain["rows"]["seen_by"] == {"a": 28, "b": 0}
    assert [plain["rows"][part] for part in ("unseen", "seen", "unknown")] == [12, 28, 0]


@pytest.mark.no_cover
def test_the_target_is_what_either_was_made_for_or_must_be_told(data, saved):
    one = scores(noisy(data, 1, 1), criterion="fluency")
    with pytest.raises(ValueError, match="A was made for overall and B for fluency; say which"):
        compare_judges(saved, one, data, seed=rng())
    bare = saved.model_copy(update={"target": "auto"})
    fluent = saved.model_copy(update={"target": "fluency"})
    assert shared_target(bare, fluent, data) == shared_target(fluent, bare, data) == "fluency"
    assert shared_target(bare, bare, data) is None


@pytest.mark.no_cover
def test_no_shared_row_is_refused_with_the_reasons(data):
    first, second = np.full(40, NAN), noisy(data, 1, 1)
    message = r"of 40, A scored 0 \(40 × cut off\) and B scored 40; name two that"
    with pytest.raises(ValueError, match=message):
        compared(data, first, second)


@pytest.mark.no_cover
def test_the_answer_is_ready_for_json_and_undefined_is_null(data):
    found = compared(data, noisy(data, 1, 1), np.full(40, 3.0))
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["objective"]["better"] is plain["objective"]["gain"]["value"] is None
    assert plain["heldout"] is None
    assert plain["unknown"]["dataset"]["kendall"]["second"] is None


@pytest.fixture(scope="module")
def ranked(data):
    """A comparison of a judge that ranks within sources with one that scores."""
    return compare_judges(PairwiseJudge(), ActiveCritic(), data, seed=rng())


@pytest.mark.no_cover
def test_where_one_judge_ranks_only_figures_within_sources_count(ranked):
    assert str(ranked.objective) == "pearson@sample"
    assert ranked.gain.n == 40
    assert ranked.gain.value == ranked.gain.value
    told = ranked.to_dict()["heldout"]
    for level in ("dataset", "system"):
        assert {one["value"] for one in told[level].values()} == {None}
        assert {one["p_value"] for one in told[level].values()} == {None}
    assert (ranked.a.ranks, ranked.b.ranks) == (True, False)
    tests = ranked.tests
    assert set(tests.pairs) == set(tests.permutation) == set(tests.holm) == {"sample"}
    assert tests.williams == {}


@pytest.mark.no_cover
def test_an_objective_over_sources_is_refused_where_one_judge_ranks(data):
    with pytest.raises(ValueError, match=r"spearman compares sources; say spearman@sample"):
        compare_judges(PairwiseJudge(), ActiveCritic(), data, objective="spearman", seed=rng())


# comparison tests

SOURCES, SYSTEMS = np.repeat(np.arange(12), 5), np.tile(list("abcde"), 12)


def rng_comparison_tests():
    return np.random.default_rng(3)


def tables(systems=SYSTEMS, missing=()):
    noise = np.random.default_rng(0)
    human = noise.normal(size=60)
    found = []
    for spread in (0.5, 1.5):
        predicted = human + noise.normal(scale=spread, size=60)
        predicted[list(missing)] = np.nan
        found.append(
            PredictionTable(predicted=predicted, human=human, sources=SOURCES, systems=systems)
        )
    return found


def all_tests(first, second):
    gain = gain_report(first, second, rng=rng_comparison_tests())
    return gain, comparison_tests(first, second, gain, rng=rng_comparison_tests())


@pytest.mark.no_cover
def test_all_p_values_are_adjusted_together():
    gain, found = all_tests(*tables())
    plain = [gain[level][statistic].p_value for level in LEVELS for statistic in STATISTICS]
    plain += [one.p_value for one in found.pairs.values()]
    adjusted = [found.holm[level][statistic] for level in LEVELS for statistic in STATISTICS]
    adjusted += [found.holm[level]["pairs"] for level in found.pairs]
    assert adjusted == holm(plain).tolist()


@pytest.mark.no_cover
def test_pairs_are_compared_within_sources_and_over_all():
    first, second = tables(missing=range(7))
    _, found = all_tests(first, second)
    kept = slice(7, None)
    human = first.human[kept]
    values = [tie_aware_accuracy(human, one.predicted[kept]) for one in (first, second)]
    assert found.pairs["dataset"].value == pytest.approx(values[0] - values[1])
    assert list(found.pairs) == ["dataset", "sample"]
    assert "pairs" not in found.holm["system"]


@pytest.mark.no_cover
def test_sources_alone_change_hands_where_one_system_is_named_or_none():
    _, found = all_tests(*tables(systems=np.array([""] * 60)))
    assert found.swap == "inputs"
    assert found.permutation["dataset"]["pearson"].n_groups == 12
    assert np.isnan(found.permutation["system"]["pearson"].p_value)
    assert np.isnan(found.williams["system"].p_value)


@pytest.mark.no_cover
def test_williams_takes_rows_and_the_means_of_systems():
    first, second = tables(missing=range(7))
    _, found = all_tests(first, second)
    kept = slice(7, None)
    by_rows = williams_test(first.human[kept], first.predicted[kept], second.predicted[kept])
    assert found.williams["dataset"] == by_rows
    assert (found.williams["dataset"].n, found.williams["system"].n) == (53, 5)
    means = [
        [np.mean(values[kept][SYSTEMS[kept] == system]) for system in "abcde"]
        for values in (first.human, first.predicted, second.predicted)
    ]
    assert found.williams["system"].statistic == pytest.approx(williams_test(*means).statistic)


@pytest.mark.no_cover
def test_it_is_ready_for_json_and_undefined_is_null():
    _, found = all_tests(*tables(systems=np.array([""] * 60)))
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["permutation"]["system"]["q"]["p_value"] is None
    assert plain["holm"]["system"]["pearson"] is None
    assert plain["williams"]["dataset"]["n_permutations"] == 0
    assert list(plain["permutation"]["sample"]["q"]) == [
        *("statistic", "p_value", "first", "second", "n", "n_groups", "n_undefined"),
        "n_permutations",
    ]


# direct comparison

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


# preferring

# Pairs of one source each: people prefer the first, the second, neither; the last is half rated.
RATED = [(5, 2), (1, 3), (4, 4), (2, None)]


def dataset(rated=RATED, **scale):
    form = {"overall": Scale(low=1, high=5, **scale)}
    items = [
        RatedItem(
            source=f"s{n}",
            system_id="ab"[k],
            response=f"{n}{k}",
            human={} if value is None else {"overall": (value,)},
            scale=form,
        )
        for n, pair in enumerate(rated)
        for k, value in enumerate(pair)
    ]
    return DataSet(name="toy", items=tuple(items))


def answers(given, swapped=None):
    n = len(given)
    return PairedAnswers(
        first=np.arange(0, 2 * n, 2),
        second=np.arange(1, 2 * n, 2),
        given=np.asarray(given, float),
        swapped=np.full(n, NAN) if swapped is None else np.asarray(swapped, float),
        problems=tuple(CUT_OFF if np.isnan(one) else None for one in given),
        label="m",
        file="m.jsonl",
        example="'a|b'",
        criterion=None,
        n_unused=0,
    )


def found(said, data=None):
    data = data or dataset()
    return evaluate_preferences(said, data, targets_of(data))


def test_people_prefer_the_text_they_rated_better():
    one = found(answers([1, 1, 0.5, 0]))
    assert one.given == preference_agreement([1, 0, 0.5], [1, 1, 0.5], sources=[0, 1, 2])
    assert (one.unscored.n_rows, one.n_tied, one.n_unrated) == (3, 1, 1)
    assert (one.swapped, one.combined, one.order) == (None, None, None)


def test_both_orders_are_reported_alone_and_together():
    one = found(answers([1, 1, 0.5, 0], [1, 0, 1, 0]))
    assert one.order == order_consistency([1, 1, 0.5], [1, 0, 1], sources=[0, 1, 2])
    assert one.swapped.accuracy.value == pytest.approx(2 / 3)
    # A win twice is a win, two winners are none, and a win and a tie are a win.
    together = preference_agreement([1, 0, 0.5], [1, 0.5, 1], sources=[0, 1, 2])
    assert one.combined == together


def test_pairs_without_an_answer_are_counted_with_the_reason():
    one = found(answers([1, NAN, 0.5, NAN], [1, 1, NAN, 0]))
    assert (one.unscored.n, one.unscored.reasons) == (1, {"cut off": 1})
    assert (one.combined.n_unscored, one.combined.accuracy.n) == (2, 1)


def test_it_is_ready_for_json():
    plain = found(answers([1, 1, 0.5, 0], [1, 0, 1, 0])).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["rows"] == {"pairs": 3, "tied": 1, "unscored": 0, "unrated": 1}
    confusion = plain["preferences"]["given"]["confusion"]
    assert confusion["second"] == {"second": 0, "neither": 0, "first": 1}
    assert list(plain["preferences"]) == ["given", "swapped", "combined"]
    assert found(answers([1, 1, 1, 1])).to_dict()["order"] is None


@pytest.mark.parametrize(
    ("rated", "given", "message"),
    [
        ([(4, 4), (2, 2)], [1, 0], "both responses have equal ratings in all 2 pairs on overall"),
        ([(4, None), (None, 2)], [1, 0], "none of 2 pairs has two responses with ratings of"),
        ([(4, 1), (1, 2)], [NAN, NAN], "m gave no answer on any rated pair, of 2."),
    ],
)
def test_what_says_nothing_is_refused(rated, given, message):
    with pytest.raises(ValueError, match=message):
        found(answers(given), dataset(rated))
