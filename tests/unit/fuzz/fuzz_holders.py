"""A tampered panel or calibrated judge: the same one, or ``SavedJudgeError``; nothing else.

With a hash made to match, also another one: then one that shows, compares and scores without a
fault of ours.
"""

import functools
import json

import fuzz_judges
from draws import Draws, mutated_plain
from places import only_opening, scratch, written

from judgesmith.programs import (
    DirectJudge,
    SavedCalibrated,
    SavedJudge,
    SavedJudgeError,
    SavedPanel,
    load_saved,
    score_batch,
)
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.record import GoldenItem
from judgesmith.programs.lm import ModelError
from judgesmith.signatures import Scale
from judgesmith.signatures.aggregation import Calibration, PanelWeights

PEOPLES = Scale(low=1, high=5)
LEARNED = Calibration(
    thresholds=(1, 5),
    values=(2, 4),
    scale=PEOPLES,
    margin=0.5,
    confidence=0.9,
    n_map=40,
    n_sources_map=20,
    n_margin=40,
    n_sources_margin=20,
    abstention={
        "doubt": "members",
        "keeps": "below",
        "limit": 0.7,
        "wished": 0.9,
        "risk": 0.6,
        "coverage": 0.8,
        "confidence": 0.9,
        "n": 40,
        "n_sources": 20,
    },
)
WEIGHTS = PanelWeights(
    members=("critic", "direct"),
    centers=(50, 50),
    spreads=(20, 20),
    weights=(2, 1),
    limit=3,
    slope=1,
    intercept=3,
    scale=PEOPLES,
)


@functools.cache
def saved_holder() -> tuple[SavedCalibrated, bytes]:
    critic, _ = fuzz_judges.saved_judge(0)
    judge = DirectJudge()
    direct = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale=PEOPLES,
    )
    panel = SavedPanel(
        members={"critic": critic, "direct": direct},
        weights=WEIGHTS,
        target="overall",
        human_scale=PEOPLES,
        seen={"select": ("cd",)},
    )
    report = {"n": 9, "n_sources": 3, "covered": 0.9, "kept": 0.8, "distance": 0.5}
    plain = SavedCalibrated(
        members={"judge": panel},
        calibration=LEARNED,
        target="overall",
        human_scale=PEOPLES,
        agreement={"calibration": report},
    )
    (judgement,) = score_batch(plain, [fuzz_judges.ITEM], lm=fuzz_judges._lm())
    golden = GoldenItem(source="s", response="r", judgement=judgement)
    saved = plain.model_copy(update={"golden": (golden,)})
    content = (saved.save(scratch() / "holder") / "judge.json").read_bytes()
    return saved, content


def fuzz_one(data: bytes) -> None:
    """Load one calibrated panel with a few faults."""
    draws = Draws(data)
    original, content = saved_holder()
    rehashed = draws.flag()
    if rehashed:
        content = fuzz_judges._rehashed(draws, content)
    else:
        content = json.dumps(mutated_plain(draws, json.loads(content))).encode()
    path = written("judge.json", content)
    load_saved(scratch() / "holder")  # lets everything be imported before it is watched
    try:
        with only_opening(path):
            found = load_saved(path)
    except SavedJudgeError as fault:
        str(fault).encode("utf-8", "backslashreplace")
        assert len(str(fault)) < 5_000
        return
    if not rehashed:
        assert found == original
        return
    judge_card(found)
    difference(original, found)
    json.dumps(found.model_dump(mode="json"))
    for _, question in found.asked_questions():
        question.as_text()
    if getattr(found, "calls_per_item", 0) <= 20:
        try:
            (judgement,) = score_batch(found, [fuzz_judges.ITEM], lm=fuzz_judges._lm())
        except ModelError:
            return  # the offline model says that it reads no such question
        assert (judgement.score is None) != (judgement.problem is None)
