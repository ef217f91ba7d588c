"""The section of a report on each cell: what was compiled, how sure that is, and how it agrees."""

from __future__ import annotations

from collections.abc import Iterator

from judgesmith.experiments.page_markup import Markup, element, joined
from judgesmith.experiments.reporting.beside import beside_table
from judgesmith.experiments.reporting.figures import agreement_figure, search_figure
from judgesmith.experiments.reporting.parts import bar, estimate, share_bar, table
from judgesmith.experiments.reporting.perspectives import perspective_tables
from judgesmith.experiments.reporting.reading import ReportCell
from judgesmith.experiments.reporting.standing import PARTS, confusion
from judgesmith.experiments.reporting.values import Trial
from judgesmith.experiments.runs.cell_result import Estimated

_LEVELS = ("dataset", "sample", "system")
_STATISTICS = ("pearson", "spearman", "kendall", "q")
_BEST = 10
_LINES = 60
_WORDS = 600


def cell_section(cell: ReportCell, number: int, *, figures: bool) -> Markup:
    """Return all that is told of a cell but its rows.

    Parameters
    ----------
    cell : ReportCell
        Finished.
    number : int
        Which tells its figures from those of other cells.
    figures : bool
        Whether to draw; Matplotlib is needed then.
    """
    mark = f"cell-{cell.names.id}"
    return element(
        "section",
        element("h3", element("bdi", cell.title), id=f"{mark}-h"),
        element("p", _facts(cell), class_="soft"),
        *_notes(cell),
        element(
            "div",
            element(
                "div",
                *_drawn(cell, number, figures=figures),
                _confusion(cell),
                beside_table(cell.result.besides),
            ),
            element("div", _agreement(cell), *_criteria(cell), *perspective_tables(cell)),
            class_="side",
        ),
        *_asks(cell),
        *_search(cell, number, figures=figures),
        id=mark,
        aria_labelledby=f"{mark}-h",
    )


def _facts(cell: ReportCell) -> str:
    result = cell.result
    scale = (
        "a scale that nobody stated"
        if result.scale is None
        else "{:g} to {:g}".format(*result.scale)
    )
    counts = result.rows
    used = f"{counts.train} rows to learn from, {counts.select} to choose by, " * bool(cell.asks)
    if cell.names.optimizer is None:  # a judge that was saved has learned from other texts
        used = used and f"Made elsewhere with {used.removesuffix(', ')}; here "
    name = "fingerprint" if cell.asks else "scores of"
    return (
        f"People rated {result.target} on {result.human_scale}; the judge answers on {scale}. "
        f"{used}{counts.heldout} held out, {counts.unscored} of them unscored. "
        f"{name.capitalize()} {result.judge}."
    )


def _notes(cell: ReportCell) -> Iterator[Markup]:
    if notes := [f"{one[:_WORDS]}{'…' * (len(one) > _WORDS)}" for one in cell.result.notes]:
        listed = element("ul", *(element("li", one) for one in notes[:_LINES]))
        yield element("details", element("summary", f"Notes ({len(notes)})"), listed)


def _drawn(cell: ReportCell, number: int, *, figures: bool) -> Iterator[Markup]:
    if not figures:
        return
    drawn = agreement_figure(cell.rows, name=f"f{number}", seed=cell.names.seed)
    if drawn is None:
        yield element("p", "There are too few rows with both scores to draw.", class_="soft")
        return
    words = (
        "Judge against people: each dot is a row, larger where several rows share it; the line "
        "through them with its 95% band over sources; shares of each score above and beside."
    )
    yield element("figure", drawn, element("figcaption", words))


def _confusion(cell: ReportCell) -> Markup:
    """Return counts by level, or by thirds where people's ratings are not all points of a scale."""
    known = cell.result.besides and cell.result.besides.confusion
    if known and {len(row) for row in known.counts} == {len(known.levels)}:
        names = [f"{level:g}" for level in known.levels]
        counts = [list(row) for row in known.counts]
        caption = "Rows by the level that people and the judge, rounded, give them"
    else:
        names, counts = list(PARTS), confusion(cell.rows).tolist()
        caption = "Rows by the third that people and the judge place them in"
    if not sum(map(sum, counts)):
        return Markup("")
    lines = [[f"people: {name}", *map(str, row)] for name, row in zip(names, counts, strict=False)]
    header = ["", *(f"judge: {name}" for name in names)]
    return element("div", table(caption, header, lines), class_="confusion")


