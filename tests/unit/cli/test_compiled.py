"""What compile prints of a judge says what is true of it."""

import json
from types import SimpleNamespace

import pytest

from judgesmith.cli.judge.calibration_options import NO_CALIBRATION
from judgesmith.cli.judge.compiled import _print_objective, print_again
from judgesmith.data.samples import sample_path
from judgesmith.programs import load_saved

AS_IT_IS = ["--optimizer", "none", "--criteria", "general"]


@pytest.mark.parametrize(
    ("optimism", "said"),
    [
        (-0.241, "1.241"),
        (0.241, "0.759"),
        (-1e-16, "1.000"),
    ],
)
def test_luck_is_above_or_below(optimism, said, capsys):
    chosen = SimpleNamespace(value=1.0)
    found = SimpleNamespace(name="q", targets=("score",), optimism=optimism, selection=chosen)
    _print_objective(found)
    assert capsys.readouterr().out.strip().endswith(f"Q: 1.000 (test: {said})")


@pytest.mark.no_cover
def test_the_score_of_a_judge_without_a_model_is_told_as_it_is(run, folder):
    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["references"] = [row["source"]]
    (folder / "data.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    options = ["--judge", "reference", "--optimizer", "none", "--without", "weights"]
    done = run("compile", "data.jsonl", "-o", "judge", *options)
    assert "score: rougeL against references" in done.out, done.err


@pytest.mark.no_cover
def test_the_same_run_again_says_that_there_is_no_calibration(run, folder, data, capsys):
    assert run("compile", data, "-o", "judge", *AS_IT_IS).status == 0
    saved = load_saved(folder / "judge")
    saved = saved.model_copy(update={"settings": {**saved.settings, NO_CALIBRATION: "too few."}})
    print_again(saved, folder, as_json=False)
    assert "note: the judge was saved without a calibration: too few." in capsys.readouterr().out
    print_again(saved, folder, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["calibration"], found["no_calibration"]) == (None, "too few.")


def test_a_judge_that_is_taken_as_it_is_has_one_column_and_no_gain(run, data):
    done = run("compile", data, "-o", "judge", *AS_IT_IS)
    assert done.status == 0, done.err
    table = done.out.partition("Agreement with human ratings")[2].partition("Validation")[0]
    assert "baseline" in table
    assert not {"uncompiled", "gain", "+0.000"} & set(table.split())
