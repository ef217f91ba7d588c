"""Training data and recipes for fine-tuning."""

import json

import pytest
from students import write_data

from judgesmith.experiments.distil import training as adapter
from judgesmith.experiments.distil.chats import Recipe, as_question_and_answer, read_chats
from judgesmith.experiments.distil.training import Trained, finetune, made_before, run_of

# adapter

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


# chats


def test_folders_are_read_one_after_the_other(data, tmp_path):
    other = write_data(tmp_path / "other", ["And?"], run="ba9876543210")
    found = read_chats([data, other])
    assert [chat[1]["content"] for chat in found.train] == ["Is it?", "Was it?", "Will it?", "And?"]
    assert [chat[1]["content"] for chat in found.validation] == ["Can it?"]
    assert found.runs == ("0123456789ab", "ba9876543210")
    assert found.digest != read_chats([data]).digest == read_chats([data]).digest


def test_only_the_answer_is_learned(data):
    parts = as_question_and_answer(read_chats([data]).train[0])
    assert [one["role"] for one in parts["prompt"]] == ["system", "user"]
    assert [one["role"] for one in parts["completion"]] == ["assistant"]


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"messages": 3}',
        '{"messages": [1, 2, 3]}',
        '{"messages": [{"role": "user", "content": "x"}]}',
        '{"messages": [{"role": "system", "content": 1}, {"role": "user", "content": "x"}, '
        '{"role": "assistant", "content": "x"}]}',
    ],
)
def test_a_line_that_is_no_chat_is_named(data, line):
    with (data / "train.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"train\.jsonl:4: expected messages of system, user, as"):
        read_chats([data])


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no distillation data; name the folder"):
        read_chats([tmp_path])


def test_a_file_that_is_not_there_is_named(data):
    (data / "validation.jsonl").unlink()
    with pytest.raises(ValueError, match=r"validation\.jsonl: cannot be read; write the data"):
        read_chats([data])


def test_without_an_example_there_is_nothing_to_learn(tmp_path):
    with pytest.raises(ValueError, match="no example for training"):
        read_chats([write_data(tmp_path / "empty", [])])


# recipe


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
