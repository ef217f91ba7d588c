import json
import sys
from types import ModuleType

import pytest

from judgesmith.programs.exporting.export import (
    FORMS,
    Form,
    differing,
    export_judge,
    form_of,
    verified,
)
from judgesmith.signatures import Judgement
from judgesmith.signatures.judgement import CriterionScore


class Half(Form):
    says = "half of the judge's scores"
    folder = False
    suffix = ".json"

    def check(self, saved):
        return "it is half a form" if saved.target == "mean" else None

    def write(self, saved, place):
        place.write_text(place.name)

    def judged(self, place, saved, lms):
        first, *others = [
            {"score": one.judgement.score, "problem": None, "criteria": {}} for one in saved.golden
        ]
        return [first, *({**one, "score": one["score"] / 2} for one in others)]


@pytest.fixture
def half(monkeypatch):
    module = ModuleType("half_a_form")
    module.Half = Half
    monkeypatch.setitem(sys.modules, "half_a_form", module)
    monkeypatch.setitem(FORMS, "half", "half_a_form:Half")


def test_every_form_says_what_it_is():
    assert [name for name in FORMS if not form_of(name).says] == []


def test_golden_items_that_are_judged_otherwise_are_named(half, vanilla, tmp_path):
    done = export_judge(vanilla, "half", tmp_path / "half.json")
    assert (done.verified.n_items, done.verified.n_equal) == (2, 1)
    (difference,) = done.verified.differences
    assert (difference.item, difference.field) == (1, "score")
    assert difference.exported == difference.saved / 2


def test_a_file_is_written_under_its_own_name(half, vanilla, tmp_path):
    done = export_judge(vanilla, "half", tmp_path / "own.json")
    assert done.place.read_text() == "own.json"
    assert [one.name for one in tmp_path.iterdir()] == ["own.json"]


def test_a_name_without_the_ending_of_the_form_is_refused(half, vanilla, tmp_path):
    with pytest.raises(ValueError, match=r"is a file in \.json, not .*own\.txt"):
        export_judge(vanilla, "half", tmp_path / "own.txt")


def test_a_judge_that_cannot_be_carried_is_refused_with_the_forms_that_can(half, vanilla, tmp_path):
    other = vanilla.model_copy(update={"target": "mean"})
    with pytest.raises(ValueError, match=r"half cannot .*: it is half a form; choose from prompt"):
        export_judge(other, "half", tmp_path / "own.json")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced_unless_that_is_said_and_only_exports_then(vanilla, tmp_path):
    place = tmp_path / "out"
    export_judge(vanilla, "prompt", place)
    with pytest.raises(FileExistsError, match="is there already"):
        export_judge(vanilla, "prompt", place)
    export_judge(vanilla, "prompt", place, overwrite=True)
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileExistsError, match="holds no export"):
        export_judge(vanilla, "prompt", tmp_path / "mine", overwrite=True)


def test_the_same_judge_is_written_in_the_same_bytes(fine, tmp_path):
    places = [export_judge(fine, "prompt", tmp_path / name).place for name in ("a", "b")]
    first, second = (
        {one.relative_to(place): one.read_bytes() for one in place.rglob("*") if one.is_file()}
        for place in places
    )
    assert first == second
    assert b"openai.com" not in b"".join(first.values())


def test_judges_of_other_models_are_not_verified_without_being_told_to(half, vanilla, tmp_path):
    other = vanilla.model_copy(update={"model": "openai/m"})
    assert verified(Half(), tmp_path, other, None) is None


def test_an_export_says_what_the_judge_is(fine, tmp_path):
    place = export_judge(fine, "prompt", tmp_path / "out").place
    said = json.loads((place / "export.json").read_text())
    assert said["fingerprint"] == fine.fingerprint
    assert said["models"] == ["offline"]
    assert said["human_scale"]["high"] == 5
    assert said["agreement"] is None


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ({}, []),
        ({"score": 3.5 + 1e-12}, []),
        ({"score": 3.6}, ["score"]),
        ({"score": None, "problem": "too long"}, ["score", "problem"]),
        ({"problem": "too long"}, ["problem"]),
        ({"criteria": {}}, ["criteria.wit"]),
        (
            {"criteria": {"wit": {"score": None}, "tone": {"score": 2}}},
            ["criteria.wit", "criteria.tone"],
        ),
    ],
)
def test_what_is_not_the_same_is_named(row, fields):
    own = Judgement(score=3.5, criteria={"wit": CriterionScore(score=2.0, explanation="w")})
    same = {"score": 3.5, "problem": None, "criteria": {"wit": {"score": 2.0}}}
    assert [one.field for one in differing(4, own, {**same, **row})] == fields


def test_no_score_for_another_reason_is_a_difference():
    (found,) = differing(4, Judgement.unscored("cut off"), {"score": None, "problem": "empty"})
    assert (found.item, found.field, found.saved, found.exported) == (
        4,
        "problem",
        "cut off",
        "empty",
    )
