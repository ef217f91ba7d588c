import math

import dspy
import numpy as np
import pytest
from optimizing import examples

from judgesmith.optimizers.fitting.calibrating import Calibrator
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.ensemble.judges import Calibrated, Panel
from judgesmith.programs.families.ensemble.members import PanelJudgement, calibrated
from judgesmith.signatures import Judgement, Scale
from judgesmith.signatures.aggregation import Calibration

LIKERT = Scale(low=1, high=5)


def judged(n_sources, *, rng, per_source=3, way=lambda truth: 50 + 15 * truth, first=0):
    """Return rated rows and a panel's judgements; doubt says how far off a score may be."""
    source = np.repeat(np.arange(n_sources), per_source)
    truth = rng.normal(size=n_sources)[source] * 0.5 + rng.normal(size=len(source)) * 0.8
    doubt = rng.choice([1.0, 20.0], size=len(source))
    seen = truth + np.where(doubt > 10, 2.0, 0.15) * rng.normal(size=len(source))
    human = np.clip(3 + truth, 1, 5)
    rows = rows_of(
        [
            dspy.Example(source="s", response=f"{first}-{k}", score=x, group=f"{first}-{s}")
            for k, (s, x) in enumerate(zip(source, human.tolist(), strict=True))
        ],
        LIKERT,
    )
    said = [
        PanelJudgement(score=float(way(x)), disagreement=float(d))
        for x, d in zip(seen, doubt, strict=True)
    ]
    return rows, said


def learn(calibrator, rng, n_sources=40, **more):
    first = judged(n_sources, rng=rng, first=1, **more)
    second = judged(n_sources, rng=rng, first=2, **more)
    return calibrator.learned(*first, *second)


def kept(calibration, rows, said):
    found = [calibrated(one, calibration) for one in said]
    held = [
        abs(one.score - human) for one, human in zip(found, rows.human, strict=True)
        if one.score is not None
    ]  # fmt: skip
    return found, held


@pytest.mark.no_cover
def test_intervals_hold_what_people_say_about_as_often_as_they_claim():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(60):
        found = learn(Calibrator(shape="line", confidence=0.8), rng, n_sources=25)
        rows, said = judged(20, rng=rng, first=3)
        for one, human in zip(said, rows.human, strict=True):
            judgement = calibrated(one, found)
            inside.append(judgement.low <= human <= judgement.high)
    assert 0.79 <= np.mean(inside) <= 0.87


def test_too_few_sources_for_the_confidence_leave_the_whole_scale():
    rng = np.random.default_rng(1)
    first, second = judged(20, rng=rng, first=1), judged(5, rng=rng, first=2)
    found = Calibrator(confidence=0.9).learned(*first, *second)
    assert found.margin is None
    assert found.interval(3) == (1, 5)


def test_kept_scores_lie_as_close_to_people_as_was_wished():
    rng = np.random.default_rng(2)
    found = learn(Calibrator(within=0.6), rng, n_sources=150)
    assert found.abstention.keeps == "below"
    assert 1 < found.abstention.limit <= 20
    rows, said = judged(200, rng=rng, first=3)
    judgements, distances = kept(found, rows, said)
    assert np.mean(distances) < 0.6
    assert 0.4 < np.mean([one.abstained for one in judgements]) < 0.6
    all_points = np.array([found.apply(one.score) for one in said])
    assert np.mean(distances) < 0.8 * np.mean(np.abs(all_points - rows.human))


def test_a_wish_that_cannot_be_certified_leaves_every_text_to_people():
    found = learn(Calibrator(within=0.01), np.random.default_rng(3))
    assert found.abstention.keeps == "none"
    assert calibrated(PanelJudgement(score=50, disagreement=0.1), found).abstained


def test_a_wish_that_every_text_meets_keeps_all():
    found = learn(Calibrator(within=3.0), np.random.default_rng(3))
    assert found.abstention.keeps == "all"
    assert not calibrated(PanelJudgement(score=50, disagreement=99), found).abstained


def test_a_bent_scale_is_followed_by_a_curve_and_a_straight_one_by_a_line():
    rng = np.random.default_rng(4)
    bent = learn(Calibrator(), rng, n_sources=150, way=lambda x: 100 / (1 + math.exp(-4 * x - 6)))
    straight = learn(Calibrator(), rng, n_sources=10)
    assert len(bent.thresholds) > 2
    assert len(straight.thresholds) == 2


def test_a_line_changes_no_order_over_the_scores_that_were_seen():
    found = learn(Calibrator(shape="line"), np.random.default_rng(5))
    inside = np.linspace(30, 70, 9)
    assert (np.diff([found.apply(x) for x in inside]) > 0).all()


