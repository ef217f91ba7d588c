"""Both perspectives on a judge as tables of a report: the right rating, and near neighbours."""

from __future__ import annotations

from collections.abc import Iterator

from judgesmith.experiments.page_markup import Markup, element, joined
from judgesmith.experiments.reporting.parts import estimate, table
from judgesmith.experiments.reporting.reading import ReportCell
from judgesmith.experiments.runs.cell_result import Estimated, OnOneCriterion, SeenFrom

_CAPTIONS = {
    "global": "Global perspective: linear-weighted kappa with the right ratings, on rows held out",
    "local": "Local perspective: neighbours put in the right order, on rows held out",
}
_COLUMN = {"global": "kappa", "local": "share of pairs"}
_COUNTED = {"global": "rows", "local": "pairs"}
_LINES, _WORDS = 60, 600


def perspective_tables(cell: ReportCell) -> Iterator[Markup]:
    """Yield a table for each perspective that the specification asked for, or why there is none."""
    for name, caption in _CAPTIONS.items():
        found = cell.result.perspectives.get(name)
        if found is None:
            continue
        if found.problem:
            why = f"The {name} perspective has nothing to tell: {found.problem[:_WORDS]}"
            yield element("p", why, class_="soft")
            continue
        header = ["criterion", f"{_COLUMN[name]} [95% interval]", _COUNTED[name], "sources"]
        yield table(caption, header, _lines(found))
        if told := [*_left_out(found), *(one[:_WORDS] for one in found.notes[:_LINES])]:
            yield element("ul", *(element("li", one) for one in told), class_="soft")


def _lines(found: SeenFrom) -> Iterator[list[str]]:
    criteria = list(found.criteria.items())
    for name, one in criteria[:_LINES]:
        yield _line(element("bdi", name), _number(one))
    if len(criteria) > _LINES:
        yield [joined(f"and {len(criteria) - _LINES} more"), "", "", ""]
    if len(criteria) > 1 and found.mean is not None:
        yield _line(joined("mean"), found.mean)


def _line(name: Markup, number: Estimated | None) -> list[str]:
    counts = ("0", "0") if number is None else (str(number.n), str(number.n_groups))
    return [name, estimate(number), *counts]


def _number(one: OnOneCriterion) -> Estimated | None:
    return one.accuracy if one.kappa is None else one.kappa


def _left_out(found: SeenFrom) -> list[str]:
    told = list(found.left_out.items())[:_LINES]
    return [f"{name[:_WORDS]} is left out: {why[:_WORDS]}" for name, why in told]
