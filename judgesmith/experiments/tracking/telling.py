"""What a tracking server is told of a cell and of its experiment: flat names, values in limits."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from judgesmith.errors import file_faults
from judgesmith.experiments.agreeing import LEVELS
from judgesmith.experiments.specs import Cell, Spec
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.lm.errors import redacted

LONGEST_PARAM = 500
"""Characters of a parameter; MLflow takes 6000, its servers of before 2.8 no more than this."""

LONGEST_TAG = 5000
"""Characters of a tag; MLflow takes 8000 since 2.15, and 5000 before."""

LONGEST_NAME = 250

_OF_Q = ("low", "high", "n", "n_groups")
_STATISTICS = ("pearson", "spearman", "kendall", "q")
_SAID_OF_CELLS = ("data", "target", "judge", "optimizer", "model", "seed")


def cell_params(spec: Spec, cell: Cell) -> dict[str, str]:
    """Return what a cell was run with, flat: its coordinates, and what is said of its parts.

    Addresses of models are left out.

    Examples
    --------
    >>> from judgesmith.experiments.specs import cells_of
    >>> spec = Spec.model_validate({
    ...     "name": "one",
    ...     "data": {"answers": {"path": "sample"}},
    ...     "judges": {"plain": {"judge": "direct", "choose": {"samples": 3}}},
    ...     "optimizers": {"fitted": {"optimizer": "random", "rounds": 5}},
    ... })
    >>> for name, value in cell_params(spec, cells_of(spec)[0]).items():
    ...     print(f"{name}: {value}")
    data: answers
    target: auto
    judge: plain
    optimizer: fitted
    model: offline
    seed: 0
    holdout: 0.3
    model_name: offline
    data.path: sample
    judge.judge: direct
    judge.choose.samples: 3
    optimizer.optimizer: random
    optimizer.rounds: 5
    """
    found: dict[str, Any] = {name: getattr(cell, name) for name in _SAID_OF_CELLS}
    found["holdout"] = spec.holdout
    parts: dict[str, Any] = {"data": spec.data[cell.data], "judge": spec.judges[cell.judge]}
    if cell.optimizer is not None:
        parts["optimizer"] = spec.optimizers[cell.optimizer]
    if cell.model is not None:
        found["model_name"] = spec.model_name(cell.model)
    for name, part in parts.items():
        said = part.model_dump(mode="json", exclude_defaults=True)
        found.update(_flat(said, name))
    return {
        _key(name): shortened(_text(value), LONGEST_PARAM)
        for name, value in found.items()
        if value is not None
    }


def cell_metrics(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers that a cell came to; what is undefined or unknown has none.

    ``sample/q`` is Q at sample level on the rows held out, ``sample/q_low`` and ``sample/q_high``
    its interval, ``sample/q_n`` and ``sample/q_n_groups`` the rows and sources behind it.
    ``gain/sample_q`` and the like are what compiling changed.

    Parameters
    ----------
    result : dict
        As ``RunFolder.result`` returns it.

    Examples
    --------
    >>> rows = {"heldout": 4, "unscored": 1}
    >>> per_item = {"calls": 2.0, "usd": None}
    >>> cell_metrics({"rows": rows, "agreement": {"heldout": None}, "per_item": per_item})
    {'rows/heldout': 4.0, 'rows/unscored': 1.0, 'unscored_share': 0.25, 'per_item/calls': 2.0}
    """
    found: dict[str, Any] = {}
    for level, statistics in (result["agreement"].get("heldout") or {}).items():
        for name in _STATISTICS:
            found.update(_estimate(f"{level}/{name}", statistics.get(name)))
    for part in ("selection", "uncompiled", "gain"):
        for level, statistics in (result["agreement"].get(part) or {}).items():
            if level in LEVELS:
                found.update(_estimate(f"{part}/{level}_q", statistics.get("q")))
    rows = result["rows"]
    found.update({f"rows/{name}": n for name, n in rows.items()})
    if rows["heldout"]:
        found["unscored_share"] = rows["unscored"] / rows["heldout"]
    for part in ("per_item", "usage"):
        found.update({f"{part}/{name}": n for name, n in (result.get(part) or {}).items()})
    return {_key(name): float(value) for name, value in found.items() if _is_number(value)}


