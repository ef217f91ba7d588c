"""A judge of one question, texts for it, and a server that counts what it is asked."""

import importlib.util

import loopback
import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs.lm import client_model
from judgesmith.signatures import RatedItem

KEY = "sk-only-in-the-environment-4711"


@pytest.fixture(scope="session")
def sample():
    return read_items("sample").items


@pytest.fixture(scope="session")
def saved():
    """A judge that asks one question of a text."""
    settings = CompileSettings(judge="direct", optimizer="none", holdout=0)
    return compile_judge(read_items("sample"), settings).saved


@pytest.fixture(scope="session")
def items_of(sample):
    """Return a function that makes so many texts, no two of which are equal."""

    def items(n, mark=""):
        return [
            RatedItem(
                source_id=f"s{place}",
                source=f"Article {place}{mark}. {sample[place % len(sample)].source}"[:300],
                response=f"{sample[place % len(sample)].response[:200]} {place}{mark}",
            )
            for place in range(n)
        ]

    return items


@pytest.fixture(scope="module")
def running_server():
    with loopback.serving(answer="[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]") as server:
        yield server


@pytest.fixture
def lm_at(server, tmp_path):
    """Return a function that makes the server's model with a ledger of its own."""

    def lm(name="ledger", **settings):
        ledger = settings.pop("ledger", tmp_path / f"{name}.sqlite")
        return client_model("openai/m", api_base=server.url, ledger=ledger, **settings)

    return lm


@pytest.fixture(scope="session")
def with_ray():
    """Skip where Ray is not installed; a Ray that is broken fails what asks for this."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("pip install 'judgesmith[ray]'")


@pytest.fixture(scope="module")
def ray(with_ray):
    """A cluster of this machine's own, to which this process is connected, with a key."""
    from judgesmith.experiments.scoring.clusters.connecting import connected_ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        with connected_ray(None, n_workers=2) as module:
            yield module


@pytest.fixture(scope="session")
def key():
    """The key that workers find in their environment."""
    return KEY
