"""What ``judgesmith compile`` prints of how well a judge notices that texts were changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.agreement import estimate_text
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgesmith.experiments.compile.versions import Comparison, DiscernmentReport, Noticed


def print_discernment(found: DiscernmentReport, *, before: str, after: str = "compiled") -> None:
    """Print a discernment report: over all kinds of change, then of each.

    ``before`` is what the judge that was started from is called, ``after`` what was made.
    """
    if found.seen is None:
        rows = [[name, estimate_text(one)] for name, one in found.selection.estimates.items()]
        print_table("Discernment on the rows it was chosen by", rows, header=["", "chosen by"])
        print_table("By kind of change", list(_kind_rows(found.selection)), header=_HEADER)
        return
    rows = [*_rows(found.seen)]
    if found.unseen is not None:
        rows = [["kinds it was chosen by"], *rows, ["kinds it never saw"], *_rows(found.unseen)]
    print_table(
        "Discernment, held out: originals against changed versions",
        rows,
        header=["", before, after, "gain"],
    )
    kinds = [*_kind_rows(found.seen.heldout)]
    if found.unseen is not None:
        kinds += _kind_rows(found.unseen.heldout)
    print_table(f"By kind of change, {after}", kinds, header=_HEADER)


_HEADER = ("kind", "pairs", "D")


def _rows(found: Comparison) -> Iterator[list[str]]:
    for name, before in found.uncompiled.estimates.items():
        after, gain = found.heldout.estimates[name], found.gain[name]
        yield [
            f"  {name}",
            estimate_text(before),
            estimate_text(after),
            estimate_text(gain, signed=True),
        ]


def _kind_rows(found: Noticed) -> Iterator[list[str]]:
    for name, one in found.kinds.items():
        yield [name, str(found.n_pairs[name]), estimate_text(one)]
