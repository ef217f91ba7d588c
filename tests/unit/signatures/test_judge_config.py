"""Judge configurations and search spaces, and plain YAML with its faults."""

import contextlib
import math
from itertools import product
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from pydantic import BaseModel, Field, ValidationError

from judgesmith.signatures import ActiveCriticConfig, Aggregation, Demonstration, Rubric, plain_data
from judgesmith.signatures.perturbation import Edit, Perturbation, Perturbed, edited
from judgesmith.signatures.plain_data import plain_faults, read_placed_yaml, read_yaml, write_yaml
from judgesmith.signatures.space import Choice, Space

# A protocol is a whole judge as one value: read, edited, compared and put back.

STRANGE = {"first": "overall", "second": "lexical:fog", "center": 0, "spread": 1, "weight": 1}
LEARNED = {
    "kind": "linear",
    "terms": ("overall", "criterion:fluency", "lexical:copying"),
    "centers": (50, 60, 0.5),
    "spreads": (20, 10, 0.1),
    "weights": (1, 0.5, -0.25),
    "intercept": 3,
    "scale": "1..5",
}
finite = st.floats(-1e6, 1e6)


class TestAggregation:
    @given(
        st.lists(st.tuples(finite, finite, st.floats(0.1, 1e3), finite), min_size=1, max_size=3),
        finite,
    )
    def test_a_linear_one_is_the_sum_of_standardised_terms(self, rows, intercept):
        values, centers, spreads, weights = zip(*rows, strict=True)
        aggregation = Aggregation(
            kind="linear",
            terms=[f"criterion:{place}" for place in range(len(rows))],
            centers=centers,
            spreads=spreads,
            weights=weights,
            intercept=intercept,
            scale=(-1e12, 1e12),
        )
        total = intercept
        for value, center, spread, weight in rows:
            total += weight * (value - center) / spread
        limited = max(-1e12, min(1e12, total))
        assert aggregation.apply(values) == pytest.approx(limited, rel=1e-9, abs=1e-6)

    def test_the_score_stays_on_the_scale(self):
        aggregation = Aggregation(**LEARNED)
        assert aggregation.apply([1e9, 60, 0.5]) == 5
        assert aggregation.apply([-1e9, 60, 0.5]) == 1

    def test_one_value_per_term_is_needed(self):
        with pytest.raises(ValueError, match="argument"):
            Aggregation(**LEARNED).apply([50, 60])

    def test_it_comes_back_from_json(self):
        aggregation = Aggregation(**LEARNED)
        assert Aggregation.model_validate_json(aggregation.model_dump_json()) == aggregation

    @for_each(
        ("change", "said"),
        [
            ({"weights": (1,)}, "must be of one length; got 3, 3, 3, 1"),
            ({"kind": "overall"}, "a linear aggregation needs terms, and others cannot"),
            ({"spreads": (20, 0, 1)}, "spreads must be above zero"),
            ({"spreads": (20, math.nan, 1)}, "finite"),
            ({"centers": (20, math.inf, 1)}, "finite"),
            ({"intercept": math.nan}, "finite"),
            ({"terms": ("overall", "overall", "lexical:a")}, "terms must not repeat"),
            ({"terms": ("overall", "fluency", "lexical:a")}, "criterion:NAME or lexical:NAME"),
            ({"terms": ("overall", "criterion:", "lexical:a")}, "criterion:NAME or lexical:NAME"),
            ({"kind": "median"}, "Input should be 'overall', 'mean' or 'linear'"),
            ({"bias": 1}, "Extra inputs"),
            ({"products": (STRANGE,)}, "products are of terms; these are none: lexical:fog"),
            ({"products": ({**STRANGE, "spread": 0},)}, "greater than 0"),
        ],
    )
    def test_numbers_that_do_not_fit_are_refused(self, change, said):
        with pytest.raises(ValueError, match=said):
            Aggregation(**{**LEARNED, **change})

    def test_a_linear_one_needs_terms(self):
        with pytest.raises(ValueError, match="a linear aggregation needs terms"):
            Aggregation(kind="linear")

    def test_the_criteria_among_the_terms_are_named(self):
        aggregation = Aggregation(**{**LEARNED, "terms": ("overall", "criterion:a", "criterion:b")})
        assert aggregation.criteria == ("a", "b")


