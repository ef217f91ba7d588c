"""The sections of a report, on ranking, cells and texts: what their templates are given."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from markupsafe import Markup

from judgesmith.data.items import DataSet
from judgesmith.experiments.evaluate.errors.found import TextErrors
from judgesmith.experiments.evaluate.errors.page import TEMPLATES, macro, page_text
from judgesmith.experiments.evaluate.label_verdicts import mistake_rows
from judgesmith.experiments.evaluate.placing import (
    PARTS,
    apart,
    band,
    counts_by_third,
    with_both,
)
from judgesmith.experiments.report.reading import (
    ReportCell,
    ReportRow,
    ReportRun,
    Trial,
    rated_item,
)
from judgesmith.experiments.runs.cell_result import CellDiagnostics, Estimated
from judgesmith.experiments.runs.discernment_table import (
    DISCERNMENT_READING,
    DiscernmentBlock,
    DiscernmentLine,
    discernment_tables,
)
from judgesmith.experiments.runs.leaderboard import (
    LABELS_HEADER,
    RATES,
    SEEDS_HEADER,
    SEEDS_READING,
    BoardBlock,
    BoardLine,
    SeedsBlock,
    SeedsLine,
    by_labels,
    few_systems,
    label_cells,
    labels_title,
    seeds_title,
)
from judgesmith.experiments.tables import Table, percent_cell
from judgesmith.programs.artifacts.test_rows import cut
from judgesmith.results.charts import Chart, NumberWithEnds, distribution, forest, history, scatter
from judgesmith.signatures.judgement import ErrorSpan

_TEMPLATE = "sections.html"
_MOST_CHARTS = 4
_MOST_LINES = 12
_MOST_WARNINGS = 5
_WORDS = 600


def estimate(one: Estimated | None, *, signed: bool = False) -> str:
    if one is None or one.value is None:
        return "undefined"
    form = "+.2f" if signed else ".2f"
    if one.low is None or one.high is None:
        return f"{one.value:{form}}"
    return f"{one.value:{form}} [{one.low:{form}}, {one.high:{form}}]"


def _two_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _picked(trial: Trial) -> str:
    told = ", ".join(f"{name} {value}" for name, value in trial.picked.items())
    return told[:_WORDS] or "the baseline"


def _board_caption(block: BoardBlock) -> str:
    few = few_systems(block.level, max((one.n_systems or 0 for one in block.cells), default=0))
    known = any(one.n_systems for one in block.cells)
    return f"{block.data}: {block.target}, seed {block.seed}, {block.level} level{few * known}"


_HEADER = (
    *("judge", "optimizer", "model", "Q [95% interval]", "Q minus the first", "rows of both", "p"),
    *("rows", "sources", "systems", "unscored", "calls a text", "$ per 1000 texts"),
)

READING = (
    "Q is the sum of Pearson's, Spearman's and Kendall's correlation with human ratings, on "
    "rows that "
    "were held out; intervals draw sources. Differences are to the first of a table, on rows that "
    "both scored; p is adjusted by Holm's method for all comparisons of the table. Being the first "
    "is in part luck. Calls and dollars are those behind a judgement, whether or not answers were "
    "cached."
)

_PERSPECTIVES = {
    "global": (
        "Global perspective: linear-weighted kappa with the right ratings, on rows held out",
        *("kappa", "rows"),
    ),
    "local": (
        "Local perspective: neighbours put in the right order, on rows held out",
        *("share of pairs", "pairs"),
    ),
}
"""The caption of each perspective's table, its column, and what that counts."""

TEMPLATES.filters |= {
    "board_caption": _board_caption,
    "by_labels": by_labels,
    "estimate": estimate,
    "label_cells": label_cells,
    "labels_title": labels_title,
    "picked": _picked,
    "seeds_title": seeds_title,
    "two_digits": _two_digits,
}
TEMPLATES.globals |= {
    "BOARD_HEADER": _HEADER,
    "MOST_CHARTS": _MOST_CHARTS,
    "MOST_WARNINGS": _MOST_WARNINGS,
    "LABELS_HEADER": LABELS_HEADER,
    "PERSPECTIVES": _PERSPECTIVES,
    "DISCERNMENT_READING": DISCERNMENT_READING,
    "SEEDS_HEADER": SEEDS_HEADER,
    "SEEDS_READING": SEEDS_READING,
}


