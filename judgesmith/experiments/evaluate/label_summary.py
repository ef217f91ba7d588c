"""What labels such as pass and fail tell before a judge is compiled: balance, raters, numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.targets import Targets
from judgesmith.experiments.tables import percent_cell
from judgesmith.metrics import Estimate, labels_needed
from judgesmith.metrics.arrays import Seed, generator, group_codes, group_sums, ratio
from judgesmith.metrics.ratings import pairwise_kappa
from judgesmith.metrics.ratings.nominal import nominal_agreement
from judgesmith.metrics.records import Record
from judgesmith.metrics.resampling.draws import estimates_of_sums
from judgesmith.metrics.resampling.shares import share_interval, wilson_interval
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.data.items import DataSet

EXPECTED_RATE = 0.9
"""The TPR and TNR that the number of labels is planned for."""

HALF_WIDTH = 0.05
"""How well they are to be known."""

LEAST_OF_A_CLASS = 22
"""Labels without an error from which 90% is the lower end of a one-sided 90% bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterRates(Record):
    """How one rater labels what most of the others pass (TPR) and what they do not (TNR)."""

    name: str
    n: int
    tpr: Estimate
    tnr: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSummary(Record):
    """Numbers on the labels of one criterion; nan where they are undefined."""

    name: str
    labels: tuple[str, ...]
    positive: str
    n_rows: int
    n_labelled: int
    n_tied: int
    undecided: Mapping[str, int]  # raters who said so
    counts: Mapping[str, int]  # rows by label
    shares: Mapping[str, Estimate]
    negative_share: Estimate
    n_several: int
    n_raters: int
    kappa: Estimate  # Cohen's for two raters, otherwise Fleiss'
    alpha_nominal: Estimate
    gwet_ac1: Estimate
    raters: tuple[RaterRates, ...]
    one_rater: RaterRates  # each against most of the others
    ceiling: Estimate
    half_width: Mapping[str, float]  # of a TPR or TNR of 90% at 95% on these rows
    labels_needed: int  # for ±5 points

    @property
    def n_positive(self) -> int:
        """Rows with the label of good responses."""
        return self.counts[self.positive]

    @property
    def negative(self) -> str:
        """How the other rows are called."""
        return self.labels[0] if len(self.labels) == 2 else f"not {self.positive}"

    @property
    def n_negative(self) -> int:
        """Rows with any other label."""
        return self.n_labelled - self.n_positive


def label_indices(targets: Targets) -> NDArray[np.intp]:
    """Return the place of each item's label among those of the scale; -1 where it has none."""
    if targets.labels is not None:
        return targets.labels
    low = targets.scale.low
    return np.where(np.isnan(targets.values), -1, np.nan_to_num(targets.values) - low).astype(
        np.intp
    )


def label_summary(dataset: DataSet, targets: Targets, *, seed: Seed) -> LabelSummary:
    """Return the numbers that a person wants to see before trusting the labels of a criterion."""
    rng = generator(seed)
    name, scale = targets.name, targets.scale
    sources = dataset.groups
    where = np.flatnonzero((found := label_indices(targets)) >= 0)
    known = found[where]
    counts = {label: int(np.sum(known == place)) for place, label in enumerate(scale.labels)}
    table, names = rater_columns(dataset, name)
    several = np.flatnonzero(np.sum(~np.isnan(table), axis=1) > 1)
    about, said, whose, rows = _against_rest(table[several], scale)
    at = sources[several[rows]]
    n_positive = counts[scale.positive or ""]
    kappa, alpha, ac1 = nominal_agreement(
        table - scale.low, sources=sources.tolist(), n_labels=len(scale.labels), seed=rng
    )
    if len(names) == 2:
        levels = range(len(scale.labels))
        kappa = pairwise_kappa(
            table, sources=sources.tolist(), levels=[*levels], weights="nominal", seed=rng
        )
    return LabelSummary(
        name=name,
        labels=scale.labels,
        positive=scale.positive or "",
        n_rows=len(dataset),
        n_labelled=len(known),
        n_tied=sum((reason or "").startswith("raters differ") for reason in targets.reasons),
        undecided=dict(Counter(one for item in dataset for one in item.undecided.get(name, ()))),
        counts=counts,
        shares={
            label: share_interval(known == place, sources=sources[where].tolist()).reported()
            for place, label in enumerate(scale.labels)
        },
        negative_share=share_interval(
            known != scale.labels.index(scale.positive or ""), sources=sources[where].tolist()
        ).reported(),
        n_several=len(several),
        n_raters=len(names),
        kappa=kappa,
        alpha_nominal=alpha,
        gwet_ac1=ac1,
        raters=tuple(
            _rates(one, about[whose == place], said[whose == place], at[whose == place])
            for place, one in enumerate(names)
        ),
        one_rater=_rates("one rater", about, said, at),
        ceiling=_ceiling(about, said, at, rng),
        half_width={
            "tpr": half_width(n_positive),
            "tnr": half_width(len(known) - n_positive),
        },
        labels_needed=labels_needed(EXPECTED_RATE, HALF_WIDTH),
    )


def rater_columns(dataset: DataSet, criterion: str) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return raters' labels in points, nan if missing, and their names if columns are people."""
    given = [item.human.get(criterion, ()) for item in dataset]
    whose = [item.raters.get(criterion, ()) for item in dataset]
    widest = max(map(len, given), default=0)
    if all(len(set(who)) == len(one) for who, one in zip(whose, given, strict=True)):
        names = tuple(dict.fromkeys(one for who in whose for one in who))
        table = np.full((len(given), len(names)), np.nan)
        for row, (who, one) in enumerate(zip(whose, given, strict=True)):
            table[row, [names.index(each) for each in who]] = one
        return table, names if len(names) > 1 else ()
    table = np.full((len(given), widest), np.nan)
    for row, one in enumerate(given):
        table[row, : len(one)] = one
    even = len({len(one) for one in given if one}) == 1 and widest > 1
    return table, tuple(f"rater {n + 1}" for n in range(widest)) if even else ()


