import numpy as np
import pytest

from judgesmith.data import DataSet, read_items
from judgesmith.experiments.evaluate.perspectives.ratings import (
    builders,
    errors_of,
    on_levels_of,
    right_levels,
)
from judgesmith.signatures import RatedItem, Scale

LIKERT = Scale(low=1, high=5)
PUBLISHED = {
    "coherence": (13, 29, 33, 14, 111),
    "consistency": (14, 14, 5, 1, 1306),
    "fluency": (5, 10, 24, 2, 1150),
    "relevance": (5, 19, 37, 84, 83),
}


def rated(*ratings, scale=LIKERT, **extra):
    items = [
        RatedItem(
            source_id=str(place),
            response=f"r{place}",
            human={"wit": one} if one else {},
            scale={"wit": scale},
            extra=extra,
        )
        for place, one in enumerate(ratings)
    ]
    return DataSet(name="toy", items=tuple(items))


def test_only_texts_on_which_all_raters_agree_have_a_level():
    found = right_levels(rated((4, 4, 4), (4, 4, 5), (1, 1), ()), "wit")
    np.testing.assert_equal(found.values, [4, np.nan, 1, np.nan])
    assert found.counts.n_kept == (1, 0, 0, 1, 0)
    assert found.counts.n_dropped == (0, 0, 0, 1, 0)
    assert (found.n_unrated, found.n_built, found.kept.tolist()) == (1, 0, [0, 2])


def test_of_published_means_those_at_an_end_are_undisputed_and_others_unknown():
    found = right_levels(rated((5,), (1,), (4,), (3.67,), human_detail="mean"), "wit")
    np.testing.assert_equal(found.values, [5, 1, np.nan, np.nan])
    assert (found.counts.n_unknown, found.counts.n_too_few) == (2, 0)


def test_a_lone_number_between_levels_is_a_mean_and_one_on_a_level_too_few():
    found = right_levels(rated((4.5,), (5,), (2, 2)), "wit")
    np.testing.assert_equal(found.values, [np.nan, np.nan, 2])
    assert (found.counts.n_unknown, found.counts.n_too_few) == (1, 1)


def test_a_text_that_was_made_for_its_rating_has_it():
    found = right_levels(rated((3,), (5,), provenance={"perspective": "global"}), "wit")
    assert (found.values.tolist(), found.n_built) == ([3, 5], 2)


def test_other_aggregations_keep_every_rated_text():
    data = rated((1, 2, 2), (5,), (1, 5, 5, 1))
    assert right_levels(data, "wit", "mode").values.tolist() == [2, 5, 3]
    assert right_levels(data, "wit", "mean").values.tolist() == [pytest.approx(5 / 3), 5, 3]
    assert on_levels_of(right_levels(data, "wit", "mean")).tolist() == [2, 5, 3]
    assert right_levels(data, "wit", "median").counts is None
    same = [right_levels(data, "wit", how).values for how in (None, "unanimous")]
    np.testing.assert_equal(*same)


def test_where_people_counted_faults_more_of_them_is_worse():
    faults = Scale(low=0, high=4, higher_is_better=False)
    found = right_levels(rated((0, 0), (3, 3), scale=faults), "wit")
    assert found.values.tolist() == [4, 1]
    assert found.counts.n_kept == (1, 0, 0, 1, 0)


def test_ratings_between_whole_points_can_be_agreed_on_but_are_no_levels():
    found = right_levels(rated((2.5, 2.5), (1, 1), (2, 3)), "wit")
    np.testing.assert_equal(found.values, [2.5, 1, np.nan])
    with pytest.raises(ValueError, match=r"lie between the whole points of 1\.\.5"):
        on_levels_of(found)
    assert on_levels_of(right_levels(rated((2.5, 2.5), (1, 1)), "wit", "mean")).tolist() == [3, 1]
    wide = right_levels(rated((0.1, 0.1), (0.4,), scale=Scale(low=0, high=0.5)), "wit")
    with pytest.raises(ValueError, match=r"0\.\.0\.5, has no levels"):
        on_levels_of(wide)


def test_too_many_different_ratings_to_agree_on_are_refused():
    many = [(n / 1000, n / 1000) for n in range(300)]
    with pytest.raises(ValueError, match="302 different numbers"):
        right_levels(rated(*many, (7.0, 7.0), (6.0, 6.0), scale=Scale(low=0, high=7)), "wit")


def test_what_built_a_benchmark_is_read_from_its_rows_whatever_they_hold():
    made = [{"built_by": {"writer": "a", "injector": "b"}, "n_errors": 2}, {"built_by": "a"}, 3]
    items = [RatedItem(response="", extra={"provenance": one}) for one in made]
    data = DataSet(name="toy", items=tuple(items))
    assert builders(data) == {"writer": ("a",), "injector": ("b",)}
    np.testing.assert_equal(errors_of(data), [2, np.nan, np.nan])
    odd = [{"n_errors": one} for one in (True, -1, "2", 10**30, 0)]
    items = [RatedItem(response="", extra={"provenance": one}) for one in odd]
    np.testing.assert_equal(errors_of(DataSet(name="toy", items=tuple(items))), [np.nan] * 4 + [0])


@pytest.mark.data
def test_summeval_keeps_as_many_as_published_at_both_ends_and_no_more_between(data_folder):
    data = read_items(data_folder / "summeval.jsonl.gz")
    for criterion, published in PUBLISHED.items():
        counts = right_levels(data, criterion).counts
        assert (counts.n_kept[0], counts.n_kept[-1]) == (published[0], published[-1])
        hidden = np.subtract(published, counts.n_kept)
        assert hidden.min() >= 0
        assert hidden.sum() <= counts.n_unknown
        assert criterion != "consistency" or counts.n_kept == published
