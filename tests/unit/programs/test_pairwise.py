"""Pairwise judges, preferences and comparisons of texts."""

import itertools
import random

import dspy
import pytest
from comparer import Comparer, by_worth
from exporting import saved_judge
from looping import for_each

from judgesmith.programs import (
    DirectJudge,
    Panel,
    PreferenceJudge,
    SavedJudge,
    iter_scores,
    prefer_each,
    score_batch,
)
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.families.pairwise import (
    ALONE,
    Comparisons,
    OneOrder,
    PairwiseConfig,
    Preference,
    ResponsePair,
    merge_ranked,
    most_calls,
    most_merge_comparisons,
    pair_steps,
)
from judgesmith.programs.lm import Budget, ModelError, lm_client_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.judgement import Reason

# The responses to a source are ranked by comparisons, in an order that rows do not decide.


def of_source(worths, source="s", **more):
    return [
        RatedItem(source_id=source, source=source, response=f"text {n}", **more) for n in worths
    ]


def scores(judge, items, model, **options):
    found = score_batch(judge, items, lm=model.lm(), **options)
    assert [one.problem for one in found] == [None] * len(items)
    return [one.score for one in found]


def ranked(chances, **how):
    """Return the ranking by comparisons that are all known, from best to worst."""
    made = {}
    for pair, chance in chances.items():
        order = OneOrder(probability=chance, stated=float(chance > 0.5))
        made[pair] = Preference(given=order, swapped=order)
    n = 1 + max(map(max, chances))
    steps = merge_ranked(tuple(range(n)), Comparisons(compare=None, made=made), **how)
    with pytest.raises(StopIteration) as end:
        next(steps)  # nothing is left to ask
    return end.value.value


class TestRanks:
    @for_each("ranking", ["beam", "all"])
    @for_each("n", [2, 3, 5, 8])
    def test_follow_a_judge_that_is_sure(self, ranking, n):
        model = Comparer(by_worth(1.0))
        found = scores(PairwiseJudge(ranking=ranking), of_source(range(n)), model)
        assert found == pytest.approx([100 * k / (n - 1) for k in range(n)])

    def test_of_the_same_texts_are_one(self):
        model = Comparer(by_worth(1.0))
        assert scores(PairwiseJudge(), of_source([1, 2, 1]), model) == [0, 100, 0]
        assert scores(PairwiseJudge(), of_source([1, 1]), Comparer(by_worth())) == [50, 50]

    def test_are_shared_by_neighbours_that_are_even(self):
        def even_in_the_middle(a, b):
            worth = [min(max(int(text[-1]), 1), 2) for text in (a, b)]
            return by_worth(1.0)(*(f"t {one}" for one in worth))

        model = Comparer(even_in_the_middle)
        assert scores(PairwiseJudge(), of_source([0, 1, 2, 3]), model) == pytest.approx(
            [100 / 6, 100 / 6, 500 / 6, 500 / 6]
        )

    def test_are_win_rates_against_all_others(self):
        chances = {("1", "2"): 0.6, ("1", "3"): 0.7, ("2", "3"): 0.9}

        def said(a, b):
            a, b = a[-1], b[-1]
            chance = chances[a, b] if a < b else 1 - chances[b, a]
            return chance, 0.0, 1 - chance

        found = scores(PairwiseJudge(ranking="all"), of_source([1, 2, 3]), Comparer(said))
        assert found == pytest.approx([65, (40 + 90) / 2, (30 + 10) / 2])

    def test_do_not_see_a_liking_for_the_first_place(self):
        fair = scores(PairwiseJudge(ranking="all"), of_source(range(5)), Comparer(by_worth(0.6)))
        model = Comparer(by_worth(0.6, place=0.35))
        assert scores(PairwiseJudge(ranking="all"), of_source(range(5)), model) == pytest.approx(
            fair
        )
        assert scores(PairwiseJudge(), of_source(range(5)), model) == [0, 25, 50, 75, 100]


