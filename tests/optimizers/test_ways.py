import dspy
import numpy as np
import pytest

from judgesmith.optimizers.ridge import LIMIT
from judgesmith.optimizers.rows import rows_of
from judgesmith.optimizers.ways import ways_of
from judgesmith.programs.aggregating import aggregate
from judgesmith.programs.features import FEATURE_NAMES
from judgesmith.signatures import Judgement, Scale

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
    return rows, judgements, {way.name: way for way in ways_of(rows, judgements)}


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
    again = {way.name: way for way in ways_of(rows, judgements)}
    assert again["criteria"].predictions(inside, outside) == pytest.approx(before)


def test_a_fit_on_equal_ratings_is_undefined():
    rows, judgements = rated()
    same = rows.human == 3
    by_name = {way.name: way for way in ways_of(rows, judgements)}
    found = by_name["criteria"].predictions(np.flatnonzero(same), np.flatnonzero(~same))
    assert np.isnan(found).all()
