"""The answer of a command in one or two sentences, by rules that never contradict an interval."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judgesmith.cli.shared.printing import answer, counted, say

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.label_summary import LabelSummary
    from judgesmith.experiments.evaluate.label_verdicts import LabelAgreement
    from judgesmith.metrics import Estimate, PairedEstimate

WIDE = 0.2
"""A correlation whose interval is wider than this to either side is not known well enough."""
WANTED = 0.15
"""The half-width that the proposed number of rows aims at."""
Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Sentences for the first lines, whether they are good news, and the next command."""

    text: str
    tone: Tone
    next_command: str | None = None


def print_verdict(found: Verdict) -> None:
    """Print the answer, and the most useful next command."""
    answer(found.text, tone=found.tone)
    if found.next_command:
        say(f"Next: {found.next_command}")


def interval_of_two(low: float, high: float) -> str:
    """Return an interval to two decimals; an end near 0 keeps its sign."""
    from judgesmith.cli.shared.agreement import interval_text

    return interval_text(low, high)


def p_value_text(found: PairedEstimate) -> str:
    """Return a p-value as papers write it; ``≤`` where the resamples can give no smaller one."""
    from judgesmith.experiments.evaluate.agreement import N_RESAMPLES
    from judgesmith.metrics.resampling.draws import least_p

    if found.p_value < 0.0005:
        return "p < .001"
    is_least = found.p_value <= least_p(found.n_groups, N_RESAMPLES) * (1 + 1e-9)
    return f"p {'≤' if is_least else '='} {found.p_value:.3f}".replace("0.", ".", 1)


def rows_wanted(estimate: Estimate) -> int:
    """Return how many more rows would narrow the interval to ±``WANTED``, in tens."""
    half = max(estimate.high - estimate.value, estimate.value - estimate.low)
    if not math.isfinite(half) or half <= WANTED or not estimate.n:
        return 0
    more = estimate.n * ((half / WANTED) ** 2 - 1)
    return math.ceil(round(more, 6) / 10) * 10


def agreement_verdict(
    estimate: Estimate | None,
    *,
    gain: PairedEstimate | None = None,
    raters: float = math.nan,
    rows: str = "test rows",
    within: bool = False,
    use: str | None = None,
    label: str | None = None,
    check: str | None = None,
) -> Verdict:
    """Return what a correlation with human ratings means for the use of a judge.

    ``gain`` compares the judge with its baseline, ``raters`` is the correlation of a rater with
    the others. ``use``, ``label`` and ``check`` are the commands proposed for a usable judge,
    for too little data (its ``{n}`` is the number of rows), and for a judge without agreement.
    """
    if estimate is None or not estimate.n:
        return Verdict(
            text="No scored test rows: agreement on new data is unknown.",
            tone="open",
            next_command=check,
        )
    if math.isnan(estimate.value):
        return Verdict(
            text=f"Agreement on {estimate.n} {rows} is undefined: all scores, or all ratings, are "
            "equal. Do not use this judge.",
            tone="bad",
            next_command=check,
        )
    known = not (math.isnan(estimate.low) or estimate.has_few_groups)
    shown = interval_of_two(estimate.low, estimate.high) if known else "[no interval]"
    where = " within sources" if within else ""
    parts = [f"r = {estimate.value:.2f} {shown} with human ratings{where} on {estimate.n} {rows}"]
    if gain is not None and not math.isnan(gain.second):
        parts.append(f"baseline {gain.second:.2f}")
    if not math.isnan(raters):
        parts.append(f"raters among themselves {raters:.2f}")
    headline = f"{'; '.join(parts)}."
    if not known:
        groups = counted(estimate.n_groups, "source")
        return Verdict(
            text=f"{headline} Too little data: {groups} are too few for an interval; rate "
            "responses to more sources.",
            tone="open",
            next_command=label and label.format(n=20),
        )
    said = [headline, *_gain_text(gain)]
    if estimate.high < 0:
        said.append("Do not use this judge: it scores against the raters.")
        return Verdict(text=" ".join(said), tone="bad", next_command=check)
    more = rows_wanted(estimate)
    half = max(estimate.high - estimate.value, estimate.value - estimate.low)
    if estimate.low <= 0:
        said.append("Do not use this judge: its agreement with raters may be zero.")
        if half > WIDE:
            said.append(f"Too little data: rate about {more} more rows.")
        command = label.format(n=more) if label and half > WIDE else check
        return Verdict(text=" ".join(said), tone="bad", next_command=command)
    if half > WIDE:
        said.append(f"Too little data for an exact figure: rate about {more} more rows.")
        command = label and label.format(n=more)
        return Verdict(text=" ".join(said), tone="open", next_command=command)
    return Verdict(text=" ".join(said), tone="good", next_command=use)


