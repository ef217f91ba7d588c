"""Scores weighted by token probabilities."""

import asyncio
import json
import math
from dataclasses import replace
from math import log
from typing import ClassVar

import dspy
import loopback
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.programs import ActiveCritic, DirectJudge, score_batch
from judgesmith.programs.judging.logprobs import (
    answer_probabilities,
    as_stated,
)
from judgesmith.programs.judging.program import (
    ProbabilitiesOf,
    PromptRequest,
    probabilities_in,
    refusal_of,
)
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm import (
    LMClient,
    ModelAnswer,
    ModelError,
    TokenLogprob,
    lm_client_of,
    model,
)
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import Judgement, RatedItem, Rubric, Scale
from judgesmith.signatures.judgement import Assessment

# Probabilities of answers, against numbers worked out by hand.

VERDICTS = ("Better", "Worse", "Similar")
PERCENTS = tuple(map(str, range(101)))
TEN = tuple(map(str, range(1, 11)))


def listed(chances):
    """Return the first of these tokens as written, with the whole list."""
    ranked = sorted(chances.items(), key=lambda pair: -pair[1])
    written = next(iter(chances))
    return TokenLogprob(written, log(chances[written]), tuple((t, log(p)) for t, p in ranked))


def found(tokens, answers, start=0):
    return answer_probabilities(tokens, start, answers)


def shares(result):
    """Return what is above zero, as it was before it was made to sum to 1."""
    assert result.mode == "probabilities"
    return {a: pytest.approx(p * result.mass) for a, p in result.values.items() if p}


LEVELS = ("1", "2", "3", "4", "5")


@for_each(
    ("lists", "answers", "expected"),
    [
        # One token: the share of each spelling, whatever stands around the word.
        (
            [{"Better": 0.5, "Worse": 0.2, "Similar": 0.1, "The": 0.1}],
            VERDICTS,
            {"Better": 0.5, "Worse": 0.2, "Similar": 0.1},
        ),
        (
            [{"Better": 0.3, " better": 0.1, '"Better': 0.1, "**BETTER": 0.1, "\n“Worse": 0.1}],
            VERDICTS,
            {"Better": 0.6, "Worse": 0.1},
        ),
        (
            [{"Better.": 0.3, 'Worse"': 0.1, "Similar\n\n": 0.2, "Betterment": 0.2}],
            VERDICTS,
            {"Better": 0.3, "Worse": 0.1, "Similar": 0.2},
        ),
        ([{"３": 0.4, "3": 0.3, "２分": 0.2}], LEVELS, {"3": 0.7, "2": 0.2}),
        ([{"café": 0.6, "the\u0301": 0.3}], ("café", "thé"), {"café": 0.6, "thé": 0.3}),
        ([{"好": 0.6, "坏的": 0.3, "坏": 0.1}], ("好", "坏"), {"好": 0.6, "坏": 0.1}),
        ([{"No": 0.4, "Yes": 0.4}], ("Yes", "No"), {"Yes": 0.4, "No": 0.4}),
        ([{"Better": 0.9}], VERDICTS, {"Better": 0.9}),
        # Several tokens: a beginning of one answer counts for it, what was written is followed.
        (
            [{"Better": 0.6, "Wor": 0.2, "Sim": 0.1}],
            VERDICTS,
            {"Better": 0.6, "Worse": 0.2, "Similar": 0.1},
        ),
        (
            [{"Bet": 0.8, "Wor": 0.2}, {"ter": 0.5, "ting": 0.5}],
            VERDICTS,
            {"Better": 0.4, "Worse": 0.2},
        ),
        (
            [{"very": 0.5, "poor": 0.3}, {" good": 0.75, " poor": 0.25}],
            ("very poor", "poor", "good", "very good"),
            {"very good": 0.375, "very poor": 0.125, "poor": 0.3},
        ),
        ([{"poor": 0.6, "very": 0.4}], ("very poor", "poor", "very good"), {"poor": 0.6}),
        (
            [{'"': 0.5, "Yes": 0.25, "No": 0.25}, {"Yes": 0.8, "No": 0.2}],
            ("Yes", "No"),
            {"Yes": 0.25 + 0.4, "No": 0.25 + 0.1},
        ),
        # Numbers: whole ones where the model writes them so, else by digit.
        (
            [{"85": 0.5, "80": 0.2, "8": 0.1, "100": 0.1, "10": 0.05}],
            PERCENTS,
            {"85": 0.5, "80": 0.2, "8": 0.1, "100": 0.1, "10": 0.05},
        ),
        (
            [{"8": 0.8, "7": 0.2}, {"5": 0.5, "0": 0.25, "\n": 0.25}],
            PERCENTS,
            {"85": 0.4, "80": 0.2, "8": 0.2},
        ),
        ([{"1": 0.6, "9": 0.4}, {"0": 0.9, "\n": 0.1}], TEN, {"10": 0.54, "1": 0.06, "9": 0.4}),
        ([{"1": 0.6, "10": 0.4}, {"\n\n": 0.9, "/": 0.1}], TEN, {"1": 0.6, "10": 0.4}),
        (
            [{"1": 1.0}, {"0": 0.9, "5": 0.1}, {"0": 0.5, "\n": 0.5}],
            PERCENTS,
            {"100": 0.45, "10": 0.45, "15": 0.1},
        ),
        ([{"1": 0.6, "2": 0.4}], TEN, {"1": 0.6, "2": 0.4}),
        ([{"1": 0.6, "2": 0.4}, {".": 1.0}], TEN, {"1": 0.6, "2": 0.4}),
        (
            [{"-1": 0.5, "1": 0.3, "-2": 0.1}],
            ("-2", "-1", "0", "1", "2"),
            {"-1": 0.5, "1": 0.3, "-2": 0.1},
        ),
    ],
)
def test_the_tokens_of_answers_are_added_up(lists, answers, expected):
    result = found([listed(one) for one in lists], answers)
    assert shares(result) == expected
    assert list(result.values) == list(answers)
    assert math.fsum(result.values.values()) == pytest.approx(1)
    assert result.mass == pytest.approx(math.fsum(expected.values()))


