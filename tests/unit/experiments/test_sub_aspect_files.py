"""Sides of criteria in a file: what people edit comes back as it is, and faults have lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.experiments.benchmark.sub_aspects import (
    read_sub_aspects,
    sub_aspects_in,
    sub_aspects_yaml,
)
from judgesmith.programs.benchmarking import sides_in
from judgesmith.programs.perturbing.error_rules import known_sub_aspects
from judgesmith.signatures.perturbation import SubAspect

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


answers = st.lists(
    st.tuples(st.text(max_size=12), st.text(max_size=12)).map(": ".join), min_size=2, max_size=5
)


@settings(max_examples=60, deadline=None)
@given(answers.map("\n".join))
def test_what_a_model_named_comes_back_from_the_file(answer):
    try:
        lines = sides_in(answer, of="fluency")
    except ValueError:
        return
    named = [one.partition(": ") for one in lines]
    sides = tuple(
        SubAspect(criterion="fluency", name=name, definition=said) for name, _, said in named
    )
    assert sub_aspects_in(sub_aspects_yaml(sides), CRITERIA, where="a.yaml") == sides


def test_a_criterion_is_recognised_and_a_definition_may_be_left_out():
    found = sub_aspects_in("FLUENCY:\n  spelling:\nCoherence: [order]", CRITERIA, where="a.yaml")
    assert [(one.criterion, one.name, one.definition) for one in found] == [
        ("fluency", "spelling", ""),
        ("coherence", "order", ""),
    ]


@pytest.mark.parametrize(
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


def test_all_faults_are_told_at_once_as_far_as_anybody_reads():
    text = "fluency:\n" + "\n".join(f"  s{n}: {n}" for n in range(30))
    lines = refusal(text).splitlines()
    assert len(lines) == 21
    assert (lines[0].split(":")[1].strip(), lines[-1]) == ("line 2", "and 10 more.")


def test_what_is_no_text_file_is_refused_by_name(tmp_path):
    path = tmp_path / "sides.yaml"
    with pytest.raises(ValueError, match=r"sides\.yaml: cannot read the sub-aspects: No such file"):
        read_sub_aspects(path, CRITERIA)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"sides\.yaml: expected a text file in UTF-8"):
        read_sub_aspects(path, CRITERIA)
