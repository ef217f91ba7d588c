import numpy as np
import pytest

from judgesmith.data import DataSet, read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.notes import criteria_notes
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.evaluate.agreement import criterion_reports
from judgesmith.optimizers import parse_objective
from judgesmith.programs.lm import model
from judgesmith.signatures import Judgement


def judged(**columns):
    """Return judgements with one column of scores per criterion."""
    rows = zip(*columns.values(), strict=True)
    return [
        Judgement(
            score=50,
            criteria={name: {"score": one} for name, one in zip(columns, row, strict=True)},
        )
        for row in rows
    ]


def test_criteria_that_are_always_scored_alike_are_told():
    notes = list(criteria_notes(judged(wit=[1, 2, 3], tone=[1, 2, 3], use=[3, 2, 1]), None))
    assert len(notes) == 1
    assert notes[0].startswith("wit and tone got the same score on every one of 3 rows")


@pytest.mark.parametrize("columns", [{"a": [1, 2], "b": [1, 3]}, {"a": [5, 5], "b": [5, 5]}, {}])
def test_criteria_that_differ_anywhere_or_tell_nothing_apart_are_not(columns):
    assert not list(criteria_notes(judged(**columns), None))


def test_a_criterion_that_runs_against_people_is_told():
    data = read_items("sample")
    said = [np.mean(item.human["fluency"]) for item in data]
    turned = judged(fluency=[100 - 20 * one for one in said])
    reports = criterion_reports(data, range(len(data)), turned, rng=np.random.default_rng(0))
    (note,) = criteria_notes(turned, reports)
    assert note.startswith("on fluency the judge's scores fall where people's rise (Pearson -1.00")


def test_a_condition_that_is_missed_is_told_with_what_came():
    objective = parse_objective("q; ties >= .99; scored >= .5")
    found = compile_judge(
        read_items("sample"),
        CompileSettings(optimizer="none", objective=str(objective)),
        lm=model(ledger=None),
    )
    assert found.objective.name == str(objective)
    missed = [note for note in found.notes if "is not met" in note]
    assert len(missed) == 1
    assert missed[0].startswith("ties >= 0.99 is not met on the rows held out: it is 0.")


def test_it_comes_first_that_nothing_held_out_has_a_score():
    data = read_items("sample")
    settings = CompileSettings(judge="reference", optimizer="none", criteria="given")
    held = set(parts_of(data, chosen_targets(data, settings), settings).heldout_places.tolist())
    items = [
        item.model_copy(update={"references": () if place in held else ("It opened.",)})
        for place, item in enumerate(data)
    ]
    found = compile_judge(DataSet(name="some", items=tuple(items)), settings, lm=model(ledger=None))
    assert found.notes[0] == (
        "none of the 48 rows held out has a score: nothing is known about unseen texts, and this "
        "judge is not to be relied on."
    )
