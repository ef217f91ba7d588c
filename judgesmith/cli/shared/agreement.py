"""Agreement with people as it is printed: estimates with intervals, and preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesmith.cli.shared.printing import (
    counted,
    print_table,
    say,
    say_under,
    say_wrapped,
    wants_full,
)
from judgesmith.errors import shortened

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.agreement import CriterionReports, Gain, Report, Unscored
    from judgesmith.experiments.evaluate.label_verdicts import LabelAgreement, LabelError
    from judgesmith.experiments.evaluate.preferring import PreferenceEvaluation
    from judgesmith.metrics import Estimate
    from judgesmith.metrics.pairs import OrderConsistency

LEVELS = ("dataset", "sample", "system")
STATISTICS = ("pearson", "spearman", "kendall", "q")
_LEFT_OUT = {"sample": ("source", "value"), "system": ("system", "score")}
NO_DIFFERENCE = 1e-12
"""What numbers differ by that are equal but for rounding."""


def three_digits(value: float) -> str:
    """Return a number of three digits, ``undefined`` for nan."""
    return "undefined" if value != value else f"{value:.3f}"


def estimate_text(estimate: Any, *, signed: bool = False) -> str:
    """Return an estimate with its interval, or ``undefined``."""
    if estimate is None or estimate.value != estimate.value:
        return "undefined"
    sign = "+" if signed else ""
    value = f"{_without_noise(estimate.value):{sign}.3f}"
    if estimate.has_few_groups:
        return f"{value} [<5 sources]"
    if estimate.low != estimate.low:
        return f"{value} [no interval]"
    return f"{value} {interval_text(estimate.low, estimate.high, signed=signed)}"


def interval_text(low: float, high: float, *, signed: bool = False) -> str:
    """Return both ends to two decimals, or to as many, up to four, as show an end's sign."""
    return f"[{_end_text(low, signed=signed)}, {_end_text(high, signed=signed)}]"


def _without_noise(value: float) -> float:
    return 0.0 if abs(value) < NO_DIFFERENCE else value


def _end_text(end: float, *, signed: bool) -> str:
    end = _without_noise(end)
    sign = "+" if signed and end else ""
    texts = [f"{end:{sign}.{n_digits}f}" for n_digits in (2, 3, 4)]
    return next((text for text in texts if float(text)), texts[0])


def level_text(level: str, estimates: Mapping[str, Sequence[Estimate]]) -> str:
    """Return the name of a level, and how many groups its means leave out, if any."""
    counts = {
        name: sorted({one.n_undefined for one in several if one.value == one.value})
        for name, several in estimates.items()
    }
    counts = {name: own for name, own in counts.items() if own}
    # All rows make one group at dataset level.
    if level not in _LEFT_OUT or not any(map(any, counts.values())):
        return level
    group, what = _LEFT_OUT[level]
    texts = {
        name: " to ".join(map(str, dict.fromkeys((n[0], n[-1])))) for name, n in counts.items()
    }
    first = next(iter(texts.values()))
    others = "".join(f", {name} {text}" for name, text in texts.items() if text != first)
    return f"{level} ({first} {group}{'' if first == '1' else 's'} without a {what}{others})"


def agreement_rows(reports: Sequence[Report | None], gain: Gain | None = None) -> list[list[str]]:
    """Return the name of each level with a defined number, and below it a row per statistic."""
    rows: list[list[str]] = []
    for level in LEVELS:
        if rows and not wants_full():
            break
        found = []
        for statistic in STATISTICS:
            cells = [
                estimate_text(None if report is None else report[level][statistic])  # type: ignore[index]
                for report in reports
            ]
            if gain is not None:
                cells.append(estimate_text(gain[level][statistic], signed=True))  # type: ignore[index]
            if any(cell != "undefined" for cell in cells):
                if gain is not None:
                    of_rows = [*reports, gain]
                    counts = [one[level][statistic].n for one in of_rows if one is not None]  # type: ignore[index]
                    cells.append("/".join(map(str, dict.fromkeys(counts))))
                found.append([f"  {statistic}", *cells])
        if found:
            beside = [*reports, gain]
            estimates = {
                name: [each[level][name] for each in beside if each is not None]  # type: ignore[index]
                for name in STATISTICS
            }
            rows += [[level_text(level, estimates)], *found]
    return rows


