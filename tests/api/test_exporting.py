"""Export a judge, and load what was exported."""

import dspy
import pytest

import judgesmith
from judgesmith.programs import ActiveCritic, SavedJudgeError, export_judge


@pytest.mark.parametrize("judge", [ActiveCritic(), dspy.Predict("source, response -> score")])
def test_what_is_not_saved_cannot_be_exported(judge, tmp_path):
    with pytest.raises(judgesmith.InputError) as fault:
        export_judge(judge, "python", tmp_path / "judge.py")
    assert type(judge).__name__ in str(fault.value)
    assert "judgesmith.load" in fault.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_program_of_dspy_names_what_loads_it(tmp_path):
    place = tmp_path / "program.json"
    dspy.Predict("source, response -> score").save(place)
    with pytest.raises(SavedJudgeError) as fault:
        judgesmith.load(place)
    assert "load_program" in fault.value.hint
