"""A judge as one Python file that needs the standard library and the openai client alone."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import write_synced
from judgesmith.programs.exporting.about import about, about_lines
from judgesmith.programs.exporting.bundling.reaching import Place
from judgesmith.programs.exporting.bundling.writing import bundle
from judgesmith.programs.exporting.form import Form, Row
from judgesmith.programs.exporting.literals import Named, literal, names_in
from judgesmith.programs.exporting.stack_asked import StackAsked
from judgesmith.programs.families import family_of
from judgesmith.programs.forms import form_named
from judgesmith.programs.saved import SavedJudge
from judgesmith.programs.saved_kinds import SavedCalibrated, SavedPanel, saved_leaves, saved_panels
from judgesmith.programs.templates import Template
from judgesmith.signatures.judge_protocol import JudgeProtocol

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.saved_kinds import AnySaved

CARRIED = (
    *("active-critic", "direct", "g-eval", "explain-eval", "checklist"),
    *("prometheus", "themis", "auto-j"),
)
"""Families whose steps and whose reading of answers need nothing but the standard library."""

_RUNTIME = "judgesmith.programs.exporting.runtime"
_DATA = f"{_RUNTIME}.judged"
_STAND_INS = {
    "pydantic": f"{_RUNTIME}.records",
    "judgesmith.programs.templates": f"{_RUNTIME}.questions",
    "judgesmith.programs.answer_types": f"{_RUNTIME}.answer_types",
    "judgesmith.programs.answer_mending": f"{_RUNTIME}.answer_mending",
    "judgesmith.programs.form_steps": f"{_RUNTIME}.form_steps",
    "judgesmith.programs.features": f"{_RUNTIME}.no_features",
}
_COUNTED = {"judgesmith.programs.features": f"{_RUNTIME}.features"}
_WEIGHING = ("weighing", "reply_probabilities", "answer_probabilities")
_UNWEIGHED = {f"judgesmith.programs.{one}": f"{_RUNTIME}.unweighed" for one in _WEIGHING}
_TOLD_APART = {"demonstrations", "instructions", "nearest"}  # what the questions say already

_USE = '''"""A judge of texts by itself: Python and its openai client (pip install openai) suffice.

    from {module} import judge
    judge(source="what was answered", response="the answer")["score"]

    python {file} < items.jsonl > scores.jsonl

