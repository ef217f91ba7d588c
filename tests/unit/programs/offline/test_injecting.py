"""The offline model puts errors in as it is told, says where, and takes any text."""

import json

import pytest

from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.program import PromptRequest
from judgesmith.programs.lm import model
from judgesmith.programs.perturbing.error_kinds import InjectionJob
from judgesmith.programs.perturbing.injecting import Injector, told_of
from judgesmith.signatures.perturbation import InjectedError, SubAspect, Target

TEXT = "Then Ann left Rome. It was late, and they have not been seen since then."
SIDES = tuple(SubAspect(criterion="fluency", name=name) for name in ("spelling", "grammar"))


def asked(text, sides=SIDES, errors=(), refused=None) -> dict[str, str]:
    """Return what the offline model answers to a request for errors."""
    import dspy

    target = Target(text=text, errors=errors)
    job = InjectionJob(key="a", target=target, criterion="fluency", sub_aspects=sides)
    injector: AskingModule = Injector()
    with dspy.context(lm=model("offline", ledger=None)):
        inputs = {**told_of(job, target, sides), "refused": refused}
        return injector.taken(_one(PromptRequest(predictor="inject", inputs=inputs)))


def _one(ask):
    reply = yield ask
    return reply.fields


def test_it_reports_each_error_where_it_stands():
    found = asked(TEXT)
    reported = json.loads(found["errors"])
    assert [one["number"] for one in reported] == [1, 2]
    assert all(one["now"] in found["changed"] for one in reported)
    assert found["changed"] != TEXT


def test_it_answers_the_same_question_alike_and_another_attempt_otherwise():
    assert asked(TEXT) == asked(TEXT)
    assert asked(TEXT, refused="unchanged") != asked(TEXT)


def test_it_leaves_the_places_of_earlier_errors_alone():
    at = TEXT.index("Rome")
    error = InjectedError(sub_aspect="a", kind="b", spans=((at, at + 4),), removed=("Oslo",))
    for refused in ("a", "b", "c"):
        assert "Rome" in asked(TEXT, errors=(error,), refused=refused)["changed"]


@pytest.mark.parametrize("text", [".", "😀", "\u202e!", "{x} <b>", "(none)"])
def test_a_text_without_room_comes_back_with_no_error_reported(text):
    found = asked(text, sides=SIDES * 9)
    assert (found["changed"].strip(), found["errors"]) == (text, "[]")
