import numpy as np
import pytest

from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.score_files import Scores
from judgesmith.experiments import CompileSettings, compile_judge, evaluate_judge, evaluate_scores
from judgesmith.metrics.correlation import agreement
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.lm import model
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason


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
    return Scores(
        values=np.asarray(values), problems=problems, label="x", criterion=None, n_unused=0, **more
    )


@pytest.mark.no_cover
def test_seen_and_unseen_rows_are_apart(data, saved):
    found = evaluate_judge(saved, data, rng=rng())
    assert (found.n_seen, found.n_unseen) == (28, 12)
    assert found.seen["dataset"]["pearson"].n == 28
    assert found.unseen["dataset"]["pearson"].n == 12


def test_texts_decide_what_was_seen_not_their_ids(data, saved):
    renamed = [item.model_copy(update={"source_id": f"x{item.source_id}"}) for item in data]
    found = evaluate_judge(saved, DataSet(name="renamed", items=tuple(renamed)), rng=rng())
    assert found.n_seen == 28


def test_a_judge_that_was_never_saved_has_seen_nothing(data):
    found = evaluate_judge(ActiveCritic(), data, rng=rng())
    assert (found.n_seen, found.seen, found.target) == (0, None, "overall")


def test_scores_agree_as_the_metrics_say(data):
    values = [float(len(item.response)) for item in data]
    targets = targets_of(data, "overall")
    found = evaluate_scores(scores(values), data, targets, rng=rng())
    direct = agreement(
        targets.values,
        values,
        sources=data.groups,
        systems=[item.system_id for item in data],
        statistic="spearman",
        level="system",
    )
    assert found.unseen["system"]["spearman"].value == pytest.approx(direct.value)


def test_rows_without_score_are_counted_and_unrated_rows_are_not_judged(data):
    items = [
        item.model_copy(update={"human": {}}) if i < 4 else item for i, item in enumerate(data)
    ]
    partly = DataSet(name="partly", items=tuple(items))
    values = [float("nan") if i % 2 else float(i) for i in range(40)]
    found = evaluate_scores(scores(values), partly, targets_of(partly), rng=rng())
    plain = found.to_dict()
    rows = {"unseen": None, "seen": None, "unknown": 36, "unscored": 18, "unrated": 4}
    assert plain["rows"] == rows
    assert plain["problems"] == {"cut off": 18}
    assert plain["heldout"] is None
    assert plain["unknown"]["dataset"]["pearson"]["n"] == 18


def test_a_target_that_nobody_rated_is_refused(data, saved):
    with pytest.raises(ValueError, match="nobody rated"):
        evaluate_judge(saved, data, targets_of(data, "wit"), rng=rng())


def counted(faults):
    """Items on which people counted so many faults, and rated the rest from 1 to 5."""
    form = {"faults": Scale(low=0, high=9, higher_is_better=False), "style": Scale(low=1, high=5)}
    items = [
        RatedItem(
            source=f"s{i // 2}",
            system_id="ab"[i % 2],
            response=str(i),
            human={"faults": (n,), "style": (1.0 + i % 4,)},
            scale=form,
        )
        for i, n in enumerate(faults)
    ]
    return DataSet(name="counted", items=tuple(items))


def test_a_judge_that_scores_few_faults_high_agrees_with_people_who_count_them():
    faults = [0, 3, 1, 5, 2, 9, 4, 7]
    dataset = counted(faults)
    found = evaluate_scores(
        scores([10.0 - n for n in faults]), dataset, targets_of(dataset, "faults"), rng=rng()
    )
    for level in ("dataset", "system", "sample"):
        assert found.unseen[level]["kendall"].value == pytest.approx(1)
    mixed = targets_of(dataset, "faults+style")
    by_mean = evaluate_scores(scores(mixed.values.tolist()), dataset, mixed, rng=rng())
    assert by_mean.unseen["dataset"]["pearson"].value == pytest.approx(1)


def test_every_criterion_that_is_judged_and_rated_is_reported_on_unseen_rows(data, saved):
    found = evaluate_judge(saved, data, rng=rng())
    assert found.criteria_on == "unseen"
    assert list(found.criteria) == ["faithfulness", "fluency"]
    assert found.criteria["fluency"]["dataset"]["kendall"].n == found.n_unseen == 12
    plain = found.to_dict()
    assert plain["criteria_on"] == "unseen"
    assert plain["criteria_unscored"] == {"faithfulness": 0, "fluency": 0}
    assert plain["criteria_left_out"] == {}
    fluency = found.criteria["fluency"]["dataset"]["pearson"]
    assert plain["criteria"]["fluency"]["dataset"]["pearson"] == fluency.to_dict()


