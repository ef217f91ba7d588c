import math
import re
import threading

import dspy
import numpy as np
import pytest
from optimizing import Engine, examples, levels, lm_of, number
from working import at_the_same_time, once_all_have_begun

from judgesmith.optimizers import (
    FitAggregation,
    NoElimination,
    ProtocolSearch,
    RandomDemonstrationSearch,
    ReflectiveSearch,
)
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.lm import Budget, LMClient, lm_client_of
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.perturbation import Perturbation
from judgesmith.signatures.scale import PERCENT
from judgesmith.signatures.space import Space

KINDS = (
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
        for k, kind in enumerate(KINDS):
            item = RatedItem(source=one.source, response=f"{one.response} {MARKS[kind.kind]}.")
            versions.append((kind, item if not turn or place % len(KINDS) == k else None))
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

    def test_few_rows_suffice_for_a_large_gain(self, student):
        optimizer = search(lm_of(notices))
        judge = optimizer.compile(student, trainset=versioned(examples(range(30)), rated=False))
        assert judge.protocol.answers == Scale(low=1, high=5)

    def test_alarms_at_controls_are_a_condition(self, student):
        optimizer = search(lm_of(notices), "d_avg; false_alarms <= 0")
        optimizer.compile(student, trainset=versioned(examples(range(30)), rated=False))
        assert optimizer.taken_ is not None

    def test_a_front_of_discernment_and_calls(self, student):
        optimizer = search(lm_of(notices), "d_min, -calls")
        optimizer.compile(student, trainset=versioned(examples(range(30)), rated=False))
        assert {name for one in optimizer.front_ for name in one.values} == {"d_min", "-calls"}

    def test_agreement_is_refused(self, student):
        optimizer = search(lm_of(notices), "q + d_min")
        with pytest.raises(ValueError, match="nobody rated these rows, and q compares"):
            optimizer.compile(student, trainset=versioned(examples(range(30)), rated=False))

    def test_demonstrations_are_refused(self, student):
        rows = versioned(examples(range(30)), rated=False)
        for optimizer in (
            search(lm_of(notices), n_demonstrations=2),
            RandomDemonstrationSearch("d_min", lm=lm_of(notices)),
        ):
            with pytest.raises(ValueError, match="nobody rated these rows, so that none can be"):
                optimizer.compile(student, trainset=rows)

    def test_weights_are_refused(self, student):
        fit = FitAggregation("d_min", lm=lm_of(notices))
        with pytest.raises(ValueError, match="weights are learned from ratings"):
            fit.compile(student, trainset=versioned(examples(range(30)), rated=False))


class TestWithRatings:
    def test_a_sum_with_agreement(self, student):
        rows = versioned(examples(range(60)))
        optimizer = search(lm_of(notices), "q + 2*d_min")
        judge = optimizer.compile(student, trainset=rows)
        assert judge.protocol.answers == Scale(low=1, high=5)

    def test_demonstrations_are_searched_by_it(self, student):
        rows = versioned(examples(range(30)))
        optimizer = RandomDemonstrationSearch("d_avg", lm=lm_of(notices), n_trials=4)
        optimizer.compile(student, trainset=rows)
        assert all(one.value >= 0 for one in optimizer.trials_)

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

    def test_rows_without_versions_are_refused(self, student):
        with pytest.raises(ValueError, match="give examples with versions"):
            search(lm_of(notices)).compile(student, trainset=examples(range(30)))

    def test_a_search_that_does_not_judge_versions_refuses_it(self):
        with pytest.raises(ValueError, match="leave discernment out"):
            ReflectiveSearch("q + d_min")


class TestWeights:
    def test_ways_to_aggregate_are_compared_by_it(self):
        rows = rows_of(versioned(examples(range(30)), turn=False))
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
        rows = rows_of(versioned(examples(range(30)), turn=False))
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
        rows = rows_of(versioned(examples(range(3))))
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
            rows_of(several)

    def test_rows_without_versions_have_none_of_any_kind(self):
        several = [*versioned(examples(range(2))), *examples([5])]
        assert rows_of(several).versions[-1] == (None, None, None)

    def test_a_table_of_one_kind_is_that_of_rows_with_one_kind(self):
        rows = rows_of(versioned(examples(range(6))))
        judge = ActiveCritic(variant="vanilla")
        whole = rows.judged(score_batch(judge, rows.texts), judge_scale=PERCENT)
        own = rows.of_kinds(KINDS[1:2])
        part = own.judged(score_batch(judge, own.texts), judge_scale=PERCENT)
        assert part.kinds == KINDS[1:2]
        assert np.array_equal(whole.of_kinds(KINDS[1:2]).damaged, part.damaged, equal_nan=True)
        assert rows.of_kinds([]).texts == rows.items
