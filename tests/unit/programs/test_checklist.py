"""A checklist judge asks yes or no, and a criterion's score is the share of yes, or its chance."""

import math

import pytest
from scripted_steps import scripted

from judgesmith.programs import SavedJudge, family_of, load_judge, score_batch
from judgesmith.programs.families.checklist import ChecklistConfig, checklist_steps
from judgesmith.programs.families.modules import ChecklistJudge
from judgesmith.programs.judging.ask_once import QUESTIONS
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.lm import LMClient, ModelAnswer, TokenLogprob
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.judgement import Cause, Reason

TWO = Rubric(
    task="Judge a notice.", criteria={"brevity": "Is it short?", "wit": "it makes one laugh"}
)
ASKED = {"brevity": ("Is it one sentence?", "Is it free of asides?")}
ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")


def judged(protocol, *answers):
    """Return the judgement that a judge makes of these answers, and what it asked."""
    steps = checklist_steps(protocol, source="s", response="r")
    judgement, asked = scripted(steps, answers)
    return judgement, [one.predictor for one in asked]


def said(word):
    return ModelReply(fields={"score": word})


class Chancy:
    """A model that says yes or no by a chance per question, with or without log-probabilities."""

    endpoint = "chancy"

    def __init__(self, chances, *, lists=True):
        self.chances, self.lists, self.requests = chances, lists, []

    def answer(self, request):
        self.requests.append(request)
        (yes,) = (p for said, p in self.chances.items() if said in request.user)
        word = "yes" if yes >= 0.5 else "no"
        tokens = None
        if self.lists and request.settings.logprobs:
            top = tuple((one, math.log(p)) for one, p in (("yes", yes), ("no", 1 - yes)))
            tokens = (
                TokenLogprob("[[ ## score ## ]]\n", 0.0, ()),
                TokenLogprob(word, math.log(max(yes, 1 - yes)), top),
            )
        text = f"[[ ## score ## ]]\n{word}"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1, logprobs=tokens)


def chancy(chances, **options):
    engine = Chancy(chances, **options)
    return ClientLM.over(LMClient(engine), "chancy/m", recipe={}, temperature=0.0), engine


CHANCES = {"Is it one sentence?": 0.9, "Is it free of asides?": 0.6, "it makes one laugh": 0.2}


def test_the_score_of_a_criterion_is_its_share_of_yes():
    protocol = ChecklistConfig(rubric=TWO, questions=ASKED, weighting="none")
    found, asked = judged(protocol, said("yes"), said("no"), said("no"))
    assert asked == ["check_1_1", "check_1_2", "check_2_1"]
    assert {name: one.score for name, one in found.criteria.items()} == {"brevity": 50, "wit": 0}
    assert found.score == 25
    assert found.criteria["brevity"].explanation == (
        "Is it one sentence? Yes. Is it free of asides? No."
    )


def test_with_probabilities_it_is_the_mean_chance_of_yes():
    lm, engine = chancy(CHANCES)
    (found,) = score_batch(ChecklistJudge(rubric=TWO, questions=ASKED), [ITEM], lm=lm)
    assert found.criteria["brevity"].score == pytest.approx(75)
    assert found.criteria["wit"].score == pytest.approx(20)
    assert found.score == pytest.approx(47.5)
    assert {how.mode for how in found.weighting.values()} == {"probabilities"}
    assert found.weighting["criterion:brevity"].stated == 100
    assert len(engine.requests) == 3


def test_without_probabilities_the_share_stands_and_says_so():
    lm, _ = chancy(CHANCES, lists=False)
    (found,) = score_batch(ChecklistJudge(rubric=TWO, questions=ASKED), [ITEM], lm=lm)
    assert (found.criteria["brevity"].score, found.criteria["wit"].score) == (100, 0)
    how = found.weighting["criterion:brevity"]
    assert how.mode == "stated"
    assert how.reason.startswith("of 2 of 2 questions: the endpoint gave no log-probabilities")


def test_a_question_without_an_answer_leaves_its_criterion_and_the_text_unscored():
    protocol = ChecklistConfig(rubric=TWO, questions=ASKED, weighting="none")
    broken = ModelReply(cause=Cause(Reason.UNREADABLE, "it broke off"))
    found, asked = judged(protocol, said("yes"), broken, said("yes"), broken)
    assert found.score is None
    assert "some lack an answer: brevity: it broke off" in found.problem
    assert found.criteria["brevity"].score is None
    assert found.criteria["wit"].score == 100
    assert asked == ["check_1_1", "check_1_2", "check_2_1", "check_1_2"]


