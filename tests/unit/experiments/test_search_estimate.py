import pytest

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.estimate import estimate_run, search_calls
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.signatures import ActiveCriticConfig


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(60))


def calls(**settings):
    given = CompileSettings(
        **{"optimizer": "protocol", "criteria": "given", "fixed": (), **settings}
    )
    return search_calls(given, n_pool=10, n_selection=100, n_heldout=50, competing=False)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_demonstrations": 0},
        {"fixed": ()},
        {"fixed": ("variant", "samples")},
        {"target": ("fluency", "faithfulness")},
        {"protocol": ActiveCriticConfig(variant="vanilla"), "fixed": ("variant",)},
        {"criteria": "inferred"},
        {"screen": True, "n_trials": 20},
        {"screen": True, "n_trials": 20, "objective": "q + d_min", "criteria": "given"},
        {"screen": True, "judge": "pairs", "criteria": "given"},
        {"screen": True, "n_trials": 3, "fixed": (), "criteria": "given"},
    ],
    ids=str,
)
def test_no_run_makes_more_calls_than_estimated(data, settings, tmp_path):
    lm = model(ledger=tmp_path / "ledger.sqlite")
    settings = CompileSettings(**{"optimizer": "protocol", "n_trials": 6, **settings})
    bound = estimate_run(data, settings, lm)
    compile_judge(data, settings, lm=lm)
    made = lm_client_of(lm).usage.calls
    assert made <= bound.calls
    assert 0.3 < made / bound.expected_calls < 3


def test_a_space_without_costly_choices_has_a_bound_near_what_is_expected():
    fixed = ("variant", "criteria_calls", "overall", "samples")
    found = calls(fixed=fixed, n_demonstrations=0)
    # As it was on the 150 rows, 30 configurations on those to choose by and to show, and the fit
    # and the report on the others, and weights for the judge as it was: two questions each.
    assert found.most == 2 * 150 + 30 * 2 * 110 + 2 * 60 + 2 * 10
    assert found.most > found.expected > 0.4 * found.most


@pytest.mark.no_cover
def test_separate_questions_and_five_samples_make_the_bound():
    few = calls(fixed=("criteria_calls",))
    many = calls()
    n_criteria = len(ActiveCriticConfig().rubric.criteria)
    assert many.most > 2 * few.most
    assert calls(n_trials=1).most == 2 * 150 + (n_criteria + 1) * 5 * (110 + 60) + 2 * 10


def test_a_start_whose_criteria_are_inferred_may_have_as_many_as_are_inferred():
    separate = {"protocol": ActiveCriticConfig(criteria_calls="separate"), "n_demonstrations": 0}
    fixed = ("variant", "criteria_calls", "overall", "samples", "explain")
    found = calls(**separate, fixed=fixed, criteria="inferred", n_trials=1)
    most = CompileSettings().inference.most + 1
    assert found.most == most * (150 + 110 + 60 + 10)
    assert found.expected < found.most


def test_most_that_are_screened_are_counted_on_few_rows_alone():
    fixed = ("variant", "criteria_calls", "overall", "samples")
    found = calls(fixed=fixed, n_demonstrations=0, screen=True, n_trials=40)
    # 28 on 10 rows, 10 of the 12 others on 20, and 2 on all 100; all judge the rows to show.
    tried = 28 * 10 + 10 * 20 + 2 * 100 + 40 * 10
    assert found.most == 2 * 150 + 2 * tried + 2 * 60 + 2 * 10
    whole = calls(fixed=fixed, n_demonstrations=0, n_trials=40)
    assert found.expected < found.most < 0.3 * whole.most


def test_no_more_configurations_are_counted_than_there_are():
    fixed = ("variant", "criteria_calls", "overall", "samples", "explain", "rubric")
    found = calls(fixed=fixed, n_demonstrations=0, n_trials=1000)
    assert found.most == 2 * 150 + 8 * 2 * 110 + 2 * 60 + 2 * 10


def test_only_a_search_of_the_protocol_has_an_expectation(data):
    found = estimate_run(data, CompileSettings(n_rounds=2), model(ledger=None))
    assert "expected_calls" not in found.to_dict()
