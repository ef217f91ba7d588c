"""A counting server, and small ways to build requests and models against it."""

import subprocess
import sys

import loopback
import pytest

from judgesmith.programs.lm import (
    Message,
    ModelRequest,
    Prefix,
    SamplingSettings,
    lm_client_of,
    model,
)


@pytest.fixture(scope="session")
def running_server():
    with loopback.serving() as server:
        yield server


@pytest.fixture
def server(running_server):
    """A local model server that counts, as new."""
    running_server.reset()
    return running_server


@pytest.fixture
def path(tmp_path):
    """Where a ledger may be made."""
    return tmp_path / "folder" / "ledger.sqlite"


@pytest.fixture
def stack(server, path):
    """Make stacks on the server; their connections are closed at the end."""
    made = []

    def make(**options):
        options.setdefault("ledger", path)
        options.setdefault("api_base", server.url)
        made.append(lm_client_of(model("openai/m", **options)))
        return made[-1]

    yield make
    for one in made:
        one.engine.close()


@pytest.fixture
def ask():
    """Make requests."""

    def make(user="2 + 2?", *, sample=0, name="openai/m", demos=0, **settings):
        messages = [Message("system", "Answer.")]
        for number in range(demos):
            messages += [Message("user", f"demo {number}"), Message("assistant", "7")]
        return ModelRequest(
            model=name,
            prefix=Prefix(messages),
            user=user,
            settings=SamplingSettings(**settings),
            sample=sample,
        )

    return make


@pytest.fixture
def in_process():
    """Start a program in a Python process of its own."""
    started = []

    def start(program, *arguments):
        command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
        started.append(
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