class TestBeam:
    def test_follows_an_uncertain_comparison_to_what_fits_better(self):
        # Halves 0 > 1 and 2 > 3. By the likelier answers 2, 0, 1, 3: .55 × .6 × .9 = .297.
        # The other way at first 0, 2, 1, 3: .45 × .95 × .9 = .385, of as many comparisons.
        chances = {(0, 1): 0.9, (2, 3): 0.9, (0, 2): 0.45, (0, 3): 0.6, (1, 2): 0.05, (1, 3): 0.9}
        assert ranked(chances, beam=1, doubt=0.1) == (2, 0, 1, 3)
        assert ranked(chances, beam=8, doubt=0.1) == (0, 2, 1, 3)
        assert ranked(chances, beam=8, doubt=0.04) == (2, 0, 1, 3)

    def test_does_not_prefer_a_ranking_for_following_fewer_comparisons(self):
        # All rightly answered at .6; going wrong once may end a merge early, at .4 < .6 × .6.
        pairs = itertools.combinations(range(6), 2)
        assert ranked(dict.fromkeys(pairs, 0.6), beam=64, doubt=0.1) == (*range(6),)

    def test_a_wider_beam_asks_more_where_comparisons_are_uncertain(self):
        counts = []
        for beam in (1, 8):
            model = Comparer(by_worth(0.55))
            scores(PairwiseJudge(beam=beam), of_source(range(8)), model)
            counts.append(len(set(model.asked)))
        assert counts[0] < counts[1] <= most_calls(PairwiseJudge().protocol, 8)

    @pytest.mark.parametrize("doubt", [0.0, 0.1])
    def test_never_asks_more_than_was_reckoned_where_all_are_even(self, doubt):
        judge = PairwiseJudge(doubt=doubt)
        model = Comparer(lambda a, b: (0.1, 0.8, 0.1))
        assert scores(judge, of_source(range(8)), model) == [50] * 8
        assert len(model.asked) <= most_calls(judge.protocol, 8)


class TestCalls:
    @for_each("n", [2, 3, 4, 7, 16])
    def test_are_those_of_a_merge_sort_in_both_orders(self, n):
        model = Comparer(by_worth(0.9))
        scores(PairwiseJudge(), of_source(range(n)), model)
        assert len(set(model.asked)) == len(model.asked)
        assert n - 1 <= len(model.asked) / 2 <= most_merge_comparisons(n)
        assert {(b, a) for a, b in model.asked} == set(model.asked)

    def test_stand_behind_one_item_each(self):
        model = Comparer(by_worth(0.9))
        found = score_batch(PairwiseJudge(), of_source([*range(6), 2]), lm=model.lm())
        calls = [call for one in found for call in one.calls]
        assert len(calls) == len(set(calls)) == len(model.asked)

    def test_do_not_depend_on_the_order_of_rows(self):
        items = [*of_source(range(5), "a"), *of_source(range(4), "b")]
        asked, said = [], []
        for seed in range(3):
            mixed = list(items)
            random.Random(seed).shuffle(mixed)
            model = Comparer(by_worth(0.55))
            found = list(iter_scores(PairwiseJudge(), mixed, lm=model.lm(), concurrency=2))
            assert [item for item, _ in found] == mixed
            asked.append(sorted(model.asked))
            said.append({(item.source, item.response): one for item, one in found})
        assert asked[0] == asked[1] == asked[2]
        assert said[0] == said[1] == said[2]


