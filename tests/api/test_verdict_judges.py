"""Judges of labels such as pass and fail: make one, score with it, save it, take it elsewhere."""

import csv
import json

import numpy as np
import pytest

import judgesmith
from judgesmith import programs as p
from judgesmith.cli import main
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.space.demonstrations import Pool
from judgesmith.signatures.space import with_labels

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
    assert found.score == pytest.approx(2 * found.probability["right"])
    assert judge.scale == UNORDERED
    assert UNORDERED.of_labels(*UNORDERED.labels, positive="right") == judge.scale


# Examples show labels with the words of raters, or with those of a run that agrees.


def pool(labels, scale, runs=None, **more):
    items = [
        judgesmith.RatedItem(source=f"s{n}", response="r", human={"ok": (float(one),)})
        for n, one in enumerate(labels)
    ]
    best = [one if scale.ordered else 2 * (one == 2) for one in labels]
    names = np.array([item.source for item in items])
    rows = Rows(
        items=tuple(items),
        human=np.array(best, float),
        groups=names,
        systems=names,
        scale=scale,
        **more,
    )
    return Pool(rows=rows, runs=runs or {})


def said(found):
    return [(one.outputs.get("critique"), one.outputs["verdict"], one.kind) for one in found]


def test_examples_show_the_label_and_the_words_of_raters():
    scale = judgesmith.Scale.of_labels("fail", "pass")
    config = p.VerdictJudge(rubric=RUBRIC).protocol
    words = ({"score": "It is false."}, {})
    runs = {
        0: judgesmith.Judgement(score=1.0, raw=100.0, explanation="It is fine."),
        1: judgesmith.Judgement(score=1.0, raw=100.0, explanation="It is right."),
    }
    given = pool([0, 1], scale, runs, rationale=words)
    labelled = given.shown(config, [0, 1], [])["decide"]
    assert said(labelled) == [("It is false.", "fail", "labelled"), (None, "pass", "labelled")]
    told = given.shown(config, [0, 1], [0, 1])["decide"]
    assert said(told) == [
        ("It is false.", "fail", "labelled"),  # its run passed what the rater failed
        ("It is right.", "pass", "bootstrapped"),
    ]
    silent = p.VerdictJudge(rubric=RUBRIC, explain="none").protocol
    assert [one.outputs for one in given.shown(silent, [0], [])["decide"]] == [{"verdict": "fail"}]
    judge = p.VerdictJudge(config.model_copy(update={"demonstrations": {"decide": told}}))
    assert "It is false." in judge.templates()["decide"].as_text()


def test_examples_of_labels_without_an_order_and_of_checks():
    config = p.VerdictJudge(answers=UNORDERED, rubric=RUBRIC).protocol
    shown = pool([0, 1, 2], UNORDERED).shown(config, [0, 1, 2], [])["decide"]
    assert [one.outputs["verdict"] for one in shown] == ["rude", "wrong", "right"]
    scale = judgesmith.Scale.of_labels("fail", "pass")
    checks = p.VerdictJudge(asks="checks", rubric=RUBRIC).protocol
    known = pool([0, 1], scale, criteria={"truth": np.array([0.0, np.nan])})
    assert said(known.shown(checks, [0, 1], [])["check_1"]) == [(None, "no", "labelled")]


def test_labels_compete_with_scales_of_numbers_where_people_gave_labels():
    labels = judgesmith.Scale.of_labels("fail", "pass")
    judge = p.DirectJudge(rubric=RUBRIC)
    space = with_labels(judge.space(), labels)
    decided = judge.with_choices({"answers": "labels"}, space=space)
    assert decided.scale == labels
    assert with_labels(judge.space(), UNORDERED) == judge.space()
    assert with_labels(decided.space(), labels) == decided.space()
