import io
import json
import time

import pytest

from judgesmith.programs.lm import CacheError, ResponseCache
from judgesmith.programs.lm.cache import admin
from judgesmith.programs.lm.cache.admin import cache_stats, export, exported, prune


@pytest.fixture
def filled(stack, ask, path, server):
    server.script({"logprobs": {"7": -0.5}, "contains": "item 0"})
    made = stack()
    for n in range(3):
        made.complete_sync(ask(f"item {n}", logprobs=1))
    made.complete_sync(ask("item 0", name="openai/other"))
    return ResponseCache(path)


def test_stats_say_what_is_there(filled, server, path):
    stats = cache_stats(filled)
    assert (stats.answers, stats.calls, stats.path) == (4, 4, str(path))
    assert [(one.model, one.answers, one.endpoint) for one in stats.models] == [
        ("openai/m", 3, server.url),
        ("openai/other", 1, server.url),
    ]
    assert stats.models[0].input_tokens > 0
    assert stats.size_bytes > 4096


def test_pruning_a_model_leaves_the_others_and_what_was_spent(filled):
    assert prune(filled, model="openai/other") == 1
    assert cache_stats(filled).answers == 3
    assert cache_stats(filled).calls == 4


def test_pruning_by_age(filled):
    assert prune(filled, older_than_days=1) == 0
    assert prune(filled, older_than_days=1, model="openai/m", now=time.time() + 2 * 86400) == 3
    assert prune(filled, older_than_days=1, now=time.time() + 2 * 86400) == 1


@pytest.mark.parametrize("portion", [1, 2, 3])
def test_pruning_in_portions_finds_all_and_nothing_else(filled, monkeypatch, portion):
    monkeypatch.setattr(admin, "_PORTION", portion)
    assert prune(filled, model="openai/m") == 3
    assert [one.model for one in cache_stats(filled).models] == ["openai/other"]
    assert prune(filled, model="openai/m") == 0


def test_a_pruned_answer_is_asked_for_again(filled, stack, ask, server):
    prune(filled, model="openai/m")
    before = server.counts()["requests"]
    stack().complete_sync(ask("item 1", logprobs=1))
    assert server.counts()["requests"] == before + 1


def test_pruning_needs_a_condition(filled):
    with pytest.raises(ValueError, match="say what to prune"):
        prune(filled)


def test_an_export_holds_every_answer_as_json_lines(filled):
    out = io.StringIO()
    assert export(filled, out) == 4
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [row["text"] for row in rows] == ["7"] * 4
    assert rows[0]["logprobs"][0]["top"] == [["7", -0.5]]
    assert rows == list(exported(filled))


@pytest.mark.parametrize("look", [cache_stats, lambda one: prune(one, model="m"), export])
def test_a_ledger_that_is_not_there_is_not_made(path, look):
    with pytest.raises(CacheError, match="no cache at"):
        look(ResponseCache(path)) if look is not export else export(
            ResponseCache(path), io.StringIO()
        )
    assert not path.exists()
