"""Say how well scores agree with people, from arrays alone."""

from typing import get_args

import numpy as np
import pytest

from judgesmith import metrics as m

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
            "pearson": m.pearson(judge, human),
            "spearman": m.spearman(judge, human),
            "kendall": m.kendall(judge, human),
            "kendall c": m.kendall(judge, human, variant="c"),
            "concordance": m.concordance(judge / 20, human),
            "q": m.q(judge, human),
            "undefined": m.pearson([1, 1, 1], [1, 2, 3]),
        },
    )
    both = {"sources": rated["sources"], "systems": rated["systems"]}
    for statistic in get_args(m.Statistic):
        for level in get_args(m.Level):
            found = m.agreement(judge, human, **both, statistic=statistic, level=level)
            assert isinstance(found, m.LevelValue)
            keep(f"{statistic} {level}", found)
    given = {"sources": rated["sources"], "statistic": "spearman", "level": "sample"}
    keep("contributions", m.contributions(judge, human, **given))
    pairs = m.worst_pairs(judge, human, sources=rated["sources"], n=3)
    assert all(isinstance(one, m.WorstPair) for one in pairs)
    keep("worst pairs", pairs)


def test_intervals(keep, rated):
    judge, other, human = rated["judge"], rated["other"], rated["human"]
    both = {"sources": rated["sources"], "systems": rated["systems"]}
    for resample in get_args(m.Resample):
        for method in get_args(m.Method):
            if method == "bca" and resample != "sources":
                continue
            found = m.agreement_interval(
                *(judge, human),
                **both,
                statistic="kendall",
                level="dataset",
                rng=rng(),
                n_resamples=200,
                resample=resample,
                method=method,
            )
            assert isinstance(found, m.Estimate)
            keep(f"{resample} {method}", found)
    how = {"statistic": "pearson", "level": "sample", "rng": rng(), "n_resamples": 200}
    found = m.paired_interval(judge, other, human, **both, **how)
    assert isinstance(found, m.PairedEstimate)
    keep("paired", found)
    parts = [
        m.RatedPart(predicted=judge[:30], human=human[:30], sources=rated["sources"][:30]),
        m.RatedPart(predicted=judge[30:], human=human[30:], sources=rated["sources"][30:]),
    ]
    others = [
        m.RatedPart(predicted=other[:30], human=human[:30], sources=rated["sources"][:30]),
        m.RatedPart(predicted=other[30:], human=human[30:], sources=rated["sources"][30:]),
    ]
    how = {"statistic": "q", "level": "dataset", "n_resamples": 200}
    keep("averaged", m.averaged_interval(parts, rng=rng(), **how))
    keep("averaged paired", m.averaged_paired_interval(parts, others, rng=rng(), **how))
    mean = m.jackknife_interval(lambda rows: human[rows].mean(), items=rated["sources"], n=60)
    keep("jackknife", mean)
    keep("share", m.share_interval(human > 3, items=rated["sources"]))


def test_people_among_themselves(keep, rated):
    raters = rated["raters"]
    keep(
        "numbers",
        {
            **{f"alpha {one}": m.krippendorff_alpha(raters, measurement=one)
               for one in get_args(m.Measurement)},
            "raw": m.raw_agreement(raters),
            "spearman-brown": m.spearman_brown(0.5, 3),
            "raters needed": m.raters_needed(0.5, 0.75),
        },
    )  # fmt: skip
    keep("alpha", m.alpha_interval(raters, items=rated["sources"], measurement="ordinal"))
    whole = raters[~np.isnan(raters).any(axis=1)]
    for model in get_args(m.IntraclassModel):
        found = m.intraclass_correlation(whole, model=model)
        assert isinstance(found, m.IntraclassCorrelation)
        keep(f"intraclass {model}", found)
    keep("intraclass", m.intraclass_interval(whole, of="mean"))
    ceiling = keep("ceiling", m.human_ceiling(raters, rng=rng()))
    assert isinstance(ceiling, m.HumanCeiling)
    assert isinstance(keep("rest", m.rater_vs_rest(raters, rng=rng())), m.RaterVsRest)
    keep("pairwise", m.pairwise_rater_agreement(raters, statistic="spearman", rng=rng()))
    keep("kappa", m.pairwise_kappa(raters, levels=LEVELS, rng=rng()))
    keep("modes", m.modes(raters))
    counts = keep("unanimous", m.unanimous_counts(raters, levels=LEVELS))
    assert isinstance(counts, m.UnanimousCounts)
    keep("unanimous ratings", m.unanimous_ratings(raters, levels=LEVELS))


