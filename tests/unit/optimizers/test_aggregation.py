import dspy
import numpy as np
import pytest

from judgesmith.optimizers import FitAggregation
from judgesmith.optimizers.fitting.aggregation import (
    FEWEST_ROWS,
    combiners_of,
    simplest_within_an_error,
)
from judgesmith.optimizers.fitting.cross_validation import SourceFolds
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.rows import rows_of
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs import ActiveCritic
from judgesmith.programs.judging.scoring import aggregate
from judgesmith.signatures import (
    ActiveCriticConfig,
    Aggregation,
    CriterionScore,
    Demonstration,
    Judgement,
    Rubric,
    Scale,
)
from judgesmith.signatures.scale import PERCENT

NAMES = ("a", "b")


def rows_and_judgements(n, *, law, seed=0, sources=None):
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 100, size=(n, 3))
    human = law(points, rng)
    human = 1 + 4 * (human - human.min()) / np.ptp(human)
    examples = [
        dspy.Example(
            source=f"s{i % (sources or n)}",
            context=None,
            response=f"text number {i}",
            score=float(human[i]),
            group=i % (sources or n),
        )
        for i in range(n)
    ]
    judgements = [
        Judgement(
            score=row[0],
            raw=row[0],
            criteria={name: {"score": p} for name, p in zip(NAMES, row[1:], strict=True)},
        )
        for row in points
    ]
    return rows_of(examples, Scale(low=1, high=5)), judgements


def overall_knows(points, rng):
    return points[:, 0] + 5 * rng.normal(size=len(points))


def mean_knows(points, rng):
    return points[:, 1:].mean(axis=1) + 5 * rng.normal(size=len(points))


def one_criterion_knows(points, rng):
    return points[:, 2] - 0.5 * points[:, 1] + 5 * rng.normal(size=len(points))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("law", "chosen"),
    [(overall_knows, "overall"), (mean_knows, "mean"), (one_criterion_knows, "criteria")],
)
def test_the_way_that_knows_is_taken(law, chosen):
    fit = FitAggregation()
    aggregation = fit.choose(*rows_and_judgements(120, law=law))
    assert fit.chosen_ == chosen
    assert aggregation.kind == ("linear" if chosen == "criteria" else chosen)


@pytest.mark.no_cover
def test_learned_weights_lie_on_the_human_scale_and_follow_people():
    rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
    aggregation = FitAggregation().choose(rows, judgements)
    assert aggregation.scale == rows.scale
    scores = [
        aggregation.apply(
            [
                {"overall": j.raw, **{f"criterion:{n}": c.score for n, c in j.criteria.items()}}[t]
                for t in aggregation.terms
            ]
        )
        for j in judgements
    ]
    assert np.corrcoef(scores, rows.human)[0, 1] > 0.95


def test_with_too_few_rows_nothing_is_learned():
    fit = FitAggregation()
    rows, judgements = rows_and_judgements(FEWEST_ROWS - 1, law=one_criterion_knows)
    assert fit.choose(rows, judgements).kind == "overall"
    assert fit.trials_ == ()


def test_with_too_few_sources_nothing_is_learned():
    rows, judgements = rows_and_judgements(80, law=one_criterion_knows, sources=4)
    assert FitAggregation().choose(rows, judgements).kind == "overall"


@pytest.mark.no_cover
def test_unscored_rows_teach_nothing():
    rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
    plain = FitAggregation().choose(rows.take(np.arange(100)), judgements[:100])
    lost = [*judgements[:100], *[Judgement.unscored("lost")] * 20]
    assert FitAggregation().choose(rows, lost) == plain


@pytest.mark.no_cover
def test_lexical_features_are_reported_and_not_taken_unless_allowed():
    rows, judgements = rows_and_judgements(60, law=overall_knows)
    fit = FitAggregation(lexical=False)
    fit.choose(rows, judgements)
    assert [trial.name for trial in fit.trials_ if not trial.allowed] == ["lexical"]
    assert fit.chosen_ != "lexical"


def trial(name, value, behind, error, *, allowed=True):
    return TrialRecord(name=name, value=value, behind=behind, standard_error=error, allowed=allowed)


def test_the_simplest_way_within_a_standard_error_of_the_best_is_taken():
    trials = [
        trial("overall", 1.0, 0.3, 0.2),
        trial("mean", 1.2, 0.1, 0.15),
        trial("criteria", 1.3, 0.0, 0.0),
    ]
    assert simplest_within_an_error(trials) == "mean"


