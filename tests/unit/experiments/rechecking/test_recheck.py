"""A planted change of the model is found in each of 20 rechecks, and sampling noise in none.

The model reads a quality off the text and answers with noise that is drawn anew for every request,
as a model does at a temperature above 0; what it was changed to is planted on top.
"""

import math
import re

import numpy as np
import pytest

from judgesmith.experiments.monitor.recheck_rule import RecheckSettings
from judgesmith.experiments.monitor.rechecking import RecheckError, recheck_judge
from judgesmith.programs import DirectJudge, SavedJudge, score_batch
from judgesmith.programs.artifacts.saved import GoldenItem
from judgesmith.programs.lm import ModelAnswer, ResponseCache, lm_client_of, model
from judgesmith.signatures import Judgement, RatedItem, Scale

N_RUNS = 20
ITEMS = [
    RatedItem(source="Which?", response=f"An answer of quality {quality}.")
    for quality in np.linspace(10, 90, 20).round().astype(int)
]
POINTS = 100


class Noisy:
    """Scores a text by the quality it names, with noise, after some change."""

    endpoint = "noisy"

    def __init__(self, rng, change=lambda points: points, noise=4.0):
        self.rng, self.change, self.noise = rng, change, noise
        self.n_asked = 0

    def answer(self, request):
        self.n_asked += 1
        quality = int(re.findall(r"of quality (\d+)", request.user)[-1])
        points = self.change(quality + self.rng.normal(0, self.noise))
        said = "I'd rather not." if points is None else round(min(max(points, 0), POINTS))
        text = f"[[ ## score ## ]]\n{said}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def asked(engine, ledger=None):
    lm = model("offline", ledger=ledger)
    stack = lm_client_of(lm)
    stack.engine = stack._sender._engine = engine
    return lm


def made(rng, **parts):
    """Return a judge whose golden items are what the unchanged model said once."""
    judge = DirectJudge()
    judgements = score_batch(judge, ITEMS, lm=asked(Noisy(rng)))
    given = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
        "golden": tuple(map(GoldenItem.of, ITEMS, judgements)),
    }
    return SavedJudge(**{**given, **parts})


def rechecks(change, **noise):
    """Return 20 rechecks of 20 judges."""
    found = []
    for run in range(N_RUNS):
        rng = np.random.default_rng([run, 5])
        engine = Noisy(rng, change, **noise)
        found.append(recheck_judge(made(rng), lm=asked(engine)))
        assert engine.n_asked >= 3 * len(ITEMS)
    return found


@pytest.mark.no_cover
def test_sampling_noise_is_no_drift_in_20_runs():
    found = rechecks(lambda points: points)
    assert sum(one.drifted for one in found) == 0
    assert np.mean([one.noise for one in found]) == pytest.approx(0.04, abs=0.005)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("change", "by"),
    [
        (lambda points: points - 15, {"shift", "moves"}),
        (lambda points: 50 + 0.3 * (points - 50), {"moves"}),
        (lambda points: 100 - points, {"moves"}),
        (lambda points: None, {"unscored"}),
        (lambda points: 50, {"moves", "alike"}),
    ],
    ids=["lower", "near the middle", "upside down", "no answer", "always the same"],
)
def test_a_planted_change_is_found_in_20_of_20_runs(change, by):
    found = rechecks(change)
    assert sum(one.drifted for one in found) == N_RUNS
    for one in found:
        assert {check.name for check in one.checks if check.drifted} >= by


def test_everything_is_asked_anew_whatever_is_on_record(tmp_path):
    rng = np.random.default_rng(0)
    judge, engine = made(rng), Noisy(rng)
    lm = asked(engine, ResponseCache(tmp_path / "ledger.sqlite"))
    for n_asked in (60, 120):
        recheck_judge(judge, lm=lm)
        assert engine.n_asked == n_asked
    for _ in range(2):
        recheck_judge(judge, lm=lm, first_round=1)
        assert engine.n_asked == 180


def test_what_moved_is_said_in_points_and_shares():
    rng = np.random.default_rng(0)
    found = recheck_judge(made(rng), lm=asked(Noisy(rng, lambda points: points - 20)))
    (first, *_) = found.largest(3)
    assert first.change == pytest.approx((np.mean(first.now) - first.before) / POINTS)
    assert abs(first.change) >= max(abs(one.change) for one in found.items)
    told = found.to_dict()
    assert told["drifted"] is True
    assert told["shift"]["high"] < -0.05
    assert [one["drifted"] for one in told["checks"]] == [True, True, False, False]


def test_missing_scores_are_no_zeros():
    rng = np.random.default_rng(0)
    engine = Noisy(rng, lambda points: None if points > 50 else points)
    found = recheck_judge(made(rng), lm=asked(engine))
    assert found.unscored.value == pytest.approx(0.5, abs=0.1)
    assert abs(found.shift.value) < 0.05
    gone = found.largest(1)[0]
    assert math.isnan(gone.change)
    assert "could not be read" in gone.problem


def test_asked_once_single_items_are_not_told_from_chance():
    rng = np.random.default_rng(0)
    found = recheck_judge(made(rng), RecheckSettings(samples=1), lm=asked(Noisy(rng)))
    assert (found.drifted, math.isnan(found.moves.value)) == (False, True)
    lower = Noisy(rng, lambda points: points - 20)
    assert recheck_judge(made(rng), RecheckSettings(samples=1), lm=asked(lower)).drifted


def test_each_of_four_checks_has_a_fourth_of_the_chance_to_be_wrong_at_the_end_that_counts():
    rng = np.random.default_rng(0)
    found = recheck_judge(made(rng), RecheckSettings(confidence=0.9), lm=asked(Noisy(rng)))
    assert found.shift.confidence == pytest.approx(0.975)  # both ends count
    assert found.moves.confidence == found.unscored.confidence == pytest.approx(0.95)


def test_a_budget_that_ends_too_early_is_no_verdict():
    lm = model("offline", ledger=None, max_calls=30)
    with pytest.raises(RecheckError, match=r"not asked: .*larger budget"):
        recheck_judge(made(np.random.default_rng(0)), lm=lm)


@pytest.mark.parametrize("n", [0, 2])
def test_a_judge_with_too_few_golden_items_is_refused(n):
    golden = (GoldenItem(source="s", response="r", judgement=Judgement(score=1)),) * n
    with pytest.raises(RecheckError, match="at least 3 with a score are needed"):
        recheck_judge(made(np.random.default_rng(0), golden=golden))


@pytest.mark.parametrize(
    "wrong", [{"samples": 0}, {"tolerance": 1}, {"confidence": 1}, {"unscored": -0.1}]
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RecheckSettings(**wrong)
