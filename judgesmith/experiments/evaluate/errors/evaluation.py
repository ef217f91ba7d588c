"""Whether the errors that a judge marks are those that are there: by place, number and severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.evaluate.errors.found import (
    MAJOR,
    FoundErrors,
    TextErrors,
    distinct_errors,
    is_major,
)
from judgesmith.experiments.evaluate.errors.gold import (
    ChangedKind,
    GoldError,
    GoldKind,
    changed_texts,
    gold_kind,
    marked_errors,
)
from judgesmith.metrics import Estimate
from judgesmith.metrics.arrays import Seed, generator
from judgesmith.metrics.correlation import agreement_interval
from judgesmith.metrics.spans import (
    Span,
    SpanAgreement,
    matched_span_agreement,
    span_character_agreement,
)
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.perturbation import Perturbation, Perturbed

_MQM = {False: 1.0, True: 5.0}
"""What minor and major errors cost in MQM."""

_COUNTED = ("n_texts", "n_unscored", "found", "known", "found_major", "known_major")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCounts:
    """Agreement of two lists of errors for each text, without their places."""

    found: int
    known: int
    found_major: int
    known_major: int
    n_texts: int
    n_unscored: int
    any_error: SpanAgreement
    any_major: SpanAgreement
    number: Estimate
    cost: Estimate

    def to_dict(self) -> dict[str, Any]:
        agreements = {"any_error": self.any_error, "any_major": self.any_major}
        estimates = {"number": self.number, "cost": self.cost}
        return {
            **{name: getattr(self, name) for name in _COUNTED},
            **{name: agreement_dict(one) for name, one in agreements.items()},
            **{name: one.to_dict() for name, one in estimates.items()},
        }


def agreement_dict(found: SpanAgreement) -> dict[str, Any]:
    """Return an agreement over all texts by name, ready for JSON, without the single texts."""
    plain = found.to_dict()
    del plain["of_texts"]
    return plain


def error_counts(
    texts: Sequence[TextErrors],
    known: Sequence[Sequence[float | None]],
    *,
    major: float,
    rng: np.random.Generator,
    n_resamples: int = 1000,
) -> ErrorCounts:
    """Return how the errors of both sides compare in number and severity."""
    theirs = [[is_major(one, major=major) for one in errors] for errors in known]
    ours = [
        None
        if text.errors is None
        else [is_major(error.severity, major=major) for error in distinct_errors(text.errors)]
        for text in texts
    ]
    kept = [
        (found, errors) for found, errors in zip(ours, theirs, strict=True) if found is not None
    ]
    sources = [text.source for text in texts]

    def of_texts(counts: list[list[bool] | None], gold: list[list[bool]]) -> SpanAgreement:
        return matched_span_agreement(
            [_mark(any(one)) for one in gold],
            [None if one is None else _mark(any(one)) for one in counts],
            sources=sources,
            seed=rng,
            n_resamples=n_resamples,
        )

    def correlation(values: list[float], gold: list[float]) -> Estimate:
        return agreement_interval(
            gold,
            values,
            sources=sources,
            statistic="spearman",
            level="dataset",
            seed=rng,
            n_resamples=n_resamples,
        )

    return ErrorCounts(
        found=sum(len(one) for one, _ in kept),
        known=sum(len(one) for _, one in kept),
        found_major=sum(sum(one) for one, _ in kept),
        known_major=sum(sum(one) for _, one in kept),
        n_texts=len(kept),
        n_unscored=len(texts) - len(kept),
        any_error=of_texts(
            [None if one is None else [True] * len(one) for one in ours],
            [[True] * len(one) for one in theirs],
        ),
        any_major=of_texts(ours, theirs),
        number=correlation(
            [np.nan if one is None else float(len(one)) for one in ours],
            [float(len(one)) for one in theirs],
        ),
        cost=correlation(
            [np.nan if one is None else _cost(one) for one in ours], [_cost(one) for one in theirs]
        ),
    )


def _mark(there: bool) -> list[tuple[int, int]]:
    """Return the one place that all texts share, where something is there."""
    return [(0, 1)] if there else []


def _cost(errors: Sequence[bool]) -> float:
    return sum(_MQM[one] for one in errors)


Place = tuple[int, int]


def new_errors(
    version: TextErrors, original: TextErrors, made: Perturbed, *, overlap: float
) -> TextErrors:
    """Return a version's errors without its original's; where it was changed, all are new."""
    if version.errors is None or not original.errors:
        return version
    known = [place for error in original.errors if (place := _place(error))]
    kept = []
    for error in version.errors:
        place = _place(error)
        before = place and _before(place, made)
        if before is None or not any(_share(before, one) >= overlap for one in known):
            kept.append(error)
    return replace(version, errors=tuple(kept), support=())


def _place(error: ErrorSpan) -> Place | None:
    if error.start is None or error.end is None or error.start == error.end:
        return None
    return error.start, error.end


def _before(place: Place, made: Perturbed) -> Place | None:
    """Return where a place of the version stood in the original; None if it was changed."""
    start, end = place
    moved = 0
    for edit, (first, last) in zip(made.edits, made.spans, strict=True):
        if first >= end:
            break
        if last > start:
            return None
        moved += (edit.end - edit.start) - len(edit.text)
    return start + moved, end + moved


def _share(one: Place, other: Place) -> float:
    """Return characters in both over characters in either; nothing in common is below any share."""
    both = min(one[1], other[1]) - max(one[0], other[0])
    if both <= 0:
        return -1.0
    return both / (max(one[1], other[1]) - min(one[0], other[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceAgreement:
    """How well marked places agree with known ones."""

    characters: SpanAgreement
    pairs: SpanAgreement

    def to_dict(self) -> dict[str, Any]:
        return {
            "characters": agreement_dict(self.characters),
            "pairs": agreement_dict(self.pairs),
        }


@dataclass(frozen=True, kw_only=True)
class KindAgreement:
    """What was found of one kind of change."""

    kind: Perturbation
    places: PlaceAgreement
    new: PlaceAgreement
    left_out: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.kind.name,
            "lowers": self.kind.lowers,
            "all": self.places.to_dict(),
            "new": self.new.to_dict(),
            "left_out": dict(self.left_out),
        }


@dataclass(frozen=True, kw_only=True)
class SpanEvaluation:
    """How the errors that a judge marks compare with errors that are known."""

    gold: GoldKind
    # by place; None if no error is marked
    places: PlaceAgreement | Any  # or None, like those that follow
    new: PlaceAgreement | Any = None  # without what is marked in the original, too; of edits alone
    # half the credit where only one side says major; None: unknown
    severities: PlaceAgreement | Any = None
    counts: ErrorCounts | Any = None  # by number and severity; None for edits
    kinds: tuple[KindAgreement, ...] = ()
    n_unmarked: int = 0
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        parts = {
            name: None if part is None else part.to_dict()
            for name, part in (
                ("all", self.places),
                ("new", self.new),
                ("severities", self.severities),
                ("counts", self.counts),
            )
        }
        kinds = [kind.to_dict() for kind in self.kinds]
        return {"gold": self.gold, **parts, "kinds": kinds, "unmarked": self.n_unmarked}


_OVERLAP = 0.5
_HALF = 0.5

Spans = list[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSettings:
    """How places and severities are compared."""

    overlap: float = _OVERLAP
    major: float = MAJOR
    n_resamples: int = 1000


def evaluate_spans(
    found: FoundErrors,
    dataset: DataSet,
    *,
    gold: GoldKind | None = None,
    settings: SpanSettings | None = None,
    seed: Seed,
) -> SpanEvaluation:
    """Return how the errors that a judge marks compare with those that are known."""
    rng = generator(seed)
    settings = settings or SpanSettings()
    known = gold or gold_kind(dataset)
    if known == "edits":
        return _against_edits(found, dataset, settings, rng)
    if known == "errors":
        return _against_people(found, dataset, settings, rng)
    raise InputError(
        f"no row of {dataset.name} says where it was changed (edits) or what is wrong with it "
        "(errors).",
        hint="give texts that judgesmith discern perturb changed, or that raters marked.",
    )


def _against_people(
    found: FoundErrors, dataset: DataSet, settings: SpanSettings, rng: np.random.Generator
) -> SpanEvaluation:
    marked = marked_errors(dataset)
    pairs = [
        (text, known) for text, known in zip(found.texts, marked, strict=True) if known is not None
    ]
    if not pairs:
        raise InputError(
            f"no row of {dataset.name} says what is wrong with it.",
            hint="give rows with a field 'errors', a list.",
        )
    texts = [text for text, _ in pairs]
    known = [errors for _, errors in pairs]
    placed = any(error.start is not None for errors in known for error in errors)
    graded = any(error.severity is not None for errors in known for error in errors)
    spans = [[_span(error, settings) for error in errors] for errors in known]
    return SpanEvaluation(
        gold="errors",
        places=_agreement(texts, spans, settings, rng) if placed else None,
        severities=_agreement(texts, spans, settings, rng, credit=_HALF)
        if placed and graded
        else None,
        counts=error_counts(
            texts,
            [[error.severity for error in errors] for errors in known],
            major=settings.major,
            rng=rng,
            n_resamples=settings.n_resamples,
        ),
        n_unmarked=len(marked) - len(pairs),
        notes=()
        if placed
        else (
            "the human annotations have no character offsets; number and severity are compared, "
            "not their places.",
        ),
    )


def _against_edits(
    found: FoundErrors, dataset: DataSet, settings: SpanSettings, rng: np.random.Generator
) -> SpanEvaluation:
    kinds, notes = changed_texts(dataset)
    by_text = {text.item.ids: text for text in found.texts}
    laid = [_CapturedRequest.of(kind, by_text, settings) for kind in kinds]
    if not any(one.texts for one in laid):
        reasons = dict.fromkeys(why for kind in kinds for why in kind.left_out) or dict.fromkeys(
            note.rstrip(".") for note in notes
        )
        why = "".join(f": {reason}" for reason in list(reasons)[:1])
        raise InputError(
            f"no version in {dataset.name} can be held against its original{why}.",
            hint="give originals and versions with edits, as judgesmith discern perturb writes.",
        )
    damage = [one for one in laid if one.kind.lowers]
    whole = _CapturedRequest.together(damage)
    return SpanEvaluation(
        gold="edits",
        places=None if whole is None else _agreement(whole.texts, whole.gold, settings, rng),
        new=None if whole is None else _agreement(whole.new, whole.gold, settings, rng),
        kinds=tuple(
            KindAgreement(
                kind=one.kind,
                places=_agreement(one.texts, one.gold, settings, rng),
                new=_agreement(one.new, one.gold, settings, rng),
                left_out=one.left_out,
            )
            for one in laid
            if one.texts
        ),
        notes=(*notes, *_left_out(kinds)),
    )


@dataclass(frozen=True, kw_only=True)
class _CapturedRequest:
    """Versions of one kind: what is marked in them, what of it is new, and what was changed."""

    kind: Perturbation
    texts: list[TextErrors]
    new: list[TextErrors]
    gold: list[Spans]
    left_out: Mapping[str, int]

    @classmethod
    def of(
        cls,
        kind: ChangedKind,
        by_text: Mapping[tuple[str, str, str], TextErrors],
        settings: SpanSettings,
    ) -> _CapturedRequest:
        texts, new, gold = [], [], []
        for one in kind.texts:
            version = by_text[one.version.ids]
            before = by_text[one.original.ids]
            texts.append(version)
            new.append(new_errors(version, before, one.made, overlap=settings.overlap))
            gold.append([Span(start, end) for start, end in one.places])
        return cls(kind=kind.kind, texts=texts, new=new, gold=gold, left_out=kind.left_out)

    @classmethod
    def together(cls, several: Sequence[_CapturedRequest]) -> _CapturedRequest | None:
        if not any(one.texts for one in several):
            return None
        return cls(
            kind=several[0].kind,
            texts=[text for one in several for text in one.texts],
            new=[text for one in several for text in one.new],
            gold=[spans for one in several for spans in one.gold],
            left_out={},
        )


def _left_out(kinds: Iterable[ChangedKind]) -> Iterable[str]:
    for kind in kinds:
        for reason, n in kind.left_out.items():
            yield f"{n} of {kind.kind.name} left out: {reason}."


def _agreement(
    texts: Sequence[TextErrors],
    gold: Sequence[Spans],
    settings: SpanSettings,
    rng: np.random.Generator,
    *,
    credit: float = 1.0,
) -> PlaceAgreement:
    predicted = [
        None if text.errors is None else _marked_spans(text.errors, settings) for text in texts
    ]
    sources = [text.source for text in texts]
    return PlaceAgreement(
        characters=span_character_agreement(
            gold,
            predicted,
            sources=sources,
            severity_credit=credit,
            seed=rng,
            n_resamples=settings.n_resamples,
        ),
        pairs=matched_span_agreement(
            gold,
            predicted,
            sources=sources,
            iou_threshold=settings.overlap,
            severity_credit=credit,
            seed=rng,
            n_resamples=settings.n_resamples,
        ),
    )


def _marked_spans(errors: Sequence[ErrorSpan], settings: SpanSettings) -> Spans:
    """Return error spans; one marked on several criteria counts once, at its worst."""
    spans = sorted(_span(error, settings) for error in errors if error.start is not None)
    placed = {(span.start, span.end): span for span in spans}
    return [*placed.values(), *(Span(None, None) for e in errors if e.start is None)]


def _span(error: ErrorSpan | GoldError, settings: SpanSettings) -> Span:
    """Return the place of an error; severities are compared in two classes alone."""
    major = is_major(error.severity, major=settings.major)
    return Span(error.start, error.end, severity=2.0 if major else 1.0)
