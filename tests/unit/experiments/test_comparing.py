import json

import numpy as np
import pytest

from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.score_files import Scores
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.evaluate.comparing import compare_judges, shared_target
from judgesmith.metrics.correlation import agreement_difference
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig
from judgesmith.signatures.judgement import Cause, Reason

pytestmark = pytest.mark.no_cover

NAN = float("nan")


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(40))


@pytest.fixture(scope="module")
def saved(data):
    return compile_judge(data, CompileSettings(n_rounds=2), lm=model(ledger=None)).saved


def rng():
    return np.random.default_rng(0)


def scores(values, **more):
    problems = tuple(
        Cause(Reason.CUT_OFF, "cut off") if np.isnan(value) else None for value in values
    )
    more = {"label": "x", "criterion": None, "n_unused": 0} | more
    return Scores(values=np.asarray(values, float), problems=problems, **more)


def noisy(data, spread, seed):
    """Return what people said, with noise."""
    human = targets_of(data, "overall").values
    return human + np.random.default_rng(seed).normal(scale=spread, size=len(human))


def compared(data, first, second, **options):
    return compare_judges(scores(first), scores(second), data, rng=rng(), **options)


def test_the_gain_is_the_paired_difference_of_the_metrics(data):
    first, second = noisy(data, 0.5, 1), noisy(data, 2.0, 2)
    found = compared(data, first, second, objective="pearson@sample", confidence=0.8)
    seed = int(rng().integers(2**63))
    direct = agreement_difference(
        targets_of(data, "overall").values,
        first,
        second,
        sources=data.groups,
        systems=[item.system_id for item in data],
        statistic="pearson",
        level="system",
        rng=np.random.default_rng(seed),
        confidence=0.8,
        n_resamples=10_000,
    )
    systems = found.unseen["system"]["pearson"]
    assert (systems.first, systems.second) == (direct.first, direct.second)
    assert (systems.confidence, systems.n, systems.n_groups) == (0.8, 40, 10)
    assert found.gain == found.unseen["sample"]["pearson"]
    assert str(found.objective) == "pearson@sample"


def test_a_judge_that_is_clearly_better_is_called_so_whichever_comes_first():
    data = read_items("sample")
    good, bad = noisy(data, 0.2, 1), noisy(data, 3.0, 2)
    ahead, behind = compared(data, good, bad), compared(data, bad, good)
    assert (ahead.better, behind.better) == ("a", "b")
    assert ahead.gain.value == pytest.approx(-behind.gain.value)
    assert ahead.gain.p_value < 0.05


def test_two_sources_carry_no_clear_difference_however_they_agree(data):
    few = data.subset(range(8))
    found = compared(few, noisy(few, 0.01, 1), noisy(few, 3.0, 2))
    assert found.gain.n_groups == 2
    assert np.isnan([found.gain.low, found.gain.p_value]).all()
    assert found.better is None
    decided = found.to_dict()["objective"]["gain"]
    assert decided["reason"] == "an interval needs 5 sources or more; got 2"
    assert decided["low"] is decided["high"] is decided["p_value"] is None
    assert found.to_dict()["objective"]["better"] is None


def test_equal_scores_are_neither_better_nor_worse(data):
    values = noisy(data, 1.0, 1)
    found = compared(data, values, 10 * values + 3)
    assert found.gain.value == pytest.approx(0, abs=1e-12)
    assert found.better is None


def test_only_rows_that_both_scored_are_compared_and_the_others_are_counted(data):
    first, second = noisy(data, 1.0, 1), noisy(data, 1.0, 2)
    first[:6], second[4:12] = NAN, NAN
    found = compared(data, first, second)
    assert (found.gain.n, found.a.unscored.n, found.b.unscored.n) == (28, 6, 8)
    assert found.to_dict()["rows"]["unscored"] == {"a": 6, "b": 8}
    assert found.to_dict()["problems"]["a"] == {"cut off": 6}


@pytest.mark.no_cover
def test_rows_that_either_was_made_from_are_compared_apart(data, saved):
    found = compare_judges(saved, ActiveCritic(), data, rng=rng())
    assert (found.n_unseen, found.n_seen, found.a.n_seen, found.b.n_seen) == (12, 28, 28, 0)
    assert found.unseen["dataset"]["pearson"].n == 12
    assert found.seen["dataset"]["pearson"].n == 28
    assert found.gain == found.unseen["dataset"]["spearman"]
    plain = found.to_dict()
    assert (plain["objective"]["on"], plain["unknown"]) == ("unseen", None)
    assert plain["rows"]["seen_by"] == {"a": 28, "b": 0}
    assert [plain["rows"][part] for part in ("unseen", "seen", "unknown")] == [12, 28, 0]


def test_where_all_rows_were_seen_it_says_so(data, saved):
    only_seen = [i for i, item in enumerate(data) if item.key in saved.seen_keys]
    found = compare_judges(saved, ActiveCritic(), data.subset(only_seen), rng=rng())
    assert (found.unseen, found.to_dict()["heldout"]) == (None, None)
    assert found.gain == found.seen["dataset"]["spearman"]
    assert found.to_dict()["objective"]["on"] == "seen"


