import dspy
import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.starting import better_start
from judgesmith.experiments.compile.tuning import Tuning
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import model
from judgesmith.signatures import Judgement, Rubric
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

GENERAL = ActiveCritic()
INFERRED = ActiveCritic(rubric=Rubric(criteria={"wit": "Is it funny?"}))
SETTINGS = CompileSettings()


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


@pytest.fixture(scope="module")
def parts(data):
    return parts_of(data, chosen_targets(data, SETTINGS), SETTINGS)


@pytest.fixture
def chosen(parts, monkeypatch):
    """Choose between judges whose scores follow people with so much noise, nan for none."""

    def choose(general, inferred, name="openai/m"):
        rng = np.random.default_rng(0)
        people = parts.selection.human
        shared = rng.normal(size=len(people))
        noise = {id(GENERAL): general, id(INFERRED): inferred}

        def judged(self, judge, rows, stage):
            own = noise[id(judge)]
            scores = people + (own if np.ndim(own) else own * shared)
            return [
                Judgement.unscored("lost") if np.isnan(one) else Judgement(score=one, raw=one)
                for one in scores
            ]

        monkeypatch.setattr(Tuning, "judged", judged)
        lm = dspy.LM(name, cache=False) if name != "offline" else model(ledger=None)
        work = Tuning(settings=SETTINGS, targets=("score",), lm=lm, concurrency=1, progress=None)
        return better_start(work, parts, GENERAL, INFERRED), work

    return choose


def test_a_rubric_that_clearly_agrees_better_is_taken_whatever_the_model(chosen):
    for name in ("openai/m", "offline"):
        assert chosen(5.0, 0.2, name)[0] is INFERRED
        assert chosen(0.2, 5.0, name)[0] is GENERAL


def test_of_two_that_agree_alike_a_language_model_keeps_what_it_inferred(chosen):
    assert chosen(1.0, 1.0)[0] is INFERRED
    assert chosen(1.0, 1.0, "offline")[0] is GENERAL


def test_where_nothing_can_be_told_apart_the_same_holds(chosen, parts):
    lost = np.full(len(parts.selection), np.nan)
    assert chosen(lost, lost)[0] is INFERRED
    assert chosen(lost, lost, "offline")[0] is GENERAL


def test_a_rubric_that_leaves_many_rows_without_a_score_loses(chosen, parts):
    some = np.zeros(len(parts.selection))
    some[: len(some) // 10] = np.nan
    assert chosen(5.0, some)[0] is GENERAL
    assert chosen(some, 5.0, "offline")[0] is INFERRED


def test_what_was_compared_is_on_record(chosen):
    _, work = chosen(0.2, 5.0)
    assert [one["taken"] for one in work.history] == [True, False]
    assert "the general task and criteria were taken: q " in work.notes[0]
    _, work = chosen(5.0, 0.2)
    assert "the inferred task and criteria were taken: q " in work.notes[0]


@pytest.mark.no_cover
def test_only_an_unasked_for_inference_has_to_compete(data):
    found = compile_judge(
        data.subset(range(60)),
        CompileSettings(n_rounds=1, criteria="inferred"),
        lm=model(ledger=None),
    )
    assert found.saved.protocol.rubric.names != DEFAULT_RUBRIC.names
    assert "rubric" not in {one["stage"] for one in found.saved.history}
    assert not CompileSettings(inference={"without": ("task",)}).rubrics_compete
    assert CompileSettings().rubrics_compete
