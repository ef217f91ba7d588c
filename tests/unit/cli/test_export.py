"""The command line of exports: what it says, and what it asks of a model."""

import json

import loopback_offline
import pytest
from exporting import saved_of

from judgesmith.cli import main
from judgesmith.programs.exporting.prompt import Prompt


@pytest.fixture(scope="module")
def running_server():
    with loopback_offline.serving() as server:
        yield server


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a judge of the offline model, and one of a model with a server."""
    monkeypatch.chdir(tmp_path)
    saved_of(variant="coarse").save("judge")
    saved_of(variant="coarse", model="openai/m").save("served")
    return tmp_path


@pytest.mark.parametrize(("form", "place"), [("python", "judge.py"), ("dspy", "program")])
def test_a_judge_of_the_offline_model_is_verified_each_time(form, place, folder, capsys):
    assert main(["export", "judge", "--to", form, "-o", place]) == 0
    assert "verified: 2 of 2 golden items judged the same" in capsys.readouterr().out
    assert (folder / place).exists()


def test_a_name_that_cannot_be_imported_is_told(folder, capsys):
    for name, n_notes in (("class.py", 1), ("my-judge.py", 1), ("judge.py", 0)):
        assert main(["export", "judge", "--to", "python", "-o", name]) == 0
        assert capsys.readouterr().out.count("note: Python cannot import") == n_notes
    assert "from my_judge import judge" in (folder / "class.py").read_text("utf-8")


def test_prompts_do_not_run(folder, capsys):
    assert main(["export", "judge", "--to", "prompt", "-o", "prompts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is None


def test_other_models_are_asked_only_if_that_is_said_and_nothing_twice(folder, server, capsys):
    command = ["export", "served", "--to", "python", "-o", "judge.py", "--force"]
    assert main(command) == 0
    assert "give --verify" in capsys.readouterr().out
    assert server.counts()["requests"] == 0
    command += ["--verify", "--api-base", server.url]
    assert main(command) == 2
    assert server.counts()["requests"] == 0
    assert main([*command, "--allow-model", "openai/m"]) == 0
    assert "verified: 2 of 2" in capsys.readouterr().out
    counts = server.counts()
    assert (counts["requests"], counts["repeated"]) == (2, 0)


def test_a_form_that_judges_otherwise_is_said_and_ends_with_one(folder, monkeypatch, capsys):
    def judged(self, place, saved, lms):
        return [{"score": None, "problem": "no.", "criteria": {}} for _ in saved.golden]

    monkeypatch.setattr(Prompt, "judged", judged)
    assert main(["export", "judge", "--to", "prompt", "-o", "out", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["verified"]
    assert (found["items"], found["equal"]) == (2, 0)
    assert found["differences"][1] == {
        "item": 0, "field": "problem", "saved": None, "exported": "no."
    }  # fmt: skip
    assert main(["export", "judge", "--to", "prompt", "-o", "out", "--force"]) == 1
    assert "item 1, problem: None by the judge, 'no.' by it" in capsys.readouterr().out


def test_where_the_model_cannot_be_asked_nothing_is_written(folder, server, monkeypatch, capsys):
    server.script({"status": 401, "body": "{}"})
    command = ["export", "served", "--to", "python", "-o", "judge.py", "--verify"]
    command += ["--allow-model", "openai/m"]
    assert main([*command, "--api-base", server.url]) == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    assert main([*command, "--ledger", "other.sqlite"]) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert not (folder / "judge.py").exists()


def test_a_judge_without_texts_is_written_but_not_verified(folder, capsys):
    saved_of(variant="vanilla", texts=()).save("bare")
    command = ["export", "bare", "--to", "python", "-o", "bare.py"]
    assert main([*command, "--verify"]) == 2
    assert "saved without texts" in capsys.readouterr().err
    assert main(command) == 0
    assert "it has no golden items" in capsys.readouterr().out


def test_a_judge_that_a_form_cannot_carry_is_refused_with_those_that_can(folder, capsys):
    saved_of("annotator", texts=()).save("annotator")
    assert main(["export", "annotator", "--to", "python", "-o", "judge.py"]) == 2
    said = capsys.readouterr().err
    assert "the form python cannot carry this annotator judge: judges of the kind" in said
    assert "(choose from dspy" in said