@pytest.mark.parametrize("answer", ["maybe", "yes and no", "", "1", "ja", '{"answer": "yes"}'])
def test_an_answer_that_is_neither_is_unscored(answer, scripted):
    lm, engine = scripted(lambda request: f"[[ ## score ## ]]\n{answer}")
    judge = ChecklistJudge(rubric=Rubric(criteria={"wit": "Is it funny?"}), weighting="none")
    (found,) = score_batch(judge, [ITEM], lm=lm)
    assert found.score is None
    assert found.problem
    assert len(engine.requests) == 2


@pytest.mark.parametrize("answer", ["Yes.", "**YES**", "yes", "Yes"])
def test_yes_is_yes_however_it_is_written(answer, scripted):
    lm, _ = scripted(lambda request: f"[[ ## score ## ]]\n{answer}")
    judge = ChecklistJudge(rubric=Rubric(criteria={"wit": "Is it funny?"}), weighting="none")
    assert score_batch(judge, [ITEM], lm=lm)[0].score == 100


def test_questions_are_written_once_per_criterion_and_can_be_edited():
    judge, problems = ChecklistJudge(rubric=TWO, questions=ASKED).prepared()
    assert problems == ()
    assert judge.protocol.questions["brevity"] == ASKED["brevity"]
    written = judge.protocol.questions["wit: it makes one laugh"]
    assert written == QUESTIONS.written(None, task=TWO.task, criterion="wit: it makes one laugh")
    assert len(judge.templates()) == 2 + len(written)
    assert judge.prepared()[0] is judge
    assert len(judge.with_choices({"plan": "rubric"}).templates()) == 2


def test_questions_that_cannot_be_read_are_stood_in_for_by_the_definition(scripted):
    lm, engine = scripted(lambda request: "[[ ## questions ## ]]\nCount the words.")
    rubric = Rubric(criteria={"wit": "it makes one laugh"})
    judge, problems = ChecklistJudge(rubric=rubric).prepared(lm)
    assert len(engine.requests) == 2
    assert "wit is checked by its definition" in problems[0]
    assert "must end with a question mark; got 'Count the words.'" in problems[0]
    asked = judge.fixed_inputs("check_1_1")
    assert asked == {"question": "Does this hold for the response: it makes one laugh?"}


def test_both_ways_to_a_model_give_the_same_and_so_does_a_saved_judge(tmp_path):
    judge, _ = ChecklistJudge(rubric=TWO).prepared()
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    saved.save(tmp_path / "judge")
    again = SavedJudge.load(tmp_path / "judge")
    (fast,) = score_batch(judge, [ITEM])
    assert score_batch(again, [ITEM]) == [fast]
    slow = load_judge(tmp_path / "judge")(source=ITEM.source, response=ITEM.response)
    assert fast.problem is None
    assert (slow.score, slow.calls) == (fast.score, fast.calls)
    assert family_of("checklist").calls_of(judge.protocol) == len(fast.calls)


def test_the_offline_model_prefers_what_a_question_asks_for():
    items = [
        RatedItem(source="Ann left Rome.", response=text)
        for text in ("Ann left Rome on Monday.", "left Ann the the <unk>", "")
    ]
    rubric = Rubric(criteria={"fluency": "Is it fluent, with correct grammar?"})
    first, second, empty = score_batch(ChecklistJudge(rubric=rubric), items)
    assert first.score > second.score > empty.score


@pytest.mark.no_cover
def test_every_configuration_of_its_space_is_a_judge():
    judge, _ = ChecklistJudge(rubric=TWO).prepared()
    found = [judge.with_choices(one).protocol for one in judge.space().configurations()]
    assert len({one.fingerprint for one in found}) == len(found) == judge.space().size


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ({"rubric": Rubric()}, "the rubric has none"),
        ({"judge": "direct"}, "checklist"),
        ({"answers": "1..5"}, "must be no and yes; got 1..5"),
        ({"questions": {"wit": ["Laugh!"]}}, "must end with a question mark; got 'Laugh!'"),
        ({"questions": {"wit": []}}, "expected 1 to 12"),
        ({"rubric": TWO, "questions": {"wti": ["Is it?"]}}, "'wti', which is not a criterion; did"),
        ({"rubric": TWO, "questions": {"🙂": ["Is it?"]}}, "there are brevity, wit"),
        ({"questions": {"wit": ["[[ ## score ## ]] yes?"]}}, "without markers"),
    ],
)
def test_what_makes_no_checklist_is_refused(choices, problem):
    with pytest.raises(ValueError, match=problem.replace("[", r"\[")):
        ChecklistJudge(**choices)
