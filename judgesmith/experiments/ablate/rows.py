"""The rows of an ablation, the whole method and what is left without a part, and their folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self, get_args

from judgesmith.data.items import DataSet
from judgesmith.drafts import put_text
from judgesmith.errors import InputError, did_you_mean, file_faults
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.run_folders import begun_in, json_text
from judgesmith.experiments.tables import Table
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures import ActiveCriticConfig
from judgesmith.signatures.config import JudgeConfig

Ablation = Literal[
    "explanations", "task", "criteria", "mcs", "os", "search", "weights", "confirmation"
]
"""A part that can be left out.

``explanations``: scores alone. ``task``: no description of the task; criteria come from
observations only. ``criteria``: those that people rated instead of inferred ones. ``mcs``: no
criteria scores, which is the coarse variant. ``os``: no overall question; the score is the mean
of the criteria. ``search``: no demonstrations. ``weights``: no learned combination of numbers.
``confirmation``: the best on the validation rows is taken, without a test.
"""

ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


def without(settings: CompileSettings, parts: Iterable[str]) -> CompileSettings:
    """Return ``settings`` with parts of the method left out."""
    left_out = tuple(dict.fromkeys(parts))
    unknown = [part for part in left_out if part not in ABLATIONS]
    if unknown:
        raise InputError(
            f"what can be left out is {', '.join(ABLATIONS)}; got {', '.join(unknown)}.",
            hint=did_you_mean(unknown[0], ABLATIONS),
        )
    own = settings.protocol
    lacking = [part for part in left_out if part not in _parts_of(own)]
    if lacking:
        raise InputError(
            f"a {own.judge} judge has no {', '.join(lacking)} to leave out; it has "
            f"{', '.join(_parts_of(own))}."
        )
    if {"mcs", "os"} <= set(left_out):
        raise InputError("without mcs and os nothing is scored.", hint="leave one of the two in.")
    protocol: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for part in left_out:
        match part:
            case "explanations":
                protocol["explain"] = "none"
            case "task":
                changes["inference"] = {**dict(settings.inference), "without": ("task",)}
            case "criteria":
                changes["criteria"] = "human"
                changes["target"] = settings.target or ("auto",)
            case "mcs":
                protocol["variant"] = "coarse"
            case "os":
                protocol["overall"] = "mean"
            case "search":
                if settings.calls_per_item is not None:
                    raise InputError(
                        "several prompts are averaged by a search, and the search is left out.",
                        hint="leave calls_per_item out.",
                    )
                changes["n_demonstrations"] = 0
                if settings.optimizer == "effects":  # the search of no demonstrations is none
                    changes["optimizer"] = "random"
            case "weights":
                changes["learn_weights"] = False
            case "confirmation":
                changes["confirm"] = None
    changes["protocol"] = type(own).model_validate({**dict(own), **protocol})
    return CompileSettings.model_validate({**dict(settings), **changes})


def _parts_of(protocol: JudgeConfig) -> list[Ablation]:
    """Return the parts of the method that judges of a family have."""
    fields = {"explanations": "explain", "mcs": "variant", "os": "overall"}
    found = [part for part in ABLATIONS if fields.get(part, "judge") in type(protocol).model_fields]
    if not family_of(protocol.judge).has_demonstrations:
        found.remove("search")
    return found


Block = Literal["paper", "learned"]
"""``paper``: the judge's own score, as there. ``learned``: what learned weights make of it."""

BLOCKS: tuple[Block, ...] = get_args(Block)

FULL = "fine"
"""The row that has every part, which the others are compared with."""

