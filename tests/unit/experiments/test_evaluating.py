"""Judges are evaluated against ratings."""

import dataclasses
import json
from itertools import combinations

import marking
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from judgesmith.data import DataSet, read_items, targets_of
from judgesmith.data.score_files import Scores
from judgesmith.experiments import CompileSettings, compile_judge, evaluate_judge, evaluate_scores
from judgesmith.experiments.evaluate.agreement import (
    LEVELS,
    STATISTICS,
    Unscored,
    agreement_report,
    criterion_reports,
    gain_report,
    grouped_reasons,
    judged_criteria,
    unscored,
    unscored_text,
)
from judgesmith.experiments.evaluate.errors.evaluation import (
    SpanSettings,
    evaluate_spans,
    new_errors,
)
from judgesmith.experiments.evaluate.errors.found import FoundErrors, TextErrors
from judgesmith.experiments.panel.notes import subset_analysis
from judgesmith.metrics.correlation import agreement, agreement_difference, agreement_interval
from judgesmith.metrics.records import plain
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.predictions import on_criterion
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.lm import model
from judgesmith.signatures import Judgement, RatedItem, Scale
from judgesmith.signatures.judgement import Cause, ErrorSpan, Reason
from judgesmith.signatures.perturbation import Edit, Perturbed

# evaluating


@pytest.fixture(scope="module")
def data_evaluating():
    return read_items("sample").subset(range(40))


@pytest.fixture(scope="module")
def saved(data_evaluating):
    return compile_judge(data_evaluating, CompileSettings(n_rounds=2), lm=model(ledger=None)).saved


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
def test_rows_that_a_judge_has_seen_are_apart_by_their_texts(data_evaluating, saved):
    found = evaluate_judge(saved, data_evaluating, seed=rng())
    assert (found.n_seen, found.n_unseen) == (28, 12)
    assert found.seen["dataset"]["pearson"].n == 28
    assert found.unseen["dataset"]["pearson"].n == 12
    renamed = [
        item.model_copy(update={"source_id": f"x{item.source_id}"}) for item in data_evaluating
    ]
    found = evaluate_judge(saved, DataSet(name="renamed", items=tuple(renamed)), seed=rng())
    assert found.n_seen == 28
    found = evaluate_judge(ActiveCritic(), data_evaluating, seed=rng())
    assert (found.n_seen, found.seen, found.target) == (0, None, "overall")


def test_rows_without_score_are_counted_and_unrated_rows_are_not_judged(data_evaluating):
    items = [
        item.model_copy(update={"human": {}}) if i < 4 else item
        for i, item in enumerate(data_evaluating)
    ]
    partly = DataSet(name="partly", items=tuple(items))
    values = [float("nan") if i % 2 else float(i) for i in range(40)]
    found = evaluate_scores(scores(values), partly, targets_of(partly), seed=rng())
    plain = found.to_dict()
    rows = {"unseen": None, "seen": None, "unknown": 36, "unscored": 18, "unrated": 4}
    assert plain["rows"] == rows
    assert plain["problems"] == {"cut off": 18}
    assert plain["heldout"] is None
    assert plain["unknown"]["dataset"]["pearson"]["n"] == 18


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
        scores([10.0 - n for n in faults]), dataset, targets_of(dataset, "faults"), seed=rng()
    )
    for level in ("dataset", "system", "sample"):
        assert found.unseen[level]["kendall"].value == pytest.approx(1)
    mixed = targets_of(dataset, "faults+style")
    by_mean = evaluate_scores(scores(mixed.values.tolist()), dataset, mixed, seed=rng())
    assert by_mean.unseen["dataset"]["pearson"].value == pytest.approx(1)