def _agreement(cell: ReportCell) -> Markup:
    agreement = cell.result.agreement
    columns = {
        "as it was": agreement.uncompiled,
        "rows it was chosen by": agreement.selection,
        "rows held out": agreement.heldout,
    }
    told = {name: one for name, one in columns.items() if one}
    lines = []
    for level in _LEVELS:
        for statistic in _STATISTICS:
            own = [one.get(level, {}).get(statistic) for one in told.values()]
            if any(one is not None and one.value is not None for one in own):
                lines.append([f"{level}, {statistic}", *map(estimate, own)])
    if not lines:
        return element("p", "No agreement with people is defined here.", class_="soft")
    n = _counted(agreement.heldout)
    return table(f"Agreement with people, by level{n}", ["", *told], lines)


def _counted(levels: object) -> str:
    for statistics in levels.values() if isinstance(levels, dict) else ():
        for one in statistics.values():
            if isinstance(one, Estimated) and one.n:
                return f"; {one.n} rows of {one.n_groups} sources held out"
    return ""


def _criteria(cell: ReportCell) -> Iterator[Markup]:
    found = cell.result.agreement.criteria
    if found is None or not found.heldout:
        return
    lines = []
    for name, levels in list(found.heldout.items())[:_LINES]:
        own = levels.get("dataset", {}).get("pearson")
        lines.append([name, bar(own), estimate(own), "0" if own is None else str(own.n)])
    caption = "Agreement by criterion, Pearson over all rows held out (bars from -1 to 1)"
    yield table(caption, ["criterion", "", "Pearson", "rows"], lines)


def _asks(cell: ReportCell) -> Iterator[Markup]:
    if not cell.asks:
        return
    lines = [f"{one[:_WORDS]}{'…' * (len(one) > _WORDS)}" for one in cell.asks]
    more = f"And {len(lines) - _LINES} more." if len(lines) > _LINES else ""
    shown = [*lines[:_LINES], *filter(None, [more])]
    listed = element("ul", *(element("li", _asked(one)) for one in shown), class_="asks")
    yield element("details", element("summary", "What the judge asks, and how it scores"), listed)


def _asked(line: str) -> Markup:
    """Return a line of a judge card, in which a criterion's name stands between asterisks."""
    name, found, rest = line.removeprefix("**").partition("**:")
    if found and line.startswith("**"):
        return joined(element("strong", element("bdi", name)), ":", rest)
    return joined(line)


def _search(cell: ReportCell, number: int, *, figures: bool) -> Iterator[Markup]:
    if len(cell.trials) < 2:
        return
    best = sorted(
        (one for one in cell.trials if one.value is not None), key=lambda one: -(one.value or 0.0)
    )
    parts: list[Markup] = [element("summary", f"The search: {len(cell.trials)} trials")]
    if figures and (drawn := search_figure(cell.trials, name=f"s{number}")) is not None:
        words = "What each trial reached on rows to choose by, and the best up to then."
        parts.append(element("figure", drawn, element("figcaption", words)))
    lines = [
        [f"{one.number}", _picked(one), f"{one.value:.3f}", str(one.n_rows or "unknown")]
        for one in best[:_BEST]
    ]
    caption = f"The best {len(lines)} of {len(cell.trials)} trials, by their objective"
    parts.append(table(caption, ["trial", "picked", "objective", "rows"], lines, words=2))
    yield element("details", *parts, *_mattered(cell))


def _mattered(cell: ReportCell) -> Iterator[Markup]:
    """Yield how much each choice of a search told its judges apart, by objective."""
    for one in cell.mattered:
        shares = sorted(one.shares.items(), key=lambda share: -share[1])[:_LINES]
        lines = [[name, share_bar(share), f"{share:.0%}"] for name, share in shares]
        if lines:
            caption = f"What told the judges of the search apart by {one.objective}, by PED-ANOVA"
            yield table(caption[:_WORDS], ["choice", "", "share"], lines)


def _picked(trial: Trial) -> str:
    told = ", ".join(f"{name} {value}" for name, value in trial.picked.items())
    return joined(told[:_WORDS] or "the judge as it was")