PEOPLES = "without-criteria"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What one row changes: parts that are left out, and choices that are made otherwise."""

    parts: tuple[str, ...] = ()
    protocol: Mapping[str, str]
    inference: Mapping[str, str]


def _changed(*parts: str, inference: str = "batches", **protocol: str) -> _Change:
    return _Change(parts=parts, protocol=protocol, inference={"inference": inference})


# In this order every row finds on record what it shares with those above it.
_CHANGES: Mapping[str, _Change] = {
    "vanilla": _changed(variant="vanilla"),
    "coarse": _changed(variant="coarse"),
    FULL: _changed(),
    "fine-without-explanations": _changed("explanations"),
    "fine-explanations-after": _changed(explain="after"),
    "coarse-without-explanations": _changed("explanations", variant="coarse"),
    "without-task": _changed("task"),
    PEOPLES: _changed("criteria"),
    "without-mcs": _changed("mcs"),
    "without-os": _changed("os"),
    "without-search": _changed("search"),
    "without-search-single-batch": _changed("search", inference="single"),
    "separate-calls": _changed(criteria_calls="separate"),
}

ROWS: tuple[str, ...] = tuple(_CHANGES)
"""The names of all rows, in the order in which they are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """A judge that is to be compiled."""

    block: Block
    name: str
    settings: CompileSettings


def planned_rows(settings: CompileSettings, names: Iterable[str] | None = None) -> list[PlannedRow]:
    """Return the rows to make, first those of the paper, then the same with learned weights."""
    chosen = chosen_rows(names)
    _refuse_less_than_all(settings)
    rows = []
    for block in BLOCKS:
        # The block decides about weights, and the paper's search is that of demonstrations.
        base = settings.model_copy(update={"learn_weights": True, "optimizer": "random"})
        base = without(base, ["weights"]) if block == "paper" else base
        rows += [
            PlannedRow(block=block, name=name, settings=_settings(name, base)) for name in chosen
        ]
    return rows


def chosen_rows(names: Iterable[str] | None) -> list[str]:
    """Return known rows in their fixed order; all of them for None."""
    if names is None:
        return list(ROWS)
    wanted = set(names)
    if unknown := sorted(wanted - set(ROWS)):
        raise InputError(f"the rows are {', '.join(ROWS)}; got {', '.join(unknown)}.")
    if not wanted:
        raise InputError("no row is named.", hint=f"choose from {', '.join(ROWS)}.")
    return [name for name in ROWS if name in wanted]


def impossible_rows(dataset: DataSet, names: Iterable[str]) -> dict[str, str]:
    """Return rows that these data do not allow, and why in one sentence."""
    if PEOPLES not in names:
        return {}
    try:
        human_rubric(dataset)
    except ValueError as fault:
        return {PEOPLES: " ".join(str(fault).split())}
    return {}


def _settings(name: str, base: CompileSettings) -> CompileSettings:
    change = _CHANGES[name]
    changes: dict[str, Any] = {
        "protocol": ActiveCriticConfig.model_validate({**dict(base.protocol), **change.protocol}),
        "inference": {**dict(base.inference), **change.inference},
        # What is inferred is looked at here, whether or not it is the best there is.
        "criteria": None if name == "vanilla" else "inferred",
    }
    return without(CompileSettings.model_validate({**dict(base), **changes}), change.parts)


def _refuse_less_than_all(settings: CompileSettings) -> None:
    """Refuse settings from which rows could not be told apart, or nothing could be reported."""
    usual = ActiveCriticConfig()
    own = settings.protocol
    names = ("variant", "criteria_calls", "overall", "explain", "rubric")
    same = isinstance(own, ActiveCriticConfig)
    differing = [name for name in names if same and getattr(own, name) != getattr(usual, name)]
    if not same:
        differing.append("judge")
    if settings.criteria not in (None, "inferred"):
        differing.append("criteria")
    if settings.inference.without or settings.inference.inference != "batches":
        differing.append("inference")
    if settings.optimizer != "random" and "optimizer" in settings.model_fields_set:
        differing.append("optimizer")
    if settings.calls_per_item is not None:
        differing.append("calls_per_item")
    if settings.earlier:
        differing.append("earlier")
    if differing:
        raise InputError(
            "an ablation starts from the whole method and leaves parts of it out by itself.",
            hint=f"leave {', '.join(differing)} as it is.",
        )
    if len(settings.target) > 1:
        raise InputError(
            f"an ablation has one target; got {', '.join(settings.target)}.",
            hint="name one of them.",
        )
    if not settings.holdout:
        raise InputError("rows are compared on rows held out.", hint="give holdout above 0.")


RUN_FILE = "ablation.json"
TABLE_FILES = ("table.json", "table.csv", "table.md", "calls.csv")
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCalls:
    """What it took to make a row."""

    new: int
    recorded: int


