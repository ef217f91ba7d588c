import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.cli.printing import (
    agreement_rows,
    basis_text,
    estimate_text,
    interval_text,
    level_text,
    print_agreement,
    print_criteria,
    print_table,
    say,
    say_under,
    shortened,
    visible,
)
from judgesmith.experiments.agreeing import agreement_report, unscored
from judgesmith.experiments.by_criterion import CriterionReports
from judgesmith.metrics import Estimate
from judgesmith.optimizers import JudgedTable
from judgesmith.programs.card import agreement_text

ATTACK = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x08\u202e\x7f\ud800"


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "L"])))
def test_nothing_but_line_ends_and_tabs_can_move_a_cursor(text):
    assert all(c.isprintable() or c in "\n\t" for c in visible(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_letters_are_shown_as_they_are(text):
    assert visible(text) == text


@given(st.text())
def test_text_made_visible_can_always_be_written(text):
    assert visible(visible(text)) == visible(text)
    visible(text).encode("utf-8")


def test_sentences_and_cells_reach_the_terminal_harmless(capsys):
    say(ATTACK)
    print_table(ATTACK, [[ATTACK, "1"]], header=[ATTACK, "n"])
    out = capsys.readouterr().out
    assert "\\x1b]0;title\\x07" in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_a_table_is_aligned(capsys):
    print_table("Title", [["a", "1"], ["long name", "100"]], header=["name", "n"])
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Title",
        "",
        "name         n",
        "---------- ---",
        "a            1",
        "long name  100",
    ]


def test_wide_letters_are_counted_as_two_columns(capsys):
    print_table("", [["日本", "1"], ["abcd", "2"]])
    assert capsys.readouterr().out == "\n日本  1\nabcd  2\n"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_columns_that_do_not_fit_follow_below_beside_the_first(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    header = ["measure", *(f"criterion {n}" for n in range(12))]
    print_table("", [["mean", *map(str, range(12))]], header=header)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    heads = [line for line in lines if line.startswith("measure")]
    assert len(heads) == len([line for line in lines if line.startswith("mean")])
    assert (
        "  ".join(head.removeprefix("measure").strip() for head in heads).split("  ") == header[1:]
    )


def test_a_table_without_rows_is_its_title(capsys):
    print_table("Nothing", [])
    assert capsys.readouterr().out == "\nNothing\n"


def estimate(value, low, high):
    return Estimate(
        value=value, low=low, high=high, confidence=0.95, n=9, n_groups=3, n_undefined=0
    )


def test_an_estimate_shows_its_interval_or_that_it_has_none():
    nan = float("nan")
    assert estimate_text(estimate(0.5, 0.25, 0.75)) == "0.500 [0.25, 0.75]"
    assert estimate_text(estimate(0.5, -0.25, 0.75), signed=True) == "+0.500 [-0.25, +0.75]"
    assert estimate_text(estimate(0.5, nan, nan)) == "0.500 [no interval]"
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


def test_a_heading_takes_no_room_from_the_columns(capsys):
    rows = [["a long heading of \x1b[31mits own"], ["  a", "1", "2"], ["other"], ["  b", "3", "4"]]
    print_table("", rows, header=["", "x", "y"])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "     x  y",
        "---- -- -",
        "a long heading of \\x1b[31mits own",
        "  a  1  2",
        "other",
        "  b  3  4",
    ]


def report_with_gaps():
    """A report on three sources, of which the judge ties one, people rated one text of another."""
    table = JudgedTable(
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
    table = JudgedTable(
        predicted=numbers, human=numbers, sources=numbers.astype(int), systems=np.array(["a"] * 6)
    )
    rows = agreement_rows([agreement_report(table, rng=np.random.default_rng(0))])
    assert [row[0].strip() for row in rows] == ["dataset", "pearson", "spearman", "kendall", "q"]


def test_long_texts_are_cut_on_one_line():
    assert shortened("a\n b\tc") == "a b c"
    assert shortened("x" * 20, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize("indent", [0, 2])
def test_a_long_text_is_wrapped_under_its_beginning(capsys, monkeypatch, columns, indent):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = "Some well-chosen words that say why.\n" * 9 + "\x1b[2J"
    say_under("because", text, indent=indent)
    out = capsys.readouterr().out
    first, *rest = out.splitlines()
    assert first.startswith(" " * indent + "because: Some")
    start = " " * (indent + len("because: "))
    assert all(line.startswith(start) and line[len(start)] != " " for line in rest)
    assert max(map(len, [first, *rest])) <= columns
    assert out.split() == ["because:", *visible(text).split()]


def test_a_text_with_little_room_goes_on_under_its_label(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    say_under("response", "one two three four five", indent=2)
    assert capsys.readouterr().out.splitlines() == ["  response: one two", "  three four five"]


def test_without_text_there_is_the_label(capsys):
    say_under("because", "")
    assert capsys.readouterr().out == "because:\n"


def report_on(predicted):
    n = len(predicted)
    table = JudgedTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.arange(float(n)),
        sources=np.arange(n),
        systems=np.array(["a"] * n),
        problems=tuple("cut off" if value != value else None for value in predicted),
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


def test_there_is_no_progress_where_nobody_looks(capsys):
    from judgesmith.cli.printing import stage_progress

    with stage_progress(quiet=False) as told:
        assert told is None
    assert capsys.readouterr() == ("", "")


def test_progress_goes_to_standard_error(capsys, monkeypatch):
    from judgesmith.cli.printing import stage_progress

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with stage_progress(quiet=False) as tell:
        tell("rows", 3, 6)
        tell("rows", 3, 6)
        tell.describe("search", "best [b] so far")
    out, err = capsys.readouterr()
    assert out == ""
    assert "rows" in err
    assert "6/6" in err
    assert "search: best [b] so far" in " ".join(err.split())


def test_criteria_have_a_row_each_and_their_names_cannot_break_the_table(capsys):
    table = JudgedTable(
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