def test_criteria_fall_back_on_all_rows_where_none_is_unseen(data, saved):
    only_seen = [i for i, item in enumerate(data) if item.key in saved.seen_keys]
    found = evaluate_judge(saved, data.subset(only_seen), rng=rng())
    assert (found.unseen, found.criteria_on) == (None, "all")
    assert found.criteria["fluency"]["dataset"]["pearson"].n == 28


@pytest.mark.no_cover
def test_a_target_called_like_a_criterion_is_held_against_the_score_on_it(data, saved):
    found = evaluate_judge(saved, data, targets_of(data, "fluency"), rng=rng())
    assert found.scored_by == found.to_dict()["scored_by"] == "criterion"
    judgements = score_batch(saved, data.items)
    direct = agreement(
        targets_of(data, "fluency").values,
        [one.criteria["fluency"].score for one in judgements],
        sources=data.groups,
        statistic="kendall",
        level="dataset",
    )
    whole = evaluate_judge(
        ActiveCritic(saved.protocol), data, targets_of(data, "fluency"), rng=rng()
    )
    assert whole.scored_by == "criterion"
    assert whole.unseen["dataset"]["kendall"].value == pytest.approx(direct.value)


@pytest.mark.no_cover
def test_the_target_a_judge_was_compiled_for_is_held_against_its_score(data, saved):
    assert evaluate_judge(saved, data, targets_of(data, "overall"), rng=rng()).scored_by == "score"
    fluent = saved.model_copy(update={"target": "Fluency"})
    for targets in (None, targets_of(data, "fluency")):
        found = evaluate_judge(fluent, data, targets, rng=rng())
        assert (found.target, found.scored_by) == ("fluency", "score")


@pytest.mark.no_cover
def test_scores_on_file_with_criteria_are_reported_as_their_judge_is(data, saved):
    judgements = score_batch(saved, data.items)
    on_file = scores(
        [one.score for one in judgements],
        criteria=tuple(one.criteria for one in judgements),
        target=saved.target,
    )
    by_file = evaluate_scores(on_file, data, targets_of(data, "fluency"), rng=rng())
    by_judge = evaluate_judge(saved, data, targets_of(data, "fluency"), rng=rng())
    assert (by_file.scored_by, by_file.criteria_on) == ("criterion", "all")
    assert by_file.criteria["fluency"]["dataset"]["pearson"].n == 40
    assert by_file.unseen["dataset"]["pearson"].n == by_judge.n_seen + by_judge.n_unseen
    unknown = scores(on_file.values, criteria=on_file.criteria)
    of_unknown = evaluate_scores(unknown, data, targets_of(data, "fluency"), rng=rng())
    assert (of_unknown.scored_by, list(of_unknown.criteria)) == (
        "score",
        ["faithfulness", "fluency"],
    )


def test_scores_without_criteria_have_no_reports_by_criterion(data):
    found = evaluate_scores(
        scores([float(i) for i in range(40)]), data, targets_of(data), rng=rng()
    )
    assert (found.criteria, found.to_dict()["criteria"]) == ({}, {})


def test_reports_of_criteria_leave_the_intervals_of_the_target_as_they_are(data, saved):
    judgements = score_batch(saved, data.items)
    values = [one.score for one in judgements]
    bare = evaluate_scores(scores(values), data, targets_of(data), rng=rng())
    rich = scores(values, criteria=tuple(one.criteria for one in judgements), target="overall")
    full = evaluate_scores(rich, data, targets_of(data), rng=rng())
    assert full.unseen == bare.unseen
    assert full.criteria


def test_what_compares_sources_is_undefined_of_ranks(data):
    found = evaluate_judge(PairwiseJudge(), data.subset(range(16)), rng=rng())
    assert found.ranks
    told = found.to_dict()
    values = {
        level: {one["value"] is None for one in row.values()}
        for level, row in told["heldout"].items()
    }
    assert values == {"dataset": {True}, "sample": {False}, "system": {True}}
    assert told["heldout"]["dataset"]["pearson"]["n"] == 16
    besides = told["besides"]
    assert besides["pairs"]["dataset"]["value"] is None
    assert besides["pairs"]["sample"]["value"] is not None
    assert besides["no_kappa"] == "a rank within a source is no point of people's scale"
    assert besides["concordance"] is None