class TestProtocol:
    @for_each(
        ("fields", "said"),
        [
            ({"samples": 0}, "samples"),
            ({"temperature": -0.1}, "temperature"),
            ({"temperature": math.inf}, "temperature"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"variant": "finer"}, "variant"),
            ({"variants": "fine"}, "variants"),
            ({"variant": "vanilla", "aggregation": {"kind": "mean"}}, "asks for none"),
            ({"rubric": Rubric(task="t"), "aggregation": {"kind": "mean"}}, "asks for none"),
            (
                {"aggregation": {**LEARNED, "terms": ("overall", "criterion:joy", "lexical:a")}},
                "weighs joy; this judge asks for relevance, ",
            ),
            ({"variant": "vanilla", "aggregation": LEARNED}, "weighs fluency; .* no criteria"),
            ({"variant": "coarse", "aggregation": {"kind": "mean"}}, "asks for none"),
            ({"variant": "coarse", "aggregation": LEARNED}, "weighs fluency; .* no criteria"),
            (
                {"variant": "coarse", "overall": "mean"},
                "overall=mean needs the fine variant; the coarse variant does not score criteria",
            ),
            (
                {"variant": "vanilla", "criteria_calls": "separate"},
                "criteria_calls=separate needs the fine variant; the vanilla",
            ),
            ({"explain": "later"}, "Input should be 'before', 'after' or 'none'"),
            ({"criteria_calls": "each"}, "Input should be 'joint' or 'separate'"),
            ({"overall": "median"}, "Input should be 'asked' or 'mean'"),
        ],
    )
    def test_a_judge_that_cannot_be_is_refused(self, fields, said):
        with pytest.raises(ValueError, match=said):
            ActiveCriticConfig(**fields)

    def test_the_fingerprint_changes_with_every_part(self):
        shown = Demonstration(inputs={"source": "s", "response": "r"}, outputs={"score": 1})
        changed = [
            ActiveCriticConfig(),
            ActiveCriticConfig(variant="vanilla"),
            ActiveCriticConfig(variant="coarse"),
            ActiveCriticConfig(criteria_calls="separate"),
            ActiveCriticConfig(overall="mean"),
            ActiveCriticConfig(explain="after"),
            ActiveCriticConfig(explain="none"),
            ActiveCriticConfig(rubric=Rubric(task="t", criteria={"a": "b"})),
            ActiveCriticConfig(rubric=Rubric(criteria={"a": "b"})),
            ActiveCriticConfig(instructions={"overall": "Score it."}),
            ActiveCriticConfig(demonstrations={"overall": (shown,)}),
            ActiveCriticConfig(demonstrations={"overall": (shown, shown)}),
            ActiveCriticConfig(demonstrations={"assess": (shown,)}),
            ActiveCriticConfig(samples=2),
            ActiveCriticConfig(temperature=0.5),
            ActiveCriticConfig(max_tokens=64),
            ActiveCriticConfig(aggregation=Aggregation(kind="mean")),
            ActiveCriticConfig(aggregation=Aggregation(**LEARNED)),
        ]
        assert len({one.fingerprint for one in changed}) == len(changed)

    def test_the_order_in_which_parts_are_given_makes_no_difference(self):
        one = ActiveCriticConfig(instructions={"assess": "A", "overall": "B"})
        other = ActiveCriticConfig(instructions={"overall": "B", "assess": "A"})
        assert one.fingerprint == other.fingerprint
        assert one == other

    def test_it_comes_back_from_json(self):
        shown = Demonstration(
            inputs={"source": "s", "context": None, "response": "r"},
            outputs={"assessments": [{"criterion": "a", "explanation": "b", "score": 85}]},
            kind="bootstrapped",
        )
        protocol = ActiveCriticConfig(
            demonstrations={"assess": (shown,)},
            aggregation=LEARNED,
            criteria_calls="separate",
            overall="mean",
            explain="after",
        )
        again = ActiveCriticConfig.model_validate_json(protocol.model_dump_json())
        assert again == protocol
        assert again.fingerprint == protocol.fingerprint

    def test_records_in_demonstrations_keep_the_order_of_their_keys(self):
        record = {"criterion": "a", "score": 85, "explanation": "b"}
        shown = Demonstration(inputs={}, outputs={"assessments": [record]})
        protocol = ActiveCriticConfig(demonstrations={"assess": (shown,)}, explain="after")
        again = ActiveCriticConfig.model_validate_json(protocol.model_dump_json())
        (found,) = again.demonstrations["assess"][0].outputs["assessments"]
        assert list(found) == ["criterion", "score", "explanation"]

    def test_lone_surrogates_in_texts_have_a_fingerprint_too(self):
        shown = Demonstration(inputs={"source": "\ud800", "response": "r"}, outputs={"score": 1})
        assert len(ActiveCriticConfig(demonstrations={"overall": (shown,)}).fingerprint) == 12