def board_section(
    run: ReportRun, linked: Container[str] | None = None, *, figures: bool = True
) -> Markup:
    """Return the rankings: a chart for each set and target, and tables, folded away."""
    groups: dict[tuple[str, str, int], list[BoardBlock]] = {}
    for block in run.board.blocks:
        groups.setdefault((block.data, block.target, block.seed), []).append(block)
    together: dict[tuple[str, str], list[SeedsBlock]] = {}
    for one in run.board.over_seeds:
        together.setdefault((one.data, one.target), []).append(one)
    linked = run.cells if linked is None else linked
    drawn = chain(_rankings(groups, together), _noticing(run.board.discernment))
    charts = [one.figure(f"b{n}") for n, one in enumerate(drawn) if figures]
    damage = list(discernment_tables(run.board.discernment))
    return macro(_TEMPLATE, "board", charts, groups, together, READING, linked, damage)


def _noticing(blocks: Sequence[DiscernmentBlock]) -> Iterator[Chart]:
    """Yield a chart of the lowest D for each set, target and seed."""
    for block in blocks:
        own = [(line, line.d_min.value, line.d_min.low, line.d_min.high) for line in block.cells]
        words = f"Seed {block.seed}; lines are 95% intervals. {DISCERNMENT_READING}"
        label = "lowest D over the changes (1 is p of .05)"
        yield _ranking(block.data, block.target, own, words, ends="95% interval", x_label=label)


def _rankings(
    groups: Mapping[tuple[str, str, int], list[BoardBlock]],
    together: Mapping[tuple[str, str], list[SeedsBlock]],
) -> Iterator[Chart]:
    """Yield a chart for each set and target: over seeds, where there are several."""
    for (data, target), (several, *_) in together.items():
        means = [(line, line.q.mean, line.q.low, line.q.high) for line in several.cells]
        words = f"Mean over {len(several.seeds)} seeds; lines from the lowest to the highest."
        yield _ranking(data, target, means, words, ends="lowest, highest")
    for (data, target, seed), (block, *_) in groups.items():
        if (data, target) not in together:
            own = [(line, line.q.value, line.q.low, line.q.high) for line in block.cells]
            words = f"Seed {seed}; lines are 95% intervals."
            yield _ranking(data, target, own, words, ends="95% interval")


def _ranking(
    data: str,
    target: str,
    lines: Sequence[
        tuple[BoardLine | SeedsLine | DiscernmentLine, float | None, float | None, float | None]
    ],
    words: str,
    *,
    ends: str,
    x_label: str = "Q, agreement with human ratings (at most 3)",
) -> Chart:
    found: dict[str, NumberWithEnds] = {}
    models = {line.model for line, *_ in lines}
    for line, *numbers in lines[:_MOST_LINES]:
        optimizer = line.optimizer if line.optimizer != "none" else None
        model = line.model if len(models) > 1 else None
        name = " · ".join(str(page_text(one)) for one in (line.judge, optimizer, model) if one)
        found[name] = NumberWithEnds.of(*numbers)
    if len(lines) > _MOST_LINES:
        words += f" The first {_MOST_LINES} of {len(lines)}."
    title = f"{page_text(data)}: {page_text(target)}"
    return forest(found, title=title, x_label=x_label, words=words, ends=ends)


def cell_section(
    cell: ReportCell, number: int, *, figures: bool, sets: Mapping[str, DataSet] | None = None
) -> Markup:
    """Return all that is told of a cell but its rows; of wrong labels also the texts."""
    drawn = searched = None
    if figures:
        drawn = _agreement_chart(cell, mark=f"f{number}")
    if figures and sum(one.value is not None for one in cell.trials) > 1:
        searched = history((one.value for one in cell.trials), title="Search").figure(f"s{number}")
    return macro(
        _TEMPLATE,
        "cell",
        cell,
        facts=_facts(cell),
        figures=figures,
        drawn=drawn,
        searched=searched,
        rates=_rates_table(cell),
        wrong=list(_wrong_labels(cell, sets or {})),
        confusion=_confusion(cell),
        beside=beside_table(cell.result.besides),
        agreement=_agreement(cell),
    )


def _agreement_chart(cell: ReportCell, mark: str) -> Markup:
    """Return the judge's scores against people's, with their line, and how often each is given."""
    rows = cell.rows
    places, human, scores = with_both([one.human for one in rows], [one.score for one in rows])
    if len(places) < 2:
        return Markup("")
    line = band(human, scores, [rows[n].group for n in places], seed=cell.names.seed)
    charts = (
        scatter(
            human.tolist(),
            scores.tolist(),
            title="Scores of the judge against human ratings",
            line=line.line if line else (),
            band=line.area if line else (),
            words=f"Each dot is one of {len(places)} rows; the line through them with its 95% band "
            "over sources.",
        ),
        distribution(scores.tolist(), title="Scores of the judge", x_label="judge score"),
    )
    return Markup("").join(one.figure(f"{mark}{n}") for n, one in enumerate(charts))


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