def test_the_answer_may_begin_inside_a_token():
    tokens = [listed({"score: ": 1.0}), listed({': "Yes': 0.5, ': "No': 0.3, "Yes": 0.1})]
    result = found(tokens, ("Yes", "No"), start=len('score: : "'))
    assert shares(result) == {"Yes": 0.6, "No": 0.3}


def test_the_token_that_was_written_counts_once_whether_or_not_it_is_listed():
    no = ("No", log(0.3))
    for top in ((no,), (("Yes", log(0.6)), no)):
        result = found([TokenLogprob("Yes", log(0.6), top)], ("Yes", "No"))
        assert shares(result) == {"Yes": 0.6, "No": 0.3}
    twice = TokenLogprob("Yes", log(0.5), (("Yes", log(0.5)), ("Yes", log(0.2))))
    assert found([twice], ("Yes", "No")).mass == pytest.approx(0.7)


@for_each(
    ("token", "answers", "start", "mass", "reason"),
    [
        (
            listed({"Maybe": 0.55, "Yes": 0.3, "No": 0.1}),
            ("Yes", "No"),
            0,
            0.4,
            "the answers that are listed hold 0.40 of the probability, less than 0.5",
        ),
        (listed({"4.5": 0.6, "4": 0.3, "5": 0.1}), LEVELS, 0, 0.4, "the answers that are listed"),
        (listed({"Bet": 0.9, "Wor": 0.1}), VERDICTS, 0, 0.1, "the answers that are listed"),
        (listed({"score: ": 1}), VERDICTS, 7, 0, "the log-probabilities end before the answer"),
        (
            TokenLogprob("Yes", -0.1),
            ("Yes", "No"),
            0,
            0,
            "there are log-probabilities, but of no other answers",
        ),
        (
            TokenLogprob("Yes", math.nan, (("No", -1.0),)),
            ("Yes", "No"),
            0,
            0,
            "the log-probabilities are no numbers",
        ),
    ],
)
def test_where_there_are_none_it_says_why(token, answers, start, mass, reason):
    result = found([token], answers, start)
    assert (result.mode, result.values, result.mass) == ("none", {}, pytest.approx(mass))
    assert result.reason.startswith(reason)


def test_just_half_is_enough_and_a_server_may_say_minus_infinity_or_more_than_certain():
    half = TokenLogprob("Yes", log(0.5), (("No", -99.0),))
    assert found([half], ("Yes", "No")).mode == "probabilities"
    odd = TokenLogprob("Yes", 0.5, (("No", -math.inf), ("no", -9999.0)))
    assert found([odd], ("Yes", "No")).values == {"Yes": 1.0, "No": 0.0}


@pytest.mark.parametrize("answers", [(), ("Yes", " yes"), ("",), ("**", "*")])
def test_answers_that_cannot_be_told_apart_are_refused(answers):
    with pytest.raises(ValueError, match=r"expected at least one answer|differ by more than"):
        found([listed({"Yes": 1.0})], answers)


