"""judgesmith evaluate, and the agreement of raters."""

import json
from dataclasses import replace

import numpy as np
import pytest
from looping import for_each

from judgesmith.cli.shared.agreement import (
    agreement_rows,
    basis_text,
    estimate_text,
    interval_text,
    level_text,
    print_agreement,
    print_criteria,
)
from judgesmith.cli.shared.judged import scores_path
from judgesmith.experiments.evaluate.agreement import CriterionReports, agreement_report, unscored
from judgesmith.metrics import Estimate
from judgesmith.optimizers import PredictionTable
from judgesmith.signatures.judgement import Cause, Reason

# evaluate


@pytest.mark.no_cover
def test_what_correlations_do_not_tell_stands_in_a_table_of_its_own(run, judge, data):
    assert "diagnostics" not in run("evaluate", judge.name, data.name).out
    done = run("evaluate", judge.name, data.name, "--full")
    assert "\nTest rows, diagnostics\n" in done.out
    table = done.out.split("diagnostics")[1]
    lines = {line.split("  ")[0]: line for line in table.splitlines() if line}
    found = run("evaluate", judge, data, "--json").json["besides"]
    assert f"{found['pairs']['dataset']['value']:.3f}" in lines["pairs ordered as by raters"]
    assert str(found["scale_use"]["people"]["n_used"]) in lines["different scores"]
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_confidence_of_all_intervals_is_that_of_the_option(run, judge, data):
    narrow = run("evaluate", judge, data, "--confidence", "0.9", "--json").json
    usual = run("evaluate", judge, data, "--json").json
    for part in ("heldout", "seen"):
        for level, row in usual[part].items():
            for statistic, one in row.items():
                other = narrow[part][level][statistic]
                assert (one["confidence"], other["confidence"]) == (0.95, 0.9)
                assert other["value"] == one["value"]
                assert other["low"] is None or other["low"] >= one["low"]
    shares = [narrow["besides"]["pairs"]["dataset"], narrow["besides"]["length_bias"]["slope"]]
    assert [one["confidence"] for one in shares] == [0.9, 0.9]
    assert "90% intervals over sources" in run("evaluate", judge, data, "--confidence", "0.9").out
    wrong = run("evaluate", judge, data, "--confidence", "95")
    assert (wrong.status, "above 0 to below 1" in wrong.err) == (2, True)
    wrong = run("evaluate", judge, data, "--perspective", "global", "--confidence", "0.9")
    assert (wrong.status, "95% intervals" in wrong.err) == (2, True)


