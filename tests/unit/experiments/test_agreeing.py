import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.targets import Targets
from judgesmith.experiments.evaluate.agreement import (
    LEVELS,
    STATISTICS,
    Unscored,
    agreement_report,
    gain_report,
    grouped,
    oriented,
    plain,
    unscored,
    unscored_text,
)
from judgesmith.metrics.correlation import agreement, agreement_difference, agreement_interval
from judgesmith.optimizers import PredictionTable
from judgesmith.signatures import Scale
from judgesmith.signatures.judgement import Cause, Reason

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")

NAN = float("nan")


def table(predicted, *, seed=0):
    n = len(predicted)
    human = np.random.default_rng(seed).integers(1, 6, n).astype(float)
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=human,
        sources=np.arange(n) // 3,
        systems=np.asarray([f"s{i % 3}" for i in range(n)]),
        problems=tuple(CUT_OFF if np.isnan(p) else None for p in predicted),
    )


PREDICTED = [3.0, 1.0, NAN, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, NAN, 5.0]


def test_the_report_holds_what_the_metrics_say():
    judged = table(PREDICTED)
    report = agreement_report(judged, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    groups = {"sources": judged.sources, "systems": judged.systems}
    for level in LEVELS:
        for statistic in STATISTICS:
            names = {"statistic": statistic, "level": level}
            direct = agreement_interval(judged.human, judged.predicted, **groups, **names, rng=rng)
            assert plain(report)[level][statistic] == direct.to_dict()
            value = agreement(judged.human, judged.predicted, **groups, **names).value
            assert report[level][statistic].value == pytest.approx(value, nan_ok=True)


def test_the_gain_is_the_paired_difference():
    first, second = table(PREDICTED), table(PREDICTED[::-1])
    gain = gain_report(first, second, rng=np.random.default_rng(1))
    direct = agreement_difference(
        first.human,
        first.predicted,
        second.predicted,
        sources=first.sources,
        systems=first.systems,
        statistic=STATISTICS[0],
        level=LEVELS[0],
        rng=np.random.default_rng(1),
    )
    assert plain(gain)[LEVELS[0]][STATISTICS[0]] == direct.to_dict()


@pytest.mark.parametrize("n", [1, 3, 12])
def test_rows_without_any_score_agree_with_nothing_and_break_nothing(n):
    nothing = table([NAN] * n)
    rng = np.random.default_rng(0)
    for report in (agreement_report(nothing, rng=rng), gain_report(nothing, nothing, rng=rng)):
        for row in plain(report).values():
            assert all(one["value"] is one["low"] is None and one["n"] == 0 for one in row.values())


def test_nothing_to_report_stays_nothing():
    assert plain(None) is None


CAUSES = st.sampled_from([None, CUT_OFF, Cause(Reason.OTHER, "no answer")])


@given(st.lists(CAUSES, min_size=1, max_size=20))
def test_every_row_without_a_score_is_counted_under_its_reason(problems):
    predicted = [1.0 if problem is None else NAN for problem in problems]
    judged = PredictionTable(
        predicted=np.asarray(predicted),
        human=np.ones(len(problems)),
        sources=np.arange(len(problems)),
        systems=np.arange(len(problems)),
        problems=tuple(problems),
    )
    found = unscored(judged)
    assert (found.n, found.n_rows) == (sum(p is not None for p in problems), len(problems))
    assert sum(found.reasons.values()) == found.n
    assert list(found.reasons.values()) == sorted(found.reasons.values(), reverse=True)
    assert unscored_text(found).startswith("all" if not found.n else f"{found.n} of")


def test_a_reason_that_is_a_sentence_ends_none():
    found = Unscored(
        n=3,
        n_rows=3,
        causes={Cause(Reason.OVER_BUDGET, "not asked: it is spent."): 2, CUT_OFF: 1},
    )
    assert unscored_text(found).endswith("2 × not asked: it is spent; 1 × cut off")


@pytest.mark.parametrize(("n", "end"), [(3, "1 × c"), (4, "1 × c; and 1 others"), (9, "6 others")])
def test_rows_with_rarer_reasons_are_counted_too(n, end):
    found = Unscored(n=n, n_rows=n, causes={Cause(Reason.OTHER, one): 1 for one in "abcdefghi"[:n]})
    assert unscored_text(found).endswith(end)


def test_ratings_that_count_faults_are_turned_round_and_others_stay_as_they_are():
    for low, high, better in ((1, 5, True), (0, 4, False)):
        scale = Scale(low=low, high=high, higher_is_better=better)
        targets = Targets(
            name="x",
            scale=scale,
            values=np.array([1.0, 3.0, np.nan]),
            n_raters=np.array([1, 1, 0]),
            reasons=(None, None, "nobody rated x"),
        )
        expected = [1.0, 3.0, np.nan] if better else [0.75, 0.25, np.nan]
        assert np.array_equal(oriented(targets), expected, equal_nan=True)


def test_only_the_levels_asked_for_are_computed():
    report = agreement_report(table(PREDICTED), rng=np.random.default_rng(0), levels=["sample"])
    assert list(report) == ["sample"]


def test_reasons_that_differ_by_a_value_are_counted_together_and_statuses_are_not():
    reasons = {
        "the answer 7 is outside 1..5": 2,
        "m: overloaded (HTTP 503)": 4,
        "the answer 'good' is outside 1..5.": 1,
        "the answer 12 is outside 1..5": 3,
        "m: overloaded (HTTP 429)": 1,
    }
    assert grouped(reasons) == {
        "the answer 12 is outside 1..5 (or alike)": 6,
        "m: overloaded (HTTP 503)": 4,
        "m: overloaded (HTTP 429)": 1,
    }
    many = {Cause(Reason.UNREADABLE, f"the answer {n} is outside 1..5"): 1 for n in range(30)}
    said = unscored_text(Unscored(n=30, n_rows=40, causes=many))
    assert said == "30 of 40 have no score: 30 × the answer 0 is outside 1..5 (or alike)"
