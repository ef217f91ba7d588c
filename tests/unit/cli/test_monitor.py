"""judgesmith monitor: drift and recheck; distil and fine-tune; data."""

import fcntl
import json
import os
import shutil
import time

import pytest
from exporting import saved_of
from students import write_data

from judgesmith.cli import main
from judgesmith.cli.shared.data_options import scales_of
from judgesmith.experiments.distil import training as adapter
from judgesmith.experiments.distil.training import Trained
from judgesmith.programs import extras
from judgesmith.programs.artifacts.saved import GoldenItem, SavedJudge
from judgesmith.programs.lm import Retry, waiting
from judgesmith.signatures import Judgement

# drift


@pytest.fixture
def scores(run, judge, data, folder):
    assert run("score", judge, data, "-o", "scores.jsonl").status == 0
    return folder / "scores.jsonl"


def changed(scores, change, name="later.jsonl"):
    rows = [json.loads(line) for line in scores.read_text(encoding="utf-8").splitlines()]
    later = scores.with_name(name)
    later.write_text("".join(json.dumps(change(row)) + "\n" for row in rows), encoding="utf-8")
    return later


def test_scores_of_the_texts_that_a_judge_was_made_from_have_not_drifted(run, judge, scores, data):
    done = run("drift", judge, scores, "--inputs", data)
    assert (done.status, done.err) == (0, "")
    assert "40 now, 0 without\n" in done.out
    assert "No drift detected" in done.out
    assert "source language English" in done.out


def test_scores_that_moved_have_and_the_status_says_so(run, judge, scores):
    later = changed(scores, lambda row: row | {"score": row["score"] / 9, "criteria": {}})
    done = run("drift", judge, later, "--json")
    assert done.status == 1
    assert [one["what"] for one in done.json["shifts"] if one["drifted"]] == ["score"]
    assert "texts were not looked at" in done.err
    assert run("drift", judge, later, "--tolerance", "1").status == 0


def test_a_judge_that_does_not_say_how_it_began_is_held_against_earlier_scores(
    run, judge, scores, folder
):
    older = SavedJudge.load(judge).model_copy(update={"reference": {}})
    older.save(folder / "older")
    done = run("drift", "older", scores)
    assert done.status == 2
    assert "--against OLD" in done.err
    mine = {"judge": older.fingerprint}
    before, now = (changed(scores, lambda row: row | mine, f"{one}.jsonl") for one in "ab")
    assert run("drift", "older", now, "--against", before).status == 0


# ``judgesmith recheck``: status 1 where the model changed, 0 where it did not.


def test_an_unchanged_model_passes_and_leaves_nothing_behind(run, judge, folder):
    done = run("recheck", judge, "--json")
    assert (done.status, done.err) == (0, "")
    told = done.json
    assert (told["drifted"], told["shift"]["value"], told["n_items"]) == (False, 0.0, 12)
    assert [check["name"] for check in told["checks"]] == ["shift", "moves", "unscored", "alike"]
    assert list((folder / ".judgesmith").iterdir()) == []


def test_a_changed_model_fails_and_what_moved_is_said(run, judge, server):
    done = run("recheck", judge, "--model", "openai/m", "--api-base", server.url)
    assert done.status == 1
    assert done.out.startswith("✗ The judge has changed")
    assert f"{judge}: scored by openai/m" in done.out
    assert "DRIFTED  unscored: 100.0 % of the scores are missing" in done.out
    assert "item 1: " in done.out
    assert "note: the judge was made with offline, and asked was openai/m." in done.out


@pytest.fixture
def plain(run, data, server):
    """A judge of one question, made with the model on the server, and how to ask it again."""
    asked = ["--model", "openai/m", "--api-base", server.url]
    made = ["--judge", "direct", "--optimizer", "none", *asked]
    assert run("compile", data, "-o", "plain", *made).status == 0
    server.reset()
    return ["recheck", "plain", *asked, "--concurrency", "4"]


