"""What pydantic finds is said in words of no library."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from judgesmith.signatures.plain_data import plain_faults


class Row(BaseModel):
    """One field of every kind that is asked for."""

    number: float = 0.0
    count: int = 0
    flag: Annotated[bool, Field(strict=True)] = False
    text: Annotated[str, Field(min_length=1)] = "a"
    several: Annotated[list[str], Field(min_length=1)] = ["a"]
    named: dict[str, int] = {}
    choice: Literal["mean", "median"] = "mean"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("number", None, "expected a number; got nothing"),
        ("number", "high", "expected a number; got 'high'"),
        ("count", 1.5, "expected a whole number; got 1.5"),
        ("count", "many", "expected a whole number; got 'many'"),
        ("flag", 1, "expected true or false; got 1"),
        ("text", True, "expected a text; got true"),
        ("text", "", "expected some text; got none"),
        ("several", "a", "expected a list; got 'a'"),
        ("several", [], "expected at least one; got none"),
        ("named", [], "expected fields by name; got []"),
        ("choice", "mode", "expected one of 'mean' or 'median'; got 'mode'"),
    ],
)
def test_a_fault_says_where_it_is_what_was_expected_and_what_came(name, value, said):
    with pytest.raises(ValidationError) as caught:
        Row.model_validate({name: value})
    assert plain_faults(caught.value) == f"{name}: {said}"


def test_a_place_inside_another_is_said_in_full():
    with pytest.raises(ValidationError) as caught:
        Row.model_validate({"several": ["a", 2], "named": {"a": "b"}})
    assert plain_faults(caught.value) == (
        "several.1: expected a text; got 2; named.a: expected a whole number; got 'b'"
    )


def test_the_whole_has_no_place():
    with pytest.raises(ValidationError) as caught:
        Row.model_validate(5)
    assert plain_faults(caught.value).startswith("expected fields by name; got 5")


def test_what_came_is_cut_to_a_readable_length():
    with pytest.raises(ValidationError) as caught:
        Row.model_validate({"number": "x" * 500})
    said = plain_faults(caught.value)
    assert said.endswith("x…")
    assert len(said) < 120
