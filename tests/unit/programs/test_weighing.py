"""Scores that are weighed by probabilities, and what several answers come to, by hand."""

import json
from math import log

import dspy
import pytest

from judgesmith.programs import ActiveCritic, DirectJudge, score_batch
from judgesmith.programs.judging.logprobs import as_stated
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm import LMClient, ModelAnswer, TokenLogprob
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Rubric, Scale

pytestmark = pytest.mark.no_cover

RUBRIC = Rubric(criteria={"wit": "Is it funny?", "truth": "Is it true?"})
ITEM = RatedItem(source="Ann left Rome.", response="Ann left.")
HALF = {"4": 0.5, "5": 0.5}  # 87.5 of 100, stated as 4
LOW = {"1": 0.5, "3": 0.3}  # 3 in 8 of the way to 3: 18.75, stated as 1


class Weighed:
    """A model that answers in tokens: texts, and numbers with their alternatives."""

    endpoint = "weighed"

    def __init__(self, script):
        self.script = script
        self.requests = []

    def answer(self, request):
        self.requests.append(request)
        tokens = tuple(self.token(piece) for piece in self.script(request))
        wanted = request.settings.logprobs is not None
        text = "".join(one.token for one in tokens)
        return ModelAnswer(text=text, logprobs=tokens if wanted else None)

    def token(self, piece):
        if isinstance(piece, str):
            return TokenLogprob(piece, 0.0, ((piece, 0.0),))
        written = next(iter(piece))
        top = tuple((token, log(chance)) for token, chance in piece.items())
        return TokenLogprob(written, log(piece[written]), top)


def scored(chances, *words):
    return ["[[ ## explanation ## ]]\nIt scores 2, and 3.\n\n[[ ## score ## ]]\n", chances, *words]


def bare(chances):
    return ["[[ ## score ## ]]\n", chances, "\n\n[[ ## completed ## ]]"]


def records(**by_name):
    pieces = ["[[ ## assessments ## ]]\n["]
    for place, (name, chances) in enumerate(by_name.items()):
        opening = json.dumps({"criterion": name, "explanation": 'a "score": 3, it is'})[:-1]
        pieces += [", " if place else "", opening, ', "score": ', chances, "}"]
    return [piece for piece in [*pieces, "]\n"] if piece]


def by_question(request):
    """Answer all questions about two criteria and the whole."""
    if "assessments ## ]]` (must" in request.user:
        return records(wit=HALF, truth=LOW)
    if "[[ ## criterion ## ]]" in request.user:
        return scored(HALF if "wit:" in request.user else LOW)
    if "explanation" not in request.user.rpartition("Respond with")[2]:
        return bare(LOW)
    return scored({"2": 0.5, "3": 0.5})


def judged(script=by_question, judge=None, **choices):
    """Return a judgement by the fast way, which is the same by DSPy's, and the engine."""
    engine = Weighed(script)
    lm = ClientLM.over(LMClient(engine), "weighed/m", recipe={}, temperature=0.0)
    given = {"rubric": RUBRIC, "answers": "1..5", "weighting": "probabilities", **choices}
    judge = judge or ActiveCritic(**given)
    (found,) = score_batch(judge, [ITEM], lm=lm)
    with dspy.context(lm=lm):
        same = judge(source=ITEM.source, response=ITEM.response)
    assert (same.score, same.criteria, same.weighting) == (
        *(found.score, dict(found.criteria), dict(found.weighting)),
    )
    assert same.calls == found.calls
    return found, engine


def modes(judgement):
    return {term: how.mode for term, how in judgement.weighting.items()}


class TestWhatIsWeighed:
    def test_one_question(self):
        found, engine = judged(variant="vanilla")
        assert found.raw == found.score == pytest.approx(18.75)
        how = found.weighting["overall"]
        assert (how.mode, how.stated, how.reason) == ("probabilities", 0, "")
        assert how.mass == pytest.approx(0.8)
        assert engine.requests[0].settings.logprobs == 20

    def test_one_question_with_words_before_the_score(self):
        found, _ = judged(variant="coarse")
        assert found.score == pytest.approx(37.5)
        assert found.explanation == "It scores 2, and 3."

    @pytest.mark.parametrize("criteria_calls", ["joint", "separate"])
    def test_every_criterion_and_the_whole(self, criteria_calls):
        found, engine = judged(criteria_calls=criteria_calls)
        assert found.criteria["wit"].score == pytest.approx(87.5)
        assert found.criteria["truth"].score == pytest.approx(18.75)
        assert found.score == pytest.approx(37.5)
        assert set(modes(found)) == {"overall", "criterion:wit", "criterion:truth"}
        assert set(modes(found).values()) == {"probabilities"}
        # The question about the whole shows what the model stated: prompts do not depend on it.
        (last,) = [one.user for one in engine.requests[:3] if "- wit: " in one.user]
        assert "- wit: 4." in last
        assert "- truth: 1." in last

    @pytest.mark.parametrize("criteria_calls", ["joint", "separate"])
    def test_the_mean_of_the_criteria_is_one_of_weighed_ones(self, criteria_calls):
        found, _ = judged(criteria_calls=criteria_calls, overall="mean")
        assert found.raw == found.score == pytest.approx((87.5 + 18.75) / 2)
        assert set(modes(found)) == {"criterion:wit", "criterion:truth"}

    def test_words_are_levels_too(self):
        script = bare({"good": 0.5, "Fair": 0.25, "po": 0.25})
        found, _ = judged(
            lambda request: script,
            variant="vanilla",
            answers=Scale.categorical("poor", "fair", "good"),
        )
        assert found.score == pytest.approx(62.5)

    @pytest.mark.parametrize("asks", ["overall", "criteria"])
    def test_a_direct_judge(self, asks):
        judge = DirectJudge(rubric=RUBRIC, answers="1..5", weighting="probabilities", asks=asks)
        found, _ = judged(lambda request: bare(HALF), judge=judge)
        assert found.score == pytest.approx(87.5)

    def test_nothing_where_it_is_not_asked_for(self):
        found, engine = judged(weighting="none")
        assert (found.score, found.weighting) == (25.0, {})
        assert all(one.settings.logprobs is None for one in engine.requests)

    def test_the_questions_are_the_same(self):
        asked = [judged(weighting=one)[1].requests for one in ("none", "probabilities")]
        first, second = [[(r.prefix, r.user, r.sample) for r in one] for one in asked]
        assert first == second


