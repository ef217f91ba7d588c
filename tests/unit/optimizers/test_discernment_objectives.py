"""Discernment as an objective, and searches that use it."""

import math
import re
import threading
from dataclasses import replace

import dspy
import numpy as np
import pytest
from optimizing import Engine, examples, levels, lm_of, number
from tables import judged, random_table, resampled
from working import at_the_same_time, once_all_have_begun

from judgesmith.metrics import discernment
from judgesmith.optimizers import (
    FitAggregation,
    NoElimination,
    PredictionTable,
    ProtocolSearch,
    RandomDemonstrationSearch,
    ReflectiveSearch,
    parse_objective,
)
from judgesmith.optimizers.objectives.discernment import (
    AverageDiscernment,
    LowestDiscernment,
    discernment_by_kind,
)
from judgesmith.optimizers.rows import rows_from
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.lm import Budget, LMClient, lm_client_of
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.scale import PERCENT
from judgesmith.signatures.space import Space

# discernment objectives

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

    def test_experts_weigh_the_targets_of_each_kind(self):
        one = of_gaps([1, 2, 3, 4, 5], [0, 0, 0, 0, 0])
        other = of_gaps([0, 0, 0, 0, 0], [1, 2, 3, 4, 5])
        both = PredictionTable.of_parts({"score": one, "wit": other})
        d = math.log(32) / math.log(20)
        right = {TYPOS.name: {"score": 1, "wit": 0}, WORDS.name: {"score": 0, "wit": 1}}
        wrong = {TYPOS.name: {"score": 0, "wit": 1}, WORDS.name: {"score": 1, "wit": 0}}
        assert LowestDiscernment(right).value(both) == pytest.approx(d)
        assert LowestDiscernment(wrong).value(both) == AverageDiscernment(wrong).value(both) == 0
        p = 1 / (0.25 * 32 + 0.75)
        quarter = {TYPOS.name: {"score": 0.25, "wit": 0.75}}  # of the other kind nothing is said
        assert LowestDiscernment(quarter).value(both) == pytest.approx(-math.log(p) / math.log(20))
        alike = {one.name: {"score": 0.5, "wit": 0.5} for one in KINDS}
        both = PredictionTable.of_parts({"score": changed(one, 5, 9), "wit": changed(other, 4, 2)})
        drawn = [
            made.estimate(both, seed=np.random.default_rng(1))
            for made in (LowestDiscernment(), LowestDiscernment(alike))
        ]
        assert (drawn[0].value, drawn[0].low) == pytest.approx((drawn[1].value, drawn[1].low))


