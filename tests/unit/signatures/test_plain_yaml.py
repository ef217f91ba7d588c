"""YAML written by hand is taken at its word, or refused with the line."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.signatures import plain_data
from judgesmith.signatures.plain_data import read_placed_yaml, read_yaml, write_yaml

CALLS = [
    "!!python/object/apply:os.mkdir",
    "!<tag:yaml.org,2002:python/object/apply:os.mkdir>",
    "%TAG !p! tag:yaml.org,2002:python/object/\n--- !p!apply:os.mkdir",
]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: 2\na: 3\n", 3), ("outer:\n  a: 1\n  a: 1\n", 3), ("{a: 1, a: 1}", 1)],
)
def test_a_key_that_stands_twice_is_refused_with_both_lines(text, line):
    with pytest.raises(
        ValueError,
        match=rf"line {line}: the key 'a' is given twice, first on "
        f"line",
    ):
        read_yaml(text)


@pytest.mark.parametrize("key", ["yes", "on", "5", "1.5", "null", "~", "[a]"])
def test_a_key_that_yaml_reads_as_something_else_wants_quotes(key):
    with pytest.raises(ValueError, match="line 1: expected a text as key"):
        read_yaml(f"{key}: text")
    assert read_yaml(f"'{key}': text") == {key: "text"}


def test_a_date_stays_the_text_that_was_written():
    assert read_yaml("made: 2025-01-31\nat: 2025-01-31 10:00:00") == {
        "made": "2025-01-31",
        "at": "2025-01-31 10:00:00",
    }


def test_parts_can_still_be_merged():
    text = "base: &base {a: 1}\nother:\n  <<: *base\n  b: 2\n"
    assert read_yaml(text)["other"] == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    "text",
    ["a: [1", "a: b: c", "\t- a", "a: 1\n---\nb: 2", "!!python/object/apply:os.getcwd []", "\x00"],
)
def test_what_is_not_plain_yaml_is_a_value_error(text):
    with pytest.raises(ValueError):
        read_yaml(text)


@pytest.mark.no_cover
@pytest.mark.parametrize("text", ["[" * 5000, "{a: " * 5000, "- " * 5000 + "a"])
def test_deep_nesting_is_refused(text):
    with pytest.raises(ValueError, match="nested too deeply"):
        read_yaml(text)


@given(st.text(max_size=40))
def test_any_text_gives_data_or_a_value_error(text):
    with contextlib.suppress(ValueError):
        read_yaml(text)


@pytest.mark.no_cover
@given(st.dictionaries(st.text(max_size=20), st.text(max_size=60), max_size=4))
def test_what_is_written_is_read_back_the_same(plain):
    assert read_yaml(write_yaml(plain)) == plain


def test_text_of_several_lines_is_written_as_a_block():
    assert write_yaml({"task": "One.\nTwo.\n"}) == "task: |\n  One.\n  Two.\n"


@pytest.mark.parametrize(
    "tagged", ["!!int ''", "!!bool ''", "!!float ''", "!!timestamp x", "!!set [a]", "!!binary a"]
)
def test_a_tag_is_refused_with_its_line(tagged):
    with pytest.raises(ValueError, match=r"line 2: the tag tag:yaml.org,2002:.*; leave it out\."):
        read_yaml(f"a: 1\nb: {tagged}")


@pytest.mark.parametrize("call", CALLS)
def test_no_tag_calls_anything(call, tmp_path):
    with pytest.raises(ValueError, match="is not plain YAML"):
        read_yaml(f"{call} ['{tmp_path / 'made'}']")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", CALLS)
def test_a_tag_that_came_through_would_find_nothing_to_call(call, tmp_path, monkeypatch):
    monkeypatch.delattr(plain_data._Loader, "compose_node")
    with pytest.raises(ValueError, match="could not determine a constructor for the tag"):
        read_yaml(f"{call} ['{tmp_path / 'made'}']")
    assert list(tmp_path.iterdir()) == []


def test_a_few_lines_that_stand_for_more_than_memory_holds_are_refused():
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(ValueError, match=r"aliases stand for more than 1,000,000 values; write"):
        read_yaml("\n".join(lines))


def test_data_that_holds_itself_is_refused():
    with pytest.raises(ValueError, match="line 1: its aliases stand for more"):
        read_yaml("a: &a [1, *a]")


def test_every_value_has_the_line_on_which_it_begins():
    text = "a: &one\n  b: [1,\n    {c: 2}]\nd: *one\ne:\n  <<: *one\n"
    data, lines = read_placed_yaml(text)
    assert data == read_yaml(text)
    assert lines["a", "b", 1, "c"] == 3
    assert lines["d",] == 4
    assert lines["d", "b"] == 2
    assert lines["e", "b", 0] == 2
