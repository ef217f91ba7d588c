from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.items import DataSet
from judgesmith.data.reading import read_items
from judgesmith.experiments.evaluate.describing import rating_summary
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)

# One-way ICC of one rater and of the mean, as the data folder's description gives them.
RELIABILITY = {
    "summeval": {
        "coherence": (0.576, 0.803),
        "consistency": (0.899, 0.964),
        "fluency": (0.738, 0.894),
        "relevance": (0.494, 0.745),
    },
    "newsroom": {
        "informativeness": (0.291, 0.552),
        "relevance": (0.169, 0.378),
        "fluency": (0.026, 0.075),
        "coherence": (0.087, 0.223),
    },
    "qags_cnndm": {"consistency": (0.568, 0.797)},
    "topical_chat": {"understandability": (0.483, 0.737), "overall": (0.661, 0.854)},
    "wiki_da": {"simplicity": (0.294, 0.862)},
}


def summary(values, ratings=None, scale=LIKERT):
    said = [(one,) if np.isfinite(one) else () for one in values] if ratings is None else ratings
    return rating_summary("overall", scale, values, said, rng=np.random.default_rng(0))


@pytest.mark.no_cover
@given(st.lists(st.integers(1, 5), min_size=2, max_size=12))
def test_ties_match_the_definition_counted_pair_by_pair(values):
    pairs = list(combinations(values, 2))
    assert summary(values).tied == pytest.approx(np.mean([a == b for a, b in pairs]))


def test_the_best_end_follows_the_direction_of_the_scale():
    assert summary([1, 5, 5]).at_top == pytest.approx(2 / 3)
    faults = Scale(low=1, high=5, higher_is_better=False)
    assert summary([1, 5, 5], scale=faults).at_top == pytest.approx(1 / 3)


def test_unrated_items_are_counted_and_in_no_number():
    found = summary([1, float("nan"), 5], [(1,), (), (5,)])
    assert (found.n_rated, found.n_unrated, found.mean) == (2, 1, 3)
    assert found.raters == {0: 1, 1: 2}


def test_agreement_rests_on_items_with_several_ratings_alone():
    several = [(1, 2), (4, 4), (3, 5)]
    alone = [*several, (1,), (5,)]
    first = summary([np.mean(one) for one in several], several)
    second = summary([np.mean(one) for one in alone], alone)
    for name in ("alpha_interval", "alpha_ordinal", "icc_single", "icc_mean", "ceiling"):
        assert getattr(first, name) == getattr(second, name)
    assert (first.n_several, second.n_several) == (3, 3)


def test_one_rating_per_item_leaves_agreement_undefined():
    found = summary([1, 2, 3])
    undefined = [found.alpha_interval, found.icc_single, found.icc_mean, found.ceiling]
    assert np.isnan(undefined).all()


@pytest.mark.parametrize("name", RELIABILITY)
def test_reliability_of_real_sets_is_as_published_beside_them(data_folder, name):
    data: DataSet = read_items(data_folder / f"{name}.jsonl.gz")
    for criterion, (single, mean) in RELIABILITY[name].items():
        said = [item.human[criterion] for item in data]
        values = [np.mean(one) for one in said]
        found = summary(values, said, data.scales[criterion])
        assert (found.icc_single, found.icc_mean) == pytest.approx((single, mean), abs=6e-4)


def test_two_way_correlations_are_of_the_columns_that_may_be_people():
    lenient = [(1, 2), (2, 3), (4, 5), (3, 4)]
    values = [np.mean(one) for one in lenient]
    found = summary(values, lenient)
    assert (found.who, found.icc_consistency) == ("unnamed", pytest.approx(1))
    assert found.icc_single < found.icc_agreement < 1
    uneven = summary([*values, 3], [*lenient, (3, 3, 3)])
    assert uneven.who == "uneven"
    assert np.isnan([uneven.icc_agreement, uneven.icc_consistency]).all()
    assert uneven.rater_vs_rest.n_groups == 5


def test_a_rater_is_held_against_the_mean_of_the_others():
    said = [(1, 2, 2), (4, 4, 5), (3, 5, 4), (2, 2, 1), (5, 4, 4)]
    found = summary([np.mean(one) for one in said], said)
    table = np.asarray(said, float)
    rest = [np.delete(table, n, axis=1).mean(axis=1) for n in range(3)]
    direct = np.mean([np.corrcoef(table[:, n], rest[n])[0, 1] for n in range(3)])
    assert found.rater_vs_rest.value == pytest.approx(direct)
    assert (found.rater_vs_rest.n, found.rater_vs_rest.n_groups) == (15, 5)


@pytest.mark.parametrize(
    ("values", "ratings", "why"),
    [
        ([1, 5], [(1,), (5,)], "each item has a single value, one rating, or a figure without"),
        ([1.5, 5], [(1.5,), (5,)], "each item has a single value, a mean or another figure"),
        ([1.5, 5], [(), ()], "its criteria have different numbers of ratings"),
        ([1, 4.5], [(1,), (4, 5)], "a single item has several ratings"),
        ([3, 3], [(3, 3), (3, 3)], "the ratings of half of the raters are all equal"),
        ([3, 3], [(1, 5), (5, 1)], "halves of the raters correlate with -1.00; there is nothing"),
        ([float("nan")], [()], "no item has a value"),
    ],
)
def test_where_there_is_no_ceiling_it_says_why(values, ratings, why):
    found = summary(values, ratings)
    assert np.isnan(found.ceiling)
    assert found.no_ceiling.startswith(why)


def test_where_there_is_a_ceiling_there_is_no_excuse():
    assert summary([1.5, 4, 4], [(1, 2), (4, 4), (3, 5)]).no_ceiling is None