PIECES = st.text(alphabet="01258.Yesno \n\"'*é８", max_size=4)
CHANCES = st.floats(allow_nan=True, allow_infinity=True)
TOKENS = st.lists(
    st.builds(TokenLogprob, PIECES, CHANCES, st.lists(st.tuples(PIECES, CHANCES)).map(tuple)),
    max_size=5,
)


@pytest.mark.no_cover
@settings(max_examples=40)
@given(TOKENS, st.integers(min_value=0, max_value=12), st.sampled_from([PERCENTS, ("Yes", "No")]))
def test_whatever_a_server_lists_the_shares_sum_to_one_or_there_are_none(tokens, start, answers):
    result = found(tokens, answers, start)
    assert 0 <= result.mass <= 1
    if result.mode == "none":
        assert result.reason
        assert result.values == {}
    else:
        assert result.mass >= 0.5
        assert math.fsum(result.values.values()) == pytest.approx(1)
        assert min(result.values.values()) >= 0


# Probabilities reach the steps of a judge by every way to a model, or the reason why not.

ITEM = RatedItem(source="Ann left Rome.", response="Ann left.")
HEADER = "[[ ## score ## ]]\n"
END = "\n\n[[ ## completed ## ]]\n"
TOKENS_REPLY_PROBABILITIES = [
    {HEADER: 0.0},
    {"70": log(0.5), "80": log(0.3), " 70": log(0.1), "The": log(0.1)},
    {END: 0.0},
]
SCORED = {"answer": f"{HEADER}70{END}"}
EXPECTED = {"70": pytest.approx(0.6 / 0.9), "80": pytest.approx(0.3 / 0.9)}
WANTED = ProbabilitiesOf(field="score", answers=("60", "70", "80"), top=4)


class Asking(ActiveCritic):
    """Asks for a grade, with the probabilities of three answers, and keeps what came back."""

    replies: ClassVar = []

    def steps(self, item):
        reply = yield PromptRequest(predictor="grade", inputs=item.texts, probabilities=WANTED)
        self.replies.append(reply)
        return Judgement.unscored(reply.cause.text if reply.cause else "kept")


def by_template(judge, lm):
    score_batch(judge, [ITEM], lm=lm)


def by_forward(judge, lm):
    with dspy.context(lm=lm):
        judge(source=ITEM.source, response=ITEM.response)


def by_aforward(judge, lm):
    async def run():
        with dspy.context(lm=lm):
            await judge.acall(source=ITEM.source, response=ITEM.response)
        await lm_client_of(lm).aclose()

    asyncio.run(run())


@pytest.fixture(params=[by_template, by_forward, by_aforward])
def reply_of(request):
    """Return what a model replies, by one way to it after another."""

    def reply(lm):
        Asking.replies.clear()
        request.param(Asking(variant="vanilla"), lm)
        (found,) = Asking.replies
        return found

    return reply


@pytest.fixture(scope="module")
def running():
    with loopback.serving(answer=SCORED["answer"]) as server:
        yield server


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def lm(server):
    made = model("openai/m", api_base=server.url, ledger=None)
    yield made
    lm_client_of(made).engine.close()


class TestServers:
    def test_one_with_log_probabilities(self, server, lm, reply_of):
        server.script(
            {**SCORED, "tokens": TOKENS_REPLY_PROBABILITIES, "contains": '"top_logprobs":4'}
        )
        reply = reply_of(lm)
        found = reply.probabilities["score"]
        assert {answer: p for answer, p in found.values.items() if p} == EXPECTED
        assert (found.mode, found.mass) == ("probabilities", pytest.approx(0.9))
        assert reply.fields["score"] == 70
        assert "logprobs" not in reply.fields

    def test_one_that_passes_over_the_wish(self, lm, reply_of):
        reply = reply_of(lm)
        assert reply.fields["score"] == 70
        assert reply.probabilities["score"].mode == "none"
        assert reply.probabilities["score"].reason == "the endpoint gave no log-probabilities"

    def test_one_that_refuses_is_asked_without_and_not_again(self, server, lm, reply_of):
        said = '{"error": {"message": "This model does not support logprobs."}}'
        server.script({"contains": "logprobs", "status": 400, "body": said})
        for n_requests in (2, 3):
            reply = reply_of(lm)
            assert reply.fields["score"] == 70
            reason = reply.probabilities["score"].reason
            assert reason.startswith("the endpoint refuses log-probabilities: openai/m")
            assert "does not support logprobs" in reason
            assert server.counts()["requests"] == n_requests

    def test_any_other_refusal_is_one(self, server, lm):
        server.script({"status": 400, "body": '{"error": {"message": "bad words"}}'})
        with pytest.raises(ModelError, match="bad words"):
            by_forward(Asking(variant="vanilla"), lm)
        (found,) = score_batch(Asking(variant="vanilla"), [ITEM], lm=lm)
        assert "bad words" in found.problem
        assert server.counts()["requests"] == 2

    def test_nothing_is_asked_for_that_is_not_wanted(self, server, lm):
        score_batch(ActiveCritic(variant="vanilla"), [ITEM], lm=lm)
        assert "logprobs" not in server.counts()["recent"][0]["body"]

    def test_a_model_may_be_made_to_give_another_number(self, server, reply_of):
        lm = model("openai/m", api_base=server.url, ledger=None, logprobs=True, top_logprobs=2)
        reply_of(lm)
        assert server.counts()["recent"][0]["body"]["top_logprobs"] == 2
        lm_client_of(lm).engine.close()


