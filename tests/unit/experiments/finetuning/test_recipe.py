import pytest

from judgesmith.experiments.distil.chats import Recipe


def test_the_defaults_are_the_published_ones():
    assert Recipe().model_dump() == {
        "rank": 16,
        "alpha": 32,
        "epochs": 1.0,
        "learning_rate": 2e-4,
        "warmup": 0.05,
        "weight_decay": 0.01,
        "batch": 16,
        "at_once": 1,
        "longest": 4096,
        "steps": None,
        "seed": 0,
    }


def test_every_setting_and_what_it_is_about_tell_runs_apart():
    prints = {Recipe().fingerprint(["a"]), Recipe(seed=1).fingerprint(["a"])}
    assert len({*prints, Recipe().fingerprint(["b"])}) == 3


def test_a_step_is_made_of_whole_batches():
    assert Recipe(batch=8, at_once=4).at_once == 4
    with pytest.raises(ValueError, match="8 examples per step do not come in batches of 3 at once"):
        Recipe(batch=8, at_once=3)


@pytest.mark.parametrize(
    "wrong", [{"rank": 0}, {"learning_rate": 0}, {"warmup": 1}, {"epochs": float("inf")}]
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError):
        Recipe(**wrong)
