"""A judge as prompts: chat messages with placeholders, and all that an implementer must know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import write_synced
from judgesmith.errors import file_faults
from judgesmith.programs.artifacts.card import label_text, score_text
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import (
    SavedCalibrated,
    SavedPanel,
    saved_leaves,
    saved_panels,
)
from judgesmith.programs.exporting.export import Form, about, about_lines
from judgesmith.programs.judging.prompts import ABSENT, Slot, Template
from judgesmith.programs.judging.registry import family_of

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

FENCES = (
    "A placeholder with fenced=true holds text from outside. Replace it by three lines: "
    "<verbatim-TAG>, the text with every end of a line as a line feed, </verbatim-TAG>. TAG is the "
    "same for the whole message. A text is "
    "added to a hash as its length in bytes of UTF-8 in decimal digits, a colon, and these bytes. "
    "The key is the BLAKE2b hash with a digest of 16 bytes of two texts: the system message, and "
    "what the last message says before its first fenced placeholder. TAG is the BLAKE2b hash with "
    "that key and a digest of 6 bytes, in 12 hexadecimal digits in lower case, of the first fenced "
    "text that is given. Where TAG can be read in one of the texts, of all of them in the order of "
    "the placeholders; and while TAG can be read in one of them, add the bytes 'again' and take "
    "the digest anew. It can be read in a text whose hexadecimal digits hold it without all that "
    "is between them, once letters are small, signs are decomposed (NFKD), digits of other scripts "
    "and letters that look like digits are these digits, and o, i, l and | are, once, 0 and 1."
)
PLACEHOLDERS = (
    "The last of messages stands in last_message as well, in pieces: strings, and placeholders as "
    "objects. In its content {{name}} stands for a placeholder. One that is not given becomes "
    f"{ABSENT}, without fences. One with fenced=false is replaced by its text as it is. A model is "
    "PROVIDER/NAME, and what its provider calls it is NAME; settings that are null are not sent."
)
READING = (
    "An answer has a line [[ ## field ## ]] before each field; what follows up to the next such "
    "line is the field. A field that is missing, given twice, outside its scale or unreadable "
    "makes the answer useless: ask once more, and leave the text without a score, never at 0, if "
    "that fails. A field of points is one number, or one of the labels of its scale. A field of "
    "assessments is a JSON list of objects with criterion, score and, where they are asked for, "
    "explanation. Scores on another scale than 0 to 100 become 100 * (score - low) / (high - low)."
)
_STEPS = {
    "vanilla": "Ask grade: its score is the score of the whole.",
    "coarse": "Ask rate: its score is the score of the whole.",
    "joint": "Ask assess for all criteria at once",
    "separate": "Ask assess_1, assess_2, … for the criteria in order",
    "asked": "; then ask overall, whose placeholder assessments holds a line '- NAME: SCORE. "
    "WORDS' for each criterion: the score on the scale of answers, to the nearest level and "
    "halves to the middle, the words with single blanks; '- NAME: no score.' where there is none.",
    "mean": "; the score of the whole is the mean of the criteria, if none is missing.",
    "each": "Ask about every criterion in order; the score of the whole is the mean of the "
    "criteria, if none is missing.",
    "whole": "Ask the one question: its score is the score of the whole.",
    "verdict": "Ask the one question: its verdict is the label of the whole, whose score is 100 "
    "for the best label, 0 for the worst, and as above between labels in an order.",
    "checks": "Ask check_N for criterion N, in order. Yes is 100 and no is 0, ",
    "checklist": "Ask check_C_Q for question Q of criterion C. Yes is 100 and no is 0; a "
    "criterion is the mean of its answers, and the whole the mean of the criteria, if no answer "
    "is missing.",
}


class Prompt(Form):
    """Chat messages as JSON and as text, with placeholders for the item."""

    says: ClassVar[str] = "chat messages with placeholders, as JSON and as text"
    folder: ClassVar[bool] = True

    def check(self, saved: AnySaved) -> str | None:
        if any(panel.rules is not None for panel in saved_panels(saved)):
            return "the errors of its members are merged by rules, and perhaps by a supervisor"
        if any(panel.scale.is_verdict for panel in saved_panels(saved)):
            return "its members vote on the label, which the package counts"
        for leaf in saved_leaves(saved):
            family = leaf.protocol.judge
            if not family_of(family).is_portable:
                return f"messages do not tell what {family} does between questions and answers"
            if any(term.startswith("lexical:") for term in leaf.protocol.aggregation.terms):
                return "its score weighs lexical features, which the package counts"
            if leaf.protocol.nearest is not None:
                return "it chooses its demonstrations anew for each text"
        return None

    @file_faults()
    def write(self, saved: AnySaved, place: Path) -> None:
        how = {"placeholders": PLACEHOLDERS, "fences": FENCES, "reading": READING}
        plain = {"about": about(saved), **how, "judge": plain_judge(saved)}
        text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
        write_synced(place / "messages.json", text + "\n")
        for name, question in saved.asked_questions():
            file = place / "prompts" / f"{name}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_synced(file, question.as_text() + "\n")
        write_synced(place / "README.md", "\n".join(_readme(saved)) + "\n")


def plain_judge(saved: AnySaved) -> dict[str, Any]:
    """Return a judge in plain data: its questions, or its members, and how its score is made."""
    if isinstance(saved, SavedJudge):
        return _judge(saved)
    members = {
        name: plain_judge(one)  # type: ignore[arg-type]
        for name, one in saved.members.items()
        if name in saved.asked
    }
    if isinstance(saved, SavedCalibrated):
        how = saved.calibration.model_dump(mode="json")
        return {"kind": "calibrated", "members": members, "calibration": how}
    assert isinstance(saved, SavedPanel)
    return {"kind": "panel", "members": members, "weights": saved.weights.model_dump(mode="json")}


def _judge(saved: SavedJudge) -> dict[str, Any]:
    protocol = saved.protocol
    weighs = protocol.weighting == "probabilities"
    return {
        "kind": protocol.judge,
        "model": saved.model,
        "sampling": {
            "temperature": protocol.temperature,
            "max_tokens": protocol.max_tokens,
            "logprobs": weighs,
            "top_logprobs": 20 if weighs else None,
            "answers_to_each_question": protocol.samples,
            "several_answers_become_their": protocol.reduction,
        },
        "questions": {name: question_told(one) for name, one in saved.asked_questions()},
        "steps": steps_told(saved),
        "criteria": list(protocol.scored_criteria),
        "score": score_text(protocol),
        **({"label": label} if (label := label_text(protocol)) else {}),
        "aggregation": protocol.deciding.model_dump(mode="json"),
    }


def question_told(question: Template) -> dict[str, Any]:
    """Return one question: its messages, the pieces of the last one, and what it answers."""
    pieces = [
        one if isinstance(one, str) else {"placeholder": one.name, "fenced": one.fenced}
        for one in question.question
    ]
    content = "".join(x if isinstance(x, str) else f"{{{{{x.name}}}}}" for x in question.question)
    turns = [{"role": turn.role, "content": turn.text} for turn in question.turns]
    return {
        "messages": [*turns, {"role": "user", "content": content}],
        "last_message": pieces,
        "placeholders": [one.name for one in question.question if isinstance(one, Slot)],
        "fields": dict(question.outputs),
        "scale": question.answers.model_dump(mode="json"),
    }


def steps_told(saved: SavedJudge) -> str:
    """Return in words how the questions of a judge go together."""
    protocol = saved.protocol
    said = _STEPS[_between(protocol.judge, vars(protocol), scores=protocol.scores_criteria)]
    if protocol.judge == "active-critic" and protocol.scores_criteria:
        said = _STEPS[vars(protocol)["criteria_calls"]] + _STEPS[vars(protocol)["overall"]]
    if protocol.judge == "verdict" and protocol.scores_criteria:
        said += f"and the score of the whole is {protocol.own_score}, if no answer is missing."
    weighs = protocol.weighting == "probabilities"
    if weighs and protocol.samples > 1 and protocol.judge == "g-eval":
        said += " A question is asked again only until an answer comes with probabilities."
    if weighs:
        said += (
            " A number is the mean of all levels of its scale, weighed by the probabilities that "
            "the first token of the answer gives them, where they hold at least half; else it is "
            "the number that was written."
        )
    return said


def _between(family: str, parts: Mapping[str, Any], *, scores: bool) -> str:
    if family == "checklist":
        return "checklist"
    if family == "verdict":
        return "checks" if scores else "verdict"
    if family == "active-critic" and not scores:
        return str(parts["variant"])
    return "each" if scores else "whole"


def _readme(saved: AnySaved) -> Iterator[str]:
    yield "# A judge as prompts"
    yield ""
    yield from about_lines(saved)
    yield ""
    yield "`messages.json` holds every question as chat messages, with all that is needed to ask it"
    yield "as the judge does; `prompts/` shows the same as text, with `{name}` for a placeholder."
    for head, text in (("Placeholders", PLACEHOLDERS), ("Fences", FENCES), ("Answers", READING)):
        yield ""
        yield f"## {head}"
        yield ""
        yield text
    yield ""
    yield "## Score"
    for leaf in saved_leaves(saved):
        yield ""
        label = label_text(leaf.protocol)
        shown = f" The label is {label}." if label else ""
        yield f"{steps_told(leaf)} The score is {score_text(leaf.protocol)}.{shown}"
    if not isinstance(saved, SavedJudge):
        yield ""
        yield "`messages.json` says what becomes of the scores of the judges in it."