def test_both_ways_ask_one_question_and_the_ledger_keeps_its_probabilities(server, tmp_path):
    server.script({**SCORED, "tokens": TOKENS_REPLY_PROBABILITIES, "contains": "top_logprobs"})
    lm = model("openai/m", api_base=server.url, ledger=tmp_path / "ledger.sqlite")
    Asking.replies.clear()
    for way in (by_template, by_forward, by_template):
        way(Asking(variant="vanilla"), lm)
    assert server.counts()["requests"] == 1
    first, *others = Asking.replies
    assert first.probabilities["score"].mode == "probabilities"
    assert not first.recorded
    assert all(one == replace(first, recorded=True) for one in others)
    score_batch(ActiveCritic(variant="vanilla"), [ITEM], lm=lm)
    assert server.counts()["requests"] == 2  # without log-probabilities it is another question
    lm_client_of(lm).engine.close()


def test_the_offline_model_gives_them(reply_of):
    reply = reply_of(model("offline", ledger=None))
    found = reply.probabilities["score"]
    assert found.mode in ("probabilities", "none")
    assert reply == reply_of(model("offline", ledger=None))


def test_a_model_that_is_not_ours_shows_them_through_dspy(server):
    server.script({**SCORED, "tokens": TOKENS_REPLY_PROBABILITIES, "contains": "top_logprobs"})
    lm = dspy.LM("openai/m", api_base=server.url, api_key="x", cache=False)
    for way in (by_forward, by_template):
        Asking.replies.clear()
        way(Asking(variant="vanilla"), lm)
        (reply,) = Asking.replies
        found = reply.probabilities["score"].values
        assert {answer: p for answer, p in found.items() if p} == EXPECTED


def test_a_model_that_is_not_ours_and_has_none():
    lm = dspy.utils.DummyLM([{"score": "70"}])
    Asking.replies.clear()
    by_forward(Asking(variant="vanilla"), lm)
    found = Asking.replies[0].probabilities["score"]
    assert found.reason == "the model gives no log-probabilities"


