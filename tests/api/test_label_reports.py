"""What is said about labels, and about judges that give them."""

import csv
import json

import numpy as np
import pytest

import judgesmith
import judgesmith.data
from judgesmith.data import read_scores, write_rating_sheet
from judgesmith.experiments import compare_judges, describe, evaluate_scores
from judgesmith.signatures import RatedItem, Scale


def labelled(*given, criterion="overall", **more):
    """Two responses to each source, with the labels of their raters."""
    return judgesmith.read(
        [
            {
                "source_id": f"q{n // 2}",
                "system_id": f"s{n % 2}",
                "source": f"question {n // 2}",
                "response": f"answer {n}",
                "human": {criterion: labels},
                **more,
            }
            for n, labels in enumerate(given)
        ]
    )


def described(data, **more):
    return describe(data, seed=0, **more)


def test_check_counts_labels_ties_and_the_undecided():
    rows = [["pass", "pass"]] * 12 + [["fail", "fail"]] * 6 + [["pass", "fail"]] * 2
    found = described(labelled(*rows, ["pass", "unsure"], ["n/a", "n/a"]))
    (labels,) = found.labels
    assert labels.counts == {"fail": 6, "pass": 13}
    assert (labels.n_labelled, labels.n_tied) == (19, 2)
    assert labels.undecided == {"unsure": 1, "n/a": 2}
    share = labels.shares["fail"]
    assert share.value == pytest.approx(6 / 19)
    assert share.low < share.value < share.high
    assert found.to_dict()["labels"][0]["counts"] == {"fail": 6, "pass": 13}


def test_check_holds_each_rater_against_most_of_the_others():
    rows = [["pass", "pass", "pass"]] * 10 + [["fail", "fail", "fail"]] * 8
    rows += [["pass", "pass", "fail"]] * 2
    raters = {"raters": {"overall": ["ann", "ben", "cid"]}}
    (labels,) = described(labelled(*rows, **raters)).labels
    ann, _, cid = labels.raters
    assert (ann.name, cid.name) == ("ann", "cid")
    assert (ann.tpr.value, ann.tnr.value) == (1.0, 1.0)
    assert (cid.tpr.value, cid.tnr.value) == (pytest.approx(10 / 12), 1.0)
    assert labels.ceiling.value == pytest.approx((30 / 32 + 1) / 2)
    assert labels.labels_needed == 141


def test_check_says_that_fails_are_missing_and_how_many_it_takes():
    found = described(labelled(*["pass"] * 30))
    assert found.labels[0].n_negative == 0
    assert any("labelled 'fail'" in one and "22" in one for one in found.warnings)
    assert np.isnan(found.labels[0].half_width["tnr"])


def test_check_takes_ways_to_make_one_label_of_several():
    data = labelled(*[["pass", "fail"]] * 4, *[["pass", "pass"]] * 4)
    (labels,) = described(data, aggregate="any-fail").labels
    assert labels.counts == {"fail": 4, "pass": 4}


def test_check_reads_three_labels_one_against_the_rest():
    data = judgesmith.read(
        [
            {"source_id": f"q{n}", "response": f"r{n}", "human": {"tone": word}}
            for n, word in enumerate(["rude", "right", "wrong", "right"] * 5)
        ],
        positive="right",
    )
    (labels,) = described(data).labels
    assert (labels.n_positive, labels.n_negative, labels.negative) == (10, 10, "not right")


def test_labels_of_several_criteria_are_described_without_a_mean():
    rows = [
        {"source_id": f"q{n}", "response": f"r{n}", "human": {"a": n % 2 > 0, "b": n % 3 > 0}}
        for n in range(12)
    ]
    found = described(judgesmith.read(rows))
    assert [one.name for one in found.labels] == ["a", "b"]
    assert found.target is None
    assert any("--target" in one for one in found.warnings)


WORDS = {"pass": "to the point", "fail": "invents a date"}


