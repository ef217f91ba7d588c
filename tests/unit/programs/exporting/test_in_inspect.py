"""Exported scorers in Inspect AI itself: golden items get their scores, and none is never 0."""

import gc
import importlib.util
import math
import sys

import pytest
from exporting import saved_of

from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.inspect_scorer import inspect_scorer

# What the library warns of while it is imported is no matter of ours.
pytestmark = [pytest.mark.inspect, pytest.mark.no_cover, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def evaluated(tmp_path, monkeypatch):
    """Run an evaluation offline: every sample is answered with what its metadata says."""
    # The library is in the environment of its service alone.
    if importlib.util.find_spec("inspect_ai") is None:
        pytest.skip("pip install 'judgesmith[inspect]'")
    inspect_ai, dataset, model, solver = (
        importlib.import_module(f"inspect_ai{part}")
        for part in ("", ".dataset", ".model", ".solver")
    )
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))

    @solver.solver
    def answered():
        async def solve(state, generate):
            said = state.metadata["answer"]
            made = model.ModelOutput
            state.output = made() if said is None else made.from_content("mockllm/model", said)
            return state

        return solve

    def run(scorer, samples):
        data = dataset.MemoryDataset(
            [dataset.Sample(input=source or "-", metadata=about) for source, about in samples]
        )
        task = inspect_ai.Task(dataset=data, solver=answered(), scorer=scorer)
        (log,) = inspect_ai.eval(task, model="mockllm/model", display="none")
        assert log.status == "success", log.error
        return log

    yield run
    # Streams that the library leaves open are warned of here, where that is expected.
    gc.collect()


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """Export a judge and import what was written."""

    def package(saved):
        export_judge(saved, "inspect", tmp_path / "my_judge")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "my_judge", raising=False)
        return importlib.import_module("my_judge")

    return package


def samples_of(saved):
    return [(one.source, {"answer": one.response, "context": one.context}) for one in saved.golden]


@pytest.mark.parametrize("family", ["active-critic", "direct", "annotator"])
def test_golden_items_get_their_scores(evaluated, imported, family):
    saved = saved_of(family)
    log = evaluated(imported(saved).judge_scorer(max_calls=100), samples_of(saved))
    for one, sample in zip(saved.golden, log.samples, strict=True):
        (score,) = sample.scores.values()
        assert score.value == pytest.approx(one.judgement.score)
        assert score.explanation == (one.judgement.explanation or None)
        assert score.metadata["judge"] == saved.fingerprint
        assert set(score.metadata.get("criteria", {})) == set(one.judgement.criteria)
    (result,) = log.results.scores
    mean = sum(one.judgement.score for one in saved.golden) / len(saved.golden)
    assert result.metrics["mean"].value == pytest.approx(mean)


def test_a_sample_without_a_response_is_unscored_and_left_out_of_means(evaluated):
    saved = saved_of("direct")
    log = evaluated(inspect_scorer(saved), [*samples_of(saved), ("Why?", {"answer": None})])
    (score,) = log.samples[-1].scores.values()
    assert math.isnan(score.value)
    assert "no response" in score.explanation
    (result,) = log.results.scores
    mean = sum(one.judgement.score for one in saved.golden) / len(saved.golden)
    assert (result.unscored_samples, result.metrics["mean"].value) == (1, pytest.approx(mean))


def test_a_budget_that_is_spent_leaves_samples_unscored_with_the_reason(evaluated):
    saved = saved_of("direct")
    log = evaluated(inspect_scorer(saved, max_calls=1), samples_of(saved))
    scores = [score for sample in log.samples for score in sample.scores.values()]
    (unscored,) = [one for one in scores if math.isnan(one.value)]
    assert "the budget of 1 calls is spent" in unscored.metadata["problem"]
    assert unscored.reason == "grader_failed"


def test_the_source_can_stand_in_the_metadata(evaluated):
    saved = saved_of("direct")
    samples = [("-", {**about, "article": source}) for source, about in samples_of(saved)]
    log = evaluated(inspect_scorer(saved, source="article"), samples)
    found = [score.value for sample in log.samples for score in sample.scores.values()]
    assert found == pytest.approx([one.judgement.score for one in saved.golden])
