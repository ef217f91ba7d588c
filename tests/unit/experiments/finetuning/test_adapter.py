import json

import pytest

from judgesmith.experiments.distil import adapter
from judgesmith.experiments.distil.adapter import finetune, made_before, run_of
from judgesmith.experiments.distil.chats import Recipe, read_chats
from judgesmith.experiments.distil.training import Trained

DONE = Trained(
    n_train=3,
    n_validation=1,
    n_too_long=0,
    steps=1,
    loss=2.0,
    validation_loss=None,
    device="cpu",
    versions={"torch": "2"},
)


@pytest.fixture
def chats(data, monkeypatch):
    def trained(chats, base, recipe, folder, *, progress=None):
        (folder / "adapter_model.safetensors").write_bytes(b"numbers")
        return DONE

    monkeypatch.setattr(adapter, "trained", trained)
    return read_chats([data])


def test_an_adapter_says_what_it_was_made_from(chats, tmp_path):
    folder = tmp_path / "adapter"
    summary = finetune(chats, "a`base\n", Recipe(), folder)
    assert json.loads((folder / "finetune.json").read_text()) == summary
    assert summary["data"] == ["0123456789ab"]
    assert summary["recipe"]["rank"] == 16
    card = (folder / "README.md").read_text()
    assert "adapter of `abase` (rank 16, alpha 32" in card
    assert "no validation data" in card


def test_the_same_run_is_found_again_and_others_are_kept(chats, tmp_path):
    folder = tmp_path / "adapter"
    run = run_of(chats, "base", Recipe())
    assert made_before(folder, run, force=False) is None
    summary = finetune(chats, "base", Recipe(), folder)
    assert made_before(folder, run, force=False) == summary
    assert made_before(folder, run, force=True) is None
    with pytest.raises(FileExistsError, match="holds an adapter of another run"):
        made_before(folder, run_of(chats, "other", Recipe()), force=False)


@pytest.mark.parametrize("content", [None, "[]", "no JSON", '{"kind": "other"}'])
def test_a_folder_of_something_else_is_never_replaced(chats, tmp_path, content):
    folder = tmp_path / "adapter"
    folder.mkdir()
    if content is not None:
        (folder / "finetune.json").write_text(content)
    with pytest.raises(FileExistsError, match="holds no adapter"):
        made_before(folder, "run", force=True)


def test_training_that_fails_leaves_nothing(chats, tmp_path, monkeypatch):
    def failing(*args, **more):
        raise ValueError("no")

    monkeypatch.setattr(adapter, "trained", failing)
    before = {*tmp_path.iterdir()}
    with pytest.raises(ValueError, match="no"):
        finetune(chats, "base", Recipe(), tmp_path / "adapter")
    assert {*tmp_path.iterdir()} == before
