"""Say how well scores agree with people, from arrays alone."""

from typing import get_args

import numpy as np
import pytest

import judgesmith
from judgesmith import metrics as m
from judgesmith.metrics import (
    audits,
    calibration,
    comparing,
    correlation,
    pairs,
    perturbations,
    ratings,
    resampling,
    spans,
    systems,
    verdicts,
)

N_SOURCES, N_SYSTEMS = 20, 3
LEVELS = [1, 2, 3, 4, 5]


def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def rated():
    """Ratings by three people, and two judges, of the answers of three systems."""
    draw = np.random.default_rng(0)
    n = N_SOURCES * N_SYSTEMS
    quality = draw.normal(size=n)

    def points(noise, centre=3):
        return np.clip(np.round(centre + 1.2 * quality + noise * draw.normal(size=n)), 1, 5)

    raters = np.column_stack([points(0.7) for _ in range(3)])
    raters[4, 2] = raters[9, 1] = np.nan
    judge = 50 + 15 * quality + 12 * draw.normal(size=n)
    return {
        "raters": raters,
        "human": np.nanmean(raters, axis=1),
        "levels": points(0.6),
        "other levels": points(1.2),
        "judge": judge,
        "other": 50 + 15 * quality + 25 * draw.normal(size=n),
        "sources": np.repeat(np.arange(N_SOURCES), N_SYSTEMS),
        "systems": np.tile(["north", "south", "west"], N_SOURCES),
        "lengths": np.exp(4 + draw.normal(size=n)),
    }


def test_correlate(keep, rated):
    judge, human = rated["judge"], rated["human"]
    keep(
        "plain",
        {
            "pearson": m.pearson(human, judge),
            "spearman": m.spearman(human, judge),
            "kendall": m.kendall(human, judge),
            "kendall c": m.kendall(human, judge, variant="c"),
            "concordance": correlation.lins_ccc(human, judge / 20),
            "q": m.q(human, judge),
            "undefined": m.pearson([1, 2, 3], [1, 1, 1]),
        },
    )
    both = {"sources": rated["sources"], "systems": rated["systems"]}
    for statistic in get_args(correlation.Statistic):
        for level in get_args(correlation.Level):
            found = correlation.agreement(human, judge, **both, statistic=statistic, level=level)
            assert isinstance(found, correlation.LevelValue)
            keep(f"{statistic} {level}", found)
    given = {"sources": rated["sources"], "statistic": "spearman", "level": "sample"}
    keep("contributions", correlation.contributions(human, judge, **given))
    worst = correlation.worst_pairs(human, judge, sources=rated["sources"], n=3)
    assert all(isinstance(one, correlation.WorstPair) for one in worst)
    keep("worst pairs", worst)


def test_intervals(keep, rated):
    judge, other, human = rated["judge"], rated["other"], rated["human"]
    both = {"sources": rated["sources"], "systems": rated["systems"]}
    for resample in get_args(correlation.Resample):
        for method in get_args(correlation.Method):
            if method == "bca" and resample != "sources":
                continue
            found = correlation.agreement_interval(
                *(human, judge),
                **both,
                statistic="kendall",
                level="dataset",
                seed=rng(),
                n_resamples=200,
                resample=resample,
                method=method,
            )
            assert isinstance(found, m.Estimate)
            keep(f"{resample} {method}", found)
    how = {"sources": rated["sources"], "n_resamples": 200}
    intervals = (m.pearson_interval, m.spearman_interval, m.kendall_interval, m.q_interval)
    differences = (
        m.pearson_difference,
        m.spearman_difference,
        m.kendall_difference,
        m.q_difference,
        correlation.lins_ccc_difference,
    )
    for interval in (*intervals, correlation.lins_ccc_interval):
        keep(interval.__name__, interval(human, judge, **how))
    for difference in differences:
        keep(difference.__name__, difference(human, judge, other, **how))
    how = {"statistic": "pearson", "level": "sample", "seed": rng(), "n_resamples": 200}
    found = correlation.agreement_difference(human, judge, other, **both, **how)
    assert isinstance(found, m.PairedEstimate)
    keep("paired", found)
    parts = [
        correlation.RatedPart(judge=judge[:30], human=human[:30], sources=rated["sources"][:30]),
        correlation.RatedPart(judge=judge[30:], human=human[30:], sources=rated["sources"][30:]),
    ]
    others = [
        correlation.RatedPart(judge=other[:30], human=human[:30], sources=rated["sources"][:30]),
        correlation.RatedPart(judge=other[30:], human=human[30:], sources=rated["sources"][30:]),
    ]
    how = {"statistic": "q", "level": "dataset", "n_resamples": 200}
    keep("averaged", correlation.mean_agreement_interval(parts, seed=rng(), **how))
    keep("averaged paired", correlation.mean_agreement_difference(parts, others, seed=rng(), **how))
    mean = resampling.jackknife_interval(
        lambda rows: human[rows].mean(), sources=rated["sources"], n=60
    )
    keep("jackknife", mean)
    keep("share", resampling.share_interval(human > 3, sources=rated["sources"]))


