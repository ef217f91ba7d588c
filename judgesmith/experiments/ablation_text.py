"""An ablation as people read it, in Markdown, and as lines of plain columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.ablation_rows import BLOCKS, FULL, Block
from judgesmith.experiments.markdown_cells import markdown_cell as _cell
from judgesmith.optimizers.base import OFFLINE
from judgesmith.programs.artifacts.record import agreement_text

if TYPE_CHECKING:
    from judgesmith.experiments.ablation_report import AblationRow, AblationTable
    from judgesmith.metrics import Estimate

TITLES: Mapping[Block, str] = {
    "paper": "As in the paper",
    "learned": "With learned weights",
}

HEADER = ("row", "Pearson", "Spearman", "Kendall", "Q", f"Q minus {FULL}")
CHOSEN_HEADER = ("row", "Q chosen by", "Q held out", "optimism", "unscored", "criteria")

COLUMNS = [
    *("block", "row", "pearson", "spearman", "kendall", "q", "q_low", "q_high"),
    *("difference", "difference_low", "difference_high", "p_value"),
    *("selection_q", "optimism", "unscored", "n_criteria", "judge"),
]


def table_rows(table: AblationTable, block: Block) -> list[list[str]]:
    """Return the cells of one block under ``HEADER``."""
    return [
        [
            row.name,
            *(number(row.agreement[name]) for name in ("pearson", "spearman", "kendall")),
            interval(row.agreement["q"]),
            "" if row.difference is None else interval(row.difference, signed=True),
        ]
        for row in table.rows
        if row.block == block
    ]


def chosen_rows_of(table: AblationTable, block: Block) -> list[list[str]]:
    """Return the cells of one block under ``CHOSEN_HEADER``."""
    return [
        [
            row.name,
            number(row.chosen_by),
            number(row.agreement["q"]),
            "undefined" if row.optimism != row.optimism else f"{row.optimism:+.3f}",
            f"{1.0 - row.heldout.share_scored:.1%}",
            str(row.n_criteria),
        ]
        for row in table.rows
        if row.block == block
    ]


def effect_rows(table: AblationTable) -> list[list[str]]:
    """Return what explanations do, a line per block and variant."""
    return [
        [
            f"{one.variant}, {TITLES[one.block].lower()}",
            *(interval(gain, signed=True) for gain in one.gains.values()),
        ]
        for one in table.effects
    ]


def sentences(table: AblationTable) -> Iterator[str]:
    """Yield what a reader should know of the table, beside its numbers."""
    if not table.complete:
        yield (
            f"incomplete: the budget is spent, and {len(table.unfinished)} rows are not made, the "
            f"first {table.unfinished[0]}; the same command with a larger budget continues."
        )
    for name, why in table.left_out.items():
        yield f"{name} is left out: {why}"
    for block, names in table.equal:
        yield f"{TITLES[block].lower()}, {_listed(names)} score every row held out alike."
    own = [
        row.name
        for row in table.rows
        if row.block == "learned" and row.saved.protocol.aggregation.kind == "overall"
    ]
    if own:
        yield (
            f"{TITLES['learned'].lower()}, nothing was better than the judge's own score beyond "
            f"luck, and it stays, in {_listed(own)}."
        )
    if table.model == OFFLINE:
        yield (
            "the offline model does not read the task, and explains scores that it has already: "
            "rows that leave only these out can differ by their demonstrations and by the criteria "
            "inferred for them, and by nothing else."
        )


def markdown(table: AblationTable) -> str:
    """Return an ablation as Markdown."""
    return "\n".join(_lines(table)) + "\n"


def flat_row(row: AblationRow) -> dict[str, Any]:
    """Return a row as plain values under ``COLUMNS``; nan is undefined."""
    agreement, paired = row.agreement, row.difference
    nan = float("nan")
    return {
        "block": row.block,
        "row": row.name,
        **{name: estimate.value for name, estimate in agreement.items()},
        "q_low": agreement["q"].low,
        "q_high": agreement["q"].high,
        "difference": nan if paired is None else paired.value,
        "difference_low": nan if paired is None else paired.low,
        "difference_high": nan if paired is None else paired.high,
        "p_value": nan if paired is None else paired.p_value,
        "selection_q": row.chosen_by.value,
        "optimism": row.optimism,
        "unscored": 1.0 - row.heldout.share_scored,
        "n_criteria": row.n_criteria,
        "judge": row.saved.fingerprint,
    }


def number(estimate: Estimate) -> str:
    """Return a value alone, ``undefined`` where there is none."""
    return "undefined" if estimate.value != estimate.value else f"{estimate.value:.3f}"


def interval(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a value with its interval, as judge cards have it."""
    plain = estimate.to_dict()
    text = agreement_text(plain)
    if not signed or plain["value"] is None:
        return text
    ends = [plain["low"], plain["high"]]
    shown = "" if None in ends else f" [{ends[0]:+.3f}, {ends[1]:+.3f}]"
    return f"{plain['value']:+.3f}{shown}"


def _lines(table: AblationTable) -> Iterator[str]:
    yield "# What each part of the method is worth"
    yield ""
    yield f"Ratings of `{_cell(table.target)}` in `{_cell(table.data)}`, judged by the model"
    yield f"`{_cell(table.model)}`. Agreement on the rows held out, over the whole set; brackets"
    yield f"are intervals over sources. Run `{table.run}`."
    yield ""
    for sentence in sentences(table):
        yield f"- {_cell(sentence)}"
    for block in BLOCKS:
        if rows := table_rows(table, block):
            yield from _section(TITLES[block], HEADER, rows)
            yield from _section("", CHOSEN_HEADER, chosen_rows_of(table, block))
    if table.effects:
        header = ("Gain by explanations", "Pearson", "Spearman", "Kendall")
        yield from _section("What explanations do", header, effect_rows(table))
    if table.criteria:
        rows = [
            [
                _cell(one.name),
                *(_cell(one.definitions.get(side, "")) for side in table.sides),
            ]
            for one in table.criteria
        ]
        yield from _section("Criteria side by side", ("criterion", *table.sides), rows)


def _section(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield ""
    if title:
        yield f"## {title}"
        yield ""
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
