"""judgesmith compile: options, output and saved judge."""

import json
import shlex
from types import SimpleNamespace

import pytest

from judgesmith.cli.judge.calibration_options import NO_CALIBRATION
from judgesmith.cli.judge.compiled import _print_objective, print_again
from judgesmith.cli.shared.faults import OptionError
from judgesmith.cli.shared.places import check_output, file_place, judge_place
from judgesmith.data.samples import sample_path
from judgesmith.programs import SavedJudge, load_saved

# compile

QUICK = ["--rounds", "2"]


def compiled(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, *options, "--json")
    assert done.status == 0, done.err
    return done


def test_a_dry_run_knows_what_it_costs_or_that_it_does_not(run, data):
    options = [*QUICK, "--dry-run", "--json", "--model", "openai/unheard-of"]
    assert compiled(run, data, *options).json["cost_usd"] is None
    priced = compiled(run, data, *options, "--price", "1,2").json
    tokens = priced["input_tokens"] + 2 * priced["output_tokens"]
    assert priced["cost_usd"] == pytest.approx(tokens / 1e6)


@pytest.mark.parametrize(
    ("options", "said", "where"),
    [
        (["--without", "serach"], "what can be left out is explanations, task", "--without"),
        (["--without", "mcs,os"], "without mcs and os nothing is scored", "--without"),
        (["--target", "fluenci"], "no ratings of 'fluenci'", "--target"),
        (["--target", "fluency", "--target", "fluency"], "every target is named once", None),
        (
            ["--target", "fluency", "--target", "overall", "--variant", "coarse"],
            "the coarse variant gives one",
            "--target",
        ),
        (["--objective", "accuracy"], "expected a known name", "--objective"),
        (["--criteria", "own"], "'own' is not one of", "--criteria"),
        (["--variant", "vanilla", "--without", "task"], "do not go together", None),
        (["--variant", "vanilla", "--explain", "after"], "do not go together", None),
        (["--variant", "vanilla", "--criteria", "human"], "do not go together", None),
        (["--criteria", "general", "--without", "criteria"], "do not go together", None),
        (["--criteria", "general", "--inference", "single"], "do not go together", None),
        (["--explain", "after", "--without", "explanations"], "do not go together", None),
        (["--criteria-calls", "separate", "--without", "mcs"], "do not go together", None),
        (["--lexical", "--without", "weights"], "do not go together", None),
        (["--from", "nowhere"], "no judge found", "nowhere"),
        (["--from", "judge", "--variant", "coarse"], "--from takes this", None),
        (["--variant", "coarse", "--criteria-calls", "separate"], "criteria_calls=separate", None),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(run, data, judge, folder, options, said, where):
    before = sorted(path.name for path in folder.iterdir())
    done = run("compile", data, "-o", "made", *options, "--json")
    assert (done.status, done.out) == (2, "")
    assert said in done.fault["error"]
    if where is not None:
        assert done.fault["where"] == where
    assert sorted(path.name for path in folder.iterdir()) == before


# What compile prints of a judge says what is true of it.

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
    assert (
        capsys.readouterr()
        .out.strip()
        .endswith(f"Q: 1.000 on the rows that the judge was selected by (test: {said})")
    )


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


# A judge can be compiled with a calibration, from rows that nothing else was learned from.

QUICK_COMPILE_CALIBRATED = ["--optimizer", "none", "--criteria", "general", "--holdout", ".3"]


def compiled_compile_calibrated(run, *options, out="judge"):
    done = run("compile", "sample", "-o", out, *QUICK_COMPILE_CALIBRATED, *options, "--json")
    assert done.status == 0, done.err
    return done


def test_texts_that_nobody_can_vouch_for_are_left_to_people(run, folder):
    compiled_compile_calibrated(run, "--calibrate", "--within", "0.01")
    assert run("score", "judge", "sample", "-o", "scores.jsonl").status == 0
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert {row["abstained"] for row in rows} == {True}
    assert all(row["score"] is None and "left to people" in row["problem"] for row in rows)


def test_a_distance_as_long_as_the_scale_is_refused_before_anything_is_asked(run, folder):
    refused = run(
        "compile",
        "sample",
        "-o",
        "judge",
        *QUICK_COMPILE_CALIBRATED,
        "--calibrate",
        "--within",
        "4",
    )
    assert refused.status == 2
    assert "scores on 1..5 are always within 4 points of the human ratings" in refused.err
    assert not list(folder.iterdir())


def test_rows_that_nobody_rated_are_too_few_before_anything_is_asked(run, folder):
    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    for row in rows[::2]:
        row["human"] = {}
    (folder / "half.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    done = run("compile", "half.jsonl", "-o", "judge", *QUICK_COMPILE_CALIBRATED, "--calibrate")
    assert done.status == 2
    assert "needs 40 rated rows of several among them; there would be 24 of 12" in done.err
    assert not (folder / "judge").exists()


def test_a_run_that_the_budget_ended_goes_on(run, folder):
    done = compiled_compile_calibrated(run, "--calibrate", "--max-calls", 200)
    saved = load_saved(folder / "judge")
    if isinstance(saved, SavedJudge):
        assert done.err.startswith("note: the judge was saved without a calibration: ")
        assert done.json["calibration"] is None
        assert done.json["no_calibration"] in done.err
    assert saved.settings["complete"] is False
    compiled_compile_calibrated(run, "--calibrate")
    compiled_compile_calibrated(run, "--calibrate", "--ledger", "new/ledger.sqlite", out="other")
    whole = (folder / "other" / "judge.json").read_bytes()
    assert (folder / "judge" / "judge.json").read_bytes() == whole


# What is printed to go on with: the same model, at the same server, and no secret.

QUICK_SAVED_LINE = ["--criteria", "general", "--optimizer", "none", "--judge", "direct"]


@pytest.mark.no_cover
def test_the_line_to_go_on_with_asks_the_server_that_was_asked(run, data, server):
    asked = ["--model", "openai/m", "--api-base", server.url]
    done = run("compile", data, "-o", "a judge", *QUICK_SAVED_LINE, *asked)
    assert done.status == 0, done.err
    line = done.out.rstrip().splitlines()[-1]
    assert shlex.split(line) == [
        *("judgesmith", "score", "a judge", str(data), "-o", "SCORES.jsonl"),
        *("--model", "openai/m", "--api-base", server.url),
    ]


@pytest.mark.no_cover
def test_without_a_key_it_is_said_that_a_judge_keeps_no_address(run, data, server, monkeypatch):
    asked = ["--model", "openai/m", "--api-base", server.url]
    assert run("compile", data, "-o", "judge", *QUICK_SAVED_LINE, *asked).status == 0
    monkeypatch.delenv("OPENAI_API_KEY")
    command = ["score", "judge", data, "-o", "out.jsonl", "--ledger", "fresh.sqlite", "--json"]
    done = run(*command, "--allow-model", "openai/m")
    assert done.status == 2
    assert "needs a key" in done.fault["error"]
    assert done.fault["hint"].startswith("give --api-base")


# places


def test_an_output_is_a_new_name_in_a_folder_that_takes_it(tmp_path):
    place = tmp_path / "out.jsonl"
    assert check_output(str(place)) == place
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OptionError, match=r"there is no folder .*/a to put b in; make it"):
        check_output(str(tmp_path / "a" / "b"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OptionError, match="nothing can be written in /proc"):
        check_output("/proc/judge")


@pytest.mark.parametrize("nothing", ["", "/", "."])
def test_a_place_needs_a_name(nothing):
    with pytest.raises(OptionError, match="names no file or folder"):
        check_output(nothing)


def test_a_file_is_neither_a_folder_nor_what_is_read(tmp_path):
    read = tmp_path / "in.csv"
    read.write_text("a")
    assert file_place(str(tmp_path / "out.csv"), str(read), None, "-", like="out.csv").name
    with pytest.raises(OptionError, match=r"is read by this command; name another file"):
        file_place(str(read), "-", str(read), like="out.csv")
    with pytest.raises(OptionError, match=r"is a folder; name a file, such as out\.csv"):
        file_place(str(tmp_path), like="out.csv")


def test_a_judge_replaces_nothing_but_a_judge(tmp_path):
    place = tmp_path / "judge"
    assert judge_place(str(place)) == place
    place.mkdir()
    with pytest.raises(OptionError, match="is there and holds no judge; name another folder"):
        judge_place(str(place))
    (place / "judge.json").touch()
    assert judge_place(str(place)) == place
