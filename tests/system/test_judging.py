"""Judge texts with a saved judge, and say how far its scores can be trusted."""

import csv
import json
import shutil

import pytest


@pytest.fixture
def texts(story, sample_rows):
    """A few texts to judge."""
    return story.rows("texts.jsonl", sample_rows[:12]).name


def test_score(story, judge, texts):
    name = judge()
    story.run("score", name, texts, "-o", "scores.jsonl", "--dry-run", "--json")
    story.run("score", name, texts, "-o", "scores.jsonl")
    story.run("score", name, texts, "-o", "scores.jsonl", "--json")
    story.run("score", name, texts, "-o", "again.jsonl", "--unordered", "--json")
    story.run("score", name, texts, "-o", "scores.csv", "--json")
    story.run("score", name, texts, "-o", "scores.parquet", "--json")
    story.run("score", name, texts, "-o", "scores.jsonl.gz", "--json")
    story.run("score", name, texts, "-o", "several/", "--as", "csv", "--json")
    story.run("score", name, texts, texts, "-o", "twice/", "--json")
    story.run("score", judge("direct"), texts, "-o", "scores.jsonl", "--json")
    story.run("score", "direct", texts, "-o", "scores.jsonl", "--json", "--force")


def test_score_many_files(story, judge, sample_rows):
    for part in range(3):
        story.rows(f"in/{part}.jsonl", sample_rows[12 * part : 12 * part + 12])
    name = judge("direct")
    story.run("score", name, "in", "-o", "out/", "--dry-run", "--seconds-per-call", "1", "--json")
    story.run("score", name, "in", "-o", "out/", "--json")
    story.run("score", name, "in/*.jsonl", "-o", "out/", "--json")
    story.run("score", name, "in", "-o", "one.csv", "--json")


