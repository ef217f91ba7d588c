import numpy as np
import pytest

from judgesmith.experiments.evaluate.perspectives.perspectives import (
    asked_on,
    sampled_once,
    scores_of_judge,
)
from judgesmith.experiments.evaluate.perspectives.report import ratings_of
from judgesmith.programs import ActiveCritic
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel
from judgesmith.programs.families.modules import GEvalJudge, PromptFormatJudge
from judgesmith.signatures import Judgement, Rubric, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.scale import PERCENT

TEN = Scale(low=1, high=10)
WIT = Rubric(task="Judge a notice.", criteria={"wit": "Is it funny?"})


def saved(judge):
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def test_a_judge_is_asked_on_another_scale_in_words_that_say_so():
    one = saved(ActiveCritic(rubric=WIT, samples=3))
    asked, why = asked_on(one, TEN, 1.0)
    assert why is None
    assert (asked.protocol.samples, asked.protocol.temperature) == (1, 1.0)
    assert asked.protocol.answers == TEN
    assert asked.templates() != one.questions
    assert (one.protocol.samples, one.protocol.answers) == (3, PERCENT)


def test_on_its_own_scale_it_keeps_the_words_it_was_saved_with():
    one = saved(ActiveCritic(rubric=WIT))
    asked, why = asked_on(one, PERCENT, 0.7)
    assert (asked.questions, asked.protocol.temperature, why) == (one.questions, 0.7, None)


def test_what_weighs_by_probabilities_is_taken_by_what_it_states():
    one = saved(GEvalJudge(rubric=WIT))
    assert one.protocol.weighting == "probabilities"
    assert sampled_once(one, 1.0).protocol.weighting == "none"
    assert asked_on(one, TEN, 1.0)[0].protocol.weighting == "none"


def test_families_that_know_one_scale_keep_it_and_say_so():
    asked, why = asked_on(saved(PromptFormatJudge(rubric=WIT)), TEN, 1.0)
    assert why == "prometheus answers on 1..5 whatever is asked for"
    assert (asked.protocol.answers.high, asked.protocol.temperature) == (5, 1.0)


def test_judges_that_hold_others_are_not_sampled():
    members = {"a": saved(ActiveCritic(rubric=WIT)), "b": saved(ActiveCritic(rubric=WIT))}
    panel = SavedPanel(
        members=members,
        weights=PanelWeights.equal({name: one.scale for name, one in members.items()}),
        target="overall",
        human_scale="1..5",
    )
    with pytest.raises(ValueError, match="holds others combines"):
        asked_on(panel, TEN, 1.0)


def test_learned_scores_beyond_their_scale_are_ordered_and_rated_at_its_end():
    judgements = {n: (Judgement(score=score),) for n, score in enumerate((99.0, 101.0, 130.0))}
    found = scores_of_judge(judgements, 3, "wit", own="wit", scale=PERCENT, alone=False)
    assert found.values.ravel().tolist() == [99, 101, 130]
    assert ratings_of(found, np.arange(1.0, 6.0))[0].tolist() == [5, 5, 5]