def test_it_is_the_metric_of_the_same_scores():
    table = changed(random_table(0, unscored=0.1), 3, 10, 0)
    found = discernment(
        table.predicted[:, None],
        table.damaged.T[:, :, None],
        perturbations=[kind.name for kind in table.kinds],
        levels=[kind.level for kind in table.kinds],
        metrics=["score"],
        seed=0,
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
        estimate = objective.estimate(first, seed=0)
        assert estimate.low <= estimate.value <= estimate.high
        gain = objective.gain(first, first, seed=0)
        assert (gain.value, gain.low, gain.high, gain.p_value) == (0, 0, 0, 1)
        gain = objective.gain(first, second, seed=0)
        assert gain.value == gain.first - gain.second

    def test_of_two_judges_only_pairs_that_both_scored_count(self, name):
        first = changed(random_table(4, unscored=0), 4, 10, 8, 0, missing=0)
        holes = np.random.default_rng(5).random(first.damaged.shape) < 0.3
        second = replace(first, damaged=np.where(holes, np.nan, first.damaged))
        gain = parse_objective(name).gain(first, second, seed=0)
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


@pytest.mark.parametrize("name", ["d_avg", "d_min"])
@pytest.mark.parametrize("mean", [0, 4])
@pytest.mark.parametrize("n_pairs", [5, 40])
def test_gains_of_equal_judges_are_seldom_sure(name, mean, n_pairs):
    """Two judges with independent noise of one size: about one in twenty is called different."""
    rng = np.random.default_rng(8)
    objective, n_sure, n_tried = parse_objective(name), 0, 40
    for _ in range(n_tried):
        tables = [of_gaps(*rng.normal(mean, 8, (2, n_pairs))) for _ in range(2)]
        gain = objective.gain(*tables, seed=0)
        n_sure += gain.p_value <= 0.05
    assert n_sure <= 0.15 * n_tried


# discernment searches

KINDS_DISCERNMENT_SEARCHES = (
    Perturbation(kind="typos", level="character"),
    Perturbation(kind="swaps", level="word"),
    Perturbation(kind="padding", level="character", lowers=False),
)
MARKS = {"typos": "tpyo", "swaps": "spaws", "padding": "hm"}


def versioned(several, *, rated=True, turn=True):
    """Return rows with a version each, of the kinds in turn; or of all kinds."""
    found = []
    for place, one in enumerate(several):
        versions = []
        for k, kind in enumerate(KINDS_DISCERNMENT_SEARCHES):
            item = RatedItem(source=one.source, response=f"{one.response} {MARKS[kind.kind]}.")
            versions.append(
                (kind, item if not turn or place % len(KINDS_DISCERNMENT_SEARCHES) == k else None)
            )
        given = {**one, "versions": tuple(versions)}
        if not rated:
            given |= {"score": math.nan, "scale": Scale(low=0, high=100)}
        found.append(dspy.Example(**given).with_inputs("source", "context", "response"))
    return found


@pytest.fixture
def student():
    return ActiveCritic(variant="vanilla")


def scales():
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    return Space(choices=(answers.model_copy(update={"options": answers.options[:3]}),))


def notices(user, shown, system):
    """See damage on whole points from 1 to 5 alone; elsewhere answer by chance."""
    low, high = levels(system)
    response = user.split("response ## ]]")[1]
    if (low, high) != (1, 5):
        return low + number(user + system, high - low)
    worse = len(re.findall("tpyo|spaws", response))
    return max(low, high - 2 * worse - number(response, 1))


def search(lm, objective="d_min", **settings):
    given = {"n_trials": 6, "batch": 3, "space": scales(), "n_demonstrations": 0, **settings}
    return ProtocolSearch(objective, lm=lm, **given)


class TestWithoutAnyRating:
    def test_the_scale_on_which_the_model_sees_damage_is_found(self, student):
        lm = lm_of(notices)
        optimizer = search(lm)
        judge = optimizer.compile(student, trainset=versioned(examples(range(60)), rated=False))
        assert judge.protocol.answers == Scale(low=1, high=5)
        taken = optimizer.confirmation_
        assert taken.passed
        assert taken.chosen > 2 > 1 > taken.chosen_before

    def test_a_front_of_discernment_and_calls(self, student):
        optimizer = search(lm_of(notices), "d_min, -calls")
        optimizer.compile(student, trainset=versioned(examples(range(30)), rated=False))
        assert {name for one in optimizer.front_ for name in one.values} == {"d_min", "-calls"}

    def test_agreement_is_refused(self, student):
        optimizer = search(lm_of(notices), "q + d_min")
        with pytest.raises(ValueError, match="these rows have no ratings, and q compares"):
            optimizer.compile(student, trainset=versioned(examples(range(30)), rated=False))

    def test_demonstrations_are_refused(self, student):
        rows = versioned(examples(range(30)), rated=False)
        for optimizer in (
            search(lm_of(notices), n_demonstrations=2),
            RandomDemonstrationSearch("d_min", lm=lm_of(notices)),
        ):
            with pytest.raises(ValueError, match="these rows have no ratings, so none can be"):
                optimizer.compile(student, trainset=rows)


class TestWithRatings:
    def test_a_sum_with_agreement(self, student):
        rows = versioned(examples(range(60)))
        optimizer = search(lm_of(notices), "q + 2*d_min")
        judge = optimizer.compile(student, trainset=rows)
        assert judge.protocol.answers == Scale(low=1, high=5)

    def test_every_row_is_asked_about_once_and_its_version_once(self, student):
        lm = lm_of(notices)
        optimizer = search(lm, n_trials=1, batch=1, elimination=NoElimination(), confirm=None)
        rows = versioned(examples(range(30)))
        optimizer.compile(student, trainset=rows)
        engine_asked = 2 * 2 * len(rows)  # two judges
        assert lm_client_of(lm).usage.calls == engine_asked

    def test_objectives_without_it_ask_nothing_more(self, student):
        plain, changed = lm_of(notices), lm_of(notices)
        first = search(plain, "q")
        second = search(changed, "q")
        judges = [
            first.compile(student, trainset=examples(range(30))),
            second.compile(student, trainset=versioned(examples(range(30)))),
        ]
        assert judges[0].protocol == judges[1].protocol
        assert str(first.trials_) == str(second.trials_)
        assert lm_client_of(plain).usage.calls == lm_client_of(changed).usage.calls

    def test_a_search_that_does_not_judge_versions_refuses_it(self):
        with pytest.raises(ValueError, match="leave discernment out"):
            ReflectiveSearch("q + d_min")


class TestWeights:
    def test_ways_to_aggregate_are_compared_by_it(self):
        rows = rows_from(versioned(examples(range(30)), turn=False))
        judge = ActiveCritic()
        said = score_batch(judge, rows.texts)
        fit = FitAggregation("q + .2*d_avg", lexical=True, n_repeats=2)
        fit.choose(rows, said)
        plain = FitAggregation("q", lexical=True, n_repeats=2)
        plain.choose(rows, said[: len(rows)])
        assert [one.name for one in fit.trials_] == [one.name for one in plain.trials_]
        by_name = {one.name: one for one in plain.trials_}
        assert all(one.value > by_name[one.name].value for one in fit.trials_)

    def test_a_judge_that_was_fitted_scores_versions_as_was_foreseen(self):
        rows = rows_from(versioned(examples(range(30)), turn=False))
        said = score_batch(ActiveCritic(), rows.texts)
        fit = FitAggregation("q + .2*d_avg", lexical=True, n_repeats=2)
        own = fit.choose(rows, said)
        protocol = ActiveCritic().protocol.model_copy(update={"aggregation": own})
        said = score_batch(ActiveCritic().with_protocol(protocol), rows.texts)
        table = rows.judged(said, judge_scale=own.scale)
        assert not np.isnan(table.damaged).any()


class Worker:
    """A worker with a model, and no ledger, of its own."""

    def __init__(self, journal, rule=notices):
        self.engine = Engine(rule)
        stack = LMClient(self.engine, ledger=None, budget=Budget(max_calls=10**6))
        lm = ClientLM.over(stack, "scripted", recipe={})
        self.search = search(lm, storage=journal, concurrency=4)

    def __call__(self):
        rows = versioned(examples(range(60)), rated=False)
        return self.search.compile(ActiveCritic(variant="vanilla"), trainset=rows).protocol


def test_workers_share_out_versions_with_their_rows(tmp_path):
    alone = Worker(None)
    judge = alone()
    begun = threading.Barrier(2)
    workers = [
        Worker(tmp_path / "a.journal", once_all_have_begun(notices, begun)) for _ in range(2)
    ]
    assert at_the_same_time(*workers) == [judge] * 2
    assert {str(each.search.trials_) for each in workers} == {str(alone.search.trials_)}
    asked = [each.engine.asked for each in workers]
    assert sum(asked) == alone.engine.asked
    assert max(asked) < alone.engine.asked


class TestRows:
    def test_judgements_of_texts_are_found_by_row(self):
        rows = rows_from(versioned(examples(range(3))))
        marks = list(range(len(rows.texts)))
        assert len(marks) == 12
        assert rows.at(marks, [1, 4]) == [1, 4, 7, 10]
        assert [one.response for one in rows.take([1, 4]).texts] == [
            rows.texts[place].response for place in rows.at(marks, [1, 4])
        ]

    def test_kinds_must_be_the_same(self):
        several = versioned(examples(range(2)))
        several[0]["versions"] = several[0]["versions"][:1]
        with pytest.raises(ValueError, match="have the same kinds in one order"):
            rows_from(several)

    def test_rows_without_versions_have_none_of_any_kind(self):
        several = [*versioned(examples(range(2))), *examples([5])]
        assert rows_from(several).versions[-1] == (None, None, None)

    def test_a_table_of_one_kind_is_that_of_rows_with_one_kind(self):
        rows = rows_from(versioned(examples(range(6))))
        judge = ActiveCritic(variant="vanilla")
        whole = rows.judged(score_batch(judge, rows.texts), judge_scale=PERCENT)
        own = rows.of_kinds(KINDS_DISCERNMENT_SEARCHES[1:2])
        part = own.judged(score_batch(judge, own.texts), judge_scale=PERCENT)
        assert part.kinds == KINDS_DISCERNMENT_SEARCHES[1:2]
        assert np.array_equal(
            whole.of_kinds(KINDS_DISCERNMENT_SEARCHES[1:2]).damaged, part.damaged, equal_nan=True
        )
        assert rows.of_kinds([]).texts == rows.items