def test_only_learned_weights_answer_on_another_scale():
    with pytest.raises(ValueError, match=r"overall is on 0\.\.100; only a linear one has another"):
        Aggregation(scale="1..5")


# space


def choice(name, *ids, **only_if):
    return Choice(name=name, options=[{"id": one} for one in ids], only_if=only_if)


NESTED = Space(
    choices=(
        choice("a", "1", "2", "3"),
        choice("b", "x", "y", a=("1", "2")),
        choice("c", "p", "q", b=("y",)),
        choice("d", "s", "t"),
    )
)


@st.composite
def spaces(draw):
    made = []
    for n in range(draw(st.integers(1, 5))):
        only_if = {}
        if made and draw(st.booleans()):
            on = draw(st.sampled_from(made))
            only_if = {on.name: tuple(draw(st.sets(st.sampled_from(on.ids), min_size=1)))}
        ids = [f"o{k}" for k in range(draw(st.integers(1, 3)))]
        made.append(choice(f"c{n}", *ids, **only_if))
    return Space(choices=made)


@pytest.mark.no_cover
@given(spaces())
def test_size_counts_the_different_complete_forms_of_all_combinations(space):
    names = space.names
    every = product(*(one.ids for one in space.choices))
    forms = {tuple(space.complete(dict(zip(names, ids, strict=True))).items()) for ids in every}
    assert space.size == len(forms)
    assert {tuple(one.items()) for one in space.configurations()} == forms


@pytest.mark.no_cover
@given(spaces())
def test_the_first_configuration_is_the_default_and_complete_forms_stay_as_they_are(space):
    configurations = list(space.configurations())
    assert configurations[0] == space.complete({})
    assert all(space.complete(one) == one for one in configurations)


def test_only_choices_that_arise_are_asked_about():
    asked = []

    def last(one):
        asked.append(one.name)
        return one.ids[-1]

    assert NESTED.proposed(last) == {"a": "3", "d": "t"}
    assert asked == ["a", "d"]


def test_options_set_parts_and_later_choices_win():
    space = Space(
        choices=[
            {"name": "a", "options": [{"id": "1", "sets": {"samples": 1, "explain": "none"}}]},
            {"name": "b", "options": [{"id": "1"}, {"id": "2", "sets": {"samples": 2}}]},
        ]
    )
    assert space.sets({}) == {"samples": 1, "explain": "none"}
    assert space.sets({"b": "2"}) == {"samples": 2, "explain": "none"}


def test_a_choice_is_replaced_in_its_place_and_others_are_added_at_the_end():
    more = NESTED.extended(choice("b", "z", "y", a=("1",)), choice("e", "0"))
    assert more.names == ("a", "b", "c", "d", "e")
    assert more.choices[1].ids == ("z", "y")
    with pytest.raises(ValueError, match="c arises only if b is y"):
        NESTED.extended(choice("b", "z"))