def labelled_rows(n=60, positive="pass", negative="fail"):
    """One response in three is bad; the rater says why."""
    rows = []
    for place in range(n):
        label = negative if place % 3 == 0 else positive
        rows.append(
            {
                "source_id": f"q{place // 2}",
                "system_id": f"s{place % 2}",
                "response": f"answer {place}",
                "human": {"overall": label},
                "rationale": {"overall": WORDS.get(label, "because")},
            }
        )
    return rows


def scored_file(folder, rows, said, name="scores.jsonl"):
    """A file of scores: what ``said`` returns for the place and the rater's label of a row."""
    lines = [
        {
            "source_id": row["source_id"],
            "system_id": row["system_id"],
            **said(place, row["human"]["overall"]),
        }
        for place, row in enumerate(rows)
    ]
    file = folder / name
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


def evaluated(file, rows, **more):
    data = judgesmith.read(rows, positive=more.pop("positive", None))
    return evaluate_scores(read_scores(file, data), data, judgesmith.data.targets_of(data), **more)


def wrong_now_and_then(place, human):
    """Every tenth label of the judge is wrong."""
    other = {"pass": "fail", "fail": "pass"}
    label = other[human] if place % 10 == 0 else human
    return {"label": label, "explanation": f"verdict {place}"}


def test_evaluate_reports_tpr_tnr_and_wrong_labels_with_the_words_of_both(tmp_path):
    rows = labelled_rows()
    found = evaluated(scored_file(tmp_path, rows, wrong_now_and_then), rows).labels
    assert (found.n_positive, found.n_negative, found.unlabelled) == (40, 20, 0)
    assert found.confusion == ((18, 2), (4, 36))
    assert (found.tnr.value, found.tpr.value) == (0.9, 0.9)
    assert found.tnr.low < 0.9 < found.tnr.high
    assert found.statistics["balanced_accuracy"].value == pytest.approx(0.9)
    assert "auc" not in found.statistics
    first = found.false_passes[0]
    assert (first.human, first.judge, first.explanation) == ("fail", "pass", "verdict 0")
    assert first.raters[0].rationale == "invents a date"
    assert [one.source_id for one in found.false_fails] == ["q5", "q10", "q20", "q25"]


def test_evaluate_cuts_scores_in_the_middle_of_their_scale_and_says_so(tmp_path):
    rows = labelled_rows()
    file = scored_file(tmp_path, rows, lambda _, human: {"score": 8 if human == "pass" else 3})
    assert evaluated(file, rows).labels is None
    found = evaluated(file, rows, answers=Scale(low=0, high=10)).labels
    assert (found.tnr.value, found.tpr.value) == (1.0, 1.0)
    assert found.statistics["auc"].value == 1.0
    squares = [0.2**2] * 40 + [0.3**2] * 20
    assert found.statistics["brier"].value == pytest.approx(sum(squares) / 60)
    assert "5 and more on 0..10 count as 'pass'" in found.note


def test_evaluate_calls_a_judge_that_passes_everything_useless(tmp_path):
    rows = labelled_rows()
    found = evaluated(scored_file(tmp_path, rows, lambda *_: {"label": "pass"}), rows).labels
    assert "useless" in found.useless
    assert found.statistics["balanced_accuracy"].value == 0.5
    assert np.isnan(found.statistics["mcc"].value)


def test_evaluate_counts_rows_that_the_judge_leaves_to_people(tmp_path):
    rows = labelled_rows()
    file = scored_file(tmp_path, rows, lambda n, human: {"label": "unsure" if n < 6 else human})
    found = evaluated(file, rows)
    assert found.labels.unlabelled == 6
    assert found.unscored.to_dict()["reasons"] == {"left_to_people": 6}


def test_evaluate_groups_wrong_labels_by_the_criterion_that_people_failed(tmp_path):
    rows = labelled_rows()
    for place, row in enumerate(rows):
        bad = row["human"]["overall"] == "fail"
        row["human"] |= {"tone": not (bad and place % 2), "facts": not bad}
    file = scored_file(tmp_path, rows, lambda *_: {"label": "pass"})
    found = evaluated(file, rows).labels
    assert [one.criterion for one in found.false_passes] == ["facts"] * 10 + ["tone"] * 10


