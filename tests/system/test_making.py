"""Make a judge: look at the data, infer a rubric, compile in every way there is, show, take."""

import pytest

RUBRIC = """\
task: Judge a short answer to a notice.
criteria:
  faithfulness: Is all of it in the source?
  fluency: Is it well written?
"""
PLAIN = ["--optimizer", "none"]


def test_check(story, data):
    story.run("check", "sample")
    story.run("check", "sample", "--json", whole=True)
    story.run("check", data, "--target", "fluency", "--aggregate", "median", "--json")
    story.run("check", data, "--scale", "1..7", "--seed", "3", "--json")
    story.run("check", "missing.jsonl", "--json")


def test_infer(story, data):
    story.run("infer", data, "-o", "rubric.yaml")
    story.run("infer", data, "-o", "rubric.yaml")
    story.run("infer", data, "-o", "single.yaml", "--inference", "single", "--json")
    story.run(
        *("infer", data, "-o", "other.yaml", "--batch-size", "3", "--max-criteria", "4"),
        *("--target", "fluency", "--seed", "1", "--percent-of-max", "--json"),
    )
    story.run("infer", data, "-o", "kept.yaml", "--without", "criteria", "--seed", "2")
    story.run("infer", data, "-o", "again.yaml", "--keep", "kept.yaml", "--json")
    story.run("ledger", "stats", "--json")


def test_compile(story, data):
    story.run("compile", data, "-o", "quick", "--rounds", "2", "--dry-run", "--json")
    story.run("compile", data, "-o", "quick", "--rounds", "2", whole=True)
    story.run("compile", data, "-o", "quick", "--rounds", "2")
    story.run("compile", data, "-o", "quick", "--rounds", "1")
    story.run("compile", data, "-o", "quick", "--rounds", "2", "--json", "--force")
    story.run("show", "quick")
    story.run("show", "quick", "--prompts", text=False)
    story.run("show", "quick", "--json")
    story.run("compile", data, "-o", "next", "--from", "quick", "--rounds", "1", "--json")
    story.run("show", "quick", "--diff", "next")
    story.run("show", "quick", "--diff", "next", "--json")


WAYS = {
    "vanilla": ["--variant", "vanilla", "--rounds", "2"],
    "coarse": ["--variant", "coarse", "--rounds", "1", "--partial-demos"],
    "separate": ["--criteria-calls", "separate", "--explain", "after", "--rounds", "1"],
    "unexplained": ["--explain", "none", "--percent-of-max", *PLAIN],
    "without": ["--without", "os,weights,search", "--criteria", "inferred"],
    "general": ["--criteria", "general", "--without", "mcs", "--rounds", "1", "--no-texts"],
    "human": ["--criteria", "human", "--target", "faithfulness", "--target", "fluency", *PLAIN],
    "rubric": ["--rubric", "rubric.yaml", "--split-rows", "--seed", "1", "--rounds", "1"],
    "whole": ["--holdout", "0", "--inference", "single", "--lexical", "--rounds", "1"],
    "objective": ["--objective", "q + .5*kappa - .01*calls; kappa >= -1", "--rounds", "1"],
    "probabilities": ["--choose", "weighting=probabilities", "--choose", "answers=1-5", *PLAIN],
}


@pytest.mark.parametrize("way", WAYS)
def test_compile_a_critic(story, data, way):
    story.write("rubric.yaml", RUBRIC)
    story.run("compile", data, "-o", "judge", *WAYS[way], "--dry-run", "--json")
    story.run("compile", data, "-o", "judge", *WAYS[way], "--json")
    story.run("score", "judge", data, "-o", "scores.jsonl", "--json")
    story.run("ledger", "stats", "--json")


def test_compile_on_labels(story):
    story.run("compile", "sample-verdicts", "-o", "judge", "--dry-run", "--json")
    story.run("compile", "sample-verdicts", "-o", "judge")
    story.run("compile", "sample-verdicts", "-o", "judge", "--json", "--force")
    plain = ["--criteria", "general", "--judge", "direct", "--optimizer", "none"]
    story.run("compile", "sample-verdicts", "-o", "strict", *plain, "--cost", "fail=9", "--json")
    floor = ["--objective", "tpr; tnr >= .9", "--abstain", ".4"]
    story.run("compile", "sample-verdicts", "-o", "floored", *plain, *floor, "--json")
    above = ["--objective", "tpr; tnr >= .99"]
    story.run("compile", "sample-verdicts", "-o", "none", *plain, *above)
    story.run("compile", "sample-verdicts", "-o", "none", *plain, "--calibrate")
    story.run("compile", "sample", "-o", "none", *plain, "--cost", "fail=9")
    story.run("score", "strict", "sample-verdicts", "-o", "scores.jsonl", "--json")


