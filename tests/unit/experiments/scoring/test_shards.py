"""Shards of a score run, and its estimated cost."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sharding import rows_of, texts, write

from judgesmith.data import read_items, read_scores
from judgesmith.data.items import DataSet
from judgesmith.data.problems import DataError
from judgesmith.experiments import CompileSettings, compile_judge, score_shards
from judgesmith.experiments.scoring import parts, shards_of, unscored_items
from judgesmith.experiments.scoring.estimates import MeanLengths, judging_effort
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
from judgesmith.programs.judging.runner import iter_scores
from judgesmith.programs.lm import client_model, lm_client_of, model
from judgesmith.programs.lm.factory import cache_only_model
from judgesmith.signatures import ActiveCriticConfig, Demonstration, Judgement, RatedItem, Reason

# score shards


class Watch:
    """Remembers what it is told."""

    def __init__(self):
        self.rows = []
        self.n_kept = 0

    def judged(self, file, row, item, judgement):
        self.rows.append((file, row, item.source_id, judgement.score is not None))

    def kept(self, n_rows):
        self.n_kept += n_rows


def ids(path):
    return [row["source_id"] for row in rows_of(path)]


def test_all_rows_go_into_one_file_in_order_and_a_watch_sees_each(shards, vanilla, lm, tmp_path):
    watch, told = Watch(), []
    done = score_shards(vanilla, "in", "out.jsonl", lm=lm, watch=watch, on_progress=told.append)
    assert done.n_rows == told[-1].done == 10
    assert ids(tmp_path / "out.jsonl") == [str(n) for n in range(10)]
    assert watch.rows[4:7] == [
        *(("in/a.jsonl", 5, "4", True), ("in/b.jsonl", 1, "5", True), ("in/c.jsonl", 1, "6", True))
    ]
    assert len({row["run"] for row in rows_of(tmp_path / "out.jsonl")}) == 1


def test_each_file_of_a_folder_is_what_it_would_be_by_itself(shards, vanilla, lm, tmp_path):
    done = score_shards(vanilla, "in", "out/", lm=lm)
    assert done.n_rows == 10
    for name in "abc":
        score_shards(vanilla, f"in/{name}.jsonl", f"{name}.jsonl", lm=lm)
        alone = (tmp_path / f"{name}.jsonl").read_bytes()
        assert (tmp_path / "out" / f"{name}.jsonl").read_bytes() == alone
    manifest = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert (manifest["rows"], manifest["unscored"], manifest["judge"]) == (
        *(10, 0),
        vanilla.fingerprint,
    )
    assert [(one["input"], one["rows"]) for one in manifest["files"]] == [
        *(("in/a.jsonl", 5), ("in/b.jsonl", 1), ("in/c.jsonl", 4))
    ]
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == [
        *("a.jsonl", "b.jsonl", "c.jsonl", "scores.json")
    ]


def test_what_is_finished_in_a_folder_stays_and_what_is_new_is_added(shards, vanilla, lm, tmp_path):
    score_shards(vanilla, "in", "out/", lm=lm)
    write(shards / "d.jsonl", texts(2, 10))
    (tmp_path / "out" / "b.jsonl").unlink()
    watch = Watch()
    done = score_shards(vanilla, "in", "out/", lm=lm, watch=watch)
    assert (done.n_rows, watch.n_kept) == (12, 9)
    assert [row[0] for row in watch.rows] == ["in/b.jsonl", "in/d.jsonl", "in/d.jsonl"]
    manifest = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert [one["rows"] for one in manifest["files"]] == [5, 1, 4, 2]


def test_what_has_changed_in_a_folder_is_refused_by_name(shards, vanilla, lm, tmp_path):
    score_shards(vanilla, "in", "out/", lm=lm)
    place = tmp_path / "out" / "c.jsonl"
    before = place.read_bytes()
    place.write_bytes(before + b"\n")
    with pytest.raises(FileExistsError, match=r"out/c.jsonl has changed since it was written"):
        score_shards(vanilla, "in", "out/", lm=lm)
    place.write_bytes(before)
    write(shards / "b.jsonl", texts(1, 50))
    with pytest.raises(FileExistsError, match=r"in/b.jsonl has changed since out/b.jsonl was made"):
        score_shards(vanilla, "in", "out/", lm=lm)
    with pytest.raises(FileExistsError, match="read or written otherwise"):
        score_shards(vanilla, "in", "out/", lm=lm, ordered=False)
    with pytest.raises(FileExistsError, match="by this judge asking another model"):
        score_shards(vanilla, "in", "out/", lm=model("ollama/m", ledger=None))
    (tmp_path / "out" / "scores.json").write_text("{}")
    with pytest.raises(FileExistsError, match="expected the record of a folder of scores"):
        score_shards(vanilla, "in", "out/", lm=lm)
    assert score_shards(vanilla, "in", "out/", lm=lm, overwrite=True).n_rows == 10


def spent(n):
    """Return what judges ``n`` items and has no budget for the others."""

    def judging(items):
        for number, item in enumerate(items, start=1):
            nothing = Judgement.unscored("the budget is spent", reason=Reason.OVER_BUDGET)
            yield item, Judgement(score=1.0) if number <= n else nothing

    return judging


def test_a_finished_file_with_rows_worth_another_try_is_scored_again(shards, vanilla, lm):
    done = score_shards(vanilla, "in", "out/", lm=lm, judging=spent(7))
    assert done.reasons == {"the budget is spent": 3}
    watch = Watch()
    again = score_shards(vanilla, "in", "out/", lm=lm, judging=spent(10), watch=watch)
    assert (again.n_unscored, watch.n_kept, len(watch.rows)) == (0, 6, 4)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_run_that_was_stopped_judges_only_what_it_had_not_committed(
    shards, vanilla, lm, tmp_path, monkeypatch, ordered
):
    monkeypatch.setattr(parts, "ROWS", 2)
    score_shards(vanilla, "in", "whole.jsonl", lm=lm, ordered=ordered)

    def stops(items):
        for n, pair in enumerate(iter_scores(vanilla, items, lm=lm)):
            if n == 7:
                raise OSError("the machine is gone")
            yield pair

    with pytest.raises(OSError, match="the machine is gone"):
        score_shards(vanilla, "in", "out.jsonl", lm=lm, ordered=ordered, judging=stops)
    assert not (tmp_path / "out.jsonl").exists()
    watch = Watch()
    done = score_shards(vanilla, "in", "out.jsonl", lm=lm, ordered=ordered, watch=watch)
    assert (done.n_rows, watch.n_kept, len(watch.rows)) == (10, 7, 3)
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not (tmp_path / "out.jsonl.parts").exists()


def test_rows_as_they_are_finished_say_which_they_are(shards, vanilla, lm, tmp_path):
    def backwards(items):
        yield from reversed(list(iter_scores(vanilla, items, lm=lm)))

    for _ in range(2):  # the second time beside what is there
        score_shards(vanilla, "in", "out.jsonl", lm=lm, ordered=False, judging=backwards)
        rows = rows_of(tmp_path / "out.jsonl")
        assert [row["source_id"] for row in rows] == [str(n) for n in reversed(range(10))]
        assert [(row["file"], row["row"]) for row in rows[3:5]] == [
            *(("in/c.jsonl", 1), ("in/b.jsonl", 1))
        ]
    score_shards(vanilla, "in/a.jsonl", "a.jsonl", lm=lm, ordered=False, judging=backwards)
    assert list(rows_of(tmp_path / "a.jsonl")[0])[:2] == ["row", "source_id"]
    write(shards / "c.jsonl", texts(4, 60))
    with pytest.raises(FileExistsError, match="expected the texts of row 1 of this run, '60'"):
        score_shards(vanilla, "in", "out.jsonl", lm=lm, ordered=False, judging=backwards)


@pytest.mark.parametrize("fault", ["out of order", "twice", "left out", "another"])
def test_what_judges_cannot_lose_or_double_a_row(shards, vanilla, lm, tmp_path, fault):
    def judging(items):
        first, second, *others = [(item, Judgement(score=1.0)) for item in items]
        yield from {
            "out of order": [second, first, *others],
            "twice": [first, first, second, *others],
            "left out": [first, second],
            "another": [(first[0].model_copy(), first[1]), second, *others],
        }[fault]

    with pytest.raises(ValueError, match=r"once and in their order|left out 8 items"):
        score_shards(vanilla, "in", "out.jsonl", lm=lm, judging=judging)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl.gz"])
def test_every_format_is_read_back_continued_and_kept_from_loss(shards, vanilla, lm, ending):
    out = f"out{ending}"
    score_shards(vanilla, "in", "plain.jsonl", lm=lm)
    score_shards(vanilla, "in", out, lm=lm)
    Path("folder").mkdir()
    items = DataSet(
        name="in", items=tuple(i for s in "abc" for i in read_items(f"in/{s}.jsonl").items)
    )
    plain, found = read_scores("plain.jsonl", items), read_scores(out, items)
    assert found.values.tolist() == plain.values.tolist()
    assert found.criteria == plain.criteria
    score_shards(vanilla, "in", "folder", lm=lm, ending=ending)
    assert read_scores("folder", items).values.tolist() == plain.values.tolist()
    assert score_shards(vanilla, "in", out, lm=lm).n_rows == 10
    with pytest.raises(FileExistsError, match="holds 10 rows, 10 with a score, and this run has 5"):
        score_shards(vanilla, "in/a.jsonl", out, lm=lm)
    with pytest.raises(FileExistsError, match="for another input or model"):
        score_shards(vanilla, "in/c.jsonl", out, lm=lm)


def test_an_empty_input_among_others_has_an_empty_file(shards, vanilla, lm, tmp_path):
    (shards / "b.jsonl").write_text("")
    score_shards(vanilla, "in", "out/", lm=lm)
    assert (tmp_path / "out" / "b.jsonl").read_bytes() == b""
    assert score_shards(vanilla, "in", "out/", lm=lm).n_rows == 9
    score_shards(vanilla, ["in/b.jsonl", "in/a.jsonl"], "out.csv", lm=lm)
    with pytest.raises(DataError, match="at least one row"):
        score_shards(vanilla, "in/b.jsonl", "new/", lm=lm)


def test_who_asks_before_is_given_what_would_be_judged(shards, vanilla, lm, monkeypatch):
    inputs = shards_of("in")
    asked = [one.source_id for one in unscored_items(vanilla, inputs, "out/", lm=lm)]
    assert asked == [str(n) for n in range(10)]
    score_shards(vanilla, "in/a.jsonl", "out/", lm=lm)
    asked = [one.source_id for one in unscored_items(vanilla, inputs, "out/", lm=lm)]
    assert asked == ["5", "6", "7", "8", "9"]


def test_a_judge_that_ranks_is_asked_before_as_it_writes_in_order(shards, lm, tmp_path):
    settings = CompileSettings(
        optimizer="none", holdout=0, criteria="given", protocol=PairwiseConfig()
    )
    judge = compile_judge(read_items("sample").subset(range(40)), settings).saved
    asked = unscored_items(judge, shards_of("in"), "out.jsonl", lm=lm, ordered=False)
    assert [one.source_id for one in asked] == [str(n) for n in range(10)]
    assert score_shards(judge, "in", "out.jsonl", lm=lm, ordered=False).n_rows == 10
    assert ids(tmp_path / "out.jsonl") == [str(n) for n in range(10)]
    assert "row" not in rows_of(tmp_path / "out.jsonl")[0]


# shards


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("b.jsonl", "a.csv", ".hidden.jsonl", "_SUCCESS", "c.jsonl.gz"):
        (tmp_path / "in" / name).touch()
    return tmp_path


def names(*inputs):
    return [shard.name for shard in shards_of(inputs)]


def test_a_folder_stands_for_its_files_by_name_without_hidden_ones(place):
    assert names("in") == ["in/a.csv", "in/b.jsonl", "in/c.jsonl.gz"]
    assert names(str(place / "in")) == [str(place / one) for one in names("in")]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (["in", "in/b.jsonl"], "in/b.jsonl: input: expected each file once; got it twice"),
        (["in/b.jsonl", "./in/b.jsonl"], "got it twice, also as in/b.jsonl"),
        (["-", "-"], "-: input: expected each file once"),
        (["empty"], "empty: input: expected files of rows to score; got none"),
        (["mixed"], r"as in 'mixed/\*.csv'\); got notes.txt, sub"),
        (["in/_SUCCESS"], "expected an ending of"),
    ],
)
def test_what_is_no_row_of_files_is_named(place, inputs, said):
    (place / "empty").mkdir()
    (place / "mixed" / "sub").mkdir(parents=True)
    (place / "mixed" / "notes.txt").touch()
    (place / "mixed" / "a.csv").touch()
    with pytest.raises(DataError, match=said):
        shards_of(inputs)


def test_a_pattern_that_finds_nothing_and_a_file_that_is_not_there_are_named(place):
    with pytest.raises(FileNotFoundError, match=r"no file matches in/\*\.tsv; check the pattern"):
        shards_of("in/*.tsv")
    with pytest.raises(FileNotFoundError, match="did you mean"):
        shards_of("in/b.jsonk")
    with pytest.raises(ValueError, match="at least one file"):
        shards_of([])


# sampled sources


def rows(n, *, to_a_source=1):
    return [
        RatedItem(source_id=str(place // to_a_source), source="s", response=str(place))
        for place in range(n)
    ]


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
    lengths = MeanLengths(source=100, response=10)
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
