"""The sections of a report: the ranking, every cell, and the tables beside them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from judgesmith.experiments.evaluate.errors.page import Markup, element, joined
from judgesmith.experiments.report.figures import PARTS, agreement_figure, confusion, search_figure
from judgesmith.experiments.report.reading import (
    ReportCell,
    ReportRun,
    Trial,
)
from judgesmith.experiments.runs.cell_result import (
    CellDiagnostics,
    Estimated,
    OnOneCriterion,
    SeenFrom,
)
from judgesmith.experiments.runs.leaderboard import (
    SEEDS_HEADER,
    SEEDS_READING,
    BoardBlock,
    BoardLine,
    SeedsBlock,
    SeedsLine,
    Spread,
    few_systems,
)

LONGEST_NAME = 200


def table(
    caption: str, header: Sequence[str], lines: Iterable[Sequence[str]], *, words: int = 1
) -> Markup:
    """Return a table whose first ``words`` columns are words, the first a heading."""
    kinds = ["word" if place < words else "num" for place in range(len(header))]
    head = (
        element("th", name, scope="col", class_=kind) if name else element("td", class_=kind)
        for name, kind in zip(header, kinds, strict=True)
    )
    rows = []
    for first, *rest in lines:
        cells = (element("td", one, class_=kind) for one, kind in zip(rest, kinds[1:], strict=True))
        rows.append(element("tr", element("th", first, scope="row"), *cells))
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *(joined(one, "\n") for one in rows)),
    )
    return scrolling(whole, caption)


def scrolling(whole: Markup, label: str) -> Markup:
    """Return what may be wider than the screen so that fingers and keys can move it."""
    return element(
        "div", whole, class_="scroll", tabindex="0", role="group", aria_label=label[:LONGEST_NAME]
    )


def estimate(one: Estimated | None, *, signed: bool = False) -> str:
    """Return a number and its interval."""
    if one is None or one.value is None:
        return "undefined"
    form = "+.2f" if signed else ".2f"
    if one.low is None or one.high is None:
        return f"{one.value:{form}}"
    return f"{one.value:{form}} [{one.low:{form}}, {one.high:{form}}]"


def bar(one: Estimated | None) -> Markup:
    r"""Return a correlation as a bar from 0, between -1 and 1; its number stands next to it."""
    if one is None or one.value is None:
        return Markup("")
    value = max(-1.0, min(1.0, one.value))
    left, width = 50 + 50 * min(value, 0.0), 50 * abs(value)
    filled = element("i", style=f"left:{left:.1f}%;width:{width:.1f}%")
    zero = element("b", style="left:50%")
    return element("span", filled, zero, class_="bar", aria_hidden="true")


def share_bar(share: float) -> Markup:
    """Return a share as a bar from 0 to 1; its number stands next to it."""
    width = 100 * max(0.0, min(1.0, share))
    filled = element("i", style=f"left:0.0%;width:{width:.1f}%")
    return element("span", filled, class_="bar", aria_hidden="true")


def points(value: float | None) -> str:
    """Return a score as people read it."""
    return "none" if value is None else f"{value:.4g}"


_WHOSE = {"judge": "the judge's", "people": "people's"}
_SHARES = {
    "most_used_share": "{} commonest score, share of rows",
    "floor_share": "{} scores at the lowest point",
    "ceiling_share": "{} scores at the highest point",
    "tied_pairs": "pairs of rows that share {} score",
}


def beside_table(found: CellDiagnostics | None) -> Markup:
    """Return pairs, kappa, the use of the scale and length; nothing where none is defined."""
    told = [] if found is None else list(_lines(found))
    lines = [
        [name, estimate(one)] for name, one in told if one is not None and one.value is not None
    ]
    if not lines:
        return Markup("")
    return table("Beside correlations, on rows held out", ["", "[95% interval]"], lines)


def _lines(found: CellDiagnostics) -> Iterator[tuple[str, Estimated | None]]:
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


_CAPTIONS = {
    "global": "Global perspective: linear-weighted kappa with the right ratings, on rows held out",
    "local": "Local perspective: neighbours put in the right order, on rows held out",
}
_COLUMN = {"global": "kappa", "local": "share of pairs"}
_COUNTED = {"global": "rows", "local": "pairs"}
_MOST_LINES, _MOST_LETTERS = 60, 600


def perspective_tables(cell: ReportCell) -> Iterator[Markup]:
    """Yield a table for each perspective that the specification asked for, or why it is missing."""
    for name, caption in _CAPTIONS.items():
        found = cell.result.perspectives.get(name)
        if found is None:
            continue
        if found.problem:
            why = f"The {name} perspective has nothing to tell: {found.problem[:_MOST_LETTERS]}"
            yield element("p", why, class_="soft")
            continue
        header = ["criterion", f"{_COLUMN[name]} [95% interval]", _COUNTED[name], "sources"]
        yield table(caption, header, _perspective_lines(found))
        if told := [*_left_out(found), *(one[:_MOST_LETTERS] for one in found.notes[:_MOST_LINES])]:
            yield element("ul", *(element("li", one) for one in told), class_="soft")


def _perspective_lines(found: SeenFrom) -> Iterator[list[str]]:
    criteria = list(found.criteria.items())
    for name, one in criteria[:_MOST_LINES]:
        yield _line(element("bdi", name), _number(one))
    if len(criteria) > _MOST_LINES:
        yield [joined(f"and {len(criteria) - _MOST_LINES} more"), "", "", ""]
    if len(criteria) > 1 and found.mean is not None:
        yield _line(joined("mean"), found.mean)


def _line(name: Markup, number: Estimated | None) -> list[str]:
    counts = ("0", "0") if number is None else (str(number.n), str(number.n_groups))
    return [name, estimate(number), *counts]


def _number(one: OnOneCriterion) -> Estimated | None:
    return one.accuracy if one.kappa is None else one.kappa


def _left_out(found: SeenFrom) -> list[str]:
    told = list(found.left_out.items())[:_MOST_LINES]
    return [f"{name[:_MOST_LETTERS]} is left out: {why[:_MOST_LETTERS]}" for name, why in told]


_LEVELS = ("dataset", "sample", "system")
_STATISTICS = ("pearson", "spearman", "kendall", "q")
_BEST = 10
_LINES = 60
_WORDS = 600


def cell_section(cell: ReportCell, number: int, *, figures: bool) -> Markup:
    """Return all that is told of a cell but its rows."""
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
    scale = "an unknown scale" if result.scale is None else "{:g} to {:g}".format(*result.scale)
    counts = result.rows
    used = f"{counts.train} rows to learn from, {counts.select} validation rows, " * bool(cell.asks)
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
        "baseline": agreement.uncompiled,
        "validation rows": agreement.selection,
        "test rows": agreement.heldout,
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
        words = "What each trial reached on validation rows, and the best up to then."
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
    return joined(told[:_WORDS] or "the baseline")


_HEADER = (
    *("judge", "optimizer", "model", "Q [95% interval]", "Q minus the first", "rows of both", "p"),
    *("rows", "sources", "systems", "unscored", "calls a text", "$ per 1000 texts"),
)

READING = (
    "Q is the sum of Pearson's, Spearman's and Kendall's correlation with people, on rows that "
    "were held out; intervals draw sources. Differences are to the first of a table, on rows that "
    "both scored; p is adjusted by Holm's method for all comparisons of the table. Being the first "
    "is in part luck. Calls and dollars are those behind a judgement, whether or not answers were "
    "cached."
)

_Group = tuple[str, str]


def board_section(run: ReportRun, linked: Container[str] | None = None) -> Markup:
    """Return the rankings, one table for each set, target and seed; other levels folded away.

    Where there are several seeds, means over them come first.
    """
    linked = run.cells if linked is None else linked
    groups: dict[tuple[str, str, int], list[BoardBlock]] = {}
    for block in run.board.blocks:
        groups.setdefault((block.data, block.target, block.seed), []).append(block)
    together: dict[_Group, list[SeedsBlock]] = {}
    for one in run.board.over_seeds:
        together.setdefault((one.data, one.target), []).append(one)
    parts = [element("h2", "Leaderboard", id="board-h")]
    if groups:
        parts.append(element("p", READING, class_="soft"))
    else:
        parts.append(element("p", "No cell has anything to rank."))
    if together:
        parts.append(element("p", SEEDS_READING, class_="soft"))
    for (data, target), seeds in together.items():
        parts.append(_heading(f"{data}: {target}, over {len(seeds[0].seeds)} seeds"))
        parts += _with_levels([_over_seeds(one) for one in seeds])
    for (data, target, seed), blocks in groups.items():
        parts.append(_heading(f"{data}: {target}, seed {seed}"))
        parts += _with_levels([_table(one, linked) for one in blocks])
    return element("section", *parts, id="board", aria_labelledby="board-h")


def _heading(words: str) -> Markup:
    return element("h3", element("bdi", words))


def _with_levels(tables: list[Markup]) -> list[Markup]:
    first, *rest = tables
    if not rest:
        return [first]
    return [first, element("details", element("summary", f"At {len(rest)} other levels"), *rest)]


def _table(block: BoardBlock, linked: Container[str]) -> Markup:
    few = few_systems(block.level, max((one.n_systems or 0 for one in block.cells), default=0))
    known = any(one.n_systems for one in block.cells)
    caption = f"{block.data}: {block.target}, seed {block.seed}, {block.level} level{few * known}"
    return table(caption, _HEADER, (list(_board_line(one, linked)) for one in block.cells), words=3)


def _board_line(line: BoardLine, linked: Container[str]) -> Iterator[str]:
    name = element("bdi", line.judge)
    yield element("a", name, href=f"#cell-{line.cell}") if line.cell in linked else name
    yield line.optimizer or "–"
    yield line.model or "–"
    yield estimate(line.q)
    yield "–" if line.difference is None else estimate(line.difference, signed=True)
    yield "–" if line.difference is None else str(line.difference.n)
    yield "–" if line.p_holm is None else f"{line.p_holm:.3f}"
    yield str(line.q.n)
    yield str(line.q.n_groups)
    yield "unknown" if line.n_systems is None else str(line.n_systems)
    share = f"{line.unscored:.1%}"
    yield joined(element("strong", share)) if line.unscored else share
    yield "unknown" if line.calls_per_item is None else f"{line.calls_per_item:.1f}"
    yield "unknown" if line.usd_per_item is None else f"{1000 * line.usd_per_item:.2f}"


def _over_seeds(block: SeedsBlock) -> Markup:
    caption = f"{block.data}: {block.target}, {block.level} level, over {len(block.seeds)} seeds"
    lines = (list(_seeds_line(one)) for one in block.cells)
    return table(caption, SEEDS_HEADER, lines, words=3)


def _seeds_line(line: SeedsLine) -> Iterator[str]:
    yield element("bdi", line.judge)
    yield line.optimizer or "–"
    yield line.model or "–"
    for one in (line.q.mean, line.q.sd, line.q.low, line.q.high):
        yield "–" if one is None else f"{one:.2f}"
    without = f", {line.q.n_undefined} undefined" if line.q.n_undefined else ""
    yield f"{line.q.n_seeds}{without}"
    yield from ("–", "–") if line.difference is None else _gained(line.difference)


def _gained(gain: Spread) -> tuple[str, str]:
    mean = "–" if gain.mean is None else f"{gain.mean:+.2f}"
    return mean, "–" if gain.sd is None else f"{gain.sd:.2f}"
