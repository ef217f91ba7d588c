import pytest

from judgesmith.data.rows import GivenScales, StatedScales, as_scale, given_scales
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)


@pytest.mark.parametrize("given", ["1..5", "1:5", "1 to 5", "1,5", LIKERT])
def test_one_scale_holds_for_all_criteria(given):
    assert given_scales(given) == GivenScales(default=LIKERT)


@pytest.mark.parametrize(
    "given",
    [
        "coherence=1..5,overall=0..100",
        "coherence=1..5, score=0..100",
        {"coherence": [1, 5], "overall": "0..100"},
        {"coherence": LIKERT, "score": (0, 100)},
    ],
)
def test_scales_by_criterion(given):
    said = given_scales(given)
    assert said.default is None
    assert said.by_criterion == {"coherence": LIKERT, "overall": Scale(low=0, high=100)}


def test_a_given_criterion_wins_over_the_rows_and_the_rows_over_the_default():
    said = given_scales("0..10,fluency=1..5")
    assert said.of("fluency", Scale(low=0, high=1)) == LIKERT
    assert said.of("coherence", Scale(low=0, high=1)) == Scale(low=0, high=1)
    assert said.of("coherence", None) == Scale(low=0, high=10)
    assert given_scales(None).of("coherence", None) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("five", "a scale must be written LOW..HIGH, as in 1..5; got 'five'."),
        ("5..1", "low must be below high; got 5 and 1."),
        ("=1..5", "a scale is written CRITERION=LOW..HIGH or LOW..HIGH; got '=1..5'."),
        ("a=1..5,a=1..5", "the scale of a is given twice."),
        ("1..5,b=1..5,0..1", "the scale of all criteria is given twice."),
    ],
)
def test_a_scale_that_cannot_be_read_says_why(given, expected):
    with pytest.raises(ValueError) as caught:
        given_scales(given)
    assert str(caught.value) == expected


def test_a_scale_of_another_kind_is_a_type_error():
    with pytest.raises(TypeError, match=r"^a scale is a Scale, a text or a mapping; got int\.$"):
        given_scales(5)


def test_all_fields_of_a_scale_can_be_stated():
    stated = {"low": -25, "high": 0, "higher_is_better": False}
    assert as_scale(stated) == Scale(low=-25, high=0, higher_is_better=False)


def test_rows_must_agree_and_the_first_statement_is_named():
    stated = StatedScales()
    assert stated.state("fluency", [1, 5], where="a:1") is None
    assert stated.state("fluency", "1..5", where="a:2") is None
    problem = stated.state("fluency", [0, 10], where="a:3")
    assert str(problem) == ("a:3: scale.fluency: expected 1..5, as stated first (a:1); got 0..10")
    assert stated.by_criterion == {"fluency": LIKERT}


def test_a_statement_that_is_no_scale_is_a_problem():
    problem = StatedScales().state("fluency", [5, 1], where="a:1")
    assert str(problem) == (
        "a:1: scale.fluency: expected [lowest, highest]; got [5, 1] "
        "(low must be below high; got 5 and 1)"
    )
