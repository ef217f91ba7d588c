"""Combiners of several judgements, and ridge regression."""

import math

import dspy
import numpy as np
import pytest
from looping import for_each
from tables import LIKERT, judged

from judgesmith.optimizers import Agreement, FitAggregation, parse_objective
from judgesmith.optimizers.fitting.aggregation import (
    FEWEST_ROWS,
    Between,
    amount_supported,
    combiners_of,
)
from judgesmith.optimizers.fitting.cross_validation import LIMIT, SourceFolds
from judgesmith.optimizers.objectives.agreement import AbsoluteError, Kappa
from judgesmith.optimizers.objectives.combining import WeightedSum
from judgesmith.optimizers.rows import rows_from
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

# aggregation

NAMES = ("a", "b")


def fitting(*given, **settings):
    """Return a fit that repeats its cross-validation less often than by default."""
    return FitAggregation(*given, **{"n_repeats": 2, **settings})


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
    return rows_from(examples, Scale(low=1, high=5)), judgements


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
    fit = fitting()
    aggregation = fit.choose(*rows_and_judgements(120, law=law))
    assert fit.chosen_ == chosen
    assert fit.amount_ == (0 if chosen == "overall" else pytest.approx(1, abs=0.1))
    assert aggregation.kind == ("linear" if chosen == "criteria" else chosen)


@pytest.mark.no_cover
@pytest.mark.parametrize("amount", [0, 0.5, 1])
def test_the_score_moves_as_far_as_it_is_told(amount):
    rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
    fit = fitting(amount=amount)
    found = fit.choose(rows, judgements)
    assert fit.amount_ == amount
    weight = dict(zip(found.terms, found.weights, strict=True)).get("criterion:b", 0)
    wholly = fitting(amount=1).choose(rows, judgements)
    assert weight == pytest.approx(amount * wholly.weights[wholly.terms.index("criterion:b")])


@pytest.mark.parametrize("amount", [-0.1, 1.1, float("nan")])
def test_an_amount_that_is_no_share_is_refused(amount):
    with pytest.raises(ValueError, match="amount"):
        FitAggregation(amount=amount)


@pytest.mark.no_cover
def test_unscored_rows_teach_nothing():
    rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
    plain = fitting().choose(rows.take(np.arange(100)), judgements[:100])
    lost = [*judgements[:100], *[Judgement.unscored("lost")] * 20]
    assert fitting().choose(rows, lost) == plain


@pytest.mark.no_cover
def test_lexical_features_are_reported_and_not_taken_unless_allowed():
    rows, judgements = rows_and_judgements(60, law=overall_knows)
    fit = fitting(lexical=False)
    fit.choose(rows, judgements)
    assert [trial.name for trial in fit.trials_ if not trial.allowed] == ["lexical"]
    assert fit.chosen_ != "lexical"


@for_each(
    ("gain", "error", "amount"),
    [
        (0.2, 0.1, 0.75),
        (0.1, 0.1, 0),
        (-0.3, 0.1, 0),
        (0, 0, 0),
        (0.1, 0, 1),
        (0.1, math.nan, 0),
        (math.inf, math.nan, 1),
    ],
)
def test_the_amount_is_the_share_of_a_squared_gain_that_is_no_error(gain, error, amount):
    assert amount_supported(gain, error) == amount


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
    fit = fitting(scale=Scale(low=1, high=5))
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


