"""Which of two texts is better is asked in both orders, and a liking for a place falls out."""

import dspy
import pytest
from comparer import Comparer, by_worth

from judgesmith.programs import DirectJudge, PreferenceJudge, prefer_each
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.families.pairwise import PairwiseConfig, ResponsePair, preference_steps
from judgesmith.programs.lm import Budget, ModelError, lm_client_of
from judgesmith.signatures.judgement import Reason
from judgesmith.signatures.scale import PREFERENCES

PAIR = ResponsePair(source="Ann left Rome.", first="text 2", second="text 1")


def preferred(lm, pair=PAIR, **choices):
    ((_, found),) = prefer_each(PairwiseJudge(**choices), [pair], lm=lm)
    return found


class TestBothOrders:
    def test_are_asked_and_averaged(self):
        model = Comparer(lambda a, b: (0.6, 0.2, 0.2) if a == "text 2" else (0.1, 0.4, 0.5))
        found = preferred(model.lm())
        assert sorted(model.asked) == [("text 1", "text 2"), ("text 2", "text 1")]
        assert found.given.probability == pytest.approx(0.6 + 0.1)
        assert found.swapped.probability == pytest.approx(0.5 + 0.2)
        assert found.probability == pytest.approx(0.7)
        assert (found.given.stated, found.swapped.stated, found.disagree) == (1, 1, False)
        assert found.given.mode == "probabilities"
        assert len(set(found.calls)) == 2

    @pytest.mark.parametrize("pair", [PAIR, ResponsePair(source="s", first="text 1", second="t 2")])
    def test_a_liking_for_a_place_is_seen_and_falls_out(self, pair):
        fair = preferred(Comparer(by_worth(0.7)).lm(), pair)
        found = preferred(Comparer(by_worth(0.7, place=0.3)).lm(), pair)
        assert found.disagree
        assert found.first_place == pytest.approx(0.3)
        assert found.probability == pytest.approx(fair.probability)
        assert fair.first_place == pytest.approx(0)

    def test_a_model_that_sees_only_the_place_says_nothing(self):
        found = preferred(Comparer(lambda a, b: (1.0, 0.0, 0.0)).lm())
        assert (found.probability, found.disagree) == (0.5, True)
        assert found.first_place == pytest.approx(0.5)

    def test_a_tie_counts_half(self):
        found = preferred(Comparer(lambda a, b: (0.1, 0.8, 0.1)).lm())
        assert (found.probability, found.given.stated) == (0.5, 0.5)


class TestWithoutProbabilities:
    def test_the_stated_answer_stands_and_says_so(self):
        found = preferred(Comparer(by_worth(0.7), logprobs=False).lm())
        assert (found.probability, found.given.mode) == (1, "stated")
        assert "gave no log-probabilities" in found.given.reason

    def test_none_are_asked_for_where_none_are_wanted(self):
        found = preferred(Comparer(by_worth(0.7)).lm(), weighting="none")
        assert (found.probability, found.given.mode, found.given.reason) == (1, "stated", "")

    def test_samples_are_counted(self, scripted, answered):
        said = iter(["A", "B", "A", "B", "B", "B"])
        lm, engine = scripted(lambda request: answered(better=next(said)))
        steps = preference_steps(
            PairwiseConfig(samples=3, weighting="none"), source="s", first="a", second="b"
        )
        with dspy.context(lm=lm):
            found = PairwiseJudge(samples=3, weighting="none").run(steps)
        # One after the other through DSPy: A to both orders, then B, and so on in rounds.
        assert len(engine.requests) == 6
        assert found.given.mode == "samples"
        assert found.given.probability == pytest.approx(2 / 3)
        assert found.swapped.probability == pytest.approx(1)
        assert (found.given.stated, found.swapped.stated) == (1, 1)


