"""Selection of an ensemble's members."""

import math
import re
from dataclasses import replace

import dspy
import numpy as np
import pytest
from optimizing import examples, lm_of, number
from panelling import FIVE

from judgesmith.metrics import pearson, q
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.fitting.panels import (
    Members,
    PanelSelection,
    greedy_weights,
    weighted_mean,
)
from judgesmith.optimizers.predictions import prediction_table
from judgesmith.optimizers.rows import rated_example, rows_from
from judgesmith.programs import ActiveCritic, PanelJudge, Supervisor, score_batch
from judgesmith.programs.families.ensemble.judges import Panel
from judgesmith.programs.families.modules import AnnotatorJudge
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import Demonstration, Judgement, RatedItem, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.perturbation import Perturbation

# panel selection

LIKERT = Scale(low=1, high=5)
VANILLA = {"variant": "vanilla"}


def recorded(n=240, noise=(1.0, 1.0), seed=0, per_source=4):
    """Return rated rows and what judges said that see the truth with noise of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    human = np.clip(3 + truth, 1, 5)
    rows = rows_from(
        [
            dspy.Example(source="s", response=f"text {k}", score=x, group=k // per_source)
            for k, x in enumerate(human.tolist())
        ],
        LIKERT,
    )
    said = {
        f"judge {k}": (50 + 10 * (truth + spread * rng.normal(size=n))).tolist()
        for k, spread in enumerate(noise)
    }
    return rows, said


def panel_of(*seeds):
    """Return a panel of judges that answer by rules of their own."""
    members = {}
    for seed in seeds:
        members[f"m{seed}"] = ActiveCritic(**VANILLA)
        members[f"m{seed}"].set_lm(lm_of(lambda user, shown, system, s=seed: number(f"{s}{user}")))
    return Panel(members)


@pytest.mark.no_cover
def test_judges_with_noise_of_their_own_become_a_panel_that_beats_each_on_other_rows():
    rows, said = recorded()
    selection = PanelSelection(n_repeats=3)
    weights = selection.choose(rows, said)
    assert selection.chosen_ in ("greedy", "equal")
    others, told = recorded(seed=1)
    found = [weights.apply({name: told[name][k] for name in told}) for k in range(len(others))]
    assert q(others.human, found) > max(q(others.human, one) for one in told.values())


@pytest.mark.no_cover
def test_where_one_judge_knows_all_that_others_know_it_comes_back_alone():
    rows, said = recorded(noise=(0.05, 20.0, 20.0))
    selection = PanelSelection(n_repeats=3)
    assert selection.choose(rows, said).asked == ("judge 0",)


@pytest.mark.no_cover
def test_choosing_among_judges_of_chance_reports_its_optimism():
    rng = np.random.default_rng(2)
    rows, _ = recorded(n=60, per_source=2)
    said = {str(k): rng.uniform(0, 100, len(rows)).tolist() for k in range(12)}
    selection = PanelSelection(n_repeats=5)
    selection.choose(rows, said)
    greedy = next(one for one in selection.trials_ if one.name == "greedy")
    assert greedy.optimism > 0.4
    assert greedy.value < 0.4


def test_what_there_is_stays_where_there_is_too_little_to_learn_from():
    rows, said = recorded(n=12)
    own = PanelWeights.equal(dict.fromkeys(said, Scale(low=0, high=100)))
    selection = PanelSelection()
    assert selection.choose(rows, said, own=own) == own
    assert selection.trials_ == ()


def test_a_member_that_is_often_without_a_score_is_not_weighed():
    rows, said = recorded(noise=(1.0, 0.1))
    said["judge 1"][: len(rows) // 2] = [None] * (len(rows) // 2)
    selection = PanelSelection(n_repeats=2)
    assert selection.choose(rows, said).asked == ("judge 0",)
    assert selection.unweighed_ == ("judge 1",)


def test_refuses_scores_that_do_not_pair_up_with_rows():
    rows, said = recorded()
    with pytest.raises(ValueError, match="expected one score per row, 240; got 239"):
        PanelSelection().choose(rows, {"a": said["judge 0"][1:]})
    with pytest.raises(ValueError, match="no members to weigh"):
        PanelSelection().choose(rows, {})
    with pytest.raises(ValueError, match="nothing can be weighed"):
        PanelSelection().choose(rows, {"a": [None] * 240})


@pytest.mark.no_cover
def test_compiling_a_panel_returns_a_copy_and_leaves_the_student_as_it_was():
    student = panel_of(1, 2)
    before = student.dump_state()
    trainset = examples(range(30))
    first, second = (PanelSelection(n_repeats=2).compile(student, trainset=trainset) for _ in "ab")
    assert student.dump_state() == before
    assert first is not student
    assert first.dump_state() == second.dump_state()
    assert first.weights.scale == LIKERT or first.weights == student.weights


@pytest.mark.no_cover
def test_live_members_are_weighed_as_their_recorded_scores_would_be():
    student = panel_of(1, 2, 3)
    trainset = examples(range(40))
    rows = rows_from(trainset)
    said = {
        name: [one.score for one in score_batch(member, rows.items)]
        for name, member in student.members.items()
    }
    compiled = PanelSelection(n_repeats=2).compile(student, trainset=trainset)
    assert compiled.weights == PanelSelection(n_repeats=2).choose(rows, said, own=student.weights)


def test_rows_that_a_member_shows_are_left_out():
    trainset = examples(range(12))
    shown = Demonstration(inputs=dict(trainset[0].inputs()), outputs={"score": 50})
    judge = ActiveCritic(**VANILLA, demonstrations={"grade": (shown,)})
    asked = []
    judge.set_lm(lm_of(lambda user, shown, system: asked.append(user) or number(user)))
    PanelSelection(n_repeats=1).compile(Panel({"a": judge}), trainset=trainset)
    assert len(asked) == len(trainset) - 1


def test_refuses_a_teacher_a_valset_and_impossible_settings():
    with pytest.raises(ValueError, match="cross-fits within trainset"):
        PanelSelection().compile(panel_of(1), trainset=examples(range(5)), valset=examples([9]))
    with pytest.raises(ValueError, match="n_rounds"):
        PanelSelection(n_rounds=0)
    with pytest.raises(ValueError, match="2 folds"):
        PanelSelection(n_folds=1)
    with pytest.raises(ValueError, match="no rated items"):
        PanelSelection().compile(panel_of(1), trainset=[])


@pytest.mark.parametrize(
    ("objective", "named"),
    [("q - .1*calls", "calls"), ("q; calls <= 3", "calls"), ("q - usd - calls", "usd and calls")],
)
def test_an_objective_that_looks_at_effort_is_refused(objective, named):
    with pytest.raises(ValueError, match=f"leave {named} out of the objective"):
        PanelSelection(objective)


KINDS = tuple(Perturbation(kind=kind, level="word") for kind in ("word_deletions", "negation"))
PERCENT = {"sees deletions": Scale(low=0, high=100), "sees negations": Scale(low=1, high=5)}


def changed(n=60, *, rated=False, seed=0):
    """Return rows with a version of two kinds, and scores of judges that notice one kind each."""
    rng = np.random.default_rng(seed)
    human = rng.uniform(1, 5, n) if rated else np.full(n, np.nan)
    examples = []
    for k, score in enumerate(human.tolist()):
        item = RatedItem(source="s", response=f"text {k}")
        versions = [(kind, RatedItem(source="s", response=f"{kind.name} {k}")) for kind in KINDS]
        scale = Scale(low=1, high=5)
        examples.append(rated_example(item, score, scale, group=k // 3, versions=versions))
    rows = rows_from(examples)
    said = {}
    for place, (name, scale) in enumerate(PERCENT.items()):
        share = 0.6 + 0.05 * rng.normal(size=n)
        lower = share[:, None] + 0.05 * rng.normal(size=(n, 2))
        lower[:, place] -= 0.2
        shares = np.concatenate([share, lower.ravel()])
        said[name] = (scale.low + shares * (scale.high - scale.low)).tolist()
    noise = 0.5 + 0.25 * rng.normal(size=3 * n)
    return rows, {**said, "blind": (100 * noise).tolist()}


SCALES = {**PERCENT, "blind": Scale(low=0, high=100)}


@pytest.mark.parametrize("rated", [False, True])
def test_judges_that_notice_different_changes_become_a_panel(rated):
    rows, said = changed(rated=rated)
    selection = PanelSelection("d_min", n_repeats=2)
    weights = selection.choose(rows, said, scales=SCALES)
    share = dict(zip(weights.members, weights.weights, strict=True))
    assert min(share["sees deletions"], share["sees negations"]) > 0.2
    assert share["blind"] < 0.3  # equal weights are 1/3
    values = {one.name: one.value for one in selection.trials_}
    assert max(values["equal"], values["greedy"]) > values["single"] + 1
    assert weights.scale == Scale(low=1, high=5)
    if not rated:  # as shares of the members' own scales
        assert weights.apply({"sees deletions": 100, "sees negations": 5, "blind": 100}) == 5


def test_rows_that_nobody_rated_take_scales_and_no_agreement():
    rows, said = changed()
    with pytest.raises(ValueError, match="give the scales of all members"):
        PanelSelection("d_avg").choose(rows, said)
    with pytest.raises(ValueError, match="these rows have no ratings, and q compares"):
        PanelSelection("q + d_avg").choose(rows, said, scales=SCALES)
    with pytest.raises(ValueError, match="expected one score per row"):
        PanelSelection("q").choose(changed(rated=True)[0], said)


@pytest.mark.no_cover
def test_a_panel_is_compiled_on_examples_with_versions():
    rows, _ = changed(n=30)
    examples = [
        rated_example(
            item,
            math.nan,
            rows.scale,
            group=int(group),
            versions=list(zip(KINDS, several, strict=True)),
        )
        for item, group, several in zip(rows.items, rows.groups, rows.versions, strict=True)
    ]
    selection = PanelSelection("d_avg", n_repeats=1)
    compiled = selection.compile(panel_of(1, 2), trainset=examples)
    assert {one.name for one in selection.trials_} == {"own", "single", "equal", "greedy"}
    assert compiled.weights.members == ("m1", "m2")


# greedy panel


def made(n=200, noise=(1.0, 1.0, 1.0), seed=0):
    """Return scores of judges that see the truth with noise of their own, and people's points."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    scores = np.column_stack([50 + 10 * (truth + s * rng.normal(size=n)) for s in noise])
    return scores, np.clip(3 + truth, 1, 5)


