"""What was made before everything moved is loaded, and says what it said then."""

import ast
import json
import shutil
import sqlite3
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import judgesmith
from judgesmith.programs import SavedJudgeError, load_program, load_saved

BEFORE = Path(__file__).parent / "before"
JUDGES = sorted(path.name for path in (BEFORE / "judges").iterdir())
REWORDED = "annotator-prose"
"""A judge whose questions are worded otherwise today: it scores as it is saved, and no program."""
STUDY = [
    *("compile", "few.jsonl", "-o", "judge", "--judge", "direct", "--rubric", "rubric.yaml"),
    *("--optimizer", "protocol", "--trials", "3", "--choose", "weighting=none"),
    *("--holdout", ".4", "--json"),
]


@pytest.fixture
def place(story):
    """The working folder, with the texts that everything was made of."""
    story.plain.hashes_vary = False
    for name in ("few.jsonl", "rubric.yaml"):
        story.write(name, (BEFORE / name).read_text(encoding="utf-8"))
    return story.folder


@pytest.mark.parametrize("name", JUDGES)
def test_a_saved_judge_is_loaded_and_judges(story, place, name):
    saved = BEFORE / "judges" / name
    kept = json.loads((saved / "judge.json").read_text(encoding="utf-8"))
    loaded = load_saved(saved)
    assert loaded.fingerprint == kept["content_hash"][:12]
    again = loaded.save(place / "again")
    told = json.loads((again / "judge.json").read_text(encoding="utf-8"))
    assert told == kept | {"made_by": told["made_by"]}
    story.run("score", saved, "few.jsonl", "-o", "scores.jsonl", "--json")
    story.run("show", saved, text=False)


@pytest.mark.parametrize("name", JUDGES)
def test_its_program_judges_in_python(story, place, name):
    saved = load_saved(BEFORE / "judges" / name)
    if name == REWORDED:
        with pytest.raises(SavedJudgeError, match="words the judge's questions differently"):
            saved.program()
        return
    judge = saved.program()
    items = judgesmith.read("few.jsonl").items[:4]
    said = judgesmith.score_batch(judge, items)
    story.keep("scores", [one.score for one in said])
    story.keep("criteria", [{k: v.score for k, v in one.criteria.items()} for one in said])
    story.keep("problems", [one.problem for one in said])


@pytest.fixture
def answers(place, monkeypatch):
    """The ledger of the study, of before the model had editions, and the study beside it."""
    monkeypatch.setattr("judgesmith.programs.offline.OfflineEngine.edition", None)
    folder = place / ".judgesmith"
    shutil.copytree(BEFORE / "study" / "searches", folder / "searches")
    with sqlite3.connect(folder / "ledger.sqlite") as base:
        base.executescript((BEFORE / "study" / "ledger.sql").read_text(encoding="utf-8"))
    base.close()


@pytest.mark.usefixtures("answers")
def test_the_answers_of_a_search_are_found_and_tell_of_the_same_trials(story):
    done = story.run(*STUDY)
    assert (done.status, done.json["calls"]) == (0, 0)
    made, kept = (
        json.loads((folder / "judge.json").read_text(encoding="utf-8"))["history"]
        for folder in (story.folder / "judge", BEFORE / "study")
    )
    # Which of them is taken is decided by another rule since.
    tried, before = ([one for one in all_ if one["stage"] == "protocol"] for all_ in (made, kept))
    assert tried == before
    assert len(tried) == 4


@pytest.mark.usefixtures("answers")
def test_a_ledger_answers_what_it_answered(story):
    shutil.copytree(BEFORE / "study", story.folder / "judge", ignore=lambda *_: ["searches"])
    done = story.run("score", "judge", "few.jsonl", "-o", "scores.jsonl", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    lines = [
        [json.loads(line) for line in (folder / "scores.jsonl").read_text("utf-8").splitlines()]
        for folder in (story.folder, BEFORE / "study")
    ]
    assert lines[0] == lines[1]
    story.run("ledger", "stats", "--json")
    story.run("ledger", "export", "-o", "answers.jsonl", "--json")


def test_a_finished_experiment_is_found_and_reported(story, place):
    shutil.copytree(BEFORE / "run", place / "run")
    shutil.copy(place / "run" / "spec.yaml", place / "spec.yaml")
    done = story.run("experiment", "spec.yaml", "-o", "run", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    story.run("report", "run", "-o", "page.html", "--no-figures", "--json")


def rated():
    rows = pd.read_json(BEFORE / "few.jsonl", lines=True)
    return rows[["source", "response", "source_id", "system_id"]]


def test_an_mlflow_model_is_loaded_by_the_module_that_it_names(story):
    folder = BEFORE / "exported_mlflow"
    flavor = yaml.safe_load((folder / "MLmodel").read_text(encoding="utf-8"))["flavors"]
    told = flavor["python_function"]
    module = import_module(told["loader_module"])
    model = module._load_pyfunc(str(folder / told["data"]), model_config=told["config"])
    found = model.predict(rated())
    story.keep("columns", list(found.columns))
    story.keep("scores", [float(one) for one in found["score"]])


def test_a_dspy_program_is_loaded(story):
    judge = load_program(BEFORE / "exported_dspy" / "program.json")
    rows = rated().iloc[:4]
    said = [judge(source=one.source, response=one.response) for one in rows.itertuples()]
    story.keep("scores", [one.score for one in said])
    assert np.isfinite([one.score for one in said]).all()


def test_a_package_for_inspect_finds_what_it_imports():
    tree = ast.parse((BEFORE / "exported_inspect" / "__init__.py.txt").read_text(encoding="utf-8"))
    ours = [
        (node.module, name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("judgesmith")
        for name in node.names
    ]
    assert ours
    assert all(callable(getattr(import_module(module), name)) for module, name in ours)
