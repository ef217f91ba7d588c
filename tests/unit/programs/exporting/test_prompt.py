import json

import pytest
from exporting import TEXTS, saved_of

from judgesmith.programs.exporting.export import export_judge
from judgesmith.programs.exporting.prompt import Prompt
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.fences import fence_key, fence_tag


def rendered(pieces, inputs, system):
    """Return the last message, made as ``messages.json`` says."""
    first = next(n for n, one in enumerate(pieces) if not isinstance(one, str) and one["fenced"])
    before = (one if isinstance(one, str) else inputs[one["placeholder"]] for one in pieces[:first])
    tag = fence_tag(
        [inputs[one["placeholder"]] for one in slots(pieces) if one["fenced"]],
        fence_key(system, "".join("(none)" if one is None else one for one in before)),
    )
    parts = []
    for one in pieces:
        text = one if isinstance(one, str) else inputs[one["placeholder"]]
        if text is None:
            text = "(none)"
        elif not isinstance(one, str) and one["fenced"]:
            text = f"<verbatim-{tag}>\n{text}\n</verbatim-{tag}>"
        parts.append(text)
    return "".join(parts)


def slots(pieces):
    return [one for one in pieces if not isinstance(one, str)]


@pytest.mark.parametrize("item", TEXTS)
def test_the_last_message_can_be_made_from_what_is_told(fine, tmp_path, item):
    place = export_judge(fine, "prompt", tmp_path / "out").place
    told = json.loads((place / "messages.json").read_text())["judge"]
    inputs = {"source": item.source, "context": item.context, "response": item.response}
    inputs["assessments"] = "- wit: 50."
    for name, template in fine.asked_questions():
        question = told["questions"][name]
        system = question["messages"][0]["content"]
        assert rendered(question["last_message"], inputs, system) == template.render(inputs)
        *fixed, last = question["messages"]
        assert [(one["role"], one["content"]) for one in fixed] == [
            (turn.role, turn.text) for turn in template.turns
        ]
        assert all(f"{{{{{one}}}}}" in last["content"] for one in question["placeholders"])


def test_settings_and_learned_numbers_are_told(tmp_path):
    learned = Aggregation(
        kind="linear", terms=("overall",), centers=(50,), spreads=(20,), weights=(1,), scale="1..5"
    )
    saved = saved_of(variant="coarse", samples=3, temperature=0.7, aggregation=learned)
    place = export_judge(saved, "prompt", tmp_path / "out").place
    told = json.loads((place / "messages.json").read_text())["judge"]
    assert told["sampling"]["answers_to_each_question"] == 3
    assert told["sampling"]["temperature"] == 0.7
    assert told["aggregation"]["weights"] == [1]
    assert (place / "prompts" / "rate.txt").is_file()


@pytest.mark.parametrize(
    ("family", "parts", "why"),
    [
        ("annotator", {}, "messages do not tell what annotator does"),
        (
            "active-critic",
            {
                "variant": "vanilla",
                "aggregation": Aggregation(
                    kind="linear",
                    terms=("lexical:words",),
                    centers=(1,),
                    spreads=(1,),
                    weights=(1,),
                ),
            },
            "lexical features",
        ),
    ],
)
def test_judges_of_which_messages_tell_too_little_are_refused(family, parts, why):
    from judgesmith.programs.features import FEATURE_INDEX

    if "aggregation" in parts:
        name = f"lexical:{next(iter(FEATURE_INDEX))}"
        parts = parts | {"aggregation": parts["aggregation"].model_copy(update={"terms": (name,)})}
    assert why in Prompt().check(saved_of(family, texts=(), **parts))
