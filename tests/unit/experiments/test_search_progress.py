import math

from judgesmith.experiments import CompileSettings
from judgesmith.experiments.compile.searching import SearchProgress
from judgesmith.experiments.compile.tuning import Tuning
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs.lm import model


def trial(number, value, n_rows=88):
    return TrialRecord(number=number, picked={}, value=value, n_rows=n_rows, share_scored=1.0)


def said_of(*trials, **budget):
    said = []
    progress = SearchProgress(
        lm=model("offline", ledger=None, **budget), n_trials=9, objective="q", told=said.append
    )
    for one in trials:
        progress(one)
    return said[-1]


def test_the_best_is_among_those_that_were_judged_on_all_rows():
    said = said_of(trial(0, 0.5), trial(1, 0.9, n_rows=20), trial(2, 0.6))
    assert said.startswith("2 of 9 tried, best q 0.600 (0.500 as it was), 0 calls")


def test_what_is_undefined_is_said_to_be():
    assert "q undefined as it was" in said_of(trial(0, math.nan))


def test_every_ceiling_is_named():
    said = said_of(trial(0, 0.5), max_calls=7, max_tokens=800, max_usd=1.5, max_minutes=2.5)
    assert said.endswith("0 of 7 calls, 0 of 800 tokens, $0.00 of 1.50, 0 of 2.5 minutes")


def test_a_compilation_tells_whoever_wants_words():
    class Told:
        def __init__(self):
            self.words = []

        def __call__(self, stage, n, total):
            """Count nothing."""

        def describe(self, stage, text):
            self.words.append((stage, text))

    told, lm = Told(), model("offline", ledger=None)
    settings = CompileSettings(optimizer="protocol", n_trials=3)
    work = Tuning(settings=settings, targets=("score",), lm=lm, concurrency=1, progress=told)
    work._on_trial()(trial(0, 0.25))
    assert told.words == [("protocol", "0 of 3 tried, q 0.250 as it was, 0 calls")]
    work.progress = lambda stage, n, total: None
    work._on_trial()(trial(0, 0.25))
    assert len(told.words) == 1