def test_score_watched(story, judge, texts):
    watch = ["--log", "log.jsonl", "--metrics-file", "run.prom"]
    story.run("score", judge("direct"), texts, "-o", "scores.jsonl", *watch, "--json")
    lines = (story.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    story.keep("keys of the log", [sorted(json.loads(line)) for line in lines])


def test_score_on_record_and_replayed(story, judge, texts):
    name = judge("direct")
    recording = ["--record", "tape.jsonl.gz"]
    story.run("score", name, texts, "-o", "scores.jsonl", *recording, "--json")
    shutil.rmtree(story.folder / ".judgesmith")
    story.run("score", name, texts, "-o", "a.jsonl", "--replay", "tape.jsonl.gz", "--json")
    story.run(
        "score", judge("vanilla"), texts, "-o", "b.jsonl", "--replay", "tape.jsonl.gz", "--json"
    )


def test_score_within_a_budget(story, judge, texts):
    name = judge("direct")
    story.run("score", name, texts, "-o", "scores.jsonl", "--max-calls", "4", "--json")
    story.run("score", name, texts, "-o", "scores.jsonl", "--json")
    story.run("ledger", "stats")


def test_score_calibrated_and_panel(story, judge, texts):
    for name in ("calibrated", "panel"):
        story.run("score", judge(name), texts, "-o", f"{name}.jsonl", "--json")
        story.run("evaluate", name, texts, "--json")


def test_evaluate(story, judge, data):
    name = judge()
    story.run("evaluate", name, "sample")
    story.run("evaluate", name, "sample", "--json", whole=True)
    story.run("evaluate", name, data, "--target", "fluency", "--json")
    story.run("evaluate", name, data, "--target", "faithfulness", "--criterion", "fluency")
    story.run("score", name, data, "-o", "scores.jsonl")
    story.run("evaluate", "scores.jsonl", data, "--aggregate", "median", "--seed", "1", "--json")
    story.run("evaluate", "scores.jsonl", data, "--max-unscored", "0")


def test_evaluate_scores_of_rows_that_nobody_rated(story, judge, sample_rows):
    rows = [
        {name: value for name, value in one.items() if name != "human" or n % 5 > 1}
        for n, one in enumerate(sample_rows)
    ]
    data = story.rows("some.jsonl", rows).name
    story.run("score", judge("direct"), data, "-o", "scores.jsonl")
    story.run("evaluate", "scores.jsonl", data)
    story.run("evaluate", "scores.jsonl", data, "--json", whole=True)


def test_compare(story, judge, data):
    names = [judge(), judge("direct"), judge("vanilla")]
    story.run("compare", *names[:2], data)
    story.run(
        "compare", *names[1:], "sample", "--objective", "kendall@sample", "--json", whole=True
    )
    story.run("score", names[2], data, "-o", "scores.jsonl")
    story.run("compare", names[1], "scores.jsonl", data, "--confidence", ".9", "--json")
    story.run("compare", names[0], names[0], data, "--json")


def test_prefer(story, judge, data):
    name = judge("pairs")
    story.run("prefer", name, data, "-o", "preferred.jsonl")
    story.run("prefer", name, data, "-o", "some.jsonl", "--pairs", "1", "--seed", "1", "--json")
    story.run("evaluate", "preferred.jsonl", data, "--target", "overall")
    story.run("evaluate", "preferred.jsonl", data, "--target", "overall", "--json", whole=True)
    story.run("score", name, data, "-o", "ranks.jsonl", "--json")
    story.run("evaluate", name, data, "--json")
    story.run("prefer", judge("direct"), data, "-o", "none.jsonl", "--json")


def test_exemplars(story, judge, texts):
    name = judge("exemplar")
    story.run("exemplars", name, texts, "-o", "exemplars.jsonl")
    story.run("exemplars", name, texts, "-o", "exemplars.jsonl", "--json")


def test_perturb_and_discern(story, judge, texts):
    kinds = ["--kinds", "character_typos,negation,reordering/minor,controls"]
    story.run("perturb", texts, "-o", "versions.jsonl", *kinds)
    story.run("perturb", texts, "-o", "task.jsonl", "--task", "summarization", "--json")
    story.run("perturb", texts, "-o", "dry.jsonl", "--task", "translation", "--dry-run", "--json")
    story.run("perturb", texts, "-o", "few.jsonl", "--sample", "3", "--min-chars", "40", "--json")
    name = judge()
    story.run("discern", name, "versions.jsonl", "--dry-run", "--json")
    story.run("discern", name, "versions.jsonl", "-o", "tested")
    story.run("discern", "tested/scores.jsonl", "tested/versions.jsonl", "--json", whole=True)
    story.run(
        "discern", name, texts, "--by", "score", "--form", "printed", "--min-d", "9", "--json"
    )


def test_drift(story, judge, data, sample_rows):
    name = judge()
    story.run("score", name, data, "-o", "scores.jsonl")
    story.run("drift", name, "scores.jsonl", "--inputs", data)
    story.run("drift", name, "scores.jsonl", "--json")
    story.rows("other.jsonl", [{**row, "response": row["source"]} for row in sample_rows])
    story.run("score", name, "other.jsonl", "-o", "copied.jsonl")
    story.run("drift", name, "copied.jsonl", "--inputs", "other.jsonl", "--json")
    against = ["--against", "scores.jsonl", "--against-inputs", data, "--inputs", "other.jsonl"]
    story.run("drift", name, "copied.jsonl", *against)


def test_recheck(story, judge):
    story.run("recheck", judge("vanilla"), "--samples", "2")
    story.run("recheck", "vanilla", "--samples", "1", "--tolerance", ".1", "--json")
    story.run("recheck", judge("direct"), "--json")


def test_suggest(story, judge, data):
    name = judge("direct")
    story.run("suggest", name, "sample", "-n", "6", "--rate", "tone=1..5", "-o", "rate.csv")
    for strategy in ("coverage", "disagreement", "random"):
        options = [
            "--rate",
            "tone=1..5",
            "--strategy",
            strategy,
            "-n",
            "5",
            "--with-random",
            "2",
            "--at-most",
            "60",
        ]
        story.run("suggest", judge(), "sample", *options, "-o", f"{strategy}.csv", "--json")
    story.run("suggest", name, data, "--rate", "tone=1..5", "-o", "dry.csv", "--dry-run", "--json")


def filled(path, name, answer):
    """Fill in a copy of a sheet under the name of a rater."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.with_name(f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(row | answer(number, row) for number, row in enumerate(rows))


def test_sheets_about_explanations(story, judge, texts):
    story.run("score", judge(), texts, "-o", "scores.jsonl")
    sheet = ["sheet", "write", "scores.jsonl", texts, "-o", "sheet.csv"]
    story.run(*sheet, "--rows", "6", "--scale", "1..5", "--json")

    def answers(step):
        def of(number, row):
            asked = [key for key in row if not row[key]][-7:]
            return {
                key: "4" if key == "usefulness" else "no" if number % step == 0 else "yes"
                for key in asked
            }

        return of

    for rater, step in (("ann", 5), ("bob", 3)):
        filled(story.folder / "sheet.csv", rater, answers(step))
    story.run("sheet", "read", "ann.csv", "bob.csv")
    story.run("sheet", "read", "ann.csv", "bob.csv", "--json")
    story.run("sheet", "read", "sheet.csv", "--json")


def test_errors(story, judge, texts):
    story.run("perturb", texts, "-o", "versions.jsonl", "--kinds", "negation,character_typos")
    story.run("score", judge("annotator"), "versions.jsonl", "-o", "marked.jsonl", "--json")
    story.run("errors", "marked.jsonl", "versions.jsonl", "--rows", "2", "--worst")
    story.run("errors", "marked.jsonl", "versions.jsonl", "--json")
    story.run("errors", "marked.jsonl", "versions.jsonl", "-o", "page.html", "--json")
    story.run("errors", "marked.jsonl", "versions.jsonl", "--gold", "none", "--json")
    story.run("score", judge("panel"), texts, "-o", "panel.jsonl")
    story.run("errors", "panel.jsonl", texts, "--member", "annotator", "--json")
    sheet = ["sheet", "write-errors", "marked.jsonl", "versions.jsonl", "-o", "sheet.csv"]
    story.run(*sheet, "--rows", "8", "--json")
    labels = [
        {"span_is": "error", "explanation_is": "correct"},
        {"span_is": "not an error", "explanation_is": "vague"},
    ]
    filled(story.folder / "sheet.csv", "ann", lambda number, row: labels[number % 3 == 0])
    filled(story.folder / "sheet.csv", "bob", lambda number, row: labels[number % 4 == 0])
    story.run("sheet", "read-errors", "ann.csv", "bob.csv", "--json")


def test_distil(story, judge, data, texts):
    name = judge("annotator")
    story.run("distil", data, name, "-o", "student", "--dry-run", "--json")
    story.run("distil", data, name, "-o", "student", "--validation", ".2", "--json")
    story.run(
        "distil", data, name, "-o", "less", "--exclude", texts, "--outputs", "2", "--aspects", "1"
    )
    story.run("finetune", "student", "--base", "own/tiny", "-o", "adapter", "--dry-run", "--json")
    story.run("distil", data, judge("direct"), "-o", "none", "--json")


def test_export(story, judge, texts):
    for form in ("prompt", "python", "dspy", "mlflow", "inspect"):
        place = "judge.py" if form == "python" else form
        story.run("export", judge(), "--to", form, "-o", place, "--json")
    story.run("export", "active-critic", "--to", "dspy", "-o", "dspy", "--json")
    for name in ("pairs", "annotator", "panel", "calibrated"):
        for form in ("python", "prompt"):
            story.run("export", judge(name), "--to", form, "-o", f"{name}-{form}.py", "--json")


def test_show(story, judge):
    for name in ("g-eval", "panel"):
        story.run("show", judge(name), "--prompts", "--json")
        story.run("show", judge(name))
    story.run("show", "g-eval", "--diff", judge("direct"), "--json")


def test_ledger(story, judge, texts):
    story.run("ledger", "stats", "--json")
    story.run("score", judge("direct"), texts, "-o", "scores.jsonl", "--json")
    story.run("ledger", "export", "-o", "answers.jsonl")
    story.run("ledger", "export", "-o", "answers.jsonl", "--json")
    story.run("ledger", "rescue", "-o", "sound.sqlite", "--json")
    story.run("ledger", "prune", "--older-than-days", "1", "--json")
    story.run("ledger", "prune", "--model", "offline")
    story.run("ledger", "prune", "--json")
    story.run("ledger", "stats", "--ledger", "sound.sqlite", "--json")