class TestUnscored:
    def test_a_response_without_others(self):
        model = Comparer(by_worth())
        alone, *others = score_batch(
            PairwiseJudge(), [*of_source([1], "a"), *of_source([1, 2], "b")], lm=model.lm()
        )
        assert (alone.score, alone.problem) == (None, ALONE.text)
        assert [one.score for one in others] == [0, 100]

    def test_sources_with_other_context_are_others(self):
        items = [*of_source([1], context="x"), *of_source([2], context="y")]
        found = score_batch(PairwiseJudge(), items, lm=Comparer(by_worth()).lm())
        assert [one.problem for one in found] == [ALONE.text] * 2

    def test_all_of_a_source_that_the_budget_ends_in(self):
        items = [*of_source(range(4), "a"), *of_source(range(4), "b")]
        lm = Comparer(by_worth()).lm(budget=Budget(max_calls=13))
        found = score_batch(PairwiseJudge(), items, lm=lm)
        assert [one.score for one in found[:4]] == pytest.approx([0, 100 / 3, 200 / 3, 100])
        assert all(one.reason is Reason.OVER_BUDGET for one in found[4:])

    def test_all_of_a_source_with_a_comparison_without_an_answer(self, scripted, answered):
        def script(request):
            return answered(better="A") if "text 0" not in request.user else "No."

        lm, _ = scripted(script)
        items = [*of_source(range(3), "a"), *of_source([1, 2], "b")]
        found = score_batch(PairwiseJudge(weighting="none"), items, lm=lm)
        assert all("a comparison has no answer" in one.problem for one in found[:3])
        assert [one.score for one in found[3:]] == [50, 50]

    def test_only_what_lacks_an_answer_in_win_rates(self, scripted, answered):
        def script(request):
            silent = "text 0" in request.user and "text 1" in request.user
            return "No." if silent else answered(better="tie")

        lm, _ = scripted(script)
        found = score_batch(
            PairwiseJudge(weighting="none", ranking="all"), of_source(range(3)), lm=lm
        )
        assert [one.score for one in found] == [None, None, 50]

    def test_what_no_model_can_receive(self):
        items = [*of_source([1, 2]), RatedItem(source_id="s", source="s", response="\ud800 3")]
        found = score_batch(PairwiseJudge(), items, lm=Comparer(by_worth()).lm())
        assert [one.score for one in found] == [0, 100, None]
        assert "half of a character" in found[2].problem

    def test_a_response_by_itself_through_dspy(self):
        with dspy.context(lm=Comparer(by_worth()).lm()):
            assert PairwiseJudge()(source="s", response="text 1").problem == ALONE.text

    def test_nothing_where_the_model_cannot_be_asked(self):
        def broken(a, b):
            raise ModelError("wrong key", status=401)

        with pytest.raises(ModelError, match="wrong key"):
            score_batch(PairwiseJudge(), of_source([1, 2]), lm=Comparer(broken).lm())


class TestMode:
    def test_is_probabilities_where_all_comparisons_have_them(self):
        found = score_batch(PairwiseJudge(), of_source([1, 2]), lm=Comparer(by_worth()).lm())
        assert {one.weighting["overall"].mode for one in found} == {"probabilities"}

    def test_is_stated_with_the_reason_elsewhere(self):
        model = Comparer(by_worth(), logprobs=False)
        found = score_batch(PairwiseJudge(), of_source([1, 2]), lm=model.lm())
        assert [one.score for one in found] == [0, 100]
        assert {one.weighting["overall"].mode for one in found} == {"stated"}
        assert "no log-probabilities" in found[0].weighting["overall"].reason


@pytest.mark.parametrize("ranking", ["beam", "all"])
def test_both_ways_to_ask_and_the_saved_judge_give_the_same(ranking, tmp_path):
    judge = PairwiseJudge(ranking=ranking)
    items = of_source(range(5))
    model = Comparer(by_worth(0.55, place=0.05))
    fast = score_batch(judge, items, lm=model.lm())
    with dspy.context(lm=model.lm()):
        slow = judge.rank(source="s", responses=[item.response for item in items])
    saved_judge(judge, model="scripted/m").save(tmp_path / "judge")
    again = SavedJudge.load(tmp_path / "judge")
    assert fast == slow == score_batch(again, items, lm=model.lm())


def test_no_panel_holds_it():
    with pytest.raises(ValueError, match="ranks cannot be combined"):
        Panel({"a": PairwiseJudge()}, PanelWeights.model_construct())


# Which of two texts is better is asked in both orders, and a liking for a place falls out.

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
        pair = ResponsePair(source="s", first="a", second="b")
        steps = pair_steps(PairwiseConfig(samples=3, weighting="none"), pair)
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
