"""What ``judgesmith errors`` prints of errors held against those that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgesmith.cli.agreement import estimate_text
from judgesmith.cli.printing import counted, say, say_wrapped
from judgesmith.cli.tables import print_table

if TYPE_CHECKING:
    from judgesmith.experiments.evaluate.errors.evaluation import (
        ErrorCounts,
        KindAgreement,
        PlaceAgreement,
        SpanEvaluation,
    )
    from judgesmith.metrics.spans import SpanAgreement

_RATES = ("precision", "recall", "f1")


def print_evaluation(found: SpanEvaluation) -> None:
    """Print how marked errors agree with known ones."""
    if found.places is not None:
        _print_places(found, found.places)
    damage = [kind for kind in found.kinds if kind.kind.lowers]
    if damage:
        _print_kinds(damage)
    controls = [kind for kind in found.kinds if not kind.kind.lowers]
    if controls:
        print_table(
            "Controls, which make no text worse: the share of them that is marked (less is better)",
            [
                [kind.kind.name, *_of_kind(kind.new.characters, "recall"), _marks(kind)]
                for kind in controls
            ],
            header=["change", "texts", "characters", "new errors"],
        )
    if found.counts is not None:
        _print_counts(found.counts)


def _print_places(found: SpanEvaluation, places: PlaceAgreement) -> None:
    against = "what was changed" if found.gold == "edits" else "what people marked"
    basis = places.characters.f1
    rows = [
        *_rows("all errors", places),
        *_rows("without those of the original", found.new),
        *_rows("half credit for severity", found.severities),
    ]
    print_table(
        f"Places beside {against}: {basis.n} texts, {basis.confidence:.0%} intervals over sources",
        rows,
        header=["", "precision", "recall", "F1"],
    )
    pairs = places.pairs
    say()
    say_wrapped(
        f"{pairs.predicted:g} places marked beside {pairs.gold:g} that are wrong; without a place, "
        f"and left out, are {pairs.n_unlocated_predicted} and {pairs.n_unlocated_gold}; "
        f"{counted(pairs.n_unscored, 'text')} unscored"
    )


def _rows(name: str, places: PlaceAgreement | None) -> list[list[str]]:
    if places is None:
        return []
    return [
        [name],
        *(
            [f"  {unit}", *(estimate_text(getattr(one, rate)) for rate in _RATES)]
            for unit, one in (("by character", places.characters), ("one to one", places.pairs))
        ),
    ]


def _print_kinds(kinds: list[KindAgreement]) -> None:
    rows = [
        [
            kind.kind.name,
            str(kind.places.pairs.f1.n),
            f"{kind.places.pairs.gold:g}",
            f"{kind.places.pairs.n_unlocated_gold}",
            *(estimate_text(one.f1) for one in (kind.new.characters, kind.new.pairs)),
        ]
        for kind in kinds
    ]
    header = ["change", "texts", "places", "taken out", "F1, characters", "F1, one to one"]
    title = "By kind of change: F1 of the errors that are not marked in the original, too"
    print_table(title, rows, header=header)


def _of_kind(found: SpanAgreement, rate: str) -> list[str]:
    return [str(found.f1.n), estimate_text(getattr(found, rate))]


def _marks(kind: KindAgreement) -> str:
    return f"{kind.new.pairs.predicted:g}"


def _print_counts(found: ErrorCounts) -> None:
    print_table(
        f"Number and severity, whatever the place: {found.n_texts} texts",
        [
            ["errors", str(found.found), str(found.known)],
            ["  major", str(found.found_major), str(found.known_major)],
        ],
        header=["", "judge", "people"],
    )
    print_table(
        "",
        [
            [name, *(estimate_text(getattr(one, rate)) for rate in _RATES)]
            for name, one in (
                ("with an error", found.any_error),
                ("with a major one", found.any_major),
            )
        ],
        header=["texts", "precision", "recall", "F1"],
    )
    print_table(
        "",
        [
            ["number of errors", estimate_text(found.number)],
            ["cost (minor 1, major 5)", estimate_text(found.cost)],
        ],
        header=["over texts", "Spearman"],
    )
