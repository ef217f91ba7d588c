import asyncio

import pytest
from optimizing import lm_of

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.ensemble.judges import Calibrated, Panel, judgement_of
from judgesmith.programs.families.ensemble.members import (
    CalibratedJudgement,
    PanelJudgement,
    calibrated,
    doubt_of,
)
from judgesmith.signatures import CriterionScore, Judgement
from judgesmith.signatures.aggregation import Abstention, Calibration
from judgesmith.signatures.items import RatedItem

ITEM = RatedItem(source="The bridge opened on Monday.", response="It opened on Monday.")
TEXTS = {"source": ITEM.source, "response": ITEM.response}


def learned(**changes):
    plain = {
        "thresholds": (0, 100),
        "values": (1, 5),
        "scale": "1..5",
        "margin": 0.5,
        "confidence": 0.9,
        "n_map": 40,
        "n_sources_map": 20,
        "n_margin": 40,
        "n_sources_margin": 20,
    }
    return Calibration(**{**plain, **changes})


def rule(**changes):
    plain = {
        "doubt": "members",
        "keeps": "below",
        "limit": 15,
        "wished": 0.6,
        "coverage": 0.7,
        "confidence": 0.9,
        "n": 80,
        "n_sources": 40,
    }
    return Abstention(**{**plain, **changes})


def vanilla(score):
    judge = ActiveCritic(variant="vanilla")
    judge.set_lm(lm_of(lambda user, shown, system: score))
    return judge


def test_a_score_comes_back_on_peoples_scale_with_its_interval():
    (found,) = score_batch(Calibrated(vanilla(75), learned()), [ITEM])
    assert (found.score, found.low, found.high, found.uncalibrated) == (4, 3.5, 4.5, 75)
    assert not found.abstained


def test_a_panel_that_disagrees_leaves_the_text_to_people():
    judge = Calibrated(Panel({"a": vanilla(20), "b": vanilla(80)}), learned(abstention=rule()))
    (found,) = score_batch(judge, [ITEM])
    assert found.score is None
    assert found.abstained
    assert "the members lie 30 points apart" in found.problem
    assert (found.low, found.high) == pytest.approx((2.5, 3.5))


def test_a_panel_that_agrees_is_kept():
    judge = Calibrated(Panel({"a": vanilla(70), "b": vanilla(80)}), learned(abstention=rule()))
    (found,) = score_batch(judge, [ITEM])
    assert found.score == pytest.approx(4)
    assert found.doubt == pytest.approx(5)


def test_an_unscored_text_stays_unscored_for_the_judges_own_reason():
    found = calibrated(Judgement.unscored("cut off"), learned(abstention=rule()))
    assert (found.score, found.problem, found.abstained, found.low) == (
        None,
        "cut off",
        False,
        None,
    )


def test_criteria_and_calls_are_those_of_the_judge():
    judge = ActiveCritic()
    plain, found = (
        score_batch(judge, [ITEM])[0],
        score_batch(Calibrated(judge, learned()), [ITEM])[0],
    )
    assert found.criteria == plain.criteria
    assert found.calls == plain.calls
    assert found.explanation == plain.explanation


def test_a_call_and_many_items_give_the_same_judgement():
    judge = Calibrated(ActiveCritic(), learned())
    (many,) = score_batch(judge, [ITEM])
    assert judgement_of(judge(**TEXTS)) == judgement_of(asyncio.run(judge.acall(**TEXTS))) == many
    assert isinstance(many, CalibratedJudgement)


def test_a_panel_may_hold_calibrated_judges_and_takes_their_scale():
    panel = Panel({"a": Calibrated(vanilla(75), learned()), "b": vanilla(25)})
    assert score_batch(panel, [ITEM])[0].score == pytest.approx(50)


def test_doubt_is_undefined_where_nothing_tells():
    one = {"x": CriterionScore(score=40), "y": CriterionScore(score=None)}
    assert doubt_of(Judgement(score=5, criteria=one), "criteria") is None
    assert doubt_of(Judgement(score=5), "members") is None
    assert doubt_of(PanelJudgement(score=5, disagreement=2), "members") == 2


def test_state_goes_out_and_in():
    judge = Calibrated(ActiveCritic(), learned(abstention=rule()))
    other = Calibrated(ActiveCritic(), learned(margin=None))
    other.load_state(judge.dump_state())
    assert other.calibration == judge.calibration
    assert other.fingerprint == judge.fingerprint
