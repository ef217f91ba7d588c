import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(40))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "settings",
    [
        {"n_rounds": 3},
        {"n_rounds": 3, "criteria": "given"},
        {"n_rounds": 3, "protocol": ActiveCriticConfig(samples=2)},
        {"n_rounds": 3, "protocol": ActiveCriticConfig(variant="vanilla")},
        {"optimizer": "none", "protocol": ActiveCriticConfig(samples=3)},
    ],
    ids=["fine", "given criteria", "two samples", "vanilla", "no search"],
)
def test_no_run_makes_more_calls_than_estimated(data, settings, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(**settings)
    bound = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    made = lm_client_of(lm).usage
    assert made.calls <= bound.calls <= bound.max_calls
    assert made.calls >= 0.5 * bound.calls
    assert 0.4 < made.input_tokens / bound.input_tokens < 1.6


@pytest.mark.parametrize("family", ["g-eval", "checklist"])
@pytest.mark.parametrize("criteria", ["given", "human", "inferred"])
def test_what_is_written_once_per_criterion_is_counted(data, family, criteria, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    own = family_of(family).protocol_class()
    settings = CompileSettings(optimizer="none", criteria=criteria, protocol=own)
    bound = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= bound.calls
    if family == "g-eval":
        general = settings.model_copy(
            update={"protocol": own.model_copy(update={"plan": "general"})}
        )
        n_written = {"given": 6, "human": 2, "inferred": 6 + settings.inference.most}
        assert bound.calls - estimate_run(data, general, lm).calls == n_written[criteria]


@pytest.mark.no_cover
@pytest.mark.parametrize("family", ["g-eval", "checklist"])
def test_a_search_counts_it_too(data, family, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    own = family_of(family).protocol_class()
    settings = CompileSettings(optimizer="protocol", criteria="given", protocol=own, n_trials=2)
    bound = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= bound.calls


def test_what_cannot_be_compiled_cannot_be_estimated(data):
    with pytest.raises(ValueError, match="nobody rated 'x'"):
        estimate_run(data, CompileSettings(target="x"), model(ledger=None))


def test_a_model_without_a_price_has_no_estimate_of_cost(data):
    import dspy

    settings = CompileSettings(optimizer="none")
    lm = dspy.LM("openai/unheard-of", cache=False)
    assert estimate_run(data, settings, lm).cost_usd is None


@pytest.mark.parametrize(("family", "objective"), [("exemplar", "q"), ("pairs", "q@sample")])
def test_judges_that_show_several_texts_are_told_as_they_are(data, family, objective, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(
        judge=family, optimizer="none", criteria="given", n_demonstrations=0, objective=objective
    )
    told = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    made = lm_client_of(lm).usage
    assert made.calls <= told.expected_calls * 1.2 <= told.calls * 1.2
    assert told.expected_calls < told.calls <= told.max_calls
    assert made.input_tokens <= told.input_tokens
    per_call = made.input_tokens / made.calls
    assert 0.7 < (told.input_tokens / told.calls) / per_call < 1.1


def test_samples_of_comparisons_without_probabilities_are_within_the_bound(data):
    settings = CompileSettings(
        judge="exemplar", optimizer="none", criteria="given", n_demonstrations=0
    )
    told = estimate_run(data, settings, model(ledger=None))
    # five exemplars and five comparisons of each text, each of these drawn five times more
    assert told.calls == 40 * 10
    assert told.calls_without_probabilities == 40 * (5 + 5 * 6)
    assert told.max_calls == 2 * told.calls_without_probabilities
    drawn = settings.protocol.model_copy(update={"verdicts": "samples"})
    told = estimate_run(data, settings.model_copy(update={"protocol": drawn}), model(ledger=None))
    assert (told.calls, told.calls_without_probabilities) == (40 * (5 + 5 * 5), None)


def test_a_search_of_judges_that_rank_is_bounded_by_the_pairs_there_are(data, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(
        judge="pairs",
        optimizer="protocol",
        criteria="given",
        n_demonstrations=0,
        n_trials=2,
        objective="q@sample",
        learn_weights=False,
    )
    told = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    assert lm_client_of(lm).usage.calls <= told.calls <= told.max_calls
