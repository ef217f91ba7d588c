import json
import math

import numpy as np
import pytest

from judgesmith.optimizers import Agreement, JudgedTable
from judgesmith.optimizers.confirming import FEWEST_ROWS, FEWEST_SOURCES, Confirm
from judgesmith.optimizers.grammar import parse_objective

Q = Agreement("q")


def table(noise, *, n=60, seed=0, per_source=1, **columns):
    """Return what a judge says that knows people's scores up to some noise."""
    human = np.random.default_rng(0).normal(size=n)
    said = human + noise * np.random.default_rng([seed, 1]).normal(size=n)
    return JudgedTable(
        predicted=said,
        human=human,
        sources=np.arange(n) // per_source,
        systems=np.array(["a"] * n),
        **columns,
    )


def on_others(chosen, start, *, before=(2.0, 1.0), objective=Q, **settings):
    rng = np.random.default_rng(0)
    rule = Confirm(**settings)
    return rule.on_others(objective, chosen, start, number=3, before=before, rng=rng)


def crossed(tables, *, objective=Q, seed=0, **settings):
    rng = np.random.default_rng(seed)
    numbers = range(len(tables))
    return Confirm(**settings).crossed(objective, tables, numbers=numbers, rng=rng)


class TestRowsSetAside:
    def test_are_a_third_of_the_sources_and_share_none_with_the_others(self):
        groups, human = np.arange(240) // 4, np.random.default_rng(0).normal(size=240)
        aside = Confirm().set_aside(groups, human, rng=np.random.default_rng(0))
        others = np.setdiff1d(np.arange(240), aside)
        assert len(np.unique(groups[aside])) == 20
        assert not set(groups[aside]) & set(groups[others])

    def test_are_the_same_for_the_same_seed(self):
        groups, human = np.arange(120), np.random.default_rng(0).normal(size=120)
        twice = [
            Confirm().set_aside(groups, human, rng=np.random.default_rng(4)).tolist()
            for _ in range(2)
        ]
        assert twice[0] == twice[1]

    @pytest.mark.parametrize(
        ("n_rows", "n_sources", "share"),
        [
            (3 * FEWEST_ROWS - 4, 3 * FEWEST_ROWS - 4, 1 / 3),
            (300, 3 * FEWEST_SOURCES - 3, 1 / 3),
            (300, 300, 0),
            (300, 1, 1 / 3),
        ],
    )
    def test_are_none_where_they_would_be_too_few(self, n_rows, n_sources, share):
        groups, human = np.arange(n_rows) % n_sources, np.arange(n_rows, dtype=float)
        rng = np.random.default_rng(0)
        assert not len(Confirm(share=share).set_aside(groups, human, rng=rng))

    def test_are_none_where_nobody_can_be_told_apart_on_them(self):
        human = np.zeros(120)
        human[0] = 1.0
        parts = [
            Confirm().set_aside(np.arange(120), human, rng=np.random.default_rng(seed))
            for seed in range(8)
        ]
        assert all(not len(part) or 0 in part for part in parts)


