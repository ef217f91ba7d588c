"""How a student is trained, and the chats that it is trained on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.distil.folder import TRAIN, VALIDATION, read_summary
from judgesmith.signatures.plain_data import fingerprint_of

_ROLES = ("system", "user", "assistant")

Turns = list[dict[str, str]]
"""Messages, each with ``role`` and ``content``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """What a student learns from, and what it is looked at with."""

    train: tuple[Turns, ...]
    validation: tuple[Turns, ...]
    runs: tuple[str, ...]
    digest: str


def read_chats(folders: Sequence[str | Path]) -> Chats:
    """Return the chats of all folders, one folder after the other."""
    train: list[Turns] = []
    held: list[Turns] = []
    runs = []
    digest = hashlib.sha256()
    for folder in map(Path, folders):
        runs.append(str(read_summary(folder).get("run")))
        for name, into in ((TRAIN, train), (VALIDATION, held)):
            found = _chats_in(folder / name)
            into += found
            digest.update(json.dumps([name, found]).encode())
    if not train:
        raise InputError(
            "no example for training; its examples.jsonl says why.", at=", ".join(map(str, folders))
        )
    return Chats(
        train=tuple(train),
        validation=tuple(held),
        runs=tuple(runs),
        digest=digest.hexdigest()[:32],
    )


def as_question_and_answer(chat: Turns) -> dict[str, Turns]:
    """Return a chat in two parts, of which only the second is learned."""
    return {"prompt": chat[:-1], "completion": chat[-1:]}


@file_faults()
def _chats_in(path: Path) -> list[Turns]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(
            "cannot be read.", at=path, hint="write the data again with judgesmith distil."
        ) from fault
    lines = text.removesuffix("\n").split("\n") if text else []
    return [_chat(line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]


def _chat(line: str, where: str) -> Turns:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    turns = row.get("messages") if isinstance(row, Mapping) else None
    is_chat = (
        isinstance(turns, list)
        and all(isinstance(one, Mapping) for one in turns)
        and tuple(one.get("role") for one in turns) == _ROLES
        and all(isinstance(one.get("content"), str) for one in turns)
    )
    if not is_chat or turns is None:
        raise InputError(
            f"expected messages of {', '.join(_ROLES)}.",
            at=where,
            hint="write the data again with judgesmith distil.",
        )
    return [{"role": one["role"], "content": one["content"]} for one in turns]


class Recipe(BaseModel):
    """Low-rank adapters on all linear layers, trained on the answers alone.

    Defaults are published, but for ``longest``, ``at_once`` and ``seed``, which are ours: Llama-3.1
    with 8 billion parameters took about 20 GB and six hours on one A40 for 38,000 examples.

    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    epochs: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    learning_rate: float = Field(default=2e-4, gt=0, allow_inf_nan=False)
    warmup: float = Field(default=0.05, ge=0, lt=1)
    weight_decay: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    batch: int = Field(default=16, ge=1)
    at_once: int = Field(default=1, ge=1)
    longest: int = Field(default=4096, ge=1)
    steps: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _steps_of_whole_batches(self) -> Self:
        if self.batch % self.at_once:
            raise InputError(
                f"{self.batch} examples per step do not come in batches of {self.at_once} at once.",
                hint="choose a number that divides them.",
            )
        return self

    def fingerprint(self, about: Sequence[str]) -> str:
        """Return twelve hex digits that change with a setting or what else a run is ``about``."""
        return fingerprint_of("\n".join([self.model_dump_json(), *about]))
