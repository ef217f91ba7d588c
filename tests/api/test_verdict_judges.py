"""Judges of labels such as pass and fail: make one, score with it, save it, take it elsewhere."""

import csv
import json

import numpy as np
import pytest

import judgesmith
from judgesmith import programs as p
from judgesmith.cli import main

GOOD = "The bridge opened {n}. Ann cut the ribbon."
BAD = "The the xx bridge {n} in 1987 cats."
UNORDERED = judgesmith.Scale.of_labels("rude", "wrong", "right", positive="right")
RUBRIC = judgesmith.Rubric.model_validate({"criteria": {"truth": "Is it all in the source?"}})


def rated(n, **more):
    """Return rows with a label and the rater's words, two responses to each source."""
    rows = []
    for place in range(n):
        source = f"The bridge opened on day {place}. Ann cut the ribbon at noon."
        for text, label, why in (
            (GOOD, "pass", "All of it is true."),
            (BAD, "fail", "No such year."),
        ):
            one = {"source": source, "response": text.format(n=place), "human": {"ok": [label]}}
            rows.append({**one, "rationale": {"ok": [why]}, **more})
    return rows


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of a compiled judge, and its rows in a file."""
    folder = tmp_path_factory.mktemp("verdicts")
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(one) + "\n" for one in rated(20)))
    settings = judgesmith.CompileSettings(
        judge="verdict", optimizer="none", criteria="given", target="ok"
    )
    made = judgesmith.compile(judgesmith.read(rows), settings)
    made.saved.save(folder / "judge")
    return folder


def test_a_compiled_judge_gives_labels_before_and_after_it_is_saved(compiled):
    saved = p.load_judge(compiled / "judge")
    assert str(saved.scale) == "fail|pass"
    found = saved(source="The bridge opened on day 3.", response="The bridge opened on day 3.")
    assert found.label in ("fail", "pass")
    assert found.probability["pass"] == pytest.approx(found.score)
    assert sum(found.probability.values()) == pytest.approx(1)
    assert found.explanation
    again = p.load_saved(compiled / "judge")
    again.save(compiled / "again")
    assert p.load_saved(compiled / "again").fingerprint == again.fingerprint
    card = (compiled / "judge" / "README.md").read_text()
    assert "\n- label: pass from " in card


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_files_of_scores_say_label_and_probability(compiled, ending, capsys):
    rows, out = compiled / "rows.jsonl", compiled / f"scores.{ending}"
    assert main(["score", str(compiled / "judge"), str(rows), "-o", str(out), "--force"]) == 0
    summary = "".join(capsys.readouterr())
    assert "fail " in summary
    assert "pass " in summary
    dataset = judgesmith.read(rows)
    found = judgesmith.data.read_scores(out, dataset)
    assert [one.label for one in found.recorded] != []
    assert {one.label for one in found.recorded} <= {"fail", "pass"}
    assert np.allclose([one.probability["pass"] for one in found.recorded], found.values)
    if ending == "csv":
        with out.open(newline="") as file:
            header = next(csv.reader(file))
        assert header[3:7] == ["score", "label", "probability", "explanation"]


def test_json_says_how_many_rows_got_which_label(compiled, capsys):
    out = compiled / "counted.jsonl"
    call = ["score", str(compiled / "judge"), str(compiled / "rows.jsonl"), "-o", str(out)]
    assert main([*call, "--json", "--force"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum(told["labels"].values()) == told["rows"] == 40


@pytest.mark.parametrize("form", ["prompt", "dspy", "mlflow"])
def test_an_exported_judge_gives_the_same_labels(compiled, form):
    saved = p.load_saved(compiled / "judge")
    done = p.export_judge(saved, form, compiled / f"as {form}")
    if done.verified is not None:
        assert done.verified.differences == ()
    if form == "prompt":
        told = json.loads((done.place / "messages.json").read_text())["judge"]
        assert told["label"].startswith("pass from ")
        assert told["aggregation"]["decision"]["scale"]["positive"] == "pass"


def test_labels_without_an_order_are_judged_and_saved(tmp_path):
    judge = p.VerdictJudge(answers=UNORDERED, rubric=RUBRIC)
    found = judge(source="It rained.", response="It rained.")
    assert found.label == max(found.probability, key=found.probability.__getitem__)
    assert found.score == pytest.approx(found.probability["right"])
    assert judge.scale == UNORDERED
    assert UNORDERED.of_labels(*UNORDERED.labels, positive="right") == judge.scale
