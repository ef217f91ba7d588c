"""Rubrics, scales and score points: what is valid and how it is read."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from looping import for_each
from pydantic import BaseModel

from judgesmith.signatures import Criterion, Rubric, Scale
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.rubric import DEFAULT_RUBRIC, folded
from judgesmith.signatures.scale import read_points, whole

# A rubric is a file that a person edits: short where it can be, and never read wrongly.

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(
    lambda text: not imitates_layout(text)
)
names = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters=":"), max_size=20
).filter(lambda text: folded(text) and not imitates_layout(text))
criteria = st.builds(
    Criterion, name=names, definition=words.filter(str.strip), worst=words, best=words
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner),
    max_leaves=4,
)
rubrics = st.builds(
    Rubric,
    task=words,
    task_type=words,
    criteria=st.lists(criteria, max_size=4, unique_by=lambda one: folded(one.name)).map(tuple),
    provenance=st.dictionaries(words, json_values, max_size=3),
)
SHORT = """
task: Judge a summary.
criteria:
  brevity: Is it short?
  fluency:
    definition: Is it well written?
    worst: broken
    best: flawless
"""
LONG = """
task: Judge a summary.
criteria:
- name: brevity
  definition: Is it short?
- {name: fluency, definition: "Is it well written?", worst: broken, best: flawless}
"""


@pytest.mark.no_cover
@given(rubrics)
def test_a_rubric_comes_back_from_its_yaml(rubric):
    assert Rubric.from_yaml(rubric.to_yaml()) == rubric


@pytest.mark.no_cover
@given(rubrics)
def test_a_rubric_comes_back_from_its_json(rubric):
    assert Rubric.model_validate_json(rubric.model_dump_json()) == rubric


def test_the_short_and_the_long_form_say_the_same():
    rubric = Rubric.from_yaml(SHORT)
    assert rubric == Rubric.from_yaml(LONG)
    assert rubric.names == ("brevity", "fluency")
    assert rubric.to_yaml() == SHORT.lstrip("\n")


def test_text_is_kept_as_written_and_stays_readable():
    rubric = Rubric(task="Für wen? 评价", criteria={"Klarheit": "Ist es klar?"})
    assert "Für wen? 评价" in rubric.to_yaml()


def test_where_a_rubric_comes_from_is_kept_and_dates_stay_text():
    rubric = Rubric.from_yaml("task: t\nprovenance: {made: 2025-01-31, rows: [1, 2]}")
    assert rubric.provenance == {"made": "2025-01-31", "rows": [1, 2]}


@for_each(
    ("text", "said"),
    [
        ("", "here.yaml: expected task and criteria by name; got nothing."),
        ("# only a comment", "got nothing"),
        ("[]", r"expected task and criteria by name; got \[\]"),
        ("just words", "got 'just words'"),
        ("task: 3", "here.yaml: task: expected a text; got the number 3; give words"),
        (
            "taks: a typo",
            "here.yaml: taks: expected one of task, task_type, criteria, guidelines, provenance; "
            r"did you mean 'task'\?$",
        ),
        ("criterios: {a: b}", r"criterios: expected one of .*; did you mean 'criteria'\?$"),
        ("zzz: 1", "zzz: expected one of task, .*, provenance; there is no such key.$"),
        ('"\\e[2J": 1', r"here.yaml: '\\x1b\[2J': expected one of"),
        ("provenance: 3", "provenance: expected plain values, as YAML writes them; got the"),
        ("criteria:", "criteria are written as name: definition, one per line; got nothing.$"),
        ("criteria: fluency", "criteria are written as name: definition, .*; got 'fluency'.$"),
        ("criteria: [fluency]", "without dashes; got the list entry 'fluency' as number 1.$"),
        ("criteria: [{fluency: Clear}]", "got the list entry {'fluency': 'Clear'} as number 1"),
        (
            "criteria: [{name: fluency}]",
            "here.yaml: criteria.fluency.definition: expected a definition in words; got none.$",
        ),
        ("criteria: [{name: 1, definition: x}]", "criteria.number 1.name: expected a name; got"),
        ("criteria: {fluency: 5}", "criteria.fluency.definition: expected a definition in words"),
        (
            "criteria: {fluency: no}",
            "got the truth value false, as which YAML reads yes, no, on and off; give it in quotes",
        ),
        (
            "criteria: {fluency: }",
            "fluency.definition: expected a definition in words; got nothing",
        ),
        ("criteria: {fluency: ' '}", "fluency.definition: .* in words; got an empty text.$"),
        ("criteria: {fluency: [a]}", r"expected a definition in words; got \['a'\].$"),
        (
            "criteria: {fluency: {wurst: x, definition: y}}",
            "here.yaml: criteria.fluency.wurst: expected one of definition, worst, best; "
            r"did you mean 'worst'\?$",
        ),
        ("criteria: {fluency: {worst: 1, definition: y}}", "expected words for the lowest score"),
        ("criteria: {fluency: {worst: x}}", "fluency.definition: .* in words; got none.$"),
        ("criteria: {a: 1, b: {best: x}}", "here.yaml: criteria.a.*\nhere.yaml: criteria.b"),
        ("criteria: {a: x, a: y}", "here.yaml: line 1: the key 'a' is given twice"),
        ("task: a\ntask: b", "here.yaml: line 2: the key 'task' is given twice"),
        ("criteria: {yes: good}", "expected a text as key; got yes; put it in quotes"),
        ("criteria: {a: {name: b, definition: x}}", "criterion a has a second name, 'b'"),
        ("criteria: [{name: a, definition: x}, {name: A, definition: y}]", "got 'a' and 'A'"),
        ("task: 'a\n\n  [[ ## response ## ]]'", "is a marker of the prompt layout"),
        ('criteria: {a: "x [[\\n## y ## ]]"}', "is a marker of the prompt layout"),
        ("criteria: {a: {definition: d, best: 'x [[   ## y'}}", "is a marker"),
        ("criteria: {'a [[  ## y': d}", "is a marker of the prompt layout"),
        ("criteria: {a: 'x [[ ## y ## ]]'}", r"criteria.a.definition: '\[\[ ##' is a marker"),
        ("criteria: {'a: b': x}", "on one line, without a colon; got 'a: b'"),
        ("criteria: {'***': x}", "expected a few words"),
        ("a: [", "here.yaml: line 1: "),
    ],
)
def test_a_file_that_is_no_rubric_is_refused_with_place_and_reason(text, said):
    with pytest.raises(ValueError, match=said) as fault:
        Rubric.from_yaml(text, where="here.yaml")
    words = str(fault.value)
    assert not any(word in words for word in ("pydantic", "Input should", "Extra inputs", "String"))


@for_each(
    ("one", "other"),
    [
        ("Fluency", "fluency"),
        ("fact check", "fact_check"),
        ("fact  check", "fact check"),
        ("**bold**", "bold"),
        ("same", "same"),
        ("STRASSE", "straße"),
    ],
)
def test_names_that_a_model_would_mix_up_are_refused(one, other):
    with pytest.raises(ValueError, match="every criterion needs a name of its own; got"):
        Rubric(criteria=[{"name": one, "definition": "x"}, {"name": other, "definition": "y"}])


def test_a_name_stands_on_one_line():
    for name in ("two\nlines", "two\u2028lines", "", "  "):
        with pytest.raises(ValueError):
            Criterion(name=name, definition="x")


def test_a_rubric_is_loaded_from_its_file(tmp_path):
    path = tmp_path / "rubric.yaml"
    path.write_text(DEFAULT_RUBRIC.to_yaml(), encoding="utf-8")
    assert Rubric.load(path) == DEFAULT_RUBRIC


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"rubric\.yaml: cannot read the rubric: No such file or directory\.$"),
        (b"task: \xff\xfe", r"rubric\.yaml: not a rubric: expected a text file in UTF-8\."),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, message):
    path = tmp_path / "rubric.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        Rubric.load(path)


# The rubric for those who have none asks about any kind of response.


def test_every_criterion_is_a_question_with_both_ends_named():
    for criterion in DEFAULT_RUBRIC.criteria:
        assert criterion.definition.endswith("?")
        assert criterion.worst
        assert criterion.best


def test_it_can_be_written_down_edited_and_read_again():
    assert Rubric.from_yaml(DEFAULT_RUBRIC.to_yaml()) == DEFAULT_RUBRIC


# The one fingerprint of plain data, whose bytes stand in saved files.

WHOLE = {"b": [1, 0.5, None], "a": "é"}


@pytest.mark.parametrize(
    ("whole", "sort_keys", "mark"),
    [
        (WHOLE, True, "97f0d07083dc"),
        (WHOLE, False, "17fe59bcc714"),
        (["a", "b"], True, "3554d2b8a1e3"),
        ("a\nb", True, "7e18f737311b"),
    ],
)
def test_a_fingerprint_stays_what_files_hold(whole, sort_keys, mark):
    assert fingerprint_of(whole, sort_keys=sort_keys) == mark


# A scale says what an answer may be, and maps it to another scale and back.

ends = st.floats(-1e12, 1e12)


@st.composite
def scales(draw):
    low, high = draw(ends), draw(ends)
    assume(high - low > 1e-6 * max(abs(low), abs(high), 1e-300))
    return Scale(low=low, high=high, higher_is_better=draw(st.booleans()))


@pytest.mark.no_cover
@given(scales())
def test_a_scale_is_read_from_the_text_it_shows(scale):
    assert Scale.parse(str(scale)) == Scale(low=scale.low, high=scale.high)


@pytest.mark.no_cover
@given(scales())
def test_a_scale_survives_json(scale):
    assert Scale.model_validate_json(scale.model_dump_json()) == scale


@pytest.mark.no_cover
@given(scales(), st.floats(0, 1))
def test_points_and_fraction_undo_each_other(scale, fraction):
    points = scale.points(fraction)
    rounding = 1e-9 * max(abs(scale.low), abs(scale.high)) / (scale.high - scale.low)
    assert scale.fraction(points) == pytest.approx(fraction, abs=1e-9 + rounding)


@pytest.mark.no_cover
@given(scales())
def test_the_worst_end_is_zero_and_the_best_end_one(scale):
    worst, best = (scale.low, scale.high) if scale.higher_is_better else (scale.high, scale.low)
    assert scale.fraction(worst) == 0
    assert scale.fraction(best) == 1


@for_each("text", ["1..5", "1:5", "1 to 5", "1,5", " 1 .. 5 ", "1.0..5e0", "1 TO 5", "1-5"])
def test_a_range_is_written_in_several_ways(text):
    assert Scale.parse(text) == Scale(low=1, high=5)


def test_a_scale_is_made_from_what_people_write_first():
    for same in (Scale(1, 5), Scale("1..5"), Scale((1, 5)), Scale([1, 5])):
        assert same == Scale(low=1, high=5)
    assert Scale(1, 5, kind="integer") == Scale(range(1, 6)) == Scale([1, 2, 3, 4, 5])
    assert Scale("bad|fair|good").labels == ("bad", "fair", "good")
    with pytest.raises(ValueError, match=r"two ends, as in \(1, 5\) or 1\.\.5; got \(1, 3, 5\)"):
        Scale((1, 3, 5))
    with pytest.raises(TypeError, match=r"Scale\(1, 5\)"):
        Scale(1, 5, "integer")


def test_ends_may_be_negative_and_broken():
    assert Scale.parse("-1.5..2.25") == Scale(low=-1.5, high=2.25)
    assert str(Scale(low=0, high=12_345_678.5)) == "0..12345678.5"


@for_each("text", ["", "5", "1..", "..5", "one..five", "1..5..9", "1...5"])
def test_anything_else_is_no_range(text):
    with pytest.raises(ValueError, match=r"written LOW\.\.HIGH, as in 1\.\.5; got"):
        Scale.parse(text)


def test_a_field_takes_the_short_forms():
    class Form(BaseModel):
        scale: Scale

    assert Form(scale="1..5").scale == Form(scale=[1, 5]).scale == Scale(low=1, high=5)


@for_each(
    ("given", "said"),
    [
        ({"low": 5, "high": 5}, "low must be below high; got 5 and 5"),
        ({"low": 5, "high": 1}, "low must be below high; got 5 and 1"),
        ({"low": float("nan"), "high": 1}, "got nan and 1"),
        ({"low": 0, "high": float("inf")}, "got 0 and inf"),
        ({"low": -1.7e308, "high": 1.7e308}, "low must be below high"),
        ({"low": 0.5, "high": 3, "kind": "integer"}, "ends of an integer scale must be whole"),
        ({"low": 0, "high": 1, "labels": ("no", "yes")}, "a categorical scale needs labels"),
        ({"low": 0, "high": 1, "kind": "categorical"}, "a categorical scale needs labels"),
        ({"low": 0, "high": 1, "kind": "categorical", "labels": ("a", "a")}, "labels must differ"),
        (
            {"low": 0, "high": 2, "kind": "categorical", "labels": ("a", "b")},
            "2 labels need 2 whole points; got 0 to 2",
        ),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        Scale(**given)


@pytest.mark.parametrize("labels", [(), ("only",)])
def test_one_name_is_no_choice(labels):
    with pytest.raises(ValueError, match="needs two labels or more"):
        Scale.categorical(*labels)


class TestWhatAnAnswerMayBe:
    def test_any_number_between_the_ends_of_a_numeric_scale(self):
        scale = Scale(low=0, high=1)
        assert 0 in scale
        assert 0.3 in scale
        assert 1 in scale
        assert 1.0001 not in scale

    def test_whole_points_only_on_an_integer_scale(self):
        scale = Scale(low=1, high=5, kind="integer")
        assert 4 in scale
        assert 4.0 in scale
        assert 4.5 not in scale

    @pytest.mark.parametrize("number", [np.int64(4), np.float32(4), np.float64(4)])
    def test_numbers_of_numpy(self, number):
        assert number in Scale(low=1, high=5, kind="integer")

    @for_each("other", [True, None, "4", float("nan"), 10**400, [4], 4j])
    def test_nothing_else(self, other):
        assert other not in Scale(low=0, high=5)


class TestReadingAnAnswer:
    def test_a_label_gives_its_point(self):
        scale = Scale(low=1, high=3, kind="categorical", labels=("poor", "fair", "good"))
        assert [scale.read(label) for label in scale.labels] == [1, 2, 3]
        assert scale.read("2") == 2

    def test_a_number_is_read_from_text(self):
        assert Scale(low=0, high=1).read(" 0.25 ") == 0.25

    @for_each("answer", ["fine", "", "nan", "6", None, True, b"3", [3], 10**400])
    def test_everything_else_is_refused_with_what_was_expected(self, answer):
        with pytest.raises(ValueError, match=r"expected an answer on the scale 1\.\.5; got"):
            Scale(low=1, high=5).read(answer)

    def test_the_labels_are_named(self):
        with pytest.raises(ValueError, match="on the scale poor, good; got 'fair'"):
            Scale.categorical("poor", "good").read("fair")


def test_a_scale_that_counts_faults_turns_around():
    faults = Scale(low=0, high=10, higher_is_better=False)
    assert faults.fraction(0) == 1
    assert faults.points(0.75) == 2.5


class TestPercentOfTheMaximum:
    @pytest.mark.parametrize(("low", "high"), [(1, 5), (0, 100), (0, 1), (0.5, 2.5)])
    def test_the_highest_point_is_a_hundred_and_zero_points_are_zero(self, low, high):
        scale = Scale(low=low, high=high)
        assert scale.percent_of_max(high) == 100
        assert scale.percent_of_max(0) == 0
        assert scale.percent_of_max(low) == pytest.approx(100 * low / high)

    @given(st.floats(0, 50))
    def test_a_scale_from_zero_gives_what_its_fraction_gives(self, points):
        scale = Scale(low=0, high=50)
        assert scale.percent_of_max(points) == pytest.approx(100 * scale.fraction(points))

    @pytest.mark.parametrize(
        ("scale", "said"),
        [
            (Scale(low=-25, high=0), r"more is better; got -25\.\.0\.$"),
            (Scale(low=-1, high=1), r"got -1\.\.1\.$"),
            (Scale(low=0, high=10, higher_is_better=False), r"got 0\.\.10, which counts faults"),
        ],
    )
    def test_scales_on_which_it_says_nothing_are_refused(self, scale, said):
        with pytest.raises(ValueError, match=said):
            scale.percent_of_max(0)


def test_equal_scales_are_one_key():
    assert len({Scale(low=1, high=5), Scale(low=1.0, high=5.0)}) == 1


# A score is read as models write it, and never guessed.


@pytest.mark.no_cover
@for_each(
    ("answer", "points"),
    [
        ("85", 85),
        ("85.5", 85.5),
        ("**85**", 85),
        ("85/100", 85),
        (" 85 / 100. ", 85),
        ("85 out of 100", 85),
        ("85%", 85),
        ("+85", 85),
        ("85 points.", 85),
        ("85/100 points", 85),
        ("85 out of 100.", 85),
        ("85 (out of 100)", 85),
        ("**85** / 100", 85),
        ("85.0/100.0", 85),
        ("[85]", 85),
        ("<85>", 85),
        ("**Score**: 85", 85),
        ("**Score:** **85**/100", 85),
        ("Score: 85 out of 100", 85),
        ("Final score: 85", 85),
        ("Score (0-100): 85", 85),
        ("Rating: 85/100", 85),
        ("The overall score is 85.", 85),
        ("Overall: 85", 85),
        (": 85", 85),
        ("85。", 85),
        ("85分", 85),
        ("８５／１００", 85),
        ("85 points", 85),
        ("`85`", 85),
        ('"85"', 85),
        ("Score: 85", 85),
        ("**Overall score:** 85/100", 85),
        ("-3", -3),
        ("100", 100),
        ("0", 0),
        ("85\r\n", 85),
        ("\u2028 85 \u00a0", 85),
        ("٨٥", 85),
        ("８５", 85),
        (85, 85),
        (85.5, 85.5),
    ],
)
def test_one_number_is_read(answer, points):
    assert read_points(answer) == points


@pytest.mark.no_cover
@for_each(
    "answer",
    [
        "",
        "   ",
        "none",
        "4 out of 5",
        "4/5",
        "1e3",
        "85,5",
        "1,000",
        "80-90",
        "80 or 90",
        "85/1000",
        "85 because it is short",
        "between 80 and 85",
        "nan",
        "inf",
        "²",
        "−5",
        "+-5",
        "~85",
        "85/10",
        "85 / 1000",
        "85 out of 10",
        "Score: 80 or 90",
        "Score: 80-90",
        "80/90",
        "80 85",
        "85/100/100",
        "score 1: 85",
        "N/A",
        "八十五",
        "８５．５",
        None,
        True,
        [85],
        {"score": 85},
        10**400,
        "9" * 101,
    ],
)
def test_anything_else_is_refused_with_what_came(answer):
    with pytest.raises(ValueError, match="expected one number from 0 to 100; got"):
        read_points(answer)


@pytest.mark.no_cover
def test_the_message_stays_short():
    with pytest.raises(ValueError) as fault:
        read_points("blah " * 10_000)
    assert len(str(fault.value)) < 200


@pytest.mark.no_cover
@given(st.floats(-1e15, 1e15).map(lambda value: round(value, 4)))
def test_every_plain_number_is_read_as_itself(number):
    assert read_points(f"{number:.4f}") == number


@pytest.mark.no_cover
@given(st.text("0123456789. /-*_`:()[]<>scoreutfpint%", max_size=100))
def test_any_text_is_one_number_or_refused(text):
    try:
        points = read_points(text)
    except ValueError:
        return
    assert math.isfinite(points)
    assert 0 < sum(char.isdigit() for char in text) < 100


@pytest.mark.no_cover
@for_each(
    "text",
    [
        "score" + " " * 95,
        "score" + " " * 45 + ":" + " " * 45 + "x",
        "85" + " *" * 48 + "x",
        "85 (" + " *" * 47 + "x",
        "(" * 99 + "x",
        "the overall score (0-100)" + "'" * 74,
    ],
)
def test_answers_that_invite_backtracking_are_refused(text):
    with pytest.raises(ValueError):
        read_points(text)


@pytest.mark.no_cover
@pytest.mark.parametrize("text", ["score" + " " * 10**6, "85" + " " * 10**6 + "x", "*" * 10**6])
def test_a_long_answer_is_refused(text):
    with pytest.raises(ValueError):
        read_points(text)


@pytest.mark.no_cover
def test_a_whole_number_is_written_without_a_fraction():
    assert [str(whole(points)) for points in (85.0, -0.0, 85.5)] == ["85", "0", "85.5"]
    assert math.isnan(whole(math.nan))
    assert whole(math.inf) == math.inf
