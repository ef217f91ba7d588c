"""A cluster of several nodes, one of which is lost while it works."""

import importlib
import threading
import time

import crashing
import pytest

from judgesmith.experiments.scoring.clusters import ray_judging
from judgesmith.experiments.scoring.clusters.connecting import connected_ray, ray_module

pytestmark = [pytest.mark.ray, pytest.mark.no_cover, pytest.mark.filterwarnings("ignore")]

_MEMORY = 100 * 2**20


@pytest.fixture
def cluster(with_ray, key, monkeypatch):
    """Three nodes on this machine, the first without processors for workers."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    ray_module(alone=True)
    nodes = importlib.import_module("ray.cluster_utils")
    given = {"object_store_memory": _MEMORY, "include_dashboard": False}
    made = nodes.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **given})
    yield made, [made.add_node(num_cpus=1, object_store_memory=_MEMORY) for _ in range(2)]
    made.shutdown()


def test_a_node_that_is_lost_takes_no_row_with_it(cluster, saved, items_of, lm_at, server):
    made, nodes = cluster
    server.script({"latency": 0.1})
    items, lm = items_of(400), lm_at()
    with (
        connected_ray(made.address) as ray,
        ray_judging(saved, lm, workers=2, concurrency=4) as judge,
    ):
        rows, found = judge(iter(items)), []
        while len(judge.workers) < 2:
            found.append(next(rows))
        lost = threading.Thread(target=made.remove_node, args=(nodes[0], False))
        lost.start()
        found += rows
        lost.join()
        deadline = time.monotonic() + 120
        while sum(node["Alive"] for node in ray.nodes()) > 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert sum(node["Alive"] for node in ray.nodes()) == 2
    assert [item.key for item, _ in found] == [item.key for item in items]
    assert {judgement.score for _, judgement in found} == {70.0}
    assert lm.client.ledger.query(crashing.LATE) == [(0,)]
    counts = server.counts()
    assert counts["distinct"] == 400
    assert counts["requests"] <= 400 + 4
