import itertools

import optuna
import pytest

from judgesmith.optimizers.storage import (
    ENOUGH_TRIALS,
    check_storage,
    importances,
    open_storage,
    quiet,
    reachable,
)


def told(n):
    study = open_storage(None).study("one")
    study.sampler = optuna.samplers.RandomSampler(seed=0)
    for _ in range(n):
        trial = study.ask()
        best = trial.suggest_categorical("decisive", ["a", "b", "c"]) == "b"
        trial.suggest_categorical("idle", ["a", "b", "c"])
        study.tell(trial, float(best))
    return study


def test_what_decides_is_what_mattered():
    found = importances(told(40))
    assert next(iter(found)) == "decisive"
    assert sum(found.values()) == pytest.approx(1)
    assert found["decisive"] > 0.8


def test_few_trials_say_nothing():
    assert importances(told(ENOUGH_TRIALS - 1)) == {}


def test_a_study_in_a_file_is_there_again(tmp_path):
    kept = tmp_path / "folder" / "a.journal"
    open_storage(kept).study("one").add_trial(optuna.trial.create_trial(value=1.0))
    assert len(open_storage(str(kept)).study("one").trials) == 1
    assert open_storage(kept).study("other").trials == []


def test_a_study_in_a_database_is_there_again(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    check_storage(url)
    open_storage(url).study("one").add_trial(optuna.trial.create_trial(value=1.0))
    assert len(open_storage(url).study("one").trials) == 1


@pytest.mark.parametrize("url", ["a.journal", "odd://user:secret@host/name"])
def test_what_is_no_database_is_refused_without_its_secrets(url):
    with pytest.raises(ValueError) as fault:
        check_storage(url)
    assert "secret" not in str(fault.value)


def test_a_database_that_is_gone_is_told_without_its_secrets():
    with pytest.raises(ConnectionError, match="does not answer") as fault, reachable():
        raise optuna.exceptions.StorageInternalError("postgresql://me:secret@host")
    assert "secret" not in str(fault.value)
    assert fault.value.__suppress_context__


def test_optuna_is_as_loud_as_before_afterwards():
    before = optuna.logging.get_verbosity()
    with quiet():
        assert optuna.logging.get_verbosity() == optuna.logging.ERROR
    assert optuna.logging.get_verbosity() == before


def test_of_several_objectives_each_has_importances_of_its_own():
    study = open_storage(None).study("two", n_objectives=2)
    options = optuna.distributions.CategoricalDistribution(["a", "b", "c"])
    for first, second in [*itertools.product("abc", "abc")] * 5:
        study.add_trial(
            optuna.trial.create_trial(
                params={"first": first, "second": second},
                distributions={"first": options, "second": options},
                values=[float(first == "b"), float(second == "c")],
            )
        )
    for place, name in enumerate(("first", "second")):
        shares = importances(study, place)
        assert next(iter(shares)) == name
        assert shares[name] > 0.8