def headline_estimate(
    report: Report | None, *, ranks: bool = False
) -> tuple[Estimate | None, bool]:
    """Return Pearson's correlation over all rows, and False; within sources, and True, of ranks."""
    if report is None:
        return None, False
    whole, within = report["dataset"]["pearson"], report["sample"]["pearson"]
    if (ranks or whole.value != whole.value) and within.value == within.value:
        return within, True
    return whole, False


def print_agreement(
    title: str, columns: Mapping[str, Report | None], *, gain: Gain | None = None
) -> None:
    """Print agreement with people: a column per report, and one for the gain between them."""
    rows = agreement_rows(list(columns.values()), gain)
    if not rows:
        n = max(
            (report["dataset"]["pearson"].n for report in columns.values() if report), default=0
        )
        because = ": undefined, because no two rows have different scores" if n else ""
        say()
        say_wrapped(f"{title}{because}")
        return
    names = [*columns, *(["gain", "n"] if gain is not None else [])]
    print_table(title, rows, header=["", *names])


def print_criteria(title: str, found: CriterionReports) -> None:
    """Print agreement on each criterion, one row each; nothing if none is known."""
    if not found.reports and not found.left_out:
        return
    from judgesmith.experiments.evaluate.agreement import unscored_text

    rows = []
    for name, report in found.reports.items():
        level = report["dataset"]
        estimates = [level["pearson"], level["spearman"], level["kendall"]]
        n = str(level["pearson"].n)
        rows.append([shortened(name, 30), n, *map(estimate_text, estimates)])
    if rows:
        print_table(title, rows, header=["criterion", "n", *STATISTICS[:3]])
    else:
        say(f"\n{title}: nothing to compare")
    for name, unscored in found.unscored.items():
        if unscored.n:
            say_under(shortened(name, 30), unscored_text(unscored), indent=2)
    for name, why in found.left_out.items():
        say_under(f"{shortened(name, 30)} is left out", why, indent=2)


def basis_text(report: Report, unscored: Unscored | None = None) -> str:
    """Return what the intervals of a report rest on, in words."""
    estimate = report["dataset"]["pearson"]
    if not estimate.n:
        reason = next(iter(unscored.reasons), "") if unscored else ""
        return f"no row has a score: {reason}" if reason else "no row has a score"
    rows = f"{counted(estimate.n, 'scored row')} of {counted(estimate.n_groups, 'source')}"
    if estimate.has_few_groups:
        return f"{rows}, too few for intervals"
    return f"{rows}, {100 * estimate.confidence:g}% intervals over sources"


def scored_by_text(scored_by: str) -> str:
    """Return the end of a judge's label: which of its scores are meant, unless it is the score."""
    if scored_by == "score":
        return ""
    if scored_by == "criterion":
        return ", by its score on this criterion"
    return f", by its scores on {shortened(scored_by, 30)}"


def ranks_note(*labels: str, ranks: bool = True) -> list[str]:
    """Return why figures are told within sources alone, where scores are ``ranks`` there."""
    if not ranks:
        return []
    return [
        f"scores of {' and '.join(labels)} are ranks within a source; figures across sources are "
        "omitted."
    ]


_LABEL_STATISTICS = {
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "kappa": "Cohen's kappa",
    "quadratic_kappa": "quadratic kappa",
    "f1": "F1",
    "macro_f1": "F1, macro",
    "ac1": "Gwet's AC1",
    "accuracy": "accuracy",
    "precision": "precision",
    "npv": "NPV",
    "auc": "AUC (ROC)",
    "average_precision": "average precision",
    "brier": "Brier score",
}
_FEW = 3
"""Wrong labels of either kind that are printed without ``--full``."""


