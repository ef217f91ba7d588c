"""judgesmith ablate and the shipped ablation."""

import gzip
import json

import pytest
import yaml

# ablate

FEW = ["--rounds", "1", "--rows", "coarse,without-mcs"]


@pytest.fixture
def ablate(run, data):
    def command(*options, out="table"):
        done = run("ablate", data, "-o", out, *FEW, *options)
        assert done.status == 0, done.err
        return done

    return command


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


# The ablation of Active-Critic that ships: run and reported.

SETS = {"summeval": "summeval.jsonl.gz", "topical-chat": "topical_chat.jsonl.gz"}
LEFT_OUT = {"sfres", "openmeva"}
JUDGES = {"vanilla", "without-criteria"}


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
def test_the_ablation_that_ships_runs_and_is_reported(spec, folder, run):
    done = run("experiment", spec, "-o", "run", "--json")
    assert (done.status, done.json["complete"]) == (0, True)
    assert run("report", "run", "-o", "run.html", "--spec", spec, "--no-figures").status == 0
    assert "of which 4 are finished" in (folder / "run.html").read_text(encoding="utf-8")
