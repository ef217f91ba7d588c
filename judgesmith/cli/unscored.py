"""How many of the rows that were asked about may have no score, and what is said of more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from judgesmith.cli.numbers import Number
from judgesmith.cli.options import Command
from judgesmith.cli.printing import counted, shortened, visible

if TYPE_CHECKING:
    from judgesmith.signatures.judgement import Cause

MAX_UNSCORED = 0.05


def max_unscored_option(command: Command) -> Command:
    """Add ``--max-unscored``."""
    return click.option(
        "--max-unscored",
        type=Number(0, 1),
        default=MAX_UNSCORED,
        show_default=True,
        metavar="SHARE",
        help="Exit with status 1 if more of the rows that were asked about have no score.",
    )(command)


def unscored_status(n_rows: int, causes: Mapping[Cause, int], most: float) -> int:
    """Warn where too many rows have no score, and return the status of the command: 0 or 1.

    Rows that a budget did not reach, that scores on file leave out, or that a calibrated judge
    leaves to people are none that failed.
    """
    from judgesmith.experiments.evaluate.agreement import grouped
    from judgesmith.signatures.judgement import Reason, by_sentence

    unasked = (Reason.OVER_BUDGET, Reason.NO_ROW)
    failed = {
        one: n for one, n in causes.items() if one.reason not in (*unasked, Reason.LEFT_TO_PEOPLE)
    }
    n_asked = n_rows - sum(n for one, n in causes.items() if one.reason in unasked)
    n_failed = sum(failed.values())
    if n_failed <= most * n_asked:
        return 0
    reason, n = next(iter(grouped(by_sentence(failed)).items()))
    warning = (
        f"warning: {n_failed} of {counted(n_asked, 'row')} that were asked about have no score, "
        f"more than {most:.0%} (--max-unscored): {n} × {shortened(reason).removesuffix('.')}."
    )
    click.secho(visible(warning), fg="red", err=True)
    return 1