def value_of(scores, human):
    return lambda fit: pearson(human, fit.predict(scores))


def test_judges_with_noise_of_their_own_are_better_together():
    scores, human = made()
    members = Members.learned(scores, human, LIKERT)
    weights = greedy_weights(members, value_of(scores, human), n_rounds=20, allowed=range(3))
    assert (weights > 0.2).all()
    alone = [pearson(human, scores[:, k]) for k in range(3)]
    assert pearson(human, members.fitted(weights).predict(scores)) > max(alone) + 0.05


def test_a_judge_that_knows_nothing_gets_no_weight():
    scores, human = made(noise=(0.3, 30.0))
    members = Members.learned(scores, human, LIKERT)
    weights = greedy_weights(members, value_of(scores, human), n_rounds=20, allowed=range(2))
    assert weights[0] > 0.9


def test_missing_scores_leave_the_mean_and_are_never_zero():
    steps = np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, 3.0]])
    found = weighted_mean(steps, np.array([0.5, 0.5]))
    assert found[0] == 1
    assert np.isnan(found[1])
    assert found[2] == 2


def test_plain_numbers_score_as_the_fit_does():
    scores, human = made()
    scores[::7, 0] = np.nan
    scores[::11, 1] = np.nan
    scores[5] = np.nan
    fit = Members.learned(scores, human, LIKERT).fitted(np.array([0.5, 0.25, 0.25]))
    plain = fit.plain(["a", "b", "c"])
    for row, expected in zip(scores.tolist(), fit.predict(scores).tolist(), strict=True):
        given = {
            name: None if math.isnan(one) else one for name, one in zip("abc", row, strict=True)
        }
        found = plain.apply(given)
        assert (math.isnan(expected) and found is None) or found == pytest.approx(expected)


