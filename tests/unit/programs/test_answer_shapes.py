"""Every family of judges, and task inference, reads 150 shapes of answers like the asked one.

The offline model answers; its answers are rewritten into each shape before they are read.
"""

import re

import answer_shapes
import pytest

from judgesmith.programs import score_batch
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.judging.registry import family_of
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
    "exemplar": {"levels": 3},
    "g-eval": {"weighting": "none"},
    "explain-eval": {},
    "checklist": {"weighting": "none"},
    "pairs": {"weighting": "none"},
    "annotator": {},
    "prometheus": {},
    "themis": {},
    "auto-j": {},
    "distilled": {},
}
MARKS = {"prometheus": "feedback", "themis": "analysis", "auto-j": "critique"}
NAMES = tuple(answer_shapes.SHAPES)


def judge_called(name):
    family = family_of(name.partition(",")[0])
    rubric = {} if name == "distilled" else {"rubric": RUBRIC}
    return family.judge_of(family.protocol_class.model_validate({**rubric, **JUDGES[name]}))


def items(name):
    """Return one text for every shape; two where texts are compared."""
    said = (
        ("Ann went away. She sang.", "Cats ate hats.") if name == "pairs" else ("Ann went away.",)
    )
    return [
        RatedItem(source=f"Ann left Rome on day {n}.", response=f"Shape {n}: {one}")
        for n in range(len(NAMES))
        for one in said
    ]


def reshaped(name, text, n):
    shape = NAMES[n % len(NAMES)]
    if name in MARKS:
        words, _, said = re.match(r"(?s)(.*?)(\[RESULT\]|Rating:)\W*(\w+)", text).groups()
        text = f"[[ ## {MARKS[name]} ## ]]\n{words.strip()}\n\n[[ ## score ## ]]\n{said}"
    return answer_shapes.shaped(text, shape)


@pytest.mark.parametrize("name", JUDGES)
def test_every_family_reads_every_shape(name, scripted):
    engine = OfflineEngine()
    counted = []

    def plain(request):
        return engine.answer(request).text

    def other(request):
        n = int(re.findall(r"(?:Shape|day) (\d+)", request.user)[-1])
        counted.append(n)
        return reshaped(name, plain(request), n)

    judge = judge_called(name)
    usual = score_batch(judge, items(name), lm=scripted(plain)[0])
    found = score_batch(judge, items(name), lm=scripted(other)[0])
    several = [shape for shape in NAMES for _ in range(len(found) // len(NAMES))]
    lost = [
        (shape, one.problem)
        for shape, one, was in zip(several, found, usual, strict=True)
        if one.score != was.score or [e.text for e in one.errors] != [e.text for e in was.errors]
    ]
    assert not lost
    assert counted
    assert all(one.score is not None for one in usual)


def test_task_inference_reads_every_shape(scripted):
    engine = OfflineEngine()
    rows = [RatedItem(source=f"Day {n}.", response=f"Ann went away {n} times.") for n in range(6)]
    infer = TaskInference(batch_size=3, n_batches=2)

    def inferred(lm):
        rubric = infer(items=rows, scores=[10.0 * n for n in range(6)], lm=lm)
        return rubric.task, rubric.criteria, rubric.provenance.get("notes")

    usual = inferred(scripted(lambda request: engine.answer(request).text)[0])
    for name in NAMES:
        lm, _ = scripted(
            lambda request, name=name: answer_shapes.shaped(engine.answer(request).text, name)
        )
        assert inferred(lm) == usual, name