@pytest.mark.no_cover
def test_what_was_seen_changes_nothing_about_the_other_rows(data, saved):
    unseen = data.subset([i for i, item in enumerate(data) if item.key not in saved.seen_keys])
    alone = compare_judges(saved, ActiveCritic(), unseen, rng=rng())
    beside = compare_judges(saved, ActiveCritic(), data, rng=rng())
    assert beside.gain == alone.gain


def test_a_judge_is_compared_by_its_score_on_the_criterion_that_is_asked_for(data, saved):
    targets = targets_of(data, "fluency")
    found = compare_judges(saved, scores(noisy(data, 1, 1)), data, targets, rng=rng())
    assert (found.a.scored_by, found.b.scored_by) == ("criterion", "score")
    assert found.target == "fluency"


def test_a_judge_that_was_never_saved_is_taken_to_be_about_the_default_target(data):
    vanilla = ActiveCritic(ActiveCriticConfig(variant="vanilla"))
    found = compare_judges(ActiveCritic(), vanilla, data, rng=rng(), labels=("new", "old"))
    assert (found.a.label, found.b.label, found.target) == ("new", "old", "overall")
    assert (found.a.scored_by, found.n_seen) == ("score", 0)


@pytest.mark.no_cover
def test_scores_on_a_criterion_are_held_against_it(data):
    values = noisy(data, 1, 1)
    one, other = scores(values, criterion="fluency"), scores(-values)
    assert compare_judges(one, other, data, rng=rng()).target == "fluency"
    assert compare_judges(other, one, data, rng=rng()).target == "fluency"


def test_judges_made_for_different_things_need_to_be_told(data, saved):
    one = scores(noisy(data, 1, 1), criterion="fluency")
    with pytest.raises(ValueError, match="A was made for overall and B for fluency; say which"):
        compare_judges(saved, one, data, rng=rng())


def test_a_judge_made_without_ratings_is_compared_on_what_the_other_was_made_for(data, saved):
    bare = saved.model_copy(update={"target": "auto"})
    fluent = saved.model_copy(update={"target": "fluency"})
    assert shared_target(bare, fluent, data) == shared_target(fluent, bare, data) == "fluency"
    assert shared_target(bare, bare, data) is None


def test_no_shared_row_is_refused_with_the_reasons(data):
    first, second = np.full(40, NAN), noisy(data, 1, 1)
    message = r"of 40, A scored 0 \(40 × cut off\) and B scored 40; name two that"
    with pytest.raises(ValueError, match=message):
        compared(data, first, second)


@pytest.mark.parametrize("confidence", [0, 1, NAN, -0.5])
def test_a_confidence_that_is_none_is_refused(data, confidence):
    values = noisy(data, 1, 1)
    with pytest.raises(ValueError, match="confidence must be strictly between 0 and 1"):
        compared(data, values, -values, confidence=confidence)


def test_unknown_objectives_and_what_is_no_data_set_are_refused(data):
    values = noisy(data, 1, 1)
    with pytest.raises(ValueError, match="an objective is STATISTIC"):
        compared(data, values, -values, objective="wit")
    with pytest.raises(TypeError, match="expected a DataSet"):
        compared("data.jsonl", values, values)


def test_the_answer_is_ready_for_json_and_undefined_is_null(data):
    found = compared(data, noisy(data, 1, 1), np.full(40, 3.0))
    plain = found.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["objective"]["better"] is plain["objective"]["gain"]["value"] is None
    assert plain["heldout"] is None
    assert plain["unknown"]["dataset"]["kendall"]["second"] is None


def test_unrated_rows_are_counted(data):
    items = [
        item.model_copy(update={"human": {}}) if i < 4 else item for i, item in enumerate(data)
    ]
    partly = DataSet(name="partly", items=tuple(items))
    values = noisy(data, 1, 1)
    assert compared(partly, values, -values).to_dict()["rows"]["unrated"] == 4


@pytest.fixture(scope="module")
def ranked(data):
    """A comparison of a judge that ranks within sources with one that scores."""
    return compare_judges(PairwiseJudge(), ActiveCritic(), data, rng=rng())


def test_where_one_judge_ranks_only_figures_within_sources_are_told_and_decide(ranked):
    assert str(ranked.objective) == "spearman@sample"
    assert ranked.gain.n == 40
    assert ranked.gain.value == ranked.gain.value
    told = ranked.to_dict()["heldout"]
    for level in ("dataset", "system"):
        assert {one["value"] for one in told[level].values()} == {None}
        assert {one["p_value"] for one in told[level].values()} == {None}
    assert (ranked.a.ranks, ranked.b.ranks) == (True, False)


def test_no_test_is_made_of_ranks_of_different_sources(ranked):
    tests = ranked.tests
    assert set(tests.pairs) == set(tests.permutation) == set(tests.holm) == {"sample"}
    assert tests.williams == {}


def test_an_objective_over_sources_is_refused_where_one_judge_ranks(data):
    with pytest.raises(ValueError, match=r"spearman compares sources; say spearman@sample"):
        compare_judges(PairwiseJudge(), ActiveCritic(), data, objective="spearman", rng=rng())
