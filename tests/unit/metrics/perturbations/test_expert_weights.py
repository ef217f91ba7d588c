import pytest

from judgesmith.metrics.perturbations.scores import EXPERT_WEIGHTS, shares_of_metrics

METRICS = {
    "summarization": ["coherence", "consistency", "fluency", "relevance"],
    "story_completion": ["coherence", "consistency", "fluency"],
    "question_answering": ["answer_quality"],
    "translation": ["accuracy", "fluency"],
}


def test_every_task_has_its_kinds_of_perturbation():
    kinds = {task: len(weights) for task, weights in EXPERT_WEIGHTS.items()}
    assert kinds == {
        "summarization": 6,
        "story_completion": 6,
        "question_answering": 5,
        "translation": 5,
    }


@pytest.mark.parametrize("task", METRICS)
def test_weights_cover_the_metrics_of_the_task_and_sum_to_one(task):
    for weights in EXPERT_WEIGHTS[task].values():
        assert sorted(weights) == METRICS[task]
        shares_of_metrics(list(weights.values()), n_metrics=len(METRICS[task]))


def test_damage_weighs_on_the_metric_that_should_notice():
    assert EXPERT_WEIGHTS["summarization"]["rewriting"] == {
        "coherence": 0.2,
        "consistency": 0,
        "fluency": 0.2,
        "relevance": 0.6,
    }
    assert EXPERT_WEIGHTS["translation"]["word_deletions"] == {"accuracy": 0.7, "fluency": 0.3}
    assert EXPERT_WEIGHTS["story_completion"]["fictional_entities"]["consistency"] == 1


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        EXPERT_WEIGHTS["translation"]["typos"] = {}
    with pytest.raises(TypeError):
        EXPERT_WEIGHTS["translation"]["word_deletions"]["fluency"] = 1