@dataclass(frozen=True, kw_only=True, eq=False)
class FinishedRow:
    """A row that need not be made again.

    ``calls``: None for models that do not count.
    """

    saved: SavedJudge
    heldout: tuple[tuple[str, float | None], ...]
    calls: RowCalls | None
    spent: int


class AblationFolder:
    """The folder of one run.

    ``ablation.json`` names the run. Under each block every finished row has a judge's folder and
    a file of the same name in ``.json``, which is written last and says that the row is whole.
    """

    def __init__(self, path: Path, *, spent: int) -> None:
        self.path = path
        self.spent = spent

    @classmethod
    @file_faults()
    def opened(cls, path: str | Path, run: str, *, spent: int = 0, overwrite: bool = False) -> Self:
        """Return the folder of a run, which is made if it is not there."""
        place = Path(path).resolve()
        found = check_ablation(place, run, overwrite=overwrite)
        if found and not overwrite:
            return cls(place, spent=int(found.get("spent", 0)))
        _clear(place)
        place.mkdir(exist_ok=True)
        put_text(place / RUN_FILE, json_text({"schema": SCHEMA, "run": run, "spent": spent}))
        return cls(place, spent=spent)

    @file_faults()
    def load(self, row: PlannedRow, run: str) -> FinishedRow | None:
        """Return a row that was finished before with these settings, or None."""
        record = self._record(row)
        if not record.is_file():
            return None
        saved = SavedJudge.load(self._judge(row))
        if saved.settings.get("run") != run:
            return None
        try:
            found = json.loads(record.read_text(encoding="utf-8"))
            calls = found["calls"]
            finished = FinishedRow(
                saved=saved,
                heldout=tuple((str(key), score) for key, score in found["heldout"]),
                calls=None if calls is None else RowCalls(**calls),
                spent=int(found["spent"]),
            )
            whole = found["schema"] == SCHEMA and found["judge"] == saved.fingerprint
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            whole = False
        if not whole:
            raise InputError(
                "not the record of the judge next to it. Delete this file: the row is made again "
                "from the cached answers.",
                at=record,
            )
        self.spent = max(self.spent, finished.spent)
        return finished

    @file_faults()
    def keep(self, row: PlannedRow, finished: FinishedRow) -> None:
        """Save a row: first its judge, then the record that says it is whole."""
        record = self._record(row)
        record.unlink(missing_ok=True)
        finished.saved.save(self._judge(row), overwrite=True)
        calls = finished.calls
        content = {
            "schema": SCHEMA,
            "judge": finished.saved.fingerprint,
            "calls": None if calls is None else asdict(calls),
            "spent": finished.spent,
            "heldout": finished.heldout,
        }
        record.parent.mkdir(exist_ok=True)
        put_text(record, json_text(content))
        self.spent = max(self.spent, finished.spent)

    def write(
        self,
        *,
        table: Mapping[str, Any],
        csv: str,
        markdown: str,
        calls: Table,
    ) -> None:
        """Write the table in its three forms, and what it took next to it."""
        texts = (json_text(table), csv, markdown, calls.csv())
        for name, text in zip(TABLE_FILES, texts, strict=True):
            put_text(self.path / name, text)

    def _judge(self, row: PlannedRow) -> Path:
        return self.path / row.block / row.name

    def _record(self, row: PlannedRow) -> Path:
        return self.path / row.block / f"{row.name}.json"


def check_ablation(folder: Path, run: str, *, overwrite: bool = False) -> dict[str, Any]:
    """Return what ``ablation.json`` in a folder says, nothing where there is no folder yet."""
    return begun_in(
        folder,
        run,
        record=RUN_FILE,
        schema=SCHEMA,
        what="ablation",
        other="the ablation of another run",
        overwrite=overwrite,
    )


@file_faults()
def _clear(folder: Path) -> None:
    """Take out what an ablation writes, and nothing else."""
    for block in BLOCKS:
        for name in ROWS:
            (folder / block / f"{name}.json").unlink(missing_ok=True)
            if (folder / block / name / "judge.json").is_file():
                shutil.rmtree(folder / block / name)
    for name in TABLE_FILES:
        (folder / name).unlink(missing_ok=True)