def test_people_among_themselves(keep, rated):
    raters = rated["raters"]
    keep(
        "numbers",
        {
            **{f"alpha {one}": m.krippendorff_alpha(raters, measurement=one)
               for one in get_args(ratings.Measurement)},
            "raw": m.percent_agreement(raters),
            "spearman-brown": ratings.spearman_brown(0.5, 3),
            "raters needed": ratings.raters_needed(0.5, 0.75),
        },
    )  # fmt: skip
    keep(
        "alpha",
        ratings.krippendorff_alpha_interval(
            raters, sources=rated["sources"], measurement="ordinal"
        ),
    )
    whole = raters[~np.isnan(raters).any(axis=1)]
    for model in get_args(ratings.IntraclassModel):
        found = m.icc(whole, model=model)
        assert isinstance(found, ratings.IntraclassCorrelation)
        keep(f"intraclass {model}", found)
    keep("intraclass", ratings.icc_interval(whole, of="mean"))
    ceiling = keep("ceiling", m.human_ceiling(raters, seed=rng()))
    assert isinstance(ceiling, ratings.HumanCeiling)
    assert isinstance(keep("rest", ratings.rater_vs_rest(raters, seed=rng())), ratings.RaterVsRest)
    keep("pairwise", ratings.pairwise_rater_agreement(raters, statistic="spearman", seed=rng()))
    keep("kappa", ratings.pairwise_kappa(raters, levels=LEVELS, seed=rng()))
    keep("modes", ratings.modes(raters))
    counts = keep("unanimous", ratings.unanimous_counts(raters, levels=LEVELS))
    assert isinstance(counts, ratings.UnanimousCounts)
    keep("unanimous ratings", ratings.unanimous_ratings(raters, levels=LEVELS))


def test_levels(keep, rated):
    first, second = rated["levels"], rated["other levels"]
    people = ratings.nearest_levels(rated["human"], levels=LEVELS, scale=(1, 5))
    for weights in get_args(ratings.Weights):
        given = {"levels": LEVELS, "weights": weights}
        keep(f"kappa {weights}", {"value": m.weighted_kappa(people, first, **given)})
    given = {"sources": rated["sources"], "levels": LEVELS}
    keep("interval", m.weighted_kappa_interval(people, first, **given, seed=rng()))
    keep("paired", m.weighted_kappa_difference(people, first, second, **given, seed=rng()))
    found = keep("confusion", m.confusion_matrix(people, first, levels=LEVELS))
    assert isinstance(found, ratings.ConfusionMatrix)
    keep("recall", found.recall)
    keep(
        "errors",
        [m.mean_absolute_error(people, first), ratings.macro_absolute_error(people, first)],
    )


def test_pairs_and_ties(keep, rated):
    judge, other, human = rated["judge"], rated["other"], rated["human"]
    sources = rated["sources"]
    keep("tie aware", {"value": m.tie_aware_accuracy(human, judge, tolerance=2)})
    for level in get_args(pairs.PairLevel):
        given = {"sources": sources, "level": level}
        keep(f"interval {level}", m.tie_aware_accuracy_interval(human, judge, **given))
        keep(f"difference {level}", m.tie_aware_accuracy_difference(human, judge, other, **given))
    found = keep("calibrated", pairs.calibrate_ties(human, judge, sources=sources))
    assert isinstance(found, pairs.TieCalibration)
    losses = keep("losses", pairs.pair_losses(human, judge, sources=sources))
    assert isinstance(losses, pairs.PairLosses)
    n_errors = np.tile([0, 1, 2], N_SOURCES)
    found = keep("adjacent", pairs.adjacent_accuracy(-n_errors, judge, sources=sources))
    assert isinstance(found, pairs.AdjacentAccuracy)
    found = keep("by errors", pairs.accuracy_by_errors(judge, n_errors, sources=sources))
    assert isinstance(found, pairs.AccuracyByErrors)
    keep("compared", pairs.comparisons_by_errors([1, 0, 0.5, None], [0, 0, 2, 1], [1, 1, 1, 2]))


