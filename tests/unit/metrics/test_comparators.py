"""Inside metrics: comparators."""

import numpy as np
import pytest

from judgesmith.metrics.comparators import (
    anchor_pairs,
    comparator_accuracy,
    neighbour_probabilities,
    seen_kinds,
)
from judgesmith.metrics.resampling import share_interval

# -- The four probabilities of texts and their neighbours' anchors, and a comparator' ------------


NAN = float("nan")


def probabilities(relations, ratings, **more):
    usual = {"levels": [1, 2, 3], "sources": list(range(len(ratings)))}
    return neighbour_probabilities(relations, ratings, **{**usual, **more})


def four(found):
    return [
        one.value
        for one in (found.beats_below, found.beats_own, found.loses_to_own, found.loses_to_above)
    ]


# Three texts with the ratings 2, 1 and 3 against two anchors each of 1, 2 and 3, by hand:
RELATIONS = [
    [[1, 1], [1, 0], [-1, 0]],  # beats 2 of 2 below; wins 1 and loses 0 of 2; loses to 1 of 2
    [[-1, 0], [-1, -1], [-1, -1]],  # nothing below; wins 0 and loses 1 of 2; loses to 2 of 2
    [[1, 1], [-1, 1], [1, -1]],  # beats 1 of 2 below; wins 1 and loses 1 of 2; nothing above
]


def test_probabilities_are_those_worked_by_hand():
    assert four(probabilities(RELATIONS, [2, 1, 3])) == pytest.approx([3 / 4, 2 / 6, 2 / 6, 3 / 4])


def test_a_text_without_a_rating_takes_no_part():
    found = probabilities([*RELATIONS, [[0, 0]] * 3], [2, 1, 3, NAN])
    assert four(found) == pytest.approx([3 / 4, 2 / 6, 2 / 6, 3 / 4])


def test_comparisons_without_an_answer_are_left_out_and_counted():
    gaps = [[[1, NAN], [NAN, NAN], [-1, 1]]]
    found = probabilities(gaps, [2], n_anchors=[[2, 1, 2]])
    assert (found.beats_below.n, found.beats_own.n, found.loses_to_above.value) == (1, 0, 0.5)
    assert found.n_unanswered == 2  # the second of own is an anchor of the text's own source


