"""One file holds what is needed of several modules, and nothing else."""

import pytest

from judgesmith.programs.exporting.bundling.writing import bundle

RUNTIME = "judgesmith.programs.exporting.runtime"
RECORDS = {"pydantic": f"{RUNTIME}.records"}


def namespace(text):
    found = {"__name__": __name__}
    exec(compile(text, "bundled.py", "exec"), found)
    return found


def test_a_function_comes_with_what_it_needs_alone():
    text = bundle([("judgesmith.signatures.fences", "fenced")], RECORDS, {})
    assert "import" in text
    assert "hashlib" not in text
    assert namespace(text)["fenced"]("4", "ab") == "<verbatim-ab>\n4\n</verbatim-ab>"


def test_records_lose_pydantic_and_what_nobody_mentions():
    entries = [("judgesmith.signatures.scale", "PERCENT")]
    entries += [("judgesmith.signatures.answer_scale", "percent_of")]
    text = bundle(entries, RECORDS, {})
    assert "BaseModel" not in text
    assert "Field(" not in text
    assert "percent_of_max" not in text
    found = namespace(text)
    assert found["percent_of"](4, found["Scale"](low=1, high=5)) == 75


def test_private_names_of_several_modules_are_kept_apart():
    entries = [("judgesmith.programs.answers", "read_answer")]
    entries += [("judgesmith.programs.answer_places", "place_of_answer")]
    stand_ins = RECORDS | {
        "judgesmith.programs.answer_types": f"{RUNTIME}.answer_types",
        "judgesmith.programs.answer_mending": f"{RUNTIME}.answer_mending",
    }
    text = bundle(entries, stand_ins, {})
    assert "\n_HEADER_in_answers = " in text
    assert "\n_HEADER_in_answer_places = " in text
    found = namespace(text)
    answer = "[[ ## score ## ]]\n**85/100**"
    assert found["read_answer"](answer, {"score": int}, found["PERCENT"]) == {"score": 85}
    assert found["place_of_answer"](answer, "score", "85", ["85"]) == (18, 22)


def test_docstrings_lose_their_sections_unless_they_are_to_stay():
    place = ("judgesmith.signatures.points", "whole")
    assert "Examples" not in bundle([place], RECORDS, {})
    assert "Examples" in bundle([place], RECORDS, {}, documented=[place])


def test_what_needs_another_library_is_refused():
    with pytest.raises(ValueError, match="answer_types needs pydantic"):
        bundle([("judgesmith.programs.answers", "read_answer")], RECORDS, {})


def test_a_value_is_taken_with_what_is_added_right_after_it_and_not_later(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = '"""Changes."""\n\nnear = 1\nnear += 1\nfar = 1\nother = 2\nfar += 1\n'
    (tmp_path / "changing_values.py").write_text(text)
    assert namespace(bundle([("changing_values", "near")], RECORDS, {}))["near"] == 2
    with pytest.raises(ValueError, match="far of changing_values is changed after its definition"):
        bundle([("changing_values", "far")], RECORDS, {})


def test_a_module_that_is_written_may_use_all_that_comes_before():
    told = f"{RUNTIME}.judged"
    text = bundle(
        [(told, "JUDGE"), ("judgesmith.signatures.scale", "PERCENT")],
        RECORDS,
        {told: lambda used, called: f"JUDGE = PERCENT if {'low' in used} else None"},
    )
    found = namespace(text)
    assert found["JUDGE"] is found["PERCENT"]