def test_evaluate_three_labels_one_against_the_rest(tmp_path):
    rows = labelled_rows(positive="right", negative="wrong")
    for row in rows[::6]:
        row["human"]["overall"] = "rude"
    file = scored_file(
        tmp_path, rows, lambda n, human: {"label": "right" if n % 12 == 0 else human}
    )
    found = evaluated(file, rows, positive="right").labels
    assert found.labels == ("rude", "wrong", "right")
    assert found.tpr.value == 1.0
    assert found.tnr.value == pytest.approx(15 / 20)
    assert "macro_f1" in found.statistics


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"label": "maybe"}, "fail, pass"),
        ({"label": "pass", "probability": {"pass": "high"}}, "probability"),
        ({"score": "good"}, "a number"),
    ],
)
def test_odd_labels_of_a_judge_are_refused_with_their_row(tmp_path, said, message):
    rows = labelled_rows()
    file = scored_file(tmp_path, rows, lambda n, human: said if n == 4 else {"label": human})
    with pytest.raises(judgesmith.JudgesmithError, match=message) as fault:
        evaluated(file, rows)
    assert "5" in str(fault.value)


def compared(tmp_path, rows, first, second, **more):
    data = judgesmith.read(rows)
    files = [
        scored_file(tmp_path, rows, said, f"{name}.jsonl")
        for name, said in (("a", first), ("b", second))
    ]
    scores = [read_scores(file, data) for file in files]
    return compare_judges(*scores, data, judgesmith.data.targets_of(data), **more).labels


def exact(_, human):
    return {"label": human}


def test_compare_tests_each_class_exactly_where_each_source_has_one_row(tmp_path):
    rows = [row | {"source_id": f"own {n}"} for n, row in enumerate(labelled_rows())]
    found = compared(tmp_path, rows, exact, wrong_now_and_then)
    assert found.differences.test == "mcnemar"
    assert found.differences.first_only == (4, 2)
    assert found.differences.tpr.p_value == pytest.approx(2 * 0.5**4)
    assert found.differences.tnr.p_value == pytest.approx(2 * 0.5**2)
    assert found.rates["balanced_accuracy"].value == pytest.approx(0.1)


def test_compare_flips_signs_by_source_elsewhere_and_adjusts_for_three_tests(tmp_path):
    rows = labelled_rows(120)
    found = compared(tmp_path, rows, exact, lambda *_: {"label": "pass"})
    assert found.differences.test == "sign-flip"
    assert found.better == "a"
    assert found.holm["tnr"] >= found.differences.tnr.p_value
    assert found.to_dict()["better"] == "a"


def test_compare_says_so_where_no_difference_is_clear(tmp_path):
    found = compared(tmp_path, labelled_rows(), wrong_now_and_then, wrong_now_and_then)
    assert found.better is None
    assert found.rates["tnr"].p_value == 1.0


@pytest.mark.parametrize(
    "scale",
    [
        Scale.of_labels("fail", "pass"),
        Scale.of_labels("rude", "wrong", "right", positive="right"),
        Scale.of_labels("bad", "fair", "good", positive="fair", ordered=True),
        Scale.categorical("bad", "fair", "good"),
    ],
)
def test_a_sheet_of_labels_is_read_as_the_labels_it_was_written_for(tmp_path, scale):
    items = [RatedItem(source_id=f"q{n}", source="s", response=f"answer {n}") for n in range(3)]
    sheet = tmp_path / "rate.csv"
    write_rating_sheet([(item, "random") for item in items], {"tone": scale}, sheet)
    header, *lines = csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines())
    place = next(n for n, name in enumerate(header) if name.startswith("tone"))
    for line, label in zip(lines, (*scale.labels[:2], "unsure"), strict=True):
        line[place] = label
    if not scale.is_verdict:
        lines[2][place] = ""
    with sheet.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *lines])
    data = judgesmith.read(sheet)
    assert data.scales["tone"] == scale
    assert [item.human["tone"] for item in data] == [(0.0,), (1.0,), ()]
    assert [dict(item.undecided) for item in data][2] == (
        {"tone": ("unsure",)} if scale.is_verdict else {}
    )
