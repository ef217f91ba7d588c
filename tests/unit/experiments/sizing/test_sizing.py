"""Cost of a score run is estimated."""

from dataclasses import replace

import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.judging_estimate import Lengths, judging_effort
from judgesmith.experiments.scoring.run_size import (
    Means,
    OnRecord,
    SampledSources,
    on_record,
    run_size,
    scoring_size,
)
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.pairwise import PairwiseConfig
from judgesmith.programs.lm import client_model, lm_client_of
from judgesmith.programs.lm.factory import cache_only_model
from judgesmith.signatures import ActiveCriticConfig, Demonstration, RatedItem

# sampled sources


def rows(n, *, to_a_source=1):
    return [
        RatedItem(source_id=str(place // to_a_source), source="s", response=str(place))
        for place in range(n)
    ]


def test_few_rows_are_all_kept():
    found = SampledSources.of(rows(7))
    assert (found.n_rows, len(found.items)) == (7, 7)


def test_sources_are_kept_whole_and_in_any_order_the_same():
    given = rows(300, to_a_source=3)
    first, second = SampledSources(most=50), SampledSources(most=50)
    for one in given:
        first.add(one)
    for one in given[::-1]:
        second.add(one)
    sizes = {
        name: len([1 for one in first.items if one.source_id == name])
        for name in {one.source_id for one in first.items}
    }
    assert set(sizes.values()) == {3}
    assert 0 < len(first.items) <= 50
    assert {one.response for one in first.items} == {one.response for one in second.items}


def test_one_source_larger_than_the_sample_is_cut():
    found = SampledSources(most=5)
    for one in rows(40, to_a_source=40):
        found.add(one)
    assert [one.response for one in found.items] == ["0", "1", "2", "3", "4"]
    assert found.n_rows == 40


def test_ids_that_are_no_unicode_are_ids_all_the_same():
    found = SampledSources.of([RatedItem(source_id="\ud800", source="s", response="r")])
    assert len(found.items) == 1


# scoring size


@pytest.fixture(scope="module")
def items():
    return read_items("sample").items[:40]


@pytest.fixture(scope="module")
def saved():
    data = read_items("sample")
    return compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved


def test_as_many_calls_are_told_as_are_made_and_those_on_record_are_free(saved, items, tmp_path):
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    looked = cache_only_model(lm)
    before = scoring_size(saved, items, {"offline": looked}, concurrency=4)
    assert before.sizes[0].calls == 80
    assert before.found == OnRecord(n_looked=40)
    assert before.seconds_from == "assumed"
    score_batch(saved, items[:10], lm=lm)
    some = scoring_size(saved, items, {"offline": looked}, concurrency=4)
    assert (some.found.n_rows, some.sizes[0].calls, some.row.n_measured) == (10, 60, 0)
    score_batch(saved, items, lm=lm)
    assert lm_client_of(lm).usage.calls == before.sizes[0].calls
    after = scoring_size(saved, items, {"offline": looked}, concurrency=4)
    assert (after.sizes[0].calls, after.sizes[0].cost_usd) == (0, 0.0)
    assert (after.sizes[1].calls, after.row.n_measured) == (2_000_000, 40)
    used = lm_client_of(lm).usage
    assert after.sizes[1].input_tokens == round(used.input_tokens / 40 * 10**6)
    lm.client.ledger.close()


def test_looking_writes_nothing(saved, items, tmp_path):
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    score_batch(saved, items[:2], lm=lm)
    ledger = lm.client.ledger
    count = "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM intents)"
    before = ledger.query(count)
    assert on_record(saved, items, cache_only_model(lm)).n_rows == 2
    assert ledger.query(count) == before
    ledger.close()


def test_comparisons_on_record_count_once_whatever_rows_they_serve(tmp_path, items):
    data = read_items("sample")
    settings = CompileSettings(
        optimizer="none", holdout=0, criteria="given", protocol=PairwiseConfig()
    )
    judge = compile_judge(data, settings).saved
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    score_batch(judge, items, lm=lm)
    found = on_record(judge, items, cache_only_model(lm))
    assert (found.n_rows, found.n_calls) == (40, lm_client_of(lm).usage.calls)
    lm.client.ledger.close()


def test_the_tightest_of_all_bounds_decides(saved, items):
    lm = cache_only_model(client_model("openai/m", ledger=None, price=(1.0, 4.0)))
    found = scoring_size(saved, items, {"openai/m": lm}, concurrency=100, seconds_per_call=3.0)
    row = found.row
    assert found.sizes[1].seconds == pytest.approx(2 * 10**6 * 3.0 / 100)
    assert found.sizes[1].bound_by == "concurrency"
    assert found.sizes[1].day_in_flight == 70
    usual = Means(concurrency=100, seconds_per_call=3.0)
    for other, bound in (
        (replace(usual, rpm=60), "rpm"),
        (replace(usual, tpm=1000), "tpm"),
        (replace(usual, concurrency=10**6), "processor"),
    ):
        assert run_size(10**6, row, other).bound_by == bound
    busy = run_size(10**6, row, replace(usual, concurrency=10**4))
    assert busy.processes == 2


def test_dollars_are_tokens_at_the_price_and_batches_cost_half(saved, items):
    lm = cache_only_model(client_model("openai/m", ledger=None, price=(1.0, 4.0)))
    one = scoring_size(saved, items, {"openai/m": lm}, concurrency=1).sizes[2]
    usd = (one.input_tokens + 4 * one.output_tokens) / 1e6
    assert one.cost_usd == pytest.approx(usd, rel=1e-6)
    assert one.batch_usd == pytest.approx(usd / 2, rel=1e-6)
    assert one.cached_usd == 0.0  # prompts begin with too little


def test_what_long_prompts_begin_with_is_told_apart():
    inputs = {"source": "A long text. " * 400, "context": None, "response": "Short."}
    shown = (Demonstration(inputs=inputs, outputs={"score": 50}),)
    lengths = Lengths(source=100, response=10)
    bare, taught = (
        judging_effort(one.protocol, one.templates(), [1], lengths)
        for one in (
            ActiveCritic(ActiveCriticConfig(variant="vanilla", demonstrations=demonstrations))
            for demonstrations in ({}, {"grade": shown})
        )
    )
    assert bare.shared == 0.0
    assert 5200 < taught.shared < taught.characters


def test_an_unknown_price_is_no_price(saved, items):
    lm = cache_only_model(client_model("somewhere/unheard-of", ledger=None))
    one = scoring_size(saved, items, {"somewhere/unheard-of": lm}, concurrency=1).sizes[0]
    assert (one.cost_usd, one.batch_usd, one.cached_usd) == (None, None, None)


def test_no_rows_are_refused(saved):
    with pytest.raises(ValueError, match="no rows to score"):
        scoring_size(saved, [], {"offline": client_model("offline", ledger=None)}, concurrency=1)
