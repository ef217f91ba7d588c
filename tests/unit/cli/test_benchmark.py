"""``benchmark``: a folder of rated texts of known quality, and what people say of it."""

import csv
import json

import pytest
from benchmark_texts import rows

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


def contents(folder):
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name != "costs.json"}


def test_the_same_command_again_asks_nothing_and_gives_the_same_bytes(run, bench, articles, folder):
    before = contents(folder / "bench")
    again = run("benchmark", articles, "-o", "bench", *LOCAL, "--concurrency", "1")
    assert "\n0 calls, " in again.out
    assert contents(folder / "bench") == before


def test_answers_that_are_asked_anew_are_no_further_questions(
    run, articles, server, folder, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    text = "The bridge was opened again, and nobody in the town knew what it was for."
    server.script(
        {"contains": "bridge in Rome", "answer": "[[ ## words ## ]]\nI would rather not."},
        {"answer": f"[[ ## reference ## ]]\n{text}\n\n[[ ## completed ## ]]"},
    )
    command = [
        *("benchmark", articles, "-o", "bench", *LOCAL, "--sources", "3", "--candidates", "2"),
        *("--role", "writer=openai/m", "--api-base", server.url),
    ]
    assert run(*command).status == 0
    before, n_asked = contents(folder / "bench"), server.counts()["requests"]
    again = run(*command)
    assert again.status == 0, again.err
    n_anew = server.counts()["requests"] - n_asked
    assert n_anew == 2 * 2  # two texts, each asked for once more where it cannot be read
    assert contents(folder / "bench") == before
    written = json.loads(before["report.json"])["questions"][1]
    assert (written["step"], written["questions"]) == ("references written", n_asked)


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


def fill(folder, name, answer):
    """Write a copy of the sheet with ``answer(row)`` in every row."""
    with (folder / "bench" / "spot_check.csv").open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(lines[0]))
        table.writeheader()
        table.writerows({**line, "answer": answer(line)} for line in lines)


def test_a_sheet_with_what_is_no_answer_changes_nothing(run, bench, folder):
    fill(folder, "ann.csv", lambda line: "C")
    before = contents(folder / "bench")
    done = run("benchmark", "bench", "--spot-check", "ann.csv", "--json")
    assert (done.status, done.fault["where"]) == (2, "ann.csv:2")
    assert "expected A, B or same, or a blank cell" in done.fault["error"]
    assert contents(folder / "bench") == before


SMALL = [
    *("--perspective", "global", "--per-rating", "1", "--anchors", "1", "--samples", "1"),
    *("--references", "2", "--candidates", "0"),
]


def two_criteria(folder, relevance):
    """Write the articles with a second criterion, rated ``relevance(fluency)``."""
    lines = []
    for item in rows(criteria=("fluency", "relevance")):
        row = item.model_dump(mode="json", exclude={"extra", "scale"})
        n = int(row["human"]["fluency"][0])
        row["human"]["relevance"] = relevance(n)
        row["scale"] = {"fluency": [1, 3], "relevance": [1, 3]}
        lines.append(json.dumps({**row, "task": "summarization"}))
    (folder / "two.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return "two.jsonl"


def kept_and_dropped(folder, name="bench"):
    """Return what was kept, of the rows as of the report, and why the others were not."""
    report = json.loads((folder / name / "report.json").read_text())
    assert report["criteria"].keys() == report["sub_aspects"].keys() == report["definitions"].keys()
    for file in ("benchmark.jsonl", "anchors.jsonl", "candidates.jsonl"):
        lines = map(json.loads, (folder / name / file).read_text().splitlines())
        named = {one.get("criterion") or one["provenance"]["criterion"] for one in lines}
        assert named == set(report["criteria"])
    dropped = {name: (one["why"], one["ratings"]) for name, one in report["dropped"].items()}
    return set(report["criteria"]), dropped


def test_a_criterion_that_lacks_a_rating_is_left_out_before_anything_is_asked(run, folder):
    data = two_criteria(folder, lambda n: [1 if n == 2 else n])
    alone = run(
        *("benchmark", data, "-o", "alone", *SMALL, "--criteria", "fluency", "--json"),
        *("--ledger", "alone.sqlite"),
    )
    planned = run("benchmark", data, "-o", "bench", *SMALL, "--dry-run", "--json")
    assert planned.json["dropped"]["relevance"]["why"] == "no_human_rating"
    done = run("benchmark", data, "-o", "bench", *SMALL, "--json")
    assert done.status == 0, done.err
    assert kept_and_dropped(folder) == ({"fluency"}, {"relevance": ("no_human_rating", [2])})
    # Not a call for what is left out.
    assert done.json["calls"] == alone.json["calls"] > 0
    note = (
        "note: relevance is left out: no response has the rating 2 in human ratings, and nothing "
    )
    assert note in done.err
    assert "--scale relevance=LOW..HIGH" in done.err


def test_a_criterion_without_an_anchor_is_left_out_and_the_rest_is_built(
    run, folder, server, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    # People waver between 1 and 3 where it is 2: the rater has the last word, and says 3.
    data = two_criteria(folder, lambda n: [1, 3] if n == 2 else [n])
    answer = "[[ ## explanation ## ]]\nGood.\n\n[[ ## score ## ]]\n3\n\n[[ ## completed ## ]]"
    server.script({"answer": answer})
    rater = ["--role", "rater=openai/m", "--api-base", server.url]
    done = run("benchmark", data, "-o", "bench", *SMALL, *rater)
    assert done.status == 0, done.err
    assert kept_and_dropped(folder) == ({"fluency"}, {"relevance": ("no_anchor", [2])})
    assert (
        "note: relevance is left out: human ratings and the model together find no response"
        in done.out
    )
    # Of two criteria twelve texts each are rated, and none of that is asked again.
    assert server.counts()["requests"] == 24
    again = run("benchmark", data, "-o", "bench", *SMALL, *rater)
    assert "\n0 calls, " in again.out
    alone = run("benchmark", data, "-o", "other", *SMALL, *rater, "--criteria", "relevance")
    assert (alone.status, (folder / "other").exists()) == (2, False)
    assert "no criterion is left to build a global benchmark for:\n  relevance is" in alone.err


def test_a_criterion_that_the_comparator_orders_the_other_way_is_kept_only_if_asked(run, folder):
    data = two_criteria(folder, lambda n: [4 - n])
    done = run("benchmark", data, "-o", "bench", *SMALL)
    assert done.status == 0, done.err
    assert kept_and_dropped(folder) == ({"fluency"}, {"relevance": ("anchors_inverted", [])})
    assert "keep it all the same (--keep-inverted)." in done.out
    kept = run("benchmark", data, "-o", "all", *SMALL, "--keep-inverted")
    assert kept_and_dropped(folder, "all") == ({"fluency", "relevance"}, {})
    assert (
        "note: relevance: of two anchors the comparator prefers the one with the lower" in kept.out
    )
    of_local = run("benchmark", data, "-o", "local", *LOCAL, "--keep-inverted", "--json")
    assert (of_local.status, of_local.fault["where"]) == (2, "--keep-inverted")
