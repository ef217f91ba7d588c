import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from judgesmith.metrics.pairs.strengths import bradley_terry

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


def test_what_cannot_be_is_refused():
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
def test_the_interval_covers_the_truth_about_as_often_as_it_claims():
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
