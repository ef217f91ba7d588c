"""``benchmark``: a folder of rated texts of known quality, and what people say of it."""

import csv
import json

import pytest
from benchmark_texts import rows

from judgesmith.experiments import read_items
from judgesmith.experiments.benchmarking.folder import FILES

GLOBAL = {"anchors.jsonl", "candidates.jsonl"}
LOCAL = ["--perspective", "local", "--steps", "3"]


@pytest.fixture
def articles(folder):
    """Four articles with references and rated summaries."""
    path = folder / "articles.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for item in rows(criteria=("fluency",)):
            row = item.model_dump(mode="json", exclude={"extra", "scale"})
            row["scale"] = {"fluency": [1, 3]}
            file.write(json.dumps({**row, "task": "summarization"}) + "\n")
    return path


@pytest.fixture
def bench(run, articles):
    """A local benchmark."""
    done = run("benchmark", articles, "-o", "bench", *LOCAL)
    assert done.status == 0, done.err
    return done


def test_a_benchmark_that_is_named_by_its_folder_is_told_with_its_file(run, bench):
    assert "name a file in it, such as bench/benchmark.jsonl." in run("check", "bench").err


def contents(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "costs.json"}


def test_a_local_benchmark_is_a_folder_that_says_what_is_in_it(bench, folder):
    assert bench.out.startswith("16 texts about 4 sources in bench (local, run ")
    assert "report.md there has the rest; spot_check.csv is for people to fill in\n" in bench.out
    assert {one.name for one in (folder / "bench").iterdir()} == set(FILES) - GLOBAL
    data = read_items(folder / "bench" / "benchmark.jsonl")
    assert sorted(item.human["fluency"][0] for item in data) == sorted([0, 1, 2, 3] * 4)


def test_a_global_benchmark_with_json_is_its_report(run, articles, folder):
    small = [
        "--per-rating",
        "1",
        "--anchors",
        "1",
        "--samples",
        "1",
        "--sources",
        "2",
        "--candidates",
        "1",
    ]
    done = run("benchmark", articles, "-o", "made", "--perspective", "global", *small, "--json")
    assert done.status == 0, done.err
    report = json.loads((folder / "made" / "report.json").read_text())
    told = done.json
    assert {name: told[name] for name in report if name != "spot_check"} == {
        name: value for name, value in report.items() if name != "spot_check"
    }
    assert (told["output"], told["cost_usd"]) == ("made", 0)
    assert {one.name for one in (folder / "made").iterdir()} == set(FILES)
    costs = json.loads((folder / "made" / "costs.json").read_text())
    assert sum(one["calls"] for one in costs["steps"]) == told["calls"] > 0
    assert "note: neither a rubric nor the data defines fluency" in done.err


def test_the_same_command_again_asks_nothing_and_gives_the_same_bytes(run, bench, articles, folder):
    before = contents(folder / "bench")
    again = run("benchmark", articles, "-o", "bench", *LOCAL, "--concurrency", "1")
    assert "\n0 calls, " in again.out
    assert contents(folder / "bench") == before


def test_another_run_is_not_replaced_unless_forced(run, bench, articles, folder):
    before = contents(folder / "bench")
    done = run("benchmark", articles, "-o", "bench", *LOCAL, "--seed", "1", "--json")
    assert (done.status, done.fault["where"]) == (2, "--output")
    assert "another run" in done.fault["error"]
    assert contents(folder / "bench") == before
    assert run("benchmark", articles, "-o", "bench", *LOCAL, "--seed", "1", "--force").status == 0
    assert contents(folder / "bench") != before


def test_a_budget_that_ends_is_stated_and_writes_nothing(run, articles, folder):
    done = run("benchmark", articles, "-o", "bench", *LOCAL, "--max-calls", "5")
    assert (done.status, (folder / "bench").exists()) == (0, False)
    assert "note: the budget of 5 calls is spent.\n" in done.out
    assert "note: nothing was written; a larger budget continues from here.\n" in done.out
    done = run("benchmark", articles, "-o", "bench", *LOCAL, "--max-calls", "5", "--json")
    assert (done.status, done.json["output"]) == (0, None)
    assert run("benchmark", articles, "-o", "bench", *LOCAL).status == 0
    assert (folder / "bench").is_dir()


def test_a_dry_run_tells_what_each_step_would_ask_and_asks_nothing(run, articles, folder):
    roles = ["--role", "injector=openai/m", "--role", "comparator=openai/n"]
    done = run("benchmark", articles, "-o", "bench", *LOCAL, *roles, "--dry-run", "--json")
    assert done.status == 0, done.err
    steps = {one["step"]: one for one in done.json["steps"]}
    assert steps["errors put in"]["model"] == "openai/m"
    assert steps["comparator checked"]["model"] == "openai/n"
    assert done.json["calls"] == sum(one["calls"] for one in steps.values())
    assert done.json["max_calls"] > done.json["calls"]
    assert not (folder / "bench").exists()
    plain = run("benchmark", articles, "-o", "bench", *LOCAL, *roles, "--dry-run").out
    assert plain.startswith(f"{done.json['calls']} calls, {done.json['max_calls']} at most")


def test_edited_sides_are_what_errors_are_bound_to(run, bench, articles, folder):
    sides = folder / "bench" / "sub_aspects.yaml"
    text = sides.read_text(encoding="utf-8")
    assert "  spelling: Words are spelled correctly.\n" in text
    (folder / "mine.yaml").write_text("fluency:\n  spelling: Words are right.\n")
    done = run("benchmark", articles, "-o", "mine", *LOCAL, "--sub-aspects", "mine.yaml", "--json")
    assert done.json["sub_aspects"] == {"fluency": ["spelling"]}
    errors = done.json["criteria"]["fluency"]["kinds"]
    assert set(errors) == {"spelling"}


