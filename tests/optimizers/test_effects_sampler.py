import numpy as np
import optuna
import pytest

from judgesmith.optimizers import effects_sampler
from judgesmith.optimizers.effects_sampler import effects
from judgesmith.optimizers.proposing import SHARE, Proposer, configuration_id
from judgesmith.optimizers.studies import study_of
from judgesmith.signatures.space import Space


def space_of(n_choices, n_options=3):
    ids = [{"id": str(k)} for k in range(n_options)]
    return Space(choices=[{"name": f"c{k}", "options": ids} for k in range(n_choices)])


CONDITIONAL = Space(
    choices=[
        {"name": "variant", "options": [{"id": "fine"}, {"id": "vanilla"}]},
        {
            "name": "explain",
            "options": [{"id": "before"}, {"id": "after"}, {"id": "none"}],
            "only_if": {"variant": ["fine"]},
        },
        {"name": "answers", "options": [{"id": "0-100"}, {"id": "1-5"}]},
    ]
)


def planted(picked):
    """Return a value to which every option adds its number."""
    return float(sum(int(one) for one in picked.values()))


def search(space, value, *, n=20, seed=0, storage=None, n_objectives=1):
    study = study_of(storage, "one", n_objectives=n_objectives)
    one = Proposer(study=study, space=space, sampler=effects, seed=seed)
    tried = {}
    for k in range(n):
        found = one.propose(k, tried)
        if found is None:
            break
        number, picked = found
        tried[configuration_id(picked)] = picked
        told = value(picked)
        one.tell(number, *(told if isinstance(told, tuple) else (told,)))
    return list(tried.values())


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_optimum_of_729_is_found_within_25_trials(seed):
    tried = search(space_of(6), planted, n=25, seed=seed)
    assert max(map(planted, tried)) == 12


def test_a_space_that_is_too_large_to_list_is_searched_by_drawing_from_it(monkeypatch):
    monkeypatch.setattr(effects_sampler, "MOST_CANDIDATES", 60)
    tried = search(space_of(9), planted, n=25)
    assert max(map(planted, tried)) >= 15  # by chance 9, give or take 2.4


def test_noise_is_averaged_over_trials():
    rng = np.random.default_rng(0)
    tried = search(space_of(5), lambda one: planted(one) + 1.5 * rng.normal(), n=40)
    # By chance 5, give or take .3; there are few best ones, and none is proposed twice.
    assert np.mean([planted(one) for one in tried[8:]]) > 6.5


def test_every_configuration_is_proposed_once_and_then_none():
    tried = search(CONDITIONAL, lambda one: float(one["answers"] == "1-5"))
    assert {configuration_id(one) for one in tried} == {
        configuration_id(one) for one in CONDITIONAL.configurations()
    }
    assert len(tried) == CONDITIONAL.size


def test_a_choice_that_does_not_arise_is_not_asked_for():
    for picked in search(CONDITIONAL, lambda one: float(len(one))):
        assert ("explain" in picked) == (picked["variant"] == "fine")


def test_an_objective_that_is_the_same_everywhere_leaves_all_to_chance():
    tried = search(space_of(4), lambda _: 1.0)
    assert len(tried) == 20
    assert len({one["c0"] for one in tried}) == 3


def test_a_space_without_anything_to_choose_has_one_proposal():
    assert len(search(space_of(2, n_options=1), planted)) == 1


def test_several_objectives_are_weighed_anew_each_time():
    tried = search(space_of(4), lambda one: (planted(one), -planted(one)), n_objectives=2)
    assert len(tried) == 20


def test_a_search_that_is_interrupted_proposes_the_same(tmp_path):
    whole = search(space_of(4), planted)
    search(space_of(4), planted, n=9, storage=tmp_path / "a.journal")
    assert search(space_of(4), planted, storage=tmp_path / "a.journal") == whole


def test_trials_on_few_rows_say_so_and_those_on_all_do_not():
    study = study_of(None, "one")
    one = Proposer(study=study, space=CONDITIONAL, sampler=effects, seed=0)
    numbers = [one.propose(k, ())[0] for k in range(2)]
    one.tell(numbers[0], 1.0, share=0.25)
    one.tell(numbers[1], 1.0)
    assert [trial.user_attrs.get(SHARE) for trial in study.trials] == [0.25, None]


def test_without_a_space_the_sampler_draws_by_chance():
    study = optuna.create_study(direction="maximize", sampler=effects(0))
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, float(trial.suggest_categorical("a", ["0", "1"])))
    assert len(study.trials) == 5
