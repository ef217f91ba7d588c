import json

import numpy as np
import pytest
from discerning import TYPOS, scored, texts

from judgesmith.data import DataSet, read_scores, stream_items
from judgesmith.experiments import discern
from judgesmith.experiments.robustness.discernment_folder import (
    check_discerned,
    run_of,
    save_discerned,
)
from judgesmith.experiments.robustness.perturbed_rows import get_perturbed
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet


def saved(folder, given, run="r"):
    n = len(given.originals)
    rows = [[None if one is None else [40.0 - i] for i, one in enumerate(given.versions[0])]]
    scores = scored(np.full((n, 1), 50.0), rows)
    found = discern(scores, given, rng=np.random.default_rng(0), n_resamples=20)
    save_discerned(folder, found, scores, given, marks={"run": run, "judge": "j"})
    return found


def test_what_is_saved_is_read_as_scores_of_versions(tmp_path):
    folder = tmp_path / "out"
    given = texts(6, TYPOS, without={(TYPOS.name, 2)})
    found = saved(folder, given)
    assert json.loads((folder / "report.json").read_text())["run"] == "r"
    rows = tuple(stream_items(folder / "versions.jsonl"))
    assert len(get_perturbed(DataSet(name="v", items=rows)).originals) == 6
    scores = read_scores(folder / "scores.jsonl", DataSet(name="v", items=rows))
    assert scores.values.tolist()[:2] == [50.0, 40.0]
    assert len(rows) == 6 + found.kinds[0].n_versions


def test_an_original_of_several_pairs_stands_there_once(tmp_path):
    given = texts(6, TYPOS)
    twice = PerturbedSet(
        name="twice",
        originals=(*given.originals, given.originals[0]),
        kinds=given.kinds,
        versions=((*given.versions[0], given.versions[0][1]),),
    )
    saved(tmp_path / "out", twice)
    lines = (tmp_path / "out" / "scores.jsonl").read_text().splitlines()
    assert len(lines) == 12


@pytest.mark.parametrize("text", ["\ud800", "\u2028", "\x00", "\u202e", "😀" * 99, ""])
def test_any_text_can_be_saved(tmp_path, text):
    given = texts(5, TYPOS)
    originals = tuple(one.model_copy(update={"response": text}) for one in given.originals)
    odd = PerturbedSet(name="odd", originals=originals, kinds=given.kinds, versions=given.versions)
    saved(tmp_path / "out", odd)
    for name in ("versions.jsonl", "scores.jsonl"):
        for line in (tmp_path / "out" / name).read_text(encoding="utf-8").split("\n")[:-1]:
            json.loads(line)


def test_another_runs_test_is_replaced_by_force_alone(tmp_path):
    folder = tmp_path / "out"
    saved(folder, texts(5, TYPOS))
    check_discerned(folder, "r", force=False)
    check_discerned(folder, "other", force=True)
    with pytest.raises(FileExistsError, match="of another run"):
        check_discerned(folder, "other", force=False)


@pytest.mark.parametrize("content", ["", "[]", "{}", "\x00"])
def test_nothing_else_is_ever_replaced(tmp_path, content):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report.json").write_text(content)
    with pytest.raises(FileExistsError, match="something else"):
        check_discerned(folder, "r", force=True)


def test_a_test_with_a_file_of_somebody_beside_it_is_not_replaced(tmp_path):
    folder = tmp_path / "out"
    saved(folder, texts(5, TYPOS))
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        check_discerned(folder, "r", force=True)


def test_runs_are_told_apart():
    assert run_of("a", None) == run_of("a", None)
    assert run_of("a", None) != run_of("a", 0)
