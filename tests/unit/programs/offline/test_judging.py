"""The offline model judges texts: scores, comparisons, error spans and quality."""

import gzip
import json
from math import log
from statistics import fmean

import hostile
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.linear_model import Ridge

import judgesmith
from judgesmith.programs import ActiveCritic
from judgesmith.programs.benchmarking import AcrossPair, Comparator
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.lm import ModelRequest, Prefix, lm_client_of, model
from judgesmith.programs.lm.errors import ModelError
from judgesmith.programs.lm.records import Message
from judgesmith.programs.offline import OfflineEngine
from judgesmith.programs.offline.annotating import faults_in
from judgesmith.programs.offline.engine import CharacterModel
from judgesmith.programs.offline.judging import (
    listed_criteria,
    misspelt_words,
    one_letter_off,
    read_assessments,
    straying_sentences,
)
from judgesmith.programs.offline.prior import Belief
from judgesmith.signatures import RatedItem
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    AssessCriterion,
    GradeResponse,
    RateByCriteria,
    ScoreOverall,
)
from judgesmith.signatures.questions.on_scale import with_explanation
from judgesmith.signatures.rubric import Criterion

# The offline model's answers to the questions of every variant, in every order of fields.

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

    @for_each("order", ORDERS)
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


class TestCoarse:
    def test_an_example_with_its_explanation_left_out_is_read(self):
        whole = shown(RateByCriteria, explanation="Poor.", score=5)
        partial = shown(RateByCriteria, score=5)
        assert written(RateByCriteria, GOOD, [partial] * 3) == written(
            RateByCriteria, GOOD, [whole] * 3
        )


def test_criteria_are_read_one_per_line_and_names_may_hold_anything_but_a_colon():
    text = "a b_c: One: two?\n\n  d  \n- e: f"
    assert listed_criteria(text) == [("a b_c", "One: two?"), ("d", ""), ("- e", "f")]


@for_each("text", [None, "", "no assessments", "[1, 2", '[{"criterion": "a"}]'])
def test_assessments_without_a_score_are_no_assessments(text):
    assert read_assessments(text) == {}


@for_each("text", ["", "  \n", "…", "?!"])
@for_each("variant", ["vanilla", "coarse", "fine"])
def test_a_response_that_says_nothing_is_worth_nothing(text, variant):
    judged = ActiveCritic(variant=variant)(source="The bridge opened on Monday.", response=text)
    assert judged.score == 0
    assert all(one.score == 0 for one in judged.criteria.values())
    if variant != "vanilla":
        assert judged.explanation == "The response is empty."


def test_a_sign_alone_says_something():
    assert ActiveCritic()(source="The bridge opened on Monday.", response="👍").score > 0


# What is not there is neither counted nor spoken of: texts without a context.

TALK = "A: Do you like to sail?\nB: I do, my uncle has a boat.\nA: Where does he sail it?"
TURN = "He sails it on the lake near Bergen in the summer."
CRITERIA = {"groundedness": "Does the turn use the given facts?", "coherence": "Does it fit?"}


def judged(context):
    item = RatedItem(source=TALK, response=TURN, context=context)
    (found,) = judgesmith.score_batch(ActiveCritic(rubric={"criteria": CRITERIA}), [item])
    words = [found.explanation, *(one.explanation for one in found.criteria.values())]
    return found, " ".join(words).lower()


def test_a_dialogue_without_a_context_is_not_held_against_one():
    _, words = judged(None)
    assert "context" not in words
    given, words = judged("Tomatoes ripen in warm soil.")
    assert "context" in words
    assert judged(None)[0].criteria["groundedness"].score > given.criteria["groundedness"].score


# The offline model comparing texts about different sources: fair to places, blind to sources.

