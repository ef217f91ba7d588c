import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.optimizers import Agreement, parse_objective
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Kappa,
    NeighbourAccuracy,
    TieAccuracy,
)
from judgesmith.optimizers.objectives.combining import (
    Constrained,
    Constraint,
    SeveralObjectives,
    WeightedSum,
)
from judgesmith.optimizers.objectives.effort import CallsPerItem, ShareScored
from judgesmith.optimizers.objectives.grammar import NAMES, parse_objectives

correlations = st.builds(
    Agreement,
    st.sampled_from(["q", "pearson", "spearman", "kendall", "kendall_c", "concordance"]),
    st.sampled_from(["dataset", "sample", "system"]),
)
higher = st.one_of(
    correlations,
    st.builds(Kappa, st.sampled_from(["quadratic", "linear"])),
    st.builds(TieAccuracy, st.sampled_from(["dataset", "sample"])),
    st.sampled_from([NeighbourAccuracy(), ShareScored()]),
)
positive = st.floats(1e-300, 1e300)
terms = st.one_of(
    st.tuples(positive, higher),
    st.tuples(positive.map(lambda x: -x), st.just(CallsPerItem())),
    st.tuples(st.sampled_from([-1.0, -0.5]), st.just(AbsoluteError())),
)
sums = st.lists(terms, min_size=1, max_size=5).map(lambda found: WeightedSum(tuple(found)))
constraints = st.builds(Constraint, sums, st.floats(-1e300, 1e300))
objectives = st.one_of(
    higher,
    sums,
    st.builds(Constrained, sums, st.lists(constraints, min_size=1, max_size=3).map(tuple)),
)


@given(objectives)
def test_what_is_written_reads_as_the_same_objective(objective):
    found = parse_objective(str(objective))
    alone = isinstance(objective, WeightedSum) and len(objective.terms) == 1
    if alone and objective.terms[0][0] == 1:
        assert found == objective.terms[0][1]
    else:
        assert found == objective


def test_spaces_and_forms_of_numbers_do_not_matter():
    written = (
        "q + 0.5*kappa-.01 * calls ;scored>= .95",
        " q+5e-1*kappa - 1E-2*calls;scored >=95e-2 ",
    )
    first, second = map(parse_objective, written)
    assert first == second
    assert first == Constrained(
        WeightedSum(((1.0, Agreement("q")), (0.5, Kappa()), (-0.01, CallsPerItem()))),
        (Constraint(WeightedSum(((1.0, ShareScored()),)), 0.95),),
    )


def test_one_name_is_the_objective_itself():
    assert parse_objective("q") == Agreement("q")
    assert parse_objective("+ q@sample") == Agreement("q", "sample")
    assert parse_objective("ties") == TieAccuracy()
    assert parse_objective("kappa_linear") == Kappa("linear")


def test_a_bound_from_above_turns_the_sum_round():
    assert parse_objective("q; calls - q <= 3") == parse_objective("q; -calls + q >= -3")