def test_preferences(keep, rated):
    judge, human = rated["judge"], rated["human"]
    given = pairs.preferences_from_scores(judge[0::3], judge[1::3])
    swapped = pairs.preferences_from_scores(judge[0::3], rated["other"][1::3])
    people = pairs.preferences_from_scores(human[0::3], human[1::3])
    found = keep("agreement", m.preference_agreement(people, given))
    assert isinstance(found, pairs.PreferenceAgreement)
    found = keep("order", pairs.order_consistency(given, swapped))
    assert isinstance(found, pairs.OrderConsistency)
    found = keep("position", audits.position_bias(given, swapped, seed=rng()))
    assert isinstance(found, audits.PositionBias)
    keep("majority", pairs.majority_preference([[1, 1, 0], [1, 0, None], [0.5, 0.5, 1]]))
    games = {"first": ["a", "a", "b"] * 20, "second": ["b", "c", "c"] * 20}
    won = np.concatenate([given, swapped, people])
    found = pairs.bradley_terry(won, **games, prior=0.5)
    assert isinstance(found, pairs.BradleyTerry)
    keep("strengths", found)
    keep("chance", found.win_probability("a", "c"))


def test_two_judges(keep, rated):
    judge, other, human = rated["judge"], rated["other"], rated["human"]
    for swap in get_args(comparing.Swap):
        found = m.permutation_test(
            *(human, judge, other),
            sources=rated["sources"],
            systems=rated["systems"],
            statistic="kendall",
            level="dataset",
            swap=swap,
            seed=rng(),
            n_permutations=200,
        )
        assert isinstance(found, comparing.SignificanceTest)
        keep(f"permutation {swap}", found)
    for alternative in get_args(comparing.Alternative):
        keep(
            f"williams {alternative}",
            comparing.williams_test(human, judge, other, alternative=alternative),
        )
    keep("williams of", comparing.williams_of_correlations(0.5, 0.3, 0.6, n=103))
    keep("holm", m.holm([0.04, 0.01, np.nan, 0.03]))
    keep("benjamini", comparing.benjamini_hochberg([0.04, 0.01, np.nan, 0.03]))
    how = {"statistic": "q", "level": "dataset", "seed": rng(), "n_resamples": 200}
    pilot = correlation.agreement_interval(human, judge, sources=rated["sources"], **how)
    paired = correlation.agreement_difference(human, judge, other, sources=rated["sources"], **how)
    keep(
        "needed",
        [
            comparing.sources_needed(pilot, 0.05),
            comparing.sources_to_compare(paired),
            comparing.sources_to_compare(paired, difference=0.05, power=0.9),
            comparing.sample_size_pearson(0.05, 0.5, cluster_size=4, intraclass=0.1),
        ],
    )


def test_calibration(keep, rated):
    judge, human, sources = rated["judge"], rated["human"], rated["sources"]
    line = calibration.affine_map(human, judge, bounds=(1, 5))
    curve = m.isotonic_map(human, judge)
    assert isinstance(line, calibration.AffineMap)
    assert isinstance(curve, calibration.IsotonicMap)
    for name, found in (("line", line), ("curve", curve)):
        assert isinstance(found, calibration.ScoreMap)
        keep(name, found([10, 40, 60, 90, None]))
    crossed = calibration.cross_calibrated(
        human, judge, fit=calibration.affine_map, n_folds=4, seed=rng()
    )
    keep("crossed", crossed)
    found = keep("error", m.calibration_error(human, crossed, sources=sources, n_bins=5))
    assert isinstance(found, calibration.CalibrationError)
    keep("expected", {"value": calibration.expected_calibration_error(human, crossed, n_bins=5)})
    table = keep("table", calibration.reliability_table(human, crossed, n_bins=4))
    assert all(isinstance(one, calibration.ReliabilityBin) for one in table)
    for covers in get_args(calibration.Covers):
        found = calibration.conformal_margin(
            human, crossed, sources=sources, covers=covers, confidence=0.8
        )
        assert isinstance(found, calibration.ConformalMargin)
        keep(f"margin {covers}", found)
        keep(f"interval {covers}", found.interval([2.8, 4.9], levels=LEVELS))
    shares = np.random.default_rng(3).dirichlet(np.ones(5), size=len(human))
    people = ratings.nearest_levels(human, levels=LEVELS, scale=(1, 5))
    keep(
        "of probabilities",
        [
            calibration.brier_error(shares, people, levels=LEVELS),
            calibration.ranked_probability_error(shares, people, levels=LEVELS),
        ],
    )
    found = keep("probabilities", calibration.probability_errors(shares, people, levels=LEVELS))
    assert isinstance(found, calibration.ProbabilityErrors)