def test_levels(keep, rated):
    first, second = rated["levels"], rated["other levels"]
    people = m.nearest_levels(rated["human"], levels=LEVELS, scale=(1, 5))
    for weights in get_args(m.Weights):
        given = {"levels": LEVELS, "weights": weights}
        keep(f"kappa {weights}", {"value": m.weighted_kappa(first, people, **given)})
    given = {"sources": rated["sources"], "levels": LEVELS}
    keep("interval", m.kappa_interval(first, people, **given, rng=rng()))
    keep("paired", m.paired_kappa_interval(first, second, people, **given, rng=rng()))
    found = keep("confusion", m.confusion_matrix(first, people, levels=LEVELS))
    assert isinstance(found, m.ConfusionMatrix)
    keep("recall", found.recall)
    keep("errors", [m.mean_absolute_error(first, people), m.macro_absolute_error(first, people)])


def test_pairs_and_ties(keep, rated):
    judge, other, human = rated["judge"], rated["other"], rated["human"]
    sources = rated["sources"]
    keep("tie aware", {"value": m.tie_aware_accuracy(judge, human, tolerance=2)})
    for level in get_args(m.PairLevel):
        given = {"sources": sources, "level": level}
        keep(f"interval {level}", m.tie_accuracy_interval(judge, human, **given))
        keep(f"difference {level}", m.tie_accuracy_difference(judge, other, human, **given))
    found = keep("calibrated", m.calibrate_ties(judge, human, sources=sources))
    assert isinstance(found, m.TieCalibration)
    losses = keep("losses", m.pair_losses(judge, human, sources=sources))
    assert isinstance(losses, m.PairLosses)
    n_errors = np.tile([0, 1, 2], N_SOURCES)
    found = keep("adjacent", m.adjacent_accuracy(judge, -n_errors, sources=sources))
    assert isinstance(found, m.AdjacentAccuracy)
    found = keep("by errors", m.accuracy_by_errors(judge, n_errors, sources=sources))
    assert isinstance(found, m.AccuracyByErrors)
    keep("compared", m.comparisons_by_errors([1, 0, 0.5, None], [0, 0, 2, 1], [1, 1, 1, 2]))


def test_preferences(keep, rated):
    judge, human = rated["judge"], rated["human"]
    given = m.preferences_from_scores(judge[0::3], judge[1::3])
    swapped = m.preferences_from_scores(judge[0::3], rated["other"][1::3])
    people = m.preferences_from_scores(human[0::3], human[1::3])
    found = keep("agreement", m.preference_agreement(given, people))
    assert isinstance(found, m.PreferenceAgreement)
    found = keep("order", m.order_consistency(given, swapped))
    assert isinstance(found, m.OrderConsistency)
    found = keep("position", m.position_bias(given, swapped, rng=rng()))
    assert isinstance(found, m.PositionBias)
    keep("majority", m.majority_preference([[1, 1, 0], [1, 0, None], [0.5, 0.5, 1]]))
    games = {"first": ["a", "a", "b"] * 20, "second": ["b", "c", "c"] * 20}
    won = np.concatenate([given, swapped, people])
    found = m.bradley_terry(won, **games, prior=0.5)
    assert isinstance(found, m.BradleyTerry)
    keep("strengths", found)
    keep("chance", found.win_probability("a", "c"))


