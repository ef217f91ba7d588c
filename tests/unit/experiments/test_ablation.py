"""Ablations and their tables."""

import json
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
from looping import for_each

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings
from judgesmith.experiments.ablate.report import HEADER, TITLES, criteria_side_by_side
from judgesmith.experiments.ablate.rows import ROWS, impossible_rows, planned_rows
from judgesmith.experiments.ablate.table import ablation
from judgesmith.experiments.compile.ablating import ABLATIONS, without
from judgesmith.metrics.correlation import agreement_difference
from judgesmith.programs import SavedJudge, score_batch
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig, RatedItem, Rubric

# ablating


@for_each("part", ABLATIONS)
def test_each_part_can_be_left_out_and_changes_the_run(part):
    settings = CompileSettings(seed=3, n_rounds=5)
    found = without(settings, [part])
    assert found != settings
    assert (found.seed, found.n_rounds) == (3, 5)


def test_parts_that_are_left_out():
    assert without(CompileSettings(), ["explanations"]).protocol.explain == "none"
    assert without(CompileSettings(), ["mcs"]).protocol == ActiveCriticConfig(variant="coarse")
    assert without(CompileSettings(), ["os"]).protocol == ActiveCriticConfig(overall="mean")
    found = without(CompileSettings(), ["criteria"])
    assert (found.criteria, found.target) == ("human", ("auto",))
    assert without(CompileSettings(target="fluency"), ["criteria"]).target == ("fluency",)
    found = without(CompileSettings(), ["task", "search", "weights", "task"])
    assert found.inference.without == ("task",)
    assert (found.n_demonstrations, found.learn_weights) == (0, False)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["mcs", "os"], "without mcs and os nothing is scored"),
        (["serach"], "what can be left out is explanations, task, .*; got serach"),
    ],
)
def test_what_leaves_no_judge_is_refused(parts, said):
    with pytest.raises(ValueError, match=said):
        without(CompileSettings(), parts)


# ablation table

SETTINGS = CompileSettings(holdout=0.5, n_rounds=2)
WHOLE = SETTINGS.model_copy(update={"n_rounds": 1})
FEW = ["coarse", "fine", "without-mcs"]
SAME = ["table.json", "table.csv", "table.md", "calls.csv"]


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(0, 48, 2))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def table(data, place):
    """Every row, made without a stop."""
    lm = model(ledger=place / "ledger.sqlite", run_id="whole")
    return ablation(data, WHOLE, lm=lm, folder=place / "run")


@pytest.fixture(scope="module")
def few(data, tmp_path_factory):
    """The folder of three rows of either block, made without a stop."""
    place = tmp_path_factory.mktemp("few")
    lm = model(ledger=place / "ledger.sqlite", run_id="few")
    ablation(data, SETTINGS, lm=lm, rows=FEW, folder=place / "run")
    return place / "run"


def by_name(table, block="paper"):
    return {row.name: row for row in table.rows if row.block == block}


@pytest.mark.no_cover
def test_there_is_every_row_in_both_blocks_and_in_its_order(table):
    assert [(row.block, row.name) for row in table.rows] == [
        (block, name) for block in ("paper", "learned") for name in ROWS
    ]
    assert table.complete
    assert table.left_out == {}


def test_every_row_leaves_out_what_its_name_says(table):
    rows = by_name(table)
    protocols = {name: row.saved.protocol for name, row in rows.items()}
    assert [protocols[name].variant for name in ("vanilla", "coarse", "without-mcs")] == [
        "vanilla",
        "coarse",
        "coarse",
    ]
    assert protocols["fine-without-explanations"].explain == "none"
    assert protocols["coarse-without-explanations"].explain == "none"
    assert protocols["coarse-without-explanations"].variant == "coarse"
    assert protocols["fine-explanations-after"].explain == "after"
    assert protocols["fine"].rubric.task
    assert not protocols["without-task"].rubric.task
    assert protocols["without-criteria"].rubric.names == ("faithfulness", "fluency")
    assert protocols["without-os"].overall == "mean"
    assert protocols["separate-calls"].criteria_calls == "separate"
    for name in ("without-search", "without-search-single-batch"):
        assert not protocols[name].demonstrations
        assert rows[name].saved.rows["train"] == 0
    single = rows["without-search-single-batch"].saved.settings["inference"]["inference"]
    assert single == "single"