class TestInAnAnswer:
    def answer(self, *tokens, text=None):
        return ModelAnswer(text=text or "".join(t.token for t in tokens), logprobs=tokens)

    def score(self, written="70"):
        return TokenLogprob(written, log(0.8), ((written, log(0.8)), ("60", log(0.2))))

    def found(self, answer, **fields):
        return probabilities_in(answer, WANTED, fields)["score"]

    def test_tokens_may_hold_more_than_the_text_at_its_end(self):
        tokens = (TokenLogprob(HEADER, 0.0), self.score(), TokenLogprob("<|eot|>", 0.0))
        assert self.found(self.answer(*tokens, text=f"{HEADER}70"), score=70).mass == 1

    def test_odd_tokens_elsewhere_do_no_harm(self):
        words = (
            "[[ ## explanation ## ]]\nNice \N{PARTY POPPER} and more and more of it, really.\n\n"
        )
        odd = words.replace("\N{PARTY POPPER}", "\ufffd\ufffd")
        tokens = (TokenLogprob(odd, 0.0), TokenLogprob(HEADER, 0.0), self.score())
        found = self.found(self.answer(*tokens, text=f"{words}{HEADER}70"), score=70)
        assert found.values["70"] == pytest.approx(0.8)

    def test_tokens_that_do_not_spell_the_answer_are_not_used(self):
        tokens = (TokenLogprob("▁score", 0.0), self.score("▁70"))
        found = self.found(self.answer(*tokens, text=f"{HEADER}70"), score=70)
        assert found.reason == "the tokens that came with the answer do not spell it"

    def test_an_answer_between_two_points_is_not_weighed(self):
        tokens = (TokenLogprob(HEADER, 0.0), self.score("70.5"))
        found = self.found(self.answer(*tokens), score=70.5)
        assert found.reason == "the answer '70.5' is none of those that are weighed"

    def test_an_answer_in_other_words_is_not_weighed(self):
        tokens = (TokenLogprob(HEADER, 0.0), self.score("seventy"))
        found = self.found(self.answer(*tokens), score=70)
        assert found.reason.startswith("it cannot be told where")

    def test_what_the_engine_dropped_is_the_reason(self):
        dropped = ("config.logprobs dropped: this provider has none",)
        found = self.found(ModelAnswer(text=f"{HEADER}70", adaptations=dropped), score=70)
        assert found.reason == (
            "the endpoint gave no log-probabilities "
            "(config.logprobs dropped: this provider has none)"
        )

    def test_every_record_has_its_own(self):
        wanted = ProbabilitiesOf(
            field="assessments", answers=("60", "70", "80"), records=("wit", "pun", "rest")
        )
        tokens = (
            TokenLogprob('[[ ## assessments ## ]]\n[{"criterion": "pun", "score": ', 0.0),
            self.score(),
            TokenLogprob('}, {"criterion": "wit", "score": ', 0.0),
            TokenLogprob("80", log(0.9), (("80", log(0.9)), ("70", log(0.1)))),
            TokenLogprob("}]", 0.0),
        )
        read = [
            Assessment(criterion=c, explanation="", score=s) for c, s in (("pun", 70), ("Wit", 80))
        ]
        found = probabilities_in(self.answer(*tokens), wanted, {"assessments": read})
        assert found["pun"].values["60"] == pytest.approx(0.2)
        assert found["wit"].values["70"] == pytest.approx(0.1)
        assert found["rest"].reason == "there is no answer to be weighed"


@for_each(
    ("status", "said", "refused"),
    [
        (400, "Unknown parameter: top_logprobs", True),
        (422, "log_probs: extra fields not permitted", True),
        (None, "config.logprobs cannot be carried", True),
        (500, "logprobs failed", False),
        (400, "unknown parameter: seed", False),
    ],
)
def test_refusals_are_known_by_what_they_speak_of(status, said, refused):
    assert (refusal_of(ModelError(said, status=status)) is not None) == refused


# Scores that are weighed by probabilities, and what several answers come to, by hand.

RUBRIC = Rubric(criteria={"wit": "Is it funny?", "truth": "Is it true?"})
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


@pytest.mark.no_cover
class TestWhatIsWeighed:
    def test_one_question(self):
        found, engine = judged(variant="vanilla")
        assert found.raw == found.score == pytest.approx(18.75)
        how = found.weighting["overall"]
        assert (how.mode, how.stated, how.reason) == ("probabilities", 0, "")
        assert how.mass == pytest.approx(0.8)
        assert engine.requests[0].settings.logprobs == 20

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


@pytest.mark.no_cover
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


@pytest.mark.no_cover
@for_each(
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
def test_several_answers_come_to_one(reduction, answers, expected):
    choices = {"samples": len(answers), "temperature": 0.7, "weighting": "none"}
    found, _ = judged(
        lambda request: bare({answers[request.sample % len(answers)]: 1.0}),
        variant="vanilla",
        reduction=reduction,
        **choices,
    )
    assert found.raw == found.score == expected


@pytest.mark.no_cover
def test_criteria_are_reduced_alike_and_samples_may_be_weighed_too():
    def script(request):
        return records(wit={"155"[request.sample]: 1.0}, truth={"112"[request.sample]: 1.0})

    found, _ = judged(script, overall="mean", samples=3, reduction="mode", weighting="none")
    scores = {name: one.score for name, one in found.criteria.items()}
    assert (scores, found.score) == ({"wit": 100, "truth": 0}, 50)

    def script(request):
        return bare([HALF, {"1": 0.9}, {"what": 0.9, "5": 0.1}][request.sample])

    found, _ = judged(script, variant="vanilla", samples=2)
    assert found.score == pytest.approx((87.5 + 0) / 2)
    assert modes(found) == {"overall": "probabilities"}
    assert found.weighting["overall"].stated == pytest.approx((75 + 0) / 2)


@pytest.mark.no_cover
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