def test_an_interrupted_recheck_goes_on_where_it_was_for_some_hours(run, plain, server, folder):
    stopped = run(*plain, "--max-calls", "20", "--json")
    assert (stopped.status, stopped.out) == (2, "")
    assert "larger budget, and it resumes from there" in stopped.fault["hint"]
    assert server.counts()["requests"] == 20
    assert run(*plain, "--max-calls", "36").status == 0
    assert server.counts()["requests"] == 36
    run(*plain, "--max-calls", "20")
    assert server.counts()["requests"] == 56
    for path in (folder / ".judgesmith").glob("recheck-*"):
        os.utime(path, (time.time() - 7 * 3600,) * 2)
    assert run(*plain).status == 0
    assert server.counts()["requests"] == 56 + 36
    assert list((folder / ".judgesmith").glob("recheck-*")) == []


def test_two_rechecks_do_not_go_on_from_the_same_answers(run, plain, server, folder):
    run(*plain, "--max-calls", "20")
    (place,) = (folder / ".judgesmith").glob("recheck-*.sqlite")
    with place.with_name(f"{place.name}-lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = run(*plain, "--json")
    assert done.status == 2
    assert (done.fault["where"], server.counts()["requests"]) == ("--ledger", 20)
    assert "another recheck of this judge is under way" in done.fault["error"]
    assert place.exists()


@pytest.fixture
def soon(monkeypatch):
    """Every request is sent as often as ever, and without a wait in between."""
    wait = Retry.wait

    def at_once(self, *failed, **drawn):
        return None if wait(self, *failed, **drawn) is None else 0.0

    monkeypatch.setattr(Retry, "wait", at_once)
    monkeypatch.setattr(waiting, "_LONGEST_PAUSE", 0.01)


@pytest.mark.usefixtures("soon")
def test_an_outage_is_no_drift(run, plain, server):
    server.script({"status": 503, "body": "busy", "retry_after": 0, "contains": "response"})
    done = run(*plain, "--json")
    assert done.status == 2
    assert done.fault["hint"].startswith("wait, and give the same command again")


def test_no_text_of_an_item_moves_the_cursor(run, folder):
    evil = "\x1b[2J\u202e\x07 \ud800"
    golden = [
        GoldenItem(source="s", response=f"{evil} {n}", judgement=Judgement(score=100 * (n % 2)))
        for n in range(6)
    ]
    saved_of("direct", texts=()).model_copy(update={"golden": tuple(golden)}).save(folder / "evil")
    done = run("recheck", "evil")
    assert done.status == 1
    assert "item 1: " in done.out
    assert all(one.isprintable() or one == "\n" for one in done.out + done.err)
    assert run("recheck", "evil", "--json").json["drifted"] is True


# distil

RUBRIC = "task: Judge.\ncriteria:\n  faithfulness: Is it true?\n  fluency: Is it well written?\n"


@pytest.fixture(scope="module")
def teachers(tmp_path_factory, sample_rows):
    """A judge that lists errors, with its ledger, and some texts."""
    place = tmp_path_factory.mktemp("teachers")
    rows = "".join(json.dumps(row) + "\n" for row in sample_rows[:16])
    (place / "data.jsonl").write_text(rows, encoding="utf-8")
    (place / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    files = [str(place / "data.jsonl"), "-o", str(place / "teacher")]
    options = [
        "--judge",
        "annotator",
        "--optimizer",
        "none",
        "--rubric",
        str(place / "rubric.yaml"),
    ]
    ledger = ["--ledger", str(place / "ledger.sqlite")]
    assert main(["compile", *files, *options, *ledger]) == 0
    return place


@pytest.fixture
def place(folder, teachers):
    closing = shutil.ignore_patterns("ledger.sqlite*")  # its files go when its last user does
    shutil.copytree(teachers, folder, ignore=closing, dirs_exist_ok=True)
    return folder


DISTIL = ["distil", "data.jsonl", "teacher", "-o", "student", "--ledger", "ledger.sqlite"]


def test_texts_become_chats_and_the_same_command_says_the_same(run, place):
    dry = run(*DISTIL, "--dry-run", "--json").json
    assert (dry["calls"], dry["outputs"]) == (32, 16)
    assert not (place / "student").exists()
    first = run(*DISTIL, "--validation", "0.25", "--json")
    assert first.status == 0
    assert first.json["examples"] == {"train": 24, "validation": 8}
    assert first.json["left_out"] == {}
    before = {one.name: one.read_bytes() for one in (place / "student").iterdir()}
    again = run(*DISTIL, "--validation", "0.25")
    assert "24 examples for training and 8 for validation in student" in again.out
    assert {one.name: one.read_bytes() for one in (place / "student").iterdir()} == before
    another = run(*DISTIL, "--outputs", "1", "--json")
    assert another.fault["where"] == "--output"
    assert "data of another run" in another.fault["error"]
    assert run(*DISTIL, "--outputs", "1", "--force").status == 0


# finetune


@pytest.fixture
def data_finetune(folder):
    """A folder of four examples, one of which is for validation."""
    return write_data(folder / "data", ["Is it?", "Was it?", "Will it?"], ["Can it?"])


def test_without_its_libraries_it_says_how_to_have_them(run, data_finetune, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    found = run("finetune", "data", "--base", "own/tiny", "-o", "adapter")
    assert found.status == 2
    assert found.err == ("error: training needs torch: pip install 'judgesmith[finetune]'\n")
    assert {one.name for one in data_finetune.parent.iterdir()} == {"data"}


def test_what_was_trained_is_told_and_not_trained_again(run, data_finetune, monkeypatch):
    calls = []

    def trained(chats, base, recipe, folder, *, on_progress=None):
        calls.append(recipe)
        return Trained(
            n_train=3,
            n_validation=1,
            n_too_long=0,
            steps=2,
            loss=0.5,
            validation_loss=0.25,
            device="cpu",
            versions={},
        )

    monkeypatch.setattr(adapter, "trained", trained)
    command = ["finetune", "data", "--base", "own/tiny", "-o", "adapter", "--rank", "4"]
    first, again = run(*command), run(*command)
    assert first.out == again.out
    assert "3 examples, 0 left out as too long; 2 steps on cpu\n" in first.out
    assert "loss 0.5000, 0.2500 on 1 for validation\n" in first.out
    assert [one.rank for one in calls] == [4]
    other = run(*command[:-1], "8")
    assert other.status == 2
    assert "holds an adapter of another run" in other.err
    assert run(*command[:-1], "8", "--force", "--json").json["recipe"]["rank"] == 8


def test_a_base_that_is_nowhere_is_refused_before_anybody_is_asked(run, data_finetune):
    for base in ("tiny", "./tiny", "/tiny", "a/b/c", "own/", ""):
        found = run("finetune", "data", "--base", base, "-o", "adapter", "--json")
        assert found.fault["where"] == "--base"
        assert found.fault["error"].startswith("there is no folder ")


# ``data``: public data sets into rated texts.

LINE = {
    "article": "It rained.",
    "summary_sentences": [
        {
            "sentence": "Rain.",
            "responses": [
                {"worker_id": n, "response": said} for n, said in enumerate(("yes", "no"))
            ],
        }
    ],
}


@pytest.fixture
def lines(folder):
    path = folder / "mturk_xsum.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(LINE) + "\n", encoding="utf-8")
    return path


def test_what_is_converted_can_be_checked(run, folder, lines):
    done = run("data", "convert", "qags_xsum", lines, "-o", "rated.jsonl")
    assert (done.status, done.err) == (0, "")
    assert "qags-xsum: 2 texts about 2 sources by 1 system in rated.jsonl" in done.out
    assert run("check", "rated.jsonl").status == 0
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_a_file_named_as_that_of_another_set_is_refused(run, folder, lines):
    done = run("data", "convert", "qags-cnndm", lines, "-o", "rated.jsonl")
    assert done.status == 2
    assert "mturk_xsum.jsonl is a file of qags-xsum" in done.err
    assert not (folder / "rated.jsonl").exists()
    lines.rename(folder / "mine.jsonl")
    assert run("data", "convert", "qags-cnndm", "mine.jsonl", "-o", "rated.jsonl").status == 0


# data options


@pytest.mark.parametrize(
    "given", [("1..5", "a=0..1"), ("1..5", "0..1"), ("a=1..5", "a=0..1"), ("=1..5",)]
)
def test_scales_that_cannot_be_told_apart_are_refused(given):
    with pytest.raises(ValueError):
        scales_of(given)


# check
