import pytest

from judgesmith.programs.lm import Budget, BudgetSpent, ModelAnswer, Spent
from judgesmith.programs.lm.budget import UsageMeter, check


@pytest.mark.parametrize("name", ["max_calls", "max_tokens", "max_usd", "max_minutes"])
def test_a_negative_or_undefined_ceiling_is_refused(name):
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match=name):
            Budget(**{name: wrong})


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(max_calls=3), Spent(calls=3)),
        (Budget(max_tokens=100), Spent(tokens=60)),
        (Budget(max_usd=1.0), Spent(usd=0.6)),
        (Budget(max_minutes=5), Spent(minutes=5.0)),
    ],
)
def test_the_ceiling_in_the_way_is_named_with_what_was_spent(budget, spent):
    with pytest.raises(BudgetSpent) as caught:
        check(budget, spent, tokens=50, usd=0.5)
    assert getattr(budget, caught.value.ceiling) is not None
    assert (caught.value.calls, caught.value.tokens) == (spent.calls, spent.tokens)
    assert (caught.value.usd, caught.value.minutes) == (spent.usd, spent.minutes)


@pytest.mark.parametrize(
    "budget", [Budget(max_calls=3), Budget(max_tokens=9), Budget(max_usd=1), Budget(max_minutes=5)]
)
def test_refusals_at_one_ceiling_read_the_same_whatever_was_spent(budget):
    said = set()
    for spent in (7, 8.5):
        with pytest.raises(BudgetSpent) as caught:
            check(budget, Spent(calls=spent, tokens=spent, usd=spent, minutes=spent), tokens=5)
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_request_that_just_fits_is_let_through():
    budget = Budget(max_calls=3, max_tokens=100, max_usd=1.0, max_minutes=5)
    check(budget, Spent(calls=2, tokens=50, usd=0.5, minutes=4.9), tokens=50, usd=0.5)


def test_the_estimate_of_tokens_follows_what_servers_count():
    meter = UsageMeter(priced=True)
    before = meter.estimated_input(10_000)
    for _ in range(50):
        meter.answered(1000, ModelAnswer(text="x", input_tokens=1000, output_tokens=9), usd=0.1)
    assert before == 2500 * 1.25 + 32
    assert 9_000 < (meter.estimated_input(10_000) - 32) / 1.25 <= 10_000
    assert meter.usage.cost_usd == pytest.approx(5.0)


def test_an_answer_without_a_ceiling_is_expected_to_be_as_long_as_the_longest():
    meter = UsageMeter(priced=False)
    meter.answered(10, ModelAnswer(text="x", output_tokens=3000), usd=0.0)
    assert meter.estimated_output(None) == 3000
    assert meter.estimated_output(64) == 64
    assert meter.usage.cost_usd is None