def test_without_mcs_is_coarse_and_asks_nothing_new(table):
    for block in ("paper", "learned"):
        rows = by_name(table, block)
        coarse, same = rows["coarse"], rows["without-mcs"]
        assert same.saved.fingerprint == coarse.saved.fingerprint
        assert {**same.to_dict(), "row": "coarse"} == coarse.to_dict()
        assert same.new == 0
        assert same.recorded == coarse.new + coarse.recorded


def test_calls_add_up_and_rows_below_find_answers_on_record(table, data):
    new = {row.name: row.new for row in table.rows if row.block == "paper"}
    assert new["fine"] > 0
    assert new["without-os"] < new["fine"]
    again = [row.new for row in table.rows if row.block == "learned"]
    assert sum(again) < sum(new.values()) / 10


def test_rows_are_held_against_the_same_ratings(table):
    first = table.rows[0].heldout
    assert first.n == 12
    for row in table.rows:
        assert np.array_equal(row.heldout.human, first.human)
        assert list(row.heldout.sources) == list(first.sources)


def test_differences_are_paired_with_fine_of_the_same_block(table):
    for block in ("paper", "learned"):
        rows = by_name(table, block)
        assert rows["fine"].difference is None
        full, other = rows["fine"].heldout, rows["vanilla"].heldout
        expected = agreement_difference(
            full.human,
            other.predicted,
            full.predicted,
            sources=full.sources,
            systems=full.systems,
            statistic="q",
            level="dataset",
            seed=np.random.default_rng([0, 13]),
        )
        assert rows["vanilla"].difference == expected
        assert expected.value == pytest.approx(
            rows["vanilla"].agreement["q"].value - rows["fine"].agreement["q"].value
        )


def test_criteria_stand_side_by_side_under_one_name(table):
    assert table.sides == ("inferred", "inferred without task", "people's")
    found = {one.name: one.definitions for one in table.criteria}
    assert len(found) == len({name.casefold() for name in found})
    for side, row in zip(table.sides, ("fine", "without-task", "without-criteria"), strict=True):
        own = by_name(table)[row].saved.protocol.rubric.criteria
        assert {one.definition for one in own} == {
            definitions[side] for definitions in found.values() if side in definitions
        }


def test_the_three_forms_of_the_table_say_the_same(table, place):
    plain = json.loads((place / "run" / "table.json").read_text())
    assert plain == table.to_dict()
    frame = table.to_pandas()
    assert list(frame["row"]) == [one["row"] for one in plain["rows"]]
    for line, one in zip(frame.to_dict("records"), plain["rows"], strict=True):
        assert line["q"] == one["q"]["value"]
        assert (line["q_low"], line["q_high"]) == (one["q"]["low"], one["q"]["high"])
        expected = one["difference"]["value"] if one["difference"] else None
        assert (None if math.isnan(line["difference"]) else line["difference"]) == expected
    text = (place / "run" / "table.md").read_text()
    assert text == table.to_markdown()
    assert text.count("| without-os |") == 4
    assert f"| {' | '.join(HEADER)} |" in text
    assert all(f"## {title}\n" in text for title in TITLES.values())


def test_every_row_is_a_judge_that_scores_as_the_table_says(table, place, data):
    row = by_name(table)["without-criteria"]
    cell = place / "run" / "cells" / "paper.without-criteria"
    saved = SavedJudge.load(cell / "judge")
    assert saved == row.saved
    rows = [json.loads(line) for line in (cell / "scores.jsonl").read_text().splitlines()]
    items = [data.items[one["item"]] for one in rows]
    judged = score_batch(saved, items, lm=model(ledger=None))
    assert [one.score for one in judged] == [one["score"] for one in rows]


def test_a_spent_budget_gives_the_table_so_far_and_more_budget_the_rest(data, few, tmp_path):
    ledger, folder = tmp_path / "ledger.sqlite", tmp_path / "run"

    def with_calls(n):
        lm = model(ledger=ledger, run_id="budget", max_calls=n)
        return ablation(data, SETTINGS, lm=lm, rows=FEW, folder=folder)

    none = with_calls(3)
    assert none.rows == ()
    assert len(none.unfinished) == 2 * len(FEW)
    assert none.to_pandas().empty
    assert (folder / "calls.csv").read_text() == "block,row,new,recorded\n"
    some = with_calls(120)
    assert [row.name for row in some.rows] == ["coarse"]
    assert not some.complete
    assert some.rows[0].difference is None
    assert "incomplete: the budget is spent" in (folder / "table.md").read_text()
    assert json.loads((folder / "table.json").read_text())["unfinished"][0] == "paper/fine"
    assert with_calls(None).complete
    for name in SAME:
        assert (folder / name).read_bytes() == (few / name).read_bytes(), name