TOWN = "The bridge over the Wupper opened on Monday. Two thousand people crossed it on foot."
RAIN = "It rained in Ghent for nine days. The canal rose by a metre, and three cellars flooded."
GOOD_COMPARING_ACROSS = RatedItem(
    source=TOWN, response="The bridge over the Wupper opened on Monday."
)
INVENTED = RatedItem(source=RAIN, response="Carla bought 900 horses in Peru, says Mayor Smith.")
BROKEN = RatedItem(source=RAIN, response="the the rained rained canal canal it,, nine nine rose")
DEFINITIONS = {
    "consistency": "Is everything in the text supported by the source?",
    "fluency": "Is every sentence well written?",
    "relevance": "Does the text hold what matters in the source?",
}


def relation(first, second, criterion="fluency"):
    comparator = Comparator(Criterion(name=criterion, definition=DEFINITIONS[criterion]))
    ((_, found),) = comparator.each([AcrossPair(first, second)])
    assert found.cause is None
    assert not found.disagree
    return found.relation


@pytest.mark.parametrize("criterion", DEFINITIONS)
def test_a_text_is_similar_to_itself_on_every_criterion(criterion):
    assert relation(BROKEN, BROKEN, criterion) == "similar"


@pytest.mark.parametrize(
    ("worse", "criterion"),
    [(INVENTED, "consistency"), (BROKEN, "fluency"), (INVENTED, "relevance")],
)
def test_a_text_that_fails_its_own_source_loses_to_one_that_keeps_to_another(worse, criterion):
    assert relation(GOOD_COMPARING_ACROSS, worse, criterion) == "first"
    assert relation(worse, GOOD_COMPARING_ACROSS, criterion) == "second"


def test_texts_are_held_against_their_own_source_not_the_other():
    stranger = GOOD_COMPARING_ACROSS.model_copy(update={"source": RAIN})
    assert relation(GOOD_COMPARING_ACROSS, stranger, "consistency") == "first"


def test_nothing_at_all_loses():
    assert relation(RatedItem(source=TOWN, response=" "), GOOD_COMPARING_ACROSS) == "second"
    assert relation(RatedItem(source="", response=""), RatedItem(response="")) == "similar"


def test_orders_never_disagree_whatever_the_texts_say():
    texts = [RatedItem(source=TOWN, response=one) for one in list(hostile.TEXTS.values())[::4]]
    comparator = Comparator(Criterion(name="wit", definition="Is it funny?"), concurrency=1)
    found = [
        one for _, one in comparator.each(AcrossPair(text, GOOD_COMPARING_ACROSS) for text in texts)
    ]
    assert {one.disagree for one in found} == {False}


@pytest.mark.parametrize(
    ("criterion", "fault"),
    [
        ("relevance", " Penguins rarely swim in warmer oceans."),
        ("consistency", " Penguins rarely swim in warmer oceans."),
        ("fluency", " Two thousnad people corssed it."),
    ],
)
def test_a_single_visible_fault_makes_a_text_lose_to_itself(criterion, fault):
    worse = GOOD_COMPARING_ACROSS.model_copy(
        update={"response": GOOD_COMPARING_ACROSS.response + fault}
    )
    assert relation(GOOD_COMPARING_ACROSS, worse, criterion) == "first"


# The offline model's statistics of characters: a distribution.

CODE_POINTS = 0x110000 - 1 - 2048


def test_by_hand_from_two_contexts():
    characters = CharacterModel(order=1)
    characters.read("aab")
    # after "b" nothing was seen: below, a 2 of 3 and b 1 of 3 with 2 kinds, the rest evenly
    assert characters.logprob("a") == pytest.approx(log((2 + 2 / CODE_POINTS) / 5))
    characters.read("a")
    # after "a": a 1, b 1, 2 kinds; below a 3 of 4 with 2 kinds
    below = (3 + 2 / CODE_POINTS) / 6
    assert characters.logprob("a") == pytest.approx(log((1 + 2 * below) / 4))


def test_what_stands_in_the_prompt_is_likelier():
    stack = lm_client_of(model("offline", ledger=None))

    def total(continuation):
        request = ModelRequest(
            model="offline", prefix=Prefix(), user="Ann left Rome.", continuation=continuation
        )
        answer = stack.complete_sync(request)
        assert answer.text == continuation
        return sum(one.logprob for one in answer.logprobs)

    assert total("Ann left.") > total("Bob stay.")
    assert total("") == 0