def test_levels_are_compared_where_people_gave_whole_points(run, data, sample_rows, folder):
    whole = [row | {"human": {"overall": [row["human"]["overall"][0]]}} for row in sample_rows]
    data.write_text("".join(json.dumps(row) + "\n" for row in whole))
    ids = [{name: row[name] for name in ("source_id", "system_id")} for row in whole]
    scores = [
        one | {"score": row["human"]["overall"][0]} for one, row in zip(ids, whole, strict=True)
    ]
    (folder / "same.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scores))
    assert (
        "the scale of the scores from 1 to 5" in run("evaluate", "same.jsonl", data, "--full").out
    )
    done = run("evaluate", "same.jsonl", data, "--answers", "1..5", "--full")
    line = next(line for line in done.out.splitlines() if line.startswith("kappa, quadratic"))
    assert line.split()[2] == "1.000"
    assert "no kappa" not in done.out
    found = run("evaluate", "same.jsonl", data, "--answers", "1..5", "--json").json["besides"]
    assert found["confusion"]["levels"] == found["levels"] == [1, 2, 3, 4, 5]
    assert sum(map(sum, found["confusion"]["counts"])) == 40
    of_percent = run("evaluate", "same.jsonl", data, "--answers", "0..100", "--json").json
    assert of_percent["besides"]["kappa"]["quadratic"]["value"] < 0.1
    assert of_percent["besides"]["concordance"] is None


def criteria_table(out):
    """The lines of the table by criterion, by their first word."""
    lines = out.split("by criterion: ")[1].splitlines()
    return {line.split()[0]: line for line in lines if line}


def test_criteria_without_a_report_say_why_and_rows_without_a_score_are_counted(
    run, judge, data, folder, sample_rows
):
    run("score", judge, data, "-o", "out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    rows[0]["criteria"]["fluency"] = {"score": None, "explanation": "no score: \x1b[31mno"}
    with (folder / "out.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    same = [row | {"human": row["human"] | {"faithfulness": [3]}} for row in sample_rows]
    data.write_text("".join(json.dumps(row) + "\n" for row in same))
    done = run("evaluate", "out.jsonl", data)
    assert (done.status, "\x1b" in done.out) == (0, False)
    table = criteria_table(done.out)
    assert table["fluency"].split()[1] == "39"
    assert "  fluency: 1 of 40 have no score: 1 × \\x1b[31mno\n" in done.out
    assert "faithfulness is left out: all 40 rated items have the same value" in done.out
    found = run("evaluate", "out.jsonl", data, "--json").json
    assert found["criteria_unscored"] == {"fluency": 1}
    assert list(found["criteria_left_out"]) == ["faithfulness"]


def test_scores_that_nothing_can_be_said_about_are_undefined_not_zero(run, data, sample_rows):
    rows = [
        {"source_id": row["source_id"], "system_id": row["system_id"], "score": 3}
        for row in sample_rows
    ]
    data.with_name("flat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = run("evaluate", "flat.jsonl", data, "--json").json
    assert found["unknown"]["dataset"]["pearson"]["value"] is None
    assert found["rows"]["unscored"] == 0
    assert "All rows: 40 scored rows" in run("evaluate", "flat.jsonl", data).out
    assert "undefined" in run("evaluate", "flat.jsonl", data).out


def test_ids_and_reasons_cannot_move_the_cursor(run, data, sample_rows):
    rows = [
        {"source_id": row["source_id"], "system_id": row["system_id"], "score": None}
        | {"problem": "\x1b[31mno"}
        for row in sample_rows
    ]
    data.with_name("none.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("evaluate", "none.jsonl", data)
    assert done.status == 1
    assert "40 × \\x1b[31mno" in done.out
    assert "\x1b" not in done.out


def test_a_budget_holds_over_restarts_and_its_end_is_stated(run, judge, data):
    options = ["--ledger", "fresh.sqlite", "--max-calls", "20", "--json"]
    first = run("evaluate", judge, data, *options)
    assert first.status == 0
    assert first.json["rows"]["unscored"] >= 30
    assert all(reason.startswith("not asked: ") for reason in first.json["problems"])
    assert run("evaluate", judge, data, *options).json == first.json
    assert "20 answers from 20 calls" in run("ledger", "stats", "--ledger", "fresh.sqlite").out


STATISTICS = ("pearson", "spearman", "kendall")


@pytest.fixture(scope="module")
def checks(data_folder):
    """Published numbers by id."""
    checks = json.loads((data_folder / "checks.json").read_text())["checks"]
    return {one["id"]: one for one in checks}


@pytest.fixture
def evaluate(run, data_folder):
    """Evaluate recorded scores against rated texts, by name."""

    def found(recorded, rated, *options, judge=""):
        scores = f"{data_folder / 'recorded' / recorded}.jsonl.gz{judge}"
        done = run("evaluate", scores, data_folder / f"{rated}.jsonl.gz", *options, "--json")
        assert done.status == 0, done.err
        return done.json["unknown"]

    return found


def test_published_agreement_of_unieval_is_reproduced(evaluate, checks):
    one = checks["unieval/topical_chat/overall"]
    found = evaluate("unieval", "topical_chat", "--criterion", "overall")["dataset"]
    values = [found[statistic]["value"] for statistic in STATISTICS]
    assert values == pytest.approx(one["published"], abs=one["tolerance"])


def test_published_agreement_of_sampled_judges_is_reproduced(evaluate, checks):
    one = checks["closer_look/topical_chat/geval"]
    values = []
    for criterion in ("naturalness", "coherence", "engagingness", "groundedness"):
        found = evaluate(
            "topical_chat_chatgpt_20samples",
            "topical_chat",
            *("--target", criterion),
            judge=":gpt-3.5-turbo geval",
        )
        values += [found["dataset"]["pearson"]["value"], found["sample"]["kendall"]["value"]]
    assert values == pytest.approx(one["published"], abs=one["tolerance"])


@pytest.fixture
def pairs_evaluate(folder, sample_rows):
    """Comparisons of the first two texts of every source, by a judge that likes long ones."""
    by_source = {}
    for row in sample_rows:
        by_source.setdefault(row["source_id"], []).append(row)
    rows = []
    for source, (first, second, *_) in by_source.items():
        longer = float(len(first["response"]) > len(second["response"]))
        ids = {"source_id": source, "system_id": f"{first['system_id']}|{second['system_id']}"}
        rows.append(ids | {"judge": "long", "scores": [longer]})
        rows.append(ids | {"judge": "long order swapped", "scores": [0.0]})
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "pairs.jsonl"


def test_comparisons_of_two_texts_are_held_against_peoples_ratings(run, data, pairs_evaluate):
    done = run("evaluate", pairs_evaluate, data)
    assert done.status == 0
    assert done.out.startswith("long on data: overall, preferences between two texts\n")
    assert "10 pairs of 10 sources, 95% intervals over sources" in done.out
    assert "the answer is the same" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    found = run("evaluate", pairs_evaluate, data, "--json").json
    assert found["rows"]["pairs"] == 10
    assert list(found["preferences"]) == ["given", "swapped", "combined"]
    alone = run("evaluate", f"{pairs_evaluate}:long order swapped", data, "--json").json
    assert (alone["order"], alone["judge"]) == (None, "long order swapped")


def test_published_preferences_are_what_peoples_ratings_say(run, data_folder):
    call = [data_folder / "recorded" / "pandalm_judges.jsonl.gz", data_folder / "pandalm.jsonl.gz"]
    found = run("evaluate", f"{call[0]}:PandaLM-7B", call[1], "--aggregate", "mode", "--json").json
    counts = found["preferences"]["given"]["confusion"]
    assert [sum(counts[one].values()) for one in ("neither", "first", "second")] == [105, 422, 472]


def test_both_orders_of_recorded_comparisons_are_put_together(run, data_folder):
    scores = data_folder / "recorded" / "summeval_h2h_chatgpt.jsonl.gz"
    rated = data_folder / "summeval.jsonl.gz"
    found = run("evaluate", scores, rated, "--target", "coherence", "--json").json
    assert found["order"]["consistent"]["value"] == pytest.approx((402 + 290 + 16) / 1100)
    assert found["order"]["flipped"]["value"] == pytest.approx((203 + 162) / 1100)


# agreement

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


@for_each(
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


# ``judgesmith prefer`` records comparisons that ``evaluate`` and ``compare`` read.


# judged


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s.jsonl", ("s.jsonl", None)),
        ("s.jsonl:UniEval", ("s.jsonl", "UniEval")),
        ("s.jsonl:metric:bleu", ("s.jsonl", "metric:bleu")),
        ("a:b.jsonl", ("a:b.jsonl", None)),
        ("a:b.jsonl:x", ("a:b.jsonl", "x")),
        ("folder", None),
        ("folder:x", None),
        ("nothing:at:all", None),
    ],
)
def test_a_file_is_told_from_the_judge_in_it(folder, text, found):
    (folder / "s.jsonl").touch()
    (folder / "a:b.jsonl").touch()
    (folder / "folder").mkdir()
    path, name = scores_path(text)
    assert (None if path is None else (str(path), name)) == found
