"""Whether an exported judge judges as the saved one does: both are asked about golden items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.programs.exporting.form import Form, Row
from judgesmith.programs.judging.runner import judge_items
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

_CLOSE = 1e-9  # points: sums in another order


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What an exported judge says otherwise of a golden item."""

    item: int
    field: str
    saved: Any
    exported: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """How an export did on the golden items."""

    n_items: int
    n_equal: int
    differences: tuple[Difference, ...]


def verified(
    form: Form, place: Path, saved: AnySaved, lms: Mapping[str, dspy.LM] | None
) -> Verified | None:
    """Return how an export does on the golden items beside the judge itself, asked the same."""
    lms = offline_models(saved) if lms is None else lms
    if not saved.golden or lms is None:
        return None
    found = form.judged(place, saved, lms)
    if found is None:
        return None
    bound = saved.with_models(lms)
    own = judge_items(bound, golden_items(saved), lm=lms[saved.models[0]])
    differences = tuple(
        one
        for n, (judgement, row) in enumerate(zip(own, found, strict=True))
        for one in differing(n, judgement, row)
    )
    n = len(saved.golden)
    n_equal = n - len({one.item for one in differences})
    return Verified(n_items=n, n_equal=n_equal, differences=differences)


def golden_items(saved: AnySaved) -> list[RatedItem]:
    """Return the golden items of a judge as texts to judge."""
    return [
        RatedItem(
            source_id=str(n),
            source=one.source,
            context=one.context,
            response=one.response,
            references=one.references,
        )
        for n, one in enumerate(saved.golden)
    ]


def offline_models(saved: AnySaved) -> dict[str, dspy.LM] | None:
    """Return the offline model by its name; None for a judge that asks any other."""
    from judgesmith.programs.lm import model

    if set(saved.models) != {"offline"}:
        return None
    return {"offline": model("offline", ledger=None)}


def differing(item: int, own: Judgement, row: Row) -> list[Difference]:
    """Return what a row of an exported judge says otherwise than the judge itself."""
    pairs: dict[str, tuple[Any, Any]] = {
        "score": (own.score, row.get("score")),
        "problem": (own.problem, row.get("problem")),
    }
    given = row.get("criteria") or {}
    for name in dict.fromkeys((*own.criteria, *given)):
        ours = own.criteria[name].score if name in own.criteria else None
        theirs = given[name]["score"] if name in given else None
        pairs[f"criteria.{name}"] = (ours, theirs)
    return [
        Difference(item=item, field=field, saved=ours, exported=theirs)
        for field, (ours, theirs) in pairs.items()
        if not _same(ours, theirs)
    ]


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=0, abs_tol=_CLOSE)
    return bool(ours == theirs)