# Faults that can be counted are pointed at where they are, and what is right is left alone.

SOURCE_POINTING = "The ferry left Malmo on 3 May with 120 passengers, said Captain Ann Berg."


@for_each(
    ("response", "source", "found"),
    [
        ("The ferry left on 3 May.", SOURCE_POINTING, []),
        ("The ferry left Oslo on 4 May.", SOURCE_POINTING, [("Oslo", "support"), ("4", "support")]),
        ("So said Captain Eva Lind there.", SOURCE_POINTING, [("Eva Lind", "support")]),
        ("So the ferry left Oslo.", None, []),
        ("The ferry left with pasengers.", SOURCE_POINTING, [("pasengers", "support")]),
        ("The passenger left.", SOURCE_POINTING, []),
        ("It left left in May.", SOURCE_POINTING, [("left left", "fluency")]),
        ("So they is gone.", None, [("they is", "fluency")]),
        ("It left. it came back.", None, [("it", "fluency")]),
        ("It left in May and", None, [("and", "fluency")]),
        ("It left in May", None, [("May", "fluency")]),
        ("It <unk> left.", None, [("<unk>", "fluency")]),
        ("It leFT in Maaay.", None, [("leFT", "fluency"), ("Maaay", "fluency")]),
        (
            "The ferry left at noon. It was late. The ferry left at noon.",
            None,
            [("The ferry left at noon.", "flow")],
        ),
        ("渡轮渡轮离开了。", None, []),
        ("", SOURCE_POINTING, []),
        (" \n…", SOURCE_POINTING, []),
    ],
)
def test_faults_are_found_where_they_stand(response, source, found):
    faults = faults_in(response, source, None)
    said = [(response[one.start : one.end], one.facet) for one in faults]
    assert said == found


def test_what_the_context_holds_is_supported():
    assert faults_in("So Oslo won.", "They played.", "The final was in Oslo.") == []


@for_each(
    "text", ["ab" * 10_000, "ab " * 10_000, "A b. " * 4_000, "<" * 20_000, "Ab Cd 7 " * 2_000]
)
def test_a_huge_text_has_few_faults_in_their_places(text):
    faults = faults_in(text, SOURCE_POINTING, None)
    assert all(0 <= one.start < one.end <= len(text) for one in faults)
    assert len(faults) <= 60


# The offline model on rated data: uncompiled, without any rating seen.


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def target_of(row, name):
    if name != "mean":
        return fmean(row["human"][name])
    ends = row["scale"]
    shares = [
        (fmean(given) - ends[one][0]) / (ends[one][1] - ends[one][0])
        for one, given in row["human"].items()
        if one != "overall"
    ]
    return fmean(shares)


@pytest.mark.parametrize(
    ("name", "target", "least"),
    [
        ("wiki_da", "mean", 1.1),
        ("qags_cnndm", "consistency", 1.2),
    ],
)
def test_the_uncompiled_model_agrees_with_people(data_folder, name, target, least):
    rows = rows_of(data_folder / f"{name}.jsonl.gz")
    adapter, engine = FencedAdapter(), OfflineEngine()
    first = {"source": "s", "context": None, "response": "r"}
    system = adapter.format(GradeResponse, [], first)[0]["content"]
    prefix = Prefix([Message("system", system)])
    scores = []
    for row in rows:
        inputs = {key: row[key] for key in first}
        user = adapter.format_user_message_content(GradeResponse, inputs, main_request=True)
        text = engine.answer(ModelRequest(model="offline", prefix=prefix, user=user)).text
        scores.append(adapter.parse(GradeResponse, text)["score"])
    human = [target_of(row, target) for row in rows]
    agreement = [measure(scores, human)[0] for measure in (pearsonr, spearmanr, kendalltau)]
    assert sum(agreement) >= least
    assert len(set(scores)) > 25


# regression


def test_the_posterior_mean_is_ridge_regression():
    rng = np.random.default_rng(0)
    terms, grades = rng.normal(size=(12, 4)), rng.normal(50, 10, size=12)
    before = Belief(mean=np.zeros(4), covariance=9.0 * np.eye(4), noise=6.0)
    ridge = Ridge(alpha=36.0 / 9.0, fit_intercept=False).fit(terms, grades)
    assert before.given(terms, grades).mean == pytest.approx(ridge.coef_)


