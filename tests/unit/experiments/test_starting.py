import json

import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge, evaluate_judge
from judgesmith.experiments.compile.starting import starting_from
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig, Scale

QUICK = CompileSettings(n_rounds=3, confirm=None)
"""Few rows that confirm nothing suffice to compile a judge that has something to begin with."""


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


@pytest.fixture(scope="module")
def earlier(data):
    return compile_judge(data.subset(range(60)), QUICK, lm=model(ledger=None)).saved


@pytest.fixture(scope="module")
def again(data, earlier):
    return compile_judge(data.subset(range(100)), QUICK, earlier=earlier, lm=model(ledger=None))


def shown(saved):
    return {one.key for many in saved.protocol.demonstrations.values() for one in many}


@pytest.mark.no_cover
def test_rubric_and_variant_are_kept_and_nothing_is_inferred(earlier, again):
    assert again.saved.protocol.rubric == earlier.protocol.rubric
    assert again.saved.settings["earlier"] == earlier.fingerprint


def test_no_row_that_the_earlier_judge_was_made_from_is_held_out(data, earlier, again):
    known = earlier.seen_keys
    held = [item for item in data.items[:100] if item.key not in again.saved.seen_keys]
    assert len(held) == again.saved.rows["heldout"]
    sources = {item.source for item in data.items[:60] if item.key in known}
    assert not sources & {item.source for item in held}
    assert known <= again.saved.seen_keys
    found = evaluate_judge(again.saved, data.subset(range(100)), rng=np.random.default_rng(0))
    assert found.n_unseen == len(held)


def test_what_would_have_been_held_out_is_told(again):
    assert any("share a source with rows that the earlier judge" in note for note in again.notes)


def test_its_demonstrations_compete_and_score_no_row_that_they_show(earlier, again):
    stages = [one for one in again.saved.history if one["stage"] == "demonstrations"]
    assert len(stages) == QUICK.n_rounds + bool(shown(earlier))
    assert set(stages[1]["keys"]) == shown(earlier)


def test_its_learned_numbers_compete_first(earlier, again):
    ways = [one["name"] for one in again.saved.history if one["stage"] == "aggregation"]
    assert earlier.protocol.aggregation.kind == "linear"
    assert ways[0] == "own"


def test_the_gain_is_over_the_earlier_judge(data, earlier, again):
    held = [i for i in range(100) if data[i].key not in again.saved.seen_keys]
    found = evaluate_judge(earlier, data.subset(held), rng=np.random.default_rng(0))
    value = again.uncompiled["dataset"]["pearson"].value
    assert found.unseen["dataset"]["pearson"].value == pytest.approx(value)


@pytest.mark.no_cover
def test_on_the_same_rows_nothing_that_was_tried_may_win_and_it_stays(data, earlier):
    found = compile_judge(
        data.subset(range(60)),
        QUICK.model_copy(update={"n_demonstrations": 0}),
        earlier=earlier,
        lm=model(ledger=None),
    )
    assert found.saved.protocol.demonstrations == earlier.protocol.demonstrations
    assert found.heldout["dataset"]["q"].n > 0


def test_what_was_learned_of_another_scale_is_left_out_and_told(data, earlier):
    items = [
        item.model_copy(
            update={
                "human": {"overall": tuple(2 * one for one in item.human["overall"])},
                "scale": {"overall": Scale(low=2, high=10)},
            }
        )
        for item in data
    ]
    ten = type(data)(name="ten", items=tuple(items))
    settings = QUICK.model_copy(update={"learn_weights": False})
    found = compile_judge(ten, settings, earlier=earlier, lm=model(ledger=None))
    assert found.saved.protocol.aggregation.kind == "overall"
    assert any("answers on 1..5 and people rated on 2..10" in note for note in found.notes)


def test_its_targets_are_taken_over_unless_others_are_named(data, earlier):
    assert starting_from(earlier, CompileSettings()).target == ("overall",)
    assert starting_from(earlier, CompileSettings(target="fluency")).target == ("fluency",)
    several = earlier.model_copy(
        update={"settings": {**earlier.settings, "compared": ["score", "fluency"]}}
    )
    assert starting_from(several, CompileSettings()).target == ("overall", "fluency")


def test_starting_twice_is_starting_once(earlier):
    once = starting_from(earlier, QUICK)
    assert starting_from(earlier, once) == once


@pytest.mark.parametrize(
    "settings",
    [
        CompileSettings(protocol=ActiveCriticConfig(variant="coarse")),
        CompileSettings(criteria="human"),
        CompileSettings(criteria="inferred"),
    ],
)
def test_another_rubric_or_variant_beside_it_is_refused(earlier, settings):
    with pytest.raises(ValueError, match="takes its variant, task and criteria from there"):
        starting_from(earlier, settings)


def test_a_run_from_another_judge_is_another_run(data, earlier):
    plain = CompileSettings().fingerprint(data, "offline")
    assert starting_from(earlier, CompileSettings()).fingerprint(data, "offline") != plain
    json.dumps(starting_from(earlier, CompileSettings()).model_dump(mode="json"))