def cell_tags(spec: Spec, cell: Cell) -> dict[str, str]:
    """Return what a cell is found by, and by whom it was made."""
    return {
        "judgesmith.kind": "cell",
        "judgesmith.run": spec.fingerprint,
        "judgesmith.cell": cell.id,
        "judgesmith.seed": str(cell.seed),
        "judgesmith.version": version("judgesmith"),
    }


def result_tags(result: Mapping[str, Any]) -> dict[str, str]:
    """Return of which judge and target a result is, at which levels and on how many rows.

    Examples
    --------
    >>> q = {level: {"q": {"value": None, "n": 9}} for level in ("system", "sample", "dataset")}
    >>> q["dataset"]["q"]["value"] = 1.5
    >>> made = {"judge": "0" * 12, "target": "fluency", "agreement": {"heldout": q}}
    >>> result_tags(made)["judgesmith.level"], result_tags(made)["judgesmith.n"]
    ('dataset', '9')
    """
    heldout = result["agreement"].get("heldout") or {}
    of_q = {level: heldout[level]["q"] for level in sorted(heldout) if level in LEVELS}
    defined = [level for level, q in of_q.items() if q["value"] is not None]
    tags = {
        "judgesmith.judge": str(result.get("judge")),
        "judgesmith.target": str(result.get("target")),
        "judgesmith.level": ", ".join(defined) or "none",
        "judgesmith.n": str(max((q["n"] for q in of_q.values()), default=0)),
    }
    return {name: shortened(text, LONGEST_TAG) for name, text in tags.items()}


def run_params(spec: Spec) -> dict[str, str]:
    """Return what holds for all cells of an experiment."""
    found = {
        "data": list(spec.data),
        "judges": list(spec.judges),
        "optimizers": list(spec.optimizers),
        "models": list(spec.models),
        "seeds": list(spec.seeds),
        "holdout": spec.holdout,
        "objective": spec.objective,
    }
    return {
        name: shortened(_text(value), LONGEST_PARAM)
        for name, value in found.items()
        if value is not None
    }


def run_tags(spec: Spec) -> dict[str, str]:
    """Return what an experiment is found by, and what it is about."""
    tags = {
        "judgesmith.kind": "experiment",
        "judgesmith.run": spec.fingerprint,
        "judgesmith.version": version("judgesmith"),
    }
    about = shortened(" ".join(spec.about.split()), LONGEST_TAG)
    return tags | ({"mlflow.note.content": about} if about else {})


@file_faults()
def digest_of(*places: Path) -> str:
    """Return twelve hex digits that change with the name or the bytes of any of the files."""
    found = hashlib.sha256()
    for place in places:
        found.update(f"{place.name}\0".encode())
        found.update(hashlib.sha256(place.read_bytes()).digest())
    return found.hexdigest()[:12]


def shortened(text: str, longest: int) -> str:
    r"""Return anybody's text without keys, on one line and within a limit.

    Examples
    --------
    >>> shortened("ask sk-abc123def456\n\x1b[2J", 80), shortened("abcdefgh", 6)
    ('ask [key]\\n\\x1b[2J', 'abc...')
    """
    line = printable(redacted(text))
    return line if len(line) <= longest else f"{line[: longest - 3]}..."


def _flat(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, f"{name}.{key}")
    else:
        yield name, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    """Return a name of the characters that MLflow takes in one."""
    return re.sub(r"[^A-Za-z0-9_./ -]", "_", name)[:LONGEST_NAME]


def _estimate(name: str, found: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    if found is not None and found.get("value") is not None:
        yield name, found["value"]
        for part in _OF_Q:
            yield f"{name}_{part}", found.get(part)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
