"""Read rated texts, compile, evaluate and compare in Python, and all that stands beside it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import judgesmith
from judgesmith import data as d
from judgesmith import experiments as e
from judgesmith.programs import (
    ActiveCritic,
    AnnotatorJudge,
    DirectJudge,
    PairwiseJudge,
    SavedCalibrated,
    SavedPanel,
    load_saved,
)

BEFORE = Path(__file__).parents[1] / "system" / "before"


def rng():
    return np.random.default_rng(5)


@pytest.fixture
def data():
    """Rated texts from the bundled sample: three responses to each of 18 sources."""
    rows = judgesmith.read("sample")
    return rows.subset([place for place in range(72) if place % 4 != 3])


@pytest.fixture
def judge():
    """A judge that was made before the move, by its family."""
    return lambda name: load_saved(BEFORE / "judges" / name)


def scored(folder, saved, data, name="scores.jsonl"):
    e.score_file(saved, iter(data.items), folder / name)
    return folder / name


def test_reading(keep, folder):
    data = judgesmith.read("sample")
    assert isinstance(data, judgesmith.DataSet)
    assert judgesmith.DataSet is d.DataSet
    keep("sample", {"rows": len(data), "notes": data.notes, "first": data[0]})
    table = pd.DataFrame({"article": ["a long text"], "summary": ["a text"], "rating": [4]})
    keep("table", d.read_items(table, scale="1..5"))
    columns = d.ColumnMap.parse("response=summary,source=article,score=rating")
    keep("columns", columns)
    keep("mapped", judgesmith.read(table, columns=columns, scale="1..5"))
    table.to_csv(folder / "one.csv", index=False)
    other = table.assign(article="another text")
    other.to_json(folder / "two.jsonl", orient="records", lines=True)
    keep("streamed", list(d.stream_items(folder / "one.csv")))
    keep("together", d.read_many([folder / "one.csv", folder / "two.jsonl"], scale="1..5"))
    (folder / "bad.jsonl").write_text('{"response": 1}\n{}\n', encoding="utf-8")
    with pytest.raises(judgesmith.DataError) as caught:
        judgesmith.read(folder / "bad.jsonl")
    assert judgesmith.DataError is d.DataError
    assert all(isinstance(one, d.Problem) for one in caught.value.problems)
    keep("problems", caught.value.problems)


def test_describing(keep, data):
    found = e.describe(data, seed=rng())
    assert isinstance(found, e.Description)
    keep("description", found)
    targets = d.targets_of(data, "faithfulness+fluency", "median")
    assert isinstance(targets, d.Targets)
    keep("targets", targets)


def test_inferring(keep, data):
    run = e.InferenceRun(target="fluency", holdout=0.5)
    found = judgesmith.infer(data, run)
    assert judgesmith.infer is e.infer_rubric
    assert isinstance(found, e.InferenceResult)
    keep("inferred", found)


def test_compiling(keep, data):
    settings = judgesmith.CompileSettings(n_rounds=1, criteria="given", seed=1)
    assert isinstance(settings, e.CompileSettings)
    found = judgesmith.compile(data, settings)
    assert judgesmith.compile is e.compile_judge
    assert isinstance(found, e.CompileResult)
    keep("heldout", found.heldout["dataset"])
    keep("gain", found.gain["dataset"])
    keep("objective", found.objective)
    keep("told", {"complete": found.complete, "notes": found.notes, "rows": found.saved.rows})
    nxt = judgesmith.compile(data, settings, earlier=found.saved)
    assert nxt.saved.settings["earlier"] == found.saved.fingerprint
    assert nxt.saved.fingerprint != found.saved.fingerprint


def test_evaluating(keep, folder, data, judge):
    found = judgesmith.evaluate(judge("active-critic"), data, seed=rng())
    assert judgesmith.evaluate is e.evaluate_judge
    assert isinstance(found, e.Evaluation)
    keep("judge", {name: getattr(found, name) for name in ("target", "n_unseen", "n_seen")})
    keep("unseen", found.unseen)
    keep("besides", found.besides)
    path = scored(folder, judge("direct"), data)
    scores = judgesmith.read_scores(path, data)
    assert judgesmith.read_scores is d.read_scores
    found = e.evaluate_scores(scores, data, d.targets_of(data), seed=rng())
    keep("scores", found)


def test_comparing(keep, data):
    first, second = ActiveCritic(variant="coarse"), DirectJudge()
    found = judgesmith.compare(first, second, data, seed=rng(), objective="kendall@sample")
    assert judgesmith.compare is e.compare_judges
    assert isinstance(found, e.Comparison)
    keep("found", found.gain)
    keep("tests", found.tests)


def test_scoring(keep, folder, data, judge):
    few = data.subset(range(9))
    path = scored(folder, judge("direct"), few)
    keep("rows", [json.loads(line) for line in path.read_text("utf-8").splitlines()], whole=False)
    done = e.score_shards(judge("direct"), [path_of(folder, few)], f"{folder}/out/", ending=".csv")
    keep("shards", {"rows": done.n_rows, "unscored": done.n_unscored})
    with pytest.raises(judgesmith.MissingExtraError):
        e.score_dataset([], judge("direct"))
    with pytest.raises(judgesmith.MissingExtraError), e.ray_judging(judge("direct")):
        pass
    assert issubclass(e.ClusterError, judgesmith.JudgesmithError)


def path_of(folder, data):
    """Write texts to a file."""
    path = folder / "texts.jsonl"
    rows = [one.model_dump(mode="json", include={"source", "response"}) for one in data]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_panels(keep, judge):
    rows = judgesmith.read("sample")
    unseen = rows.subset(range(72, 160))
    members = {name: judge(name) for name in ("direct", "annotator")}
    found = e.learn_panel(members, unseen, e.PanelSettings(n_rounds=3))
    assert isinstance(found, e.LearnedPanel)
    assert isinstance(found.saved, SavedPanel)
    keep("best", {"best": found.best, "notes": found.notes, "rows": found.saved.rows})
    keep("gain", found.gain["dataset"])
    learned = e.calibrate_judge(judge("direct"), unseen, confidence=0.8)
    assert isinstance(learned.saved, SavedCalibrated)
    keep("calibration", learned.saved.calibration)


def test_versions(keep, folder, data):
    changes = e.PerturbationConfig(kinds=("character_typos", "negation", "controls"), seed=3)
    originals = e.get_originals(data.subset(range(12)))
    versions = e.perturb_texts(originals.items, changes, name="answers")
    assert isinstance(versions, e.PerturbedSet)
    e.write_perturbed(versions, folder / "versions.jsonl")
    again = e.get_perturbed(judgesmith.read(folder / "versions.jsonl"))
    keep("kinds", [one.name for one in again.kinds])
    keep("texts", [[one and one.response for one in row] for row in again.versions])
    found = e.discern(
        e.score_perturbed(AnnotatorJudge(), versions, by="score"),
        versions,
        seed=rng(),
        n_resamples=100,
    )
    assert isinstance(found, e.Discerned)
    keep("found", found, whole=False)
    written = judgesmith.read(folder / "versions.jsonl")
    path = scored(folder, load_saved(BEFORE / "judges" / "direct"), written)
    scores = d.read_scores(path, written)
    kept = e.recorded_versions(scores, written, again, by="score")
    keep("recorded", kept, whole=False)


def test_drifting(keep, folder, data, judge):
    saved = judge("vanilla")
    before = e.reference_distribution(saved)
    now = e.load_scores(scored(folder, saved, data), judge=saved.fingerprint, seed=rng())
    found = e.drift_between(before, now.snapshot)
    assert isinstance(found, e.DriftReport)
    keep("shifts", found.shifts, whole=False)
    checked = e.recheck_judge(saved, e.RecheckSettings(samples=2))
    assert isinstance(checked, e.RegressionReport)
    keep("recheck", checked, whole=False)
    keep("drifted", {"drifted": checked.drifted})


def test_suggesting(keep, folder, data, judge):
    rows = [one.model_copy(update={"human": {}}) for one in data]
    pool = judgesmith.DataSet(name="pool", items=tuple(rows))
    found = e.suggest(judge("direct"), pool, n=4, n_random=2, seed=2)
    assert isinstance(found, e.Suggestions)
    keep("rows", [(one.source_id, one.system_id, why) for one, why in found.rows])
    scale = {"tone": judgesmith.Scale(low=1, high=5)}
    keep("n", {"rows": d.write_rating_sheet(found.rows, scale, folder / "rate.csv")})
    keep("sheet", (folder / "rate.csv").read_text(encoding="utf-8-sig").splitlines()[0])


def test_preferences(keep, folder, data):
    path = folder / "pairs.jsonl"
    rows = [
        {
            "source_id": item.source_id,
            "system_id": f"{item.system_id}|{other.system_id}",
            "criterion": "overall",
            "judge": "them",
            "scores": [float(len(item.response) > len(other.response))],
        }
        for item, other in zip(data.items[::3], data.items[1::3], strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    answers = d.read_recorded(path, data)
    assert isinstance(answers, d.PairedAnswers)
    found = e.evaluate_preferences(answers, data, d.targets_of(data))
    assert isinstance(found, e.PreferenceEvaluation)
    keep("found", found)


@pytest.fixture
def built(data):
    """Texts that lose words step by step, as a benchmark holds them."""
    items = []
    for place, row in enumerate(data.items[::6]):
        words = row.source.split()[:20]
        items += [
            judgesmith.RatedItem(
                source_id=f"s{place}",
                system_id=f"faithfulness-{step}",
                source=row.source,
                response=f"{place}: {' '.join(words[: 20 - 6 * step])}",
                human={"faithfulness": (2 - step,)},
                scale={"faithfulness": judgesmith.Scale(low=0, high=2)},
                extra={"provenance": {"perspective": "local", "n_errors": step}},
            )
            for step in range(3)
        ]
    return judgesmith.DataSet(name="built", items=tuple(items))


def test_perspectives(keep, folder, built, judge):
    for perspective in ("global", "local"):
        found = e.perspective_of_judge(
            judge("active-critic"), built, perspective=perspective, seed=rng()
        )
        assert isinstance(found, e.PerspectiveReport)
        keep(perspective, found, whole=False)
    path = scored(folder, judge("active-critic"), built)
    scores = e.recorded_by_criterion(path, built)
    keep("criteria", sorted(scores))
    found = e.perspective_of_scores(scores, built, perspective="local", seed=rng())
    keep("scores", found, whole=False)
    compared = e.compare_directly(
        PairwiseJudge(), built, "faithfulness", samples=1, differences=(1, 2)
    )
    assert isinstance(compared, e.DirectComparison)
    keep("directly", compared)


def test_benchmarks(keep, data):
    settings = e.BenchmarkSettings(
        perspective="local", n_sources=1, n_candidates=1, steps=2, criteria=("fluency",)
    )
    made = e.build_benchmark(data, settings)
    assert isinstance(made, e.Benchmark)
    keep("rows", list(made.rows))


def test_ablating(keep, data):
    quick = judgesmith.CompileSettings(holdout=0.5, n_rounds=1)
    table = e.ablation(data, quick, rows=["coarse", "without-mcs"])
    assert isinstance(table, e.AblationTable)
    keep("table", table, whole=False)
    keep("names", [(row.block, row.name) for row in table.rows])
