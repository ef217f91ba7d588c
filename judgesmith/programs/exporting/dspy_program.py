"""A judge as a DSPy program: the state that DSPy saves, and what makes the program again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from judgesmith.drafts import write_synced
from judgesmith.errors import InputError, file_faults
from judgesmith.programs.artifacts.saved import SavedJudgeError
from judgesmith.programs.artifacts.saved_ensembles import saved_leaves, saved_panels
from judgesmith.programs.exporting.export import Form, Row, about_lines
from judgesmith.programs.judging.registry import family_of

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.families.ensemble.judges import AnyJudge

STATE_FILE = "program.json"  # what ``dspy.Module.save`` wrote

_LOADER = '''"""The judge in this folder as a DSPy module: from judge import judge.

It needs judgesmith and DSPy. Give it a model as any other DSPy program.
"""

from pathlib import Path

from judgesmith.programs import load_program

judge = load_program(Path(__file__).with_name("program.json"))
'''


class DspyProgram(Form):
    """A folder with the state of a DSPy program, and a file that loads it."""

    says: ClassVar[str] = "the state of a DSPy program, as DSPy saves it, and what loads it"
    folder: ClassVar[bool] = True

    def check(self, saved: AnySaved) -> str | None:
        if any(panel.rules is not None for panel in saved_panels(saved)):
            return "the errors of its members are merged by rules that DSPy does not save"
        leaves = list(saved_leaves(saved))
        if any(family_of(leaf.protocol.judge).ranks for leaf in leaves):
            return "it compares the responses to a source, and a program is given one"
        if any(leaf.roles for leaf in leaves) or len(saved.models) > 1:
            return "it asks several models, and a program is saved without any"
        try:
            saved.program()
        except SavedJudgeError as fault:
            return str(fault).rstrip(".")
        return None

    def write(self, saved: AnySaved, place: Path) -> None:
        saved.program().save(str(place / STATE_FILE))
        write_synced(place / "judge.py", _LOADER)
        write_synced(place / "README.md", "\n".join(_readme(saved)) + "\n")

    def judged(self, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM]) -> list[Row]:
        import dspy

        program = load_program(place / STATE_FILE)
        rows: list[Row] = []
        with dspy.context(lm=lms[saved.models[0]]):
            for one in saved.golden:
                texts: dict[str, Any] = {**one.item.texts, "references": one.references}
                found = program(**texts)
                criteria = {name: dict(told) for name, told in found.criteria.items()}
                rows.append({**found.toDict(), "criteria": criteria})
        return rows


@file_faults()
def load_program(state: str | Path) -> AnyJudge:
    """Return the judge whose state DSPy saved to a file, as a DSPy module.

    Parameters
    ----------
    state : str or Path
        A JSON file that ``judge.save`` wrote, of a judge of any family, a ``Panel`` or a
        ``Calibrated``.

    Raises
    ------
    ValueError
        If the file holds no such state.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.programs import ActiveCritic
    >>> place = Path(tempfile.mkdtemp()) / "program.json"
    >>> ActiveCritic(variant="coarse").save(str(place))
    >>> load_program(place).protocol.variant
    'coarse'
    """
    try:
        plain = json.loads(Path(state).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict):
        raise InputError("expected the state of a judge, as DSPy saves it in JSON.", at=state)
    try:
        program = _program_of(plain)
    except (KeyError, TypeError, AttributeError):
        raise InputError(
            "expected the state of a judge, which has a protocol or members.", at=state
        ) from None
    program.load(str(state))
    return program


def _program_of(state: Mapping[str, Any]) -> AnyJudge:
    if "members" not in state:
        protocol = state["protocol"]
        family = family_of(protocol["judge"])
        bare = {**protocol, "demonstrations": {}, "instructions": {}, "nearest": None}
        judge: AnyJudge = family.judge_of(family.protocol.model_validate(bare))
        return judge
    from judgesmith.programs.families.ensemble.judges import Calibrated, Panel
    from judgesmith.signatures.aggregation import Calibration, PanelWeights

    members = {name: _program_of(one) for name, one in state["members"].items()}
    settings = state["settings"]
    if "thresholds" in settings:
        return Calibrated(members["judge"], Calibration.model_validate(settings))
    return Panel(members, PanelWeights.model_validate(settings))


def _readme(saved: AnySaved) -> Iterator[str]:
    yield "# A judge as a DSPy program"
    yield ""
    yield from about_lines(saved)
    yield ""
    yield "```python"
    yield "import dspy"
    yield "import judgesmith"
    yield "from judgesmith.programs import load_program"
    yield ""
    yield f"dspy.configure(lm=judgesmith.model({saved.models[0]!r}))  # or any dspy.LM"
    yield 'judge = load_program("program.json")'
    yield 'judge(source="What was answered.", response="The answer.").score'
    yield "```"
    yield ""
    yield "`program.json` is what `judge.save` writes and `judge.load` reads: no pickle. The judge"
    yield "is a `dspy.Module`: `dspy.Evaluate` runs it, and DSPy's optimizers compile it further."
