"""Scores that are not weighed are counted where scores are written and judges are made."""

import json

import numpy as np
import pytest

import judgesmith
from judgesmith.data.scores import stated_notes
from judgesmith.experiments.compile.notes import criteria_notes
from judgesmith.experiments.scoring import score_file
from judgesmith.signatures import Judgement, RatedItem, Scale

HOW = {"mode": "stated", "stated": 70, "reason": "the endpoint gave none"}
WEIGHED = {"mode": "probabilities", "stated": 70, "mass": 0.9}


def judgement(*how):
    terms = {f"criterion:{n}": one for n, one in enumerate(how)}
    return Judgement(score=70, weighting=terms)


def test_a_note_counts_rows_and_says_the_most_frequent_reason():
    rows = [judgement(WEIGHED, HOW), judgement({**HOW, "reason": "less than 0.5"}), judgement(HOW)]
    rows += [judgement(WEIGHED), Judgement(score=1)]
    (note,) = stated_notes(rows)
    assert note == (
        "on 3 of 5 rows a score is the one that the model stated, not the mean by probabilities "
        "that the judge asks for; on 2 of them because the endpoint gave none."
    )
    assert note in criteria_notes(rows, None)


def test_nothing_is_said_where_nothing_is_stated():
    assert list(stated_notes([judgement(WEIGHED), Judgement(score=1)])) == []


@pytest.mark.parametrize(("weighting", "top"), [("none", None), ("probabilities", 1)])
def test_rows_of_scores_say_how_they_came_about(weighting, top, tmp_path):
    judge = judgesmith.ActiveCritic(variant="vanilla", weighting=weighting)
    saved = judgesmith.SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale=Scale.parse("1..5"),
    )
    given = {} if top is None else {"logprobs": True, "top_logprobs": top}
    lm = judgesmith.model("offline", ledger=None, **given)
    items = iter([RatedItem(source="Ann left Rome.", response="Ann left.", source_id="a")])
    found = score_file(saved, items, tmp_path / "rows.jsonl", lm=lm)
    (row,) = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    if weighting == "none":
        assert (found.stated, "weighting" in row) == ({}, False)
    else:
        (reason,) = found.stated
        assert found.stated == {reason: 1}
        assert row["weighting"]["overall"]["reason"] == reason
        assert reason.startswith("the answers that are listed hold 0.0")
        assert row["weighting"]["overall"]["stated"] == row["score"]


def test_an_evaluation_counts_them_too():
    data = judgesmith.read("sample").subset(range(12))
    judge = judgesmith.ActiveCritic(variant="vanilla", weighting="probabilities")
    for top, n in ((1, 12), (101, 0)):
        lm = judgesmith.model("offline", ledger=None, logprobs=True, top_logprobs=top)
        found = judgesmith.evaluate(judge, data, lm=lm, rng=np.random.default_rng(0))
        assert [one.partition(" rows")[0] for one in found.stated] == (
            [f"on {n} of 12"] if n else []
        )
