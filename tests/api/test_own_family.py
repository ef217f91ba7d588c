"""A judge of one's own is one short file that imports from ``judgesmith`` alone."""

import dspy
import pytest

import judgesmith
from judgesmith import InputError, Untrusted
from judgesmith.programs import family_of, judge_family
from judgesmith.signatures import UntrustedOrNone

TEXTS = {"source": "The ferry leaves at nine from pier two.", "response": "It leaves at nine."}


class Whole(dspy.Signature):
    """Score the response as a strict reader would, and say why."""

    task: str = dspy.InputField()
    criteria: str = dspy.InputField()
    source: Untrusted = dspy.InputField()
    context: UntrustedOrNone = dspy.InputField()
    response: Untrusted = dspy.InputField()
    explanation: str = dspy.OutputField()
    score: int = dspy.OutputField(desc="0 to 100")


class Each(dspy.Signature):
    """Score the response by the criterion alone, as a strict reader would."""

    criterion: str = dspy.InputField()
    source: Untrusted = dspy.InputField()
    response: Untrusted = dspy.InputField()
    score: int = dspy.OutputField(desc="0 to 100")


@pytest.fixture
def strict(own_families):
    assert (judgesmith.judge_family, judgesmith.UntrustedOrNone) == (judge_family, UntrustedOrNone)
    return judge_family(
        "strict-reader", whole=Whole, each=Each, about="scores as a strict reader would"
    )


def test_it_judges_the_whole_and_each_criterion(strict):
    rubric = judgesmith.Rubric(criteria={"fluency": "It reads well.", "relevance": "On topic."})
    found = strict.start(rubric)(**TEXTS)
    assert 0 <= found.score <= 100
    assert found.explanation
    each = strict.start(rubric, asks="criteria", answers="1..5")(**TEXTS)
    assert set(each.criteria) == {"fluency", "relevance"}
    scores = [one.score for one in each.criteria.values()]
    assert each.score == pytest.approx(sum(scores) / 2)


@pytest.mark.parametrize("asks", ["overall", "criteria"])
def test_it_is_compiled_saved_and_loaded_like_any_other(strict, tmp_path, asks):
    protocol = strict.start(asks=asks).protocol
    settings = judgesmith.CompileSettings(protocol=protocol, criteria="given", optimizer="none")
    saved = judgesmith.compile(judgesmith.read("sample"), settings).saved
    again = judgesmith.load(saved.save(tmp_path / "judge"))
    assert again(**TEXTS) == saved.program()(**TEXTS)
    assert again.protocol.judge == family_of("strict-reader").name == strict.name


def test_its_prompt_fences_what_comes_from_outside(strict):
    holes = [one for one in strict.start().templates()["whole"].question if hasattr(one, "fenced")]
    assert {one.name for one in holes if one.fenced} == {"source", "context", "response"}


def lacking(**fields):
    return type(
        "Odd",
        (dspy.Signature,),
        {
            "__doc__": "Score.",
            **fields,
            "__annotations__": {
                name: Untrusted if name in ("source", "response") else str for name in fields
            },
        },
    )


IN, OUT = dspy.InputField, dspy.OutputField


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "asks nothing: give it a signature"),
        ({"whole": lacking(source=IN(), score=OUT())}, "lacks the field 'response'"),
        ({"whole": lacking(source=IN(), response=IN(), grade=OUT())}, "lacks the field 'score'"),
        (
            {"whole": lacking(source=IN(), response=IN(), criterion=IN(), score=OUT())},
            "has a field 'criterion'; it may have task, criteria, source",
        ),
        (
            {"each": lacking(source=IN(), response=IN(), context=IN(), score=OUT())},
            "'context' of Odd, which the judge 'odd' asks, is text from outside",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, said):
    with pytest.raises(InputError, match=said):
        judgesmith.judge_family("odd", about="is odd", **asked)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(InputError, match="choose another name"):
        judgesmith.judge_family("direct", whole=Whole, about="takes a name")


def test_a_question_that_is_no_signature_is_refused():
    with pytest.raises(judgesmith.InputError, match=r"whole: expected a class of dspy\.Signature"):
        judgesmith.judge_family("worded", about="x", whole="source, response -> score: int")