# Panels of annotators of which one invents errors: its place in the list, mean and weights.

LEVELS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
RUBRIC = {"criteria": {"truth": "Is it true to the source?"}}
FAULTS = {"at ten": "It left at nine.", "Oslo": "It was Bergen.", "Mr Ito": "She is a woman."}


def text_of(n):
    """Return a report with some of the faults, by a number from 0 to 7."""
    hour, city, who = (
        pair[n >> place & 1]
        for place, pair in enumerate((("nine", "ten"), ("Bergen", "Oslo"), ("Ms", "Mr")))
    )
    return f"On day {n} the ferry left at {hour}. {who} Ito sang. It was raining in {city}."


def rating(text):
    """Return what people would say: a level less for every fault."""
    return 5.0 - sum(fault in text for fault in FAULTS)


class Scripted:
    """A model that answers by a function of the response that it is shown."""

    endpoint = "scripted"

    def __init__(self, answer):
        self.say = answer

    def answer(self, request):
        """Answer in the form of annotators."""
        response = re.search(r"On day .*", request.user)[0]
        return ModelAnswer(text=self.say(response), input_tokens=1, output_tokens=1)


def report(errors, level):
    """Return an annotator's answer."""
    listed = [
        f'{k}. Location: "{words}"\n   Explanation: {why}\n   Severity: {severity}'
        for k, (words, why, severity) in enumerate(errors, start=1)
    ]
    told = "\n".join(listed) or "No Error"
    return f"Errors:\n{told}\n\nScore explanation: So it is.\nOverall score: {LEVELS[level - 1]}"


