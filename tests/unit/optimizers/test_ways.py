import dspy
import numpy as np
import pytest

from judgesmith.optimizers.fitting.aggregation import LIMIT, combiners_of
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.programs.judging.scoring import aggregate
from judgesmith.signatures import Aggregation, CriterionScore, Judgement, Scale

NAMES = ("truth", "style")


def rated(n=60, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 100, size=(n, 3))
    human = np.clip(np.round(1 + 4 * points[:, 1] / 100 + 0.5 * rng.normal(size=n)), 1, 5)
    examples = [
        dspy.Example(
            source=f"Ann met {i} people in Rome.",
            response=f"She met {i % 7} of {i}" + "." * (i % 3),
            score=float(human[i]),
            group=i // 2,
        )
        for i in range(n)
    ]
    judgements = [
        Judgement(
            score=row[0],
            raw=row[0],
            criteria={name: {"score": p} for name, p in zip(NAMES, row[1:], strict=True)},
        )
        for row in points
    ]
    return rows_of(examples, Scale(low=1, high=5)), judgements


def ways():
    rows, judgements = rated()
    return rows, judgements, {way.name: way for way in combiners_of(rows, judgements)}


def test_terms_are_spelled_as_the_artifact_reads_them():
    _, _, by_name = ways()
    assert by_name["criteria"].names == ("overall", "criterion:truth", "criterion:style")
    assert by_name["mean"].names == ("criterion:truth", "criterion:style")
    assert by_name["lexical"].names[3:] == tuple(f"lexical:{name}" for name in FEATURE_NAMES)


@pytest.mark.parametrize("name", ["overall", "mean", "criteria", "lexical"])
def test_the_judge_scores_what_the_fit_predicts(name):
    rows, judgements, by_name = ways()
    everything = np.arange(len(rows))
    predicted = by_name[name].predictions(everything, everything)
    learned = by_name[name].aggregation()
    for item, judgement, expected in zip(rows.items, judgements, predicted, strict=True):
        found = aggregate(learned, judgement, item.source, item.context, item.response)
        assert found.score == pytest.approx(expected, abs=1e-9)


def test_learned_ways_carry_scale_and_limit_and_no_term_without_weight():
    rows, _, by_name = ways()
    learned = by_name["lexical"].aggregation()
    assert learned.kind == "linear"
    assert learned.scale == rows.scale
    assert learned.limit == LIMIT
    assert all(learned.weights)
    assert set(learned.terms) < set(by_name["lexical"].names)


def test_predictions_do_not_depend_on_what_people_said_of_the_predicted_rows():
    rows, judgements, by_name = ways()
    inside, outside = np.arange(0, 40), np.arange(40, 60)
    before = by_name["criteria"].predictions(inside, outside)
    human = rows.human.copy()
    human[outside] = 6 - human[outside]
    object.__setattr__(rows, "human", human)
    again = {way.name: way for way in combiners_of(rows, judgements)}
    assert again["criteria"].predictions(inside, outside) == pytest.approx(before)


def test_a_fit_on_equal_ratings_is_undefined():
    rows, judgements = rated()
    same = rows.human == 3
    by_name = {way.name: way for way in combiners_of(rows, judgements)}
    found = by_name["criteria"].predictions(np.flatnonzero(same), np.flatnonzero(~same))
    assert np.isnan(found).all()


OWN = Aggregation(
    kind="linear",
    terms=("criterion:style", "lexical:unknown_names", "overall"),
    centers=(50, 0.1, 50),
    spreads=(20, 0.1, 20),
    weights=(1, 0.25, -0.5),
    intercept=3,
    scale="1..5",
)


def names_of(ways):
    return [way.name for way in ways]


class TestWeightsThatWereLearnedBefore:
    def test_they_come_first_and_score_as_the_judge_does(self):
        rows, judgements = rated()
        own, *others = combiners_of(rows, judgements, own=OWN)
        assert own.name == "own"
        assert own.aggregation() == OWN
        assert names_of(others) == names_of(combiners_of(rows, judgements))
        places = np.arange(len(rows))
        predicted = own.predictions(places[:10], places[10:])
        for place, expected in zip(places[10:], predicted, strict=True):
            item = rows.items[place]
            found = aggregate(OWN, judgements[place], item.source, item.context, item.response)
            assert found.score == expected

    def test_they_do_not_depend_on_what_others_are_fitted_on(self):
        rows, judgements = rated()
        own = combiners_of(rows, judgements, own=OWN)[0]
        outside = np.arange(40, 60)
        one, other = (own.predictions(inside, outside) for inside in (np.arange(2), np.arange(40)))
        assert one.tolist() == other.tolist()

    @pytest.mark.parametrize("kind", ["overall", "mean"])
    def test_what_was_not_learned_is_no_way_of_its_own(self, kind):
        rows, judgements = rated()
        assert "own" not in names_of(combiners_of(rows, judgements, own=Aggregation(kind=kind)))

    def test_weights_of_a_criterion_that_is_gone_are_dropped(self):
        rows, judgements = rated()
        bare = [one.model_copy(update={"criteria": {}}) for one in judgements]
        assert names_of(combiners_of(rows, bare, own=OWN)) == ["overall", "lexical"]
        renamed = [
            one.model_copy(update={"criteria": {"truth": one.criteria["truth"]}})
            for one in judgements
        ]
        assert "own" not in names_of(combiners_of(rows, renamed, own=OWN))

    def test_weights_for_another_scale_are_dropped(self):
        rows, judgements = rated()
        own = OWN.model_copy(update={"scale": Scale(low=0, high=10)})
        assert "own" not in names_of(combiners_of(rows, judgements, own=own))


class TestGaps:
    @pytest.fixture
    def gaps(self):
        """Rows of which the last has no score on style."""
        rows, judgements = rated()
        lost = {**judgements[-1].criteria, "style": CriterionScore(score=None)}
        return rows, [*judgements[:-1], judgements[-1].model_copy(update={"criteria": lost})]

    def test_a_criterion_with_a_gap_is_not_weighed_and_the_mean_is_no_way(self, gaps):
        ways = {way.name: way for way in combiners_of(*gaps)}
        assert list(ways) == ["overall", "criteria", "lexical"]
        assert ways["criteria"].names == ("overall", "criterion:truth")
        assert not np.isnan(ways["lexical"].terms).any()

    def test_weights_learned_on_it_are_dropped(self, gaps):
        assert "own" not in names_of(combiners_of(*gaps, own=OWN))