class TestMissingAnswers:
    def test_an_order_without_an_answer_leaves_no_probability(self, scripted, answered):
        def script(request):
            first = request.user.index("text 2") < request.user.index("text 1")
            return answered(better="A") if first else "I would rather not say."

        lm, engine = scripted(script)
        found = preferred(lm, weighting="none")
        assert (found.given.stated, found.probability, found.disagree) == (1, None, None)
        assert "could not be read" in found.problem
        assert len(engine.requests) == 3  # the silent order is asked once more

    def test_what_is_none_of_the_answers_is_unreadable(self, scripted, answered):
        lm, _ = scripted(lambda request: answered(better="Both are fine"))
        found = preferred(lm, weighting="none")
        assert "expected one of B, tie, A" in found.problem

    def test_half_a_character_is_never_sent(self):
        model = Comparer(by_worth())
        found = preferred(model.lm(), ResponsePair(source="s", first="\ud800", second="b"))
        assert "first response holds half of a character" in found.problem
        assert model.asked == []

    def test_a_spent_budget_leaves_pairs_unasked(self):
        model = Comparer(by_worth())
        pairs = [ResponsePair(source="s", first=f"text {n}", second="text 0") for n in range(1, 4)]
        lm = model.lm(budget=Budget(max_calls=4))
        found = [one for _, one in prefer_each(PairwiseJudge(), pairs, lm=lm)]
        assert [one.probability is None for one in found] == [False, False, True]
        assert found[2].cause.reason is Reason.OVER_BUDGET
        assert lm_client_of(lm).usage.calls == 4

    def test_a_model_that_cannot_be_asked_ends_it(self):
        def broken(a, b):
            raise ModelError("wrong key", status=401)

        with pytest.raises(ModelError, match="wrong key"):
            preferred(Comparer(broken).lm())

    def test_a_model_whose_answers_nobody_can_read_is_not_asked_on(self, scripted):
        lm, engine = scripted(lambda request: "Hm.")
        pairs = [ResponsePair(source=f"s{n}", first="a", second="b") for n in range(100)]
        with pytest.raises(ModelError, match="nothing that the model answered could be read"):
            list(prefer_each(PairwiseJudge(weighting="none"), pairs, lm=lm, concurrency=1))
        assert len(engine.requests) < 100

    def test_one_order_with_an_answer_is_enough_to_ask_on(self, scripted, answered):
        def script(request):
            first = request.user.index("text 2") < request.user.index("text 1")
            return answered(better="A") if first else "Hm."

        lm, _ = scripted(script)
        pairs = [ResponsePair(source=f"s{n}", first="text 1", second="text 2") for n in range(40)]
        found = [one for _, one in prefer_each(PairwiseJudge(weighting="none"), pairs, lm=lm)]
        assert all(one.problem for one in found)


class TestPreferenceJudge:
    @pytest.mark.parametrize("weighting", ["none", "probabilities"])
    def test_asks_through_dspy_what_many_pairs_are_asked(self, weighting):
        lm = Comparer(by_worth(0.7, place=0.1)).lm()
        with dspy.context(lm=lm):
            slow = PreferenceJudge(weighting=weighting)(
                source=PAIR.source, first=PAIR.first, second=PAIR.second
            )
        assert slow == preferred(lm, weighting=weighting)

    def test_takes_a_judge_or_choices(self):
        judge = PairwiseJudge(samples=2)
        assert PreferenceJudge(judge).judge is judge
        assert PreferenceJudge(judge, ranking="all").protocol.samples == 2
        assert PreferenceJudge(PairwiseConfig(beam=3)).protocol.beam == 3

    def test_refuses_a_judge_that_scores_single_texts(self):
        with pytest.raises(ValueError, match="a direct judge does not compare"):
            PreferenceJudge(DirectJudge())
        with pytest.raises(ValueError, match="compile one with --judge pairs"):
            prefer_each(DirectJudge(), [])

    def test_a_text_is_a_text(self):
        with pytest.raises(TypeError, match="second response must be a text; got int"):
            PreferenceJudge()(source="s", first="a", second=3)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"answers": "1..5"}, "answered with A, tie, B"),
        ({"beam": 0}, "beam"),
        ({"doubt": 0.6}, "doubt"),
        ({"judge": "direct"}, "protocol of pairs|direct"),
        (
            {
                "aggregation": {
                    "kind": "linear",
                    "terms": ["overall"],
                    "centers": [0],
                    "spreads": [1],
                    "weights": [2],
                }
            },
            "cannot be weighed",
        ),
    ],
)
def test_what_makes_no_judge_that_compares_is_refused(choices, said):
    with pytest.raises(ValueError, match=said):
        PairwiseJudge(**choices)


def test_hostile_texts_stand_in_fences(hostile, offline):
    lm, asked = offline
    pair = ResponsePair(source=hostile, first=hostile, second="Ann left.")
    found = preferred(lm, pair)
    if found.problem is None:
        turned = ResponsePair(source=hostile, first="Ann left.", second=hostile)
        assert preferred(lm, turned).probability == pytest.approx(1 - found.probability)
        assert found.disagree is False
    else:
        assert asked == []


def test_the_answers_stand_worst_first():
    assert PREFERENCES.labels == ("B", "tie", "A")
