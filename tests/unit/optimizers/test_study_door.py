"""What a user who opens the study of a search with Optuna finds there."""

import functools
import re

import optuna
import pytest
from optimizing import examples, levels, lm_of, number

from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.storage import ENOUGH_TRIALS, importances
from judgesmith.programs import ActiveCritic
from judgesmith.signatures.space import Space


def opened(folder):
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(folder / "a.journal")))


def by_chance(user, shown, system):
    low, high = levels(system)
    return low + number(user + "".join(shown) + system, high - low)


def space():
    """Return the choice between scales of whole points."""
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    return Space(choices=(answers.model_copy(update={"options": answers.options[:3]}),))


HUMAN = {one["response"]: one["score"] for one in examples(range(60))}


def better_with_fewer_shown(user, shown, system):
    """Answer as people did where nothing is shown, and by chance otherwise."""
    if shown:
        return by_chance(user, shown, system)
    low, high = levels(system)
    text = re.search(r"The council met[^\n]*\d\.", user.split("response ## ]]")[1])[0]
    return round(low + (high - low) * (HUMAN[text] - 1) / 4)


def searched(folder, *, rule=by_chance, **settings):
    given = {"n_trials": 9, "batch": 3, "n_demonstrations": 2, "space": space()}
    search = ProtocolSearch(lm=lm_of(rule), storage=folder / "a.journal", **{**given, **settings})
    search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(60)))
    return search


@pytest.mark.parametrize("objective", ["q", "q, -calls"])
def test_a_study_on_a_disk_is_the_only_one_and_needs_no_name(tmp_path, objective):
    search = searched(tmp_path, objective=objective)
    study = optuna.load_study(study_name=None, storage=opened(tmp_path))
    assert study.study_name == search.study_.study_name
    proposals = [one for one in study.get_trials() if "k" in one.user_attrs]
    assert len(proposals) == 9
    done = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    others = [one for one in study.get_trials() if "k" not in one.user_attrs]
    assert not [one for one in others if one.state in done]
    assert study.best_trials


def test_what_fell_behind_is_pruned_with_its_value_on_the_rows_it_was_judged_on(tmp_path):
    search = searched(tmp_path, rule=better_with_fewer_shown)
    study = optuna.load_study(study_name=None, storage=opened(tmp_path))
    by_number = {one.number: one for one in search.trials_}
    n_rows = by_number[0].n_rows
    pruned = 0
    for one in study.get_trials():
        if "k" not in one.user_attrs:
            continue
        trial = by_number[one.user_attrs["k"] + 1]
        assert one.value == pytest.approx(trial.value)
        if trial.n_rows < n_rows:
            pruned += 1
            assert one.state == optuna.trial.TrialState.PRUNED
            assert one.intermediate_values == {trial.n_rows: one.value}
        else:
            assert one.state == optuna.trial.TrialState.COMPLETE
    assert pruned


def test_what_fell_behind_a_front_is_pruned_too():
    search = ProtocolSearch(
        "q, -calls", lm=lm_of(better_with_fewer_shown), n_trials=9, batch=3, space=space()
    )
    search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(60)))
    n_rows = search.trials_[0].n_rows
    behind = {one.number for one in search.trials_ if one.n_rows < n_rows}
    pruned = {
        one.user_attrs["k"] + 1
        for one in search.study_.get_trials()
        if one.state == optuna.trial.TrialState.PRUNED
    }
    assert behind == pruned


def test_pruned_trials_tell_what_mattered():
    study = optuna.create_study(direction="maximize")
    kinds = {"a": optuna.distributions.CategoricalDistribution(("x", "y"))}
    for k in range(ENOUGH_TRIALS):
        picked = {"params": {"a": "xy"[k % 2]}, "distributions": kinds}
        state = optuna.trial.TrialState.PRUNED
        study.add_trial(
            optuna.trial.create_trial(
                state=state, user_attrs={"expected": [float(k % 2)]}, **picked
            )
        )
    assert importances(study) == {"a": 1.0}


def sampler(seed, n=8):
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=n)


def named(makes):
    study = []
    for make in makes:
        search = ProtocolSearch(
            lm=lm_of(by_chance), n_trials=1, n_demonstrations=0, space=space(), sampler=make
        )
        search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))
        study.append(search.study_.study_name)
    return study


class Sampling:
    def __init__(self, n):
        self.n = n

    def __call__(self, seed):
        return sampler(seed, self.n)

    made = __call__


def closing(n):
    return lambda seed: sampler(seed, n)


@pytest.mark.parametrize(
    ("one", "again", "other"),
    [
        (lambda seed: sampler(seed), lambda seed: sampler(seed), lambda seed: sampler(seed, 3)),
        *(
            (way(8), way(8), way(3))
            for way in (
                lambda n: functools.partial(sampler, n=n),
                Sampling,
                lambda n: Sampling(n).made,
                closing,
            )
        ),
    ],
    ids=["lambda", "partial", "object", "method", "closure"],
)
def test_equal_samplers_share_a_study_and_different_ones_do_not(one, again, other):
    names = named([one, again, other])
    assert names[0] == names[1] != names[2]


def test_a_search_with_a_partial_resumes(tmp_path):
    first = searched(tmp_path, sampler=functools.partial(sampler, n=3))
    again = searched(tmp_path, sampler=functools.partial(sampler, n=3))
    assert again.study_.study_name == first.study_.study_name
    assert again.trials_ == first.trials_
    studies = optuna.get_all_study_summaries(opened(tmp_path))
    assert len(studies) == 1
