import dataclasses

import numpy as np
import pytest

from judgesmith.metrics.correlation import (
    RatedPart,
    agreement_difference,
    agreement_interval,
    mean_agreement_difference,
    mean_agreement_interval,
)


def part(seed, noise=1.0, n_sources=30, per_source=4, gaps=0):
    rng = np.random.default_rng(seed)
    sources = np.repeat(np.arange(n_sources), per_source)
    human = np.repeat(rng.normal(size=n_sources), per_source) + rng.normal(size=sources.size)
    predicted = human + noise * rng.normal(size=sources.size)
    predicted[:gaps] = np.nan
    return RatedPart(judge=predicted, human=human, sources=sources)


def plain(one):
    return {"judge": one.judge, "human": one.human, "sources": one.sources}


@pytest.mark.parametrize("level", ["dataset", "sample"])
@pytest.mark.parametrize("statistic", ["pearson", "q"])
def test_the_average_of_one_part_is_its_own_interval(statistic, level):
    one = part(0, gaps=5)
    how = {"statistic": statistic, "level": level}
    found = mean_agreement_interval([one], **how, rng=np.random.default_rng(1))
    assert found == agreement_interval(**plain(one), **how, rng=np.random.default_rng(1))
    other = part(0, noise=2.0)
    both = mean_agreement_difference([one], [other], **how, rng=np.random.default_rng(1))
    assert both == agreement_difference(
        one.human,
        one.judge,
        other.judge,
        sources=one.sources,
        **how,
        rng=np.random.default_rng(1),
    )


def test_equal_parts_are_as_unsure_as_one_and_independent_ones_less():
    how = {"statistic": "pearson", "level": "dataset"}

    def width(parts):
        found = mean_agreement_interval(parts, **how, rng=np.random.default_rng(1))
        return found.high - found.low

    same = width([part(0)] * 4)
    assert same == pytest.approx(width([part(0)]))
    assert width([part(seed) for seed in range(4)]) < 0.8 * same


def test_the_value_is_the_mean_and_rows_of_all_parts_count():
    parts = [part(seed) for seed in range(3)]
    how = {"statistic": "spearman", "level": "dataset"}
    found = mean_agreement_interval(parts, **how, rng=np.random.default_rng(0))
    values = [
        agreement_interval(**plain(one), **how, rng=np.random.default_rng(0)).value for one in parts
    ]
    assert found.value == pytest.approx(np.mean(values))
    assert (found.n, found.n_groups) == (360, 30)


def test_parts_may_be_about_different_sources():
    first, second = part(0), part(1)
    moved = RatedPart(
        judge=second.judge, human=second.human, sources=np.asarray(second.sources) + 20
    )
    how = {"statistic": "pearson", "level": "dataset"}
    found = mean_agreement_interval([first, moved], **how, rng=np.random.default_rng(0))
    assert found.n_groups == 50
    assert found.low < found.value < found.high


def test_undefined_on_any_part_is_undefined():
    flat = RatedPart(judge=[1.0] * 8, human=range(8), sources=range(8))
    fine = RatedPart(judge=range(8), human=range(8), sources=range(8))
    found = mean_agreement_interval(
        [fine, flat], statistic="pearson", level="dataset", rng=np.random.default_rng(0)
    )
    assert np.isnan([found.value, found.low, found.high]).all()


def test_rows_that_either_leaves_unscored_are_left_out_of_a_difference():
    first, second = part(0, gaps=8), part(0)
    how = {"statistic": "pearson", "level": "dataset"}
    found = mean_agreement_difference([first], [second], **how, rng=np.random.default_rng(0))
    assert found.n == 112
    assert found.value == pytest.approx(0.0)


@pytest.mark.no_cover
def test_the_interval_covers_the_truth_about_as_often_as_it_claims():
    truth = 1 / np.sqrt(2)
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng([9, seed])
        sources = np.repeat(np.arange(40), 3)
        parts = []
        shared = np.repeat(rng.normal(size=40), 3)
        for _ in range(3):
            human = (shared + np.repeat(rng.normal(size=40), 3)) / np.sqrt(2)
            predicted = human + rng.normal(size=sources.size)
            parts.append(RatedPart(judge=predicted, human=human, sources=sources))
        found = mean_agreement_interval(
            parts, statistic="pearson", level="dataset", rng=rng, n_resamples=200
        )
        covered += found.low <= truth <= found.high
    assert 0.86 <= covered / 200 <= 0.98


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([], [], "no parts to average over"),
        ([part(0)], [], "parts must pair up; got 1 and 0"),
        ([part(0)], [part(0, n_sources=3)], "rows must pair up"),
        ([part(0)], [part(1)], "human of one part differ"),
        (
            [part(0)],
            [dataclasses.replace(part(0), sources=np.arange(120) % 30)],
            "sources of one part differ",
        ),
        (
            [part(0)],
            [dataclasses.replace(part(0), systems=["s"] * 120)],
            "systems of one part differ",
        ),
    ],
)
def test_what_does_not_pair_up_is_refused(first, second, said):
    with pytest.raises(ValueError, match=said):
        mean_agreement_difference(
            first, second, statistic="q", level="dataset", rng=np.random.default_rng(0)
        )


@pytest.mark.parametrize("labels", [[("a", 1), ("a", 2), ("b", 1)], [1, "1", 2], [1.5, 2.5, 3.5]])
def test_sources_may_have_any_labels(labels):
    one = part(0, n_sources=3)
    named = dataclasses.replace(one, sources=[labels[source] for source in one.sources])
    how = {"statistic": "pearson", "level": "dataset"}
    found, again = (
        mean_agreement_interval([each], **how, rng=np.random.default_rng(1))
        for each in (one, named)
    )
    assert found == again
    assert found.n_groups == 3


def test_systems_are_drawn_for_all_parts_at_once():
    rng = np.random.default_rng(15)
    sources, systems = (each.ravel() for each in np.indices((10, 9)))
    human = rng.normal(size=9)[systems] + rng.normal(size=90)
    one = RatedPart(
        judge=human + rng.normal(size=90), human=human, sources=sources, systems=systems
    )
    how = {"statistic": "q", "level": "sample", "n_resamples": 100}
    for resample in ("systems", "both"):
        alone, thrice = (
            mean_agreement_interval(parts, **how, resample=resample, rng=np.random.default_rng(1))
            for parts in ([one], [one, one, one])
        )
        assert (thrice.low, thrice.high) == pytest.approx((alone.low, alone.high))
        assert thrice.n_groups == 9


def test_items_of_several_parts_are_not_drawn():
    with pytest.raises(ValueError, match="items can be drawn from one part only; got 2"):
        mean_agreement_interval(
            [part(0), part(1)],
            statistic="q",
            level="dataset",
            rng=np.random.default_rng(0),
            resample="items",
        )
