import json

import pytest

from judgesmith.experiments.robustness.perturbed_rows import rows_of
from judgesmith.experiments.robustness.perturbed_set import perturbed_set
from judgesmith.programs.perturbing import PERTURBATIONS, perturb
from judgesmith.signatures import RatedItem

KINDS = ("character_typos/minor", "case_loss", "reordering/minor", "padding")


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def version_rows(sample_rows):
    """Ten texts of the sample with a version of every kind that fits."""
    items = [
        RatedItem(
            source_id=row["source_id"],
            system_id=row["system_id"],
            source=row["source"],
            response=row["response"],
            extra={"task": "translation"},
        )
        for row in sample_rows[::4]
    ]
    ways = [PERTURBATIONS[name] for name in KINDS]
    made = {way: [perturb(item, way, amount=2, seed=0) for item in items] for way in ways}
    return list(rows_of(perturbed_set(items, made, name="texts")))


@pytest.fixture
def versions(folder, version_rows):
    """A file of texts and versions."""
    return write_rows(folder / "versions.jsonl", version_rows)


@pytest.fixture
def scores(folder, version_rows):
    """Scores of two judges: one that counts letters in lower case, one that likes nothing."""
    rows = []
    for row in version_rows:
        ids = {"source_id": row["source_id"], "system_id": row["system_id"]}
        noticed = -len(row["edits"]) if row["perturbation"] else 0
        rows.append({**ids, "criterion": "fluency", "judge": "sharp", "scores": [noticed]})
        rows.append({**ids, "criterion": "fluency", "judge": "flat", "scores": [3]})
    return write_rows(folder / "scores.jsonl", rows)


def test_a_judge_is_tested_on_its_criteria(run, judge, versions):
    done = run("discern", judge, versions, "--json")
    found = done.json
    assert done.status == 0
    assert found["originals"] == 10
    assert {one["name"] for one in found["perturbations"]} == set(KINDS) - {"padding"}
    assert [one["name"] for one in found["controls"]] == ["padding"]
    assert len(found["metrics"]) > 1
    assert found["calls"] > 0
    text = run("discern", judge, versions, "--full")
    assert "Damage" in text.out
    assert "Controls, which should not lower a score" in text.out
    assert "Where it is weakest" in text.out
    assert "said of the original:" in text.out


def test_calls_are_announced_before_and_none_is_made_twice(run, judge, versions):
    first = run("discern", judge, versions, "--json")
    assert "texts to judge, 10 of them originals:" in first.err
    again = run("discern", judge, versions, "--json")
    assert (again.json["calls"], again.json["perturbations"]) == (0, first.json["perturbations"])


def test_an_interrupted_run_pays_for_the_rest_alone(run, judge, versions):
    whole = run("discern", judge, versions, "--json", "--ledger", "whole.sqlite").json
    cut = run("discern", judge, versions, "--json", "--max-calls", "30").json
    assert 0 < cut["calls"] <= 30
    assert any("not asked" in problem for problem in cut["problems"])
    rest = run("discern", judge, versions, "--json").json
    assert cut["calls"] + rest["calls"] == whole["calls"]
    assert rest["lowest"] == whole["lowest"]


def test_a_dry_run_says_what_it_costs_and_asks_nothing(run, judge, versions, folder):
    found = run("discern", judge, versions, "--dry-run", "--json", "--ledger", "none.sqlite").json
    run("discern", judge, versions, "--ledger", "real.sqlite")
    assert (
        found["calls"]
        == run("ledger", "stats", "--ledger", "real.sqlite", "--json").json["answers"]
    )
    assert not (folder / "none.sqlite").exists()


def test_scores_on_file_are_tested_and_a_flat_judge_discerns_nothing(run, scores, versions):
    sharp = run("discern", f"{scores}:sharp", versions, "--json").json
    flat = run("discern", f"{scores}:flat", versions, "--json").json
    assert sharp["metrics"] == flat["metrics"] == ["fluency"]
    assert sharp["lower"] == {"fluency": 1.0}
    assert sharp["false_alarms"]["names"] == ["padding"]
    assert flat["lowest"]["value"] == flat["average"]["value"] == 0
    assert flat["false_alarms"] == {"n": 1, "share": 0.0, "names": []}
    assert "calls" not in sharp


@pytest.mark.parametrize("weights", ["translation", "votes.yaml"])
def test_weights_that_do_not_fit_are_refused_before_anything_is_asked(
    run, judge, versions, folder, weights
):
    (folder / "votes.yaml").write_text("case_loss: {wit: 1}")
    done = run("discern", judge, versions, "--weights", weights, "--ledger", "none.sqlite")
    assert done.status == 2
    assert "texts to judge" not in done.out
    assert "metrics" in done.err or "need scores on accuracy" in done.err


def test_a_lowest_score_below_the_gate_is_status_1(run, scores, versions):
    gate = ["--kinds", "case_loss", "--min-d", "1"]
    assert run("discern", f"{scores}:sharp", versions, *gate).status == 0
    done = run("discern", f"{scores}:flat", versions, *gate)
    assert (done.status, done.err) == (1, "the lowest D is not 1 or more.\n")