def _gain_text(gain: PairedEstimate | None) -> Sequence[str]:
    """Return whether the gain over the baseline is significant; nothing where it is undefined."""
    if gain is None or math.isnan(gain.value) or math.isnan(gain.low):
        return []
    if gain.value == 0 and gain.low == gain.high == 0:
        return ["The judge equals the baseline."]
    p = f"{p_value_text(gain)}, unadjusted"
    if not gain.is_clear:
        return [f"The gain is not significant ({p})."]
    if gain.value < 0:
        return [f"It is significantly worse than the baseline ({p})."]
    return [f"The gain is significant ({p})."]


WIDE_RATE = 0.1
"""A rate whose interval is wider than this to either side is not known well enough."""


def label_verdict(
    found: LabelAgreement,
    *,
    rows: str = "test rows",
    use: str | None = None,
    label: str | None = None,
    check: str | None = None,
) -> Verdict:
    """Return what TPR and TNR mean for the use of a judge; commands as in `agreement_verdict`."""
    from judgesmith.experiments.evaluate.label_verdicts import rates_line

    headline = f"{rates_line(found, rows)}."
    if found.n_rows == found.unlabelled:
        return Verdict(text=f"No {rows} have a label of the judge.", tone="open")
    if found.useless is not None:
        text = f"{headline} Do not use this judge: {found.useless}."
        return Verdict(text=text, tone="bad", next_command=check)
    for name, rate in ((found.negative, found.tnr), (found.positive, found.tpr)):
        if math.isnan(rate.value):
            text = f"{headline} No row is labelled {name!r}, so that rate is unknown."
            return Verdict(text=text, tone="open", next_command=label and label.format(n=50))
    if found.tnr.has_few_groups or found.tpr.has_few_groups or math.isnan(found.tnr.low):
        text = f"{headline} Too little data: too few sources for an interval; label more."
        return Verdict(text=text, tone="open", next_command=label and label.format(n=50))
    balanced = found.statistics["balanced_accuracy"]
    if not balanced.low > 1 / len(found.labels):
        text = (
            f"{headline} Do not use this judge: chance may do as well (balanced accuracy "
            f"{balanced.value:.2f} {interval_of_two(balanced.low, balanced.high)})."
        )
        return Verdict(text=text, tone="bad", next_command=check)
    said = [headline]
    if found.tnr.value < 0.5:
        said.append("It passes most bad answers.")
    if found.tpr.value < 0.5:
        said.append("It stops most good answers.")
    more = []
    for name, rate in ((found.negative, found.tnr), (found.positive, found.tpr)):
        half = (rate.high - rate.low) / 2
        if half > WIDE_RATE:
            n = rate.n * ((half / WIDE_RATE) ** 2 - 1)
            more.append(f"{math.ceil(round(n, 6) / 10) * 10} more labelled {name!r}")
    if more:
        said.append(f"Too little data for exact rates: about {' and '.join(more)} give ±10 points.")
    if len(said) > 1:
        command = label.format(n=50) if label and more else check
        return Verdict(text=" ".join(said), tone="open", next_command=command)
    return Verdict(text=headline, tone="good", next_command=use)


def labels_verdict(
    found: LabelSummary, *, n_sources: int, name: str, by_name: bool = False
) -> Verdict:
    """Return whether labelled data suffice to compile and evaluate a judge."""
    from judgesmith.experiments.evaluate.label_summary import LEAST_OF_A_CLASS

    sizes = {found.positive: found.n_positive, found.negative: found.n_negative}
    counts = ", ".join(f"{n} {label}" for label, n in sizes.items())
    of = counted(n_sources, "source")
    of_it = f" of {found.name}" if by_name else ""
    rows = f"{counted(found.n_labelled, 'labelled row')}{of_it} from {of} ({counts})"
    target = f"--target {shlex.quote(found.name)} " if by_name else ""
    compiles = f"judgesmith compile {name} {target}-o judge"
    least = min(sizes, key=lambda label: sizes[label])
    if not sizes[least]:
        return Verdict(
            text=f"One-sided data: {rows}. Label {LEAST_OF_A_CLASS} {least!r} rows or more; "
            f"{found.labels_needed} tell how many of them a judge gets right to ±5 points.",
            tone="bad",
        )
    known = " and ".join(
        f"{rate.upper()} to ±{100 * width:.0f}" for rate, width in found.half_width.items()
    )
    text = f"{rows}; all of them would tell {known} points."
    if sizes[least] < LEAST_OF_A_CLASS:
        return Verdict(
            text=f"Little data: {text} Label {LEAST_OF_A_CLASS - sizes[least]} more {least!r} rows "
            "or more.",
            tone="open",
            next_command=compiles,
        )
    return Verdict(text=f"Ready to compile: {text}", tone="good", next_command=compiles)