def test_abstaining(keep, rated):
    losses = np.abs(rated["levels"] - rated["human"])
    certainty = np.abs(rated["other"])
    found = keep("curve", calibration.risk_coverage(losses, certainty=certainty))
    assert isinstance(found, calibration.RiskCoverage)
    keep("area", {"value": calibration.risk_coverage_error(losses, certainty=certainty)})
    sure = np.arange(300)
    wrong = np.where(sure < 100, sure % 3 == 0, sure % 50 == 0)
    found = calibration.certified_threshold(wrong, certainty=sure, max_risk=0.1, seed=rng())
    assert isinstance(found, calibration.CertifiedThreshold)
    keep("threshold", found)


def test_audits(keep, rated):
    judge, human = rated["judge"], rated["human"]
    given = {"sources": rated["sources"], "seed": rng(), "n_resamples": 200}
    found = keep("length", audits.length_bias(human, judge, rated["lengths"], **given))
    assert isinstance(found, audits.LengthBias)
    found = keep("gaps", audits.group_gaps(human, rated["levels"], rated["systems"], **given))
    assert isinstance(found, audits.GroupGaps)
    assert all(isinstance(one, audits.GroupGap) for one in found.groups)
    own = rated["systems"] == "north"
    found = keep("own", audits.self_preference(human, rated["levels"], own=own, **given))
    assert isinstance(found, audits.SelfPreference)
    places = np.tile([1, 2, 3], N_SOURCES)
    found = keep(
        "places", audits.place_effects(judge, places, sources=rated["sources"], seed=rng())
    )
    assert isinstance(found, audits.PlaceEffects)
    found = keep("use", audits.scale_use(rated["levels"], levels=LEVELS))
    assert isinstance(found, audits.ScaleUse)


def test_shifts(keep, rated):
    found = keep(
        "distribution", comparing.distribution_shift(rated["judge"][:30], rated["other"][30:])
    )
    assert isinstance(found, comparing.DistributionShift)
    found = keep("share", comparing.share_shift(0.1, 0.3, n_before=50, n_now=60))
    assert isinstance(found, comparing.ShareShift)
    keep("size", {"value": resampling.effective_size(rated["human"], sources=rated["sources"])})


def test_systems(keep, rated):
    human = np.where(np.arange(60) % 4 == 0, np.nan, rated["human"])
    line = calibration.affine_map(rated["human"], rated["judge"])
    judge = np.nan_to_num(line(rated["judge"]), nan=3)
    given = {"systems": rated["systems"], "sources": rated["sources"]}
    means = keep("means", systems.system_means(human, judge, **given))
    keep("ranks", systems.system_ranks(human, judge, **given))
    assert all(isinstance(one, systems.SystemMean) for one in means)
    found = systems.system_difference(human, judge, first="north", second="south", **given)
    assert isinstance(found, systems.SystemDifference)
    keep("difference", found)
    found = systems.prediction_powered_mean(rated["human"][:30], judge[:30], judge[30:])
    assert isinstance(found, systems.PredictionPoweredMean)
    keep("powered", found)


def test_pass_rates(keep, rated):
    human = np.where(np.arange(60) % 4 == 0, np.nan, rated["human"] > 3)
    given = {"systems": rated["systems"], "sources": rated["sources"], "seed": rng()}
    found = m.corrected_rates(human, rated["judge"] > 50, **given)
    assert isinstance(found, verdicts.PassRates)
    assert isinstance(found.systems[0], verdicts.PassRate)
    assert isinstance(found.differences[0], verdicts.PassRateDifference)
    keep("rates", found)


