"""Judging on a real Ray: workers that are killed, nodes that are lost, keys, budgets."""

import os
import pickle
import random
import signal
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import crashing
import pytest

from judgesmith.experiments.scoring.clusters import ClusterError, ray_judging
from judgesmith.programs import iter_scores
from judgesmith.programs.lm import ModelError, client_model

pytestmark = [pytest.mark.ray, pytest.mark.no_cover, pytest.mark.filterwarnings("ignore")]

N_KILLS = 20


@contextmanager
def killing(judging, rng):
    """Kill one worker of a run, somewhere in the middle of the block."""

    def kill():
        time.sleep(rng.uniform(0, 0.3))
        os.kill(rng.choice([one.process for one in judging.workers]), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    thread.join()


def test_rows_are_those_of_one_process_and_everything_is_on_loopback(ray, saved, items_of):
    items = items_of(300)
    lm = client_model("offline", ledger=None)
    with ray_judging(saved, lm, workers=2) as judging:
        found = list(judging(iter(items)))
        assert {one.node for one in judging.workers} == {"127.0.0.1"}
        assert os.getpid() not in {one.process for one in judging.workers}
    assert all(one is given for (one, _), given in zip(found, items, strict=True))
    assert found == list(iter_scores(saved, iter(items), lm=lm))
    context = ray.get_runtime_context()
    assert context.gcs_address.startswith("127.0.0.1:")


def test_ray_says_nothing_where_rows_or_reports_may_be_printed(ray, saved, items_of, capfd):
    with ray_judging(saved, client_model("offline", ledger=None), workers=1) as judging:
        list(judging(iter(items_of(4))))
        os.kill(judging.workers[0].process, signal.SIGKILL)
        assert len(list(judging(iter(items_of(4))))) == 4
        time.sleep(1)
    assert capfd.readouterr() == ("", "")


def test_no_kill_of_a_worker_loses_or_doubles_a_row_or_asks_twice_what_was_answered(
    ray, saved, items_of, lm_at, server
):
    rng = random.Random(0)
    server.script({"latency": 0.02})
    lm, alone = lm_at(), lm_at("alone")
    n_rows, in_flight = 40, 4
    with ray_judging(saved, lm, workers=2, concurrency=in_flight) as judging:
        list(judging(iter(items_of(8, " to begin with"))))
        for run in range(N_KILLS):
            items = items_of(n_rows, f" in run {run}")
            before = server.counts()
            with killing(judging, rng):
                found = list(judging(iter(items)))
            assert [item.key for item, _ in found] == [item.key for item in items]
            assert {judgement.score for _, judgement in found} == {70.0}
            after = server.counts()
            assert after["distinct"] - before["distinct"] == n_rows
            assert after["requests"] - before["requests"] <= n_rows + in_flight
    assert lm.client.ledger.query(crashing.LATE) == [(0,)]
    items = items_of(n_rows, " in run 3")
    assert [j for _, j in iter_scores(saved, iter(items), lm=lm)] == [
        j for _, j in iter_scores(saved, iter(items), lm=alone)
    ]


def test_a_budget_is_exact_over_several_workers(ray, saved, items_of, lm_at, server):
    server.script({"latency": 0.005})
    lm = lm_at(max_calls=61)
    with ray_judging(saved, lm, workers=2, concurrency=16) as judging:
        found = [judgement for _, judgement in judging(iter(items_of(150)))]
        assert judging.tallies.usage.calls == 61
    assert server.counts()["requests"] == 61
    assert sum(one.score is not None for one in found) == 61
    assert {one.problem for one in found} == {None, "not asked: the budget of 61 calls is spent."}


def test_keys_are_nowhere_in_what_ray_moves_and_writes(key, ray, saved, items_of, lm_at, server):
    lm = lm_at()
    with ray_judging(saved, lm, workers=1) as judging:
        assert len(list(judging(iter(items_of(20))))) == 20
        sent = {one["authorization"] for one in server.counts()["recent"]}
        assert sent == {f"Bearer {key}"}  # it was there all the same
        assert key.encode() not in pickle.dumps(ray.get(judging._recipe))
        folder = Path(ray._private.worker._global_node.get_session_dir_path())
        written = [one for one in folder.rglob("*") if one.is_file()]
        assert len(written) > 5
        assert [one for one in written if key.encode() in one.read_bytes()] == []


def test_a_worker_without_a_key_names_the_variable(ray, saved, items_of, tmp_path, server):
    lm = client_model("anthropic/m", ledger=tmp_path / "l.sqlite")
    with (
        ray_judging(saved, lm, workers=1) as judging,
        pytest.raises(ModelError, match="ANTHROPIC_API_KEY"),
    ):
        list(judging(iter(items_of(2))))


def test_rows_that_end_every_worker_are_named(ray, saved, items_of, lm_at, server, monkeypatch):
    monkeypatch.setattr("judgesmith.experiments.scoring.clusters.judging._MOST_LOSSES", 1)
    server.script({"latency": 30})
    with ray_judging(saved, lm_at(), workers=1) as judging:
        rows = judging(iter(items_of(2)))
        stopped = threading.Event()

        def kill():
            while not stopped.wait(0.3):
                for one in judging.workers:
                    with suppress(ProcessLookupError):
                        os.kill(one.process, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        with pytest.raises(ClusterError, match="2 workers ended over the same 2 rows"):
            list(rows)
        stopped.set()
        thread.join()
