"""A tampered ``judge.json``: the same judge, or ``SavedJudgeError``; nothing else is opened.

With a hash made to match, also another judge: then one that shows, compares and scores without a
fault of ours.
"""

import functools
import json

from draws import Draws, mutated, mutated_plain
from places import only_opening, scratch, written

from judgesmith.programs import ActiveCritic, SavedJudge, SavedJudgeError, score_batch
from judgesmith.programs.artifacts.card import judge_card
from judgesmith.programs.artifacts.differences import difference
from judgesmith.programs.artifacts.saved import GoldenItem, content_hash
from judgesmith.programs.lm import ModelError, model
from judgesmith.signatures import Aggregation, Demonstration, Judgement, RatedItem, Rubric, Scale

CHOICES = (
    {"variant": "vanilla"},
    {"variant": "fine", "criteria_calls": "separate"},
    {"variant": "fine", "overall": "mean"},
    {
        "variant": "coarse",
        "aggregation": Aggregation(
            kind="linear",
            terms=("overall", "lexical:unknown_names"),
            centers=(50, 0.1),
            spreads=(20, 0.5),
            weights=(1.5, -0.1),
            intercept=3,
            scale="1..5",
        ),
    },
)
ITEM = RatedItem(source="Ann left Rome on Monday.", response="Ann left.")


@functools.cache
def saved_judge(place: int) -> tuple[SavedJudge, bytes]:
    rubric = Rubric(
        task="Judge.",
        criteria={"fluency": "Is it well written?", "truth": "Is it true?"},
        provenance={"task": {"batches": [1]}, "batches": [{"rows": ["ab"]}]},
    )
    judge = ActiveCritic(rubric=rubric, **CHOICES[place])
    texts = {"source": "About Ann.", "context": None, "response": "Ann left."}
    if "grade" in judge.templates():
        shown = {"grade": (Demonstration(inputs=texts, outputs={"score": 70}),)}
        judge = judge.with_protocol(judge.protocol.model_copy(update={"demonstrations": shown}))
    estimate = {"value": 0.5, "low": 0.4, "high": 0.6, "confidence": 0.95, "n": 9}
    report = {"dataset": {"pearson": estimate, "q": estimate}, "sample": {"q": None}}
    golden = GoldenItem(
        source="s", response="r", judgement=Judgement(score=70, calls=("00",), raw=70)
    )
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale=Scale(low=1, high=5),
        agreement={
            "uncompiled": report,
            "heldout": report,
            "gain": estimate,
            "criteria": {"heldout": {"truth": report}, "uncompiled": {"truth": report}},
        },
        rows={"train": 3, "heldout": 9},
        seen={"train": ("ab",)},
        golden=(golden,),
        history=({"stage": "search", "value": 0.5},),
        settings={"seed": 0, "complete": False, "earlier": "ab", "run": "x", "compared": ["score"]},
    )
    content = (saved.save(scratch() / f"judge-{place}") / "judge.json").read_bytes()
    return saved, content


@functools.cache
def _lm():
    return model("offline", ledger=None)


def fuzz_one(data: bytes) -> None:
    """Load one judge with a few faults."""
    draws = Draws(data)
    original, content = saved_judge(draws.below(len(CHOICES)))
    rehashed = draws.flag()
    if rehashed:
        content = _rehashed(draws, content)
    elif draws.flag():
        content = mutated(draws, content)
    else:
        content = json.dumps(mutated_plain(draws, json.loads(content))).encode()
    path = written("judge.json", content)
    _warm()
    try:
        with only_opening(path):
            found = SavedJudge.load(path)
    except SavedJudgeError as fault:
        str(fault).encode("utf-8", "backslashreplace")
        assert len(str(fault)) < 5_000
        return
    if not rehashed:
        assert found == original
        assert found.fingerprint == original.fingerprint
        return
    _use(found, original)


def _rehashed(draws: Draws, content: bytes) -> bytes:
    document = json.loads(content)
    outside = {name: document.pop(name) for name in ("schema", "made_by", "content_hash")}
    for _ in range(1 + draws.below(2)):
        document = mutated_plain(draws, document)
    if not isinstance(document, dict):
        return json.dumps(document).encode()
    # A hash is taken of what a file says, and a file cannot say everything that Python can.
    document = json.loads(json.dumps(document))
    return json.dumps({**outside, "content_hash": content_hash(document), **document}).encode()


@functools.cache
def _warm() -> None:
    """Let everything be imported before it is watched what is opened."""
    saved_judge(0)
    SavedJudge.load(scratch() / "judge-0")


def _use(found: SavedJudge, original: SavedJudge) -> None:
    """Do with a loaded judge what the commands do."""
    judge_card(found)
    difference(original, found)
    json.dumps(found.model_dump(mode="json"))
    assert found.fingerprint
    for question in found.questions.values():
        question.as_text()
    if found.protocol.samples <= 5:
        try:
            (judgement,) = score_batch(found, [ITEM], lm=_lm())
        except ModelError:
            return  # the offline model says that it reads no such question
        assert (judgement.score is None) != (judgement.problem is None)
        scale = found.protocol.aggregation.scale
        assert judgement.score is None or scale.low <= judgement.score <= scale.high
    try:
        found.program()
    except SavedJudgeError:
        return