def test_an_undefined_way_is_never_taken():
    trials = [
        trial("overall", float("nan"), float("inf"), float("nan")),
        trial("criteria", 1.0, 0.0, 0.0),
    ]
    assert simplest_within_an_error(trials) == "criteria"
    assert simplest_within_an_error(trials[:1]) == "overall"


def test_a_way_that_is_not_allowed_is_passed_over():
    trials = [
        trial("overall", 0.5, 0.5, 0.1),
        trial("lexical", 2.0, -1.0, 0.1, allowed=False),
        trial("criteria", 1.0, 0.0, 0.0),
    ]
    assert simplest_within_an_error(trials) == "criteria"


def test_halves_share_no_source_and_predict_every_row():
    rows, judgements = rows_and_judgements(60, law=overall_knows, sources=20)
    halves = SourceFolds.of(
        rows.judged(judgements, judge_scale=PERCENT),
        n_folds=2,
        n_repeats=3,
        rng=np.random.default_rng(0),
    )
    seen = []

    def fitted(inside, outside):
        assert not set(rows.groups[inside]) & set(rows.groups[outside])
        seen.append(len(outside))
        return np.asarray([judgements[i].raw for i in outside])

    found = halves.agreement(fitted, Agreement("pearson"))
    assert sum(seen) == 3 * 60
    assert found.value > 0.9
    assert found.behind(found) == (0.0, 0.0)


def test_ways_come_simplest_first_and_a_judge_without_criteria_has_fewer():
    rows, judgements = rows_and_judgements(5, law=overall_knows)
    assert [way.name for way in combiners_of(rows, judgements)] == [
        "overall",
        "mean",
        "criteria",
        "lexical",
    ]
    bare = [Judgement(score=one.raw, raw=one.raw) for one in judgements]
    assert [way.name for way in combiners_of(rows, bare)] == ["overall", "lexical"]


def rated(n):
    rng = np.random.default_rng(1)
    return [
        dspy.Example(
            source=f"The town of number {i} opened a bridge over its river.",
            context=None,
            response=f"Number {i} opened a bridge.",
            score=float(rng.integers(1, 6)),
            group=i,
        ).with_inputs("source", "context", "response")
        for i in range(n)
    ]


@pytest.mark.no_cover
def test_the_student_is_left_as_it_was_and_its_demonstrations_teach_nothing(monkeypatch):
    trainset = rated(30)
    shown = Demonstration(
        inputs={name: trainset[0][name] for name in ("source", "context", "response")},
        outputs={"score": 50},
    )
    student = ActiveCritic(ActiveCriticConfig(demonstrations={"overall": (shown,)}))
    before = student.dump_state()
    fit = FitAggregation(scale=Scale(low=1, high=5))
    judged = []
    choose = fit.choose
    monkeypatch.setattr(
        fit,
        "choose",
        lambda rows, found, **more: judged.append(rows) or choose(rows, found, **more),
    )
    judge = fit.compile(student, trainset=trainset)
    assert student.dump_state() == before
    assert judge.protocol.demonstrations == student.protocol.demonstrations
    assert len(judged[0]) == 29
    assert shown.key not in {item.key for item in judged[0].items}