def print_labels(title: str, found: LabelAgreement) -> None:
    """Print how labels agree with people's: statistics, the confusion matrix, wrong labels."""
    from judgesmith.experiments.evaluate.label_verdicts import mistake_rows
    from judgesmith.experiments.tables import percent_cell

    rows = [["TNR", estimate_text(found.tnr)], ["TPR", estimate_text(found.tpr)]]
    rows += [
        [name, estimate_text(found.statistics[key])]
        for key, name in _LABEL_STATISTICS.items()
        if key in found.statistics
    ]
    print_table(title, rows)
    print_table(
        "Confusion: raters' labels down, the judge's across",
        [
            [
                label,
                *(
                    f"{n} ({percent_cell(found.shares[label][other])})"
                    for n, other in zip(counts, found.labels, strict=True)
                ),
            ]
            for label, counts in zip(found.labels, found.confusion, strict=True)
        ],
        header=["", *found.labels],
    )
    if found.unlabelled:
        say(f"\n{found.unlabelled} of {found.n_rows} rows have no label of the judge")
    if groups := mistake_rows(found.mistakes):
        header = ["about", "passed wrongly", "stopped wrongly"]
        print_table(
            "Mistakes by criterion and closest guideline",
            [[shortened(name, 60), *counts] for name, *counts in groups],
            header=header,
        )
    print_wrong_labels("Passed, and bad for raters", found.false_passes)
    print_wrong_labels("Stopped, and good for raters", found.false_fails)


def print_wrong_labels(title: str, errors: Sequence[LabelError]) -> None:
    """Print responses with the words of raters and judge, by criterion."""
    if not errors:
        return
    most = len(errors) if wants_full() else _FEW
    say(f"\n{title}: {len(errors)}" + f", the first {most}" * (len(errors) > most))
    before = ""
    for one in errors[:most]:
        about = ": ".join(filter(None, (one.criterion, one.guideline)))
        if about != before:
            say(f"\n  {shortened(about, 70)}")
            before = about
        place = " ".join(filter(None, (one.source_id, one.system_id)))
        say()
        say_under(shortened(place, 60) or "response", shortened(one.response, 300), indent=2)
        for rater in one.raters:
            who = f"rater {shortened(rater.name, 30)}" if rater.name else "rater"
            words = f": {shortened(rater.rationale, 300)}" if rater.rationale else ""
            say_under(who, f"{rater.label}{words}", indent=4)
        chance = "" if one.probability != one.probability else f" ({one.probability:.2f})"
        words = f": {shortened(one.explanation, 300)}" if one.explanation else ""
        say_under("judge", f"{one.judge}{chance}{words}", indent=4)


_SHOWN = {"given": "as given", "swapped": "swapped", "combined": "both orders"}


def print_preferences(found: PreferenceEvaluation) -> None:
    from judgesmith.experiments.evaluate.agreement import unscored_text
    from judgesmith.experiments.evaluate.preferring import ANSWERS, ranking_rows

    what = f"preferences between two texts{scored_by_text(found.scored_by)}"
    say_wrapped(f"{found.label} on {found.data}: {found.target}, {what}", hang=2)
    n, basis = found.unscored.n_rows, found.given.accuracy
    columns = found.by_order
    rows = [
        ["same as raters", *(estimate_text(one.accuracy) for one in columns.values())],
        [
            "  without ties",
            *(estimate_text(one.accuracy_decided) for one in columns.values()),
        ],
    ]
    of = counted(basis.n_groups, "source")
    title = (
        f"{counted(basis.n, 'pair')} of {of}, {100 * basis.confidence:g}% intervals over sources"
    )
    print_table(title, rows, header=["", *(_SHOWN[one] for one in columns)])
    if found.order is not None:
        print_order(found.order)
    if found.rankings:
        strengths = [
            [
                str(system),
                *(
                    estimate_text(one.strength(system), signed=True)
                    for one in found.rankings.values()
                ),
            ]
            for system in (row["system"] for row in ranking_rows(found.rankings))
        ]
        print_table(
            "How strong each system is, in log-odds", strengths, header=["", *found.rankings]
        )
    counts = [
        [f"raters: {people}", *map(str, row)]
        for people, row in zip(ANSWERS, found.given.confusion, strict=True)
    ]
    print_table("Which of the two is better", counts, header=["", *ANSWERS])
    say()
    say_wrapped(
        f"of the pairs, {unscored_text(found.unscored)}; raters tied both texts in "
        f"{found.n_tied} ({found.n_tied / n:.0%}); {found.n_unrated} more have an unrated text"
    )


def print_order(order: OrderConsistency) -> None:
    """Print what happens to a judge's answers when two texts change places."""
    print_table(
        "When the two texts swap places",
        [
            ["the answer is the same", estimate_text(order.consistent)],
            ["the other text wins", estimate_text(order.flipped)],
            ["preferences for the text shown first", estimate_text(order.first_place)],
        ],
    )
