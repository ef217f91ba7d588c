"""Rate systems: pass rates corrected for what a judge gets wrong."""

import csv

import numpy as np
import pytest

SYSTEMS = {"new": 0.8, "old": 0.65}


@pytest.fixture
def answers():
    """Answers of two systems to 160 questions, 50 of them labelled, and a judge's scores."""
    rng = np.random.default_rng(1)
    rows, scores = [], []
    for number in range(160):
        for system, rate in SYSTEMS.items():
            good = rng.random() < rate
            passes = rng.random() < (0.92 if good else 0.2)
            ids = {"source_id": f"q{number}", "system_id": system}
            texts = {"source": f"Question {number}?", "response": f"{system} says {number}."}
            label = {"human": {"overall": ["pass" if good else "fail"]}} if number < 50 else {}
            rows.append({**ids, **texts, **label})
            scores.append({**ids, "score": 0.9 if passes else 0.1})
    return rows, scores


def without_labels(rows):
    return [{name: one for name, one in row.items() if name != "human"} for row in rows]


def test_rate_scores_on_file(story, answers):
    rows, scores = answers
    story.rows("data.jsonl", rows)
    story.rows("scores.jsonl", scores)
    story.run("rate", "scores.jsonl", "data.jsonl")
    story.run("rate", "scores.jsonl", "data.jsonl", "--json", whole=True)
    story.rows("labelled.jsonl", rows[:100])
    story.rows("others.jsonl", rows[100:])
    apart = ["others.jsonl", "--labelled", "labelled.jsonl"]
    story.run("rate", "scores.jsonl", *apart, "--json", whole=True)
    # A label counts before the score does.
    labels = [{**one, "label": "pass" if one["score"] > 0.5 else "fail"} for one in scores]
    story.rows("labels.jsonl", [{**one, "score": 0.5} for one in labels])
    story.run("rate", "labels.jsonl", *apart, "--json")
    scale = [
        {**row, "human": {"overall": [int("pass" in row["human"]["overall"])]}}
        for row in rows[:100]
    ]
    story.rows("numbers.jsonl", [*scale, *rows[100:]])
    story.run("rate", "scores.jsonl", "numbers.jsonl", "--labels", "0,1", "--positive", "1")


@pytest.mark.parametrize("name", ["active-critic", "direct"])
def test_rate_with_a_judge(story, judge, all_rows, name):
    rows = [{key: one for key, one in row.items() if key != "scale"} for row in all_rows]
    for row in rows:
        row["human"] = {"overall": ["pass" if np.mean(row["human"]["overall"]) > 2 else "fail"]}
    story.rows("data.jsonl", [*rows[:110], *without_labels(rows[110:])])
    place = judge(name)
    story.run("rate", place, "data.jsonl", "--dry-run", "--json")
    story.run("rate", place, "data.jsonl", "--json", whole=True)


def sheet_of(story, name, rate):
    """Fill in a sheet."""
    with (story.folder / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with (story.folder / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        for row in rows:
            asked = next(key for key in row if key.startswith("overall:"))
            table.writerow({**row, asked: rate[row["source_id"], row["system_id"]]})


def test_rate_weighs_rows_that_suggest_drew(story, judge, answers):
    rows, scores = answers
    story.rows("pool.jsonl", without_labels(rows))
    story.rows("scores.jsonl", scores)
    good = {
        (one["source_id"], one["system_id"]): "pass" if one["score"] > 0.5 else "fail"
        for one in scores
    }
    drawn = ["-n", "5", "--with-random", "80", "--rate", "overall=fail|pass", "-o", "sheet.csv"]
    story.run("suggest", judge("direct"), "pool.jsonl", *drawn, "--json", only="none")
    sheet_of(story, "rated.csv", good)
    story.run("rate", "scores.jsonl", "pool.jsonl", "--labelled", "rated.csv", "--json", whole=True)
    drawn = ["-n", "40", "--rate", "overall=fail|pass", "-o", "sheet.csv", "--force"]
    story.run("suggest", "direct", "pool.jsonl", *drawn, "--json", only="none")
    sheet_of(story, "chosen.csv", good)
    story.run("rate", "scores.jsonl", "pool.jsonl", "--labelled", "chosen.csv")


def test_rate_refuses_what_the_data_cannot_carry(story, answers):
    rows, scores = answers
    story.rows("scores.jsonl", scores)
    story.rows("data.jsonl", rows)
    story.rows(
        "three.jsonl",
        [
            {
                **row,
                **(
                    {"human": {"overall": [["good", "fair", "bad"][n % 3]]}}
                    if "human" in row
                    else {}
                ),
            }
            for n, row in enumerate(rows)
        ],
    )
    story.run(
        "rate", "scores.jsonl", "three.jsonl", "--labels", "bad,fair,good", "--positive", "good"
    )
    story.rows("blind.jsonl", [{**one, "score": n % 3 / 2} for n, one in enumerate(scores)])
    story.run("rate", "blind.jsonl", "data.jsonl", "--json")
    few = [
        row if row.get("human") != {"overall": ["fail"]} or n < 12 else {**row, "human": {}}
        for n, row in enumerate(rows)
    ]
    story.rows("few.jsonl", few)
    story.run("rate", "scores.jsonl", "few.jsonl")
    story.rows("labelled.jsonl", rows[:100])
    story.run("rate", "scores.jsonl", "labelled.jsonl")
    story.run("rate", "scores.jsonl", "data.jsonl", "--labelled", "labelled.jsonl")
    story.rows("points.jsonl", [{**one, "score": 100 * one["score"]} for one in scores])
    story.run("rate", "points.jsonl", "data.jsonl")


def test_rate_reads_the_labelled_file_by_a_map_of_its_own(story, answers):
    rows, scores = answers
    story.rows("scores.jsonl", scores)
    story.rows("labelled.jsonl", rows[:100])
    renamed = [
        {"Verdict": row["human"]["overall"][0], "Antwort": row["response"]}
        | {name: row[name] for name in ("source_id", "system_id", "source")}
        for row in rows[:100]
    ]
    others = [
        {("answer_text" if key == "response" else key): one for key, one in row.items()}
        for row in rows[100:]
    ]
    with (story.folder / "renamed.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(renamed[0]))
        table.writeheader()
        table.writerows(renamed)
    story.rows("others.jsonl", rows[100:])
    story.rows("mapped.jsonl", others)
    story.run("rate", "scores.jsonl", "others.jsonl", "--labelled", "labelled.jsonl", "--json")
    own = ["--map", "response=answer_text", "--labelled", "renamed.csv"]
    own += ["--labelled-map", "response=Antwort,overall=Verdict", "--json"]
    story.run("rate", "scores.jsonl", "mapped.jsonl", *own)