_MOST_WRONG = 20


def _rates_table(cell: ReportCell) -> Table:
    """Return what is known of a cell's labels; no rows where it has none."""
    labels = cell.result.labels
    told = {} if labels is None else {"tnr": labels.tnr, "tpr": labels.tpr, **labels.statistics}
    lines = [[RATES.get(name, name.replace("_", " ")), estimate(one)] for name, one in told.items()]
    return Table(title="Labels, on rows held out", header=["", "[95% interval]"], rows=lines)


def _wrong_labels(cell: ReportCell, sets: Mapping[str, DataSet]) -> Iterator[Table]:
    """Yield what the judge passes and raters do not, and the other way round, with all words."""
    labels = cell.result.labels
    if labels is None:
        return
    if groups := mistake_rows(one.model_dump() for one in labels.mistakes):
        yield Table(
            title="Mistakes by criterion and closest guideline",
            header=["about", "passed wrongly", "stopped wrongly"],
            rows=[[cut(name, _WORDS), *counts] for name, *counts in groups],
        )
    rows = {row.item: row for row in cell.rows}
    for title, passes in (("Passed, and bad for raters", True), ("Stopped, and good", False)):
        own = [one for one in labels.wrong if (one.judge == labels.positive) == passes]
        lines = []
        for one in own[:_MOST_WRONG]:
            row = rows.get(one.item)
            item = None if row is None else rated_item(row, cell, sets)
            why = () if item is None else item.rationale.get(cell.result.target, ())
            chance = "" if one.probability is None else f" ({one.probability:.2f})"
            cells = [
                ": ".join(filter(None, (one.criterion, one.guideline))) or "–",
                item.response if item else (row.source_id if row else str(one.item)),
                f"{one.human}: {' | '.join(filter(None, why))}" if any(why) else one.human,
                f"{one.judge}{chance}: {row.explanation if row else ''}".removesuffix(": "),
            ]
            lines.append([cut(text, _WORDS) for text in cells])
        n = f", the first {_MOST_WRONG}" * (len(own) > _MOST_WRONG)
        header = ["about", "response", "raters", "judge"]
        if lines:
            yield Table(title=f"{title}: {len(own)}{n}", header=header, rows=lines)


_WHOSE = {"judge": "the judge's", "people": "people's"}
_SHARES = {
    "most_used_share": "{} commonest score, share of rows",
    "floor_share": "{} scores at the lowest point",
    "ceiling_share": "{} scores at the highest point",
    "tied_pairs": "pairs of rows that share {} score",
}


def beside_table(found: CellDiagnostics | None) -> Table:
    """Return pairs, kappa, the use of the scale and length, each where it is defined."""
    told = [] if found is None else list(_lines(found))
    lines = [
        [name, estimate(one)] for name, one in told if one is not None and one.value is not None
    ]
    title = "Other measures, on rows held out"
    return Table(title=title, header=["", "[95% interval]"], rows=lines)


def _lines(found: CellDiagnostics) -> Iterator[tuple[str, Estimated | None]]:
    for level, one in found.pairs.items():
        yield f"pairs ordered as by raters, {level}", one
    for name, one in found.kappa.items():
        yield f"kappa, {name}", one
    for whose, words in _WHOSE.items():
        if (use := found.scale_use.get(whose)) is not None:
            for name, text in _SHARES.items():
                yield text.format(words), getattr(use, name)
    if (length := found.length_bias) is not None:
        yield "longer texts score higher: judge", length.correlation
        yield "longer texts score higher: raters", length.human_correlation
        # Where nobody knows the raters it is taken as 1, which says nothing of them.
        if length.reliability is not None and length.reliability < 1:
            yield "reliability of human ratings", Estimated(value=length.reliability)


def _confusion(cell: ReportCell) -> Table:
    """Return counts by level, or by thirds where people's ratings are not all points of a scale."""
    if (labels := cell.result.labels) is not None:
        header = ["", *(f"judge: {name}" for name in labels.labels)]
        lines = [
            [
                f"raters: {name}",
                *(
                    f"{n} ({percent_cell(labels.shares[name][other])})"
                    for other, n in zip(labels.labels, counts, strict=True)
                ),
            ]
            for name, counts in zip(labels.labels, labels.confusion, strict=True)
        ]
        return Table(title="Rows by the label of raters and judge", header=header, rows=lines)
    known = cell.result.besides and cell.result.besides.confusion
    if known and {len(row) for row in known.counts} == {len(known.levels)}:
        names = [f"{level:g}" for level in known.levels]
        counts = [list(row) for row in known.counts]
        caption = "Rows by the level that raters and the judge, rounded, give them"
    else:
        names, counts = list(PARTS), counts_by_third(*_both(cell)).tolist()
        caption = "Rows by the third that raters and the judge place them in"
    lines = [[f"raters: {name}", *map(str, row)] for name, row in zip(names, counts, strict=False)]
    header = ["", *(f"judge: {name}" for name in names)]
    return Table(title=caption, header=header, rows=lines if sum(map(sum, counts)) else [])