FAMILIES = {
    "direct": ["--choose", "asks=overall"],
    "exemplar": ["--choose", "levels=3", "--choose", "asks=overall"],
    "g-eval": ["--rubric", "rubric.yaml", "--steps", "steps.yaml"],
    "explain-eval": ["--choose", "asks=overall"],
    "reference": ["--choose", "metric=rougeL"],
    "pairs": ["--choose", "ranking=beam", "--choose", "beam=4"],
    "prometheus": ["--rubric", "rubric.yaml"],
    "checklist": ["--rubric", "rubric.yaml", "--questions", "questions.yaml"],
    "themis": ["--rubric", "rubric.yaml"],
    "auto-j": [],
    "annotator": ["--rubric", "rubric.yaml", "--choose", "shows.fluency=source"],
    "distilled": ["--rubric", "rubric.yaml"],
    "gptscore": ["--rubric", "rubric.yaml"],
    "verdict": ["--choose", "asks=checks", "--choose", "combine=mean"],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_compile_another_judge(story, sample_rows, family):
    rows = [{**row, "references": [row["source"][:120]]} for row in sample_rows]
    story.rows("data.jsonl", rows)
    story.write("rubric.yaml", RUBRIC)
    story.write("steps.yaml", "fluency:\n- Read it aloud.\n- Mark each stumble.\n")
    story.write("questions.yaml", "fluency:\n- Is every sentence whole?\n- Is it free of slips?\n")
    options = ["--judge", family, *PLAIN, *FAMILIES[family]]
    if "--rubric" not in options and family != "reference":
        options += ["--rubric", "rubric.yaml"]
    story.run("compile", "data.jsonl", "-o", "judge", *options, "--dry-run", "--json")
    story.run("compile", "data.jsonl", "-o", "judge", *options, "--json")
    story.run("score", "judge", "data.jsonl", "-o", "scores.jsonl", "--json")
    story.run("evaluate", "judge", "data.jsonl", "--json")
    story.run("show", "judge", "--prompts", text=False)
    story.run("ledger", "stats", "--json")


SEARCHES = {
    "protocol": ["--optimizer", "protocol", "--trials", "5", "--draws", "1"],
    "screen": ["--optimizer", "protocol", "--screen", "--trials", "6", "--draws", "1"],
    "front": [
        "--optimizer",
        "protocol",
        "--objective",
        "q, -calls",
        "--trials",
        "8",
        "--draws",
        "1",
    ],
    "samples": ["--optimizer", "protocol", "--trials", "3", "--draws", "1", "--vary-samples"],
    "reflective": ["--optimizer", "reflective", "--trials", "2"],
    "balanced": ["--optimizer", "balanced", "--choose", "answers=1-5"],
    "miprov2": ["--optimizer", "miprov2"],
    "discernment": ["--objective", "d_min", "--kinds", "negation,reordering/minor"],
}
BRIEF = ["--rubric", "rubric.yaml", "--variant", "coarse"]


@pytest.mark.parametrize("search", SEARCHES)
def test_compile_by_a_search(story, sample_rows, search):
    data = story.rows("data.jsonl", sample_rows).name
    story.write("rubric.yaml", RUBRIC)
    start = {"front": ["--criteria", "general"]}
    options = [*start.get(search, BRIEF), *SEARCHES[search]]
    if search == "discernment":
        options += ["--rounds", "1", "--holdout-kinds", "character_typos"]
    story.run("compile", data, "-o", "judge", *options, "--dry-run", "--json")
    story.run("compile", data, "-o", "judge", *options, "--json")
    if search == "front":
        story.run("show", "judge")
        story.run("take", "judge", "4", "-o", "taken", "--json")
        story.run("take", "judge", "99", "-o", "none", "--json")
    story.run("ledger", "stats", "--json")


def test_compile_calibrated(story, data):
    options = ["--calibrate", "--confidence", ".8", "--within", "1.5"]
    options += ["--rubric", "rubric.yaml", "--rounds", "1"]
    story.write("rubric.yaml", RUBRIC)
    story.run("compile", "sample", "-o", "judge", *options, "--json")
    story.run("score", "judge", data, "-o", "scores.jsonl")
    story.run("show", "judge")


def test_compile_within_a_budget(story, data):
    story.write("rubric.yaml", RUBRIC)
    story.run("compile", data, "-o", "judge", *BRIEF, "--rounds", "2", "--max-calls", "50")
    story.run("compile", data, "-o", "judge", *BRIEF, "--rounds", "2", "--max-calls", "5", "--json")
    story.run("compile", data, "-o", "judge", *BRIEF, "--rounds", "2", "--json")
    story.run("compile", data, "-o", "late", *BRIEF, "--max-usd", "1", "--price", "1,2", "--json")


def test_several_files_and_columns(story, sample_rows):
    story.write("rubric.yaml", RUBRIC)
    story.rows("one.jsonl", sample_rows[:27])
    story.rows("two.jsonl", sample_rows[27:])
    story.run("compile", "one.jsonl", "two.jsonl", "-o", "judge", *BRIEF, "--rounds", "1", "--json")
    table = "article,answer,points\n" + "".join(
        f'"{row["source"]}","{row["response"]}",{sum(row["human"]["overall"]) / 2}\n'.replace(
            "\n\n", " "
        )
        for row in sample_rows
        if '"' not in row["source"] + row["response"]
    )
    story.write("table.csv", table)
    columns = "source=article,response=answer,score=points"
    options = ["--map", columns, "--scale", "1..5", *BRIEF, *PLAIN]
    story.run("check", "table.csv", "--map", columns, "--scale", "1..5", "--json")
    story.run("compile", "table.csv", "-o", "from-table", *options, "--json")