class TestWhereThereAreNone:
    def test_the_stated_score_stands_and_says_why(self):
        few = {"4": 0.3, "maybe": 0.6, "5": 0.1}
        found, _ = judged(lambda request: bare(few), variant="vanilla")
        assert found.score == 75
        how = found.weighting["overall"]
        assert (how.mode, how.stated, how.mass) == ("stated", 75, pytest.approx(0.4))
        assert how.reason.startswith("the answers that are listed hold 0.40")

    def test_one_criterion_alone_may_have_none(self):
        few = {"2": 0.2, "many": 0.8}
        found, _ = judged(lambda request: records(wit=HALF, truth=few), overall="mean")
        assert modes(found) == {"criterion:wit": "probabilities", "criterion:truth": "stated"}
        assert found.score == pytest.approx((87.5 + 25) / 2)

    def test_an_answer_between_two_levels_stands(self):
        found, _ = judged(lambda request: bare({"4.5": 0.9, "4": 0.1}), variant="vanilla")
        assert found.score == 87.5
        assert "'4.5' is none of those" in found.weighting["overall"].reason

    def test_the_probabilities_are_those_of_the_answer_that_was_read(self):
        def script(request):
            if request.sample == 0:
                return records(wit=HALF)
            return records(wit={"2": 1.0, "3": 0.001}, truth={"5": 0.75, "4": 0.25})

        found, _ = judged(script, overall="mean")
        assert found.criteria["wit"].score == pytest.approx(25, abs=0.1)
        assert found.criteria["truth"].score == pytest.approx(93.75)

    def test_a_better_first_attempt_keeps_its_own(self):
        def script(request):
            return records(wit=HALF) if request.sample == 0 else ["nothing"]

        found, _ = judged(script, overall="mean")
        assert found.criteria["wit"].score == pytest.approx(87.5)
        assert found.criteria["truth"].score is None
        assert modes(found) == {"criterion:wit": "probabilities"}
        assert found.score is None


class TestReduction:
    def samples(self, reduction, *answers, **choices):
        def script(request):
            return bare({answers[request.sample % len(answers)]: 1.0})

        found, _ = judged(
            script,
            variant="vanilla",
            samples=len(answers),
            temperature=0.7,
            reduction=reduction,
            **{"weighting": "none", **choices},
        )
        return found

    @pytest.mark.parametrize(
        ("reduction", "answers", "expected"),
        [
            ("mean", "1145", 43.75),
            ("median", "1145", 37.5),
            ("median", "115", 0),
            ("mode", "1145", 0),
            ("mode", "15", 50),
            ("mode", "11455", 50),
        ],
    )
    def test_several_answers_come_to_one(self, reduction, answers, expected):
        found = self.samples(reduction, *answers)
        assert found.raw == found.score == expected

    def test_criteria_are_reduced_alike(self):
        def script(request):
            return records(wit={"155"[request.sample]: 1.0}, truth={"112"[request.sample]: 1.0})

        found, _ = judged(script, overall="mean", samples=3, reduction="mode", weighting="none")
        assert (found.criteria["wit"].score, found.criteria["truth"].score) == (100, 0)
        assert found.score == 50

    def test_samples_may_be_weighed_too(self):
        def script(request):
            return bare([HALF, {"1": 0.9}, {"what": 0.9, "5": 0.1}][request.sample])

        found, _ = judged(script, variant="vanilla", samples=2)
        assert found.score == pytest.approx((87.5 + 0) / 2)
        assert modes(found) == {"overall": "probabilities"}
        assert found.weighting["overall"].stated == pytest.approx((75 + 0) / 2)


def test_as_stated_undoes_the_weighing_and_nothing_else():
    weighed, _ = judged()
    plain, _ = judged(weighting="none")
    back = as_stated(weighed)
    assert back.criteria == plain.criteria
    assert back.raw == plain.raw
    assert as_stated(plain) is plain
    mean, _ = judged(overall="mean")
    assert as_stated(mean).raw == judged(overall="mean", weighting="none")[0].raw


@pytest.mark.no_cover
@pytest.mark.parametrize("family", ["checklist", "g-eval"])
def test_chances_that_are_as_good_as_none_leave_nothing(family):
    judge = family_of(family).start()
    (found,) = score_batch(judge, [RatedItem(source="The bridge opened.", response="")])
    assert found.score == 0.0
    assert {one.score for one in found.criteria.values()} == {0.0}
