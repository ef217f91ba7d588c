import json
import shutil

import pytest

SPEC = """
name: two
data: {answers: {path: data.jsonl, targets: [overall]}}
judges: {plain: {judge: direct}, coarse: {variant: coarse}}
optimizers: {none: {}}
holdout: 0.5
"""


@pytest.fixture
def spec(folder, data):
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    return "spec.yaml"


def test_people_see_every_cell_and_the_ranking(run, spec, folder):
    done = run("experiment", spec, "-o", "run")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [
        "answers.overall.plain.none.offline.0: finished",
        "answers.overall.coarse.none.offline.0: finished",
    ]
    assert "answers: overall, dataset level, seed 0" in lines
    assert lines[-1] == "2 cells and the leaderboard are in run"
    assert max(map(len, lines)) <= 80
    made = {path.name for path in (folder / "run").iterdir()}
    boards = {f"leaderboard.{kind}" for kind in ("md", "csv", "json", "tex")}
    assert made >= boards | {"spec.yaml", "run.json", "cells", "ledger.sqlite"}
    assert (folder / "run" / "spec.yaml").read_text() == SPEC
    assert "searches" not in made
    again = run("experiment", spec, "-o", "run")
    assert again.status == 0
    assert "finished" not in again.out


def test_one_json_object_holds_the_leaderboard(run, spec, folder):
    done = run("experiment", spec, "-o", "run", "--json")
    found = done.json
    board = json.loads((folder / "run" / "leaderboard.json").read_text())
    assert {name: found[name] for name in board} == board
    assert (found["complete"], found["calls"], found["cost_usd"]) == (True, 80, 0.0)
    assert done.err == ""


def test_a_dry_run_asks_nothing_and_leaves_nothing(run, spec, folder):
    done = run("experiment", spec, "-o", "run", "--dry-run", "--json")
    found = done.json
    assert [one["estimate"]["calls"] for one in found["cells"]] == [40, 40]
    assert found["total"]["calls"] == 80
    told = run("experiment", spec, "-o", "run", "--dry-run")
    assert "80 calls if every answer can be read" in told.out
    assert not (folder / "run").exists()


def test_a_spent_budget_is_told_and_more_of_it_goes_on(run, spec, folder):
    (folder / "spec.yaml").write_text(SPEC + "budget: {calls: 50}\n", encoding="utf-8")
    done = run("experiment", spec, "-o", "run")
    assert done.status == 1
    assert "coarse.none.offline.0 is not finished: the budget ended" in done.out
    assert "note: the same command again tries what is missing." in done.out
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    done = run("experiment", spec, "-o", "run", "--json")
    assert (done.status, done.json["calls"], done.json["unfinished"]) == (0, 30, {})


def test_a_cell_that_fails_makes_status_1_and_stands_in_the_leaderboard(run, spec, folder):
    rows = (folder / "data.jsonl").read_text().splitlines()
    (folder / "data.jsonl").write_text("\n".join(rows[:4]) + "\n")
    done = run("experiment", spec, "-o", "run", "--json")
    assert done.status == 1
    assert set(done.json["failed"]) == {
        f"answers.overall.{name}.none.offline.0" for name in ("plain", "coarse")
    }
    assert done.err.startswith("note: answers.overall.plain.none.offline.0 failed: ")
    assert "## Without a result" in (folder / "run" / "leaderboard.md").read_text()


