"""A judge that analyses and rates: the order of words and score, and what is kept of both."""

import pytest
from scripted_steps import scripted

from judgesmith.programs import ActiveCritic, SavedJudge, load_judge, score_batch
from judgesmith.programs.families.direct import ExplainEvalConfig
from judgesmith.programs.families.modules import ExplainEvalJudge
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.judgement import Cause, Reason

TWO = Rubric(task="Judge a notice.", criteria={"brevity": "Is it short?", "wit": "Is it funny?"})
ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


def judged(protocol, *answers):
    """Return the judgement that a judge makes of these answers, and what it asked."""
    steps = family_of(protocol.judge).steps_of(protocol, source="s", response="r", context=None)
    judgement, asked = scripted(steps, answers)
    return judgement, [one.predictor for one in asked]


def said(score, explanation="It is."):
    return ModelReply(fields={"score": score, "explanation": explanation})


def test_each_criterion_has_its_score_and_its_words():
    judgement, asked = judged(ExplainEvalConfig(rubric=TWO), said(5, "One line."), said(2, "No."))
    assert judgement.score == 62.5
    assert {name: (one.score, one.explanation) for name, one in judgement.criteria.items()} == {
        "brevity": (100, "One line."),
        "wit": (25, "No."),
    }
    assert asked == ["analyse_1", "analyse_2"]


def test_the_words_about_the_whole_are_kept():
    judgement, asked = judged(ExplainEvalConfig(asks="overall"), said(4, "Good."))
    assert (judgement.score, judgement.explanation, asked) == (75, "Good.", ["analyse"])


def test_a_score_alone_has_no_words():
    protocol = ExplainEvalConfig(asks="overall", explain="none")
    judgement, _ = judged(protocol, ModelReply(fields={"score": 3}))
    assert (judgement.score, judgement.explanation) == (50, "")


def test_samples_are_averaged_and_the_first_words_stay():
    protocol = ExplainEvalConfig(asks="overall", samples=2, temperature=1)
    judgement, _ = judged(protocol, said(2, "First."), said(4, "Second."))
    assert (judgement.score, judgement.explanation) == (50, "First.")


def test_a_criterion_without_a_score_leaves_the_text_without_one():
    broken = ModelReply(cause=Cause(Reason.UNREADABLE, "it broke off"))
    judgement, asked = judged(ExplainEvalConfig(rubric=TWO), said(5), broken, broken)
    assert judgement.score is None
    assert "wit: it broke off" in judgement.problem
    assert asked == ["analyse_1", "analyse_2", "analyse_2"]


@pytest.mark.parametrize(
    ("explain", "fields"),
    [
        ("before", ["explanation", "score"]),
        ("after", ["score", "explanation"]),
        ("none", ["score"]),
    ],
)
def test_the_answer_is_asked_for_in_this_order(explain, fields):
    judge = ExplainEvalJudge(rubric=TWO, explain=explain)
    assert list(judge.analyse_1.signature.output_fields) == fields


@pytest.mark.parametrize("explain", ["before", "after", "none"])
@pytest.mark.parametrize("asks", ["overall", "criteria"])
def test_both_ways_to_ask_give_the_same_judgement(asks, explain):
    judge = ExplainEvalJudge(asks=asks, rubric=TWO, explain=explain, weighting="probabilities")
    (fast,) = score_batch(judge, [ITEM])
    slow = judge(source=ITEM.source, response=ITEM.response, context=None)
    assert fast.problem is None
    assert (fast.score, fast.calls, dict(fast.weighting)) == (
        slow.score,
        slow.calls,
        slow.weighting,
    )


@pytest.mark.parametrize("rubric", [Rubric(), Rubric(task="Judge a notice.")])
def test_the_whole_can_be_asked_for_without_criteria(rubric):
    (judgement,) = score_batch(ExplainEvalJudge(asks="overall", rubric=rubric), [ITEM])
    assert judgement.explanation


@pytest.mark.no_cover
def test_every_configuration_of_its_space_is_a_judge():
    judge = ExplainEvalJudge(rubric=Rubric(criteria={"wit": "Is it funny?"}))
    found = [judge.with_choices(one).protocol for one in judge.space().configurations()]
    assert len({one.fingerprint for one in found}) == len(found) == judge.space().size


def test_what_is_saved_is_loaded(tmp_path):
    judge = ExplainEvalJudge(rubric=TWO, explain="after")
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    saved.save(tmp_path / "judge")
    again = SavedJudge.load(tmp_path / "judge")
    assert again == saved
    assert load_judge(tmp_path / "judge").templates() == judge.templates()
    assert score_batch(again, [ITEM]) == score_batch(judge, [ITEM])


@pytest.mark.parametrize(
    ("choices", "message"),
    [({"rubric": Rubric(task="t")}, "the rubric has none"), ({"explain": "first"}, "explain")],
)
def test_what_makes_no_such_judge_is_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        ExplainEvalJudge(**choices)


def test_a_protocol_of_another_family_is_refused():
    with pytest.raises(ValueError, match="expected an explain-eval configuration"):
        ExplainEvalJudge(ActiveCritic().protocol)
