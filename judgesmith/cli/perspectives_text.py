"""A judge seen from one side, as it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judgesmith.cli.agreement import estimate_text
from judgesmith.cli.printing import counted, say, say_under, say_wrapped, shortened
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.perspectives.report import (
        GlobalReport,
        LocalReport,
        PerspectiveReport,
    )

_MOST_LEVELS = 16
"""Tables of all pairs of more levels than this are in ``--json`` alone."""

_MOST_APART = 5


def print_perspective(found: PerspectiveReport, *, name: str) -> None:
    """Print one perspective of a judge on the set called ``name``."""
    from judgesmith.experiments.evaluate.agreement import unscored_text
    from judgesmith.experiments.evaluate.perspectives.report import GlobalReport, LocalReport

    say(f"{found.label} on {name}: {found.perspective} perspective")
    wide = [one for one in found.reports.values() if isinstance(one, GlobalReport)]
    near = [one for one in found.reports.values() if isinstance(one, LocalReport)]
    if wide:
        _print_global(found, wide)
    if near:
        _print_local(found, near)
    for one in found.reports.values():
        if one.basis.unscored.n:
            say_under(shortened(one.criterion, 30), unscored_text(one.basis.unscored), indent=2)
    for criterion, why in found.left_out.items():
        say_under(f"{shortened(criterion, 30)} is left out", why, indent=2)


def _print_global(found: PerspectiveReport, reports: Sequence[GlobalReport]) -> None:
    rows = [
        [shortened(one.criterion, 30), str(one.kappa.n), estimate_text(one.kappa), _asked(one)]
        for one in reports
    ]
    print_table(
        f"Linear-weighted kappa: {_basis(found)}",
        [*rows, *_mean_row(found, len(rows))],
        header=["criterion", "n", "kappa", "samples"],
    )
    for one in reports:
        levels = [f"{level:g}" for level in one.confusion.levels]
        if len(levels) <= _MOST_LEVELS:
            counts = [
                [f"right: {level}", *map(str, row), *map(_share, shares)]
                for level, row, shares in zip(
                    levels, one.confusion.counts, one.confusion.rates, strict=True
                )
            ]
            title = f"{shortened(one.criterion, 30)}: what the judge gave, texts and shares"
            print_table(title, counts, header=["", *levels, *levels])
        _say_kept(one)


def _print_local(found: PerspectiveReport, reports: Sequence[LocalReport]) -> None:
    rows = [
        [
            shortened(one.criterion, 30),
            str(one.accuracy.n),
            estimate_text(one.accuracy),
            _share(one.accuracy.tied),
            str(one.accuracy.n_unscored),
            _asked(one),
        ]
        for one in reports
    ]
    print_table(
        f"Neighbours in the right order: {_basis(found)}",
        [*rows, *_mean_row(found, len(rows), more=2)],
        header=["criterion", "pairs", "accuracy", "tied", "left out", "samples"],
    )
    apart = [one for one in reports if one.apart]
    if apart:
        ks = [k for k in range(1, _MOST_APART + 1) if any(k in one.apart for one in apart)]
        print_table(
            "Pairs by how many errors more one text has",
            [
                [shortened(one.criterion, 30)]
                + [_share(one.apart[k].value) if k in one.apart else "" for k in ks]
                for one in apart
            ],
            header=["criterion", *(f"I({k})" for k in ks)],
        )
    for one in reports:
        if one.by_errors is not None and len(one.by_errors.errors) <= _MOST_LEVELS:
            errors = [f"{n:g}" for n in one.by_errors.errors]
            print_table(
                f"{shortened(one.criterion, 30)}: accuracy by the errors of either text, in %",
                [
                    [n, *map(_percent, row)]
                    for n, row in zip(errors, one.by_errors.accuracy.tolist(), strict=True)
                ],
                header=["errors", *errors],
            )
        _say_kept(one)


def _basis(found: PerspectiveReport) -> str:
    numbers = sorted({one.value.n_groups for one in found.reports.values()})
    most = counted(numbers[-1], "source")
    of = most if len(numbers) == 1 else f"{numbers[0]} to {most}"
    return f"{of}, {found.mean.confidence:.0%} intervals over sources"


def _mean_row(found: PerspectiveReport, n_rows: int, *, more: int = 0) -> list[list[str]]:
    if n_rows < 2:
        return []
    without = f", {found.mean.n_undefined} undefined" if found.mean.n_undefined else ""
    row = [f"mean{without}", str(found.mean.n), estimate_text(found.mean), *[""] * more, ""]
    return [row]


def _asked(one: GlobalReport | LocalReport) -> str:
    low, high = one.basis.n_samples
    return str(low) if low == high else f"{low} to {high}"


def _share(share: float) -> str:
    return "" if share != share else f"{share:.2f}"


def _percent(share: float) -> str:
    return "" if share != share else f"{100 * share:.0f}"


def _say_kept(one: GlobalReport | LocalReport) -> None:
    """Say what was kept of the rated texts, level by level, and what was left out."""
    right = one.basis.right
    said = []
    if right.n_built:
        said.append(f"{right.n_built} rated by how they were made")
    counts = right.counts
    n_kept = 0 if counts is None else sum(counts.n_kept)
    if counts is not None and len(counts.levels) <= _MOST_LEVELS and n_kept > right.n_built:
        kept = "/".join(map(str, counts.n_kept))
        ends = f"{counts.levels[0]:g} to {counts.levels[-1]:g}"
        said.append(f"undisputed {kept} (ratings {ends})")
        if any(counts.n_dropped):
            said.append(f"disputed {'/'.join(map(str, counts.n_dropped))}")
    if counts is not None and counts.n_unknown:
        said.append(f"{counts.n_unknown} of which a mean alone is known")
    if counts is not None and counts.n_too_few:
        said.append(f"{counts.n_too_few} with a single rating")
    if one.basis.n_outside:
        said.append(f"{counted(one.basis.n_outside, 'sample')} outside of {one.basis.answers}")
    if said:
        say_wrapped(f"{shortened(one.criterion, 30)}: {'; '.join(said)}", hang=2)
