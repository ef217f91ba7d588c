import math

import dspy
import numpy as np
import pytest
from optimizing import examples, lm_of, number

from judgesmith.metrics import q
from judgesmith.optimizers.fitting.panels import PanelSelection, unpredicted
from judgesmith.optimizers.rows import rated_example, rows_of
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.ensemble.judges import Panel
from judgesmith.signatures import Demonstration, RatedItem, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.perturbation import Perturbation

LIKERT = Scale(low=1, high=5)
VANILLA = {"variant": "vanilla"}


def recorded(n=240, noise=(1.0, 1.0), seed=0, per_source=4):
    """Return rated rows and what judges said that see the truth with noise of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    human = np.clip(3 + truth, 1, 5)
    rows = rows_of(
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


@pytest.mark.no_cover
def test_weights_that_nothing_was_fitted_for_have_no_optimism():
    rows, said = recorded()
    scales = dict.fromkeys(said, Scale(low=0, high=100))
    selection = PanelSelection(n_repeats=2)
    selection.choose(rows, said, own=PanelWeights.equal(scales))
    assert selection.trials_[0].name == "own"
    assert selection.trials_[0].optimism == 0


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
    rows = rows_of(trainset)
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


def test_takes_a_panel_and_no_other_judge():
    with pytest.raises(TypeError, match="expected a Panel of judges; got ActiveCritic"):
        PanelSelection().compile(ActiveCritic(), trainset=examples(range(5)))


def test_refuses_a_teacher_a_valset_and_impossible_settings():
    with pytest.raises(ValueError, match="cross-fits within trainset"):
        PanelSelection().compile(panel_of(1), trainset=examples(range(5)), valset=examples([9]))
    with pytest.raises(ValueError, match="n_rounds"):
        PanelSelection(n_rounds=0)
    with pytest.raises(ValueError, match="2 folds"):
        PanelSelection(n_folds=1)
    with pytest.raises(ValueError, match="no rated items"):
        PanelSelection().compile(panel_of(1), trainset=[])


def test_what_a_panel_is_chosen_by_knows_the_scale_people_rated_on():
    rows, _ = recorded(n=8)
    assert unpredicted(rows).scale == LIKERT


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
    rows = rows_of(examples)
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


def test_one_that_notices_all_that_others_notice_comes_back_alone():
    rows, said = changed()
    del said["sees negations"]
    selection = PanelSelection("d_avg", n_repeats=2)
    assert selection.choose(rows, said, scales=SCALES).asked == ("sees deletions",)


def test_rows_that_nobody_rated_take_scales_and_no_agreement():
    rows, said = changed()
    with pytest.raises(ValueError, match="give the scales of all members"):
        PanelSelection("d_avg").choose(rows, said)
    with pytest.raises(ValueError, match="nobody rated these rows, and q compares"):
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
