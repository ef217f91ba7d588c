import pytest

from judgesmith.experiments import CompileSettings
from judgesmith.experiments.ablate.rows import ABLATIONS, without
from judgesmith.signatures import ActiveCriticConfig


def test_nothing_left_out_is_the_same_run():
    settings = CompileSettings(seed=3)
    assert without(settings, []) == settings


@pytest.mark.parametrize("part", ABLATIONS)
def test_each_part_can_be_left_out_and_changes_the_run(part):
    settings = CompileSettings(seed=3, n_rounds=5)
    found = without(settings, [part])
    assert found != settings
    assert (found.seed, found.n_rounds) == (3, 5)


def test_without_explanations_scores_stand_alone():
    assert without(CompileSettings(), ["explanations"]).protocol.explain == "none"


def test_without_criteria_scores_the_judge_takes_the_coarse_variant():
    assert without(CompileSettings(), ["mcs"]).protocol == ActiveCriticConfig(variant="coarse")


def test_without_an_overall_question_the_score_is_a_mean():
    assert without(CompileSettings(), ["os"]).protocol == ActiveCriticConfig(overall="mean")


def test_without_inferred_criteria_those_of_people_are_judged_on_the_same_target():
    found = without(CompileSettings(), ["criteria"])
    assert (found.criteria, found.target) == ("human", ("auto",))
    assert without(CompileSettings(target="fluency"), ["criteria"]).target == ("fluency",)


def test_parts_can_be_left_out_together():
    found = without(CompileSettings(), ["task", "search", "weights", "task"])
    assert found.inference.without == ("task",)
    assert (found.n_demonstrations, found.learn_weights) == (0, False)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["mcs", "os"], "without mcs and os nothing is scored"),
        (["serach"], "what can be left out is explanations, task, .*; got serach"),
    ],
)
def test_what_leaves_no_judge_is_refused(parts, said):
    with pytest.raises(ValueError, match=said):
        without(CompileSettings(), parts)