_LEVELS = ("dataset", "sample", "system")
_STATISTICS = ("pearson", "spearman", "kendall", "q")


def _agreement(cell: ReportCell) -> Table:
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
    title = f"Agreement with human ratings, by level{_counted(agreement.heldout)}"
    return Table(title=title, header=["", *told], rows=lines)


def _counted(levels: object) -> str:
    for statistics in levels.values() if isinstance(levels, dict) else ():
        for one in statistics.values():
            if isinstance(one, Estimated) and one.n:
                return f"; {one.n} rows of {one.n_groups} sources held out"
    return ""


_KINDS = {
    "": "all rows",
    "higher": "judge higher than raters",
    "lower": "judge lower than raters",
    "unscored": "rows without a score",
    "errors": "rows with errors marked",
}


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """The section, and how much of the run is in it."""

    section: Markup
    shown: int
    n_rows: int


def explorer(run: ReportRun, sets: Mapping[str, DataSet], *, room: int, why: str = "") -> Explorer:
    """Return the rows of all cells by how far judge and people differ, as many as there is room."""
    shown: list[tuple[float, Markup]] = []
    size = 3_000
    queues = [list(_ordered(cell)) for cell in run.cells.values()]
    n_rows = sum(map(len, queues))
    for number, (cell, row, gap) in enumerate(_in_turn(queues)):
        text = _text_of(row, cell, sets)
        body = macro("explorer.html", "body", cell, row, gap, text, mark=f"r{number}")
        size += len(body.encode()) + 1
        if size > room:
            break
        shown.append((2.0 if gap is None else -abs(gap), body))
    shown.sort(key=lambda one: one[0])
    intro, bodies = _intro(len(shown), n_rows), [body for _, body in shown]
    section = macro("explorer.html", "section", run, intro, why, _KINDS, bodies)
    return Explorer(section=section, shown=len(shown), n_rows=n_rows)


def _intro(shown: int, n_rows: int) -> str:
    which = "All" if shown == n_rows else f"{shown} of"
    left = (
        ""
        if shown == n_rows
        else (
            " More do not fit on a page: shown are those of each judge with the largest "
            "differences, and some without a score."
        )
    )
    return (
        f"{which} {n_rows} judgements of rows held out are below, the largest differences first."
        f"{left} The difference is that between the ranks that judge and raters give a row among "
        "the others, as a share of them: +0.50 is half of all rows too high. So judges on any "
        "scale can be read alike."
    )


def _ordered(cell: ReportCell) -> Iterator[tuple[ReportCell, ReportRow, float | None]]:
    """Yield rows by their difference; as long as there are, each fifth is one that has none."""
    gaps = apart(*_both(cell))
    pairs = list(zip(cell.rows, gaps, strict=True))
    scored = sorted(
        (one for one in pairs if one[1] is not None), key=lambda one: -abs(one[1] or 0.0)
    )
    others = iter([one for one in pairs if one[1] is None])
    for place, (row, gap) in enumerate(scored):
        if place % 4 == 0:
            yield from ((cell, missing, None) for missing, _ in islice(others, 1))
        yield cell, row, gap
    for row, _ in others:
        yield cell, row, None


def _both(cell: ReportCell) -> tuple[list[float | None], list[float | None]]:
    return [one.human for one in cell.rows], [one.score for one in cell.rows]


def _in_turn(
    queues: Sequence[Sequence[tuple[ReportCell, ReportRow, float | None]]],
) -> Iterator[tuple[ReportCell, ReportRow, float | None]]:
    for place in range(max(map(len, queues), default=0)):
        for queue in queues:
            if place < len(queue):
                yield queue[place]


def _text_of(row: ReportRow, cell: ReportCell, sets: Mapping[str, DataSet]) -> TextErrors | None:
    item = rated_item(row, cell, sets)
    if item is None:
        return None
    length = len(item.response)
    errors = tuple(_within(one, length) for one in row.errors)
    return TextErrors(item=item, errors=errors, score=row.score, problem=row.problem)


def _within(error: ErrorSpan, length: int) -> ErrorSpan:
    """Return an error without its place, if that is not in the text."""
    start, end = error.start, error.end
    if start is None or end is None or not 0 <= start <= end <= length:
        return error.model_copy(update={"start": None, "end": None})
    return error
