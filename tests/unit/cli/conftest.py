"""A command line in an empty folder, a small rated set, a judge made from it, and a server."""

import json
import shutil
from dataclasses import dataclass

import loopback
import pytest
from forking import Nursery

from judgesmith.cli import main
from judgesmith.data.samples import sample_path

QUICK = ["--rounds", "2"]
GRADE = "[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        """The one object on standard output."""
        return json.loads(self.out)

    @property
    def fault(self):
        """The one object on standard error."""
        return json.loads(self.err.splitlines()[-1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, which is empty."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def run(folder, capsys):
    """Run a command in this process."""

    def command(*arguments):
        capsys.readouterr()
        status = main([str(one) for one in arguments])
        return Done(status, *capsys.readouterr())

    return command


@pytest.fixture(scope="session")
def nursery():
    """What starts commands in processes of their own."""
    one = Nursery()
    yield one
    one.close()


@pytest.fixture
def start(folder, nursery):
    """Start a command in a process of its own, in the same folder if not told otherwise."""
    started = []

    def command(*arguments, **options):
        started.append(nursery.child(arguments, **({"cwd": folder} | options)))
        return started[-1]

    yield command
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def sample_rows():
    """The first ten sources of the bundled sample, four responses each."""
    return [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()][
        :40
    ]


@pytest.fixture
def data(folder, sample_rows):
    """A small file of rated texts."""
    return write_rows(folder / "data.jsonl", sample_rows)


@pytest.fixture(scope="session")
def made(tmp_path_factory, sample_rows):
    """A judge folder that no test changes."""
    place = tmp_path_factory.mktemp("made")
    rated = write_rows(place / "data.jsonl", sample_rows)
    folder = place / "judge"
    ledger = place / "ledger.sqlite"
    assert main(["compile", str(rated), "-o", str(folder), "--ledger", str(ledger), *QUICK]) == 0
    return folder


@pytest.fixture
def judge(folder, made):
    """A judge in the working folder, made from ``data``."""
    return shutil.copytree(made, folder / "judge")


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def running_server():
    """A local model server that counts and grades everything 70; ``server`` is it, as new."""
    with loopback.serving(answer=GRADE) as server:
        yield server


@pytest.fixture
def on_server(server):
    """Options that ask the server, one question per text."""
    return ["--model", "openai/m", "--api-base", server.url, "--variant", "vanilla"]
