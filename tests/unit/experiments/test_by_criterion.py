import numpy as np
import pytest

from judgesmith.data import DataSet
from judgesmith.experiments.evaluate.agreement import criterion_reports, judged_criteria
from judgesmith.metrics.correlation import agreement
from judgesmith.optimizers.predictions import on_criterion
from judgesmith.signatures import Judgement, RatedItem, Scale

LIKERT = Scale(low=1, high=5)
FAULTS = Scale(low=0, high=9, higher_is_better=False)
N = 12


def rng():
    return np.random.default_rng(0)


def rated(human, n=N):
    """Items of ``n // 2`` sources; ``human`` says what people said of the i-th."""
    items = []
    for i in range(n):
        said = human(i)
        scales = {name: FAULTS if name == "faults" else LIKERT for name in said}
        item = RatedItem(
            source=f"source {i // 2}",
            source_id=str(i // 2),
            system_id="ab"[i % 2],
            response=str(i),
            human=said,
            scale=scales,
        )
        items.append(item)
    return DataSet(name="toy", items=tuple(items))


def judged(score, n=N):
    """Judgements whose criteria have the scores that ``score`` says of the i-th."""
    return [
        Judgement(score=50, criteria={name: {"score": s} for name, s in score(i).items()})
        for i in range(n)
    ]


def noisy(i):
    return float(1 + (i * 7) % 5)


def test_each_criterion_agrees_as_the_metrics_say():
    data = rated(lambda i: {"clear": (noisy(i),), "kind": (noisy(i + 2), noisy(i + 1))})
    judgements = judged(lambda i: {"clear": 10.0 * ((i * 5) % 7), "kind": 9.0 * ((i * 3) % 8)})
    found = criterion_reports(data, range(N), judgements, rng=rng())
    assert list(found.reports) == ["clear", "kind"]
    assert found.left_out == {}
    for name, human in (
        ("clear", [noisy(i) for i in range(N)]),
        ("kind", [(noisy(i + 2) + noisy(i + 1)) / 2 for i in range(N)]),
    ):
        direct = agreement(
            human,
            [one.criteria[name].score for one in judgements],
            sources=[i // 2 for i in range(N)],
            statistic="kendall",
            level="dataset",
        )
        assert list(found.reports[name]) == ["dataset"]
        assert list(found.reports[name]["dataset"]) == ["pearson", "spearman", "kendall"]
        assert found.reports[name]["dataset"]["kendall"].value == pytest.approx(direct.value)
        assert found.reports[name]["dataset"]["kendall"].n_groups == N // 2


def test_other_levels_and_statistics_are_computed_where_asked_for():
    data = rated(lambda i: {"clear": (noisy(i),)})
    judgements = judged(lambda i: {"clear": noisy(i) + i})
    found = criterion_reports(
        data, range(N), judgements, rng=rng(), levels=["system"], statistics=["q"]
    )
    assert {level: list(row) for level, row in found.reports["clear"].items()} == {"system": ["q"]}


def test_the_interval_of_a_criterion_depends_on_no_other_criterion():
    data = rated(lambda i: {"clear": (noisy(i),), "kind": (noisy(i + 1),)})
    both = judged(lambda i: {"clear": 5.0 * (i % 4), "kind": 9.0 * (i % 5)})
    one = judged(lambda i: {"kind": 9.0 * (i % 5)})
    found = [criterion_reports(data, range(N), each, rng=rng()).reports for each in (both, one)]
    assert found[0]["kind"] == found[1]["kind"]


def test_names_match_but_for_case_underscores_and_marks():
    data = rated(lambda i: {"Fact_Check": (noisy(i),), "other": (noisy(i),)})
    found = criterion_reports(
        data, range(N), judged(lambda i: {"**fact  check**": noisy(i), "wit": 3.0}), rng=rng()
    )
    assert found.reports["Fact_Check"]["dataset"]["pearson"].value == pytest.approx(1)
    assert list(found.to_dict()) == ["Fact_Check"]


def test_places_say_which_row_a_judgement_is_of():
    data = rated(lambda i: {"clear": (noisy(i),)})
    places = [9, 3, 4, 8, 0, 11]
    judgements = [Judgement(score=1, criteria={"clear": {"score": noisy(i)}}) for i in places]
    found = criterion_reports(data, places, judgements, rng=rng())
    assert found.reports["clear"]["dataset"]["spearman"].value == pytest.approx(1)
    assert found.reports["clear"]["dataset"]["spearman"].n == 6
    with pytest.raises(ValueError, match=r"one judgement for each place; got 6 for 5"):
        criterion_reports(data, places[1:], judgements, rng=rng())


def test_rows_hang_together_as_in_the_whole_set():
    data = rated(lambda i: {"clear": (noisy(i),)})
    link = data[0].model_copy(update={"source_id": "1", "human": {}})
    joined = DataSet(name="joined", items=(*data.items, link))
    judgements = judged(lambda i: {"clear": noisy(i) + i})
    found = criterion_reports(joined, range(N), judgements, rng=rng())
    assert found.reports["clear"]["dataset"]["pearson"].n_groups == N // 2 - 1


def test_a_scale_that_counts_faults_is_turned_round():
    data = rated(lambda i: {"faults": (noisy(i),)})
    found = criterion_reports(
        data, range(N), judged(lambda i: {"faults": 100 - noisy(i)}), rng=rng()
    )
    assert found.reports["faults"]["dataset"]["pearson"].value == pytest.approx(1)


def test_what_people_said_nothing_useful_on_is_left_out_and_why():
    data = rated(
        lambda i: (
            {"clear": (noisy(i),), "flat": (3.0,), "split": (1.0, 2.0)}
            | ({"rare": (2.0,)} if i == 0 else {})
        )
    )
    scores = judged(lambda i: dict.fromkeys(("clear", "flat", "split", "rare"), float(i)))
    found = criterion_reports(data, range(1, N), scores[1:], aggregate="unanimous", rng=rng())
    assert list(found.reports) == ["clear"]
    assert found.left_out["rare"] == "nobody rated it on these rows"
    assert "all 11 rated items have the same value on flat, 3" in found.left_out["flat"]
    assert found.left_out["split"] == "no item has a value on split: 11 × raters differ on split"


def test_rows_without_a_score_are_counted_by_criterion_with_their_reasons():
    data = rated(lambda i: {"clear": (noisy(i),), "kind": (noisy(i),)})
    whole = judged(lambda i: {"clear": noisy(i), "kind": noisy(i)})
    without = {"score": None, "explanation": "no score: kind: no assessment of kind"}
    partly = Judgement(score=5, criteria={"clear": {"score": 4}, "kind": without})
    lost = Judgement.unscored("cut off")
    kept = Judgement.unscored("no overall", criteria=whole[0].criteria)
    found = criterion_reports(data, range(N), [kept, lost, partly, *whole[3:]], rng=rng())
    assert found.unscored["clear"].reasons == {"cut off": 1}
    assert found.unscored["kind"].reasons == {"cut off": 1, "kind: no assessment of kind": 1}
    assert found.reports["kind"]["dataset"]["pearson"].n == N - 2


def test_a_judge_that_scores_only_the_whole_has_no_criteria():
    data = rated(lambda i: {"clear": (noisy(i),)})
    judgements = [Judgement(score=float(i)) for i in range(N)]
    found = criterion_reports(data, range(N), judgements, rng=rng())
    assert (found.reports, found.unscored, found.left_out) == ({}, {}, {})
    assert judged_criteria(judgements) == {}


def test_no_score_on_any_row_is_undefined_and_no_fault():
    data = rated(lambda i: {"clear": (noisy(i),)})
    nothing = judged(lambda i: {"clear": None})
    found = criterion_reports(data, range(N), nothing, rng=rng())
    assert np.isnan(found.reports["clear"]["dataset"]["pearson"].value)
    assert found.to_dict()["clear"]["dataset"]["pearson"]["value"] is None
    assert found.unscored["clear"].reasons == {"the judge gave no score on clear": N}


def test_a_verdict_on_one_criterion_keeps_its_words():
    words = Judgement(score=3, criteria={"clear": {"score": 80, "explanation": "It is."}})
    (found,) = on_criterion([words], "Clear")
    assert (found.score, found.explanation, found.criteria) == (80.0, "It is.", {})