class TestOnOtherRows:
    def test_one_that_is_plainly_better_passes(self):
        found = on_others(table(0.3), table(1.5))
        assert found.passed
        assert found.number == 3
        assert not found.crossed
        assert found.n_rows == 60

    def test_one_that_is_worse_does_not(self):
        assert not on_others(table(1.5), table(0.3)).passed

    def test_one_that_says_the_same_does_not(self):
        assert not on_others(table(1.0), table(1.0)).passed

    def test_it_takes_more_than_the_standard_errors_asked_for(self):
        passed = []
        for errors in (0, 1, 3):
            found = on_others(table(1.0, seed=5), table(1.4, seed=9), errors=errors)
            assert found.passed == (found.gain > errors * found.standard_error)
            passed.append(found.passed)
        assert passed == sorted(passed, reverse=True)
        assert len(set(passed)) == 2

    @pytest.mark.no_cover
    def test_where_nobody_is_better_one_in_six_passes(self):
        seeds = range(60)
        passed = sum(
            on_others(table(1, seed=2 * seed), table(1, seed=2 * seed + 1)).passed for seed in seeds
        )
        assert 4 <= passed <= 18

    def test_optimism_is_what_was_gained_where_it_was_chosen_less_what_is_gained_on_others(self):
        found = on_others(table(0.3), table(1.5), before=(2.5, 1.2))
        assert found.optimism == pytest.approx((2.5 - 1.2) - (found.value - found.before))

    def test_whoever_has_a_value_is_better_than_a_start_that_has_none(self):
        same = table(1.0).predicting(np.ones(60))
        assert on_others(table(1.0), same).passed
        assert not on_others(same, table(1.0)).passed
        assert not on_others(same, same).passed

    def test_one_that_leaves_many_rows_without_a_score_does_not_pass(self):
        good = table(0.1)
        holes = good.predicting(np.where(np.arange(60) % 10, good.predicted, np.nan))
        assert not on_others(holes, table(1.5)).passed
        # The start is no better in this.
        rest = table(1.5)
        also = rest.predicting(np.where(np.arange(60) % 10, rest.predicted, np.nan))
        assert on_others(holes, also).passed

    def test_everything_is_ready_for_json_also_what_is_undefined(self):
        same = table(1.0).predicting(np.ones(60))
        found = json.loads(json.dumps(on_others(table(1.0), same).to_dict(), allow_nan=False))
        assert found["before"] is None
        assert found["gain"] is None
        assert found["passed"] is True


class TestACrossedChoice:
    @pytest.mark.no_cover
    def test_one_that_is_plainly_better_passes(self):
        tables = [table(1.5, n=30), *(table(noise, n=30, seed=1) for noise in (2, 0.2, 1.6))]
        found = crossed(tables)
        assert found.passed
        assert found.crossed
        assert found.number == 2

    @pytest.mark.no_cover
    def test_where_nobody_is_better_the_best_of_many_rarely_passes(self):
        passed, optimism = 0, []
        for seed in range(8):
            tables = [table(1.5, n=30, seed=100 * seed + k) for k in range(6)]
            found = crossed(tables)
            if found is not None:
                passed += found.passed
                optimism.append(found.optimism)
        assert passed <= 3
        assert np.mean(optimism) > 0.1

    def test_there_is_none_where_the_start_is_best(self):
        assert crossed([table(0.1), table(1.0), table(1.0, seed=2)]) is None

    def test_there_is_none_of_one_source(self):
        assert crossed([table(one, per_source=60) for one in (1.5, 0.1)]) is None

    def test_three_rows_confirm_nothing(self):
        found = crossed([table(one, n=3) for one in (1.5, 0.0)])
        assert found is None or not found.passed

    @pytest.mark.no_cover
    def test_every_candidate_is_held_to_what_it_takes_itself(self):
        objective = parse_objective("q - calls")
        cheap, dear = table(0.6, n_calls=(1,) * 60), table(0.5, n_calls=(3,) * 60)
        assert crossed([cheap, dear], objective=objective) is None
        found = crossed([dear, cheap], objective=objective)
        assert found.passed
        assert found.gain == pytest.approx(2 + Q.value(cheap) - Q.value(dear), abs=0.2)

    @pytest.mark.no_cover
    def test_several_targets_are_crossed_by_source(self):
        tables = [
            JudgedTable.of_parts({"clear": table(one, n=30), "kind": table(one, n=30, seed=3)})
            for one in (1.5, 0.2)
        ]
        found = crossed(tables)
        assert found.passed
        assert found.n_rows == 30

    @pytest.mark.no_cover
    def test_the_same_seed_halves_alike(self):
        tables = [table(one, n=30) for one in (1.5, 0.9)]
        assert crossed(tables, seed=2) == crossed(tables, seed=2)


@pytest.mark.parametrize("settings", [{"share": 1}, {"share": -0.1}, {"errors": -1}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match=r"must be|is a share"):
        Confirm(**settings)


def test_an_undefined_number_of_errors_is_refused():
    with pytest.raises(ValueError, match="zero or more standard errors"):
        Confirm(errors=math.nan)
