"""Whether the judges, optimizers and sets of a specification go together where they meet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from judgesmith.errors import FileError, InputError
from judgesmith.experiments.fronts import check_searched
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.specs.grid import Cell
from judgesmith.experiments.specs.inheriting import Blame
from judgesmith.experiments.specs.parts import JudgeSpec
from judgesmith.experiments.specs.settings import combined, protocol_of, said_plainly
from judgesmith.experiments.specs.spec import Spec
from judgesmith.programs.judging.registry import family_of

_OF_VERSIONS = ("task", "kinds", "holdout_kinds", "versions")


def check_combinations(spec: Spec, cells: Sequence[Cell], *, blame: Blame) -> None:
    """Tell of judges, optimizers and sets that do not go together in a cell.

    Parameters
    ----------
    spec : Spec
        Whose parts are all right.
    cells : sequence of Cell
        What is to be run.
    blame : callable
        Told the place and the sentence of every mistake.
    """
    compiled = [cell for cell in cells if spec.judges[cell.judge].kind == "compiled"]
    protocols = {name: protocol_of(spec, spec.judges[name]) for name in {c.judge for c in compiled}}
    used: dict[str, dict[str, None]] = defaultdict(dict)
    wrong: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    minding: set[str] = set()
    seen: set[tuple[str, str | None, str]] = set()
    for cell in compiled:
        key = (cell.judge, cell.optimizer, cell.data)
        if key in seen or cell.optimizer is None:
            continue
        seen.add(key)
        used[cell.judge][cell.optimizer] = None
        judge = spec.judges[cell.judge]
        try:
            settings = combined(
                spec,
                judge,
                protocols[cell.judge],
                optimizer=(cell.optimizer, spec.optimizers[cell.optimizer]),
                data=spec.data[cell.data],
                targets=cell.targets,
                seed=cell.seed,
            )
            _check_search(settings, judge)
        except (InputError, FileError) as fault:
            wrong[cell.judge, said_plainly(fault)][cell.optimizer] = None
            continue
        if settings.minds_versions:
            minding.add(cell.data)
    for (name, said), optimizers in wrong.items():
        if list(optimizers) == list(used[name]):
            blame(("judges", name), said)
        else:
            with_these = " or ".join(optimizers)
            blame(
                ("judges", name),
                f"with the optimizer {with_these}: {said.rstrip('.')} (or leave the combination "
                "out: see leave_out).",
            )
    if not wrong:
        _check_versions(spec, minding, blame)


def _check_search(settings: CompileSettings, judge: JudgeSpec) -> None:
    """Refuse a search that cannot be made for a judge, or an objective that it does not mind."""
    family = family_of(judge.judge)
    if not family.asks and settings.optimizer not in ("none", "protocol", "random"):
        raise InputError(
            f"{settings.optimizer} rewrites what a model is asked, and a {family.name} judge asks "
            "none.",
            hint="use protocol, random or none.",
        )
    check_searched(settings)


def _check_versions(spec: Spec, minding: set[str], blame: Blame) -> None:
    """Tell of what is said of changed versions of texts that no objective looks at."""
    for name, one in spec.data.items():
        said = [field for field in _OF_VERSIONS if field in one.said]
        if said and name not in minding:
            blame(
                ("data", name, said[0]),
                f"{said[0]} is about changed versions of texts, at which no objective looks; add "
                "d_min or d_avg to one, or leave it out.",
            )