def _against_rest(
    table: NDArray[np.float64], scale: Scale
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp], NDArray[np.intp]]:
    """Return what most others and a rater say, good or not, and whose label of which row it is."""
    good = scale.read(scale.positive)
    found = []
    for row, labels in enumerate(table):
        for rater in np.flatnonzero(~np.isnan(labels)):
            rest = np.delete(labels, rater)
            n_good, n = int(np.sum(rest == good)), int(np.sum(~np.isnan(rest)))
            if 2 * n_good != n:
                found.append((2 * n_good > n, labels[rater] == good, rater, row))
    about, said, whose, rows = np.asarray(found, dtype=np.intp).reshape(-1, 4).T
    return about.astype(bool), said.astype(bool), whose, rows


def _rates(
    name: str, about: NDArray[np.bool_], said: NDArray[np.bool_], sources: NDArray[np.intp]
) -> RaterRates:
    return RaterRates(
        name=name,
        n=len(about),
        tpr=share_interval(said[about], sources=sources[about].tolist()).reported(),
        tnr=share_interval(~said[~about], sources=sources[~about].tolist()).reported(),
    )


def _ceiling(
    about: NDArray[np.bool_],
    said: NDArray[np.bool_],
    sources: NDArray[np.intp],
    rng: np.random.Generator,
) -> Estimate:
    """Return the balanced accuracy of one rater against most of the others."""
    codes, n_sources = group_codes(sources.tolist(), name="sources", n_items=len(about))
    columns = [about & said, about, ~about & ~said, ~about]
    (found,) = estimates_of_sums(
        group_sums(columns, codes, n_sources),
        lambda sums: (ratio(sums[:, ::2], sums[:, 1::2]).sum(axis=1) / 2)[:, None],
        n=len(about),
        seed=rng,
        n_resamples=1000,
        confidence=0.95,
    )
    return found.reported()


def half_width(n: int, rate: float = EXPECTED_RATE) -> float:
    """Return half the length of Wilson's 95% interval of a rate; nan without rows."""
    if not n:
        return math.nan
    low, high = wilson_interval(rate, n, confidence=0.95)
    return (high - low) / 2


def label_cautions(found: LabelSummary) -> Iterator[str]:
    """Yield what to mind of the labels of one criterion."""
    for label, n in ((found.positive, found.n_positive), (found.negative, found.n_negative)):
        if n < LEAST_OF_A_CLASS:
            what = "no row is" if not n else f"{n} row{' is' if n == 1 else 's are'}"
            yield (
                f"{what} labelled {label!r}: {LEAST_OF_A_CLASS} are the least that can promise a "
                f"rate of {EXPECTED_RATE:.0%}, and {found.labels_needed} tell it to "
                f"±{100 * HALF_WIDTH:g} points."
            )
    if not found.n_several:
        yield "each row has one label. How well raters agree is unknown."
    elif found.kappa.value < LOW_KAPPA:
        yield (
            f"raters agree little beyond chance (kappa {found.kappa.value:.2f}). A narrower "
            "question helps more than any judge."
        )


_UNDEFINED = "undefined"

LOW_KAPPA = 0.4
"""Agreement below which the question is in doubt rather than the judge."""


def label_table(found: Sequence[LabelSummary]) -> list[list[str]]:
    """Return rows of a measure and its value on each criterion, the criteria's names first."""
    columns = [
        [
            one.name,
            ", ".join(one.labels),
            str(one.n_labelled),
            *(
                f"{n} ({label}, {percent_cell(share)})"
                for label, n, share in (
                    (one.positive, one.n_positive, one.shares[one.positive]),
                    (one.negative, one.n_negative, one.negative_share),
                )
            ),
            str(one.n_tied),
            ", ".join(f"{n} {word}" for word, n in one.undecided.items()) or "0",
            str(one.n_several),
            *map(_two_digits, (one.kappa, one.alpha_nominal, one.gwet_ac1)),
            percent_cell(one.one_rater.tpr),
            percent_cell(one.one_rater.tnr),
            percent_cell(one.ceiling),
            *(_known_to(one.half_width[rate], one.labels_needed) for rate in ("tpr", "tnr")),
        ]
        for one in found
    ]
    names = ["criterion", "labels", "labelled rows", "positive", "negative", "ties"]
    names += ["undecided raters", "rows with several raters", "kappa", "Krippendorff's α"]
    names += ["Gwet's AC1", "one rater's TPR", "one rater's TNR", "ceiling, balanced accuracy"]
    names += ["TPR known to", "TNR known to"]
    rows = [list(row) for row in zip(names, *columns, strict=True)]
    return [row for row in rows if {*row[1:]} != {_UNDEFINED}]


def rater_rows(found: LabelSummary) -> list[list[str]]:
    """Return one row per rater: name, labels, TPR and TNR against most of the others."""
    return [
        [one.name, str(one.n), percent_cell(one.tpr), percent_cell(one.tnr)]
        for one in found.raters
        if one.n
    ]


def _two_digits(found: Estimate) -> str:
    return _UNDEFINED if math.isnan(found.value) else f"{found.value:.2f}"


def _known_to(width: float, needed: int) -> str:
    if math.isnan(width):
        return f"unknown; ±5 points need {needed} rows"
    return f"±{100 * width:.0f} points; ±{100 * HALF_WIDTH:g} need {needed} rows"