@pytest.mark.parametrize("extra", [{"teacher": ActiveCritic()}, {"valset": rated(3)}])
def test_teacher_and_valset_are_refused(extra):
    with pytest.raises(ValueError, match="cross-validates within trainset"):
        fitting().compile(ActiveCritic(), trainset=rated(5), **extra)


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
        fit = fitting()
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        own = knowing()
        assert fit.choose(rows, judgements, own=own) == own
        assert [trial.name for trial in fit.trials_][:2] == ["own", "overall"]
        assert fit.chosen_ == "own"

    @pytest.mark.no_cover
    def test_they_go_where_another_way_is_much_better(self):
        fit = fitting()
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
        fit = fitting()
        few = rows_and_judgements(FEWEST_ROWS - 1, law=one_criterion_knows)
        of_few_sources = rows_and_judgements(80, law=one_criterion_knows, sources=4)
        lost = few[0], [Judgement.unscored("lost")] * len(few[0])
        for rows, judgements in (few, of_few_sources, lost):
            assert fit.choose(rows, judgements, own=own) == (own or Aggregation())
            assert (fit.trials_, fit.chosen_) == ((), name)

    @pytest.mark.no_cover
    def test_a_compiled_judge_that_is_compiled_again_lets_them_compete(self):
        rubric = Rubric(criteria={"fluency": "Is it well written?"})
        own = knowing(
            terms=("criterion:fluency",), centers=(50,), spreads=(20,), weights=(1,), limit=3
        )
        student = ActiveCritic(rubric=rubric, aggregation=own)
        fit = fitting(scale=Scale(low=1, high=5))
        fit.compile(student, trainset=rated(30))
        assert fit.trials_[0].name == "own"
        few = fitting(scale=Scale(low=1, high=5))
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
        expected = fitting().choose(rows.take(whole), [judgements[n] for n in whole])
        assert fitting().choose(rows, gaps) == expected
        assert "criterion:b" in expected.terms

    @pytest.mark.no_cover
    def test_a_criterion_that_is_often_missing_is_not_weighed_and_costs_no_row(self):
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        fit = fitting()
        found = fit.choose(rows, with_gaps(judgements, 0.3))
        assert "mean" not in [trial.name for trial in fit.trials_]
        assert "criterion:b" not in found.terms
        without = with_gaps(judgements, 1.0)
        assert fitting().choose(rows, without) == found

    @pytest.mark.no_cover
    def test_the_judge_scores_every_row_that_it_scored_before(self):
        rows, judgements = rows_and_judgements(120, law=one_criterion_knows)
        gaps = with_gaps(judgements, 0.3)
        learned = fitting(lexical=True).choose(rows, gaps)
        for item, one in zip(rows.items, gaps, strict=True):
            found = aggregate(learned, one, item)
            assert found.problem is None


# ways

NAMES_WAYS = ("truth", "style")


def rated_ways(n=60, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 100, size=(n, 3))
    human = np.clip(np.round(1 + 4 * points[:, 1] / 100 + 0.5 * rng.normal(size=n)), 1, 5)
    examples = [
        dspy.Example(
            source=f"Ann met {i} people in Rome.",
            response=f"She met {i % 7} of {i}" + "." * (i % 3),
            score=float(human[i]),
            group=i // 2,
        )
        for i in range(n)
    ]
    judgements = [
        Judgement(
            score=row[0],
            raw=row[0],
            criteria={name: {"score": p} for name, p in zip(NAMES_WAYS, row[1:], strict=True)},
        )
        for row in points
    ]
    return rows_from(examples, Scale(low=1, high=5)), judgements


def ways():
    rows, judgements = rated_ways()
    return rows, judgements, {way.name: way for way in combiners_of(rows, judgements)}


def between(by_name, amount, first="overall", taken="criteria"):
    widest = by_name["lexical"]
    return Between(
        name=taken,
        names=widest.names,
        columns=widest.columns,
        basis=widest.basis,
        first=by_name[first],
        taken=by_name[taken],
        amount=amount,
    )


@pytest.mark.parametrize("first", ["overall", "mean"])
def test_between_two_ways_is_the_weighted_mean_of_what_they_predict(first):
    rows, _, by_name = ways()
    inside, terms = np.arange(len(rows)), by_name["lexical"].columns
    way = between(by_name, amount=0.3, first=first)
    n_asked = len(by_name["criteria"].names)
    start = terms[:, :1] if first == "overall" else terms[:, 1:n_asked]
    before = by_name[first].linear(inside).predict(start)
    after = by_name["criteria"].linear(inside).predict(terms[:, :n_asked])
    assert way.linear(inside).predict(terms) == pytest.approx(0.7 * before + 0.3 * after)


@for_each("name", ["overall", "mean", "criteria", "lexical", "between"])
def test_the_judge_scores_what_the_fit_predicts(name):
    rows, judgements, by_name = ways()
    everything = np.arange(len(rows))
    by_name["between"] = between(by_name, amount=0.3)
    predicted = by_name[name].predictions(everything, everything)
    learned = by_name[name].aggregation()
    for item, judgement, expected in zip(rows.items, judgements, predicted, strict=True):
        found = aggregate(learned, judgement, item)
        assert found.score == pytest.approx(expected, abs=1e-9)


def test_learned_ways_carry_scale_and_limit_and_no_term_without_weight():
    rows, _, by_name = ways()
    learned = by_name["lexical"].aggregation()
    assert learned.kind == "linear"
    assert learned.scale == rows.scale
    assert learned.limit == LIMIT
    assert all(learned.weights)
    assert set(learned.terms) < set(by_name["lexical"].names)


def test_predictions_do_not_depend_on_what_people_said_of_the_predicted_rows():
    rows, judgements, by_name = ways()
    inside, outside = np.arange(0, 40), np.arange(40, 60)
    before = by_name["criteria"].predictions(inside, outside)
    human = rows.human.copy()
    human[outside] = 6 - human[outside]
    object.__setattr__(rows, "human", human)
    again = {way.name: way for way in combiners_of(rows, judgements)}
    assert again["criteria"].predictions(inside, outside) == pytest.approx(before)


