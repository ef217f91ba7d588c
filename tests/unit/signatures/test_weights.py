"""Weights are known by what is in them, and found where the reader says that they are."""

import json
import os
import re

import pytest

from judgesmith.programs.families import reference as module
from judgesmith.programs.families.reference import (
    PLACES,
    ReferenceConfig,
    weights_folder,
    weights_name,
)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.delenv(PLACES, raising=False)
    monkeypatch.setattr(module, "_found", {})


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "model")


def made(path, numbers=b"numbers"):
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(numbers)
    return path


def test_a_name_is_of_the_files_that_a_model_is_loaded_from(folder, tmp_path):
    name = weights_name(str(folder))
    assert re.fullmatch("sha256:[0-9a-f]{64}", name)
    assert weights_name(name) == name
    assert weights_name(str(made(tmp_path / "copy"))) == name
    (folder / "README.md").write_text("of no effect")
    (folder / ".hidden.json").write_text("of no effect")
    assert weights_name(str(folder)) == name
    (folder / "vocab.txt").write_text("a")
    assert weights_name(str(folder)) != name
    assert weights_name(str(made(tmp_path / "other", b"others"))) != name


def test_weights_are_found_where_they_were_given_and_refused_once_changed(folder):
    name = weights_name(str(folder))
    assert weights_folder(name) == folder
    (folder / "model.safetensors").write_bytes(b"other numbers")
    with pytest.raises(ValueError, match=re.escape(f"{name[:19]}… are needed, and $")):
        weights_folder(name)


def test_another_process_finds_them_among_the_folders_that_the_variable_names(
    folder, tmp_path, monkeypatch
):
    name = weights_name(str(folder))
    module._found.clear()
    with pytest.raises(ValueError, match="WEIGHTS is not set: let it name the folder"):
        weights_folder(name)
    other = made(tmp_path / "other", b"others")
    monkeypatch.setenv(PLACES, str(other))
    with pytest.raises(ValueError, match="WEIGHTS names others"):
        weights_folder(name)
    monkeypatch.setenv(PLACES, os.pathsep.join(map(str, (other, folder))))
    assert weights_folder(name) == folder


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("roberta-large", "there is no folder roberta-large: BERTScore takes the path of weights"),
        ("org/model", "not a name on a hub, as nothing is downloaded"),
        ("", "nothing is downloaded: give weights= or let \\$JUDGESMITH_WEIGHTS name one"),
        ("sha256:12", "there is no folder sha256:12"),
        ("empty", "there is no model in empty: expected config.json"),
        ("pickled", "expected \\*.safetensors. Other forms can run code"),
        ("empty/config", "there is no folder empty/config"),
    ],
)
def test_what_is_no_folder_of_weights_is_refused_in_a_sentence(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text("{}")
    (tmp_path / "pickled" / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ValueError, match=said):
        ReferenceConfig(metric="bertscore", weights=given)


def test_a_protocol_holds_no_path_and_takes_the_only_folder_that_is_named(folder, monkeypatch):
    given = ReferenceConfig(metric="bertscore", weights=str(folder), layer=2)
    plain = given.model_dump_json()
    assert str(folder.parent) not in plain
    assert ReferenceConfig.model_validate_json(plain) == given
    monkeypatch.setenv(PLACES, str(folder))
    assert ReferenceConfig(metric="bertscore").weights == given.weights


def test_other_metrics_are_saved_as_they_were(folder, monkeypatch):
    monkeypatch.setenv(PLACES, str(folder))
    assert not {"weights", "layer"} & set(json.loads(ReferenceConfig().model_dump_json()))
    turned = ReferenceConfig(metric="bertscore").decided({"metric": "bleu"})
    assert ReferenceConfig.model_validate_json(turned.model_dump_json()) == turned