def test_intervals_are_over_sources():
    found = probabilities(RELATIONS, [2, 1, 3], sources=["s", "t", "s"])
    expected = share_interval([1, 1, 1, 0], sources=["s"] * 4)
    assert found.beats_below.n_groups == expected.n_groups == 1
    assert found.beats_own.n_groups == 2
    assert found.beats_own.low < found.beats_own.value < found.beats_own.high


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"ratings": [4]}, "none of"),
        ({"levels": [1, 2]}, "shape"),
        ({"sources": []}, "one source per text"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(more, said):
    with pytest.raises(ValueError, match=said):
        probabilities(**{"relations": [RELATIONS[0]], "ratings": [2], **more})


class TestComparatorAccuracy:
    LEVELS = (0, 0, 1, 2)  # two anchors of the lowest rating, one each of the others

    def accuracy(self, signs, **more):
        pairs = anchor_pairs(self.LEVELS)
        return comparator_accuracy(signs, pairs, levels_of=self.LEVELS, **more)

    def test_is_the_share_of_pairs_in_which_the_higher_rating_wins(self):
        # 0-2, 0-3, 1-2, 1-3 and 2-3: right, wrong, similar, right, right
        found = self.accuracy([-1, 1, 0, -1, -1], disagreed=[False, False, True, False, None])
        assert (found.value, found.n, found.n_groups) == (3 / 5, 5, 4)
        assert (found.similar, found.disagree) == (1 / 5, 1 / 4)
        assert found.by_gap == {"1": 2 / 3, "2": 1 / 2}

    def test_pairs_without_an_answer_are_left_out_and_counted(self):
        found = self.accuracy([-1, NAN, NAN, NAN, -1])
        assert (found.value, found.n, found.n_unanswered) == (1, 2, 3)

    def test_has_an_interval_also_where_everything_is_right(self):
        found = self.accuracy([-1] * 5)
        assert found.low == pytest.approx(share_interval([1] * 4, sources=range(4)).low)
        assert (found.value, found.high, found.n) == (1, 1, 5)

    def test_pairs_of_one_rating_are_none(self):
        assert anchor_pairs([1, 1]) == []
        with pytest.raises(ValueError, match="the same rating"):
            comparator_accuracy([1], [(0, 1)], levels_of=[0, 0])

    def test_needs_a_sign_per_pair(self):
        with pytest.raises(ValueError, match="one sign per pair"):
            self.accuracy([1, 1])

    @pytest.mark.no_cover
    def test_intervals_hold_the_truth_about_as_often_as_they_say(self):
        # Anchors differ in how well they show what they are worth, so their pairs hang together.
        rng = np.random.default_rng(7)
        levels = np.repeat(np.arange(5), 5)
        pairs = anchor_pairs(levels.tolist())
        one, other = np.array(pairs).T

        def signs():
            shown = levels + rng.normal(scale=1.2, size=len(levels))
            return np.sign((shown[one] - shown[other]) + rng.normal(scale=0.5, size=len(pairs)))

        right = np.sign(levels[one] - levels[other])
        truth = np.mean([np.mean(signs() == right) for _ in range(2000)])
        held = 0
        for _ in range(200):
            found = comparator_accuracy(signs(), pairs, levels_of=levels.tolist())
            held += found.low <= truth <= found.high
        assert 0.88 <= held / 200 <= 0.99


# -- Which kinds of errors a comparator sees, and which it surely misses -------------------------


def kinds(**signs):
    """Return what is seen of each kind, with as many sources as it has pairs."""
    names = [name for name, several in signs.items() for _ in several]
    flat = [sign for several in signs.values() for sign in several]
    sources = [place for several in signs.values() for place in range(len(several))]
    return {one.kind: one for one in seen_kinds(names, flat, sources=sources)}


def test_shares_are_of_the_pairs_of_a_kind_with_an_interval_over_sources():
    found = kinds(typos=[1, 1, 1, 0], names=[0, -1, 1, NAN])
    assert found["typos"].seen.to_dict() == share_interval([1, 1, 1, 0], sources=range(4)).to_dict()
    assert (found["names"].seen.value, found["names"].fooled) == pytest.approx((1 / 3, 1 / 3))
    assert (found["names"].n_unanswered, found["typos"].n_unanswered) == (1, 0)


def test_the_least_seen_come_first_and_those_of_which_nothing_is_known_before_them():
    found = seen_kinds(["b", "c", "a", "d"], [1, NAN, 1, 0], sources=[1, 1, 1, 1])
    assert [one.kind for one in found] == ["c", "d", "a", "b"]


def test_a_kind_is_told_blind_or_seen_only_where_there_is_no_doubt():
    found = kinds(
        blind=[0] * 12 + [1], seen=[1] * 12 + [0], unclear=[1, 0] * 6, few=[0], none=[NAN]
    )
    sight = {name: one.sight for name, one in found.items()}
    assert sight == {
        "blind": "blind",
        "seen": "sees",
        "unclear": "unclear",
        "few": "unclear",
        "none": "unclear",
    }


def test_being_fooled_is_no_better_than_seeing_no_difference():
    assert kinds(fooled=[-1] * 12)["fooled"].sight == "blind"


def test_many_pairs_of_one_source_are_no_proof():
    (found,) = seen_kinds(["typos"] * 50, [0] * 50, sources=["s"] * 50)
    assert found.sight == "unclear"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"signs": [2]}, "1, 0 or -1"),
        ({"signs": [1, 1]}, "one kind, sign and source"),
        ({"sources": []}, "one kind, sign and source"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_of_seen_kinds(arguments, said):
    usual = {"kinds": ["typos"], "signs": [1], "sources": ["s"]}
    with pytest.raises(ValueError, match=said):
        seen_kinds(**{**usual, **arguments})
