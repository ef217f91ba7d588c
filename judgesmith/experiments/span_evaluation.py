"""Whether the errors that a judge marks are those that are there, by place, number and severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.errors_counts import error_counts
from judgesmith.experiments.errors_found import FoundErrors, TextErrors
from judgesmith.experiments.errors_gold import (
    ChangedKind,
    GoldError,
    GoldKind,
    changed_texts,
    gold_kind,
    marked_errors,
)
from judgesmith.experiments.errors_inherited import new_errors
from judgesmith.experiments.errors_severity import MAJOR, is_major
from judgesmith.experiments.span_report import KindAgreement, PlaceAgreement, SpanEvaluation
from judgesmith.metrics import span_character_agreement
from judgesmith.metrics.spans import Span, matched_span_agreement
from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.perturbation import Perturbation

_OVERLAP = 0.5
_HALF = 0.5

Spans = list[Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSettings:
    """How places and severities are compared.

    Parameters
    ----------
    overlap : float, from 0 to 1
        Least share of their characters that two errors must have in common to be one.
    major : float
        Points from which an error is a major one.
    n_resamples : int
        For the intervals.
    """

    overlap: float = _OVERLAP
    major: float = MAJOR
    n_resamples: int = 1000


def evaluate_spans(
    found: FoundErrors,
    dataset: DataSet,
    *,
    gold: GoldKind | None = None,
    settings: SpanSettings | None = None,
    rng: np.random.Generator,
) -> SpanEvaluation:
    """Return how the errors that a judge marks compare with those that are known.

    Parameters
    ----------
    found : FoundErrors
        From :func:`~judgesmith.experiments.errors_reading.read_errors`, of the same set.
    dataset : DataSet
        Texts that say where they were changed (``edits``, as ``judgesmith perturb`` writes them)
        or which errors people marked in them (``errors``).
    gold : {"edits", "errors"} or None
        What the errors are held against; None takes edits where there are any.
    settings : SpanSettings or None
        How they are compared.
    rng : Generator
        Draws sources for the intervals.

    Raises
    ------
    ValueError
        If the set says nothing of the kind.
    DataError
        If marked errors cannot be read.
    """
    settings = settings or SpanSettings()
    known = gold or gold_kind(dataset)
    if known == "edits":
        return _against_edits(found, dataset, settings, rng)
    if known == "errors":
        return _against_people(found, dataset, settings, rng)
    raise InputError(
        f"no row of {dataset.name} says where it was changed (edits) or what is wrong with it "
        "(errors).",
        hint="give texts that judgesmith perturb changed, or that people marked.",
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
    spans = [_gold_spans(errors, settings) for errors in known]
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
            "people did not say where the errors are; their number and severity are compared, and "
            "not their places.",
        ),
    )


def _against_edits(
    found: FoundErrors, dataset: DataSet, settings: SpanSettings, rng: np.random.Generator
) -> SpanEvaluation:
    kinds, notes = changed_texts(dataset)
    by_text = {_id(text): text for text in found.texts}
    laid = [_Laid.of(kind, by_text, settings) for kind in kinds]
    if not any(one.texts for one in laid):
        reasons = dict.fromkeys(why for kind in kinds for why in kind.left_out) or dict.fromkeys(
            note.rstrip(".") for note in notes
        )
        why = "".join(f": {reason}" for reason in list(reasons)[:1])
        raise InputError(
            f"no version in {dataset.name} can be held against its original{why}.",
            hint="give originals and versions with edits, as judgesmith perturb writes them.",
        )
    damage = [one for one in laid if one.kind.lowers]
    whole = _Laid.together(damage)
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
class _Laid:
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
    ) -> _Laid:
        texts, new, gold = [], [], []
        for one in kind.texts:
            version = by_text[_id_of(one.version)]
            before = by_text[_id_of(one.original)]
            texts.append(version)
            new.append(new_errors(version, before, one.made, overlap=settings.overlap))
            gold.append([Span(start, end) for start, end in one.places])
        return cls(kind=kind.kind, texts=texts, new=new, gold=gold, left_out=kind.left_out)

    @classmethod
    def together(cls, several: Sequence[_Laid]) -> _Laid | None:
        if not any(one.texts for one in several):
            return None
        return cls(
            kind=several[0].kind,
            texts=[text for one in several for text in one.texts],
            new=[text for one in several for text in one.new],
            gold=[spans for one in several for spans in one.gold],
            left_out={},
        )


def _id(text: TextErrors) -> tuple[str, str, str]:
    return _id_of(text.item)


def _id_of(item: Any) -> tuple[str, str, str]:
    return item.source_id, item.system_id, item.key


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
            rng=rng,
            n_resamples=settings.n_resamples,
        ),
        pairs=matched_span_agreement(
            gold,
            predicted,
            sources=sources,
            iou_threshold=settings.overlap,
            severity_credit=credit,
            rng=rng,
            n_resamples=settings.n_resamples,
        ),
    )


def _marked_spans(errors: Sequence[ErrorSpan], settings: SpanSettings) -> Spans:
    """Return the places of errors; one marked on several criteria counts once, at its worst."""
    spans = sorted(_span(error, settings) for error in errors if error.start is not None)
    placed = {(span.start, span.end): span for span in spans}
    return [*placed.values(), *(Span(None, None) for e in errors if e.start is None)]


def _gold_spans(errors: Sequence[GoldError], settings: SpanSettings) -> Spans:
    return [_span(error, settings) for error in errors]


def _span(error: ErrorSpan | GoldError, settings: SpanSettings) -> Span:
    """Return the place of an error; severities are compared in two classes alone."""
    major = is_major(error.severity, major=settings.major)
    return Span(error.start, error.end, severity=2.0 if major else 1.0)
