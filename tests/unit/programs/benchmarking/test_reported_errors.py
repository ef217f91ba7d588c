"""What a model says of its errors is read leniently, and refused where it is not one for each."""

import pytest

from judgesmith.programs.perturbing.injecting import read_errors

ONE = '{"number": 1, "was": "a", "now": "b", "explanation": "x\\n y"}'


@pytest.mark.parametrize(
    "text",
    [
        f"[{ONE}]",
        f"Here:\n```json\n[{ONE},]\n```",
        f'{{"errors": [{ONE}]}}',
        ONE,
        '[{"was": "a", "now": "b", "explanation": "x y"}]',
        '[{"Number": "1.", "was": "…a…", "now": "...b", "explanation": "x y"}]',
    ],
)
def test_one_error_is_read_however_it_is_wrapped(text):
    (found,) = read_errors(text, 1)
    assert (found.number, found.was, found.now, found.explanation) == (1, "a", "b", "x y")


def test_errors_come_in_the_order_of_their_numbers():
    text = '[{"number": 2, "was": "b", "now": ""}, {"number": 1, "was": null, "now": "a"}]'
    assert [(one.was, one.now) for one in read_errors(text, 2)] == [("", "a"), ("b", "")]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("[]", 1),
        ("", 1),
        ("none", 1),
        (f"[{ONE}, {ONE}]", 2),
        (f"[{ONE}]", 2),
        (f'[{ONE}, "b"]', 2),
        ('[{"number": "last", "was": "a"}]', 1),
        ("[" * 3000, 1),
        ("7", 1),
    ],
)
def test_anything_but_one_record_for_each_error_is_refused(text, n):
    with pytest.raises(ValueError, match=r"."):
        read_errors(text, n)


def test_an_explanation_without_end_is_cut():
    (found,) = read_errors(f'[{{"was": "a", "now": "b", "explanation": "{"x" * 9000}"}}]', 1)
    assert len(found.explanation) == 500
