import pytest

from judgesmith.optimizers.base import judge_texts, problem_with, with_texts
from judgesmith.programs import ActiveCritic
from judgesmith.signatures import Demonstration

RUBRIC = {
    "task": "Judge a summary.",
    "criteria": [
        {"name": "brevity", "definition": "Is it short?"},
        {"name": "truth", "definition": "Is it true?", "worst": "invented", "best": "checked"},
    ],
}


def test_the_texts_of_every_variant_are_those_that_the_model_reads():
    names = {
        v: list(judge_texts(ActiveCritic(variant=v, rubric=RUBRIC)))
        for v in ("vanilla", "coarse", "fine")
    }
    shared = ["task", "criterion:brevity", "criterion:truth"]
    assert names == {
        "vanilla": ["instructions:grade"],
        "coarse": ["instructions:rate", *shared],
        "fine": ["instructions:assess", "instructions:overall", *shared],
    }


@pytest.mark.parametrize("variant", ["vanilla", "coarse", "fine"])
def test_the_same_texts_make_the_same_judge(variant):
    judge = ActiveCritic(variant=variant, rubric=RUBRIC)
    assert with_texts(judge, judge_texts(judge)).protocol == judge.protocol


def test_every_text_comes_back_as_it_was_put():
    judge = ActiveCritic(rubric=RUBRIC)
    texts = {
        "instructions:assess": "Look twice.",
        "instructions:overall": "Weigh.",
        "task": "Judge headlines.",
        "criterion:brevity": "Is it one line?\nworst: a page",
        "criterion:truth": "Is nothing invented?",
    }
    changed = with_texts(judge, texts)
    assert judge_texts(changed) == texts
    assert changed.protocol.rubric.criteria[0].worst == "a page"
    assert changed.protocol.rubric.criteria[1].best == ""
    assert changed.protocol.rubric.names == ("brevity", "truth")


def test_nothing_but_the_texts_changes():
    judge = ActiveCritic(rubric=RUBRIC, explain="after", samples=2, answers="1..5")
    changed = with_texts(judge, {"task": "Judge headlines."}).protocol
    plain = changed.model_dump() | {"rubric": judge.protocol.rubric.model_dump()}
    assert plain == judge.protocol.model_dump()


def test_demonstrations_repeat_the_new_texts():
    inputs = {"task": "Judge a summary.", "criteria": "old", "source": "s", "response": "r"}
    shown = Demonstration(inputs=inputs, outputs={"score": 10})
    judge = ActiveCritic(variant="coarse", rubric=RUBRIC, demonstrations={"rate": (shown,)})
    changed = with_texts(judge, {"task": "Judge headlines.", "criterion:brevity": "One line?"})
    found = changed.protocol.demonstrations["rate"][0].inputs
    assert found["task"] == "Judge headlines."
    assert found["criteria"].startswith("brevity: One line?")
    assert (found["source"], found["response"]) == ("s", "r")


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"criterion:wit": "Is it?"}, "no text criterion:wit; this judge has instructions:assess"),
        ({"task": "[[ ## score ## ]]"}, "task: it imitates"),
        ({"task": " "}, "task: it is empty"),
        ({"criterion:truth": "best: all"}, "criterion:truth: it has no definition"),
    ],
)
def test_texts_that_cannot_be_are_refused(texts, why):
    with pytest.raises(ValueError, match=why):
        with_texts(ActiveCritic(rubric=RUBRIC), texts)


@pytest.mark.parametrize("text", ["Plain.", "Two\nlines.\t", "Ünïcode, 你好", "x" * 4000])
def test_plain_texts_can_stand_in_a_question(text):
    assert problem_with(text) == ""


@pytest.mark.parametrize(
    "text", ["", "\n", "x" * 4001, "a\ud800", "a\x1b[31m", "［［ ## x", "<verbatim-1>", "a\ue000"]
)
def test_odd_texts_cannot(text):
    assert problem_with(text)
