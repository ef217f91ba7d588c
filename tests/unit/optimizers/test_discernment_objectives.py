import math
from dataclasses import replace

import numpy as np
import pytest
from tables import judged, random_table, resampled

from judgesmith.metrics import discernment
from judgesmith.optimizers import PredictionTable, parse_objective, parse_objectives
from judgesmith.optimizers.objectives.discernment import discernment_by_kind
from judgesmith.signatures.perturbation import Perturbation

TYPOS = Perturbation(kind="typos", level="character", degree="minor")
WORDS = Perturbation(kind="words", level="word")
MORE = Perturbation(kind="typos", level="character", degree="major")
PADDING = Perturbation(kind="padding", level="character", lowers=False)
KINDS = (TYPOS, WORDS, MORE, PADDING)
NAMES = ("d_min", "d_avg", "-false_alarms", "q + .5*d_min", "d_avg; false_alarms <= .5")


def changed(table, *losses, seed=0, missing=0.2):
    """Return a table with versions that lose so much on average, some of them missing."""
    rng = np.random.default_rng(seed)
    shape = (table.n, len(losses))
    damaged = table.predicted[:, None] - np.rint(rng.normal(losses, 15, shape))
    versioned = rng.random(shape) >= missing
    damaged[~versioned] = np.nan
    return replace(table, kinds=KINDS[: len(losses)], damaged=damaged, versioned=versioned)


def of_gaps(*columns, kinds=KINDS):
    """Return a table whose originals score 50 and versions so much less."""
    gaps = np.asarray(columns, dtype=float).T
    n = len(gaps)
    table = judged([50.0] * n, [np.nan] * n)
    versioned = ~np.isnan(gaps)
    return replace(
        table, kinds=tuple(kinds[: len(columns)]), damaged=50.0 - gaps, versioned=versioned
    )


class TestByHand:
    def test_five_losses_of_five_have_one_chance_in_32(self):
        table = of_gaps([1, 2, 3, 4, 5])
        assert parse_objective("d_min").value(table) == pytest.approx(math.log(32) / math.log(20))

    def test_the_lowest_and_the_average_in_which_levels_weigh_the_same(self):
        table = of_gaps([1, 2, 3, 4, 5], [0, 0, 0, 0, 0], [-1, 2, 3, 4, 5])
        first, none, third = discernment_by_kind(table)
        assert none == 0 < third < first
        assert parse_objective("d_min").value(table) == 0
        mean = ((first + third) / 2 + none) / 2
        assert parse_objective("d_avg").value(table) == pytest.approx(mean)

    def test_a_kind_without_a_version_is_left_out(self):
        table = of_gaps([1, 2, 3, 4, 5], [np.nan] * 5)
        assert parse_objective("d_min").value(table) > 1
        assert math.isnan(parse_objective("d_min").value(of_gaps([np.nan] * 5)))

    def test_a_kind_of_which_no_version_has_a_score_counts_as_the_worst(self):
        table = of_gaps([1, 2, 3, 4, 5], [np.nan] * 5, [np.nan] * 5, kinds=(TYPOS, WORDS, PADDING))
        table.versioned[:] = True
        typos = discernment_by_kind(table)[0]
        assert parse_objective("d_min").value(table) == 0
        assert parse_objective("d_avg").value(table) == pytest.approx(typos / 2)
        assert parse_objective("-false_alarms").value(table) == -1

    def test_that_holds_for_one_target_of_several_unless_it_has_no_versions(self):
        one, other = of_gaps([1, 2, 3, 4, 5]), of_gaps([np.nan] * 5)
        assert math.isnan(
            parse_objective("d_min").value(PredictionTable.of_parts({"score": one, "wit": other}))
        )
        other.versioned[:] = True
        both = PredictionTable.of_parts({"score": one, "wit": other})
        assert parse_objective("d_min").value(both) == 0

    def test_who_scores_no_version_of_a_kind_never_gains_on_one_that_does(self):
        whole = of_gaps([1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 0, 1, -1, 2, 0])
        holes = replace(whole, damaged=whole.damaged.copy())
        holes.damaged[:, 1] = np.nan
        for name in ("d_min", "d_avg"):
            objective = parse_objective(name)
            gain = objective.gain(holes, whole, rng=np.random.default_rng(0))
            back = objective.gain(whole, holes, rng=np.random.default_rng(0))
            assert gain.value < 0 < back.value
            assert (gain.first, gain.second) == (objective.value(holes), objective.value(whole))

    def test_controls_count_as_alarms_and_not_as_damage(self):
        kinds = (TYPOS, PADDING)
        noticed = of_gaps([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], kinds=kinds)
        minded = of_gaps([1, 2, 3, 4, 5], [-1, 2, 0, 1, -2], kinds=kinds)
        assert [parse_objective("-false_alarms").value(one) for one in (noticed, minded)] == [-1, 0]
        assert parse_objective("d_min").value(noticed) == parse_objective("d_min").value(minded) > 1

    def test_a_constant_judge_has_none_and_one_that_prefers_damage_has_hardly_any(self):
        assert parse_objective("d_avg").value(of_gaps([0] * 9)) == 0
        assert 0 <= parse_objective("d_avg").value(of_gaps([-1, -2, -3, -4, -5])) < 0.01

    def test_p_values_of_targets_are_combined(self):
        one, other = of_gaps([1, 2, 3, 4, 5]), of_gaps([0, 0, 0, 0, 0])
        both = PredictionTable.of_parts({"score": one, "wit": other})
        p = 1 / ((32 + 1) / 2)
        assert parse_objective("d_min").value(both) == pytest.approx(math.log(p) / math.log(0.05))