OWN = Aggregation(
    kind="linear",
    terms=("criterion:style", "lexical:unknown_names", "overall"),
    centers=(50, 0.1, 50),
    spreads=(20, 0.1, 20),
    weights=(1, 0.25, -0.5),
    intercept=3,
    scale="1..5",
)


def names_of(ways):
    return [way.name for way in ways]


class TestWeightsThatWereLearnedBefore:
    def test_they_come_first_and_score_as_the_judge_does(self):
        rows, judgements = rated_ways()
        own, *others = combiners_of(rows, judgements, own=OWN)
        assert own.name == "own"
        assert own.aggregation() == OWN
        assert names_of(others) == names_of(combiners_of(rows, judgements))
        places = np.arange(len(rows))
        predicted = own.predictions(places[:10], places[10:])
        for place, expected in zip(places[10:], predicted, strict=True):
            item = rows.items[place]
            found = aggregate(OWN, judgements[place], item)
            assert found.score == expected

    def test_weights_of_a_criterion_that_is_gone_are_dropped(self):
        rows, judgements = rated_ways()
        bare = [one.model_copy(update={"criteria": {}}) for one in judgements]
        assert names_of(combiners_of(rows, bare, own=OWN)) == ["overall", "lexical"]
        renamed = [
            one.model_copy(update={"criteria": {"truth": one.criteria["truth"]}})
            for one in judgements
        ]
        assert "own" not in names_of(combiners_of(rows, renamed, own=OWN))

    @pytest.mark.parametrize("turned", [False, True])
    def test_a_judge_moves_from_weights_that_bend(self, turned):
        rows, judgements = rated_ways()
        pair = {"first": "overall", "second": "criterion:style"}
        if turned:
            pair = {"first": "criterion:style", "second": "overall"}
        product = {**pair, "center": 0.1, "spread": 0.9, "weight": 0.3}
        own = Aggregation(**{**dict(OWN), "products": (product,)})
        first, *others = combiners_of(rows, judgements, own=own)
        way = between({"own": first, **{one.name: one for one in others}}, 0.25, first="own")
        found = way.linear(np.arange(len(rows))).aggregation(rows.scale)
        assert ("overall", "criterion:style") in [one.pair for one in found.products]

    def test_products_that_no_fit_has_are_dropped(self):
        rows, judgements = rated_ways()
        pair = {"first": "criterion:style", "second": "lexical:unknown_names"}
        product = {**pair, "center": 0, "spread": 1, "weight": 0.3}
        own = Aggregation(**{**dict(OWN), "products": (product,)})
        assert "own" not in names_of(combiners_of(rows, judgements, own=own))

    def test_weights_for_another_scale_are_dropped(self):
        rows, judgements = rated_ways()
        own = OWN.model_copy(update={"scale": Scale(low=0, high=10)})
        assert "own" not in names_of(combiners_of(rows, judgements, own=own))


class TestGaps:
    @pytest.fixture
    def gaps(self):
        """Rows of which the last has no score on style."""
        rows, judgements = rated_ways()
        lost = {**judgements[-1].criteria, "style": CriterionScore(score=None)}
        return rows, [*judgements[:-1], judgements[-1].model_copy(update={"criteria": lost})]

    def test_a_criterion_with_a_gap_is_not_weighed_and_the_mean_is_no_way(self, gaps):
        ways = {way.name: way for way in combiners_of(*gaps)}
        assert list(ways) == ["overall", "criteria", "lexical"]
        assert ways["criteria"].names == ("overall", "criterion:truth")
        assert not np.isnan(ways["lexical"].columns).any()


# combined

PEOPLE = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
SHIFTED = judged([50, 60, 70, 80, 90, 50, 60, 70, 80, 90], PEOPLE, scale=LIKERT)


def test_a_sum_adds_its_terms_as_often_as_their_weights_say():
    found = parse_objective("2*q - .5*mae").value(SHIFTED)
    q, mae = Agreement("q").value(SHIFTED), AbsoluteError().value(SHIFTED)
    assert found == pytest.approx(2 * q - 0.5 * mae)


@for_each(
    ("terms", "message"),
    [
        ((), "one term or more"),
        (((0.0, Kappa()),), "other than 0; got 0"),
        (((math.nan, Kappa()),), "finite number"),
        (((1.0, AbsoluteError()),), "mae is better when lower; subtract it"),
        (((-1.0, Agreement("q")),), "q is better when higher; add it"),
    ],
)
def test_a_sum_refuses_what_has_no_say_or_the_wrong_one(terms, message):
    with pytest.raises(ValueError, match=message):
        WeightedSum(terms)
