"""A judge that is asked about some criteria asks just what it asked before, and no more."""

import pytest

from judgesmith.programs import DirectJudge, score_batch
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, narrowed, pointed_rubric
from judgesmith.programs.families.modules import AnnotatorJudge
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.aggregation import PanelRules, PanelWeights

THREE = Rubric(task="Judge.", criteria={"truth": "True?", "wit": "Funny?", "tact": "Tactful?"})
ITEM = RatedItem(source="Ann left Rome in May.", response="Then Bob left Rome.")


def saved(judge):
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def panel_of(**members):
    scales = {name: one.scale for name, one in members.items()}
    return SavedPanel(
        members=members,
        weights=PanelWeights.equal(scales),
        rules=PanelRules(),
        target="overall",
        human_scale="1..5",
    )


def test_what_it_asks_of_a_criterion_stays_the_same():
    judge = saved(AnnotatorJudge(rubric=THREE))
    some = narrowed(judge, ("truth", "tact"))
    (whole,), (part,) = score_batch(judge, [ITEM]), score_batch(some, [ITEM])
    assert part.calls == (whole.calls[0], whole.calls[2])
    assert part.criteria == {name: whole.criteria[name] for name in ("truth", "tact")}
    assert part.errors == tuple(one for one in whole.errors if one.criterion != "wit")
    assert list(judge.questions) == ["annotate_1", "annotate_2", "annotate_3"]


def test_of_a_panel_every_member_is_narrowed():
    other = Rubric(task="Other.", criteria={"wit": "Witty?", "pace": "Quick?"})
    panel = panel_of(
        ada=saved(AnnotatorJudge(rubric=THREE)), ben=saved(AnnotatorJudge(rubric=other))
    )
    assert pointed_rubric(panel).names == ("truth", "wit", "tact", "pace")
    assert pointed_rubric(panel).criteria[1].definition == "Funny?"
    assert pointed_rubric(panel).task == "Judge."
    some = narrowed(panel, ("wit",))
    assert some.calls_per_item == 2
    (found,) = score_batch(some, [ITEM])
    assert list(found.criteria) == ["wit"]
    assert {one.criterion for one in found.errors} <= {"wit"}


@pytest.mark.parametrize("names", [(), ("pace",)])
def test_a_judge_without_such_criteria_stays_as_it_is(names):
    judge = saved(AnnotatorJudge(rubric=THREE))
    assert narrowed(judge, names) is judge


def test_a_judge_of_the_whole_stays_as_it_is():
    judge = saved(AnnotatorJudge(rubric=THREE, asks="overall"))
    assert narrowed(judge, ("wit",)) is judge
    assert pointed_rubric(judge) == Rubric(task="Judge.")


def test_a_judge_that_lists_no_errors_is_refused():
    with pytest.raises(ValueError, match="the judge lists no errors; take one of the family"):
        pointed_rubric(saved(DirectJudge(rubric=THREE, asks="criteria")))