def test_every_judged_and_rated_criterion_is_reported_on_unseen_rows_or_else_on_all(
    data_evaluating, saved
):
    found = evaluate_judge(saved, data_evaluating, seed=rng())
    assert found.criteria_on == "unseen"
    assert list(found.criteria) == ["faithfulness", "fluency"]
    assert found.criteria["fluency"]["dataset"]["kendall"].n == found.n_unseen == 12
    plain = found.to_dict()
    assert plain["criteria_on"] == "unseen"
    assert plain["criteria_unscored"] == {"faithfulness": 0, "fluency": 0}
    assert plain["criteria_left_out"] == {}
    fluency = found.criteria["fluency"]["dataset"]["pearson"]
    assert plain["criteria"]["fluency"]["dataset"]["pearson"] == fluency.to_dict()
    only_seen = [i for i, item in enumerate(data_evaluating) if item.key in saved.seen_keys]
    found = evaluate_judge(saved, data_evaluating.subset(only_seen), seed=rng())
    assert (found.unseen, found.criteria_on) == (None, "all")
    assert found.criteria["fluency"]["dataset"]["pearson"].n == 28


@pytest.mark.no_cover
def test_a_target_called_like_a_criterion_is_held_against_the_score_on_it(data_evaluating, saved):
    found = evaluate_judge(
        saved, data_evaluating, targets_of(data_evaluating, "fluency"), seed=rng()
    )
    assert found.scored_by == found.to_dict()["scored_by"] == "criterion"
    judgements = score_batch(saved, data_evaluating.items)
    direct = agreement(
        targets_of(data_evaluating, "fluency").values,
        [one.criteria["fluency"].score for one in judgements],
        sources=data_evaluating.groups,
        statistic="kendall",
        level="dataset",
    )
    whole = evaluate_judge(
        ActiveCritic(saved.protocol),
        data_evaluating,
        targets_of(data_evaluating, "fluency"),
        seed=rng(),
    )
    assert whole.scored_by == "criterion"
    assert whole.unseen["dataset"]["kendall"].value == pytest.approx(direct.value)


@pytest.mark.no_cover
def test_the_target_a_judge_was_compiled_for_is_held_against_its_score(data_evaluating, saved):
    assert (
        evaluate_judge(
            saved, data_evaluating, targets_of(data_evaluating, "overall"), seed=rng()
        ).scored_by
        == "score"
    )
    fluent = saved.model_copy(update={"target": "Fluency"})
    for targets in (None, targets_of(data_evaluating, "fluency")):
        found = evaluate_judge(fluent, data_evaluating, targets, seed=rng())
        assert (found.target, found.scored_by) == ("fluency", "score")


@pytest.mark.no_cover
def test_scores_on_file_with_criteria_are_reported_as_their_judge_is(data_evaluating, saved):
    judgements = score_batch(saved, data_evaluating.items)
    on_file = scores(
        [one.score for one in judgements],
        criteria=tuple(one.criteria for one in judgements),
        target=saved.target,
    )
    by_file = evaluate_scores(
        on_file, data_evaluating, targets_of(data_evaluating, "fluency"), seed=rng()
    )
    by_judge = evaluate_judge(
        saved, data_evaluating, targets_of(data_evaluating, "fluency"), seed=rng()
    )
    assert (by_file.scored_by, by_file.criteria_on) == ("criterion", "all")
    assert by_file.criteria["fluency"]["dataset"]["pearson"].n == 40
    assert by_file.unseen["dataset"]["pearson"].n == by_judge.n_seen + by_judge.n_unseen
    unknown = scores(on_file.values, criteria=on_file.criteria)
    of_unknown = evaluate_scores(
        unknown, data_evaluating, targets_of(data_evaluating, "fluency"), seed=rng()
    )
    assert (of_unknown.scored_by, list(of_unknown.criteria)) == (
        "score",
        ["faithfulness", "fluency"],
    )


def test_what_compares_sources_is_undefined_of_ranks(data_evaluating):
    found = evaluate_judge(PairwiseJudge(), data_evaluating.subset(range(16)), seed=rng())
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
    assert besides["no_kappa"] == "a rank within a source is not a point of the raters' scale"
    assert besides["concordance"] is None


# agreeing

CUT_OFF = Cause(Reason.CUT_OFF, "cut off")
NAN = float("nan")


