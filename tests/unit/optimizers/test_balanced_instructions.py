"""Wordings of instructions are chosen by how evenly answers are spread, and by nothing else."""

from math import log

import dspy
import pytest

from judgesmith.optimizers import FairPromptSearch
from judgesmith.optimizers.fair import Overheard, imbalance
from judgesmith.programs import DirectJudge
from judgesmith.programs.families.modules import GPTScoreJudge
from judgesmith.programs.judging.runner import score_batch
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, TokenLogprob, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Rubric

TEXTS = [
    dspy.Example(source=f"On day {n} it rained.", context=None, response=f"Rain {n}.", score=n % 5)
    for n in range(10)
]
WORDS = ("Score it coolly.", "Score it evenly.", "[[ ## score ## ]]")
RUBRIC = Rubric(criteria={"wit": "Is it funny?", "truth": "Is it true?"})


class Worded:
    """Answers 4 of everything, by all five answers under an even wording, or breaks off."""

    endpoint = "worded"

    def __init__(self, words=WORDS, *, tokens=False):
        self.words = words
        self.tokens = tokens
        self.asked = {"words": 0, "scores": 0}

    def answer(self, request):
        system = request.prefix.messages[0].text
        if "`paraphrase`" in system:
            self.asked["words"] += 1
            text = self.words[request.sample % len(self.words)]
            return ModelAnswer(text=f"[[ ## paraphrase ## ]]\n{text}\n\n[[ ## completed ## ]]")
        self.asked["scores"] += 1
        points = 4
        if "evenly" in system:
            points = 1 + int(request.user.partition("Rain ")[2].partition(".")[0]) % 5
        if "coolly" in system:
            points = "none"
        head, end = "[[ ## score ## ]]\n", "\n\n[[ ## completed ## ]]"
        chances = ((str(points), log(0.75)), ("5", log(0.25)))
        logprobs = (
            TokenLogprob(head, 0.0),
            TokenLogprob(str(points), log(0.75), chances),
            TokenLogprob(end, 0.0),
        )
        return ModelAnswer(text=f"{head}{points}{end}", logprobs=logprobs if self.tokens else None)


def lm_of(engine, **budget):
    return ClientLM.over(LMClient(engine, budget=Budget(**budget)), "worded/m", recipe={})


def compiled(engine, judge=None, *, budget=None, **settings):
    search = FairPromptSearch(lm=lm_of(engine, **(budget or {})), n_paraphrases=3, **settings)
    return search.compile(judge or DirectJudge(answers="1..5"), trainset=TEXTS), search


def test_imbalance_is_the_share_that_would_have_to_move():
    assert imbalance({"1": 0.2, "2": 0.2, "3": 0.2, "4": 0.2, "5": 0.2}) == pytest.approx(0)
    assert imbalance({"yes": 0.9, "no": 0.1}) == pytest.approx(0.4)
    assert imbalance({"a": 1.0, "b": 0.0, "c": 0.0}) == pytest.approx(2 / 3)


def test_the_wording_with_the_most_even_answers_is_taken():
    judge, search = compiled(Worded())
    assert judge.protocol.instructions == {"whole": "Score it evenly."}
    values = [one.value for one in search.trials_ if one.n_rows]
    assert values[0] == pytest.approx(-0.8)  # all on one of five
    assert max(values) == pytest.approx(0)
    assert search.complete_


def test_ratings_are_not_read():
    unrated = [
        dspy.Example(source=one.source, context=None, response=one.response) for one in TEXTS
    ]
    search = FairPromptSearch(lm=lm_of(Worded()), n_paraphrases=3)
    judge = search.compile(DirectJudge(answers="1..5"), trainset=unrated)
    assert judge.protocol == compiled(Worded())[0].protocol


def test_probabilities_count_where_there_are_some():
    heard = Overheard(DirectJudge(answers="1..5", weighting="probabilities"))
    items = [RatedItem(source=one.source, response=one.response) for one in TEXTS]
    score_batch(heard, items, lm=lm_of(Worded(tokens=True)))
    (shares,) = heard.mean_chances().values()
    assert shares == pytest.approx({"1": 0, "2": 0, "3": 0, "4": 0.75, "5": 0.25})
    assert heard.n_stated == 0


def test_questions_with_one_instruction_are_reworded_together():
    judge, _ = compiled(Worded(), DirectJudge(answers="1..5", asks="criteria", rubric=RUBRIC))
    assert judge.protocol.instructions == {
        "one_1": "Score it evenly.",
        "one_2": "Score it evenly.",
    }


def test_a_wording_that_leaves_texts_without_a_score_is_not_taken():
    judge, search = compiled(Worded(("Score it coolly.",)))
    assert judge.protocol.instructions == {}
    assert any("there before" in one.problem for one in search.trials_)


def test_a_wording_that_imitates_the_layout_is_refused():
    _, search = compiled(Worded(("<verbatim-0> Score it.",)))
    assert all("imitates" in one.problem for one in search.trials_[1:])


def test_compiling_twice_gives_the_same_judge_and_leaves_the_student():
    student = DirectJudge(answers="1..5")
    before = student.dump_state()
    first, second = (compiled(Worded(), student)[0] for _ in range(2))
    assert first.dump_state() == second.dump_state()
    assert student.dump_state() == before
    assert first is not student


@pytest.mark.parametrize("max_calls", [5, 10, 15])
def test_a_budget_that_ends_leaves_the_best_so_far(max_calls):
    judge, search = compiled(Worded(), budget={"max_calls": max_calls})
    assert not search.complete_
    assert judge.protocol.instructions == {}


def test_the_offline_models_wordings_are_made_by_rule_and_change_nothing():
    search = FairPromptSearch(lm=model("offline", ledger=None), n_rows=4)
    judge = search.compile(DirectJudge(answers="1..5"), trainset=TEXTS)
    assert search.writes_by_rule_
    assert judge.protocol.instructions == {}
    assert len({one.value for one in search.trials_ if one.n_rows}) == 1


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (DirectJudge(), "has 101 answers, .* --choose answers=1-5"),
        (GPTScoreJudge(), "there is no wording"),
    ],
)
def test_judges_without_few_answers_are_refused(judge, said):
    with pytest.raises(ValueError, match=said):
        compiled(Worded(), judge)


def test_what_it_has_no_use_for_is_refused():
    search = FairPromptSearch(lm=lm_of(Worded()))
    with pytest.raises(ValueError, match="drop teacher= and valset="):
        search.compile(DirectJudge(answers="1..5"), trainset=TEXTS, valset=TEXTS)
    with pytest.raises(ValueError, match="no rated items"):
        search.compile(DirectJudge(answers="1..5"), trainset=[])
    with pytest.raises(TypeError, match="expected a judge"):
        search.compile(dspy.Predict("source -> score"), trainset=TEXTS)
    with pytest.raises(ValueError, match=r"made by judgesmith\.model"):
        FairPromptSearch(lm=dspy.utils.DummyLM([{"score": "4"}])).compile(
            DirectJudge(answers="1..5"), trainset=TEXTS
        )
