import numpy as np
import pytest
from discerning import PADDING, TYPOS, scored, texts

from judgesmith.experiments.robustness.discerning import differing, weak_pairs


def pairs_of(scores, given, **more):
    more.setdefault("lowers", True)
    return weak_pairs(scores, 0, given.kinds[0].name, given.originals, given.versions[0], **more)


def test_the_worst_pairs_come_first_and_noticed_damage_is_no_weak_spot():
    given = texts(5, TYPOS)
    originals = np.full((5, 1), 50.0)
    versions = [originals - np.array([[5], [-9], [0], [-2], [7]])]
    found = pairs_of(scored(originals, versions), given, n=5)
    assert [pair.source_id for pair in found] == ["1", "3", "2"]
    assert (found[0].before, found[0].after) == (50.0, 59.0)
    assert (found[0].said_of_original, found[0].said_of_version) == (
        "fluency is 50",
        "fluency is 59",
    )


def test_of_a_control_they_are_the_ones_that_lost():
    given = texts(3, PADDING)
    originals = np.full((3, 1), 50.0)
    versions = [originals - np.array([[5], [0], [9]])]
    found = pairs_of(scored(originals, versions), given, lowers=False, n=5)
    assert [pair.source_id for pair in found] == ["2", "0"]


def test_only_metrics_that_should_notice_count():
    given = texts(2, TYPOS)
    originals = np.full((2, 2), 50.0)
    versions = [np.array([[40.0, 90.0], [51.0, 10.0]])]
    scores = scored(originals, versions, ("fluency", "relevance"))
    found = pairs_of(scores, given, weights={"fluency": 1.0, "relevance": 0.0})
    assert [(pair.source_id, pair.metric) for pair in found] == [("1", "fluency")]


def test_unscored_pairs_are_no_weak_spots():
    given = texts(2, TYPOS)
    originals = np.array([[50.0], [np.nan]])
    found = pairs_of(scored(originals, [np.full((2, 1), 60.0)]), given)
    assert [pair.source_id for pair in found] == ["0"]


@pytest.mark.parametrize("change", ["", "b", "a" * 500 + "b", "\ud800", "\u202e"])
def test_texts_are_cut_around_their_first_difference(change):
    first, second = differing("a" * 500 + "c" * 500, "a" * 500 + change)
    assert max(len(first), len(second)) <= 122
    assert first.startswith("…")