def test_spans(keep):
    gold: list[list[spans.Span]] = [
        [(0, 10)],
        [(5, 9), (20, 26)],
        [],
        [(2, 4)],
        [(1, 3)],
        [(8, 9)],
    ]
    said: list[list[spans.Span] | None] = [
        [(0, 8)],
        [(5, 8), (7, 9)],
        [],
        [(2, 4)],
        None,
        [(1, 2)],
    ]
    other: list[list[spans.Span]] = [[(4, 9)], [(3, 8)], [], [(0, 1)], [(1, 3)], []]
    found = spans.span_character_agreement(gold, said, seed=rng(), weighted=False)
    assert isinstance(found, spans.SpanAgreement)
    keep("characters", found)
    keep(
        "matched",
        spans.matched_span_agreement(gold, said, seed=rng(), iou_threshold=0, partial=True),
    )
    second = spans.span_character_agreement(gold, other, seed=rng())
    for statistic in get_args(spans.SpanStatistic):
        keep(
            statistic,
            spans.span_agreement_difference(found, second, statistic=statistic, seed=rng()),
        )


def test_discernment(keep):
    draw = np.random.default_rng(0)
    originals = draw.integers(3, 6, size=(40, 2)).astype(float)
    versions = [
        originals - [1, 0] * draw.integers(0, 3, size=(40, 2)),
        originals - draw.integers(0, 2, size=(40, 2)),
        originals,
    ]
    levels = ["character", "word", "sentence"]
    assert set(levels) == set(get_args(perturbations.PerturbationLevel))
    found = m.discernment(
        *(originals, versions),
        perturbations=["typos", "negation", "nothing"],
        levels=levels,
        metrics=["fluency", "coherence"],
        seed=rng(),
        n_resamples=200,
        weights={"typos": {"fluency": 1.0, "coherence": 0.0}},
    )
    assert isinstance(found, perturbations.Discernment)
    keep("found", found)
    first = found.perturbations[0]
    assert isinstance(first, perturbations.PerturbationDiscernment)
    assert isinstance(first.tests[0], perturbations.MetricTest)
    assert isinstance(first.items_needed, perturbations.ItemsNeeded)
    test = keep("signed rank", perturbations.signed_rank_test(originals, versions[0]))
    assert isinstance(test, perturbations.SignedRankTest)
    log_p = keep("wilcoxon", perturbations.wilcoxon_log_p(originals[:, 0], versions[1][:, 0]))
    for form in get_args(perturbations.HarmonicForm):
        keep(
            f"harmonic {form}",
            perturbations.harmonic_mean_log_p(np.log([0.01, 0.5, 0.5]), form=form),
        )
    scores = keep("scores", perturbations.discernment_score(np.log([0.05, 0.0025, 1])))
    keep("average", {"value": perturbations.average_discernment(scores, levels)})
    keep("needed", perturbations.items_needed(originals[:12], versions[0][:12], seed=rng()))
    keep("experts", perturbations.EXPERT_WEIGHTS)
    assert np.shape(log_p) == ()


@pytest.mark.parametrize(
    ("given", "meant"),
    [("groups", "sources"), ("source", "sources"), ("rng", "seed"), ("conf_level", "confidence")],
)
def test_a_setting_named_as_elsewhere_says_its_name_here(rated, given, meant):
    scores = rated["human"], rated["judge"], rated["other"]
    with pytest.raises(TypeError, match=rf"^spearman_difference\(\).*did you mean {meant}="):
        m.spearman_difference(*scores, **{given: rated["sources"]})


def test_a_missing_judge_is_told_under_the_name_that_was_called(rated):
    with pytest.raises(TypeError, match=r"^q_difference\(\).*'other'"):
        m.q_difference(rated["human"], rated["judge"])


def test_an_estimate_shows_rows_left_out_and_the_least_p_value(rated):
    judge = rated["judge"].copy()
    judge[0] = np.nan
    found = m.pearson_difference(rated["human"], judge, -judge, sources=rated["sources"])
    assert "1 left out" in repr(found)
    assert "p ≤ " in repr(found)
    near = m.pearson_difference(rated["human"], rated["judge"], rated["levels"])
    assert "left out" not in repr(near)
    assert "p ≤ " not in repr(near)


def test_a_statistic_in_a_package_inside_is_found():
    with pytest.raises(AttributeError, match=r"judgesmith\.metrics has it"):
        _ = judgesmith.spearman_difference
