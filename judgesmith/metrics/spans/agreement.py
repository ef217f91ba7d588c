"""Error spans as arrays, their agreement, and its difference between two judges."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from judgesmith.metrics.arrays import (
    FloatArray,
    IntArray,
    Seed,
    check_choice,
    group_sums,
    ratio,
    score_vector,
    source_codes,
)
from judgesmith.metrics.correlation.levels import Labels
from judgesmith.metrics.records import Estimate, PairedEstimate, Record
from judgesmith.metrics.resampling.draws import (
    Counted,
    checked_generator,
    difference_of,
    draws_of_units,
    estimates_of_sums,
    varying_interval,
)

# Times the longest line it is still far from the largest float.
_LARGEST_SEVERITY = 1e100
_WHOLE = (int, np.integer)


class Span(NamedTuple):
    """A span of a text with its severity and label.

    Attributes
    ----------
    start, end : int or None
        Character offsets, ``end`` excluded. None together, or equal, where the error has no
        place in the text, such as an omission: it is left out and counted.
    severity : float, above 0 and up to 1e100
        How bad it is, for example 1 for minor and 5 for major.
    label : hashable; its kind; nan is none, as None is

    Examples
    --------
    >>> Span(0, 4, severity=5.0)
    Span(start=0, end=4, severity=5.0, label=None)
    """

    start: int | None
    end: int | None
    severity: float = 1.0
    label: Hashable = None


TextSpans = Iterable[Sequence[Any]]
"""The spans of one text: a :class:`Span` each, or ``(start, end[, severity[, label]])``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSide:
    """The located spans of one side, one array entry each."""

    texts: IntArray
    starts: IntArray
    ends: IntArray
    severities: FloatArray
    labels: IntArray
    n_unlocated: int


def read_side(
    texts: list[tuple[int, TextSpans | None]], name: str, labels: dict[Hashable, int]
) -> SpanSide:
    """Read the spans of numbered texts into arrays, with the numbers that labels got so far."""
    owners, starts, ends, severities, codes = [], [], [], [], []
    n_unlocated = 0
    for number, (index, spans) in enumerate(texts):
        if isinstance(spans, (str, bytes)) or not isinstance(spans, Iterable):
            raise ValueError(
                f"{name} must hold a list of spans for each text; text {index} has {spans!r}."
            )
        for given in spans:
            try:
                span = Span(*given)
            except TypeError as error:
                raise ValueError(
                    f"a span must be (start, end[, severity[, label]]); text {index} of {name} has "
                    f"{given!r}. Every text needs a list of its own spans."
                ) from error
            if span.start is None and span.end is None:
                n_unlocated += 1
                continue
            owners.append(number)
            starts.append(span.start)
            ends.append(span.end)
            severities.append(span.severity)
            codes.append(_label_code(span.label, labels, name))
    where = np.array(owners, dtype=np.int64)
    first, last = (_offsets(each, name) for each in (starts, ends))
    wrong = (first < 0) | (first > last)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"a span must have 0 <= start <= end; text {texts[where[at]][0]} of {name} has "
            f"({first[at]}, {last[at]})."
        )
    located = first < last
    return SpanSide(
        texts=where[located],
        starts=first[located],
        ends=last[located],
        severities=_severities(severities, name)[located],
        labels=np.array(codes, dtype=np.int64)[located],
        n_unlocated=n_unlocated + int(np.count_nonzero(~located)),
    )


def _label_code(label: Hashable, labels: dict[Hashable, int], name: str) -> int:
    """Return the number of a label; the nan of a data frame is no label, as None is."""
    if isinstance(label, float) and math.isnan(label):
        label = None
    try:
        return labels.setdefault(label, len(labels))
    except TypeError as error:
        raise ValueError(
            f"the label of a span in {name} must be one value, such as a string; got {label!r}."
        ) from error


