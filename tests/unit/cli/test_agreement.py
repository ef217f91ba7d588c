from dataclasses import replace

import numpy as np
import pytest

from judgesmith.cli.shared.agreement import (
    agreement_rows,
    basis_text,
    estimate_text,
    interval_text,
    level_text,
    print_agreement,
    print_criteria,
)
from judgesmith.experiments.evaluate.agreement import CriterionReports, agreement_report, unscored
from judgesmith.metrics import Estimate
from judgesmith.optimizers import PredictionTable
from judgesmith.programs.artifacts.card import agreement_text
from judgesmith.signatures.judgement import Cause, Reason

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")


def estimate(value, low, high, n_groups=5):
    return Estimate(
        value=value, low=low, high=high, confidence=0.95, n=9, n_groups=n_groups, n_undefined=0
    )


def test_an_estimate_shows_its_interval_or_that_it_has_none():
    nan = float("nan")
    assert estimate_text(estimate(0.5, 0.25, 0.75)) == "0.500 [0.25, 0.75]"
    assert estimate_text(estimate(0.5, -0.25, 0.75), signed=True) == "+0.500 [-0.25, +0.75]"
    assert estimate_text(estimate(0.5, nan, nan)) == "0.500 [no interval]"
    assert estimate_text(estimate(0.5, 0.25, 0.75, 4)) == "0.500 [<5 sources]"
    assert estimate_text(estimate(nan, nan, nan)) == estimate_text(None) == "undefined"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.004, 0.104, "[+0.004, +0.10]"),
        (0.0, 0.93, "[0.00, +0.93]"),
        (-0.0, 0.93, "[0.00, +0.93]"),
        (-0.3, -0.0004, "[-0.30, -0.0004]"),
        (-0.3, -0.00001, "[-0.30, -0.00]"),
        (0.00001, 0.3, "[+0.00, +0.30]"),
        (-0.005, 0.005, "[-0.01, +0.01]"),
        (-0.0049, 0.0049, "[-0.005, +0.005]"),
    ],
)
def test_an_end_beside_zero_shows_on_which_side_it_is(low, high, said):
    assert interval_text(low, high, signed=True) == said


def report_with_gaps():
    """A report on three sources, of which the judge ties one, people rated one text of another."""
    table = PredictionTable(
        predicted=np.array([1.0, 2, 3, 2, 2, 2, 5]),
        human=np.array([1.0, 2, 3, 1, 2, 3, 4]),
        sources=np.array([0, 0, 0, 1, 1, 1, 2]),
        systems=np.array([*"abcabca"]),
    )
    return agreement_report(table, rng=np.random.default_rng(0))


def test_a_level_says_how_many_sources_its_means_leave_out():
    report = report_with_gaps()
    levels = [row[0] for row in agreement_rows([report]) if len(row) == 1]
    assert levels == ["dataset", "sample (2 sources without a value)", "system"]


def test_what_leaves_out_others_is_named():
    one, other = (replace(estimate(0.5, 0.4, 0.6), n_undefined=n) for n in (1, 5))
    assert level_text("sample", {"q": [one]}) == "sample (1 source without a value)"
    counted = {"pearson": [one, other], "q": [one], "pairs": [other]}
    said = "sample (1 to 5 sources without a value, q 1, pairs 5)"
    assert level_text("sample", counted) == said
    assert level_text("system", {"q": [other]}) == "system (5 systems without a score)"
    assert level_text("dataset", {"q": [one]}) == "dataset"


def test_levels_without_any_number_are_left_out():
    numbers = np.arange(6.0)
    table = PredictionTable(
        predicted=numbers, human=numbers, sources=numbers.astype(int), systems=np.array(["a"] * 6)
    )
    rows = agreement_rows([agreement_report(table, rng=np.random.default_rng(0))])
    assert [row[0].strip() for row in rows] == ["dataset", "pearson", "spearman", "kendall", "q"]


def report_on(predicted):
    n = len(predicted)
    table = PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.arange(float(n)),
        sources=np.arange(n),
        systems=np.array(["a"] * n),
        problems=tuple(CUT_OFF if value != value else None for value in predicted),
    )
    return agreement_report(table, rng=np.random.default_rng(0)), unscored(table)


def test_where_no_row_has_a_score_the_reason_is_told(capsys):
    report, without = report_on([float("nan")] * 3)
    print_agreement(f"All rows: {basis_text(report, without)}", {"agreement": report})
    print_agreement(f"All rows: {basis_text(report)}", {"agreement": report})
    assert capsys.readouterr().out == (
        "\nAll rows: no row has a score: cut off\n\nAll rows: no row has a score\n"
    )


def test_where_all_scores_are_equal_that_is_told(capsys):
    report, without = report_on([5.0] * 3)
    print_agreement(f"All rows: {basis_text(report, without)}", {"agreement": report})
    said = " ".join(capsys.readouterr().out.split())
    assert "undefined, because no two rows have different scores" in said


def test_criteria_have_a_row_each_and_their_names_cannot_break_the_table(capsys):
    table = PredictionTable(
        predicted=np.arange(8.0),
        human=np.arange(8.0),
        sources=np.arange(8),
        systems=np.array(["a"] * 8),
    )
    report = agreement_report(table, rng=np.random.default_rng(0), levels=["dataset"])
    names = ["plain", "two\nlines \x1b[2J", "long" * 20]
    print_criteria("All rows", CriterionReports(reports=dict.fromkeys(names, report)))
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if "1.000 [1.00, 1.00]" in line]
    assert [row.split()[0] for row in rows[:3]] == ["plain", "two", "long" * 7 + "l…"]
    assert "\x1b" not in "".join(lines)
    assert max(map(len, lines)) <= 80
    print_criteria("None", CriterionReports())
    assert capsys.readouterr().out == ""
    print_criteria("All rows", CriterionReports(left_out={"flat\x1b": "all are 3"}))
    said = capsys.readouterr().out
    assert said == "\nAll rows: nothing to compare\n  flat\\x1b is left out: all are 3\n"


def test_rounding_alone_is_no_difference():
    known = {"confidence": 0.95, "n": 9, "n_groups": 9, "n_undefined": 0}
    noise = Estimate(value=-3e-17, low=-1e-16, high=2e-16, **known)
    assert estimate_text(noise, signed=True) == "+0.000 [0.00, 0.00]"
    assert agreement_text({"value": -3e-17, "low": -1e-16, "high": 0.1}) == "0.000 [0.000, 0.100]"


def test_one_of_a_kind_is_told_as_one():
    one = Estimate(value=0.5, low=0.4, high=0.6, confidence=0.95, n=1, n_groups=1, n_undefined=0)
    said = basis_text({"dataset": {"pearson": one}})
    assert said == "1 scored row of 1 source, too few for intervals"
