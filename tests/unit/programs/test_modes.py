"""Every judge that goes by probabilities says at a server how its scores came about."""

from math import log

import dspy
import loopback
import pytest

from judgesmith.programs import family_of, known_families, score_batch
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Rubric

ITEMS = [RatedItem(source="Ann left.", response=said, source_id="1") for said in ("A.", "B.")]
RUBRIC = Rubric(criteria={"brevity": "Is it short?"})
WEIGHED = {"weighting": "probabilities"}
FIVE = {**WEIGHED, "answers": "1..5"}
# Six tenths for what is said, two for another answer and two for a third or for none of them.
LEVELS = ("4", "5", "x")
BY_LEVELS = (0.6 * 75 + 0.2 * 100) / 0.8
# Family, choices, field, answers, and by hand: the score by probabilities and the one stated.
JUDGES = [
    ("active-critic", {**FIVE, "variant": "vanilla"}, "score", LEVELS, BY_LEVELS, 75),
    ("direct", FIVE, "score", LEVELS, BY_LEVELS, 75),
    ("explain-eval", {**FIVE, "explain": "none"}, "score", LEVELS, BY_LEVELS, 75),
    ("g-eval", {}, "score", LEVELS, BY_LEVELS, 75),
    ("checklist", {"plan": "rubric"}, "score", ("yes", "no", "x"), 100 * 0.6 / 0.8, 100),
    # Whatever stands first is liked, which both orders make even.
    ("pairs", {}, "better", ("A", "tie", "B"), 50, 50),
    # s = (1 + 2)(.6 - .2) = 1.2 of 3; where Better is all that is drawn, s = 3.
    ("exemplar", {"levels": 2}, "verdict", ("Better", "Worse", "Similar"), 70, 100),
]
NAMES = [name for name, *_ in JUDGES]


@pytest.fixture(scope="module")
def running():
    with loopback.serving() as server:
        yield server


@pytest.fixture
def lm(running):
    running.reset()
    written = ({"contains": f"\\n{k} of 2", "answer": f"[[ ## exemplar ## ]]\n{k}."} for k in "12")
    running.script(*written)
    made = model("openai/m", api_base=running.url, ledger=None)
    yield made
    lm_client_of(made).engine.close()


def judged(name, choices, lm):
    return score_batch(family_of(name).start(RUBRIC, **choices), ITEMS, lm=lm)


def answer(field, said, **more):
    return {"answer": f"[[ ## {field} ## ]]\n{said}\n\n[[ ## completed ## ]]\n", **more}


def hows(found):
    return [how for one in found for how in one.weighting.values()]


@pytest.mark.parametrize(
    ("name", "choices", "field", "said", "weighed", "stated"), JUDGES, ids=NAMES
)
class TestAtAServer:
    def test_with_log_probabilities(self, running, lm, name, choices, field, said, weighed, stated):
        top = dict(zip(said, map(log, (0.6, 0.2, 0.2)), strict=True))
        tokens = [{f"[[ ## {field} ## ]]\n": 0.0}, top, {"\n\n[[ ## completed ## ]]\n": 0.0}]
        running.script(answer(field, said[0], tokens=tokens, contains="top_logprobs"))
        found = judged(name, choices, lm)
        assert [one.score for one in found] == [pytest.approx(weighed)] * 2
        assert {how.mode for how in hows(found)} == {"probabilities"}
        assert len(hows(found)) >= 2

    @pytest.mark.no_cover
    @pytest.mark.parametrize("refuses", [False, True])
    def test_without_the_mode_and_the_reason_are_told(
        self, running, lm, name, choices, field, said, weighed, stated, refuses
    ):
        if refuses:
            fault = '{"error": {"message": "logprobs are not supported"}}'
            running.script({"contains": "logprobs", "status": 400, "body": fault})
        running.script(answer(field, said[0]))
        found = judged(name, choices, lm)
        assert [one.score for one in found] == [pytest.approx(stated)] * 2
        mode = ("samples", 5) if name == "exemplar" else ("stated", 0)
        assert {(how.mode, how.n) for how in hows(found)} == {mode}
        reason = "refuses log-probabilities" if refuses else "gave no log-probabilities"
        assert all(reason in how.reason for how in hows(found))


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["active-critic", "direct", "explain-eval", "g-eval"])
@pytest.mark.parametrize(
    ("levels", "parts", "score"),
    [
        # Digit by digit: .5 of 75 and 70 as .6 to .4; what begins with 8 is told apart nowhere
        ("0..100", [("7", {"7": 0.5, "8": 0.3}), ("5", {"5": 0.6, "0": 0.4})], 73),
        # 1 begins 10, and what follows parts them: .3 each, beside .4 of 9
        ("1..10", [("1", {"1": 0.6, "9": 0.4}), ("0", {"0": 0.5, "\n\n": 0.5})], 30 + 320 / 9),
        # As likely as each other, and a tenth that is not listed
        ("0..100", [("70", {"70": 0.45, "80": 0.45})], 75),
    ],
    ids=["digits", "shared beginning", "tie"],
)
def test_levels_of_several_tokens_are_weighed_by_hand(running, lm, name, levels, parts, score):
    listed = [{token: log(p) for token, p in top.items()} for _, top in parts]
    tokens = [{"[[ ## score ## ]]\n": 0.0}, *listed, {"\n\n[[ ## completed ## ]]\n": 0.0}]
    running.script(answer("score", "".join(written for written, _ in parts), tokens=tokens))
    alone = {"variant": "vanilla"} if name == "active-critic" else {"asks": "overall"}
    explain = {"explain": "none"} if name == "explain-eval" else {}
    found = judged(name, {**WEIGHED, **alone, **explain, "answers": levels}, lm)
    assert [one.score for one in found] == [pytest.approx(score)] * 2
    assert {how.mode for how in hows(found)} == {"probabilities"}


def test_every_other_judge_refuses_to_weigh():
    others = [
        one for one in known_families() if one.judge not in {family_of(n).judge for n in NAMES}
    ]
    assert {"gptscore", "prometheus", "reference"} <= {one.name for one in others}
    for family in others:
        if family.judge.startswith("judgesmith."):
            with pytest.raises(ValueError, match="weighting"):
                family.start(RUBRIC, **WEIGHED)


@pytest.mark.no_cover
def test_where_nothing_is_weighed_nothing_is_said_to_be(lm, running):
    running.script(answer("score", "4"))
    with dspy.context(lm=lm):
        found = family_of("direct").start(RUBRIC, answers="1..5")(source="s", response="r")
    assert (found.score, found.weighting) == (75, {})
