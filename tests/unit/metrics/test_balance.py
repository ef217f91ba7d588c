"""As many texts of every rating as there can be: which are kept, and what is missing."""

import numpy as np
import pytest

from judgesmith.metrics.anchors import balanced

NAN = float("nan")


def balance(rows, **more):
    """Return the balance of rows of (source, rating, value)."""
    sources, ratings, values = zip(*rows, strict=True) if rows else ((), (), ())
    return balanced(ratings, values, **{"sources": sources, "levels": [1, 2, 3], **more})


def test_the_best_of_each_source_and_rating_are_kept_in_their_order():
    rows = [("a", 1, 0.2), ("a", 1, 1.9), ("b", 1, 0.1), ("a", 1, 1.5), ("a", 2, -0.5)]
    assert balance(rows, per_rating=2).kept == (1, 2, 3, 4)
    assert balance(rows, per_rating=1).kept == (1, 2, 4)


def test_earlier_texts_win_ties_also_but_for_rounding():
    rows = [("a", 1, 0.3), ("a", 1, 0.1 + 0.2), ("a", 1, 0.3)]
    assert balance(rows, per_rating=2).kept == (0, 1)


def test_gaps_are_told_by_source_and_rating_and_in_all():
    rows = [("a", 1, 1), ("a", 1, 1), ("a", 1, 1), ("b", 3, 1), ("a", 3, 1)]
    found = balance(rows, per_rating=2)
    assert found.gaps == (("a", 2, 2), ("a", 3, 1), ("b", 1, 2), ("b", 2, 2), ("b", 3, 1))
    assert found.n_rated == (3, 0, 2)
    assert found.n_kept == (2, 0, 2)
    assert found.n_missing == (2, 4, 2)
    assert found.n_left_out == (1, 0, 0)
    assert sum(n for *_, n in found.gaps) == sum(found.n_missing)


def test_texts_without_a_rating_are_counted_and_not_kept():
    found = balance([("a", NAN, NAN), ("a", 1, 2)])
    assert (found.kept, found.n_unrated, found.n_sources) == ((1,), 1, 1)


def test_sources_of_which_nothing_was_made_are_gaps_as_well():
    found = balance([("b", 1, 2)], per_rating=1, all_sources=["a", "b"])
    assert found.n_sources == 2
    assert found.gaps[:3] == (("a", 1, 1), ("a", 2, 1), ("a", 3, 1))


def test_nothing_at_all_is_one_gap():
    found = balance([], all_sources=["a"], per_rating=2)
    assert (found.kept, found.n_missing) == ((), (2, 2, 2))


def test_everything_is_kept_where_nothing_is_too_much():
    rng = np.random.default_rng(1)
    rows = [(n % 7, int(rng.integers(1, 4)), float(rng.normal())) for n in range(50)]
    found = balance(rows, per_rating=50)
    assert found.kept == tuple(range(50))
    assert sum(found.n_kept) == 50


def test_a_report_counts_the_sources_that_lack_texts():
    found = balance([("a", 1, 1), ("b", 1, 1), ("b", 2, 1)], per_rating=1, levels=[1, 2])
    assert found.to_dict() == {
        "per_rating": 1,
        "n_sources": 2,
        "n_unrated": 0,
        "ratings": [
            {"rating": 1, "rated": 2, "kept": 2, "missing": 0, "sources_lacking": 0},
            {"rating": 2, "rated": 1, "kept": 1, "missing": 1, "sources_lacking": 1},
        ],
    }


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ([("a", 4, 1)], {}, "none of"),
        ([("a", 1, 1)], {"per_rating": 0}, "1 text or more"),
        ([("a", 1, 1)], {"sources": ["a", "b"]}, "one rating, value and source"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(rows, more, said):
    with pytest.raises(ValueError, match=said):
        balance(rows, **more)
