"""What every export says of the judge in it, in plain data and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from judgesmith.programs.artifacts.card import agreement_text, printable

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved_ensembles import AnySaved

LICENCE = (
    "What belongs to judgesmith in this export is under the Apache License 2.0; the rubric, the "
    "examples and the learned numbers are those of whoever compiled the judge."
)


def about(saved: AnySaved) -> dict[str, Any]:
    """Return what is known of a judge that goes elsewhere: no key, no endpoint, no rated text."""
    return {
        "fingerprint": saved.fingerprint,
        "kind": kind_of(saved),
        "target": saved.target,
        "scale": saved.scale.model_dump(mode="json"),
        "human_scale": saved.human_scale.model_dump(mode="json"),
        "models": list(saved.models),
        "agreement": _headline(saved.agreement),
        "judgesmith": version("judgesmith"),
        "licence": LICENCE,
    }


def kind_of(saved: AnySaved) -> str:
    """Return what kind of judge it is: its family, ``panel`` or ``calibrated``."""
    from judgesmith.programs.artifacts.saved import SavedJudge

    return saved.protocol.judge if isinstance(saved, SavedJudge) else str(saved.kind)  # type: ignore[attr-defined]


def about_lines(saved: AnySaved) -> Iterator[str]:
    """Yield the same in sentences, one a line, with nothing in them that a terminal obeys."""
    yield printable(
        f"Judge {saved.fingerprint} ({kind_of(saved)}), exported by judgesmith "
        f"{version('judgesmith')}."
    )
    if saved.agreement.get("selection", True) is None:
        yield "It was made without ratings."
    else:
        yield printable(f"It judges {saved.target!r}, which people rated on {saved.human_scale}.")
    yield printable(f"Scores are on {saved.scale}; compiled with {', '.join(saved.models)}.")
    part, headline = _best_known(saved.agreement)
    for level, estimates in headline.items():
        said = ", ".join(
            f"{name} {agreement_text(one)}" for name, one in estimates.items() if one is not None
        )
        if said:
            yield printable(f"Agreement with people, {part}, {level} level: {said}.")
    if not headline:
        yield "Its agreement with people was not measured."
    yield LICENCE


def _headline(agreement: Mapping[str, Any]) -> dict[str, Any] | None:
    part, found = _best_known(agreement)
    return {"rows": part, **found} if found else None


def _best_known(agreement: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the agreement on held-out rows, or else on those that it was chosen by."""
    for part, said in (("heldout", "held out"), ("selection", "rows of selection")):
        if agreement.get(part):
            return said, agreement[part]
    return "", {}
