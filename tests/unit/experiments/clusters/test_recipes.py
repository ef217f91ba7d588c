"""What travels to workers makes the same judge and models again, and holds no key."""

import pickle

import pytest
from exporting import calibrated_of, panel_of

from judgesmith.data import read_items
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe, ModelRecipe, in_environment
from judgesmith.programs import judge_items
from judgesmith.programs.lm import Budget, Retry, client_model, model

KEY = "sk-never-travels-0123456789"


@pytest.fixture
def keyed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_model_is_made_again_with_its_settings_and_its_part_in_the_budget(tmp_path, keyed):
    given = {
        "api_base": "http://127.0.0.1:9/v1",
        "ledger": tmp_path / "ledger.sqlite",
        "max_calls": 7,
        "max_usd": 2.0,
        "price": "1,2",
        "rpm": 60,
        "run_id": "mine",
        "retry": Retry(attempts=2),
        "temperature": 0.3,
        "max_output_tokens": 99,
        "timeout": 5.0,
    }
    lm = client_model("openai/m", **given)
    made = pickle.loads(pickle.dumps(ModelRecipe.of(lm))).made()
    assert (made.kwargs, made.recipe) == (lm.kwargs, lm.recipe | {"price": [1.0, 2.0]})
    assert made.client.ledger is lm.client.ledger
    assert made.client.budget == Budget(max_calls=7, max_usd=2.0)
    assert (made.client.run_id, made.client.retry.attempts) == ("mine", 2)
    assert made.client.price == lm.client.price
    assert made.client.limits.rpm == 60
    assert ModelRecipe.of(made) == ModelRecipe.of(lm)


def test_a_model_of_dspy_is_taken_too(tmp_path):
    lm = model("openai/m", ledger=tmp_path / "l.sqlite", max_output_tokens=50)
    assert ModelRecipe.of(lm).made().kwargs == {"temperature": 0.0, "max_tokens": 50}
    with pytest.raises(ValueError, match="the setting top_p, too"):
        ModelRecipe.of(model("openai/m", ledger=None, top_p=0.5))
    with pytest.raises(ValueError, match=r"one from judgesmith\.model.*got object"):
        ModelRecipe.of(object())


def test_no_key_travels(keyed, saved):
    lm = client_model("openai/m", ledger=None)
    told = pickle.dumps(JudgeRecipe.of(saved, lm))
    assert KEY.encode() not in told
    assert b"sk-" not in told


@pytest.mark.parametrize("address", ["http://me:secret@host/v1", "http://host/v1?key=secret"])
def test_an_address_with_a_secret_stays_here(address):
    lm = client_model("openai/m", api_base=address, ledger=None)
    with pytest.raises(ValueError, match="OPENAI_API_BASE") as caught:
        ModelRecipe.of(lm)
    assert "secret" not in str(caught.value).replace("secrets", "")


@pytest.mark.parametrize("ceiling", [{"max_calls": 3}, {"rpm": 5.0}])
def test_workers_without_a_ledger_share_no_budget(ceiling):
    with pytest.raises(ValueError, match="share a budget and a rate through the ledger"):
        ModelRecipe.of(client_model("offline", ledger=None, **ceiling))


def test_another_address_on_a_node_is_said(monkeypatch):
    recipe = ModelRecipe.of(client_model("openai/m", ledger=None))
    monkeypatch.setenv("OPENAI_API_BASE", "http://elsewhere:8000/v1")
    with pytest.raises(ValueError, match=r"is at http://elsewhere:8000/v1 here and at https://"):
        recipe.made()


def test_a_judge_is_made_again_with_its_models(saved):
    lm, other = client_model("offline", ledger=None), client_model("ollama/other", ledger=None)
    judge, made, models = JudgeRecipe.of(saved, lm).made()
    assert judge == saved
    assert models == (made,)
    items = read_items("sample").items[:2]
    assert judge_items(judge, items, lm=made) == judge_items(saved, items, lm=lm)
    bound = saved.with_models({"x": other})  # a judge without roles has none
    assert JudgeRecipe.of(bound, lm).made()[2][0].model == "offline"


def test_judges_that_hold_judges_keep_which_member_asks_what(saved):
    lms = {"offline": client_model("offline", ledger=None), "o/m": client_model("o/m", ledger=None)}
    other = saved.model_copy(update={"model": "o/m"})
    panel = panel_of(a=saved, b=other).with_models(lms)
    judge, lm, models = JudgeRecipe.of(panel, lms["offline"]).made()
    assert judge.fingerprint == panel.fingerprint
    assert [one.model for one in models] == ["offline", "o/m"]
    assert judge._lms == {"offline": lm, "o/m": models[1]}
    calibrated = calibrated_of(saved)
    judge, lm, _ = JudgeRecipe.of(calibrated, lms["offline"]).made()
    assert type(judge) is type(calibrated)
    items = read_items("sample").items[:3]
    found = judge_items(judge, items, lm=lm)
    assert found == judge_items(calibrated, items, lm=lm)
    assert pickle.loads(pickle.dumps(found)) == found


def test_parts_and_roles_that_ask_others_do_so_on_workers(saved):
    lms = [client_model(name, ledger=None) for name in ("offline", "ollama/other")]
    panel = panel_of(a=saved, b=saved).with_parts({"b": lms[1]})
    judge, _, models = JudgeRecipe.of(panel, lms[0]).made()
    assert judge.parts == {"b": models[1]}
    asking = saved.asking({"proposer": "ollama/other"}, {"ollama/other": lms[1]})
    judge, _, models = JudgeRecipe.of(asking, lms[0]).made()
    assert (judge._asked_roles, judge._lms["ollama/other"]) == (asking._asked_roles, models[1])


def test_a_database_is_told_of_without_its_password_and_found_in_the_environment(
    saved, monkeypatch
):
    address = "postgresql://me:secret-word@db.example:5433/answers?sslmode=require"
    lm = client_model("offline", ledger=address)
    recipe = JudgeRecipe.of(saved, lm)
    assert b"secret-word" not in pickle.dumps(recipe)
    assert not recipe.is_of_one_machine
    told = "postgresql://me@db.example:5433/answers?sslmode=require"
    assert recipe.main.made().client.ledger.address == told
    monkeypatch.setenv("JUDGESMITH_STORAGE", "postgresql://me:other@elsewhere/answers")
    assert recipe.main.made().client.ledger.address == told
    with in_environment(lm.client.ledger):
        assert recipe.main.made().client.ledger is lm.client.ledger
    assert recipe.main.made().client.ledger.address == told
    monkeypatch.setenv("JUDGESMITH_LEDGER", "postgresql://you:more@db.example:5433/answers")
    with in_environment(lm.client.ledger):
        pass
    assert recipe.main.made().client.ledger.address.startswith("postgresql://you:more@")