def test_a_model_that_changes_nothing_is_asked_again_dropped_and_counted(
    run, articles, server, folder, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    server.script({"answer": "I would rather not."})
    command = [
        *("benchmark", articles, "-o", "bench", *LOCAL, "--sources", "2"),
        *("--role", "injector=openai/m", "--api-base", server.url),
    ]
    done = run(*command)
    assert done.status == 2
    assert "no text could be made worse on any criterion: " in done.err
    assert "or another injector" in done.err
    assert server.counts()["requests"] >= 2 * 3
    assert not (folder / "bench").exists()
    again = run(*command)
    assert again.status == 2
    assert "0 tokens, $0.0000; another --ledger asks anew.\nerror: no text could be" in again.err


def test_what_is_given_and_cannot_be_used_is_told_before_anything_is_asked(run, articles, folder):
    (folder / "more.yaml").write_text("fluency: [spelling]\nrelevance: [focus]\n")
    path = folder / "two.jsonl"
    lines = articles.read_text(encoding="utf-8").splitlines()
    rated = {"human": {"relevance": [2]}, "scale": {"relevance": [1, 3]}}
    more = {**json.loads(lines[0]), **rated, "system_id": "x"}
    path.write_text("\n".join([*lines, json.dumps(more)]), encoding="utf-8")
    done = run(
        *("benchmark", path, "-o", "bench", *LOCAL, "--sources", "9", "--dry-run"),
        *("--criteria", "fluency", "--sub-aspects", "more.yaml"),
    )
    assert "note: 9 sources are asked for, and there are 4.\n" in done.out
    assert "note: sides are given of relevance, none of the criteria here; left out.\n" in done.out


def test_columns_that_could_hold_ratings_are_named_where_nothing_is_rated(run, folder):
    (folder / "own.csv").write_text("source,response,fluency\nIt rained.,It rained.,2\n")
    done = run("benchmark", "own.csv", "-o", "bench", *LOCAL, "--json")
    error = json.loads(done.err.splitlines()[-1])
    assert error["error"].endswith("; not read as ratings: 'fluency'.")
    assert error["hint"].startswith("Say which columns hold ratings")


def fill(folder, name, answer):
    """Write a copy of the sheet with ``answer(row)`` in every row."""
    with (folder / "bench" / "spot_check.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(lines[0]))
        table.writeheader()
        table.writerows({**line, "answer": answer(line)} for line in lines)


def test_what_people_say_is_told_and_stands_in_the_report(run, bench, articles, folder):
    fill(folder, "ann.csv", lambda line: "A")
    fill(folder, "bob.csv", lambda line: "" if line["id"] < "x8" else "B")
    sheets = ["--spot-check", "ann.csv", "--spot-check", "bob.csv"]
    told = run("benchmark", "bench", *sheets, "--json").json
    assert (told["checks"], told["answers"] + told["blank"]) == (12, 24)
    assert told["by_rater"].keys() == {"ann", "bob"}
    assert told["agreement"] == 0.0
    report = json.loads((folder / "bench" / "report.json").read_text())
    assert report["spot_check"] == {name: one for name, one in told.items() if name != "benchmark"}
    assert "| rater ann |" in (folder / "bench" / "report.md").read_text()
    plain = run("benchmark", "bench/benchmark.jsonl", *sheets)
    assert "How often people say what the benchmark says" in plain.out
    run("benchmark", articles, "-o", "bench", *LOCAL)
    assert json.loads((folder / "bench" / "report.json").read_text()) == report


def test_a_sheet_with_what_is_no_answer_changes_nothing(run, bench, folder):
    fill(folder, "ann.csv", lambda line: "C")
    before = contents(folder / "bench")
    done = run("benchmark", "bench", "--spot-check", "ann.csv", "--json")
    assert (done.status, done.fault["where"]) == (2, "ann.csv:2")
    assert "expected A, B or same, or a blank cell" in done.fault["error"]
    assert contents(folder / "bench") == before


def test_a_sheet_that_is_no_table_and_options_of_building_are_refused(run, bench, folder):
    (folder / "ann.csv").write_text('id,answer\n"x')
    done = run("benchmark", "bench", "--spot-check", "ann.csv", "--json")
    assert (done.status, done.fault["where"].partition(":")[0]) == (2, "ann.csv")
    done = run("benchmark", "bench", "--spot-check", "ann.csv", "--seed", "1", "--json")
    assert (done.status, done.fault["where"]) == (2, "--seed")


def test_criteria_are_named_with_commas_and_a_rubric_says_what_they_mean(run, articles, folder):
    (folder / "rubric.yaml").write_text("task: Judge.\ncriteria:\n  fluency: Is it smooth?\n")
    done = run(
        *("benchmark", articles, "-o", "bench", *LOCAL, "--criteria", " fluency ,"),
        *("--rubric", "rubric.yaml", "--json"),
    )
    assert done.status == 0, done.err
    assert done.json["definitions"] == {"fluency": "Is it smooth?"}
    assert done.json["notes"] == []


def test_a_judge_is_tested_on_a_benchmark_like_on_any_rated_set(run, bench, judge, folder):
    done = run("evaluate", "judge", "bench/benchmark.jsonl", "--perspective", "local")
    assert done.status == 0, done.err
    assert "fluency" in done.out
    assert run("check", "bench/benchmark.jsonl").status == 0
