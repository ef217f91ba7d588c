"""What a command names that judges, or holds scores, and how many rows may have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, Number, shown_option
from judgesmith.cli.shared.printing import counted, visible
from judgesmith.errors import shortened

if TYPE_CHECKING:
    from judgesmith.data import DataSet
    from judgesmith.data.score_files import PairedAnswers, Scores
    from judgesmith.signatures.judgement import Cause

UNTRACED = "scores on file do not say which rows their judge was made from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A judge, or scores on file."""

    text: str
    path: Path | None
    recorded: str | None

    def scores(self, dataset: DataSet, *, criterion: str | None, target: str | None) -> Scores:
        """Read the scores, of single rows."""
        from judgesmith.data import read_scores

        assert self.path is not None
        told = {} if target is None else {"target": target}
        with blaming(str(self.path)):
            return read_scores(self.path, dataset, judge=self.recorded, criterion=criterion, **told)

    def recorded_in(
        self, dataset: DataSet, *, criterion: str | None, target: str | None
    ) -> Scores | PairedAnswers:
        """Read the scores, or comparisons of two rows."""
        from judgesmith.data.score_files import read_recorded

        assert self.path is not None
        told = {} if target is None else {"target": target}
        with blaming(str(self.path)):
            return read_recorded(
                self.path, dataset, judge=self.recorded, criterion=criterion, **told
            )

    def unused(self, scores: Scores | PairedAnswers, dataset: DataSet) -> list[str]:
        """Return a note of the scores that belong to no row of the set, if there are any."""
        assert self.path is not None
        if not scores.n_unused:
            return []
        return [f"{scores.n_unused} scores in {self.path.name} belong to no row of {dataset.name}."]


def named(text: str) -> Named:
    """Return what ``text`` names."""
    path, recorded = scores_path(text)
    if path is None and not Path(text).exists():
        raise OptionError(
            f"there is no judge and no file of scores called {text}.",
            option=text,
            hint="name a folder that compile made, or a file of scores.",
        )
    return Named(text=text, path=path, recorded=recorded)


def criterion_option(command: Command) -> Command:
    return click.option(
        "--criterion",
        metavar="NAME",
        help="Recorded criterion in a score file [default: --target].",
    )(command)


def refuse_criterion(text: str) -> OptionError:
    """Return the fault of a ``--criterion`` where there is no file of scores, but a judge."""
    return OptionError(
        f"--criterion picks one of the criteria in a file of scores, and {text} is a judge.",
        option="--criterion",
        hint="say --target NAME to compare its scores on a criterion.",
    )


def scores_path(text: str) -> tuple[Path | None, str | None]:
    """Return the file and the recorded judge that ``text`` names; no file for a judge's folder."""
    path = Path(text)
    is_filled = path.is_dir() and (path / "scores.json").is_file()  # by score
    if is_filled or (path.is_file() and path.name != "judge.json"):
        return path, None
    head, separator, name = text.partition(":")
    while separator and not Path(head).is_file():
        more, separator, name = name.partition(":")
        head = f"{head}:{more}"
    if separator and Path(head).is_file():
        return Path(head), name
    return None, None


MAX_UNSCORED = 0.05


def max_unscored_option(command: Command) -> Command:
    return shown_option(
        "--max-unscored",
        Number(0, 1),
        MAX_UNSCORED,
        "Exit with status 1 if a larger share of the rows is unscored.",
        metavar="SHARE",
    )(command)


def unscored_status(n_rows: int, causes: Mapping[Cause, int], most: float) -> int:
    """Warn where too many rows have no score, and return the status of the command: 0 or 1."""
    from judgesmith.experiments.evaluate.agreement import grouped_reasons
    from judgesmith.signatures.judgement import Reason, by_sentence

    unasked = (Reason.OVER_BUDGET, Reason.NO_ROW)
    failed = {
        one: n for one, n in causes.items() if one.reason not in (*unasked, Reason.LEFT_TO_PEOPLE)
    }
    n_asked = n_rows - sum(n for one, n in causes.items() if one.reason in unasked)
    n_failed = sum(failed.values())
    if n_failed <= most * n_asked:
        return 0
    reason, n = next(iter(grouped_reasons(by_sentence(failed)).items()))
    warning = (
        f"warning: {n_failed} of {counted(n_asked, 'row')} that were asked about have no score, "
        f"more than {most:.0%} (--max-unscored): {n} × {shortened(reason).removesuffix('.')}."
    )
    click.secho(visible(warning), fg="red", err=True)
    return 1
