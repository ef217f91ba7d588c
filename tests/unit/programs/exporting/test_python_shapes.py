"""An exported file reads 150 shapes of answers as its judge does, or leaves the text unscored.

The offline model answers; its answers are rewritten into each shape before they are read.
"""

import re
from types import SimpleNamespace

import answer_shapes
import pytest
from exporting import saved_of

from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.python_file import loaded
from judgesmith.programs.judging.runner import judge_items
from judgesmith.programs.lm import ModelRequest
from judgesmith.programs.lm.records import Message, Prefix
from judgesmith.programs.offline.engine import OfflineEngine
from judgesmith.signatures import RatedItem, Scale

pytestmark = pytest.mark.no_cover

RUBRIC = {"criteria": {"fluency": "Is it well written?", "Fact_Check": "Is it true?"}}
JUDGES = {
    "active-critic": {},
    "active-critic, separate": {"criteria_calls": "separate"},
    "active-critic, coarse": {"variant": "coarse"},
    "active-critic, vanilla": {"variant": "vanilla"},
    "active-critic, scores alone": {"explain": "none"},
    "direct": {},
    "direct, words": {"answers": Scale.categorical("poor", "fair", "good")},
    "g-eval": {"weighting": "none"},
    "explain-eval": {},
    "checklist": {"weighting": "none"},
}
NAMES = tuple(answer_shapes.SHAPES)
STRICTER = {name for name in NAMES if name.endswith("long prose")}
"""Shapes that the file asks about again: their prose has numbers and brackets of its own."""


def items():
    return [
        RatedItem(source=f"Ann left Rome on day {n}.", response=f"Shape {n}: Ann went away.")
        for n in range(len(NAMES))
    ]


def reshaped(text, user):
    n = int(re.findall(r"(?:Shape|day) (\d+)", user)[-1])
    return answer_shapes.shaped(text, NAMES[n])


def plain(messages):
    *before, last = messages
    turns = [Message(one["role"], one["content"]) for one in before]
    request = ModelRequest(model="offline", prefix=Prefix(turns), user=last["content"])
    return OfflineEngine().answer(request).text


class Reshaping:
    """A client that answers in another shape for each text."""

    def __init__(self):
        self.chat = SimpleNamespace(completions=self)

    def create(self, *, messages, **options):
        text = reshaped(plain(messages), messages[-1]["content"])
        message = SimpleNamespace(content=text, refusal=None)
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice])


@pytest.mark.parametrize("name", JUDGES)
def test_the_file_gives_the_score_of_the_judge_or_none(name, scripted, tmp_path):
    family = name.partition(",")[0]
    saved = saved_of(family, **{"rubric": RUBRIC, **JUDGES[name]})
    module = loaded(export_judge(saved, "python", tmp_path / "judge.py").place)
    engine = OfflineEngine()
    lm, _ = scripted(lambda request: reshaped(engine.answer(request).text, request.user))
    own = judge_items(saved, items(), lm=lm)
    unread = set()
    for shape, item, judgement in zip(NAMES, items(), own, strict=True):
        row = module.judge(source=item.source, response=item.response, client=Reshaping())
        assert judgement.score is not None
        if row["score"] is None:
            assert "could not be read" in row["problem"]
            unread.add(shape)
            continue
        assert row["score"] == judgement.score, shape
        scores = {one: found.score for one, found in judgement.criteria.items()}
        assert {one: found["score"] for one, found in row["criteria"].items()} == scores, shape
    assert unread <= STRICTER
    assert len(STRICTER) == 10