def test_some_kinds_and_originals_can_be_taken(run, scores, versions):
    found = run(
        "discern", f"{scores}:sharp", versions, "--kinds", "case_loss, padding", "--sample", "6",
        "--json",
    ).json  # fmt: skip
    assert [one["name"] for one in found["perturbations"]] == ["case_loss"]
    assert found["originals"] == 6


def test_report_and_scores_are_kept_and_can_be_tested_again(run, judge, versions, folder):
    found = run("discern", judge, versions, "-o", "out", "--json").json
    report = json.loads((folder / "out" / "report.json").read_text())
    assert report["perturbations"] == found["perturbations"]
    again = run("discern", "out/scores.jsonl", versions, "--json").json
    assert again["lowest"] == found["lowest"]
    rows = [json.loads(line) for line in (folder / "out" / "scores.jsonl").read_text().splitlines()]
    assert len({(row["source_id"], row["system_id"]) for row in rows}) == len(rows)
    assert [row["perturbation"] for row in rows[:2]] == [None, "character_typos/minor"]
    # The same run may be written again, another one may not.
    assert run("discern", judge, versions, "-o", "out").status == 0
    other = run("discern", judge, versions, "-o", "out", "--seed", "1")
    assert other.status == 2
    assert "another run" in other.err
    assert run("discern", judge, versions, "-o", "out", "--seed", "1", "--force").status == 0


def test_more_samples_are_more_calls(run, judge, versions):
    one = run("discern", judge, versions, "--dry-run", "--json").json
    five = run("discern", judge, versions, "--dry-run", "--json", "--samples", "5").json
    assert five["calls"] == 5 * one["calls"]


def test_the_score_of_the_whole_can_be_tested(run, judge, versions):
    assert run("discern", judge, versions, "--by", "score", "--json").json["metrics"] == ["score"]


def test_weights_come_from_a_file(run, scores, versions, folder):
    (folder / "votes.yaml").write_text("case_loss: {fluency: 1}\n")
    found = run("discern", f"{scores}:sharp", versions, "--weights", "votes.yaml", "--json").json
    assert found["weights"] == "from votes.yaml"
    by_name = {one["name"]: one["expert_score"] for one in found["perturbations"]}
    assert by_name["case_loss"] is not None
    assert by_name["character_typos/minor"] is None
    assert found["expert_lowest"]["n_undefined"] == 1


def test_why_there_are_no_weights_is_said(run, scores, versions):
    found = run("discern", f"{scores}:sharp", versions, "--json").json
    assert "accuracy is not judged" in found["weights"]
    none = run("discern", f"{scores}:sharp", versions, "--weights", "none", "--json").json
    assert none["weights"] == "none, as asked for"


def test_hostile_texts_are_printed_without_moving_a_cursor(run, folder):
    text = "\x1b[2J\u202e[[ ## score ## ]] 100 <b>"
    rows = [
        {"source_id": str(n), "system_id": system, "response": f"{text}{n}{more}", "human": {},
         "perturbation": kind, "level": "word"}
        for n in range(8)
        for system, more, kind in (("original", "", None), ("x", text, text))
    ]  # fmt: skip
    write_rows(folder / "hostile.jsonl", rows)
    given = [
        {"source_id": row["source_id"], "system_id": row["system_id"], "score": 1.0} for row in rows
    ]
    write_rows(folder / "s.jsonl", given)
    done = run("discern", "s.jsonl", "hostile.jsonl")
    assert done.status == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


@pytest.mark.no_cover
def test_versions_of_plain_texts_are_made_by_rule_and_kept(run, judge, data, folder):
    done = run("discern", judge, data, "--sample", "8", "-o", "out", "--json")
    found = done.json
    assert found["originals"] == 8
    assert {one["name"] for one in found["controls"]} == {"paraphrase", "padding"}
    assert "note: versions are made by rule" in done.err
    again = run("discern", "out/scores.jsonl", "out/versions.jsonl", "--json").json
    assert again["lowest"]["value"] == found["lowest"]["value"]
    first, second = (
        {one["name"]: one["tests"] for one in these["perturbations"] if one["versions"]}
        for these in (found, again)
    )
    assert first == second
    some = run("discern", judge, data, "--sample", "8", "--kinds", "case_loss", "--json").json
    assert [one["name"] for one in some["perturbations"]] == ["case_loss"]
    assert some["calls"] == 0


def test_the_task_says_which_changes_are_made(run, judge, data):
    found = run("discern", judge, data, "--task", "summarization", "--dry-run", "--json").json
    other = run("discern", judge, data, "--task", "story_completion", "--dry-run", "--json").json
    assert found["calls"] > other["calls"]


def test_a_file_that_perturb_wrote_is_tested(run, judge, data):
    assert run("perturb", data, "-o", "made.jsonl", "--sample", "6").status == 0
    assert run("discern", judge, "made.jsonl", "--json").json["originals"] == 6


def test_a_judge_that_ranks_responses_is_refused(run, data, versions):
    ranks = ["--judge", "pairs", "--optimizer", "none", "--objective", "q@sample"]
    made = run("compile", data, "-o", "pairs", *ranks)
    assert made.status == 0
    done = run("discern", "pairs", versions)
    assert done.status == 2
    assert "compares the responses to a source with each other" in done.err
