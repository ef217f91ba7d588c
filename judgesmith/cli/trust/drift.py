"""``judgesmith monitor drift``: whether scores and inputs are still like those of compile time."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Number, json_option, map_option, seed_option, shown_option
from judgesmith.cli.shared.printing import counted, print_json, print_table, say, say_notes
from judgesmith.cli.shared.verdicts import drift_verdict, print_verdict

if TYPE_CHECKING:
    import numpy as np

    from judgesmith.experiments.monitor.drifting import DriftReport, GatheredRows, Shift
    from judgesmith.experiments.monitor.snapshot import Snapshot
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

_FEW = 30


@tool(
    "drift",
    old_names={"--tolerance": "--max-distance", "--share-tolerance": "--max-share-change"},
)
@click.argument("judge")
@click.argument("scores")
@click.option("--inputs", metavar="DATA", help="Scored data, to compare the texts as well.")
@click.option(
    "--against",
    metavar="OLD",
    help="Compare with these earlier scores, instead of those from compile time.",
)
@click.option("--against-inputs", metavar="DATA", help="Data that OLD contains scores of.")
@map_option
@shown_option(
    ("--max-distance", "tolerance"),
    Number(0, 1),
    0.1,
    "Maximum distance between distributions; 0.1 is a shift of 0.25 SD.",
)
@shown_option(
    ("--max-share-change", "share_tolerance"),
    Number(0, 1),
    0.05,
    "Maximum change of a share: of unscored rows, scripts or languages.",
)
@seed_option
@json_option
def command(
    judge: str,
    scores: str,
    inputs: str | None,
    against: str | None,
    against_inputs: str | None,
    columns: str | None,
    tolerance: float,
    share_tolerance: float,
    seed: int,
    as_json: bool,
) -> int:
    """Say whether SCORES by JUDGE, and their texts, are still like those it was made with.

    SCORES is a file that 'judgesmith score' wrote. No model is asked. Status 1 says that something
    has moved by more than is tolerated, and by more than chance explains.
    """
    import numpy as np

    from judgesmith.data.columns import column_map
    from judgesmith.experiments.monitor.drifting import drift_between
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    if against_inputs is not None and against is None:
        raise OptionError(
            "these are texts of earlier scores, and none are named.",
            option="--against-inputs",
            hint="name them with --against.",
        )
    if [scores, inputs, against, against_inputs].count("-") > 1:
        raise OptionError("standard input is one file.", option="-", hint="name the others.")
    saved = load_saved(judge)
    with blaming("--map"):
        column_map(columns)
    rngs = np.random.default_rng([seed, 30]).spawn(2)
    if against is not None:
        earlier = _gathered(saved, against, against_inputs, columns, rngs[0])
        before, notes = earlier.snapshot, list(earlier.notes)
    else:
        before, notes = _known(saved, judge), []
    found = _gathered(saved, scores, inputs, columns, rngs[1])
    drift = drift_between(
        before, found.snapshot, tolerance=tolerance, share_tolerance=share_tolerance
    )
    notes += [one for one in found.notes if one not in notes]
    notes += _limits(drift, with_inputs=inputs is not None)
    if as_json:
        print_json({"judge": saved.fingerprint, **drift.to_dict()})
    else:
        report(drift)
    say_notes(notes, as_json=as_json)
    return 1 if drift.drifted else 0


def _gathered(
    saved: AnySaved, scores: str, inputs: str | None, columns: str | None, rng: np.random.Generator
) -> GatheredRows:
    from judgesmith.data.formats.opening import open_rows
    from judgesmith.experiments.monitor.drifting import load_scores

    if inputs is not None:
        with blaming(inputs):
            open_rows(inputs)
    with blaming(scores):
        return load_scores(
            scores, judge=saved.fingerprint, inputs=inputs, columns=columns, seed=rng
        )


def _known(saved: AnySaved, judge: str) -> Snapshot:
    """Return what the judge says of when it was made, or refuse."""
    from judgesmith.experiments.monitor.drifting import reference_distribution

    with blaming(judge):
        found = reference_distribution(saved)
    if found is None:
        raise OptionError(
            f"{judge} does not say what its scores and texts were like when it was made.",
            option=judge,
            hint="compile it again, or name earlier scores: judgesmith monitor drift "
            f"{shlex.quote(judge)} SCORES --against OLD.",
        )
    return found


def _limits(drift: DriftReport, *, with_inputs: bool) -> list[str]:
    """Return what this says nothing of, in sentences."""
    notes = []
    if drift.unknown:
        only = [name for name in drift.unknown if name in {*drift.now.numbers, *drift.now.labels}]
        gone = [name for name in drift.unknown if name not in only]
        if only:
            notes.append(f"nothing is known of before: {', '.join(only)}.")
        if gone and with_inputs:
            notes.append(f"not to be seen now: {', '.join(gone)}.")
    if not with_inputs:
        notes.append("texts were not looked at; name them with --inputs.")
    for when, one in (("before", drift.before), ("now", drift.now)):
        worth = min((each.effective for each in one.numbers.values()), default=0.0)
        if worth < _FEW:
            few = f"there are {counted(one.rows, 'row')} of {when}"
            if worth < one.rows - 0.5:
                few = (
                    f"the {one.rows} rows of {when} are worth {worth:.0f} independent ones, as "
                    "rows of one source are alike"
                )
            notes.append(f"{few}: only large shifts can be told from chance.")
    return notes


def report(drift: DriftReport) -> None:
    worths = [one.effective for each in (drift.before, drift.now) for one in each.numbers.values()]
    names, few = [one.what for one in drift.drifted], min(worths, default=0.0) < _FEW
    print_verdict(drift_verdict(names, rows=drift.now.rows, few=few))
    say(
        f"{drift.before.rows} rows before, {drift.before.unscored} without a score; "
        f"{drift.now.rows} now, {drift.now.unscored} without"
    )
    print_table(
        "Distance between distributions, or difference of shares, with its 95% interval",
        [_cells(one) for one in drift.shifts],
        header=["", "before", "now", "effect", ""],
    )


def _cells(one: Shift) -> list[str]:
    effect = f"{one.effect:.3f} [{one.low:.3f}, {one.high:.3f}]"
    means = [f"{number:.1%}" if one.unit == "share" else f"{number:.4g}"
             for number in (one.before, one.now)]  # fmt: skip
    said = ["drifted"] * one.drifted + ["new"] * one.new
    return [one.what, *means, effect, ", ".join(said)]