def test_examples_one_by_one_teach_what_they_teach_together():
    rng = np.random.default_rng(1)
    terms, grades = rng.normal(size=(5, 3)), rng.normal(size=5)
    before = Belief(mean=np.ones(3), covariance=np.diag([1.0, 2.0, 3.0]), noise=0.7)
    together, one_by_one = before.given(terms, grades), before
    for row, grade in zip(terms, grades, strict=True):
        one_by_one = one_by_one.given(row[None, :], np.array([grade]))
    assert one_by_one.mean == pytest.approx(together.mean)
    assert one_by_one.covariance == pytest.approx(together.covariance)


def test_examples_make_predictions_surer_but_never_surer_than_the_noise():
    before = Belief(mean=np.zeros(2), covariance=np.eye(2) * 100, noise=5.0)
    terms = np.array([1.0, 2.0])
    after = before.given(np.tile(terms, (50, 1)), np.full(50, 20.0))
    (_, wide), (mean, narrow) = before.predict(terms), after.predict(terms)
    assert mean == pytest.approx(20.0, abs=0.1)
    assert 5.0 <= narrow < wide


# Faults that show one at a time: sentences about something else, words one letter off.

OPENING = (
    "The bridge over the canal in Ghent opened on Monday after nine years of work. Two thousand "
    "people crossed it on foot, and the mayor thanked the engineers who had planned it."
)


SOUND = "The bridge in Ghent opened after nine years. The mayor thanked the engineers."
STRAY = "Penguins rarely swim in warmer oceans."


@for_each(
    ("source", "context", "response", "n"),
    [
        (OPENING, None, SOUND, 0),
        (OPENING, None, f"{SOUND} {STRAY}", 1),
        (OPENING, None, f"{STRAY} {SOUND} {STRAY}", 2),
        (OPENING, STRAY, f"{SOUND} {STRAY}", 0),  # the context is material as well
        (OPENING, None, STRAY, 0),  # not made of the material at all
        ("", None, f"{SOUND} {STRAY}", 0),
        ("Die Brücke wurde am Montag eröffnet.", None, SOUND, 0),
        (OPENING, None, f"{SOUND} Well, penguins!", 0),
        ("", None, "", 0),
    ],
)
def test_sentences_about_something_else_stray(source, context, response, n):
    assert straying_sentences(source, context, response) == n


@for_each(
    ("context", "response", "n"),
    [
        (None, SOUND, 0),
        (None, "The brdige in Ghent opned; poeple crosssed it.", 4),
        (None, "The brigde, that brigde, and bridges.", 1),
        (None, "Ghant and Manday are opening.", 0),
        ("A brigde is a misspelling.", "The brigde.", 0),
    ],
)
def test_words_one_letter_off_a_word_of_the_material_are_misspelt(context, response, n):
    assert misspelt_words(OPENING, context, response) == n


words = st.text("abcd", min_size=2, max_size=6)


@given(words, words)
def test_one_letter_off_is_what_one_edit_reaches_with_the_ending_kept(word, other):
    places = range(len(word) + 1)
    reached = {word[:i] + word[i + 1 :] for i in places}
    reached |= {word[:i] + letter + word[i:] for i in places for letter in "abcd"}
    reached |= {word[:i] + letter + word[i + 1 :] for i in places[:-1] for letter in "abcd"}
    reached |= {word[:i] + word[i : i + 2][::-1] + word[i + 2 :] for i in places[:-1]}
    expected = other in reached - {word} and word[-1] == other[-1]
    assert one_letter_off(word, other) == one_letter_off(other, word) == expected


def test_any_text_can_be_looked_at():
    text = hostile.TEXTS["all of them"]
    for texts in ((text, None, text), ("", text, SOUND), (OPENING, None, text)):
        assert straying_sentences(*texts) >= 0
        assert misspelt_words(*texts) >= 0
