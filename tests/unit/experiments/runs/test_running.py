import json
import sys

import pytest

from judgesmith import InputError
from judgesmith.experiments.runs import RunFolder, RunModels, run_cells
from judgesmith.experiments.runs.claims import claimed
from judgesmith.experiments.runs.folder import Made
from judgesmith.experiments.runs.making import Maker
from judgesmith.experiments.specs import cells_of, read_sets, spec_of
from judgesmith.programs.lm import lm_client_of

TWO = """
name: two
data: {answers: {path: rated.jsonl, targets: [overall]}}
judges: {plain: {judge: direct}, coarse: {variant: coarse}, both: {panel: [plain, coarse]}}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture
def two(study):
    return spec_of(TWO, folder=str(study))


def files_of(folder):
    """Return what decides: all files of cells but what they took this time."""
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for path in sorted((folder.path / "cells").rglob("*"))
        if path.is_file() and path.name != "usage.json"
    }


def test_a_finished_cell_is_not_run_again(two, tmp_path, monkeypatch):
    folder = RunFolder.opened(tmp_path / "run", two)
    assert run_cells(two, folder).complete
    monkeypatch.setattr(Maker, "made", None)
    assert run_cells(two, RunFolder.opened(tmp_path / "run", two)).complete


def test_a_run_that_broke_off_ends_as_an_undisturbed_one(two, tmp_path, monkeypatch):
    whole = RunFolder.opened(tmp_path / "whole", two)
    models = RunModels(two, whole.ledger)
    run_cells(two, whole, models=models)
    calls = sum(lm_client_of(lm).usage.calls for lm in models.made)
    broken = RunFolder.opened(tmp_path / "broken", two)
    keep = RunFolder.keep

    def killed(self, cell, made):
        if cell.judge == "coarse":
            raise KeyboardInterrupt
        keep(self, cell, made)

    first = RunModels(two, broken.ledger)
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            run_cells(two, broken, models=first)
    assert list((broken.path / "claims").iterdir()) == []
    second = RunModels(two, broken.ledger)
    assert run_cells(two, broken, models=second).complete
    assert files_of(broken) == files_of(whole)
    paid = sum(lm_client_of(lm).usage.calls for models in (first, second) for lm in models.made)
    assert paid == calls


def test_a_budget_is_that_of_the_whole_run_and_more_of_it_goes_on(study, tmp_path):
    def declared(calls):
        return spec_of(f"{TWO}budget: {{calls: {calls}}}\n", folder=str(study))

    small = RunFolder.opened(tmp_path / "run", declared(60))
    found = run_cells(declared(60), small)
    assert [cell.judge for cell in found.finished] == ["plain"]
    assert "the budget ended" in found.unfinished["answers.overall.coarse.none.offline.0"]
    assert "its member" in found.unfinished["answers.overall.both.none.offline.0"]
    assert not found.failed
    more = declared(1000)
    folder = RunFolder.opened(tmp_path / "run", more)
    models = RunModels(more, folder.ledger)
    assert run_cells(more, folder, models=models).complete
    (lm,) = models.made
    assert lm_client_of(lm).spent.calls == 96
    assert lm_client_of(lm).usage.calls == 36


def test_a_cell_that_fails_says_why_and_is_tried_again(two, tmp_path, monkeypatch):
    made = Maker.made

    def failing(self, cell):
        if cell.judge == "plain":
            raise InputError("the rows are of\nno use.")
        return made(self, cell)

    folder = RunFolder.opened(tmp_path / "run", two)
    told = []
    with monkeypatch.context() as patch:
        patch.setattr(Maker, "made", failing)
        found = run_cells(two, folder, told=lambda *one: told.append(one))
    plain, _, both = cells_of(two)
    assert found.failed == {
        plain.id: "the rows are of no use.",
        both.id: f"its member {plain.id} has no scores",
    }
    assert [(cell.judge, state) for cell, state, _ in told] == [
        ("plain", "failed"),
        ("coarse", "finished"),
        ("both", "failed"),
    ]
    assert folder.failure(plain).kind == "InputError"
    log = [json.loads(line) for line in (folder.path / "log.jsonl").read_text().splitlines()]
    assert [(one["cell"], one["state"]) for one in log[:2]] == [
        (plain.id, "begun"),
        (plain.id, "failed"),
    ]
    assert run_cells(two, folder).complete
    assert folder.failure(plain) is None


def test_a_cell_that_somebody_else_is_at_is_waited_for(two, tmp_path, monkeypatch):
    folder = RunFolder.opened(tmp_path / "run", two)
    plain, coarse, both = cells_of(two)
    elsewhere = claimed(folder.claim_of(plain))
    assert elsewhere.__enter__()
    naps = []

    def sleep(seconds):
        naps.append(seconds)
        assert folder.is_finished(coarse)
        assert not folder.is_finished(both)
        elsewhere.__exit__(None, None, None)

    monkeypatch.setattr("judgesmith.experiments.runs.running.time.sleep", sleep)
    assert run_cells(two, folder).complete
    assert len(naps) == 1


def test_each_cell_costs_the_same_however_many_there_are(study, tmp_path, monkeypatch):
    """Steps of Python and characters of JSON, counted: a run is linear in its cells."""
    monkeypatch.setattr(
        Maker,
        "made",
        lambda self, cell: Made(
            result={"rows": {"heldout": 0, "unscored": 0}}, scores=[], saved=None, usage={}
        ),
    )
    loads = json.loads

    def steps(n_seeds):
        spec = spec_of(f"{TWO}seeds: {list(range(n_seeds))}\n", folder=str(study))
        folder = RunFolder.opened(tmp_path / str(n_seeds), spec)
        models, sets = RunModels(spec, folder.ledger), read_sets(spec)
        found = 0

        def count(*_):
            nonlocal found
            found += 1

        def reading(text, **options):
            nonlocal found
            found += len(text)
            return loads(text, **options)

        with monkeypatch.context() as patch:
            patch.setattr(json, "loads", reading)
            sys.setprofile(count)
            try:
                done = run_cells(spec, folder, models=models, sets=sets)
            finally:
                sys.setprofile(None)
        assert len(done.finished) == 3 * n_seeds
        return found

    steps(1)  # what is loaded or cached once
    few, many = steps(15), steps(120)
    assert many < 10 * few
