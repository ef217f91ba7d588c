import json
import os
import signal
import time

import pytest

from judgesmith.experiments.ablate.rows import ROWS

FEW = ["--rounds", "1", "--rows", "coarse,without-mcs"]
SAME = ["table.json", "table.csv", "table.md"]


@pytest.fixture
def ablate(run, data):
    def command(*options, out="table"):
        done = run("ablate", data, "-o", out, *FEW, *options)
        assert done.status == 0, done.err
        return done

    return command


def test_people_see_the_table_and_what_it_tells(ablate, folder):
    done = ablate("--rows", "fine,coarse,coarse-without-explanations,without-criteria")
    assert done.err == ""
    for title in (
        "As in the paper, held out: 32 rows of 8 sources, 95% intervals",
        "As in the paper: how rows were chosen, and what they asked",
        "With learned weights, held out: 32 rows of 8 sources, 95% intervals",
        "What explanations add, on the same rows",
        "Criteria side by side (definitions are in table.md)",
    ):
        assert f"\n{title}\n" in done.out
    assert "\nfine, as in the paper" not in done.out
    assert "\ncoarse, as in the paper  " in done.out
    assert "\nfaithfulness " in done.out
    assert "calls, " in done.out.splitlines()[-2]
    assert done.out.splitlines()[-1].startswith("judges and table are in table (run ")
    tables = [part for part in done.out.split("\n\n") if "---" in part]
    assert max(len(line) for part in tables for line in part.splitlines()) <= 80
    made = sorted(path.name for path in (folder / "table").iterdir())
    assert made == sorted([*SAME, "ablation.json", "calls.csv", "learned", "paper"])


@pytest.mark.no_cover
def test_one_json_object_says_it_all(ablate, folder):
    done = ablate("--json")
    found = done.json
    table = json.loads((folder / "table" / "table.json").read_text())
    assert {name: found[name] for name in table} == table
    assert set(found) - set(table) == {"folder", "asked", "calls", "cost_usd"}
    assert [(one["block"], one["row"]) for one in found["asked"]] == [
        (block, row) for block in ("paper", "learned") for row in ("coarse", "without-mcs")
    ]
    assert [one["new"] for one in found["asked"] if one["row"] == "without-mcs"] == [0, 0]
    assert found["calls"] == sum(one["new"] for one in found["asked"])
    assert (found["complete"], found["cost_usd"]) == (True, 0.0)
    assert all(line.startswith("note: ") for line in done.err.splitlines())


@pytest.mark.no_cover
def test_the_same_command_again_asks_nothing_and_says_the_same(ablate, folder):
    first = ablate("--json").json
    before = {name: (folder / "table" / name).read_bytes() for name in SAME}
    (folder / ".judgesmith" / "ledger.sqlite").unlink()
    assert ablate("--json").json == first | {"calls": 0}
    assert {name: (folder / "table" / name).read_bytes() for name in SAME} == before


@pytest.mark.no_cover
def test_a_killed_run_continues_to_the_same_table(ablate, start, data, folder):
    ablate(out="whole")
    options = ["--ledger", "other.sqlite"]
    process = start("ablate", data, "-o", "table", *FEW, *options)
    end = time.monotonic() + 120
    while not list(folder.glob("table/paper/coarse.json")):
        assert time.monotonic() < end, "waited in vain"
        assert process.poll() is None, "ended before it could be killed"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "table" / "table.json").exists()
    ablate(*options)
    for name in [*SAME, "calls.csv"]:
        whole = (folder / "whole" / name).read_bytes()
        assert (folder / "table" / name).read_bytes() == whole, name


def test_when_the_budget_ends_the_table_so_far_is_written(ablate, folder):
    done = ablate("--max-calls", "5")
    assert "no row is finished; a larger budget continues from here" in done.out
    done = ablate("--max-calls", "5", "--json")
    assert (done.json["complete"], done.json["rows"]) == (False, [])
    assert "incomplete: the budget is spent, and 4 rows are not made" in done.err
    assert ablate("--json").json["complete"]


@pytest.mark.no_cover
def test_a_judge_that_says_always_the_same_has_undefined_agreement(run, data, server):
    on_server = ["--model", "openai/m", "--api-base", server.url]
    done = run("ablate", data, "-o", "table", *FEW, "--rows", "vanilla", *on_server, "--json")
    assert done.status == 0, done.err
    for row in done.json["rows"]:
        assert row["q"]["value"] is row["q"]["low"] is row["optimism"] is None
        assert row["unscored"] == 0
    counts = server.counts()
    asked = sum(one["new"] for one in done.json["asked"])
    assert counts["requests"] == counts["distinct"] == done.json["calls"] == asked
    again = run("ablate", data, "-o", "table", *FEW, "--rows", "vanilla", *on_server)
    assert "\nvanilla  undefined" in again.out
    assert server.counts()["requests"] == done.json["calls"]


@pytest.mark.no_cover
def test_another_run_in_the_folder_is_kept_unless_forced(run, ablate, data, folder):
    ablate()
    before = (folder / "table" / "table.json").read_bytes()
    done = run("ablate", data, "-o", "table", *FEW, "--seed", "1")
    assert done.status == 2
    assert "holds the ablation of another run" in done.err
    assert "--force" in done.err
    assert (folder / "table" / "table.json").read_bytes() == before
    ablate("--seed", "1", "--force")
    assert (folder / "table" / "table.json").read_bytes() != before


def test_a_folder_with_something_else_is_refused_before_anything_is_asked(run, data, folder):
    done = run("ablate", data, "-o", folder, *FEW, "--force", "--json")
    assert done.status == 2
    assert "holds no ablation" in done.fault["error"]
    assert sorted(path.name for path in folder.iterdir()) == ["data.jsonl"]


@pytest.mark.parametrize(
    ("options", "where", "said"),
    [
        (["--rows", "fine,mcs"], "--rows", "got mcs"),
        (["--rows", ","], "--rows", "no row is named"),
        (["--target", "wit"], "--target", "wit"),
        (["--holdout", "0"], "--holdout", "0"),
        (["--rounds", "0"], "--rounds", "0"),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_written(run, data, folder, options, where, said):
    done = run("ablate", data, "-o", "table", *options, "--json")
    assert done.status == 2
    assert done.fault["where"] == where
    assert said in done.fault["error"]
    assert sorted(path.name for path in folder.iterdir()) == ["data.jsonl"]


def test_a_dry_run_asks_nothing_and_its_bound_holds(ablate, run, data, folder):
    found = ablate("--dry-run", "--json").json
    assert sorted(path.name for path in folder.iterdir()) == ["data.jsonl"]
    made = ablate("--json").json["calls"]
    assert 0.4 * found["calls"] <= made <= found["calls"] <= found["max_calls"]
    out = ablate("--dry-run").out
    assert f"{found['calls']} calls if every answer can be read" in out
    assert "without that ledger all is asked again" in out
    every = run("ablate", data, "-o", "other", "--dry-run", "--json").json
    assert every["calls"] > 5 * found["calls"]
    assert len(ROWS) == 13