An item has "source", "response" and perhaps "context". The key is taken from OPENAI_API_KEY; a
server elsewhere is named with --base-url, another model with --model. A text that cannot be judged
has no score, and its "problem" says why.
"""
'''


class PythonFile(Form):
    """One file: importable, and a program."""

    says: ClassVar[str] = "one Python file that needs only the openai client"
    folder: ClassVar[bool] = False
    suffix: ClassVar[str] = ".py"

    def check(self, saved: AnySaved) -> str | None:
        """Return why a judge cannot stand in a file by itself; None where it can."""
        if any(panel.rules is not None for panel in saved_panels(saved)):
            return "the errors of its members are merged by what only the package has"
        if len({client_name(one) for one in saved.models}) < len(saved.models):
            return "several of its models have one name for the openai client"
        for leaf in saved_leaves(saved):
            protocol = leaf.protocol
            if protocol.judge not in CARRIED:
                return f"judges of the kind {protocol.judge} need more than the standard library"
            if protocol.nearest is not None:
                return "it chooses its demonstrations anew for each text"
            if leaf.roles:
                return "other models do a part of its work"
        return None

    def write(self, saved: AnySaved, place: Path) -> None:
        """Write the file."""
        write_synced(place, source_of(saved, place.name))

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row]:
        """Return what the file says of the golden items, asked through our own stacks."""
        module = loaded(place)
        to = StackAsked({client_name(name): lm for name, lm in lms.items()})
        rows: list[Row] = []
        for one in saved.golden:
            texts = {"source": one.source, "context": one.context, "response": one.response}
            rows.append(module.row_of(module.JUDGE.judgement(texts, to)))
        return rows


def source_of(saved: AnySaved, name: str) -> str:
    """Return the text of the file of that name."""
    facts = {"says": f"Judge texts by {saved.fingerprint}.", **about(saved)}
    facts["judge"] = facts.pop("fingerprint")
    del facts["agreement"]  # which the comments above the code say
    facts["model"] = ", ".join(client_name(one) for one in saved.models)
    judge = _told(saved)

    def data(used: set[str], called: Callable[[Place], str]) -> str:
        return f"ABOUT = {literal(facts)}\n\nJUDGE = {literal(judge, used, called)}"

    called = [(f"{_RUNTIME}.program", one) for one in ("judge", "main")]
    entries: list[Place] = [*called, *dict.fromkeys(names_in(judge))]
    module = name.removesuffix(".py")
    head = "".join(f"# {line}\n" for line in _comments(saved))
    importable = module.isidentifier() and not iskeyword(module)
    use = _USE.format(module=module if importable else "my_judge", file=file_in(name))
    protocols = [one.protocol for one in saved_leaves(saved)]
    stand_ins = dict(_STAND_INS)
    if all(one.weighting == "none" for one in protocols):
        stand_ins |= _UNWEIGHED
    if any(term.startswith("lexical:") for one in protocols for term in one.aggregation.terms):
        stand_ins |= _COUNTED
    body = bundle(entries, stand_ins, {_DATA: data}, documented=called)
    return f'{use}\n{head}\n{body}\n\nif __name__ == "__main__":\n    sys.exit(main())\n'


def file_in(name: str) -> str:
    """Return the name of a file as a comment may hold it: another one if it has odd letters."""
    plain = name.replace("_", "").replace("-", "").replace(".", "")
    return name if plain.isascii() and plain.isalnum() else "my_judge.py"


def client_name(model: str) -> str:
    """Return what a model's own server calls it.

    Examples
    --------
    >>> client_name("openai/gpt-4o-mini"), client_name("offline")
    ('gpt-4o-mini', 'offline')
    """
    return model.partition("/")[2] or model


def loaded(place: Path) -> ModuleType:
    """Return an exported file as a module that nothing else imports."""
    name = "judgesmith_exported_judge"
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def _comments(saved: AnySaved) -> Iterator[str]:
    yield from about_lines(saved)


def _told(saved: AnySaved) -> Named:
    """Return a judge as the call that makes it in the file."""
    if isinstance(saved, SavedJudge):
        module, _, steps = family_of(saved.protocol.judge).steps.partition(":")
        questions = {name: _question(one) for name, one in saved.questions.items()}
        said = {
            "model": client_name(saved.model),
            "protocol": _protocol(saved.protocol),
            "steps": Named(module, steps, None),
            "questions": questions,
        }
        return Named(f"{_RUNTIME}.judges", "OneJudge", said)
    members = {name: _told(saved.members[name]) for name in saved.asked}  # type: ignore[arg-type]
    if isinstance(saved, SavedCalibrated):
        own: dict[str, Any] = {"judge": members["judge"], "calibration": saved.calibration}
        return Named(f"{_RUNTIME}.holders", "CalibratedOne", own)
    assert isinstance(saved, SavedPanel)
    return Named(f"{_RUNTIME}.holders", "PanelOf", {"members": members, "weights": saved.weights})


def _question(question: Template) -> Named:
    """Return a question as the call that makes it in the file."""
    module = f"{_RUNTIME}.questions"
    said = {
        "predictor": question.predictor,
        "turns": tuple(Named(module, "Turn", dict(turn)) for turn in question.turns),
        "question": tuple(
            piece if isinstance(piece, str) else Named(module, "Slot", dict(piece))
            for piece in question.question
        ),
        "outputs": dict(question.outputs),
        "answers": question.answers,
    }
    if question.form:
        read = form_named(question.form).read
        said["reading"] = Named(read.__module__, read.__name__, None)
    return Named(module, "Template", said)


def _protocol(protocol: JudgeProtocol) -> Named:
    own = {name: value for name, value in protocol if name not in _TOLD_APART}
    rubric = protocol.rubric
    own["rubric"] = Named(
        type(rubric).__module__, "Rubric", {"task": rubric.task, "criteria": rubric.criteria}
    )
    return Named(type(protocol).__module__, type(protocol).__name__, own)