def test_another_run_is_kept_unless_it_may_be_overwritten(data, few, tmp_path):
    folder = shutil.copytree(few, tmp_path / "run")
    other = SETTINGS.model_copy(update={"seed": 1})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(FileExistsError, match=r"another run .* --force"):
        ablation(data, other, lm=model(ledger=None), rows=["vanilla"], folder=folder)
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before
    lm = model(ledger=None)
    ablation(data, other, lm=lm, rows=["vanilla"], folder=folder, overwrite=True)
    cells = sorted(path.name for path in (folder / "cells").iterdir())
    assert cells == ["learned.vanilla", "paper.vanilla"]


def test_overwrite_makes_the_rows_of_the_same_run_anew(data, few, tmp_path):
    folder = shutil.copytree(few, tmp_path / "run")
    record = folder / "cells" / "paper.coarse" / "usage.json"
    record.write_text('{"calls": 0, "recorded": 0, "spent": 0}')
    ablation(data, SETTINGS, lm=model(ledger=None), rows=["coarse"], folder=folder)
    assert json.loads(record.read_text())["calls"] == 0
    lm = model(ledger=None)
    ablation(data, SETTINGS, lm=lm, rows=["coarse"], folder=folder, overwrite=True)
    assert json.loads(record.read_text())["calls"] > 0
    assert not (folder / "cells" / "paper.fine").exists()


def test_the_folder_of_an_earlier_version_is_refused_and_kept(data, tmp_path):
    record = tmp_path / "ablation.json"
    record.write_text('{"schema": 1, "run": "0123456789ab", "spent": 0}')
    with pytest.raises(FileExistsError, match="holds no ablation of this version; name another"):
        ablation(data, SETTINGS, rows=FEW, folder=tmp_path, overwrite=True)
    assert list(tmp_path.iterdir()) == [record]


def test_a_folder_with_other_things_is_refused_even_with_overwrite(data, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds no ablation; name another folder"):
        ablation(data, SETTINGS, rows=FEW, folder=tmp_path, overwrite=True)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_record_of_another_judge_is_refused(data, few, tmp_path):
    folder = shutil.copytree(few, tmp_path / "run")
    record = folder / "cells" / "paper.coarse" / "result.json"
    record.write_text(record.read_text().replace('"judge": "', '"judge": "f'))
    with pytest.raises(ValueError, match=r"not the result of the judge next to it[.;] remove"):
        ablation(data, SETTINGS, lm=model(ledger=None), rows=["coarse"], folder=folder)


def test_where_only_overall_is_rated_peoples_criteria_are_left_out_with_the_reason(data):
    items = tuple(
        RatedItem(
            **item.model_dump(exclude={"human", "scale"}),
            human={"overall": item.human["overall"]},
            scale={"overall": item.scale["overall"]},
        )
        for item in data.items
    )
    bare = type(data)(name="bare", items=items)
    assert list(impossible_rows(bare, ROWS)) == ["without-criteria"]
    found = ablation(bare, SETTINGS, lm=model(ledger=None), rows=["vanilla", "without-criteria"])
    assert [row.name for row in found.rows] == ["vanilla", "vanilla"]
    assert found.complete
    assert "only overall is rated in bare" in found.left_out["without-criteria"]
    assert "without-criteria is left out: only overall" in found.to_markdown()


@for_each(
    ("changes", "said"),
    [
        ({"protocol": ActiveCriticConfig(variant="coarse")}, "leave variant as it is"),
        ({"criteria": "human"}, "leave criteria as it is"),
        ({"optimizer": "none"}, "leave optimizer as it is"),
        ({"target": ("fluency", "faithfulness")}, "one target; got fluency, faithfulness"),
        ({"holdout": 0.0}, "give holdout above 0"),
    ],
)
def test_settings_that_leave_something_out_already_are_refused(changes, said):
    with pytest.raises(ValueError, match=said):
        planned_rows(SETTINGS.model_copy(update=changes))


def test_hostile_names_of_criteria_are_no_markup(table):
    nasty = Rubric(criteria=[{"name": "a|b<script>", "definition": "x\x1b[2J | *y*"}])
    text = replace(table, criteria=criteria_side_by_side({"inferred": nasty})).to_markdown()
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "a\\|b\\<script\\>" in text