def test_two_judges(keep, rated):
    judge, other, human = rated["judge"], rated["other"], rated["human"]
    for swap in get_args(m.Swap):
        found = m.permutation_test(
            *(judge, other, human),
            sources=rated["sources"],
            systems=rated["systems"],
            statistic="kendall",
            level="dataset",
            swap=swap,
            rng=rng(),
            n_permutations=200,
        )
        assert isinstance(found, m.SignificanceTest)
        keep(f"permutation {swap}", found)
    for alternative in get_args(m.Alternative):
        keep(
            f"williams {alternative}", m.williams_test(judge, other, human, alternative=alternative)
        )
    keep("williams of", m.williams_of_correlations(0.5, 0.3, 0.6, n=103))
    keep("holm", m.holm([0.04, 0.01, np.nan, 0.03]))
    keep("benjamini", m.benjamini_hochberg([0.04, 0.01, np.nan, 0.03]))
    how = {"statistic": "q", "level": "dataset", "rng": rng(), "n_resamples": 200}
    pilot = m.agreement_interval(judge, human, sources=rated["sources"], **how)
    paired = m.paired_interval(judge, other, human, sources=rated["sources"], **how)
    keep(
        "needed",
        [
            m.sources_needed(pilot, 0.05),
            m.sources_to_compare(paired),
            m.sources_to_compare(paired, difference=0.05, power=0.9),
            m.labels_needed(0.05, 0.5, cluster_size=4, intraclass=0.1),
        ],
    )


def test_calibration(keep, rated):
    judge, human, sources = rated["judge"], rated["human"], rated["sources"]
    line = m.affine_map(judge, human, bounds=(1, 5))
    curve = m.isotonic_map(judge, human)
    assert isinstance(line, m.AffineMap)
    assert isinstance(curve, m.IsotonicMap)
    for name, found in (("line", line), ("curve", curve)):
        assert isinstance(found, m.ScoreMap)
        keep(name, found([10, 40, 60, 90, None]))
    crossed = m.cross_calibrated(judge, human, fit=m.affine_map, n_folds=4, rng=rng())
    keep("crossed", crossed)
    found = keep("error", m.calibration_error(crossed, human, sources=sources, n_bins=5))
    assert isinstance(found, m.CalibrationError)
    keep("expected", {"value": m.expected_calibration_error(crossed, human, n_bins=5)})
    table = keep("table", m.reliability_table(crossed, human, n_bins=4))
    assert all(isinstance(one, m.ReliabilityBin) for one in table)
    for covers in get_args(m.Covers):
        found = m.conformal_margin(crossed, human, sources=sources, covers=covers, confidence=0.8)
        assert isinstance(found, m.ConformalMargin)
        keep(f"margin {covers}", found)
        keep(f"interval {covers}", found.interval([2.8, 4.9], levels=LEVELS))
    shares = np.random.default_rng(3).dirichlet(np.ones(5), size=len(human))
    people = m.nearest_levels(human, levels=LEVELS, scale=(1, 5))
    keep(
        "of probabilities",
        [
            m.brier_error(shares, people, levels=LEVELS),
            m.ranked_probability_error(shares, people, levels=LEVELS),
        ],
    )
    found = keep("probabilities", m.probability_errors(shares, people, levels=LEVELS))
    assert isinstance(found, m.ProbabilityErrors)


def test_abstaining(keep, rated):
    losses = np.abs(rated["levels"] - rated["human"])
    certainty = np.abs(rated["other"])
    found = keep("curve", m.risk_coverage(losses, certainty=certainty))
    assert isinstance(found, m.RiskCoverage)
    keep("area", {"value": m.risk_coverage_error(losses, certainty=certainty)})
    sure = np.arange(300)
    wrong = np.where(sure < 100, sure % 3 == 0, sure % 50 == 0)
    found = m.certified_threshold(wrong, certainty=sure, wished=0.1, rng=rng())
    assert isinstance(found, m.CertifiedThreshold)
    keep("threshold", found)


def test_audits(keep, rated):
    judge, human = rated["judge"], rated["human"]
    given = {"sources": rated["sources"], "rng": rng(), "n_resamples": 200}
    found = keep("length", m.length_bias(judge, human, rated["lengths"], **given))
    assert isinstance(found, m.LengthBias)
    found = keep("gaps", m.group_gaps(rated["levels"], human, rated["systems"], **given))
    assert isinstance(found, m.GroupGaps)
    assert all(isinstance(one, m.GroupGap) for one in found.groups)
    own = rated["systems"] == "north"
    found = keep("own", m.self_preference(rated["levels"], human, own=own, **given))
    assert isinstance(found, m.SelfPreference)
    places = np.tile([1, 2, 3], N_SOURCES)
    found = keep("places", m.place_effects(judge, places, sources=rated["sources"], rng=rng()))
    assert isinstance(found, m.PlaceEffects)
    found = keep("use", m.scale_use(rated["levels"], levels=LEVELS))
    assert isinstance(found, m.ScaleUse)