def _offsets(given: list[int | None], name: str) -> IntArray:
    """Return offsets as integers, or say that they are none."""
    odd_kinds = [
        kind for kind in set(map(type, given)) if kind is bool or not issubclass(kind, _WHOLE)
    ]
    try:
        if not odd_kinds:
            return np.array(given, dtype=np.int64)
        odd = next(one for one in given if type(one) in odd_kinds)
    except OverflowError:
        odd = max(given, key=lambda one: abs(one or 0))
    raise ValueError(
        f"start and end of a span in {name} must both be whole numbers of characters, or both "
        f"None; got {odd!r} among them."
    )


def _severities(given: list[float], name: str) -> FloatArray:
    severities = score_vector(given, name=f"severities in {name}", allow_missing=True)
    wrong = ~((severities > 0) & (severities <= _LARGEST_SEVERITY))
    if wrong.any():
        raise ValueError(
            f"severities in {name} must be finite numbers above 0, such as 1 for minor and 5 for "
            f"major; got {severities[wrong][0]}."
        )
    return severities


_LONGEST_LINE = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTable:
    """Both sides of the texts that have predicted spans, an empty list included."""

    predicted: SpanSide
    gold: SpanSide
    kept: IntArray
    n_given: int

    @classmethod
    def of(
        cls, human: Iterable[TextSpans | None], judge: Iterable[TextSpans | None]
    ) -> "SpanTable":
        """Check every span and leave out texts whose predicted spans are None."""
        sides = _texts(judge, "predicted"), _texts(human, "gold")
        if len(sides[0]) != len(sides[1]):
            raise ValueError(
                "predicted and gold must be aligned, one list of spans per text; got "
                f"{len(sides[0])} and {len(sides[1])}."
            )
        missing = [index for index, spans in enumerate(sides[1]) if _is_missing(spans)]
        if missing:
            raise ValueError(
                f"gold has no list of spans for {len(missing)} of {len(sides[1])} texts, the first "
                f"at index {missing[0]}; give only annotated texts, with [] where none was marked."
            )
        kept = [index for index, spans in enumerate(sides[0]) if not _is_missing(spans)]
        labels: dict[Hashable, int] = {}
        first, second = (
            read_side([(index, side[index]) for index in kept], name, labels)
            for side, name in zip(sides, ("predicted", "gold"), strict=True)
        )
        return cls(
            predicted=first, gold=second, kept=np.array(kept, dtype=np.int64), n_given=len(sides[0])
        )

    @property
    def n_texts(self) -> int:
        return len(self.kept)

    def line(self, *keys: str) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Lay the texts end to end, apart by the named properties of their spans as well."""
        both = self.predicted, self.gold
        n = len(self.predicted.texts)
        texts = np.concatenate([side.texts for side in both])
        codes = np.unique(texts, return_inverse=True)[1]
        for key in keys:
            column = np.concatenate([getattr(side, key) for side in both])
            value = np.unique(column, return_inverse=True)[1]
            codes = codes * (int(value.max(initial=0)) + 1) + value
            codes = np.unique(codes, return_inverse=True)[1]
        ends = np.concatenate([side.ends for side in both])
        n_codes = int(codes.max(initial=-1)) + 1
        lengths = np.zeros(n_codes, np.int64)
        np.maximum.at(lengths, codes, ends)
        if float(lengths.sum(dtype=np.float64)) > _LONGEST_LINE:
            raise ValueError(
                "the texts are too long to be laid end to end; give offsets in characters."
            )
        owner = np.zeros(n_codes, np.int64)
        owner[codes] = texts
        return codes[:n], codes[n:], np.cumsum(lengths) - lengths, owner


def _texts(given: Iterable[TextSpans | None], name: str) -> list[TextSpans | None]:
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, Iterable):
        raise TypeError(
            f"{name} must hold a list of spans for each text; got {type(given).__name__}."
        )
    return list(given)


def _is_missing(spans: object) -> bool:
    """Say whether a text has no list of spans: None, or the nan of a data frame."""
    return spans is None or (isinstance(spans, float) and math.isnan(spans))


DUST = 1e-12
"""Shares that are no further apart differ by rounding."""

SpanStatistic = Literal["precision", "recall", "f1", "macro_f1"]

SPAN_STATISTICS = get_args(SpanStatistic)
"""What :func:`summary` returns, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanAgreement(Record):
    """How well predicted spans agree with gold spans, in characters or in spans.

    Attributes
    ----------
    precision, recall, f1 : Estimate, from 0 to 1
        Of sums over all texts (micro). ``precision`` is nan if nothing was predicted, ``recall``
        if nothing is gold, ``f1`` if neither is; ``f1`` is 0 if only one of them is.
        ``n`` counts texts.
    macro_f1 : Estimate, from 0 to 1
        Mean of the texts' own F1; a text in which neither side has a span counts 1.
    predicted, gold, matched_predicted, matched_gold : float
        What each side marked (characters, their severities, or spans), and the part of each that
        the other side supports.
    n_unscored : int; texts left out because ``judge`` was None
    n_unlocated_predicted, n_unlocated_gold : int
        Spans left out because they have no place in their text.
    of_texts : float array, shape (n_texts_given, 4)
        ``matched_predicted``, ``predicted``, ``matched_gold`` and ``gold`` of each text, nan where
        it is unscored.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate
    macro_f1: Estimate
    predicted: float
    gold: float
    matched_predicted: float
    matched_gold: float
    n_unscored: int
    n_unlocated_predicted: int
    n_unlocated_gold: int
    of_texts: FloatArray = field(repr=False, compare=False)

    @property
    def true_positives(self) -> float:
        """What of the predicted is matched."""
        return self.matched_predicted

    @property
    def false_positives(self) -> float:
        """What of the predicted is not matched."""
        return self.predicted - self.matched_predicted

    @property
    def false_negatives(self) -> float:
        """What of the gold is not matched."""
        return self.gold - self.matched_gold


def agreement_of_matches(
    table: SpanTable,
    amounts: FloatArray,
    *,
    sources: Labels | None,
    seed: Seed,
    n_resamples: int,
    confidence: float,
) -> SpanAgreement:
    """Return the record from ``amounts`` of shape (n_texts, 4)."""
    codes = source_codes(sources, table.n_given, table.kept)
    found = estimates_of_sums(
        source_sums(amounts, codes),
        summary,
        n=table.n_texts,
        seed=seed,
        n_resamples=n_resamples,
        confidence=confidence,
    )
    estimates = {
        name: replace(one, n_undefined=int(math.isnan(one.value)))
        for name, one in zip(SPAN_STATISTICS, found, strict=True)
    }
    matched_predicted, predicted, matched_gold, gold = amounts.sum(axis=0).tolist()
    of_texts = np.full((table.n_given, 4), np.nan)
    of_texts[table.kept] = amounts
    return SpanAgreement(
        **estimates,
        predicted=predicted,
        gold=gold,
        matched_predicted=matched_predicted,
        matched_gold=matched_gold,
        n_unscored=table.n_given - table.n_texts,
        n_unlocated_predicted=table.predicted.n_unlocated,
        n_unlocated_gold=table.gold.n_unlocated,
        of_texts=of_texts,
    )


def source_sums(amounts: FloatArray, codes: IntArray) -> FloatArray:
    """Return for each source the sums of its texts' amounts and own F1, and how many they are."""
    own = _rates(amounts)[:, 2]
    # A text that neither side marked is judged rightly; sums never see it.
    own[np.isnan(own)] = 1.0
    return group_sums([*amounts.T, own, np.ones(len(own))], codes)


