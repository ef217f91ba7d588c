import numpy as np
import pytest

from judgesmith.experiments import (
    CompileSettings,
    compile_judge,
    evaluate_judge,
    evaluate_scores,
    read_items,
    targets_of,
)
from judgesmith.experiments.score_files import Scores
from judgesmith.metrics import agreement
from judgesmith.programs import ActiveCritic
from judgesmith.programs.models import model


@pytest.fixture(scope="module")
def data():
    return read_items("sample").subset(range(40))


@pytest.fixture(scope="module")
def saved(data):
    return compile_judge(data, CompileSettings(n_rounds=2), lm=model(ledger=None)).saved


def rng():
    return np.random.default_rng(0)


def scores(values):
    problems = tuple("cut off" if np.isnan(value) else None for value in values)
    return Scores(
        values=np.asarray(values), problems=problems, label="x", criterion=None, n_unused=0
    )


def test_seen_and_unseen_rows_are_apart(data, saved):
    found = evaluate_judge(saved, data, rng=rng())
    assert (found.n_seen, found.n_unseen) == (28, 12)
    assert found.seen["dataset"]["pearson"].n == 28
    assert found.unseen["dataset"]["pearson"].n == 12


def test_texts_decide_what_was_seen_not_their_ids(data, saved):
    renamed = [item.model_copy(update={"source_id": f"x{item.source_id}"}) for item in data]
    from judgesmith.experiments import DataSet

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
        values,
        targets.values,
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
    from judgesmith.experiments import DataSet

    partly = DataSet(name="partly", items=tuple(items))
    values = [float("nan") if i % 2 else float(i) for i in range(40)]
    found = evaluate_scores(scores(values), partly, targets_of(partly), rng=rng())
    plain = found.to_dict()
    assert plain["rows"] == {"unseen": 36, "seen": 0, "unscored": 18, "unrated": 4}
    assert plain["problems"] == {"cut off": 18}
    assert plain["heldout"]["dataset"]["pearson"]["n"] == 18


def test_a_target_that_nobody_rated_is_refused(data, saved):
    with pytest.raises(ValueError, match="nobody rated"):
        evaluate_judge(saved, data, targets_of(data, "wit"), rng=rng())
