"""A judge that was exported for DSPy is a program like any other, with the judge's scores."""

import runpy
import sys

import dspy
import pytest
from exporting import TEXTS, calibrated_of, panel_of, saved_of

from judgesmith.programs.exporting.dspy_program import DspyProgram, load_program
from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.lm import model
from judgesmith.signatures.items import Demonstration

SHOWN = {"grade": (Demonstration(inputs={"source": "a", "response": "b"}, outputs={"score": 40}),)}


JUDGES = {
    "active-critic": lambda: saved_of(samples=3, temperature=0.7),
    "with demonstrations": lambda: saved_of(
        variant="vanilla", demonstrations=SHOWN, instructions={"grade": "Grade it, and be kind."}
    ),
    "g-eval": lambda: saved_of("g-eval"),
    "panel": lambda: panel_of(a=saved_of(variant="vanilla"), b=saved_of("direct", answers="1..5")),
    "calibrated annotator": lambda: calibrated_of(saved_of("annotator")),
}


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES)
def test_the_program_judges_golden_items_as_the_judge_does(make, tmp_path):
    done = export_judge(make(), "dspy", tmp_path / "program")
    assert done.verified.differences == ()
    assert done.verified.n_equal == len(TEXTS)
    assert not [one for one in done.place.iterdir() if one.suffix in (".pkl", ".pickle")]


@pytest.fixture
def program(tmp_path, vanilla):
    return load_program(export_judge(vanilla, "dspy", tmp_path / "program").place / "program.json")


@pytest.fixture
def rated():
    """The texts as examples of DSPy, with ratings."""
    fields = ("source", "context", "response")
    return [
        dspy.Example(**{name: getattr(one, name) for name in fields}, score=score).with_inputs(
            *fields
        )
        for one, score in zip(TEXTS, (90, 20), strict=True)
    ]


def close(example, found, trace=None):
    return 0.0 if found.score is None else 1 - abs(found.score - example.score) / 100


def test_dspy_evaluates_it(program, rated):
    with dspy.context(lm=model("offline", ledger=None)):
        found = dspy.Evaluate(devset=rated, metric=close, num_threads=1, display_progress=False)(
            program
        )
    assert 50 < found.score <= 100


def test_an_optimizer_of_dspy_compiles_it(program, rated):
    compiled = dspy.LabeledFewShot(k=1).compile(program, trainset=rated)
    (shown,) = compiled.named_predictors()
    assert len(shown[1].demos) == 1
    with dspy.context(lm=model("offline", ledger=None)):
        assert compiled(source="s", response="r").problem is None


def test_the_file_beside_it_loads_it(vanilla, tmp_path):
    place = export_judge(vanilla, "dspy", tmp_path / "program").place
    judge = runpy.run_path(str(place / "judge.py"))["judge"]
    assert judge.protocol == vanilla.protocol
    assert str(tmp_path) not in "".join(one.read_text() for one in place.iterdir())
    assert str(place) not in sys.path


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"protocol": 1}', '{"members": {"a": 1}}'])
def test_a_file_without_a_state_is_refused(content, tmp_path):
    (tmp_path / "program.json").write_text(content)
    with pytest.raises(ValueError, match="expected the state of a judge"):
        load_program(tmp_path / "program.json")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: saved_of("pairs", texts=()), "compares the responses to a source"),
        (
            lambda: saved_of("exemplar", texts=()).model_copy(update={"roles": {"writer": "a/b"}}),
            "asks several models",
        ),
    ],
)
def test_judges_that_a_program_cannot_be_are_refused(make, why):
    assert why in DspyProgram().check(make())


def test_a_judge_that_is_worded_differently_now_is_refused(vanilla):
    question = vanilla.questions["grade"]
    turn = question.turns[0].model_copy(update={"text": "Grade."})
    other = question.model_copy(update={"turns": (turn,)})
    saved = vanilla.model_copy(update={"questions": {"grade": other}})
    assert "words the judge's questions differently" in DspyProgram().check(saved)