@pytest.mark.no_cover
def test_compiling_twice_gives_the_same_judge():
    trainset = rated(30)
    first, second = (
        FitAggregation(lexical=True, scale=Scale(low=1, high=5))
        .compile(ActiveCritic(), trainset=trainset)
        .protocol
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("extra", [{"teacher": ActiveCritic()}, {"valset": rated(3)}])
def test_teacher_and_valset_are_refused(extra):
    with pytest.raises(ValueError, match="cross-validates within trainset"):
        FitAggregation().compile(ActiveCritic(), trainset=rated(5), **extra)


@pytest.mark.parametrize("setting", [{"n_folds": 1}, {"n_repeats": 0}])
def test_a_cross_validation_of_nothing_is_refused(setting):
    with pytest.raises(ValueError, match="need 2 folds and 1 repeat or more"):
        FitAggregation(**setting)


def knowing(weight=1.0, **changes):
    """Return learned numbers that know what ``one_criterion_knows`` knows."""
    given = {
        "kind": "linear",
        "terms": ("criterion:a", "criterion:b"),
        "centers": (50, 50),
        "spreads": (50, 50),
        "weights": (-0.5 * weight, weight),
        "intercept": 3,
        "scale": "1..5",
    }
    return Aggregation(**{**given, **changes})


class TestWeightsTheStudentHas:
    @pytest.mark.no_cover
    def test_they_compete_first_and_stay_where_nothing_is_much_better(self):
        fit = FitAggregation()
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        own = knowing()
        assert fit.choose(rows, judgements, own=own) == own
        assert [trial.name for trial in fit.trials_][:2] == ["own", "overall"]
        assert fit.chosen_ == "own"

    @pytest.mark.no_cover
    def test_they_go_where_another_way_is_much_better(self):
        fit = FitAggregation()
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        assert fit.choose(rows, judgements, own=knowing(-1.0)) != knowing(-1.0)
        assert fit.trials_[0].name == "own"
        assert fit.trials_[0].value < 0
        assert fit.chosen_ == "criteria"

    @pytest.mark.parametrize(
        ("own", "name"),
        [
            (knowing(), "own"),
            (Aggregation(kind="mean"), "mean"),
            (Aggregation(), "overall"),
            (None, "overall"),
        ],
    )
    def test_they_stay_where_there_is_too_little_to_learn(self, own, name):
        fit = FitAggregation()
        few = rows_and_judgements(FEWEST_ROWS - 1, law=one_criterion_knows)
        of_few_sources = rows_and_judgements(80, law=one_criterion_knows, sources=4)
        lost = few[0], [Judgement.unscored("lost")] * len(few[0])
        for rows, judgements in (few, of_few_sources, lost):
            assert fit.choose(rows, judgements, own=own) == (own or Aggregation())
            assert (fit.trials_, fit.chosen_) == ((), name)

    @pytest.mark.no_cover
    def test_they_are_dropped_when_a_criterion_is_gone(self):
        fit = FitAggregation()
        rows, judgements = rows_and_judgements(120, law=overall_knows)
        own = knowing(terms=("criterion:a", "criterion:c"))
        assert fit.choose(rows, judgements, own=own).kind == "overall"
        assert "own" not in [trial.name for trial in fit.trials_]

    @pytest.mark.no_cover
    def test_a_compiled_judge_that_is_compiled_again_lets_them_compete(self):
        rubric = Rubric(criteria={"fluency": "Is it well written?"})
        own = knowing(
            terms=("criterion:fluency",), centers=(50,), spreads=(20,), weights=(1,), limit=3
        )
        student = ActiveCritic(rubric=rubric, aggregation=own)
        fit = FitAggregation(scale=Scale(low=1, high=5))
        fit.compile(student, trainset=rated(30))
        assert fit.trials_[0].name == "own"
        few = FitAggregation(scale=Scale(low=1, high=5))
        assert few.compile(student, trainset=rated(9)).protocol == student.protocol


def with_gaps(judgements, share, *, name="b", seed=0):
    """Return judgements of which a share lacks the score of a criterion."""
    lost = np.random.default_rng(seed).random(len(judgements)) < share
    return [
        one.model_copy(update={"criteria": {**one.criteria, name: CriterionScore(score=None)}})
        if gap
        else one
        for one, gap in zip(judgements, lost, strict=True)
    ]


class TestCriteriaWithGaps:
    @pytest.mark.no_cover
    def test_rows_with_a_rare_gap_are_left_out(self):
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        gaps = with_gaps(judgements, 0.03)
        whole = [n for n, one in enumerate(gaps) if one.criteria["b"].score is not None]
        assert 110 < len(whole) < 120
        expected = FitAggregation().choose(rows.take(whole), [judgements[n] for n in whole])
        assert FitAggregation().choose(rows, gaps) == expected
        assert "criterion:b" in expected.terms

    @pytest.mark.no_cover
    def test_a_criterion_that_is_often_missing_is_not_weighed_and_costs_no_row(self):
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        fit = FitAggregation()
        found = fit.choose(rows, with_gaps(judgements, 0.3))
        assert "mean" not in [trial.name for trial in fit.trials_]
        assert "criterion:b" not in found.terms
        without = with_gaps(judgements, 1.0)
        assert FitAggregation().choose(rows, without) == found

    @pytest.mark.no_cover
    def test_criteria_that_are_missing_by_turns_leave_the_overall_score(self):
        rows, judgements = rows_and_judgements(120, law=overall_knows)
        gaps = [
            with_gaps([one], 1.0, name="ab"[place % 2])[0] for place, one in enumerate(judgements)
        ]
        fit = FitAggregation()
        assert fit.choose(rows, gaps).kind == "overall"
        assert [trial.name for trial in fit.trials_] == ["overall", "lexical"]

    @pytest.mark.no_cover
    def test_the_judge_scores_every_row_that_it_scored_before(self):
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        gaps = with_gaps(judgements, 0.3)
        learned = FitAggregation(lexical=True).choose(rows, gaps)
        for item, one in zip(rows.items, gaps, strict=True):
            found = aggregate(learned, one, item.source, item.context, item.response)
            assert found.problem is None