def table(predicted, *, seed=0):
    n = len(predicted)
    human = np.random.default_rng(seed).integers(1, 6, n).astype(float)
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=human,
        sources=np.arange(n) // 3,
        systems=np.asarray([f"s{i % 3}" for i in range(n)]),
        problems=tuple(CUT_OFF if np.isnan(p) else None for p in predicted),
    )


PREDICTED = [3.0, 1.0, NAN, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, NAN, 5.0]


def test_the_report_holds_what_the_metrics_say():
    judged = table(PREDICTED)
    report = agreement_report(judged, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    groups = {"sources": judged.sources, "systems": judged.systems}
    for level in LEVELS:
        for statistic in STATISTICS:
            names = {"statistic": statistic, "level": level}
            direct = agreement_interval(judged.human, judged.predicted, **groups, **names, seed=rng)
            assert plain(report)[level][statistic] == direct.to_dict()
            value = agreement(judged.human, judged.predicted, **groups, **names).value
            assert report[level][statistic].value == pytest.approx(value, nan_ok=True)


def test_the_gain_is_the_paired_difference():
    first, second = table(PREDICTED), table(PREDICTED[::-1])
    gain = gain_report(first, second, rng=np.random.default_rng(1))
    direct = agreement_difference(
        first.human,
        first.predicted,
        second.predicted,
        sources=first.sources,
        systems=first.systems,
        statistic=STATISTICS[0],
        level=LEVELS[0],
        seed=1,
    )
    assert plain(gain)[LEVELS[0]][STATISTICS[0]] == direct.to_dict()


@pytest.mark.parametrize("n", [1, 3, 12])
def test_rows_without_any_score_agree_with_nothing_and_break_nothing(n):
    nothing = table([NAN] * n)
    rng = np.random.default_rng(0)
    for report in (agreement_report(nothing, rng=rng), gain_report(nothing, nothing, rng=rng)):
        for row in plain(report).values():
            assert all(one["value"] is one["low"] is None and one["n"] == 0 for one in row.values())


CAUSES = st.sampled_from([None, CUT_OFF, Cause(Reason.OTHER, "no answer")])


@given(st.lists(CAUSES, min_size=1, max_size=20))
def test_every_row_without_a_score_is_counted_under_its_reason(problems):
    predicted = [1.0 if problem is None else NAN for problem in problems]
    judged = PredictionTable(
        predicted=np.asarray(predicted),
        human=np.ones(len(problems)),
        sources=np.arange(len(problems)),
        systems=np.arange(len(problems)),
        problems=tuple(problems),
    )
    found = unscored(judged)
    assert (found.n, found.n_rows) == (sum(p is not None for p in problems), len(problems))
    assert sum(found.reasons.values()) == found.n
    assert list(found.reasons.values()) == sorted(found.reasons.values(), reverse=True)
    assert unscored_text(found).startswith("all" if not found.n else f"{found.n} of")


@pytest.mark.parametrize(("n", "end"), [(3, "1 × c"), (4, "1 × c; and 1 others"), (9, "6 others")])
def test_rows_with_rarer_reasons_are_counted_too(n, end):
    found = Unscored(n=n, n_rows=n, causes={Cause(Reason.OTHER, one): 1 for one in "abcdefghi"[:n]})
    assert unscored_text(found).endswith(end)


def test_reasons_that_differ_by_a_value_are_counted_together_and_statuses_are_not():
    reasons = {
        "the answer 7 is outside 1..5": 2,
        "m: overloaded (HTTP 503)": 4,
        "the answer 'good' is outside 1..5.": 1,
        "the answer 12 is outside 1..5": 3,
        "m: overloaded (HTTP 429)": 1,
    }
    assert grouped_reasons(reasons) == {
        "the answer 12 is outside 1..5 (or alike)": 6,
        "m: overloaded (HTTP 503)": 4,
        "m: overloaded (HTTP 429)": 1,
    }
    many = {Cause(Reason.UNREADABLE, f"the answer {n} is outside 1..5"): 1 for n in range(30)}
    said = unscored_text(Unscored(n=30, n_rows=40, causes=many))
    assert said == "30 of 40 have no score: 30 × the answer 0 is outside 1..5 (or alike)"


# by criterion

LIKERT = Scale(low=1, high=5)
FAULTS = Scale(low=0, high=9, higher_is_better=False)
N = 12


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
    assert found.left_out["rare"] == "it has no ratings on these rows"
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


def test_a_verdict_on_one_criterion_keeps_its_words():
    words = Judgement(score=3, criteria={"clear": {"score": 80, "explanation": "It is."}})
    (found,) = on_criterion([words], "Clear")
    assert (found.score, found.explanation, found.criteria) == (80.0, "It is.", {})


# span evaluation

SETTINGS = SpanSettings(n_resamples=20)
FIRST = (0, 11)  # the name at the start of every original


@pytest.fixture(scope="module")
def data_span_evaluation():
    return marking.changed_set()


@pytest.fixture(scope="module")
def places(data_span_evaluation):
    return marking.places_in(data_span_evaluation)


def found_in(data, mark):
    """Return what a judge found that marks in each item the places that ``mark`` returns."""
    texts = []
    for item in data:
        where = mark(item)
        errors = where and marking.marked(item.response, *where)
        texts.append(
            TextErrors(
                item=item,
                errors=None
                if where is None
                else tuple(ErrorSpan.model_validate(one) for one in errors),
            )
        )
    return FoundErrors(label="planted", texts=tuple(texts), n_unused=0)


def evaluated(data, mark, **changes):
    settings = dataclasses.replace(SETTINGS, **changes)
    found = found_in(data, mark)
    return evaluate_spans(found, data, settings=settings, seed=0)


def test_a_judge_that_marks_what_was_changed_is_right_about_every_kind(
    data_span_evaluation, places
):
    found = evaluated(
        data_span_evaluation, lambda item: places.get((item.source_id, item.system_id), ())
    )
    assert found.gold == "edits"
    by_name = {kind.kind.name: kind for kind in found.kinds}
    assert list(by_name) == list(marking.KINDS)
    taken_out = by_name.pop("word_deletions/minor").places.pairs
    assert np.isnan(taken_out.f1.value)
    assert taken_out.n_unlocated_gold == 6
    for kind in by_name.values():
        assert kind.places.characters.recall.value == kind.places.pairs.f1.value == 1.0
    assert found.places.pairs.f1.value == found.new.characters.f1.value == 1.0
    assert json.dumps(found.to_dict())


def test_controls_are_told_but_are_no_part_of_the_whole(data_span_evaluation, places):
    pads = {key: one for key, one in places.items() if key[1] == "m+padding"}
    found = evaluated(
        data_span_evaluation, lambda item: pads.get((item.source_id, item.system_id), ())
    )
    assert found.places.characters.f1.value == 0.0
    assert {k.kind.name: k.places.characters.recall.value for k in found.kinds}["padding"] == 1.0


def test_a_judge_that_marks_nothing_misses_all_and_one_that_cannot_be_read_is_left_out(
    data_span_evaluation,
):
    nothing = evaluated(data_span_evaluation, lambda item: ())
    assert nothing.places.characters.recall.value == 0.0
    assert np.isnan(nothing.places.characters.precision.value)
    unread = evaluated(data_span_evaluation, lambda item: None if item.source_id == "0" else ())
    assert {kind.places.pairs.n_unscored for kind in unread.kinds} == {1}


def test_what_is_marked_in_the_original_too_is_charged_to_it_and_not_to_the_change(
    data_span_evaluation, places
):
    def mark(item):
        return FIRST, *places.get((item.source_id, item.system_id), ())

    found = evaluated(data_span_evaluation, mark)
    assert found.places.pairs.precision.value < 1.0
    negation = next(kind for kind in found.kinds if kind.kind.name == "negation")
    assert negation.new.pairs.precision.value == 1.0


def test_errors_move_with_the_text_and_those_that_touch_a_change_are_new():
    made = Perturbed(
        text="So a day in May was cold.",
        edits=(Edit(start=0, end=0, text="So "), Edit(start=12, end=16, text="was ")),
    )
    before = TextErrors(
        item=RatedItem(response="a day in Mayhot cold."),
        errors=(ErrorSpan(text="day", start=2, end=5),),
    )

    def kept(*where, overlap=0.5):
        errors = tuple(ErrorSpan(text="", start=start, end=end) for start, end in where)
        version = TextErrors(item=RatedItem(response=made.text), errors=errors)
        return [
            (one.start, one.end)
            for one in new_errors(version, before, made, overlap=overlap).errors
        ]

    assert kept((5, 8), (2, 8), (9, 11), (None, None), (4, 4)) == [
        (2, 8),
        (9, 11),
        (None, None),
        (4, 4),
    ]
    assert kept((5, 7), overlap=0.9) == [(5, 7)]
    assert kept((5, 7), overlap=0.5) == []


def annotated(errors, **fields):
    return tuple(
        RatedItem(source_id=str(n), response="one two three", extra={"errors": one, **fields})
        for n, one in enumerate(errors)
    )


def test_errors_without_a_place_are_compared_by_number_and_severity():
    items = annotated([[], [{"severity": "Minor"}], [{"severity": "Major"}] * 2, [], None])
    data = DataSet(name="toy", items=items)
    marks = {"1": ((0, 3),), "2": ((0, 3), (4, 7)), "3": ((0, 3),)}
    found = evaluated(data, lambda item: marks.get(item.source_id, ()))
    assert (found.gold, found.places, found.severities, found.n_unmarked) == (
        "errors",
        None,
        None,
        1,
    )
    counts = found.counts
    assert (counts.found, counts.known, counts.known_major, counts.n_texts) == (4, 3, 2, 4)
    assert (counts.any_error.precision.value, counts.any_error.recall.value) == (2 / 3, 1.0)
    assert counts.any_major.precision.value == 1 / 3
    assert 0.6 < counts.number.value < 1
    assert "not their places" in found.notes[0]


def test_a_wrong_severity_is_worth_half_where_people_placed_and_graded_errors():
    items = annotated([[{"severity": "Minor", "start": 0, "end": 3}]] * 2)
    data = DataSet(name="toy", items=items)
    found = evaluated(data, lambda item: ((0, 3),))
    assert found.places.characters.f1.value == 1.0
    assert found.severities.characters.f1.value == found.severities.pairs.f1.value == 0.5
    assert evaluated(data, lambda item: ((0, 3),), major=5).severities.pairs.f1.value == 1.0


def test_a_place_that_is_marked_on_several_criteria_counts_once_at_its_worst():
    items = annotated([[{"severity": "Major", "start": 0, "end": 3}]] * 2)
    data = DataSet(name="toy", items=items)
    errors = [
        ErrorSpan(text="one", start=0, end=3, severity=points, criterion=name)
        for name, points in (("a", 2), ("b", 5), ("c", 1))
    ]
    texts = [TextErrors(item=item, errors=(*errors, ErrorSpan(text="?"))) for item in items]
    found = FoundErrors(label="it", texts=tuple(texts), n_unused=0)
    result = evaluate_spans(found, data, settings=SETTINGS, seed=0)
    assert (result.places.pairs.predicted, result.places.pairs.precision.value) == (2, 1.0)
    assert result.severities.pairs.f1.value == 1.0
    assert result.places.pairs.n_unlocated_predicted == 2


@pytest.mark.parametrize("gold", [None, "edits", "errors"])
def test_texts_without_known_errors_are_refused(gold):
    data = DataSet(name="toy", items=(RatedItem(source_id="1", response="a"),))
    with pytest.raises(ValueError, match="toy"):
        evaluate_spans(found_in(data, lambda item: ()), data, gold=gold, seed=0)


def test_versions_without_their_originals_are_refused_for_that_reason(data_span_evaluation):
    alone = DataSet(
        name="alone", items=tuple(one for one in data_span_evaluation if one.extra.get("edits"))
    )
    with pytest.raises(ValueError, match=r"original is not in the data; give originals"):
        evaluated(alone, lambda item: ())


# subset analysis

FIVE, TEN = Scale(low=1, high=5), Scale(low=0, high=10)


def rows_of(human):
    n = len(human)
    return Rows(
        items=tuple(RatedItem(source=str(k // 2), response=str(k)) for k in range(n)),
        human=np.asarray(human, dtype=float),
        groups=np.arange(n) // 2,
        systems=np.asarray([str(k % 2) for k in range(n)]),
        scale=FIVE,
    )


def test_every_subset_is_the_plain_mean_of_its_members_on_the_same_rows():
    rng = np.random.default_rng(0)
    human = rng.permutation(12) % 5 + 1
    scores = {name: (human + rng.normal(size=12)).tolist() for name in "abcd"}
    scores |= {"e": (10 * rng.random(12)).tolist()}
    scales = dict.fromkeys("abcd", FIVE) | {"e": TEN}
    found = subset_analysis(rows_of(human), scores, scales)
    assert len(found.subsets) == 31
    by_members = {one.members: one.values for one in found.subsets}
    shares = {name: np.asarray([scales[name].fraction(x) for x in scores[name]]) for name in scores}
    for size in range(1, 6):
        for members in combinations("abcde", size):
            together = np.mean([shares[name] for name in members], axis=0)
            clipped = np.clip(together, 0, 1)
            expected = spearmanr(clipped, human).statistic
            assert by_members[members]["spearman"] == pytest.approx(expected)
    values = [one.values["q"] for one in found.subsets]
    assert values == sorted(values, reverse=True)
    assert found.whole.members == tuple("abcde")
    means = found.by_size("q")
    assert means[5] == (found.whole.values["q"],) * 2
    singles = [one.values["q"] for one in found.subsets if len(one.members) == 1]
    assert means[1] == (pytest.approx(np.mean(singles)), max(singles))


def test_rows_that_a_member_has_no_score_of_are_left_out_for_all_and_counted():
    scores = {"a": [1, 2, None, 4, 5], "b": [2, None, 3, 4, 1]}
    found = subset_analysis(rows_of([1, 2, 3, 4, 5]), scores, dict.fromkeys("ab", FIVE))
    assert (found.n, found.n_left_out) == (3, 2)
    scores = {"a": [1, 2, None, 4, 5], "b": [2, None, 3, None, None]}
    with pytest.raises(ValueError, match="there are 1 of 5"):
        subset_analysis(rows_of([1, 2, 3, 4, 5]), scores, dict.fromkeys("ab", FIVE))


def test_what_is_undefined_comes_last_and_stays_out_of_means():
    scores = {"flat": [3, 3, 3, 3], "b": [1, 2, 3, 4]}
    found = subset_analysis(rows_of([1, 2, 3, 4]), scores, dict.fromkeys(scores, FIVE))
    assert found.subsets[-1].members == ("flat",)
    assert np.isnan(found.subsets[-1].values["q"])
    assert found.place_of(found.subsets[-1]) == 3
    assert found.by_size("q")[1][0] == pytest.approx(3)
    assert found.to_dict()["subsets"][-1]["values"]["q"] is None
    flat = subset_analysis(rows_of([1, 2]), {"flat": [3, 3]}, {"flat": FIVE})
    assert np.isnan(flat.by_size("q")[1][0])


@pytest.mark.parametrize(
    ("scores", "said"),
    [({}, "got 0"), ({str(n): [1, 2] for n in range(11)}, "got 11"), ({"a": [1]}, "a has 1")],
)
def test_scores_that_make_no_analysis_are_refused(scores, said):
    with pytest.raises(ValueError, match=said):
        subset_analysis(rows_of([1, 2]), scores, dict.fromkeys(scores, FIVE))
