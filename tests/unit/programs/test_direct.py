"""A direct judge asks for a score and nothing else, of the whole or of each criterion."""

import pytest
from scripted_steps import scripted

from judgesmith.programs import ActiveCritic, DirectJudge, SavedJudge, load_judge, score_batch
from judgesmith.programs.families.direct import DirectConfig
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


def points(score):
    return ModelReply(fields={"score": score})


def saved_judge(judge):
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def test_the_whole_is_asked_for_once():
    judgement, asked = judged(DirectConfig(answers="1..5"), points(4))
    assert (judgement.score, judgement.raw, dict(judgement.criteria)) == (75, 75, {})
    assert asked == ["whole"]


def test_the_score_of_several_criteria_is_their_mean():
    judgement, asked = judged(DirectConfig(asks="criteria", rubric=TWO), points(40), points(60))
    assert judgement.score == 50
    assert {name: one.score for name, one in judgement.criteria.items()} == {
        "brevity": 40,
        "wit": 60,
    }
    assert asked == ["one_1", "one_2"]


def test_a_criterion_without_a_score_leaves_the_text_without_one():
    broken = ModelReply(cause=Cause(Reason.UNREADABLE, "it broke off"))
    judgement, asked = judged(DirectConfig(asks="criteria", rubric=TWO), broken, points(60), broken)
    assert judgement.score is None
    assert "brevity: it broke off" in judgement.problem
    assert asked == ["one_1", "one_2", "one_1"]


def test_samples_are_averaged():
    judgement, asked = judged(DirectConfig(samples=3), points(10), points(20), points(60))
    assert judgement.score == 30
    assert asked == ["whole"] * 3


@pytest.mark.parametrize("asks", ["overall", "criteria"])
@pytest.mark.parametrize("rubric", [TWO, TWO.model_copy(update={"task": ""})], ids=["task", "none"])
def test_both_ways_to_ask_give_the_same_judgement(asks, rubric):
    judge = DirectJudge(asks=asks, rubric=rubric, answers="1..5")
    (fast,) = score_batch(judge, [ITEM])
    slow = judge(source=ITEM.source, response=ITEM.response, context=None)
    assert fast.problem is None
    assert (fast.score, fast.calls) == (slow.score, slow.calls)


@pytest.mark.parametrize(
    "rubric", [Rubric(), Rubric(task="Judge a notice.")], ids=["nothing", "task"]
)
def test_the_whole_can_be_asked_for_without_criteria(rubric):
    (judgement,) = score_batch(DirectJudge(rubric=rubric), [ITEM])
    assert judgement.problem is None


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"asks": "criteria", "rubric": Rubric(task="t")}, "the rubric has none"),
        ({"judge": "active-critic"}, "direct"),
        ({"variant": "fine"}, "variant"),
        ({"demonstrations": {"whole": ({"inputs": {}, "outputs": {"x": 1}},)}}, "asks for score"),
    ],
)
def test_what_makes_no_direct_judge_is_refused(choices, said):
    with pytest.raises(ValueError, match=said):
        DirectJudge(**choices)


def test_a_protocol_of_another_family_is_refused():
    with pytest.raises(ValueError, match="expected a direct configuration"):
        DirectJudge(ActiveCritic().protocol)


@pytest.mark.no_cover
def test_every_configuration_of_its_space_is_a_judge():
    judge = DirectJudge(rubric=TWO)
    found = [judge.with_choices(one).protocol for one in judge.space().configurations()]
    assert len({one.fingerprint for one in found}) == len(found) == judge.space().size


def test_what_is_saved_is_loaded(tmp_path):
    judge = DirectJudge(asks="criteria", rubric=TWO, answers="1..5")
    saved = saved_judge(judge)
    saved.save(tmp_path / "judge")
    again = SavedJudge.load(tmp_path / "judge")
    assert again == saved
    assert isinstance(load_judge(tmp_path / "judge"), DirectJudge)
    assert score_batch(again, [ITEM]) == score_batch(judge, [ITEM])
    card = (tmp_path / "judge" / "README.md").read_text()
    assert "- judge: direct, which asks for a score" in card
    assert "- asks: criteria" in card
    assert "- score: the mean of the criteria" in card


def test_a_state_of_another_family_is_not_loaded():
    with pytest.raises(ValueError, match="of the kind active-critic"):
        DirectJudge().load_state(ActiveCritic().dump_state())
