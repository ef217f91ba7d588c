"""judgesmith ablate and the shipped ablation."""

import gzip
import json
import os
import signal
import time

import pytest
import yaml
from working import wait_for

from judgesmith.experiments.ablate.rows import ROWS

# ablate

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
        (["--parts", "fine,mcs"], "--parts", "got mcs"),
        (["--parts", ","], "--parts", "no row is named"),
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


# The ablation of Active-Critic that ships: run, killed, continued and reported, as undisturbed.

SETS = {"summeval": "summeval.jsonl.gz", "topical-chat": "topical_chat.jsonl.gz"}
LEFT_OUT = {"sfres", "openmeva"}
JUDGES = {"fine", "vanilla", "coarse", "without-criteria", "without-mcs"}
BOARDS = [f"leaderboard.{kind}" for kind in ("md", "csv", "json", "tex")]


@pytest.fixture
def spec(folder, run, sample_rows, monkeypatch):
    """The template over two small sets in place of its large ones, with fewer judges and rounds."""
    assert run("init", "spec.yaml", "--template", "active-critic").status == 0
    told = yaml.safe_load((folder / "spec.yaml").read_text(encoding="utf-8"))
    for number, name in enumerate(SETS.values()):
        rows = sample_rows[16 * number : 16 * number + 24]
        for row in rows:
            shared = {"coherence": [max(row["human"]["overall"])], "fluency": [number + 2]}
            human = {**row["human"], **shared}
            scale = {criterion: [1, 5] for criterion in human}
            text = json.dumps(row | {"human": human, "scale": scale})
            with gzip.open(folder / name, "at", encoding="utf-8") as file:
                file.write(text + "\n")
    monkeypatch.setenv("JUDGESMITH_DATA", str(folder))
    assert set(told["data"]) == set(SETS) | LEFT_OUT
    assert set(told["judges"]) > JUDGES
    told["data"] = {name: told["data"][name] for name in SETS}
    told["optimizers"]["three"]["rounds"] = told["optimizers"]["eight"]["rounds"] = 1
    told["holdout"] = 0.5
    gone = sorted(set(told["judges"]) - JUDGES)
    told["leave_out"] = [{"judge": gone}, {"optimizer": "eight"}]
    (folder / "spec.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    return "spec.yaml"


@pytest.mark.no_cover
def test_a_killed_ablation_is_continued_to_the_numbers_of_an_undisturbed_one(
    spec, folder, run, start
):
    killed = start("experiment", spec, "-o", "run")
    results = folder / "run" / "cells"
    whole = "[!.]*/result.json"  # what begins with a dot is not whole yet
    wait_for(lambda: len(list(results.glob(whole))) >= 2)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    left = {path.parent.name for path in results.glob(whole)}
    assert 2 <= len(left) < 10
    assert not (folder / "run" / "leaderboard.md").exists()
    stamps = {name: (results / name / "result.json").stat().st_mtime_ns for name in left}

    done = run("experiment", spec, "-o", "run", "--json")
    assert (done.status, done.json["complete"]) == (0, True)
    assert {name: (results / name / "result.json").stat().st_mtime_ns for name in left} == stamps
    assert run("experiment", spec, "-o", "alone").status == 0
    continued, undisturbed = (numbers_of(folder / name) for name in ("run", "alone"))
    assert len([name for name in continued if name.endswith("result.json")]) == 10
    assert continued == undisturbed

    for name in ("run", "alone"):
        page = ("-o", f"{name}.html", "--spec", spec, "--no-figures")
        assert run("report", name, *page).status == 0
    report = (folder / "run.html").read_text(encoding="utf-8")
    assert report == (folder / "alone.html").read_text(encoding="utf-8")
    assert "of which 10 are finished" in report


def numbers_of(run):
    """Return all files of a run that are a function of its specification."""
    files = [path for path in (run / "cells").rglob("*") if path.is_file()]
    own = [path for path in files if path.name != "usage.json"] + [run / name for name in BOARDS]
    return {str(path.relative_to(run)): path.read_bytes() for path in own}