def data_verdict(
    *,
    n_rated: int,
    n_sources: int,
    half_width: float,
    raters: float,
    name: str,
) -> Verdict:
    """Return whether rated data suffice to compile and evaluate a judge."""
    from judgesmith.metrics.records import FEWEST_GROUPS
    from judgesmith.optimizers.rows import n_held_out

    if not n_rated:
        return Verdict(
            text="No ratings: a judge can score these texts, but its agreement with raters cannot "
            "be measured.",
            tone="open",
            next_command=f"judgesmith compile {name} -o judge --objective d_avg",
        )
    rows = f"{counted(n_rated, 'rated row')} from {counted(n_sources, 'source')}"
    reliable = "" if math.isnan(raters) else f" Raters correlate {raters:.2f} with each other."
    enough = next(n for n in itertools.count(2) if n_held_out(n) >= FEWEST_GROUPS)
    if math.isnan(half_width) or n_sources < FEWEST_GROUPS or half_width > 2 * WIDE:
        need = max(60 - n_rated, 10)
        return Verdict(
            text=f"Too little data: {rows}. Rate about {math.ceil(need / 10) * 10} more rows, "
            f"of {enough} sources or more in all.{reliable}",
            tone="bad",
        )
    if n_sources < enough:
        held = counted(n_held_out(n_sources), "source")
        return Verdict(
            text=f"Too few sources: {rows}. compile tests on {held}, and an interval needs "
            f"{FEWEST_GROUPS}: rate responses to {enough - n_sources} more.{reliable}",
            tone="open",
            next_command=f"judgesmith compile {name} -o judge",
        )
    known = f"a correlation of 0.5 would be known to ±{half_width:.2f} on all of them"
    if half_width > WIDE:
        return Verdict(
            text=f"Little data: {rows}; {known}. Expect wide intervals.{reliable}",
            tone="open",
            next_command=f"judgesmith compile {name} -o judge",
        )
    return Verdict(
        text=f"Ready to compile: {rows}; {known}.{reliable}",
        tone="good",
        next_command=f"judgesmith compile {name} -o judge",
    )


def discern_verdict(
    *,
    detected: Sequence[str],
    missed: Sequence[str],
    preferred: Sequence[str],
    false_alarms: Sequence[str],
    untested: int,
    n_originals: int,
    n_mixed: int = 0,
    holm: Mapping[str, float],
) -> Verdict:
    """Return which damage a judge detects; ``n_mixed`` of it raises another criterion."""

    def stands(name: str) -> bool:
        return holm.get(name, 1.0) <= 0.05

    tested = len(detected) + len(missed) + len(preferred)
    if not tested:
        return Verdict(
            text=f"Too little data: {counted(n_originals, 'original')} give too few pairs to test "
            "any kind of damage. Add texts.",
            tone="open",
        )
    mixed = f", {n_mixed} of them with another criterion rising" if n_mixed else ""
    after = f" ({sum(map(stands, detected))} after Holm's adjustment)" if detected else ""
    said = [
        f"The judge detects {len(detected)} of {counted(tested, 'kind')} of damage{mixed}{after}."
    ]
    if preferred:
        said.append(f"It scores damaged texts higher: {', '.join(preferred)}.")
    if missed:
        said.append(f"It misses {', '.join(missed)}.")
    if false_alarms:
        alarms = [
            name if stands(name) else f"{name} (not after Holm's adjustment)"
            for name in false_alarms
        ]
        said.append(f"It lowers scores without damage: {', '.join(alarms)}.")
    if untested:
        said.append(f"{counted(untested, 'kind')} had too few texts to test.")
    tone: Tone = (
        "bad" if preferred or not detected else "open" if missed or false_alarms else "good"
    )
    return Verdict(text=" ".join(said), tone=tone)


def drift_verdict(names: Sequence[str], *, rows: int, few: bool) -> Verdict:
    if names:
        return Verdict(
            text=f"Drift detected: {', '.join(names)}. Rate a sample of new rows before you trust "
            "these scores.",
            tone="bad",
        )
    if few:
        return Verdict(
            text=f"No drift detected, but {counted(rows, 'row')} show only large changes.",
            tone="open",
        )
    return Verdict(text=f"No drift detected in {counted(rows, 'row')}.", tone="good")


def recheck_verdict(*, drifted: Sequence[str], items: int, often: int) -> Verdict:
    """Return whether a judge still scores its golden items as before; ``drifted``: checks."""
    asked = f"{counted(items, 'golden item')}, each scored {counted(often, 'time')}"
    if drifted:
        rates = " and ".join(one.upper() for one in drifted if one in ("tnr", "tpr"))
        what = f"{rates} fell below what is stated" if rates else "its scores moved"
        return Verdict(
            text=f"The judge has changed: {what} beyond the tolerance ({asked}). "
            "Evaluate or compile it again.",
            tone="bad",
        )
    return Verdict(text=f"The judge is unchanged within the tolerance ({asked}).", tone="good")
