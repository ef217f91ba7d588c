"""Judging on workers gives what judging here gives, whatever is lost, over a stand-in for Ray."""

from dataclasses import replace

import pytest
from lossy_ray import LossyRay, RayTaskError, Ref

from judgesmith.experiments.scoring.clusters import ClusterError, RayJudging, recipes, worker
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe
from judgesmith.programs import iter_scores
from judgesmith.programs.lm import CacheError, ModelError, client_model
from judgesmith.programs.lm.limits import STOPPING, Stopped

HERE = "127.0.0.1"


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    monkeypatch.setattr(worker, "own_address", lambda: HERE)


@pytest.fixture
def judged_by(saved):
    """Return a function that judges items by workers on a stand-in for Ray."""
    rays = []

    def judged(items, lm, *, ray=None, n_workers=2, concurrency=4, home=None, **changed):
        rays.append(LossyRay() if ray is None else ray)
        recipe = replace(JudgeRecipe.of(saved, lm), **changed)
        given = {"n_workers": n_workers, "concurrency": concurrency, "home": home}
        made = RayJudging(rays[-1], recipe, **given)
        return made, made(iter(items))

    yield judged
    for ray in rays:
        ray.close()


@pytest.mark.parametrize("losses", [0.0, 0.3])
@pytest.mark.parametrize("n_workers", [1, 3])
def test_rows_come_in_order_with_the_same_judgements_whatever_is_lost(
    losses, n_workers, judged_by, saved, items_of, tmp_path
):
    items = items_of(50)
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    ray = LossyRay(seed=n_workers, losses=losses)
    made, rows = judged_by(iter(items), lm, ray=ray, n_workers=n_workers)
    found = list(rows)
    assert all(one is given for (one, _), given in zip(found, items, strict=True))
    alone = client_model("offline", ledger=None)
    assert found == list(iter_scores(saved, iter(items), lm=alone))
    assert (ray.n_born > n_workers) == (losses > 0)
    assert len(made.workers) <= n_workers
    asked = lm.client.ledger.query("SELECT count(*), count(DISTINCT identity) FROM intents")
    assert asked == [(50, 50)]
    made.close()


def test_no_more_is_read_than_needed(judged_by, items_of):
    n_read = 0

    def endless():
        nonlocal n_read
        for item in items_of(5000):
            n_read += 1
            yield item

    _, rows = judged_by(endless(), client_model("offline", ledger=None), concurrency=2)
    next(rows)
    assert n_read < 200
    rows.close()


def test_rows_that_end_every_worker_are_named(judged_by, items_of):
    _, rows = judged_by(
        items_of(3), client_model("offline", ledger=None), ray=LossyRay(losses=1.0), n_workers=1
    )
    with pytest.raises(ClusterError, match="21 workers ended over the same 3 rows, the first of"):
        list(rows)


def test_what_workers_asked_is_counted_over_all_their_lives(judged_by, items_of):
    made, rows = judged_by(items_of(30), client_model("offline", ledger=None))
    assert len(list(rows)) == 30
    assert (made.tallies.usage.calls, made.tallies.adaptations) == (30, ())


def test_a_budget_is_kept_to_exactly(judged_by, items_of, tmp_path):
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite", max_calls=17)
    _, rows = judged_by(items_of(40), lm, n_workers=3)
    found = [judgement for _, judgement in rows]
    assert len(found) == 40
    assert sum(one.score is not None for one in found) == 17
    assert {one.problem for one in found} == {None, "not asked: the budget of 17 calls is spent."}


def test_a_set_up_that_cannot_work_ends_the_run_after_the_rows_before_it(
    judged_by, items_of, lm_at, server
):
    server.script({"status": 401, "contains": "Article 9."})
    _, rows = judged_by(items_of(12), lm_at(), n_workers=1, concurrency=4)
    found = []
    with pytest.raises(ModelError, match="401") as caught:
        found.extend(rows)
    assert caught.value.status == 401
    assert len(found) == 9


def test_nothing_but_refusals_ends_the_run_too(judged_by, items_of, lm_at, server):
    server.script({"status": 400})
    _, rows = judged_by(items_of(60), lm_at(), n_workers=1)
    with pytest.raises(ModelError, match="400"):
        list(rows)
    assert server.counts()["requests"] < 60


def test_a_ledger_that_is_none_is_said(judged_by, items_of, tmp_path):
    (tmp_path / "ledger.sqlite").write_text("no ledger " * 100)
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    _, rows = judged_by(items_of(2), lm)
    with pytest.raises(CacheError, match=r"ledger\.sqlite"):
        list(rows)


def test_a_worker_on_another_machine_asks_nothing_of_a_ledger_that_is_a_file(
    judged_by, items_of, lm_at, server
):
    _, rows = judged_by(items_of(2), lm_at(), home="10.0.0.7")
    said = r"the worker at 127\.0\.0\.1: the ledger is a file on 10\.0\.0\.7, .*postgresql://"
    with pytest.raises(ClusterError, match=said):
        list(rows)
    assert server.counts()["requests"] == 0


def test_another_version_on_a_node_is_said(judged_by, items_of, monkeypatch):
    monkeypatch.setattr(recipes, "version", lambda name: "9.9")
    _, rows = judged_by(items_of(1), client_model("offline", ledger=None), made_by="9.8")
    with pytest.raises(ClusterError, match=r"judgesmith is 9\.9 here and 9\.8 .* on every node"):
        list(rows)


def test_a_request_to_stop_finishes_what_is_under_way_and_begins_nothing(judged_by, items_of):
    _, rows = judged_by(items_of(500), client_model("offline", ledger=None), concurrency=4)
    found = [next(rows)]
    assert STOPPING.request()
    try:
        with pytest.raises(Stopped):
            found.extend(rows)
    finally:
        STOPPING.reset()
    assert 1 <= len(found) < 200


def test_a_fault_of_the_code_is_raised_as_it_is(judged_by, items_of):
    class Reads(LossyRay):
        def get(self, ref: Ref):
            if type(ref.answer).__name__ == "Done":
                raise RayTaskError("a bug")
            return super().get(ref)

    _, rows = judged_by(items_of(3), client_model("offline", ledger=None), ray=Reads())
    with pytest.raises(RayTaskError, match="a bug"):
        list(rows)