def test_shifts(keep, rated):
    found = keep("distribution", m.distribution_shift(rated["judge"][:30], rated["other"][30:]))
    assert isinstance(found, m.DistributionShift)
    found = keep("share", m.share_shift(0.1, 0.3, n_before=50, n_now=60))
    assert isinstance(found, m.ShareShift)
    keep("size", {"value": m.effective_size(rated["human"], sources=rated["sources"])})


def test_systems(keep, rated):
    human = np.where(np.arange(60) % 4 == 0, np.nan, rated["human"])
    line = m.affine_map(rated["judge"], rated["human"])
    judge = np.nan_to_num(line(rated["judge"]), nan=3)
    given = {"systems": rated["systems"], "sources": rated["sources"]}
    means = keep("means", m.system_means(judge, human, **given))
    assert all(isinstance(one, m.SystemMean) for one in means)
    found = m.system_difference(judge, human, first="north", second="south", **given)
    assert isinstance(found, m.SystemDifference)
    keep("difference", found)
    found = m.prediction_powered_mean(judge[:30], rated["human"][:30], judge[30:])
    assert isinstance(found, m.PredictionPoweredMean)
    keep("powered", found)


def test_spans(keep):
    gold: list[list[m.Span]] = [[(0, 10)], [(5, 9), (20, 26)], [], [(2, 4)], [(1, 3)], [(8, 9)]]
    said: list[list[m.Span] | None] = [[(0, 8)], [(5, 8), (7, 9)], [], [(2, 4)], None, [(1, 2)]]
    other: list[list[m.Span]] = [[(4, 9)], [(3, 8)], [], [(0, 1)], [(1, 3)], []]
    found = m.span_character_agreement(said, gold, rng=rng(), weighted=False)
    assert isinstance(found, m.SpanAgreement)
    keep("characters", found)
    keep("matched", m.matched_span_agreement(said, gold, rng=rng(), iou_threshold=0, partial=True))
    second = m.span_character_agreement(other, gold, rng=rng())
    for statistic in get_args(m.SpanStatistic):
        keep(statistic, m.span_difference(found, second, statistic=statistic, rng=rng()))


def test_discernment(keep):
    draw = np.random.default_rng(0)
    originals = draw.integers(3, 6, size=(40, 2)).astype(float)
    versions = [
        originals - [1, 0] * draw.integers(0, 3, size=(40, 2)),
        originals - draw.integers(0, 2, size=(40, 2)),
        originals,
    ]
    levels = ["character", "word", "sentence"]
    assert set(levels) == set(get_args(m.PerturbationLevel))
    found = m.discernment(
        *(originals, versions),
        perturbations=["typos", "negation", "nothing"],
        levels=levels,
        metrics=["fluency", "coherence"],
        rng=rng(),
        n_resamples=200,
        weights={"typos": {"fluency": 1.0, "coherence": 0.0}},
    )
    assert isinstance(found, m.Discernment)
    keep("found", found)
    first = found.perturbations[0]
    assert isinstance(first, m.PerturbationDiscernment)
    assert isinstance(first.tests[0], m.MetricTest)
    assert isinstance(first.items_needed, m.ItemsNeeded)
    test = keep("signed rank", m.signed_rank_test(originals, versions[0]))
    assert isinstance(test, m.SignedRankTest)
    log_p = keep("wilcoxon", m.wilcoxon_log_p(originals[:, 0], versions[1][:, 0]))
    for form in get_args(m.HarmonicForm):
        keep(f"harmonic {form}", m.harmonic_mean_log_p(np.log([0.01, 0.5, 0.5]), form=form))
    scores = keep("scores", m.discernment_score(np.log([0.05, 0.0025, 1])))
    keep("average", {"value": m.average_discernment(scores, levels)})
    keep("needed", m.items_needed(originals[:12], versions[0][:12], rng=rng()))
    keep("experts", m.EXPERT_WEIGHTS)
    assert np.shape(log_p) == ()
