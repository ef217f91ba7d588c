"""A calibration is learned from rows that its judge has not seen, and says how it held."""

import pytest

from judgesmith.data import read_items
from judgesmith.experiments.compile.calibrating import CalibrationError, calibrate_judge
from judgesmith.programs import DirectJudge, SavedJudge
from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.programs.families.ensemble.members import CalibratedJudgement
from judgesmith.signatures import Judgement, RatedItem, Scale


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


def saved(data, n_seen, **update):
    judge = DirectJudge()
    parts = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
        "seen": {"select": tuple(one.key for one in data.items[:n_seen])},
    }
    return SavedJudge(**{**parts, **update})


def test_rows_of_sources_that_the_judge_was_made_from_are_not_learned_from(data):
    judge = saved(data, 58)  # a part of a source
    found = calibrate_judge(judge, data, confidence=0.8).saved
    assert found.rows["calibrate"] == 100
    assert not set(found.seen["calibrate"]) & judge.seen_keys
    assert found.members["judge"] == judge


def test_its_promises_are_held_against_rows_that_are_in_neither(data):
    learned, held = data.subset(range(100)), data
    found = calibrate_judge(saved(data, 0), learned, check=held, confidence=0.8)
    report = found.saved.agreement.plain["calibration"]
    assert report["n"] == 60
    assert 0.5 < report["covered"] <= 1
    assert report["kept"] == 1
    assert any("held out" in note for note in found.notes)


def test_judged_texts_are_calibrated_too(data):
    golden = GoldenItem(source="s", response="r", judgement=Judgement(score=60, raw=60))
    found = calibrate_judge(saved(data, 0, golden=(golden,)), data, confidence=0.8).saved
    judgement = found.golden[0].judgement
    assert isinstance(judgement, CalibratedJudgement)
    assert judgement.uncalibrated == 60
    assert judgement.low <= judgement.score <= judgement.high


def test_too_few_rows_are_refused_before_anything_is_asked(data):
    with pytest.raises(CalibrationError, match=r"needs 40 rated rows .*; there are 20 of 5"):
        calibrate_judge(saved(data, 140), data)


@pytest.mark.no_cover
def test_without_anything_that_tells_doubt_no_text_can_be_left_to_people(data):
    with pytest.raises(CalibrationError, match="within needs something"):
        calibrate_judge(saved(data, 0), data, within=1.0)


def test_a_scale_that_counts_faults_is_refused():
    faults = Scale(low=0, high=4, higher_is_better=False)
    items = [
        RatedItem(
            source=str(n), response="r", human={"overall": [n % 4]}, scale={"overall": faults}
        )
        for n in range(50)
    ]
    data = read_items("sample")
    few = type(data)(name="faults", items=tuple(items))
    with pytest.raises(CalibrationError, match="counts faults"):
        calibrate_judge(saved(data, 0), few)
