"""What correlations do not tell of a judge, as a table of a report."""

from __future__ import annotations

from collections.abc import Iterator

from judgesmith.experiments.page_markup import Markup
from judgesmith.experiments.reporting.parts import estimate, table
from judgesmith.experiments.runs.cell_result import Besides, Estimated

_WHOSE = {"judge": "the judge's", "people": "people's"}
_SHARES = {
    "most_used_share": "{} commonest score, share of rows",
    "floor_share": "{} scores at the lowest point",
    "ceiling_share": "{} scores at the highest point",
    "tied_pairs": "pairs of rows that share {} score",
}


def beside_table(found: Besides | None) -> Markup:
    """Return pairs, kappa, the use of the scale and length; nothing where none is defined.

    Examples
    --------
    >>> found = Besides(kappa={"quadratic": Estimated(value=0.5)})
    >>> "kappa, quadratic" in beside_table(found)
    True
    >>> beside_table(None)
    ''
    """
    told = [] if found is None else list(_lines(found))
    lines = [
        [name, estimate(one)] for name, one in told if one is not None and one.value is not None
    ]
    if not lines:
        return Markup("")
    return table("Beside correlations, on rows held out", ["", "[95% interval]"], lines)


def _lines(found: Besides) -> Iterator[tuple[str, Estimated | None]]:
    for level, one in found.pairs.items():
        yield f"pairs put in people's order, {level}", one
    for name, one in found.kappa.items():
        yield f"kappa, {name}", one
    for whose, words in _WHOSE.items():
        if (use := found.scale_use.get(whose)) is not None:
            for name, text in _SHARES.items():
                yield text.format(words), getattr(use, name)
    if (length := found.length_bias) is not None:
        yield "longer texts score higher: judge", length.correlation
        yield "longer texts score higher: people", length.human_correlation
        # Where nobody knows the raters it is taken as 1, which says nothing of them.
        if length.reliability is not None and length.reliability < 1:
            yield "reliability of people's ratings", Estimated(value=length.reliability)