def test_it_is_the_metric_of_the_same_scores():
    table = changed(random_table(0, unscored=0.1), 3, 10, 0)
    found = discernment(
        table.predicted[:, None],
        table.damaged.T[:, :, None],
        perturbations=[kind.name for kind in table.kinds],
        levels=[kind.level for kind in table.kinds],
        metrics=["score"],
        rng=np.random.default_rng(0),
    )
    assert parse_objective("d_min").value(table) == pytest.approx(found.lowest.value)
    assert parse_objective("d_avg").value(table) == pytest.approx(found.average.value)


@pytest.mark.parametrize("name", NAMES)
class TestEveryObjective:
    def test_a_resample_is_worth_what_its_repeated_rows_are_worth(self, name):
        table = changed(random_table(1), 2, 10, 5, 0)
        counted, drawn, expected = resampled(parse_objective(name), table)
        assert counted.of_counts(drawn) == pytest.approx(expected)
        assert counted.of_counts(np.ones_like(drawn[:1])) == pytest.approx([counted.value])

    def test_so_it_is_where_no_version_of_a_kind_has_a_score(self, name):
        table = changed(random_table(1), 2, 10, 5, 0)
        table.damaged[:, 1:] = np.nan
        table.damaged[1:, 0] = np.nan
        counted, drawn, expected = resampled(parse_objective(name), table)
        assert counted.of_counts(drawn) == pytest.approx(expected, nan_ok=True)
        assert counted.of_counts(np.ones_like(drawn[:1])) == pytest.approx([counted.value])

    def test_its_estimate_and_its_gain_are_of_its_value(self, name):
        first = changed(random_table(3, unscored=0), 4, 10, 8, 0)
        second = changed(random_table(3, noise=60, unscored=0), 2, 1, 3, 0, seed=1, missing=0)
        objective = parse_objective(name)
        estimate = objective.estimate(first, rng=np.random.default_rng(0))
        assert estimate.low <= estimate.value <= estimate.high
        gain = objective.gain(first, first, rng=np.random.default_rng(0))
        assert (gain.value, gain.low, gain.high, gain.p_value) == (0, 0, 0, 1)
        gain = objective.gain(first, second, rng=np.random.default_rng(0))
        assert gain.value == gain.first - gain.second

    def test_of_two_judges_only_pairs_that_both_scored_count(self, name):
        first = changed(random_table(4, unscored=0), 4, 10, 8, 0, missing=0)
        holes = np.random.default_rng(5).random(first.damaged.shape) < 0.3
        second = replace(first, damaged=np.where(holes, np.nan, first.damaged))
        gain = parse_objective(name).gain(first, second, rng=np.random.default_rng(0))
        assert gain.value == 0


def test_a_part_of_the_rows_stands_for_all():
    table = changed(random_table(6, n=200, unscored=0), 15, 16, missing=0)
    part = table.take(np.arange(50))
    objective = parse_objective("d_min")
    assert objective.value(part.standing_for(200)) == pytest.approx(4 * objective.value(part))
    assert objective.value(table) / objective.value(part) > 2
    plain = random_table(6)
    assert plain.standing_for(10**6) is plain
    alarms = parse_objective("-false_alarms")
    controls = replace(part, kinds=(PADDING,), damaged=part.damaged[:, :1], versioned=None)
    assert alarms.value(controls.standing_for(200)) == alarms.value(controls)


def test_unscored_versions_count_against_a_judge():
    table = changed(random_table(7, unscored=0), 5, 5, missing=0)
    assert table.least_scored == 1
    table.damaged[:40] = np.nan
    assert table.least_scored == pytest.approx(1 / 3)
    assert table.share_scored == 1


def test_without_versions_it_is_refused():
    with pytest.raises(ValueError, match="d_min looks at changed versions of the rows, and none"):
        parse_objective("d_min").value(random_table(0))
    with pytest.raises(ValueError, match="false_alarms looks at changed versions"):
        parse_objective("-false_alarms").value(changed(random_table(0), 3))


def test_false_alarms_are_better_when_fewer():
    with pytest.raises(ValueError, match="false_alarms is better when lower; subtract it"):
        parse_objective("d_min + false_alarms")
    assert str(parse_objectives("q, d_min; false_alarms <= 0")) == "q, d_min; false_alarms <= 0"


def test_versions_are_shaped_like_rows_and_kinds():
    with pytest.raises(ValueError, match=r"60 by 1; got shape \(60, 2\)"):
        replace(random_table(0), kinds=(TYPOS,), damaged=np.zeros((60, 2)))


@pytest.mark.parametrize("name", ["d_avg", "d_min"])
@pytest.mark.parametrize("mean", [0, 4])
@pytest.mark.parametrize("n_pairs", [5, 40])
def test_gains_of_equal_judges_are_seldom_sure(name, mean, n_pairs):
    """Two judges with independent noise of one size: about one in twenty is called different."""
    rng = np.random.default_rng(8)
    objective, n_sure, n_tried = parse_objective(name), 0, 40
    for _ in range(n_tried):
        tables = [of_gaps(*rng.normal(mean, 8, (2, n_pairs))) for _ in range(2)]
        gain = objective.gain(*tables, rng=np.random.default_rng(0))
        n_sure += gain.p_value <= 0.05
    assert n_sure <= 0.15 * n_tried
