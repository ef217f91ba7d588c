"""`metrics.pairs` against definitions, worked values and other implementations."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each
from scipy.optimize import minimize
from scipy.stats import ttest_rel
from sklearn.metrics import confusion_matrix

from judgesmith.metrics import kendall
from judgesmith.metrics.pairs import (
    accuracy_by_errors,
    adjacent_accuracy,
    bradley_terry,
    calibrate_ties,
    comparisons_by_errors,
    majority_preference,
    order_consistency,
    preference_agreement,
    preferences_from_scores,
    tie_aware_accuracy,
    tie_aware_accuracy_difference,
    tie_aware_accuracy_interval,
)
from judgesmith.metrics.resampling import jackknife_interval, share_interval

# -- adjacent ------------------------------------------------------------------------------------


rated = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, np.nan]), st.integers(1, 5), st.integers(0, 3)),
    max_size=25,
)


def columns(rows):
    return zip(*rows, strict=True) if rows else ([], [], [])


@pytest.mark.no_cover
@given(rated, st.integers(1, 2))
def test_every_pair_from_neighbouring_occupied_ratings_of_a_source_counts(rows, apart):
    predicted, human, sources = columns(rows)
    right, of, tied, unscored = [], [], 0, 0
    for source in dict.fromkeys(sources):
        own = [(p, h) for p, h, other in rows if other == source]
        occupied = sorted({h for _, h in own})
        for worse, better in zip(occupied, occupied[apart:], strict=False):
            for x in [p for p, h in own if h == worse]:
                for y in [p for p, h in own if h == better]:
                    if np.isnan(x) or np.isnan(y):
                        unscored += 1
                    else:
                        right.append(x < y)
                        of.append(source)
                        tied += x == y
    found = adjacent_accuracy(human, predicted, sources=sources, apart=apart)
    assert found.n_unscored == unscored
    assert found.n == len(right)
    assert found.n_groups == len(set(of))
    assert found.n_undefined == len(set(sources)) - len(set(of))
    assert found.tied == pytest.approx(tied / len(right) if right else np.nan, nan_ok=True)
    slow = share_interval(right, sources=of)
    ends = (found.value, found.low, found.high)
    assert ends == pytest.approx((slow.value, slow.low, slow.high), nan_ok=True)


def test_on_sequences_it_is_the_papers_formula():
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 11, size=(30, 6))
    found = adjacent_accuracy(
        np.tile(np.arange(6), 30), scores.ravel(), sources=np.repeat(np.arange(30), 6)
    )
    expected = np.sum(scores[:, :-1] < scores[:, 1:]) / (30 * 5)
    assert found.value == pytest.approx(expected)


def test_sequences_of_unequal_length_are_weighted_by_their_pairs():
    # One pair right of the short sequence, one of three of the long one.
    found = adjacent_accuracy([0, 1, 0, 1, 2, 3], [1, 2, 1, 2, 2, 1], sources=list("aabbbb"))
    assert found.value == pytest.approx(2 / 4)
    assert found.tied == pytest.approx(1 / 4)


def test_a_judge_that_always_ties_is_always_wrong():
    found = adjacent_accuracy(np.tile(np.arange(4), 2), np.ones(8), sources=list("aaaabbbb"))
    assert (found.value, found.tied) == (0, 1)


def test_an_unscored_target_does_not_make_its_neighbours_neighbours():
    found = adjacent_accuracy([0, 1, 2], [1, None, 3], sources=list("aaa"))
    assert (found.n, found.n_unscored) == (0, 2)
    assert np.isnan(found.value)


def test_means_that_differ_by_rounding_alone_are_tied():
    samples = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
    assert np.mean(samples[0]) != np.mean(samples[1])
    for order in ([0, 1], [1, 0]):
        assert adjacent_accuracy(order, samples, sources=list("aa")).tied == 1


def test_large_scores_are_compared_as_they_are():
    assert adjacent_accuracy([0, 1], [-1e308, 1e308], sources=list("aa")).value == 1


@pytest.mark.no_cover
@given(rated)
def test_only_the_order_of_qualities_and_of_scores_counts(rows):
    predicted, human, sources = columns(rows)
    found = adjacent_accuracy(human, predicted, sources=sources)
    other = adjacent_accuracy(
        np.exp(human), -7 + 0.5 * np.array(predicted, float), sources=[f"s{one}" for one in sources]
    )
    assert repr(found) == repr(other)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="got 2 scores of judge and 1 human"):
        adjacent_accuracy([1], [1, 2], sources=list("a"))
    with pytest.raises(ValueError, match="human has no finite score"):
        adjacent_accuracy([1, None], [1, 2], sources=list("aa"))
    with pytest.raises(ValueError, match="row 1 is not"):
        adjacent_accuracy([1, 2], [1, np.inf], sources=list("aa"))
    with pytest.raises(ValueError, match="judge must be an array of numbers"):
        adjacent_accuracy([1, 2], ["x", "y"], sources=list("aa"))
    with pytest.raises(ValueError, match=r"shape \(n_rows,\)"):
        adjacent_accuracy([1, 2], np.ones((2, 2, 2)), sources=list("aa"))
    with pytest.raises(ValueError, match="one label per item"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("a"))
    with pytest.raises(ValueError, match="apart must be 1 or more"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("aa"), apart=0)
    with pytest.raises(TypeError, match="whole number"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("aa"), apart=1.5)
    with pytest.raises(ValueError, match="more than 10,000,000"):
        adjacent_accuracy(np.arange(8000) % 2, np.ones(8000), sources=np.zeros(8000))
    with pytest.raises(ValueError, match="confidence"):
        adjacent_accuracy([1, 2], [1, 2], sources=list("aa"), confidence=95)


def test_the_interval_covers_the_truth_about_as_often_as_it_claims():
    def draw(rng, n):
        # The steps of a sequence are harder to see in some sources than in others.
        noise = rng.gamma(2, 0.5, size=(n, 1))
        scores = np.arange(8) + noise * rng.normal(size=(n, 8))
        return scores.ravel(), np.tile(np.arange(8), n), np.repeat(np.arange(n), 8)

    judge, place, sources = draw(np.random.default_rng(5), 20_000)
    truth = adjacent_accuracy(place, judge, sources=sources).value
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        judge, place, sources = draw(rng, 20)
        found = adjacent_accuracy(place, judge, sources=sources)
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.99


# -- bradley terry -------------------------------------------------------------------------------


# Citing papers, in rows, by cited journal, in columns: Biometrika, Communications in Statistics,
# JASA, JRSS B (Stigler 1994, "Citation patterns in the journals of statistics and probability").
CITATIONS = np.array([[0, 33, 320, 284], [730, 0, 813, 276], [498, 68, 0, 325], [221, 17, 142, 0]])
GAMES = [
    *((0, 1), (0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)),
    *((3, 0), (0, 3), (0, 2), (0, 3), (1, 3)),
]
STRENGTHS = np.linspace(1, -1, 5)
outcomes = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=20,
)


def as_arguments(drawn):
    return dict(zip(("preferred", "first", "second", "sources"), drawn, strict=True))


def of_wins(wins):
    """Return winners and losers, one comparison per win."""
    winner, loser = np.nonzero(wins)
    times = wins[winner, loser]
    return np.repeat(winner, times), np.repeat(loser, times)


def ring(rng, strengths, sources, *, likeness=0.0):
    """Return preferences between neighbours in a ring of systems, for each source."""
    k = len(strengths)
    first = np.tile(np.arange(k), sources)
    second = (first + 1) % k
    own = strengths + likeness * rng.normal(size=(sources, k))
    gap = (own - np.roll(own, -1, axis=1)).ravel()
    won = (rng.random(gap.size) < 1 / (1 + np.exp(-gap))).astype(float)
    return won, first, second, np.repeat(np.arange(sources), k)


def test_strengths_of_journals_and_their_errors_are_those_of_bradleyterry2():
    # R package BradleyTerry2 1.1.3, vignette, section 2.1, on the same citations:
    # BTm(cbind(win1, win2), journal1, journal2, data = citations.sf), Biometrika at 0.
    winner, loser = of_wins(CITATIONS.T)
    found = bradley_terry(np.ones(len(winner)), first=winner, second=loser)
    estimates = found.strengths - found.strengths[0]
    assert estimates == pytest.approx([0, -2.94907, -0.47957, 0.26895], abs=6e-6)
    contrasts = np.eye(4) - np.eye(4)[0]
    errors = np.sqrt(np.diag(contrasts @ found.covariance @ contrasts.T))
    # Theirs take the model as true, ours come from how the comparisons vary.
    assert errors[1:] == pytest.approx([0.10255, 0.06059, 0.07083], rel=0.01)


def test_strengths_are_those_of_choix():
    # choix 0.4.1: choix.ilsr_pairwise(4, GAMES, alpha=0.0, tol=1e-12), and opt_pairwise alike.
    winner, loser = zip(*GAMES, strict=True)
    found = bradley_terry(np.ones(12), first=winner, second=loser)
    expected = [0.7373581228, 0.1520070537, -0.4110990879, -0.4782660886]
    assert found.strengths == pytest.approx(expected, abs=1e-9)


def test_a_tie_is_half_a_win_for_each():
    # choix 0.4.1: ilsr_pairwise_dense(wins, alpha=0.0, tol=1e-12), wins counted from GAMES, and
    # one half each for (1, 2), (2, 1), (0, 3), (3, 0).
    winner, loser = zip(*GAMES, strict=True)
    found = bradley_terry([1] * 12 + [0.5] * 2, first=[*winner, 1, 0], second=[*loser, 2, 3])
    expected = [0.6065802169, 0.0677590681, -0.3270440542, -0.3472952308]
    assert found.strengths == pytest.approx(expected, abs=1e-9)


def test_a_prior_is_comparisons_with_an_average_system():
    # choix 0.4.1: ilsr_pairwise_dense(wins, alpha=0.0, tol=1e-12) of two wins of 0 over 1, one of
    # 1 over 2, and a fourth system with one half each; less the mean of the first three.
    found = bradley_terry([1, 1, 1], first=[0, 0, 1], second=[1, 1, 2], prior=1)
    assert found.strengths == pytest.approx([1.4523087628, -0.2233554536, -1.2289533092], abs=1e-9)


@pytest.mark.no_cover
@settings(max_examples=30)
@given(outcomes, st.sampled_from([0.5, 2.0]))
def test_no_other_strengths_are_more_likely(rows, prior):
    first = np.array([a for a, *_ in rows])
    second = np.array([(a + step) % 4 for a, step, _ in rows])
    preferred = np.array([y for *_, y in rows])
    found = bradley_terry(preferred, first=first, second=second, prior=prior)
    systems = np.array(found.systems)
    a, b = np.searchsorted(systems, first), np.searchsorted(systems, second)

    def loss(strengths):
        gap = strengths[a] - strengths[b]
        own = preferred * np.logaddexp(0, -gap) + (1 - preferred) * np.logaddexp(0, gap)
        average = np.logaddexp(0, strengths) + np.logaddexp(0, -strengths)
        return own.sum() + prior / 2 * average.sum()

    best = minimize(loss, np.zeros(len(systems)), method="BFGS", options={"gtol": 1e-9}).x
    assert found.strengths == pytest.approx(best - best.mean(), abs=1e-4)


@pytest.mark.no_cover
@settings(max_examples=30)
@given(outcomes)
def test_naming_sides_or_systems_otherwise_changes_nothing_else(rows):
    first = [a for a, *_ in rows]
    second = [(a + step) % 4 for a, step, _ in rows]
    preferred = np.array([y for *_, y in rows])
    found = bradley_terry(preferred, first=first, second=second, prior=1)
    turned = bradley_terry(1 - preferred, first=second, second=first, prior=1)
    assert found.systems == turned.systems == tuple(sorted({*first, *second}))
    assert turned.strengths == pytest.approx(found.strengths, abs=1e-9)
    named = bradley_terry(
        preferred, first=["dcba"[a] for a in first], second=["dcba"[b] for b in second], prior=1
    )
    assert named.strengths == pytest.approx(found.strengths[::-1], abs=1e-9)
    lost = bradley_terry(1 - preferred, first=first, second=second, prior=1)
    assert lost.strengths == pytest.approx(-found.strengths, abs=1e-9)


@pytest.mark.no_cover
def test_errors_are_those_of_leaving_out_one_source_at_a_time():
    rng = np.random.default_rng(0)
    won, first, second, sources = ring(rng, np.linspace(1, -1, 5), 120, likeness=1.0)
    found = bradley_terry(won, first=first, second=second, sources=sources)
    without = [
        bradley_terry(won[kept], first=first[kept], second=second[kept]).strengths
        for kept in (sources != source for source in range(120))
    ]
    slow = 119 / 120 * np.sum((np.array(without) - np.mean(without, axis=0)) ** 2, axis=0)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(np.sqrt(slow), rel=0.05)


def test_comparisons_that_repeat_a_source_tell_no_more_than_one():
    winner, loser = zip(*GAMES, strict=True)
    once = bradley_terry(np.ones(12), first=winner, second=loser)
    thrice = bradley_terry(
        np.ones(36), first=winner * 3, second=loser * 3, sources=[*range(12)] * 3
    )
    assert thrice.covariance == pytest.approx(once.covariance)
    assert (once.n_groups, thrice.n_groups, thrice.n) == (12, 12, 36)


def test_a_win_probability_has_the_interval_of_its_log_odds():
    found = bradley_terry([1] * 15 + [0] * 5, first=["a"] * 20, second=["b"] * 20)
    won = found.win_probability("a", "b")
    assert won.value == pytest.approx(0.75)
    error = math.sqrt(20 / 19 / (20 * 0.75 * 0.25))
    # SciPy 1.17.1: scipy.stats.t.ppf(0.975, 19)
    ends = [1 / (1 + math.exp(-(math.log(3) + side * 2.093024054 * error))) for side in (-1, 1)]
    assert (won.low, won.high) == pytest.approx(ends)
    lost = found.win_probability("b", "a")
    assert (lost.low, lost.high) == pytest.approx((1 - won.high, 1 - won.low))
    assert found.win_probability("a", "a").value == 0.5
    strength = found.strength("b")
    assert strength.value == pytest.approx(-math.log(3) / 2)
    assert (strength.n, strength.n_groups) == (20, 20)


def test_one_source_has_strengths_but_no_interval():
    found = bradley_terry([1, 0, 1], first=[0, 0, 0], second=[1, 1, 1], sources=["s"] * 3)
    assert found.strengths[0] > 0
    assert np.isnan(found.covariance).all()
    assert np.isnan([found.strength(0).low, found.win_probability(0, 1).high]).all()


def test_unscored_comparisons_are_left_out_with_systems_that_have_no_other():
    found = bradley_terry([1, 0, None], first=["a", "a", "c"], second=["b", "b", "a"])
    assert found.systems == ("a", "b")
    assert (found.n, found.n_unscored, found.n_comparisons.tolist()) == (2, 1, [2, 2])


def test_systems_that_have_no_order_stand_as_they_came():
    found = bradley_terry([1, 0], first=["a", "a"], second=[1, 1])
    assert found.systems == ("a", 1)


def test_strengths_that_would_be_infinite_are_refused_by_name_unless_there_is_a_prior():
    rows = {"preferred": [1, 1, 1, 0], "first": list("aabc"), "second": list("bccb")}
    with pytest.raises(ValueError, match="'a' never lost to, nor tied with, any of the other"):
        bradley_terry(**rows)
    assert np.isfinite(bradley_terry(**rows, prior=0.5).strengths).all()


def test_systems_that_never_met_directly_or_through_others_are_refused():
    with pytest.raises(ValueError, match="'a', 'b' were never compared with any of the other"):
        bradley_terry([1, 0, 0.5], first=list("aac"), second=list("bbd"))


@pytest.mark.no_cover
def test_nearly_infinite_strengths_are_found():
    wins = np.array([[0, 100_000, 0], [1, 0, 100_000], [0, 1, 0]])
    winner, loser = of_wins(wins)
    found = bradley_terry(np.ones(len(winner)), first=winner, second=loser)
    assert np.diff(found.strengths) == pytest.approx([-math.log(1e5)] * 2, abs=1e-6)


def test_what_cannot_be_is_refused_of_bradley_terry():
    with pytest.raises(ValueError, match="first must hold one label per item; got 1 for 2"):
        bradley_terry([1, 0], first=["a"], second=["b", "b"])
    with pytest.raises(ValueError, match="second holds a missing label"):
        bradley_terry([1, 0], first=["a", "a"], second=["b", None])
    with pytest.raises(TypeError, match="first must be a sequence of labels"):
        bradley_terry([1, 0], first=7, second=["b", "b"])
    with pytest.raises(ValueError, match="comparison 2 is of 'a' with itself"):
        bradley_terry([1, None, 0], first=["a", "a", "a"], second=["b", "b", "a"])
    with pytest.raises(ValueError, match="need 2 to 2,000 systems to compare; got 0"):
        bradley_terry([], first=[], second=[])
    with pytest.raises(ValueError, match="got 2,001"):
        bradley_terry(np.ones(2000), first=[0] * 2000, second=range(1, 2001))
    with pytest.raises(ValueError, match="preferred must be 1"):
        bradley_terry([2], first=["a"], second=["b"])
    with pytest.raises(ValueError, match="prior must be 0 or more"):
        bradley_terry([1], first=["a"], second=["b"], prior=-1)
    with pytest.raises(ValueError, match="confidence"):
        bradley_terry([1], first=["a"], second=["b"], prior=1, confidence=95)
    with pytest.raises(ValueError, match="no comparison is about 'c'; got 'a', 'b'"):
        bradley_terry([1], first=["a"], second=["b"], prior=1).strength("c")
    with pytest.raises(ValueError, match="got 0, 1, 2, 3, 4 and 4 more"):
        bradley_terry(np.ones(8), first=range(8), second=range(1, 9), prior=1).strength("c")


@pytest.mark.no_cover
def test_the_interval_covers_the_truth_about_as_often_as_it_claims_of_bradley_terry():
    rng = np.random.default_rng(0)
    truth = bradley_terry(**as_arguments(ring(rng, STRENGTHS, 40_000, likeness=0.8)))
    covered = np.zeros(2)
    for _ in range(300):
        found = bradley_terry(**as_arguments(ring(rng, STRENGTHS, 40, likeness=0.8)))
        for at, pair in enumerate([(0, 1), (0, 4)]):
            one = found.win_probability(*pair)
            covered[at] += one.low <= truth.win_probability(*pair).value <= one.high
    assert (covered / 300 > 0.91).all()
    assert (covered / 300 < 0.985).all()


# -- error pairs ---------------------------------------------------------------------------------


rows = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, np.nan]), st.integers(0, 4), st.integers(0, 3)),
    min_size=1,
    max_size=20,
)


@pytest.mark.no_cover
@given(rows)
def test_each_cell_is_the_share_of_its_pairs_in_which_fewer_errors_score_higher(rows):
    predicted, errors, sources = zip(*rows, strict=True)
    found = accuracy_by_errors(predicted, errors, sources=sources)
    assert found.errors == tuple(sorted(set(errors)))
    unscored = 0
    for row, a in enumerate(found.errors):
        for column, b in enumerate(found.errors):
            pairs = [
                (x, y)
                for x, m, s in rows
                for y, n, t in rows
                if s == t and m == a and n == b and a != b
            ]
            wins = [(x > y) if a < b else (y > x) for x, y in pairs if not np.isnan(x + y)]
            unscored += len(pairs) - len(wins)
            assert found.n_pairs[row, column] == len(wins)
            expected = np.mean(wins) if wins else np.nan
            assert found.accuracy[row, column] == pytest.approx(expected, nan_ok=True)
    assert found.n_unscored == unscored / 2


def test_the_first_off_diagonal_is_adjacent_accuracy_and_the_kth_pairs_that_are_k_apart():
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 11, size=(20, 6)).astype(float)
    scores[3, 2] = np.nan
    errors, sources = np.tile(np.arange(6), 20), np.repeat(np.arange(20), 6)
    found = accuracy_by_errors(scores.ravel(), errors, sources=sources)
    for k in (1, 2, 5):
        local = adjacent_accuracy(-errors, scores.ravel(), sources=sources, apart=k)
        assert found.at(k) == pytest.approx(local.value)
    assert np.isnan(found.at(6))
    np.testing.assert_equal(found.accuracy, found.accuracy.T)


def test_comparisons_know_which_text_is_first():
    preferred = [1, 1, 0, 0.5, None]
    found = comparisons_by_errors(preferred, [0, 0, 1, 1, 1], [1, 1, 0, 0, 0])
    assert found.accuracy[0, 1] == 1
    assert found.accuracy[1, 0] == 0.5
    assert found.n_pairs.tolist() == [[0, 2], [2, 0]]
    assert (found.n_unscored, found.at(1)) == (1, 0.75)


def test_the_scores_comparisons_are_those_of_the_preferences_they_imply():
    rng = np.random.default_rng(1)
    scores, errors = rng.integers(1, 5, size=(2, 10))
    first, second = np.triu_indices(10, k=1)
    differ = errors[first] != errors[second]
    first, second = first[differ], second[differ]
    preferred = (np.sign(scores[first] - scores[second]) + 1) / 2
    one = accuracy_by_errors(scores, errors, sources=[0] * 10)
    other = comparisons_by_errors(preferred, errors[first], errors[second])
    for k in range(1, 4):
        assert one.at(k) == pytest.approx(other.at(k), nan_ok=True)


def test_scores_too_far_apart_to_subtract_are_compared():
    found = accuracy_by_errors([1.7e308, -1.7e308, None], [0, 1, 2], sources=[0, 0, 0])
    assert (found.at(1), found.n_unscored) == (1, 2)


def test_no_rows_make_an_empty_table():
    found = accuracy_by_errors([], [], sources=[])
    assert found.accuracy.shape == (0, 0)
    assert np.isnan(found.at(1))


def test_what_cannot_be_is_refused_of_error_pairs():
    with pytest.raises(ValueError, match="must be 0 or more; got -1"):
        accuracy_by_errors([1, 2], [0, -1], sources=list("aa"))
    with pytest.raises(ValueError, match="too large a table"):
        accuracy_by_errors(np.ones(1001), np.arange(1001), sources=np.arange(1001))
    with pytest.raises(ValueError, match="equally many errors, the first at index 1"):
        comparisons_by_errors([1, 0], [0, 1], [1, 1])
    with pytest.raises(ValueError, match="must be 1"):
        comparisons_by_errors([2], [0], [1])
    with pytest.raises(ValueError, match="got 1 for 2"):
        comparisons_by_errors([1], [0, 0], [1, 1])


# -- pair votes ----------------------------------------------------------------------------------


votes = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, np.nan]), min_size=4, max_size=4), min_size=1
)


@pytest.mark.no_cover
@given(votes)
def test_the_answer_with_most_votes_wins_and_tied_votes_prefer_neither(votes):
    found = majority_preference(votes)
    for own, given_votes in zip(found, votes, strict=True):
        counts = Counter(vote for vote in given_votes if not np.isnan(vote)).most_common()
        if not counts:
            assert np.isnan(own)
        elif len(counts) > 1 and counts[0][1] == counts[1][1]:
            assert own == 0.5
        else:
            assert own == counts[0][0]


@pytest.mark.no_cover
@given(votes)
def test_orders_and_samples_are_votes_alike_and_sides_are_treated_alike(votes):
    table = np.array(votes)
    found = majority_preference(table)
    np.testing.assert_equal(majority_preference(table.reshape(-1, 2, 2)), found)
    np.testing.assert_equal(majority_preference(table[:, ::-1]), found)
    np.testing.assert_equal(majority_preference(1 - table), 1 - found)


def test_no_votes_prefer_nothing():
    assert majority_preference(np.empty((0, 3))).tolist() == []
    assert np.isnan(majority_preference(np.empty((2, 0)))).all()


def test_scores_become_preferences():
    assert preferences_from_scores([1, 2, 3], [2, 2, 2]).tolist() == [0, 0.5, 1]
    assert preferences_from_scores([0.4, 0.5], [0.3, 0.3], tolerance=0.1).tolist() == [0.5, 1]
    assert preferences_from_scores([0.1 + 0.2], [0.3]).tolist() == [0.5]
    assert preferences_from_scores([], []).tolist() == []
    assert preferences_from_scores([1e308, -1e308], [-1e308, -1e308]).tolist() == [1, 0.5]
    assert np.isnan(preferences_from_scores([None, 1], [1, None])).all()


# -- preferences ---------------------------------------------------------------------------------


answer = st.sampled_from([0.0, 0.5, 1.0])
maybe = st.sampled_from([0.0, 0.5, 1.0, np.nan])
judged = st.lists(st.tuples(maybe, answer, st.integers(0, 4)), max_size=25)
ordered = st.lists(st.tuples(maybe, maybe, st.integers(0, 4)), max_size=25)


def columns_of_preferences(rows):
    return (np.array(column) for column in (zip(*rows, strict=True) if rows else ([], [], [])))


def assert_share(found, yes, items):
    slow = share_interval(np.array(yes, bool), sources=items)
    assert repr(found) == repr(slow)


@pytest.mark.no_cover
@given(judged)
def test_accuracy_counts_equal_answers_of_three_and_of_those_where_people_decide(rows):
    predicted, human, sources = columns_of_preferences(rows)
    found = preference_agreement(human, predicted, sources=sources)
    scored = [(p, h, s) for p, h, s in rows if not np.isnan(p)]
    assert found.n_unscored == len(rows) - len(scored)
    assert_share(found.accuracy, [p == h for p, h, _ in scored], [s for *_, s in scored])
    decided = [row for row in scored if row[1] != 0.5]
    assert_share(found.accuracy_decided, [p == h for p, h, _ in decided], [s for *_, s in decided])


@pytest.mark.no_cover
@given(judged.filter(lambda rows: any(not np.isnan(p) for p, *_ in rows)))
def test_confusion_counts_are_scikit_learns(rows):
    predicted, human, _ = columns_of_preferences(rows)
    scored = ~np.isnan(predicted)
    names = np.array(["second", "neither", "first"])
    p, h = (names[(2 * each[scored]).astype(int)] for each in (predicted, human))
    expected = confusion_matrix(h, p, labels=names)
    assert preference_agreement(human, predicted).confusion == tuple(map(tuple, expected))


@pytest.mark.no_cover
@given(judged)
def test_naming_the_texts_the_other_way_round_changes_no_share(rows):
    predicted, human, sources = columns_of_preferences(rows)
    found = preference_agreement(human, predicted, sources=sources)
    other = preference_agreement(1 - human, 1 - predicted, sources=sources)
    assert repr(found.accuracy) == repr(other.accuracy)
    assert repr(found.accuracy_decided) == repr(other.accuracy_decided)
    assert np.array_equal(np.array(found.confusion)[::-1, ::-1], other.confusion)


@pytest.mark.no_cover
def test_without_sources_every_pair_is_one():
    found = preference_agreement([1, 0, 1, 1], [1, 0, 0.5, 1])
    assert (found.accuracy.value, found.accuracy.n, found.accuracy.n_groups) == (0.75, 4, 4)


@pytest.mark.no_cover
def test_no_pairs_have_no_agreement():
    found = preference_agreement([], [])
    assert np.isnan(found.accuracy.value)
    assert found.confusion == ((0, 0, 0),) * 3
    assert np.isnan(order_consistency([], []).first_place.value)


@pytest.mark.no_cover
@given(ordered)
def test_order_consistency_counts_pairs_answered_in_both_orders(rows):
    given_order, swapped, sources = columns_of_preferences(rows)
    found = order_consistency(given_order, swapped, sources=sources)
    both = [(a, b, s) for a, b, s in rows if not np.isnan(a + b)]
    assert found.n_unscored == len(rows) - len(both)
    items = [s for *_, s in both]
    assert_share(found.consistent, [a == b for a, b, _ in both], items)
    assert_share(found.flipped, [{a, b} == {0, 1} for a, b, _ in both], items)
    first = [(a == 1, s) for a, _, s in both if a != 0.5]
    first += [(b == 0, s) for _, b, s in both if b != 0.5]
    slow = share_interval([yes for yes, _ in first], sources=[s for _, s in first])
    assert repr(found.first_place) == repr(slow)


@pytest.mark.no_cover
@given(ordered)
def test_swapping_the_orders_mirrors_the_first_place(rows):
    given_order, swapped, sources = columns_of_preferences(rows)
    found = order_consistency(given_order, swapped, sources=sources)
    other = order_consistency(swapped, given_order, sources=sources)
    assert repr(found.consistent) == repr(other.consistent)
    mirrored = (other.first_place.low, 1 - other.first_place.value, other.first_place.high)
    assert (
        1 - found.first_place.high,
        found.first_place.value,
        1 - found.first_place.low,
    ) == pytest.approx(mirrored, nan_ok=True)


@pytest.mark.no_cover
def test_a_judge_that_takes_the_first_place_is_never_consistent():
    found = order_consistency(np.ones(40), np.zeros(40))
    assert (found.consistent.value, found.flipped.value, found.first_place.value) == (0, 1, 1)
    assert found.first_place.low > 0.8


@pytest.mark.no_cover
def test_a_consistent_judge_has_no_preference_for_a_place_whatever_it_answers():
    found = order_consistency([1, 1, 1, 0], [1, 1, 1, 0])
    assert found.first_place.value == 0.5


@pytest.mark.no_cover
def test_what_cannot_be_is_refused_of_preferences():
    with pytest.raises(ValueError, match="human has no preference for 1 of 2"):
        preference_agreement([1, None], [1, 0])
    with pytest.raises(ValueError, match="judge must hold one preference per pair"):
        preference_agreement([1, 0], [1])
    with pytest.raises(ValueError, match="swapped must be 1"):
        order_consistency([1], [3])
    with pytest.raises(ValueError, match="one label per item"):
        order_consistency([1], [1], sources=[1, 2])
    with pytest.raises(ValueError, match="confidence"):
        preference_agreement([1], [1], confidence=0)


@pytest.mark.no_cover
def test_intervals_cover_the_truth_about_as_often_as_they_claim():
    rng = np.random.default_rng(0)
    covered, placed = 0, 0
    for _ in range(400):
        # Pairs of a source are alike; the first place wins whenever the judge is unsure.
        sure = rng.beta(3, 1, size=25)[np.repeat(np.arange(25), 4)]
        better = rng.integers(0, 2, size=100)
        a, b = (np.where(rng.random(100) < sure, better, first) for first in (1, 0))
        found = order_consistency(a, b, sources=np.repeat(np.arange(25), 4))
        # Consistent: the better one wins in both, sure or by its place.
        truth = 0.75
        covered += found.consistent.low <= truth <= found.consistent.high
        placed += found.first_place.low <= 0.5 + 0.25 / 2 <= found.first_place.high
    assert 0.92 <= covered / 400 <= 0.99
    assert 0.92 <= placed / 400 <= 0.99


# -- tie accuracy --------------------------------------------------------------------------------


points = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=2, max_size=20)
sourced = st.lists(
    st.tuples(st.sampled_from([1.0, 2.0, 3.0, 5.0, np.nan]), st.integers(1, 3), st.integers(0, 4)),
    min_size=1,
    max_size=25,
)
# Of mt-metrics-eval, commit 0b82d96: the input of test_regression_example of
# mt_metrics_eval/tau_optimization_test.py, rows as sources, without what is missing.
METRIC = [[0, 5, 2, 3, 2], [2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 1]]
HUMAN = [[1, 5, 2, 1, 1], [2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, 3, 2]]
# tau_optimization(metric, human, TauSufficientStats.acc_23).taus for thresholds 0, 1, ..., 8
ACCURACIES = [0.466667, 0.491667, 0.383333, 0.291667, 0.266667, 0.2, 0.158333, 0.158333, 0.116667]


def sign(a, b, tolerance=0):
    return 0 if abs(a - b) <= tolerance else 1 if a > b else -1


def share(rows, tolerance=0):
    """Return tie-aware accuracy, pair by pair."""
    return np.mean(
        [sign(p, q, tolerance) == sign(h, g) for (p, h), (q, g) in combinations(rows, 2)]
    )


@pytest.mark.no_cover
@given(points, st.integers(0, 9))
def test_accuracy_is_the_share_of_pairs_counted_one_by_one(pairs, tolerance):
    predicted, human = zip(*pairs, strict=True)
    found = tie_aware_accuracy(human, predicted, tolerance=tolerance)
    assert found == pytest.approx(share(pairs, tolerance))


@pytest.mark.no_cover
@given(points, st.integers(0, 9))
def test_neither_order_of_rows_nor_scale_nor_direction_matters(pairs, tolerance):
    predicted, human = (np.array(column, float) for column in zip(*pairs, strict=True))
    found = tie_aware_accuracy(human, predicted, tolerance=tolerance)
    turned = tie_aware_accuracy(-human[::-1] * 3 + 7, -predicted[::-1], tolerance=tolerance)
    scaled = tie_aware_accuracy(human, predicted / 7 + 3, tolerance=tolerance / 7)
    assert found == turned == scaled


def test_a_flat_judge_is_right_about_human_ties_only():
    assert tie_aware_accuracy([1, 2, 2, 3], [4, 4, 4, 4]) == pytest.approx(1 / 6)


def test_without_ties_it_is_kendalls_tau_on_a_scale_from_0_to_1():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400))
    assert tie_aware_accuracy(y, x) == pytest.approx((kendall(y, x) + 1) / 2)


def test_rounding_noise_is_no_order():
    assert tie_aware_accuracy([1, 1], [0.1 + 0.2, 0.3]) == 1
    assert tie_aware_accuracy([1, 1], [0.4, 0.3], tolerance=0.1) == 1


@pytest.mark.no_cover
def test_many_rows_take_no_table_of_pairs():
    rng = np.random.default_rng(0)
    human = rng.integers(1, 6, size=200_000)
    judge = human + rng.normal(size=human.size)
    found = tie_aware_accuracy(human, judge, tolerance=0.5)
    part = rng.choice(human.size, size=2000, replace=False)
    assert found == pytest.approx(
        tie_aware_accuracy(human[part], judge[part], tolerance=0.5), abs=0.02
    )


@pytest.mark.parametrize("rows", [[], [3]])
def test_fewer_than_two_items_have_no_accuracy(rows):
    assert np.isnan(tie_aware_accuracy(rows, rows))


def test_scores_that_do_not_pair_up_or_are_missing_are_refused():
    with pytest.raises(ValueError, match="got 2 scores of judge and 1 human"):
        tie_aware_accuracy([1], [1, 2])
    with pytest.raises(ValueError, match="no finite score for 1 of 2 items"):
        tie_aware_accuracy([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="no finite score"):
        tie_aware_accuracy([1, np.inf], [1, 2])
    with pytest.raises(ValueError, match="must be a vector of numbers"):
        tie_aware_accuracy([1, 2], ["good", "bad"])
    with pytest.raises(ValueError, match="tolerance must be"):
        tie_aware_accuracy([1, 2], [1, 2], tolerance=-1)


@for_each(("tolerance", "expected"), list(enumerate(ACCURACIES)))
def test_within_sources_it_is_what_mt_metrics_eval_computes(tolerance, expected):
    sources = [source for source, row in enumerate(METRIC) for _ in row]
    found = tie_aware_accuracy_interval(
        np.concatenate(HUMAN),
        np.concatenate(METRIC),
        sources=sources,
        level="sample",
        tolerance=tolerance,
    )
    assert found.value == pytest.approx(expected, abs=5e-7)


@pytest.mark.no_cover
@given(sourced, st.integers(0, 2))
def test_at_sample_level_it_is_the_mean_over_sources_with_two_scored_rows(rows, tolerance):
    values = []
    for source in {source for *_, source in rows}:
        own = [(p, h) for p, h, other in rows if other == source and not np.isnan(p)]
        values.append(share(own, tolerance) if len(own) > 1 else np.nan)
    predicted, human, sources = zip(*rows, strict=True)
    found = tie_aware_accuracy_interval(
        human, predicted, sources=sources, level="sample", tolerance=tolerance
    )
    assert found.n_undefined == np.count_nonzero(np.isnan(values))
    assert found.n == np.count_nonzero(~np.isnan(predicted))
    expected = np.mean([value for value in values if not np.isnan(value)] or [np.nan])
    assert found.value == pytest.approx(expected, nan_ok=True)


@pytest.mark.no_cover
@given(sourced, st.sampled_from(["sample", "dataset"]))
def test_the_interval_is_the_jackknife_that_computes_all_anew_without_each_source(rows, level):
    rows = [row for row in rows if not np.isnan(row[0])]
    predicted, human, sources = (
        np.array(column) for column in zip(*rows or [(0, 0, 0)], strict=True)
    )
    if level == "sample":
        kept = np.isin(sources, [s for s in sources if np.count_nonzero(sources == s) > 1])
        predicted, human, sources = predicted[kept], human[kept], sources[kept]

    def value(mask):
        return tie_aware_accuracy_interval(
            human[mask], predicted[mask], sources=sources[mask], level=level
        ).value

    slow = jackknife_interval(value, sources=sources, n=len(sources), bounds=(0, 1))
    found = tie_aware_accuracy_interval(human, predicted, sources=sources, level=level)
    assert found.value == pytest.approx(slow.value, nan_ok=True)
    if not np.isclose(slow.low, slow.high):
        assert (found.low, found.high) == pytest.approx((slow.low, slow.high), nan_ok=True)


def test_one_source_has_no_interval_and_one_row_per_source_no_value_at_sample_level():
    one = tie_aware_accuracy_interval([1, 2, 2], [1, 2, 3], sources=list("aaa"), level="dataset")
    assert one.value == pytest.approx(2 / 3)
    assert np.isnan(one.low)
    single = tie_aware_accuracy_interval([1, 2, 2], [1, 2, 3], sources=list("abc"), level="sample")
    assert np.isnan(single.value)
    assert (single.n, single.n_groups, single.n_undefined) == (3, 3, 3)
    none = tie_aware_accuracy_interval([], [], sources=[], level="dataset")
    assert np.isnan(none.value)
    assert none.n_groups == 0


def test_settings_and_labels_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="level must be one of"):
        tie_aware_accuracy_interval([1, 2], [1, 2], sources=list("ab"), level="system")
    with pytest.raises(ValueError, match="one label per item"):
        tie_aware_accuracy_interval([1, 2], [1, 2], sources=list("a"), level="sample")
    with pytest.raises(ValueError, match="missing label"):
        tie_aware_accuracy_interval([1, 2], [1, 2], sources=["a", None], level="sample")
    with pytest.raises(ValueError, match="confidence"):
        tie_aware_accuracy_interval(
            [1, 2], [1, 2], sources=list("ab"), level="sample", confidence=95
        )


@pytest.mark.no_cover
@pytest.mark.parametrize("level", ["sample", "dataset"])
def test_the_interval_covers_the_truth_about_as_often_as_it_claims_of_tie_accuracy(level):
    def draw(rng, n):
        sources = np.repeat(np.arange(n), 6)
        true = 0.5 * rng.normal(size=n)[sources] + rng.normal(size=6 * n)
        return true + rng.normal(size=6 * n), np.clip(np.round(true), -1, 1), sources

    judge, people, sources = draw(np.random.default_rng(5), 20_000)
    settings = {"level": level, "tolerance": 0.3}
    many = tie_aware_accuracy_interval(people, judge, sources=sources, **settings)
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        judge, people, sources = draw(rng, 20)
        found = tie_aware_accuracy_interval(people, judge, sources=sources, **settings)
        covered += found.low <= many.value <= found.high
    assert 0.9 <= covered / 200 <= 0.985


def fair(rng, n_sources, noise=1.0):
    """Return two judges, the second with some noise, what people say, and the sources."""
    sources = np.repeat(np.arange(n_sources), 5)
    true = 0.5 * rng.normal(size=n_sources)[sources] + rng.normal(size=sources.size)
    first, second = (true + scale * rng.normal(size=true.size) for scale in (1.0, noise))
    return first, second, np.clip(np.round(true), -1, 1), sources


@pytest.mark.no_cover
@given(sourced, st.sampled_from(["sample", "dataset"]))
def test_a_difference_is_of_the_rows_that_both_judges_scored(rows, level):
    predicted, human, sources = (np.array(column) for column in zip(*rows, strict=True))
    second = np.roll(predicted, 1)
    found = tie_aware_accuracy_difference(
        human, predicted, second, sources=sources, level=level, tolerances=(0, 1)
    )
    both = ~np.isnan(predicted) & ~np.isnan(second)
    parts = [
        tie_aware_accuracy_interval(
            human[both], each[both], sources=sources[both], level=level, tolerance=tolerance
        )
        for each, tolerance in ((predicted, 0), (second, 1))
    ]
    assert found.first == pytest.approx(parts[0].value, nan_ok=True)
    assert found.second == pytest.approx(parts[1].value, nan_ok=True)
    assert found.value == pytest.approx(found.first - found.second, nan_ok=True)
    assert (found.n, found.n_groups) == (parts[0].n, parts[0].n_groups)
    other = tie_aware_accuracy_difference(
        human, second, predicted, sources=sources, level=level, tolerances=(1, 0)
    )
    ends = (-other.value, -other.high, -other.low, other.p_value)
    assert (found.value, found.low, found.high, found.p_value) == pytest.approx(ends, nan_ok=True)


def test_at_sample_level_the_test_of_a_difference_is_students_of_the_sources_values():
    # SciPy 1.17.1: scipy.stats.ttest_rel of the two judges' values within each source
    first, second, human, sources = fair(np.random.default_rng(0), 12, noise=2.0)
    values = [
        [tie_aware_accuracy(human[sources == s], each[sources == s]) for s in range(12)]
        for each in (first, second)
    ]
    expected = ttest_rel(*values)
    found = tie_aware_accuracy_difference(human, first, second, sources=sources, level="sample")
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_a_judge_does_not_differ_from_itself_and_nothing_says_how_it_might():
    first, _, human, sources = fair(np.random.default_rng(0), 12)
    found = tie_aware_accuracy_difference(human, first, first, sources=sources, level="dataset")
    assert found.value == 0
    assert np.isnan([found.low, found.high, found.p_value]).all()


@pytest.mark.no_cover
@pytest.mark.parametrize("level", ["sample", "dataset"])
def test_equally_good_judges_differ_significantly_in_about_one_test_of_twenty(level):
    rng = np.random.default_rng(3)
    below = 0
    for _ in range(250):
        first, second, human, sources = fair(rng, 15)
        found = tie_aware_accuracy_difference(human, first, second, sources=sources, level=level)
        below += found.p_value < 0.05
    assert 0.02 <= below / 250 <= 0.09


def test_a_difference_between_rows_that_do_not_pair_up_is_refused():
    with pytest.raises(ValueError, match="got 1 scores of judge and 2 human"):
        tie_aware_accuracy_difference([1, 2], [1, 2], [1], sources=["a", "b"], level="sample")


# -- tie calibration -----------------------------------------------------------------------------


sourced_of_tie_calibration = st.lists(
    st.tuples(st.sampled_from([*range(8), np.nan]), st.integers(1, 3), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)


@pytest.mark.no_cover
@given(sourced_of_tie_calibration, st.booleans())
def test_no_tolerance_does_better_and_it_is_the_smallest_of_the_best(rows, within):
    predicted, human, sources = (np.array(column, float) for column in zip(*rows, strict=True))
    predicted /= 10
    found = calibrate_ties(human, predicted, sources=sources if within else None)

    def accuracy(tolerance):
        if within:
            return tie_aware_accuracy_interval(
                human, predicted, sources=sources, level="sample", tolerance=tolerance
            ).value
        scored = ~np.isnan(predicted)
        return tie_aware_accuracy(human[scored], predicted[scored], tolerance=tolerance)

    if np.isnan(found.tolerance):
        assert np.isnan(accuracy(0))
        assert found.n_pairs == 0
        return
    tried = [accuracy(step / 10) for step in range(9)]
    assert found.chosen_accuracy == pytest.approx(max(tried))
    assert found.untied_accuracy == pytest.approx(tried[0])
    assert accuracy(found.tolerance) == pytest.approx(found.chosen_accuracy)
    best = next(step for step, value in enumerate(tried) if value > max(tried) - 1e-9)
    assert found.tolerance == pytest.approx(best / 10)


def test_it_chooses_what_mt_metrics_eval_chooses():
    # mt-metrics-eval, commit 0b82d96: tau_optimization(metric, human, acc_23) of the three
    # inputs of tau_optimization_test.py: best_threshold and best_tau.
    assert calibrate_ties([1, 2, 3, 4], [0, 2, 6, 8]).tolerance == 0
    found = calibrate_ties([1, 1, 1, 4], [0, 2, 6, 8])
    assert (found.tolerance, found.chosen_accuracy) == pytest.approx((4, 4 / 6))
    metric = [[0, 5, 2, 3, 2], [2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 1]]
    human = [[1, 5, 2, 1, 1], [2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, 3, 2]]
    sources = [source for source, row in enumerate(metric) for _ in row]
    found = calibrate_ties(np.concatenate(human), np.concatenate(metric), sources=sources)
    assert (found.tolerance, found.chosen_accuracy) == pytest.approx((1, 0.4916667))
    assert found.untied_accuracy == pytest.approx(0.4666667)
    assert (found.n, found.n_pairs, found.n_groups, found.n_undefined) == (18, 32, 4, 0)


def test_a_judge_that_ties_what_people_tie_needs_no_tolerance():
    found = calibrate_ties([1, 3, 3, 4], [1, 2, 2, 5])
    assert (found.tolerance, found.chosen_accuracy, found.untied_accuracy) == (0, 1, 1)


def test_where_people_tie_everything_every_gap_is_a_tie():
    found = calibrate_ties([3, 3, 3], [0.1, 0.5, 0.2])
    assert found.tolerance == pytest.approx(0.4)
    assert found.chosen_accuracy == 1


def test_the_tolerance_is_in_points_of_the_judges_scale():
    small = calibrate_ties([1, 1, 1, 4], [0, 2, 6, 8])
    large = calibrate_ties([1, 1, 1, 4], np.array([0, 2, 6, 8]) * 1e30)
    assert large.tolerance == pytest.approx(small.tolerance * 1e30)


def test_on_rows_of_chance_it_is_too_good_where_it_was_chosen_and_not_elsewhere():
    rng = np.random.default_rng(0)
    chosen, elsewhere, plain = [], [], []
    for _ in range(60):
        judge = rng.normal(size=(2, 12))
        human = rng.integers(1, 3, size=(2, 12))
        found = calibrate_ties(human[0], judge[0])
        chosen.append(found.chosen_accuracy)
        elsewhere.append(tie_aware_accuracy(human[1], judge[1], tolerance=found.tolerance))
        plain.append(found.untied_accuracy)
    assert np.mean(chosen) > np.mean(elsewhere) + 0.05
    assert np.mean(chosen) > np.mean(plain) + 0.1


def test_nothing_to_compare_gives_no_tolerance():
    for rows, sources in (([], None), ([1], None), ([1, 2], ["a", "b"]), ([None, 2], ["a", "a"])):
        found = calibrate_ties(range(len(rows)), rows, sources=sources)
        assert np.isnan([found.tolerance, found.chosen_accuracy, found.untied_accuracy]).all()
        assert found.n_pairs == 0
    assert (found.n, found.n_groups, found.n_undefined) == (1, 1, 1)


def test_more_pairs_than_can_be_looked_at_are_refused_with_the_limit():
    with pytest.raises(ValueError, match="more than 10,000,000"):
        calibrate_ties(np.zeros(5000), np.zeros(5000))


def test_bad_rows_are_refused():
    with pytest.raises(ValueError, match="human has no finite score"):
        calibrate_ties([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="one label per item"):
        calibrate_ties([1, 2], [1, 2], sources=[1])
