"""What comes of holding marked errors against known ones: by place, by kind, by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judgesmith.experiments.errors_counts import ErrorCounts, agreement_dict
from judgesmith.experiments.errors_gold import GoldKind
from judgesmith.metrics.spans import SpanAgreement
from judgesmith.signatures.perturbation import Perturbation


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceAgreement:
    """How well marked places agree with known ones.

    Attributes
    ----------
    characters : SpanAgreement
        Of characters: which share of the marked ones is wrong, and which of the wrong ones is
        marked.
    pairs : SpanAgreement
        Of errors, one to one.
    """

    characters: SpanAgreement
    pairs: SpanAgreement

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        return {
            "characters": agreement_dict(self.characters),
            "pairs": agreement_dict(self.pairs),
        }


@dataclass(frozen=True, kw_only=True)
class KindAgreement:
    """What was found of one kind of change.

    Attributes
    ----------
    kind : Perturbation
        The change. Of a control, which makes no text worse, nothing should be marked: its
        ``recall`` is the share of harmless changes that are.
    places : PlaceAgreement
        All that is marked in its versions beside what was changed in them.
    new : PlaceAgreement
        The same without what is marked in the original, too.
    left_out : dict of str to int
        Reasons why versions are not counted, with how many.
    """

    kind: Perturbation
    places: PlaceAgreement
    new: PlaceAgreement
    left_out: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
        return {
            "name": self.kind.name,
            "lowers": self.kind.lowers,
            "all": self.places.to_dict(),
            "new": self.new.to_dict(),
            "left_out": dict(self.left_out),
        }


@dataclass(frozen=True, kw_only=True)
class SpanEvaluation:
    """How the errors that a judge marks compare with errors that are known.

    Attributes
    ----------
    gold : {"edits", "errors"}
        What they are held against: where texts were changed, or what people marked.
    places : PlaceAgreement or None
        By place; None where nobody said where the errors are. Of edits: over all kinds of damage.
    new : PlaceAgreement or None
        The same without what is marked in the original, too; None where people marked errors.
    severities : PlaceAgreement or None
        By place, with half the credit where one side calls an error major and the other does not;
        None where the known errors have no severity.
    counts : ErrorCounts or None
        By number and severity, whatever the place; None for edits.
    kinds : tuple of KindAgreement
        By kind of change; empty for errors that people marked.
    n_unmarked : int
        Texts that nobody looked at, and which are left out.
    notes : tuple of str
        What was left out or assumed, in sentences for people.
    """

    gold: GoldKind
    places: PlaceAgreement | None
    new: PlaceAgreement | None = None
    severities: PlaceAgreement | None = None
    counts: ErrorCounts | None = None
    kinds: tuple[KindAgreement, ...] = ()
    n_unmarked: int = 0
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name, ready for JSON: undefined is None."""
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
