import pytest
from students import write_data

from judgesmith.experiments.distil import training as adapter
from judgesmith.experiments.distil.training import Trained
from judgesmith.programs import extras


@pytest.fixture
def data(folder):
    """A folder of four examples, one of which is for validation."""
    return write_data(folder / "data", ["Is it?", "Was it?", "Will it?"], ["Can it?"])


def test_without_its_libraries_it_says_how_to_have_them(run, data, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    found = run("finetune", "data", "--base", "own/tiny", "-o", "adapter")
    assert found.status == 2
    assert found.err == ("error: training needs torch: pip install 'judgesmith[finetune]'\n")
    assert {one.name for one in data.parent.iterdir()} == {"data"}


def test_a_dry_run_counts_steps(run, data):
    found = run(
        "finetune", "data", "data", "--base", "own/x", "-o", "adapter", "--batch", "4", "--dry-run"
    )
    assert found.out == "6 examples for training, 2 steps an epoch; 2 for validation\n"
    dry = ["finetune", "data", "--base", "own/x", "-o", "adapter", "--dry-run", "--json"]
    assert run(*dry).json == {"train": 3, "validation": 1, "steps_per_epoch": 1}


def test_what_was_trained_is_told_and_not_trained_again(run, data, monkeypatch):
    calls = []

    def trained(chats, base, recipe, folder, *, progress=None):
        calls.append(recipe)
        return Trained(
            n_train=3,
            n_validation=1,
            n_too_long=0,
            steps=2,
            loss=0.5,
            validation_loss=0.25,
            device="cpu",
            versions={},
        )

    monkeypatch.setattr(adapter, "trained", trained)
    command = ["finetune", "data", "--base", "own/tiny", "-o", "adapter", "--rank", "4"]
    first, again = run(*command), run(*command)
    assert first.out == again.out
    assert "3 examples, 0 left out as too long; 2 steps on cpu\n" in first.out
    assert "loss 0.5000, 0.2500 on 1 for validation\n" in first.out
    assert [one.rank for one in calls] == [4]
    other = run(*command[:-1], "8")
    assert other.status == 2
    assert "holds an adapter of another run" in other.err
    assert run(*command[:-1], "8", "--force", "--json").json["recipe"]["rank"] == 8


def test_a_base_that_is_nowhere_is_refused_before_anybody_is_asked(run, data):
    for base in ("tiny", "./tiny", "/tiny", "a/b/c", "own/", ""):
        found = run("finetune", "data", "--base", base, "-o", "adapter", "--json")
        assert found.fault["where"] == "--base"
        assert found.fault["error"].startswith("there is no folder ")