def careful(grade):
    """Return what an annotator says that finds the faults, and grades them in its own way."""

    def say(response):
        found = [(words, why, grade) for words, why in FAULTS.items() if words in response]
        return report(found, round(rating(response)))

    return say


def inventing(response):
    """Return what one says that quotes what is not there, and scores at random."""
    errors = [("a red balloon", "No balloon was there.", 5), ("ferry", "It was a boat.", 5)]
    return report(errors, 1 + number(response, most=3))


def panel(n_careful, supervisor):
    """Return annotators that each ask a model of their own, the last of which invents."""
    says = {f"careful {k}": careful(k + 1) for k in range(n_careful)} | {"eve": inventing}
    members = {}
    for name, say in says.items():
        members[name] = AnnotatorJudge(rubric=RUBRIC)
        stack = LMClient(Scripted(say), budget=Budget())
        members[name].set_lm(ClientLM.over(stack, "scripted", recipe={}))
    return PanelJudge(members, supervisor=supervisor)


def judged(judge, n):
    return score_batch(judge, [RatedItem(source="s", response=text_of(n))])[0]


@pytest.mark.parametrize("n_careful", [4, 2])
@pytest.mark.parametrize("supervisor", [None, Supervisor()])
def test_where_the_inventor_stands_apart_its_errors_leave_the_list_and_its_score_stays(
    n_careful, supervisor
):
    judge = panel(n_careful, supervisor)
    apart = [n for n in range(8) if rating(text_of(n)) - 1 - number(text_of(n), most=3) >= 2]
    assert apart
    for n in range(8):
        found = judged(judge, n)
        careful_score = 25 * (rating(text_of(n)) - 1)
        own = found.members["eve"]
        assert found.score == pytest.approx((n_careful * careful_score + own) / (n_careful + 1))
        assert found.outliers == ({"criterion:truth": ("eve",)} if n in apart else {})
        faults = [(words, n_careful) for words in FAULTS if words in text_of(n)]
        theirs = [] if n in apart else [("ferry", 5)]
        assert sorted((one.text, one.severity) for one in found.errors) == sorted(faults + theirs)
        assert all(one.located == "exact" for one in found.errors)
        flagged = [note.about for note in found.notes if note.kind == "left out"]
        assert flagged == ["eve/criterion:truth"]
        invented = found.annotations["eve"][0]
        assert (invented.text, invented.located) == ("a red balloon", "unresolved")


@pytest.mark.parametrize("n_careful", [4, 2])
def test_weights_are_learned_that_leave_the_inventor_out(n_careful):
    trainset = [
        dspy.Example(
            source=f"s{k}", response=text_of(k % 8), score=rating(text_of(k % 8)), scale=FIVE
        ).with_inputs("source", "response")
        for k in range(40)
    ]
    student = panel(n_careful, Supervisor())
    compiled = PanelSelection(n_repeats=2).compile(student, trainset=trainset)
    assert "eve" not in compiled.asked
    assert isinstance(compiled, PanelJudge)
    assert compiled.supervisor is not None
    found = judged(compiled, 7)
    assert {one.text for one in found.errors} == set(FAULTS)
    assert "eve" not in found.members


# table

LOST = Cause(Reason.OTHER, "lost")


def table(predicted):
    n = len(predicted)
    return PredictionTable(
        predicted=np.asarray(predicted, dtype=float),
        human=np.arange(n, dtype=float),
        sources=np.arange(n),
        systems=np.asarray(["a"] * n),
        problems=tuple(LOST if np.isnan(one) else None for one in predicted),
    )


def test_a_judgement_without_a_score_is_counted_and_keeps_its_reason():
    judgements = [Judgement(score=3.0), Judgement.unscored("cut off")]
    found = prediction_table(
        judgements, np.array([1.0, 2.0]), sources=np.arange(2), systems=np.array(["a", "a"])
    )
    assert np.isnan(found.predicted[1])
    assert found.problems == (None, Cause(Reason.OTHER, "cut off"))
    assert (found.n, found.n_unscored, found.share_scored) == (2, 1, 0.5)