def test_choices_that_are_left_out_stay_at_their_defaults_for_those_that_depend_on_them():
    assert NESTED.without("a").names == ("b", "c", "d")
    assert NESTED.without("b").names == ("a", "d")  # c arises under y alone, which is no default
    assert NESTED.without("b", "c").names == ("a", "d")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ((choice("a", "1"), choice("a", "1")), "the choice a stands twice"),
        ((choice("a", "1", b=("1",)),), "no such choice"),
        ((choice("a", "1"), choice("b", "1", a=("2",))), "no such choice"),
    ],
)
def test_a_space_that_cannot_be_decided_in_order_is_refused(choices, message):
    with pytest.raises(ValueError, match=message):
        Space(choices=choices)


@pytest.mark.parametrize("ids", [(), ("1", "1")])
def test_a_choice_needs_options_each_once(ids):
    with pytest.raises(ValueError, match="a choice needs options without"):
        choice("a", *ids)


def test_unknown_choices_and_options_are_refused_by_name():
    with pytest.raises(ValueError, match="no choice z; there are a, b, c, d"):
        NESTED.complete({"z": "1"})
    with pytest.raises(ValueError, match="a is one of 1, 2, 3; got '9'"):
        NESTED.complete({"a": "9"})


def test_a_space_comes_back_from_plain_data():
    assert Space.model_validate_json(NESTED.model_dump_json()) == NESTED


# Changed texts: edits that make them, where these stand, and edits that make no sense.


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(st.text(max_size=40))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    words = [draw(st.text(min_size=1, max_size=5)) for _ in spans]
    return text, [Edit(start=a, end=b, text=w) for (a, b), w in zip(spans, words, strict=True)]


@pytest.mark.no_cover
@given(texts_and_edits())
def test_spans_are_where_the_replacements_stand(given_both: tuple[str, list[Edit]]) -> None:
    original, edits = given_both
    changed = Perturbed(text=edited(original, edits), edits=tuple(edits))
    found = [changed.text[start:end] for start, end in changed.spans]
    assert found == [edit.text for edit in edits]


@pytest.mark.no_cover
@given(texts_and_edits())
def test_what_is_between_edits_stays(given_both: tuple[str, list[Edit]]) -> None:
    original, edits = given_both
    kept = original
    for edit in reversed(edits):
        kept = kept[: edit.start] + kept[edit.end :]
    changed = Perturbed(text=edited(original, edits), edits=tuple(edits))
    left = changed.text
    for start, end in reversed(changed.spans):
        left = left[:start] + left[end:]
    assert left == kept


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(start=3, end=4), Edit(start=0, end=1)],
        [Edit(start=0, end=3), Edit(start=2, end=4)],
        [Edit(start=2, end=6)],
    ],
)
def test_edits_out_of_order_overlapping_or_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="sorted, disjoint and in the text of 5 characters"):
        edited("abcde", edits)


@pytest.mark.parametrize("span", [(2, 1), (2, 2)])
def test_an_edit_that_changes_nothing_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="an edit must change something"):
        Edit(start=span[0], end=span[1])


def test_a_degree_is_part_of_the_name() -> None:
    assert Perturbation(kind="reordering", level="sentence", degree="major").name == (
        "reordering/major"
    )
    assert str(Perturbation(kind="random_ending", level="sentence")) == "random_ending"


# What pydantic finds is said in words of no library.


class Row(BaseModel):
    """One field of every kind that is asked for."""

    number: float = 0.0
    count: int = 0
    flag: Annotated[bool, Field(strict=True)] = False
    text: Annotated[str, Field(min_length=1)] = "a"
    several: Annotated[list[str], Field(min_length=1)] = ["a"]
    named: dict[str, int] = {}
    choice: Literal["mean", "median"] = "mean"


@for_each(
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


# YAML written by hand is taken at its word, or refused with the line.

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


@for_each("key", ["yes", "on", "5", "1.5", "null", "~", "[a]"])
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


@for_each(
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


@for_each(
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
