"""Clusters that cannot be had are said before anything is asked."""

import socket
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from judgesmith.experiments.scoring.clusters import ClusterError, connecting, ray_judging
from judgesmith.programs.lm import client_model


class Refusing:
    """A Ray that connects to nothing."""

    exceptions = SimpleNamespace(RayError=KeyError)

    def __init__(self, fault=None):
        self.fault = fault
        self.given = None
        self.n_shut = 0

    def is_initialized(self):
        return False

    def init(self, **given):
        self.given = given
        if self.fault is not None:
            raise self.fault

    def shutdown(self):
        self.n_shut += 1


@pytest.fixture
def given_ray(monkeypatch):
    """Return a function that makes another module be Ray."""

    def given(ray):
        monkeypatch.setattr(connecting, "library", lambda *_, **__: ray)
        return ray

    return given


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("RAY_USAGE_STATS_ENABLED", *connecting._ALONE):
        monkeypatch.setenv(name, "as it was")


def test_ray_is_asked_for_by_its_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="ray")

    monkeypatch.setattr("judgesmith.programs.extras.import_module", missing)
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[ray\]'"):
        connecting.ray_module()


def test_a_cluster_of_ones_own_is_for_itself_and_gone_afterwards(given_ray, tmp_path):
    ray = given_ray(Refusing())
    with connecting.connected(None, n_workers=3):
        assert (ray.given["address"], ray.given["num_cpus"]) == ("local", 3)
        assert ray.given["include_dashboard"] is ray.given["log_to_driver"] is False
        folder = ray.given["_temp_dir"]
        assert Path(folder).is_dir()
    assert ray.n_shut == 1
    assert not Path(folder).exists()
    with connecting.connected("local"):
        assert ray.given["num_cpus"] == connecting.processors() >= 1


def test_telemetry_is_off_before_ray_is_imported(monkeypatch):
    heard = []
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setattr(connecting, "find_spec", lambda name: object())
    for name in ("RAY_USAGE_STATS_ENABLED", *connecting._ALONE):
        monkeypatch.delenv(name)
    monkeypatch.setattr(
        connecting, "library", lambda *_, **__: heard.append(dict(connecting.os.environ))
    )
    connecting.ray_module()
    assert heard[0]["RAY_USAGE_STATS_ENABLED"] == "0"
    assert "RAY_AUTH_TOKEN" not in heard[0]
    connecting.ray_module(alone=True)
    assert heard[1]["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert heard[1]["RAY_AUTH_MODE"] == "token"
    assert len(heard[1]["RAY_AUTH_TOKEN"]) == 64


def test_what_keeps_a_cluster_from_starting_is_said_without_keys(given_ray, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret-key")
    given_ray(Refusing(RuntimeError("no shared memory for very-secret-key.\nmore of it")))
    with pytest.raises(ClusterError) as caught, connecting.connected(None):
        pass
    assert str(caught.value) == "Ray could not start here: no shared memory for [key]."


def test_an_address_where_nothing_listens_is_refused_at_once(given_ray):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ray = given_ray(Refusing())
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        with pytest.raises(ClusterError, match=rf"no Ray cluster at .*{port}: Connection refused"):
            connecting.connected(address).__enter__()
    assert ray.given is None


@pytest.mark.parametrize(
    "address",
    [
        "nowhere",
        "host:port",
        "http",
        "",
        "http://host:1",
        "host:65536",
        "ray://host:x",
        "host:\u00b2",
    ],
)
def test_what_is_no_address_is_refused(address, given_ray):
    given_ray(Refusing())
    with pytest.raises(ClusterError, match="HOST:PORT, auto or ray://HOST:PORT"):
        connecting.connected(address).__enter__()


def test_what_ray_says_of_an_address_is_handed_on(given_ray):
    given_ray(Refusing(ConnectionError("Could not find any running Ray instance.")))
    with pytest.raises(ClusterError, match="no Ray cluster at auto: Could not find any running"):
        connecting.connected("auto").__enter__()


def test_nodes_that_could_run_workers_elsewhere_are_named():
    def node(address, *, alive=True, **resources):
        return {"NodeManagerAddress": address, "Alive": alive, "Resources": resources}

    nodes = [node("a", CPU=1), node("b", CPU=2), node("c"), node("d", alive=False, CPU=1)]
    ray = SimpleNamespace(nodes=lambda: nodes)
    assert connecting.nodes_elsewhere(ray, "a") == ["b"]
    assert connecting.nodes_elsewhere(ray, "b") == ["a"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"workers": 0}, "workers must be 1 or more; got 0"),
        ({"concurrency": 0}, "concurrency must be 1 or more; got 0"),
    ],
)
def test_numbers_that_cannot_be_are_refused(given, said, saved):
    with pytest.raises(ValueError, match=said):
        ray_judging(saved, client_model("offline", ledger=None), **given).__enter__()


def test_judges_that_compare_responses_are_refused(ranking_judge):
    with pytest.raises(ValueError, match="compares all responses to a source"):
        ray_judging(ranking_judge, client_model("offline", ledger=None)).__enter__()


@pytest.fixture(scope="module")
def ranking_judge():
    from judgesmith.data import read_items
    from judgesmith.experiments import CompileSettings, compile_judge

    settings = CompileSettings(judge="pairs", optimizer="none", holdout=0)
    return compile_judge(read_items("sample"), settings).saved


def test_a_cluster_with_other_machines_needs_another_ledger(given_ray, saved, tmp_path):
    class Elsewhere(Refusing):
        def get_node_ip_address(self):
            return "10.0.0.1"

        def nodes(self):
            return [{"NodeManagerAddress": "10.0.0.2", "Alive": True, "Resources": {"CPU": 4.0}}]

    ray = given_ray(Elsewhere())
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(ClusterError, match=r"10\.0\.0\.1, and .* 10\.0\.0\.2; .*postgresql://"):
        ray_judging(saved, lm).__enter__()
    assert ray.n_shut == 1
    assert not (tmp_path / "ledger.sqlite").exists()
