import json

import pytest

from judgesmith.programs.artifacts.saved import SavedJudge


@pytest.fixture
def scores(run, judge, data, folder):
    assert run("score", judge, data, "-o", "scores.jsonl").status == 0
    return folder / "scores.jsonl"


def changed(scores, change, name="later.jsonl"):
    rows = [json.loads(line) for line in scores.read_text(encoding="utf-8").splitlines()]
    later = scores.with_name(name)
    later.write_text("".join(json.dumps(change(row)) + "\n" for row in rows), encoding="utf-8")
    return later


def test_scores_of_the_texts_that_a_judge_was_made_from_have_not_drifted(run, judge, scores, data):
    done = run("drift", judge, scores, "--inputs", data)
    assert (done.status, done.err) == (0, "")
    assert "40 now, 0 without\n" in done.out
    assert "No drift detected" in done.out
    assert "source language English" in done.out


def test_scores_that_moved_have_and_the_status_says_so(run, judge, scores):
    later = changed(scores, lambda row: row | {"score": row["score"] / 9, "criteria": {}})
    done = run("drift", judge, later, "--json")
    assert done.status == 1
    assert [one["what"] for one in done.json["shifts"] if one["drifted"]] == ["score"]
    assert "texts were not looked at" in done.err
    assert run("drift", judge, later, "--tolerance", "1").status == 0


def test_rows_that_failed_are_drift_of_their_own(run, judge, scores):
    failed = {"score": None, "problem": "the answer could not be read", "criteria": {}}
    later = changed(scores, lambda row: row | (failed if row["source_id"] > "m" else {}))
    assert "Drift detected: without a score" in run("drift", judge, later).out


def test_a_judge_that_does_not_say_how_it_began_is_held_against_earlier_scores(
    run, judge, scores, folder
):
    older = SavedJudge.load(judge).model_copy(update={"reference": {}})
    older.save(folder / "older")
    done = run("drift", "older", scores)
    assert done.status == 2
    assert "--against OLD" in done.err
    mine = {"judge": older.fingerprint}
    before, now = (changed(scores, lambda row: row | mine, f"{one}.jsonl") for one in "ab")
    assert run("drift", "older", now, "--against", before).status == 0


def test_a_script_that_did_not_occur_before_is_shown_as_new_also_where_it_may_be_chance(
    run, judge, folder
):
    rows = [{"source": f"Where is it? {n}", "response": f"On the table. {n}"} for n in range(7)]
    rows[0]["response"] = "На столе."
    texts = folder / "texts.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert run("score", judge, texts, "-o", "new.jsonl").status == 0
    done = run("drift", judge, "new.jsonl", "--inputs", texts)
    (line,) = (one for one in done.out.splitlines() if "script Cyrillic" in one)
    assert line.split()[-1] == "new"
    assert "note: there are 7 rows of now: only large shifts" in done.out