def _rates(amounts: FloatArray) -> FloatArray:
    """Return precision, recall and F1 of rows of the four amounts, nan where undefined."""
    total = amounts[:, [1, 3]]
    rates = ratio(amounts[:, [0, 2]], total)
    p, r = np.nan_to_num(rates).T
    f1 = np.where(total.any(axis=1), ratio(2 * p * r, p + r, otherwise=0.0), np.nan)
    return np.column_stack([rates, f1])


def summary(sums: FloatArray) -> FloatArray:
    """Return the four statistics of rows of sums as in :func:`source_sums`, nan if undefined."""
    return np.column_stack([_rates(sums[:, :4]), ratio(sums[:, 4], sums[:, 5])])


def span_agreement_difference(
    first: SpanAgreement,
    second: SpanAgreement,
    *,
    sources: Labels | None = None,
    statistic: SpanStatistic = "f1",
    confidence: float = 0.95,
    seed: Seed = 0,
    n_resamples: int = 1000,
) -> PairedEstimate:
    """Return the span agreement of the first judge minus that of the second, on the same resamples.

    Parameters
    ----------
    first, second : SpanAgreement
        Of two judges against the same gold spans of the same texts in the same order, from the
        same function with the same settings.
    sources : sequence of labels, one per text, scored or not, as both were given
    statistic : {"precision", "recall", "f1", "macro_f1"}
    seed, n_resamples, confidence
        As for :func:`span_character_agreement`.

    Returns
    -------
    PairedEstimate
        ``low``, ``high`` and ``p_value`` are nan with fewer than two sources, if more than 5 % of
        the resamples are undefined, or if the difference is the same in all. The p-value is that
        of :func:`~judgesmith.metrics.correlation.agreement_difference`.

    Examples
    --------
    >>> from judgesmith.metrics.spans.matching import span_character_agreement
    >>> gold = [[(0, 5)], [(3, 9)], [(2, 4)], []]
    >>> rng = np.random.default_rng(0)
    >>> one = span_character_agreement(gold, [[(0, 5)], [(3, 8)], [(2, 5)], []], seed=rng)
    >>> other = span_character_agreement(gold, [[(4, 9)], [(3, 8)], [], [(0, 1)]], seed=rng)
    >>> found = span_agreement_difference(one, other, seed=rng)
    >>> round(found.first, 2), round(found.second, 2), round(found.value, 2)
    (0.92, 0.5, 0.42)
    """
    rng = checked_generator(seed, n_resamples, confidence)
    check_choice(statistic, SpanStatistic, name="statistic")
    n = len(first.of_texts)
    if len(second.of_texts) != n:
        raise ValueError(
            f"both must be about the same texts; got {n} and {len(second.of_texts)} of them."
        )
    amounts = [each.of_texts for each in (first, second)]
    kept = np.flatnonzero(~np.isnan(amounts[0][:, 0]) & ~np.isnan(amounts[1][:, 0]))
    one, other = (each[kept] for each in amounts)
    # Sums of the same severities differ by rounding where other spans cut the text.
    differ = ~np.isclose(one[:, 3], other[:, 3], rtol=1e-9, atol=0.0)
    if differ.any():
        at = int(kept[np.flatnonzero(differ)[0]])
        raise ValueError(
            f"both must be compared with the same gold spans in the same way; text {at} differs."
        )
    codes = source_codes(sources, n, kept)
    sums = [source_sums(each, codes) for each in (one, other)]
    n_units = len(sums[0])
    place = SPAN_STATISTICS.index(statistic)

    def counted(own: FloatArray) -> Counted:
        value = float(summary(own.sum(axis=0)[None])[0, place])
        return Counted(
            value=value,
            of_counts=lambda counts: summary(counts @ own)[:, place],
            n_units=n_units,
            n_undefined=int(math.isnan(value)),
        )

    first_counted, second_counted = (counted(own) for own in sums)

    def gain(counts: FloatArray) -> FloatArray:
        apart = first_counted.of_counts(counts) - second_counted.of_counts(counts)
        return np.where(np.abs(apart) <= DUST, 0.0, apart)

    return difference_of(
        first_counted,
        second_counted,
        draws_of_units((n_units,), n_resamples, rng),
        n=len(kept),
        n_groups=n_units,
        confidence=confidence,
        gain=gain,
        # Resamples that never vary do not show how sure the value is.
        interval=lambda _, resampled, n_units: varying_interval(resampled, n_units, confidence),
    )
