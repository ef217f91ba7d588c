"""A template is plain data that renders a question and reads its answer."""

import pickle

import pytest

from judgesmith.programs.judging.prompts import Slot, Template, Turn
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.scale import Scale


@pytest.fixture
def template():
    return Template(
        predictor="grade",
        turns=(Turn(role="system", text="Judge."), Turn(role="user", text="{response}?")),
        question=(
            "[[ ## source ## ]]\n",
            Slot(name="source", fenced=True),
            "\n\n[[ ## hint ## ]]\n",
            Slot(name="hint", fenced=False),
        ),
        outputs={"explanation": "text", "score": "points"},
    )


def test_it_comes_back_from_json(template, judge_of):
    several = [template, *judge_of("fine", shown="a").templates().values()]
    for one in several:
        assert Template.model_validate_json(one.model_dump_json()) == one


def test_texts_are_put_in_as_they_are(template, hostile):
    text = template.render({"source": hostile, "hint": "{source}"})
    assert f"\n{unix_lines(hostile)}\n</verbatim-" in text
    assert text.endswith("\n{source}")


def test_the_same_texts_give_the_same_question(template):
    inputs = {"source": "a", "hint": "b", "unused": "c"}
    assert template.render(inputs) == template.render(dict(reversed(inputs.items())))


def test_a_missing_text_is_said_to_be_missing(template):
    assert template.render({"source": None, "hint": None}).count("(none)") == 2


def test_an_input_that_nobody_gave_is_an_error(template):
    with pytest.raises(KeyError, match="hint"):
        template.render({"source": "a"})


def test_an_answer_is_read_by_kind(template):
    text = "[[ ## explanation ## ]]\nFine.\n[[ ## score ## ]]\n85 / 100"
    assert template.read(text) == {"explanation": "Fine.", "score": 85}


def test_people_see_the_whole_conversation_with_holes(template):
    assert template.as_text().split("\n") == [
        "SYSTEM",
        "Judge.",
        "",
        "USER",
        "{response}?",
        "",
        "USER",
        "[[ ## source ## ]]",
        "{source}",
        "",
        "[[ ## hint ## ]]",
        "{hint}",
    ]


def test_the_fixed_part_is_what_the_stack_wants(template):
    messages = template.prefix().messages
    assert [(one.role, one.text) for one in messages] == [
        ("system", "Judge."),
        ("user", "{response}?"),
    ]


def test_rows_of_one_source_share_all_up_to_its_end(template):
    # So a server that caches prompts reads a source once; docs/reference/models.md says so.
    template.render({"source": "", "hint": ""})
    both = template.model_copy(
        update={"question": (*template.question[:-1], Slot(name="response", fenced=True))}
    )
    one, other = (both.render({"source": "long " * 99, "response": said}) for said in ("a", "b"))
    shared = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    assert one[:shared].count("long ") == 99
    assert one[shared] == "a"


def test_a_copy_with_other_outputs_reads_those(template):
    template.read("[[ ## explanation ## ]]\nWell.\n\n[[ ## score ## ]]\n7")
    copied = template.model_copy(update={"outputs": {"score": "text"}})
    assert copied.read("[[ ## score ## ]]\n7") == {"score": "7"}


def test_one_that_was_used_goes_to_another_process_as_well_as_a_new_one(template):
    used = template.model_copy(
        update={"answers": Scale(low=1, high=5), "outputs": {"grades": "assessments"}}
    )
    used.render({"source": "", "hint": ""})
    assert used.read("[[ ## grades ## ]]\n[]") == {"grades": []}
    there = pickle.loads(pickle.dumps(used))
    assert there == used
    assert vars(there).keys() == Template.model_fields.keys()
