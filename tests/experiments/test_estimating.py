import pytest

from judgesmith.experiments import CompileSettings, compile_judge, read_items
from judgesmith.experiments.estimating import estimate_run
from judgesmith.programs.models import model, stack_of
from judgesmith.signatures import Protocol


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(40))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "settings",
    [
        {"n_rounds": 3},
        {"n_rounds": 3, "criteria": "given"},
        {"n_rounds": 3, "protocol": Protocol(samples=2)},
        {"n_rounds": 3, "protocol": Protocol(variant="vanilla")},
        {"optimizer": "none", "protocol": Protocol(samples=3)},
    ],
    ids=["fine", "given criteria", "two samples", "vanilla", "no search"],
)
def test_no_run_makes_more_calls_than_estimated(data, settings, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(**settings)
    bound = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    made = stack_of(lm).usage
    assert made.calls <= bound.calls <= bound.max_calls
    assert made.calls >= 0.5 * bound.calls
    assert 0.4 < made.input_tokens / bound.input_tokens < 1.6


def test_what_cannot_be_compiled_cannot_be_estimated(data):
    with pytest.raises(ValueError, match="nobody rated 'x'"):
        estimate_run(data, CompileSettings(target="x"), model(ledger=None))


def test_a_model_without_a_price_has_no_estimate_of_cost(data):
    import dspy

    settings = CompileSettings(optimizer="none")
    lm = dspy.LM("openai/unheard-of", cache=False)
    assert estimate_run(data, settings, lm).cost_usd is None
