"""Which kinds of errors a comparator sees, and which it surely misses."""

import pytest

from judgesmith.metrics.comparators import seen_kinds
from judgesmith.metrics.resampling import share_interval

NAN = float("nan")


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


def test_a_report_says_what_is_seen_in_plain_values():
    said = kinds(names=[0, 0, 0])["names"].to_dict()
    assert (said["kind"], said["sight"], said["seen"]["value"]) == ("names", "unclear", 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"signs": [2]}, "1, 0 or -1"),
        ({"signs": [1, 1]}, "one kind, sign and source"),
        ({"sources": []}, "one kind, sign and source"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments, said):
    usual = {"kinds": ["typos"], "signs": [1], "sources": ["s"]}
    with pytest.raises(ValueError, match=said):
        seen_kinds(**{**usual, **arguments})
