"""A specification: which judges are compiled how, on which data, and what that may cost."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SkipValidation

from judgesmith.experiments.specs.faults import Origin
from judgesmith.experiments.specs.parts import (
    Budget,
    Combination,
    DataSpec,
    JudgeSpec,
    ModelSpec,
    Name,
    OptimizerSpec,
    Part,
    Switch,
    Text,
    Whole,
)
from judgesmith.experiments.specs.places import place_of

_DECIDES_NOTHING = {"name", "about", "budget"}


class Spec(Part):
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
        default_factory=lambda: {"random": OptimizerSpec()}, min_length=1
    )
    models: dict[Name, ModelSpec] = Field(
        default_factory=lambda: {"offline": ModelSpec()}, min_length=1
    )
    seeds: tuple[Whole, ...] = Field(default=(0,), min_length=1)
    holdout: Annotated[float, Field(strict=True, ge=0.0, lt=1.0)] = 0.3
    split_rows: Switch = False
    percent_of_max: Switch = False
    objective: Text | None = None
    perspectives: tuple[Literal["global", "local"], ...] = ()
    budget: Budget = Budget()
    leave_out: tuple[Combination, ...] = ()
    origin: Annotated[Origin, SkipValidation] = Field(default=Origin(), exclude=True)

    def place(self, path: str) -> Path:
        """Return where a file is that the specification names."""
        return place_of(path, self.origin.folder)

    def model_name(self, name: str) -> str:
        """Return what one of the models is called by its provider."""
        return self.models[name].model or name

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that it names, as it is named, each once and in order."""
        sets = [one.path for one in self.data.values() if one.path != "sample"]
        read = [
            path
            for one in self.judges.values()
            for path in (one.rubric, one.steps, one.questions, one.recorded)
            if path is not None
        ]
        return tuple(sorted({*sets, *read}))

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when anything that decides results does.

        So they do with the bytes of the files it names, wherever these are. Title and budget
        decide nothing, nor does how fast a model is asked.

        Raises
        ------
        OSError
            If a file cannot be read.
        """
        hashes = {
            path: hashlib.sha256(self.place(path).read_bytes()).hexdigest() for path in self.files
        }
        whole = [self._deciding(), hashes]
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:12]

    def _deciding(self) -> dict[str, Any]:
        found = self.model_dump(mode="json", exclude=_DECIDES_NOTHING, exclude_defaults=True)
        found["models"] = {
            name: [self.model_name(name), one.api_base] for name, one in self.models.items()
        }
        return found