def test_of_several_targets_the_one_with_fewest_scores_is_what_counts():
    both = PredictionTable.of_parts({"a": table([1.0, 2.0]), "b": table([1.0, np.nan])})
    assert (both.share_scored, both.least_scored) == (0.75, 0.5)
    assert table([1.0, np.nan]).least_scored == 0.5


def test_taken_rows_keep_all_their_columns_together():
    found = table([5.0, np.nan, 7.0]).take(np.array([2, 1]))
    assert found.human.tolist() == [2.0, 1.0]
    assert found.predicted[0] == 7.0
    assert found.problems == (None, LOST)


class TestSeveralTargets:
    @pytest.fixture
    def whole(self):
        return PredictionTable.of_parts(
            {"score": table([1.0, 2.0]), "wit": table([5.0, np.nan, 7.0])}
        )

    def test_parts_come_back_as_they_went_in(self, whole):
        first, second = whole.parts
        assert first.predicted.tolist() == [1.0, 2.0]
        assert second.predicted.tolist() == pytest.approx([5.0, np.nan, 7.0], nan_ok=True)
        assert second.problems == (None, LOST, None)
        assert first.targets == second.targets == ()
        assert second.parts == [second]

    def test_rows_that_are_taken_stay_with_their_targets(self, whole):
        found = whole.take(np.array([4, 0, 2]))
        assert found.targets == ("wit", "score", "wit")
        wit, score = found.parts
        assert (wit.predicted.tolist(), score.predicted.tolist()) == ([7.0, 5.0], [1.0])


class TestTheScoreOnACriterion:
    def judged(self, *criteria, human=(1.0, 2.0), target="Fact_Check", problem=None):
        judgements = [
            Judgement(score=None if problem else 9.0, problem=problem, criteria=one)
            for one in criteria
        ]
        labels = np.array(["a"] * len(human))
        return prediction_table(
            judgements, np.array(human), sources=labels, systems=labels, target=target
        )

    def test_a_gap_keeps_its_reason(self):
        gap = {"fact check": {"score": None, "explanation": "no score: lost"}}
        found = self.judged(gap, {"fact check": {"score": 4}})
        assert found.problems == (Cause(Reason.UNREADABLE, "lost"), None)
        assert found.n_unscored == 1

    def test_a_judge_that_does_not_score_it_says_so(self):
        found = self.judged({}, {"joy": {"score": 4}})
        assert {one.text for one in found.problems} == {"the judge gave no score on Fact_Check"}
        assert (
            self.judged({}, {}, problem="cut off").problems == (Cause(Reason.OTHER, "cut off"),) * 2
        )

    def test_a_criterion_counts_even_where_the_whole_has_no_score(self):
        found = self.judged(*[{"fact check": {"score": 4}}] * 2, problem="cut off")
        assert found.predicted.tolist() == [4.0, 4.0]
        assert found.problems == (None, None)

    def test_rows_that_nobody_rated_on_it_are_left_out(self):
        several = [{"fact check": {"score": n}} for n in range(3)]
        found = self.judged(*several, human=(1.0, np.nan, 3.0))
        assert (found.predicted.tolist(), found.human.tolist()) == ([0.0, 2.0], [1.0, 3.0])


def test_what_is_known_of_scales_and_calls_goes_with_the_rows():
    likert, percent = Scale(low=1, high=5), Scale(low=0, high=100)
    whole = replace(table([1.0, 2.0, 3.0]), n_calls=(1, 2, 3), scale=likert, judge_scale=percent)
    part = whole.take(np.array([2, 0]))
    assert (part.n_calls, part.scale, part.judge_scale) == ((3, 1), likert, percent)
    other = whole.predicting(whole.predicted)
    assert (other.n_calls, other.scale, other.judge_scale) == ((1, 2, 3), likert, None)


def test_targets_on_different_scales_keep_their_own():
    one, other = (
        replace(table([1.0, 2.0]), n_calls=(1, 1), scale=Scale(low=1, high=high)) for high in (5, 7)
    )
    alike = PredictionTable.of_parts({"score": one, "wit": one})
    assert (alike.scale, alike.n_calls) == (one.scale, (1, 1, 1, 1))
    mixed = PredictionTable.of_parts({"score": one, "wit": replace(other, n_calls=())})
    assert mixed.n_calls == ()
    assert mixed.scale == {"score": one.scale, "wit": other.scale}
    assert [part.scale for part in mixed.parts] == [one.scale, other.scale]
