"""The offline model's answers to the questions of every variant, in every order of fields."""

import json

import pytest

from judgesmith.programs import ActiveCritic
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.lm.errors import ModelError
from judgesmith.programs.lm.records import Message, ModelRequest, Prefix
from judgesmith.programs.offline import OfflineEngine
from judgesmith.programs.offline.judging import listed_criteria, read_assessments
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    AssessCriterion,
    RateByCriteria,
    ScoreOverall,
)
from judgesmith.signatures.questions.on_scale import with_explanation

SOURCE = (
    "Manchester council met on Monday to talk about the new bridge. Ann Lee said that the bridge "
    "costs 12 million pounds. Most members were for it. The old bridge had been closed in March "
    "after a flood. Work on the bridge is to begin in May and to last for two years. "
) * 3
GOOD = "Manchester council talked about the new bridge. Ann Lee said it costs 12 million pounds."
BAD = "the the London mayor Bob Stone burned 99 bridges bridges and the"
FIXED = {
    "task": "Judge a summary.",
    "criteria": "fluency: Is it well written?\nfaithfulness: Is it supported by the source?",
    "criterion": "fluency: Is it well written?",
    "assessments": "- fluency: 70. Fine.\n- faithfulness: 60. Fine.",
}
ADAPTER, ENGINE = FencedAdapter(), OfflineEngine()
ORDERS = ["before", "after", "none"]
SINGLE = [RateByCriteria, AssessCriterion, ScoreOverall]


def written(signature, response, demos=(), **more):
    """Return the answer as the model writes it."""
    inputs = {"source": SOURCE, "context": None, "response": response, **FIXED, **more}
    inputs = {name: inputs[name] for name in signature.input_fields}
    messages = ADAPTER.format(signature, list(demos), inputs)
    prefix = Prefix([Message(one["role"], one["content"]) for one in messages[:-1]])
    request = ModelRequest(model="offline", prefix=prefix, user=messages[-1]["content"])
    return ENGINE.answer(request).text


def answer(signature, response, demos=(), **more):
    return ADAPTER.parse(signature, written(signature, response, demos, **more))


def shown(signature, response=GOOD, **outputs):
    """Return a demonstration of a question."""
    inputs = {"source": SOURCE, "context": None, "response": response, **FIXED}
    return {**{name: inputs[name] for name in signature.input_fields}, **outputs}


@pytest.mark.parametrize("signature", SINGLE)
class TestOneScore:
    def test_the_better_text_scores_higher(self, signature):
        good, bad = (answer(signature, text)["score"] for text in (GOOD, BAD))
        assert 0 <= bad < good - 10
        assert good <= 100

    def test_the_order_of_the_fields_changes_no_score_and_no_word(self, signature):
        found = [answer(with_explanation(signature, order), BAD) for order in ORDERS]
        assert [list(one) for one in found] == [
            ["explanation", "score"],
            ["score", "explanation"],
            ["score"],
        ]
        assert len({one["score"] for one in found}) == 1
        assert found[0]["explanation"] == found[1]["explanation"] != ""

    def test_a_score_only_answer_holds_nothing_else(self, signature):
        text = written(with_explanation(signature, "none"), GOOD)
        score = answer(signature, GOOD)["score"]
        assert text == f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]\n"

    @pytest.mark.parametrize("order", ORDERS)
    def test_graded_examples_shift_the_score_in_every_form(self, signature, order):
        asked = with_explanation(signature, order)

        def taught(grade, **words):
            return answer(asked, GOOD, [shown(asked, score=grade, **words)] * 4)["score"]

        plain = answer(asked, GOOD)["score"]
        assert taught(5) < plain - 10
        assert taught(100) > plain
        # With its explanation, or without, an example teaches the same.
        assert taught(5, explanation="Poor.") == taught(5)

    def test_it_is_asked_with_and_without_a_task(self, signature):
        without = signature.delete("task")
        assert answer(without, GOOD)["score"] == answer(signature, GOOD)["score"]

    def test_a_question_with_an_unknown_field_is_refused_by_name(self, signature):
        asked = signature.append("style", signature.input_fields["task"], type_=str)
        with pytest.raises(ModelError, match=r"no answer for the signature .*style.* -> "):
            written(asked, GOOD, style="x")
        asked = signature.append("grade", signature.output_fields["score"], type_=int)
        with pytest.raises(ModelError, match=r"-> explanation, score, grade; register one"):
            written(asked, GOOD)


