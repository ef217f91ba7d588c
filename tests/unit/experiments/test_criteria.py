"""Criteria of raters and of a file of sub-aspects."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.data.items import DataSet
from judgesmith.experiments.benchmark.building import (
    read_sub_aspects,
    sub_aspects_in,
    sub_aspects_yaml,
)
from judgesmith.experiments.compile import human_criteria as known_criteria
from judgesmith.experiments.compile.human_criteria import (
    human_rubric,
    known_criterion,
    named_criterion,
)
from judgesmith.programs.features.qualities import quality_of
from judgesmith.programs.offline.inferring import ASPECTS
from judgesmith.programs.perturbing.injecting import known_sub_aspects
from judgesmith.signatures import Criterion, RatedItem, Rubric, Scale
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

# human criteria

LIKERT = Scale(low=1, high=5)
FAULTS = Scale(low=0, high=10, higher_is_better=False)


def dataset(*names, stated=None, **scales):
    item = RatedItem(
        source="s",
        response="r",
        human=dict.fromkeys(names, (4,)),
        scale=dict.fromkeys(names, LIKERT) | scales,
        extra={} if stated is None else {"definitions": stated},
    )
    return DataSet(name="toy", items=(item,))


def test_criteria_are_those_of_the_data_or_those_that_are_named():
    found = human_rubric(dataset("fluency", "overall", "coherence", "adequacy"))
    assert found.rubric.names == ("fluency", "coherence", "adequacy")
    assert (found.rubric.task, found.rubric.task_type) == ("", "")
    data = dataset("fluency", "overall", "coherence", "fact_check")
    found = human_rubric(data, names=["Fact check", "overall", "fluency"])
    assert found.rubric.names == ("fluency", "overall", "fact_check")


def test_the_rubric_comes_before_the_data_and_the_data_before_general_words():
    mine = Rubric(
        task="Judge it.",
        task_type="dialogue",
        criteria=(Criterion(name="Tone", definition="Mine?", worst="rude", best="kind"),),
    )
    stated = {"tone": "Theirs?", "fluency": "Is it fluent?"}
    data = dataset("fluency", "tone", "coherence", "zing", stated=stated)
    rubric = human_rubric(data, rubric=mine).rubric
    assert rubric.provenance == {
        "criteria": {"fluency": "data", "tone": "given", "coherence": "general", "zing": "general"}
    }
    fluency, tone, coherence, zing = rubric.criteria
    assert fluency == Criterion(name="fluency", definition="Is it fluent?")
    assert tone == Criterion(name="tone", definition="Mine?", worst="rude", best="kind")
    assert coherence == known_criterion("coherence")
    assert "zing" in zing.definition
    assert (rubric.task, rubric.task_type) == ("Judge it.", "dialogue")


def test_notes_say_what_nobody_defined_and_how_to():
    notes = human_rubric(dataset("fluency", "coherence", "zing", stated={"b": "?"})).notes
    assert notes == (
        "'definitions' defines 'b', which has no ratings.",
        "neither a rubric nor the data defines fluency and coherence: general words stand in; "
        "--rubric gives your own.",
        "no definition of zing, and no general one applies: judged by the name alone; "
        "--rubric gives your own.",
    )


def test_definitions_in_the_data_that_are_not_used_may_be_anything():
    mine = Rubric(criteria={"a": "Is it A?"})
    found = human_rubric(dataset("a", stated={"a": "[[ ## score ## ]]"}), rubric=mine)
    assert found.rubric.criteria[0].definition == "Is it A?"
    with pytest.raises(ValueError, match="row 1: the definition of 'a' would be part of every"):
        human_rubric(dataset("a", stated={"a": "[[ ## score ## ]]"}))


def test_counted_faults_are_asked_for_by_their_absence():
    found = human_rubric(dataset("typos", "fluency", typos=FAULTS, fluency=FAULTS))
    typos, fluency = found.rubric.criteria
    assert typos.name == "typos"
    assert typos.definition.startswith("Is the response free of typos")
    assert fluency == known_criterion("fluency")
    assert "raters counted faults on typos and fluency" in found.notes[-1]


@for_each(
    ("name", "said"),
    [
        ("a:b", "expected a few words on one line, without a colon; got 'a:b'."),
        ("a\nb", r"it holds '\n', which cannot be printed."),
        ("a\u2028b", r"it holds '\u2028', which cannot be printed."),
        ("\x1b[2J", r"it holds '\x1b', which cannot be printed."),
        ("", "String should have at least 1 character."),
        ("***", "expected a few words on one line, without a colon; got '***'."),
        (" a", "it begins or ends with a blank."),
        ("x" * 101, "it has 101 characters, and 100 are the most."),
        ("a [[ ## b", "'[[ ##' is a marker of the prompt layout; write it another way."),
    ],
)
def test_names_that_a_rubric_cannot_hold_are_refused_and_the_way_out_is_named(name, said):
    with pytest.raises(ValueError) as caught:
        human_rubric(dataset("fluency", name))
    assert str(caught.value).endswith(
        f"cannot stand in a rubric: {said[:-1]}; give its column another name "
        "(--map NAME=COLUMN), or rename it under 'human'."
    )
    assert human_rubric(dataset("fluency", name), names=["fluency"]).rubric.names == ("fluency",)


@for_each(
    ("names", "given", "said"),
    [
        (("overall",), None, "only overall is rated in toy, so there are no rated criteria"),
        ((), None, r"nothing is rated in toy.*--map fluency=COLUMN.*--rubric"),
        (("fluency",), ["fluensy"], r"no ratings of 'fluensy' in toy; there is fluency; did you"),
        (("fluency",), ["Fluency", "fluency"], "fluency is named more than once"),
        (("fluency",), [], "no criteria are named; there is fluency."),
    ],
)
def test_without_such_criteria_there_is_one_clear_error(names, given, said):
    with pytest.raises(ValueError, match=said):
        human_rubric(dataset(*names), names=given)


# known criteria

USUAL = (
    *("coherence", "consistency", "fluency", "relevance", "informativeness", "engagingness"),
    *("naturalness", "groundedness", "understandability", "grammar", "adequacy", "simplicity"),
    *("meaning preservation", "accuracy", "faithfulness", "coverage", "readability"),
    *("helpfulness", "correctness", "completeness", "conciseness", "overall", "clarity"),
)


@for_each("name", [*USUAL, "Data_Coverage", "Meaning", "Non-Redundancy"])
def test_usual_names_have_a_question_that_speaks_of_the_response(name):
    one = known_criterion(name)
    assert one.name == name
    assert "response" in one.definition
    assert one.definition.endswith("?")
    assert "{" not in one.definition


def test_nothing_is_defined_twice():
    theirs = {*ASPECTS, *(one.name for one in DEFAULT_RUBRIC.criteria)}
    # These say something else here than in one type of task; see the comment there.
    other = {"consistency", "coverage", "engagingness", "helpfulness"}
    assert theirs & set(known_criteria._OWN) == other
    assert not set(known_criteria._SAME) & (theirs | set(known_criteria._OWN))


@for_each("name", ["toxicity", "hallucinations", "mqm", "preferred", "zing"])
def test_faults_and_unknown_names_have_no_general_words(name):
    assert known_criterion(name) is None


@pytest.mark.parametrize("counts_faults", [False, True])
def test_a_criterion_by_its_name_alone_is_judged_by_that_name(counts_faults):
    def family(name):
        one = named_criterion(name, counts_faults=counts_faults)
        return quality_of(one.name, one.definition).name

    assert family("zing") == "general"
    assert family("flüssigkeit") == "fluency"
    assert "fact check" in named_criterion("fact_check").definition


# Sides of criteria in a file: what people edit comes back as it is, and faults have lines.

CRITERIA = ("fluency", "coherence")


def refusal(text):
    with pytest.raises(ValueError, match=r"^a\.yaml: ") as caught:
        sub_aspects_in(text, CRITERIA, where="a.yaml")
    return str(caught.value)


def test_a_file_comes_back_as_it_was_written(tmp_path):
    sides = (*known_sub_aspects("fluency"), *known_sub_aspects("coherence"))
    path = tmp_path / "sub_aspects.yaml"
    path.write_text(sub_aspects_yaml(sides), encoding="utf-8")
    assert read_sub_aspects(path, CRITERIA) == sides
    assert path.read_text(encoding="utf-8").startswith("# Sides of every criterion")


words = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters=":_*`\"'"),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(words.map(str.casefold), words, min_size=1, max_size=4))
def test_whatever_the_words_they_come_back(given_sides):
    sides = tuple(
        SubAspect(criterion="fluency", name=name, definition=definition)
        for name, definition in given_sides.items()
    )
    assert sub_aspects_in(sub_aspects_yaml(sides), CRITERIA, where="a.yaml") == sides


def test_a_criterion_is_recognised_and_a_definition_may_be_left_out():
    found = sub_aspects_in("FLUENCY:\n  spelling:\nCoherence: [order]", CRITERIA, where="a.yaml")
    assert [(one.criterion, one.name, one.definition) for one in found] == [
        ("fluency", "spelling", ""),
        ("coherence", "order", ""),
    ]


@for_each(
    ("text", "said"),
    [
        ("", "expected sides as name: definition, one per line below the criterion; got nothing."),
        (
            "- x",
            "expected sides as name: definition, one per line below the criterion; got ['x'].",
        ),
        ("fluency:\n  a: x\n  a: y", "line 3: the key 'a' is given twice, first on line 2;"),
        ("fluency: yes", "line 1: 'fluency': expected sides as name: definition"),
        ("coherence: {a: b}\n\nfluency: {}", "line 3: 'fluency': names no side"),
        ("fluency:\n  a: [x]", "line 2: 'fluency', 'a': expected a definition in words; got ['x']"),
        ("fluency:\n- a\n- A_", "line 3: 'fluency', 'A_': the same as 'a'"),
        (
            "fluency:\n  '[[ ## a ## ]]': x",
            "line 2: 'fluency', '[[ ## a ## ]]': cannot be the name of a side",
        ),
        ("fluency:\n  a: '<verbatim-1>'", "line 2: 'fluency', 'a': its definition would be"),
        ('fluency:\n  "a\\e[2J": x', r"line 2: 'fluency', 'a\x1b[2J': cannot be the name"),
        (
            "fluency: [a]\nwit: [b]",
            "line 2: 'wit': the data have no such criterion; it has fluency, coherence.",
        ),
        ("flency: [a]", "did you mean fluency?"),
        (f"fluency:\n  a: {'x' * 1001}", "it has 1,001 characters, and 1,000 are the most."),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(text, said):
    assert said in refusal(text)


def test_what_is_no_text_file_is_refused_by_name(tmp_path):
    path = tmp_path / "sides.yaml"
    with pytest.raises(ValueError, match=r"sides\.yaml: cannot read the sub-aspects: No such file"):
        read_sub_aspects(path, CRITERIA)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"sides\.yaml: expected a text file in UTF-8"):
        read_sub_aspects(path, CRITERIA)