def test_another_specification_needs_force(run, spec, folder):
    assert run("experiment", spec, "-o", "run").status == 0
    (folder / "spec.yaml").write_text(SPEC + "seeds: [1]\n", encoding="utf-8")
    done = run("experiment", spec, "-o", "run")
    assert done.status == 2
    assert "run holds the run of another specification" in done.err
    done = run("experiment", spec, "-o", "run", "--force", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    assert {block["seed"] for block in done.json["blocks"]} == {1}


def test_a_cassette_makes_the_same_run_without_a_model(run, spec, folder, monkeypatch):
    from judgesmith.programs.offline import OfflineEngine

    assert run("experiment", spec, "-o", "run", "--record", "run.jsonl.gz").status == 0

    def silent(*_):
        raise AssertionError("a model was asked")

    monkeypatch.setattr(OfflineEngine, "answer", silent)
    done = run("experiment", spec, "-o", "again", "--replay", "run.jsonl.gz", "--json")
    assert (done.status, done.json["calls"]) == (0, 0)
    cells = [path.name for path in (folder / "run" / "cells").iterdir()]
    names = [f"cells/{cell}/{name}" for cell in cells for name in ("result.json", "scores.jsonl")]
    for name in (*names, "leaderboard.md"):
        assert (folder / "again" / name).read_bytes() == (folder / "run" / name).read_bytes()
    (folder / "spec.yaml").write_text(SPEC.replace("t: coarse", "t: coarse, explain: none"))
    done = run("experiment", spec, "-o", "other", "--replay", "run.jsonl.gz", "--json")
    assert done.status == 1
    (reason,) = done.json["failed"].values()
    assert "no answer is on record to the request" in reason


def test_a_request_that_failed_fails_again_where_a_run_is_replayed(run, spec, folder, server):
    rows = [json.loads(line) for line in (folder / "data.jsonl").read_text().splitlines()]
    server.script({"contains": rows[-1]["response"][:40], "status": 400, "body": "no such thing"})
    model = f"models: {{near: {{model: openai/m, api_base: {server.url}}}}}\n"
    text = SPEC.replace(", coarse: {variant: coarse}", "") + model
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    assert run("experiment", spec, "-o", "run", "--record", "run.jsonl").status == 0
    server.reset()
    assert run("experiment", spec, "-o", "again", "--replay", "run.jsonl").status == 0
    assert server.counts()["requests"] == 0
    own, again = (
        (folder / name / "cells/answers.overall.plain.none.near.0/scores.jsonl").read_text()
        for name in ("run", "again")
    )
    assert "HTTP 400" in own
    assert again == own


def test_a_damaged_cell_is_named_with_the_way_out_and_made_again(run, spec, folder):
    assert run("experiment", spec, "-o", "run").status == 0
    board = (folder / "run" / "leaderboard.json").read_bytes()
    cell = folder / "run" / "cells" / "answers.overall.plain.none.offline.0"
    result, scores = cell / "result.json", cell / "scores.jsonl"
    whole = scores.read_text()
    scores.write_text(whole.partition("\n")[2])
    done = run("experiment", spec, "-o", "run")
    assert done.status == 2
    assert "scores.jsonl: it has 19 rows, and the result of its cell 20" in done.err
    assert "remove the folder" in done.err
    scores.write_text(whole)
    result.write_text("torn")
    done = run("experiment", spec, "-o", "run", "--json")
    assert done.status == 2
    assert "result.json: no JSON can be read in it" in done.err
    assert "remove the folder" in done.err
    shutil.rmtree(cell)
    assert run("experiment", spec, "-o", "run").status == 0
    assert (folder / "run" / "leaderboard.json").read_bytes() == board
    assert scores.read_text() == whole


def test_lines_of_one_judge_are_told_apart_in_every_part_of_the_table(run, spec, folder):
    text = SPEC.replace("none: {}", "none: {}, also: {optimizer: none}")
    (folder / "spec.yaml").write_text(text.replace(", coarse: {variant: coarse}", ""))
    done = run("experiment", spec, "-o", "run")
    assert (done.status, max(map(len, done.out.splitlines())) <= 80) == (0, True)
    parts = [one.split() for one in done.out.splitlines() if one.split()[1:3] == ["plain", "none"]]
    others = [one.split() for one in done.out.splitlines() if one.split()[1:3] == ["plain", "also"]]
    assert len(parts) == len(others) > 1
    assert {(one[0], one[3]) for one in parts} ^ {(one[0], one[3]) for one in others} == {
        ("1", "offline"),
        ("2", "offline"),
    }


def test_a_specification_that_holds_nothing_out_is_told_why_nothing_is_ranked(run, spec, folder):
    (folder / "spec.yaml").write_text(SPEC.replace("holdout: 0.5", "holdout: 0"))
    why = "no row is held out (holdout: 0), so no cell is ranked"
    assert why in run("experiment", spec, "-o", "run", "--dry-run").out
    done = run("experiment", spec, "-o", "run", "--json")
    assert (done.status, done.json["blocks"]) == (0, [])
    assert why in done.err
    assert "Nothing is ranked: no row is held out" in (folder / "run/leaderboard.md").read_text()


def test_what_is_finished_is_not_estimated_again(run, spec, folder):
    first = run("experiment", spec, "-o", "run", "--dry-run", "--json").json
    assert (first["finished"], first["total"]["calls"]) == (0, 80)
    assert not (folder / "run").exists()
    assert run("experiment", spec, "-o", "run").status == 0
    shutil.rmtree(folder / "run" / "cells" / "answers.overall.plain.none.offline.0")
    done = run("experiment", spec, "-o", "run", "--dry-run")
    assert done.status == 0
    assert "two: 2 cells, 1 of them finished" in done.out
    rest = run("experiment", spec, "-o", "run", "--dry-run", "--json").json
    assert [one["finished"] for one in rest["cells"]] == [False, True]
    assert (rest["finished"], rest["total"]["calls"]) == (1, 40)


def test_a_run_that_another_version_began_says_so(run, spec, folder):
    assert run("experiment", spec, "-o", "run").status == 0
    place = folder / "run" / "run.json"
    told = json.loads(place.read_text())
    assert "versions" not in told
    place.write_text(json.dumps(told | {"version": "0.0.9"}))
    for again in (run("experiment", spec, "-o", "run"), run("experiment", spec, "-o", "run")):
        assert again.status == 0
        assert "this run was begun by judgesmith 0.0.9" in again.out
    assert json.loads(place.read_text())["versions"] == ["0.0.9", told["version"]]
    assert run("report", "run", "--spec", spec, "--no-figures").status == 0
    page = (folder / "report.html").read_text()
    assert f"Several versions of judgesmith have made cells (0.0.9, {told['version']})" in page


def test_several_seeds_begin_with_their_mean(run, spec, folder):
    text = SPEC.replace(", coarse: {variant: coarse}", "") + "seeds: [0, 1]\n"
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    done = run("experiment", spec, "-o", "run")
    assert done.status == 0
    titles = [one for one in done.out.splitlines() if one.startswith("answers: ")]
    assert titles == [
        "answers: overall, dataset level, over 2 seeds",
        "answers: overall, dataset level, seed 0",
        "answers: overall, dataset level, seed 1",
    ]
    assert max(map(len, done.out.splitlines())) <= 80
    found = json.loads((folder / "run" / "leaderboard.json").read_text())["over_seeds"][0]
    assert (found["seeds"], found["cells"][0]["q"]["n_seeds"]) == ([0, 1], 2)


def test_a_cassette_has_the_name_of_one(run, spec, folder):
    done = run("experiment", spec, "-o", "run", "--record", "answers.txt")
    assert (done.status, (folder / "run").exists()) == (2, False)
    assert "name a file in .jsonl or .jsonl.gz, not answers.txt" in done.err
    done = run("experiment", spec, "-o", "run", "--record", "")
    assert (done.status, (folder / "run").exists()) == (2, False)


def test_a_cassette_replaces_neither_the_run_nor_what_its_specification_names(run, folder, data):
    (folder / "own.jsonl").write_bytes((folder / data).read_bytes())
    text = SPEC.replace("data.jsonl", "own.jsonl")
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    asked = ("experiment", "spec.yaml", "-o", "run", "--force", "--record")
    done = run(*asked, "own.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "--record")
    assert "own.jsonl is read by this command" in done.fault["error"]
    done = run("experiment", "spec.yaml", "-o", "run.jsonl", "--record", "run.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "--record")
    assert "run.jsonl is what -o names, too" in done.fault["error"]
    assert not [path for path in folder.iterdir() if path.name.startswith("run")]


def test_what_is_no_cassette_begins_no_run(run, spec, folder):
    (folder / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    done = run("experiment", spec, "-o", "run", "--replay", "rows.jsonl", "--json")
    assert (done.status, done.fault["where"]) == (2, "rows.jsonl")
    assert not (folder / "run").exists()