class TestAllCriteriaInOneQuestion:
    @pytest.mark.parametrize(
        ("order", "keys"),
        [
            ("before", ["criterion", "explanation", "score"]),
            ("after", ["criterion", "score", "explanation"]),
            ("none", ["criterion", "score"]),
        ],
    )
    def test_records_are_written_in_the_order_that_is_asked_for(self, order, keys):
        text = written(with_explanation(AssessCriteria, order), BAD)
        records = json.loads(text.split("[[ ## assessments ## ]]\n")[1].split("\n\n[[")[0])
        assert [list(one) for one in records] == [keys] * 2
        assert [one["criterion"] for one in records] == ["fluency", "faithfulness"]

    def test_the_order_changes_no_score(self):
        several = [answer(with_explanation(AssessCriteria, order), BAD) for order in ORDERS]
        scores = [[one.score for one in found["assessments"]] for found in several]
        assert scores[0] == scores[1] == scores[2]

    @pytest.mark.parametrize("order", ORDERS)
    def test_what_people_said_of_a_criterion_moves_that_one_alone(self, order):
        asked = with_explanation(AssessCriteria, order)
        records = [{"criterion": "fluency", "explanation": LEFT_OUT, "score": 5}]
        plain, taught = (
            {one.criterion: one.score for one in answer(asked, GOOD, demos)["assessments"]}
            for demos in ([], [shown(asked, assessments=records)] * 4)
        )
        assert taught["fluency"] < plain["fluency"] - 10
        assert taught["faithfulness"] == plain["faithfulness"]

    def test_a_whole_score_alone_teaches_nothing_of_the_criteria(self):
        records = [{"criterion": "overall", "explanation": LEFT_OUT, "score": 5}]
        demos = [shown(AssessCriteria, assessments=records)] * 4
        assert answer(AssessCriteria, GOOD, demos) == answer(AssessCriteria, GOOD)


class TestOneCriterion:
    def test_it_is_judged_as_among_others(self):
        among = {
            one.criterion: (one.score, one.explanation)
            for one in answer(AssessCriteria, BAD)["assessments"]
        }
        for line in FIXED["criteria"].split("\n"):
            alone = answer(AssessCriterion, BAD, criterion=line)
            assert (alone["score"], alone["explanation"]) == among[line.partition(":")[0]]

    def test_what_is_asked_for_decides(self):
        invented = f"{GOOD} Bob Stone of London burned 99 ships."
        fluency = answer(AssessCriterion, invented)["score"]
        faithfulness = answer(
            AssessCriterion,
            invented,
            criterion="faithfulness: Is everything supported by the source?",
        )["score"]
        assert faithfulness < fluency


class TestCoarse:
    def test_the_criteria_count_though_nobody_writes_their_scores(self):
        copied = SOURCE[:200]
        found = {
            criteria: answer(RateByCriteria, copied, criteria=criteria)["score"]
            for criteria in ("fluency: Is it well written?", "conciseness: Is it short?")
        }
        assert len(set(found.values())) == 2

    def test_its_explanation_names_no_score_of_a_criterion(self):
        assert "lowest of the assessments" not in answer(RateByCriteria, BAD)["explanation"]

    def test_an_example_with_its_explanation_left_out_is_read(self):
        whole = shown(RateByCriteria, explanation="Poor.", score=5)
        partial = shown(RateByCriteria, score=5)
        assert written(RateByCriteria, GOOD, [partial] * 3) == written(
            RateByCriteria, GOOD, [whole] * 3
        )


def test_criteria_are_read_one_per_line_and_names_may_hold_anything_but_a_colon():
    text = "a b_c: One: two?\n\n  d  \n- e: f"
    assert listed_criteria(text) == [("a b_c", "One: two?"), ("d", ""), ("- e", "f")]


@pytest.mark.parametrize("text", [None, "", "no assessments", "[1, 2", '[{"criterion": "a"}]'])
def test_assessments_without_a_score_are_no_assessments(text):
    assert read_assessments(text) == {}


@pytest.mark.parametrize("text", ["", "  \n", "…", "?!"])
@pytest.mark.parametrize("variant", ["vanilla", "coarse", "fine"])
def test_a_response_that_says_nothing_is_worth_nothing(text, variant):
    judged = ActiveCritic(variant=variant)(source="The bridge opened on Monday.", response=text)
    assert judged.score == 0
    assert all(one.score == 0 for one in judged.criteria.values())
    if variant != "vanilla":
        assert judged.explanation == "The response is empty."


def test_a_sign_alone_says_something():
    assert ActiveCritic()(source="The bridge opened on Monday.", response="👍").score > 0
