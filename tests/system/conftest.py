"""A folder in which somebody runs commands, and the values on file of what comes of them."""

from pathlib import Path

import loopback_door
import pytest
from locking import Story, file_of, hold

import judgesmith
from judgesmith.cli import main

collect_ignore = ["before"]
EXPECTED = Path(__file__).parent / "expected"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, which is empty."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("JUDGESMITH_LEDGER", "JUDGESMITH_STORAGE", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture
def story(folder, capsys, request):
    """Commands one after another; in the end all that came of them is as it is on file."""

    def command(*words):
        capsys.readouterr()
        return (main(list(words)), *capsys.readouterr())

    told = Story(folder, command, EXPECTED.parent)
    yield told
    hold(told.told, file_of(request, EXPECTED))


@pytest.fixture(scope="session")
def all_rows():
    """The bundled sample, four responses to each of 40 sources."""
    rows = [one.model_dump(mode="json", exclude={"extra"}) for one in judgesmith.read("sample")]
    for row in rows:
        row["scale"] = {name: [one["low"], one["high"]] for name, one in row["scale"].items()}
    return rows


@pytest.fixture(scope="session")
def sample_rows(all_rows):
    """Rated texts from the bundled sample: three responses to each of 18 sources."""
    return [row for place, row in enumerate(all_rows[:72]) if place % 4 != 3]


@pytest.fixture
def unseen(story, all_rows):
    """Rated texts that no judge was made from that was made before the move."""
    rows = [row for place, row in enumerate(all_rows[72:]) if place % 4 != 3]
    return story.rows("unseen.jsonl", rows).name


@pytest.fixture
def data(story, sample_rows):
    """A small file of rated texts."""
    return story.rows("data.jsonl", sample_rows).name


@pytest.fixture
def judge(story):
    """Copy a judge that was made before the move into the working folder, by its family."""

    def copied(name="active-critic", place=None):
        kept = EXPECTED.parent / "before" / "judges" / name / "judge.json"
        story.write(f"{place or name}/judge.json", kept.read_text(encoding="utf-8"))
        return place or name

    return copied


@pytest.fixture(scope="session")
def running_server():
    """A local model server that answers as the offline model does; ``server`` is it, as new."""
    with loopback_door.serving() as server:
        yield server


@pytest.fixture
def on_server(server):
    """Options that ask the server."""
    return ["--model", "openai/m", "--api-base", server.url]