def test_several_objectives_stand_between_commas_under_the_same_conditions():
    found = parse_objectives(" q , -calls;scored>= .95 ")
    assert found == SeveralObjectives(
        (Agreement("q"), WeightedSum(((-1.0, CallsPerItem()),))),
        (Constraint(WeightedSum(((1.0, ShareScored()),)), 0.95),),
    )
    assert parse_objectives(str(found)) == found
    assert parse_objectives("q; scored >= .95") == parse_objective("q; scored >= .95")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q,", "at character 3: expected a name or a weight"),
        (", q", "at character 1: expected a name or a weight"),
        ("q, calls", "at character 4: calls is better when lower; subtract it"),
        ("q; scored >= .9, -calls", "at character 16: expected ; or the end; got ','"),
        ("q, -calls, 1*q", "every objective is named once; got q twice"),
    ],
)
def test_several_objectives_that_cannot_be_meant_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_objectives(text)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", 1, "expected a name or a weight; .*; got the end"),
        ("q + + kappa", 5, r"expected a name or a weight; .*; got '\+'"),
        ("q + wit", 5, "expected a known name; names are q, pearson, .*calls, usd; got 'wit'\\.$"),
        ("q@item", 3, "those of q are system, sample, dataset; got 'item'"),
        ("ties@system", 6, "those of ties are sample, dataset; got 'system'"),
        ("kappa@sample", 6, "expected no level, which kappa does not have; got '@'"),
        ("q@", 3, "expected a level; .*; got the end"),
        ("3", 2, "expected a name or a weight; .*; got the end"),
        ("3 * 2q", 5, "expected a name or a weight; .*; got '2'"),
        ("q*3", 2, r"expected \+, -, ; or the end; got '\*'"),
        ("q kappa", 3, r"expected \+, -, ; or the end; got 'kappa'"),
        ("0*q", 1, "expected a weight other than 0"),
        ("1e999*q", 1, "expected a weight; got '1e999'"),
        ("(q)", 1, r"got '\('"),
        ("q;", 3, "expected a name or a weight"),
        ("q; kappa", 9, r"expected \+, -, >= or <=; got the end"),
        ("q; kappa > .4", 10, r"expected \+, -, >= or <=; got '>'"),
        ("q; kappa >= high", 13, "expected a number to compare with; got 'high'"),
        ("q; kappa >= .4 + q", 16, r"expected ; or the end; got '\+'"),
        ("q, -calls", 2, "expected one objective; several, with commas between, are for a search"),
        ("q + mae", 1, "mae is better when lower; subtract it, as in q - .1"),
        ("q; calls >= 3", 4, "calls is better when lower; bound it from above, as in calls <= 2"),
        ("q - .1*cost", 8, "expected usd, which is dollars per item, or calls"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(text, place, message):
    with pytest.raises(ValueError, match=f"at character {place}: .*{message}"):
        parse_objective(text)


def test_a_long_text_is_not_repeated_whole():
    with pytest.raises(ValueError, match="at character") as fault:
        parse_objective("q" * 100_000)
    assert len(str(fault.value)) < 600


def test_any_text_is_read_or_refused():
    rng = random.Random(0)
    pieces = [
        *NAMES,
        "+",
        "-",
        "*",
        ";",
        ">=",
        "<=",
        "@",
        "sample",
        ".5",
        "1e3",
        " ",
        "é",
        "\n",
        ".",
    ]
    n_read = 0
    for _ in range(3000):
        text = "".join(rng.choices(pieces, k=rng.randint(0, 6)))
        try:
            found = parse_objective(text)
        except ValueError:
            continue
        n_read += 1
        assert parse_objective(str(found)) == found
    assert n_read > 100


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("-d_min", "d_min is better when higher; add it, as in 2*d_min."),
        ("q - .1*d_avg", "d_avg is better when higher; add it, as in 2*d_avg."),
        ("q; d_min <= 2", "d_min is better when higher; bound it from below, as in d_min >= .4."),
        ("-q", "q is better when higher; add it, as in 2*q."),
        ("-kappa", "kappa is better when higher; add it, as in 2*kappa."),
        ("q - .1*scored", "scored is better when higher; add it, as in 2*scored."),
        ("-q@sample", "q@sample is better when higher; add it, as in 2*q@sample."),
        ("q; kappa <= .4", "kappa is better when higher; bound it from below, as in kappa >= .4."),
        ("q; calls + q <= 4", "q is better when higher; bound it from below, as in q >= .4."),
    ],
)
def test_what_is_better_when_higher_cannot_be_made_smaller(written, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_objective(written)


@pytest.mark.parametrize("written", ["2*q", "2q", "2 q", "2.0 * q"])
def test_a_weight_stands_before_a_name_with_or_without_a_star(written):
    assert parse_objective(written) == WeightedSum(((2.0, Agreement("q")),))
    assert str(parse_objective(f"pearson + {written}; {written} >= 1")) == "pearson + 2*q; 2*q >= 1"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("spearmen", "spearman"),
        ("q + .5kapa", "kappa"),
        ("Q", "q"),
        ("Kendal_C", "kendall_c"),
        ("q@sytem", "system"),
        ("q; scorred >= .9", "scored"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(written, meant):
    with pytest.raises(ValueError, match=rf"; did you mean {meant}\?$"):
        parse_objective(written)
