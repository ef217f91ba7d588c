"""A specification: which judges are compiled how, on which files, and what that may cost."""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SkipValidation

from judgesmith.data.samples import SAMPLES
from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.compile.fields import CompileFields
from judgesmith.experiments.specs.faults import Origin, SpecError, unknown_name
from judgesmith.experiments.specs.parts import (
    Combination,
    DataSpec,
    JudgeSpec,
    ModelSpec,
    Name,
    OptimizerSpec,
    SpecBudget,
    SpecPart,
    Text,
    Whole,
    settings_fields,
)
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS
from judgesmith.signatures.plain_data import Place, fingerprint_of

DATA_FOLDER = "JUDGESMITH_DATA"
"""The environment variable that names the folder of the datasets."""

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def spec_place(path: str, folder: str | Path = ".") -> Path:
    """Return where a file is."""
    found = Path(_VARIABLE.sub(_value, path)).expanduser()
    if found.is_absolute():
        return found
    beside = Path(folder) / found
    data = os.environ.get(DATA_FOLDER)
    if data and not beside.exists() and (Path(data) / found).exists():
        return Path(data) / found
    return beside


def file_at(path: str, folder: str | Path = ".") -> Path:
    """Return where a file is, as :func:`place_of` does, and refuse one that is not there."""
    place = spec_place(path, folder)
    if place.is_file():
        return place
    if place.is_dir():
        raise InputError(f"{path} is a folder.", hint="name a file in it.")
    beside = (
        sorted(one.name for one in place.parent.iterdir() if one.is_file())
        if place.parent.is_dir()
        else ()
    )
    if beside:
        raise InputError(unknown_name("file", place.name, beside))
    raise InputError(f"there is no file {path}.", hint="make it, or name another.")


def _value(found: re.Match[str]) -> str:
    name = found[1] or found[2]
    value = os.environ.get(name)
    if not value:
        raise InputError(f"the environment has no {name}.", hint="set it, or write the folder out.")
    return value


JUDGE_FILE = "judge.json"
"""What the folder of a saved judge holds, all of the judge."""

_DECIDES_NOTHING = {"name", "about", "budget", "published"}


@settings_fields(CompileFields, "holdout", "split_rows", "percent_of_max")
class Spec(SpecPart):
    """What is run: every judge with every optimizer, model and seed, on every target of every set.

    Parameters
    ----------
    name : str
        For titles.
    about : str
        What a reader should know: what it reproduces, and what it cannot.
    data, judges, optimizers, models : dict
        By names of one's own.
    seeds : tuple of int
        Of everything that is drawn, the split included.
    holdout : float
        Share of sources kept for the report, from 0 to below 1.
    split_rows, percent_of_max : bool
        See ``CompileSettings``.
    objective : str or None
        What is made as large as possible; None is what ``CompileSettings`` takes.
    perspectives : tuple of {"global", "local"}
        What is reported of the rows held out, beside agreement.
    published : str or None
        The paper whose numbers are printed beside those of the run, or a file of numbers.
    budget : Budget
        Of the whole run.
    leave_out : tuple of Combination
        Cells that are not run.
    origin : Origin
        The file it is from, which paths are relative to; no part of the specification itself.
    """

    name: Name
    about: str = ""
    data: dict[Name, DataSpec] = Field(min_length=1)
    judges: dict[Name, JudgeSpec] = Field(min_length=1)
    optimizers: dict[Name, OptimizerSpec] = Field(
        default_factory=lambda: {"effects": OptimizerSpec()}, min_length=1
    )
    models: dict[Name, ModelSpec] = Field(
        default_factory=lambda: {"offline": ModelSpec()}, min_length=1
    )
    seeds: tuple[Whole, ...] = Field(default=(0,), min_length=1)
    if TYPE_CHECKING:
        holdout: float = 0.3
        split_rows: bool = False
    objective: Text | None = None
    perspectives: tuple[Literal["global", "local"], ...] = ()
    published: Text | None = None
    budget: SpecBudget = SpecBudget()
    leave_out: tuple[Combination, ...] = ()
    origin: Annotated[Origin, SkipValidation] = Field(default=Origin(), exclude=True)

    def place(self, path: str) -> Path:
        """Return where a file is that the specification names."""
        return spec_place(path, self.origin.folder)

    @property
    def absent(self) -> frozenset[str]:
        """Names of optional sets whose file is not there: they have no cells."""
        return frozenset(
            name
            for name, one in self.data.items()
            if one.optional and one.path not in SAMPLES and not self.place(one.path).exists()
        )

    def model_name(self, name: str) -> str:
        """Return what one of the models is called by its provider."""
        return self.models[name].model or name

    @property
    def files(self) -> dict[str, Place]:
        """Every file that it names, as it is named, in order, and where it is first named."""
        absent = self.absent
        named: list[tuple[str | None, Place]] = [
            (one.path, ("data", name, "path"))
            for name, one in self.data.items()
            if name not in absent
        ]
        named += [
            (getattr(judge, field), ("judges", name, field))
            for name, judge in self.judges.items()
            for field in ("rubric", "steps", "questions", "recorded")
        ]
        named += [
            (one.expert_weights, ("data", name, "expert_weights"))
            for name, one in self.data.items()
            if one.expert_weights not in EXPERT_WEIGHTS and name not in absent
        ]
        named += [
            (judge.format, ("judges", name, "format"))
            for name, judge in self.judges.items()
            if judge.format is not None and Path(judge.format).suffix
        ]
        named += [
            (f"{judge.saved}/{JUDGE_FILE}", ("judges", name, "saved"))
            for name, judge in self.judges.items()
            if judge.saved is not None
        ]
        found: dict[str, Place] = {}
        for path, place in named:
            if path is not None and path not in SAMPLES:
                found.setdefault(path, place)
        return dict(sorted(found.items()))

    @property
    @file_faults()
    def fingerprint(self) -> str:
        """Twelve hex digits that change when anything that decides results does.

        So they do with the bytes of the files it names, wherever these are.
        Title and budget decide nothing, nor does how fast a model is asked.

        Raises
        ------
        SpecError
            If a file is not there.
        OSError
            If one cannot be read.
        """
        hashes: dict[str, str] = {}
        mistakes = []
        for path, place in self.files.items():
            try:
                found = file_at(path, self.origin.folder)
            except ValueError as fault:
                mistakes.append(self.origin.mistake(place, str(fault)))
            else:
                written = found.stat()
                hashes[path] = _digest(found, written.st_mtime_ns, written.st_size)
        if mistakes:
            raise SpecError(sorted(mistakes, key=lambda one: int(one.where.rpartition(":")[2])))
        return fingerprint_of([self._deciding(), hashes])

    def _deciding(self) -> dict[str, Any]:
        found = self.model_dump(mode="json", exclude=_DECIDES_NOTHING, exclude_defaults=True)
        found.setdefault("optimizers", {name: {} for name in self.optimizers})
        found["models"] = {
            name: [self.model_name(name), one.api_base] for name, one in self.models.items()
        }
        return found


@lru_cache(maxsize=64)
def _digest(path: Path, written: int, size: int) -> str:
    """Return the hash of a file, read once for each time that it was written."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
