"""Exemplars on file, and whether the judge itself puts them in order."""

import json
import math

import pytest

from judgesmith.experiments.benchmark.exemplars import (
    exemplar_ladders,
    exemplar_report,
    write_exemplars,
)
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs import DirectJudge, SavedJudge, score_batch
from judgesmith.programs.families.exemplar import Ladder, LadderJudgement, Rung
from judgesmith.programs.families.modules import ExemplarJudge
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import RatedItem, Rubric

TWO = Rubric(task="Judge a notice.", criteria={"brevity": "Is it short?", "truth": "Is it true?"})
ITEMS = [
    RatedItem(
        source=f"Bridge {n} opened on Monday. Ann cut the ribbon. It rained.",
        source_id=str(n),
        response=f"{system} said so.",
    )
    for n in range(3)
    for system in "ab"
]


def ladder(*above, problem=""):
    """Return a ladder with verdicts on all but its lowest rung."""
    rungs = [Rung(level=1, text="x", flags=("empty",))]
    rungs += [Rung(level=n, text="y", above=one) for n, one in enumerate(above, start=2)]
    return Ladder(criterion="c", rungs=tuple(rungs), problem=problem)


def judgement(*ladders):
    return ITEMS[0], LadderJudgement(score=0.0, ladders=ladders)


def saved(**choices):
    judge = ExemplarJudge(**choices)
    return SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )


def test_what_is_in_order_is_counted_by_hand():
    found = exemplar_report(
        [
            judgement(ladder(0.5, 0.1), ladder(-0.2, 0.4)),
            judgement(ladder(0.0, 0.3)),  # alike is not in order
            judgement(ladder(0.9, None, problem="no verdict")),
            (ITEMS[0], LadderJudgement(score=None, problem="cut off")),
        ]
    )
    assert (found.n_sources, found.n_ladders, found.n_exemplars, found.n_flagged) == (4, 4, 12, 4)
    assert found.in_order == share_interval([1, 1, 0, 1, 0, 1, 1], sources=[0, 0, 0, 0, 1, 1, 2])
    assert found.monotone == share_interval([1, 0, 0], sources=[0, 0, 1])
    assert found.problems == {"no verdict": 1, "cut off": 1}


def test_nothing_compared_is_undefined_and_no_zero():
    found = exemplar_report([])
    assert math.isnan(found.in_order.value)
    assert found.to_dict()["monotone"]["value"] is None


def test_every_source_is_written_once_for_every_criterion():
    judge = ExemplarJudge(asks="criteria", rubric=TWO, levels=4)
    found = list(exemplar_ladders(judge, ITEMS))
    assert [item.source_id for item, _ in found] == ["0", "1", "2"]
    for _, one in found:
        assert [ladder.criterion for ladder in one.ladders] == ["brevity", "truth"]
        assert [rung.level for rung in one.ladders[0].rungs] == [1, 2, 3, 4]
        assert one.ladders[0].rungs[0].above is None
    assert exemplar_report(found).in_order.n == 3 * 2 * 3


def test_judging_and_taking_out_share_the_exemplars(tmp_path):
    lm = model("offline", ledger=tmp_path / "ledger.sqlite")
    score_batch(ExemplarJudge(), ITEMS, lm=lm)
    before = lm_client_of(lm).usage.calls
    assert before == 3 * 5 + 6 * 5
    list(exemplar_ladders(ExemplarJudge(), ITEMS, lm=lm))
    assert lm_client_of(lm).usage.calls == before + 3 * 4


def test_the_file_is_the_same_whenever_it_is_written(tmp_path):
    out = tmp_path / "exemplars.jsonl"
    found = write_exemplars(saved(levels=3), ITEMS, out)
    first = out.read_bytes()
    write_exemplars(saved(levels=3), ITEMS, out)
    assert out.read_bytes() == first
    rows = [json.loads(line) for line in first.decode().splitlines()]
    assert len(rows) == found.n_exemplars == 3 * 3
    assert (rows[0]["source_id"], rows[0]["criterion"]) == ("0", "quality as a whole")
    assert [one["level"] for one in rows[:3]] == [1, 2, 3]
    assert (rows[0]["writer"], rows[0]["levels"], rows[0]["above"]) == ("offline", 3, None)
    assert rows[2]["text"] == "Bridge 0 opened on Monday. Ann cut the ribbon. It rained."
    assert found.in_order.value == 1.0


def test_the_offline_model_orders_what_it_writes():
    judge = ExemplarJudge(levels=5)
    report = exemplar_report(exemplar_ladders(judge, ITEMS))
    assert report.in_order.value >= 0.9
    assert report.monotone.n_groups == 3


def test_judges_of_other_families_write_none():
    with pytest.raises(ValueError, match="only exemplar judges write exemplars"):
        list(exemplar_ladders(DirectJudge(), ITEMS))