def test_a_line_is_the_one_of_least_squares():
    rng = np.random.default_rng(6)
    first, second = judged(40, rng=rng, first=1), judged(40, rng=rng, first=2)
    found = Calibrator(shape="line").learned(*first, *second)
    x = [one.score for one in first[1]]
    slope, intercept = np.polyfit(x, first[0].human, 1)
    for score in (40.0, 50.0, 60.0):
        assert found.apply(score) == pytest.approx(slope * score + intercept)


def test_a_judge_that_orders_the_wrong_way_round_is_worth_the_mean():
    found = learn(
        Calibrator(shape="line"), np.random.default_rng(7), way=lambda truth: 50 - 15 * truth
    )
    assert len(found.values) == 1


def test_compiling_keeps_what_each_number_was_learned_from_apart():
    trainset = examples(range(40))
    judge = ActiveCritic()
    found = Calibrator(shape="line").compile(judge, trainset=trainset)
    assert isinstance(found, Calibrated)
    c = found.calibration
    assert (c.n_sources_map, c.n_sources_margin) == (20, 20)
    assert (c.n_map, c.n_margin) == (40, 40)
    assert found.judge is not judge
    assert found.scale == LIKERT
    assert judge.protocol == found.judge.protocol


@pytest.mark.no_cover
def test_compiling_twice_gives_the_same_judge_and_leaves_the_student_as_it_was():
    trainset = examples(range(40))
    student = Panel({"a": ActiveCritic(), "b": ActiveCritic(variant="vanilla")})
    before = student.dump_state()
    once, again = (Calibrator(within=3).compile(student, trainset=trainset) for _ in "ab")
    assert student.dump_state() == before
    assert once.dump_state() == again.dump_state()
    assert once.calibration.abstention.doubt == "members"


def test_a_panel_of_one_member_is_doubted_by_its_criteria():
    panel = Panel({"a": ActiveCritic()})
    found = Calibrator(within=3).compile(panel, trainset=examples(range(40)))
    assert found.calibration.abstention.doubt == "criteria"


@pytest.mark.no_cover
def test_a_calibrated_judge_is_calibrated_anew_not_twice():
    trainset = examples(range(40))
    once = Calibrator().compile(ActiveCritic(), trainset=trainset)
    assert not isinstance(Calibrator().compile(once, trainset=trainset).judge, Calibrated)


def test_a_valset_brings_the_rows_of_the_margin_and_shares_no_source():
    judge = ActiveCritic()
    found = Calibrator().compile(
        judge, trainset=examples(range(20)), valset=examples(range(20, 50))
    )
    assert (found.calibration.n_sources_map, found.calibration.n_sources_margin) == (20, 30)
    with pytest.raises(ValueError, match="share 1 sources, such as '19'"):
        Calibrator().compile(judge, trainset=examples(range(20)), valset=examples(range(19, 50)))


def test_unscored_rows_are_left_out_of_both_parts():
    rng = np.random.default_rng(8)
    (rows, said), second = judged(20, rng=rng, first=1), judged(20, rng=rng, first=2)
    said = [Judgement.unscored("cut off") if k < 6 else one for k, one in enumerate(said)]
    found = Calibrator().learned(rows, said, second[0], [*second[1][:-1], said[0]])
    assert (found.n_map, found.n_margin) == (54, 59)
    assert found.n_sources_map == 18


def test_refuses_what_nothing_can_be_learned_from():
    judge = ActiveCritic()
    with pytest.raises(TypeError, match="expected a judge"):
        Calibrator().compile(dspy.Predict("source -> score"), trainset=examples(range(9)))
    with pytest.raises(ValueError, match="no rated items"):
        Calibrator().compile(judge, trainset=[])
    with pytest.raises(ValueError, match="drop teacher"):
        Calibrator().compile(judge, trainset=examples(range(40)), teacher=judge)
    with pytest.raises(ValueError, match="needs 20 scored rows that differ"):
        Calibrator().compile(judge, trainset=examples(range(10)))
    with pytest.raises(ValueError, match="has two members or two criteria with a score"):
        Calibrator(within=1).compile(ActiveCritic(variant="vanilla"), trainset=examples(range(40)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": 1}, "confidence must be between 0 and 1"),
        ({"share": 0}, "share must be between"),
        ({"within": 0}, "within must be above 0"),
        ({"shape": "wave"}, "line, curve or auto"),
    ],
)
def test_refuses_impossible_settings_on_the_spot(settings, message):
    with pytest.raises(ValueError, match=message):
        Calibrator(**settings)


def test_what_was_learned_is_plain_numbers():
    found = learn(Calibrator(within=0.5), np.random.default_rng(9))
    assert Calibration.model_validate_json(found.model_dump_json()) == found


@pytest.mark.no_cover
def test_live_judgements_are_those_that_were_learned_from():
    trainset = examples(range(40))
    found = Calibrator(shape="line").compile(ActiveCritic(), trainset=trainset)
    rows = rows_of(trainset)
    plain = score_batch(ActiveCritic(), rows.items)
    again = score_batch(found, rows.items)
    assert [one.uncalibrated for one in again] == [one.score for one in plain]
