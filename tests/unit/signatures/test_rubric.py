"""A rubric is a file that a person edits: short where it can be, and never read wrongly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures import Criterion, Rubric
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.rubric import DEFAULT_RUBRIC, folded

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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "here.yaml: expected task and criteria by name; got nothing."),
        ("# only a comment", "got nothing"),
        ("[]", r"expected task and criteria by name; got \[\]"),
        ("just words", "got 'just words'"),
        ("task: 3", "here.yaml: task: expected a text; got the number 3; give words"),
        (
            "taks: a typo",
            "here.yaml: taks: expected one of task, task_type, criteria, provenance; "
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


@pytest.mark.parametrize(
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
        Rubric(
            criteria=[
                {"name": one, "definition": "x"},
                {"name": other, "definition": "y"},
            ]
        )


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
