"""The search on simulated protocols, a few; benchmark ``protocol_simulation`` has more."""

import numpy as np
import optuna
import pytest

from benchmarks.search import protocol_simulation
from judgesmith.metrics import q

SEEDS = range(3)


@pytest.fixture
def simulation():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return protocol_simulation


@pytest.fixture
def rated(simulation, data_folder):
    return simulation.rated_set("topical_chat")


def test_simulated_judges_agree_with_people_as_well_as_is_said_of_them(simulation, rated):
    picked = simulation.protocol_space().complete({"scale": "scale_10", "aid": "autocot"})
    worlds = [simulation.World.draw(rated, n_rows=10**6, seed=seed) for seed in range(60)]
    apart = [
        q(rated.human[world.rows], world.judge(picked).said) - world.agreement(picked)
        for world in worlds
    ]
    assert abs(np.mean(apart)) < 4 * np.std(apart) / np.sqrt(len(apart))
    assert len(worlds[0].rows) == len(rated.human)


def test_a_single_change_has_the_effect_that_was_measured(simulation, rated):
    world = simulation.World.draw(rated, n_rows=100, seed=0)
    space = simulation.protocol_space()
    for picked, change in (({}, "baseline"), ({"aid": "dialectic"}, "dialectic")):
        expected = 3 * np.tanh(rated.effects[change])
        assert world.agreement(space.complete(picked)) == pytest.approx(expected)


def test_errors_of_two_judges_correlate_as_far_as_the_items_are_to_blame(simulation, rated):
    world = simulation.World.draw(rated, n_rows=10**6, seed=0)
    space = simulation.protocol_space()
    judges = [world.judge(space.complete({"order": order})) for order in ("tie", "eit")]
    errors = [
        one.said - np.polyval(np.polyfit(rated.human, one.said, 1), rated.human) for one in judges
    ]
    assert np.corrcoef(errors)[0, 1] == pytest.approx(0.4, abs=0.15)


@pytest.mark.no_cover
def test_races_and_screens_save_most_calls_and_lose_little(simulation, rated):
    wanted = (simulation.FULL, "halving, early", "screen")
    ways = {label: simulation.WAYS[label] for label in wanted}
    calls, chosen = ({label: [] for label in ways} for _ in range(2))
    for seed in SEEDS:
        world = simulation.World.draw(rated, n_rows=200, seed=seed)
        for label, way in ways.items():
            found = simulation.searched(world, way, seed=seed)
            calls[label].append(found.calls)
            chosen[label].append(found.chosen)
    full, *others = ways
    for label in others:
        assert 2.8 * np.mean(calls[label]) < np.mean(calls[full])
        assert np.mean(chosen[label]) > np.mean(chosen[full]) - 0.1
