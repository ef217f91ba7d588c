"""What can be chosen about judges that compare with references, and the weights they use."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError, file_faults
from judgesmith.signatures.config import JudgeConfig

PLACES = "JUDGESMITH_WEIGHTS"
"""The environment variable that says where weights are: folders, parted as in ``PATH``."""

_NAME = re.compile(r"sha256:[0-9a-f]{64}")
_READ = (".json", ".txt", ".model", ".safetensors")  # settings, words and numbers; no README
_found: dict[str, Path] = {}  # where this process was shown weights, by name


def weights_name(weights: str) -> str:
    """Return the name of the weights in a folder; a name stays as it is."""
    if _NAME.fullmatch(weights):
        return weights
    folder = _folder(weights or _only_place())
    name = _content(folder)
    _found[name] = folder
    return name


def weights_folder(name: str) -> Path:
    """Return where the weights of that name are."""
    known = _found.get(name)
    if known is not None and known.is_dir() and _content(known) == name:
        return known
    for place in _places():
        if weights_name(place) == name:
            return _found[name]
    there = "names others" if _places() else "is not set"
    raise InputError(
        f"the weights {name[:19]}… are needed, and ${PLACES} {there}: let it name the folder that "
        "holds them."
    )


def _places() -> list[str]:
    return [one for one in os.environ.get(PLACES, "").split(os.pathsep) if one]


def _only_place() -> str:
    places = _places()
    if len(places) != 1:
        raise InputError(
            "BERTScore needs the weights of a language model, and nothing is downloaded: give "
            f"weights= or let ${PLACES} name one folder; it names {len(places) or 'none'}."
        )
    return places[0]


@file_faults()
def _folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {path}: BERTScore takes the path of weights on this machine, not "
            "a name on a hub, as nothing is downloaded."
        )
    if not (folder / "config.json").is_file():
        raise InputError(f"there is no model in {path}: expected config.json in it.")
    if not any(folder.glob("*.safetensors")):
        raise InputError(
            f"there are no weights in {path}: expected *.safetensors. Other forms can run code as "
            "they are read; save the model again with save_pretrained."
        )
    return folder.resolve()


@file_faults()
def _content(folder: Path) -> str:
    files = sorted(
        one
        for one in folder.iterdir()
        if one.suffix in _READ and one.name[0] != "." and one.is_file()
    )
    states = ((one, one.stat()) for one in files)
    return _hash(tuple((one, state.st_size, state.st_mtime_ns) for one, state in states))


@functools.lru_cache(maxsize=64)
@file_faults()
def _hash(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Return the hash of files, which are read once until their size or time changes."""
    whole = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as content:
            part = hashlib.file_digest(content, "sha256").hexdigest()
        whole.update(f"{part} {path.name}\n".encode())
    return f"sha256:{whole.hexdigest()}"


Metric = Literal["rougeL", "rouge1", "rouge2", "bleu", "chrf", "meteor", "bertscore"]


class ReferenceConfig(JudgeConfig):
    """The whole of a reference metric."""

    judge: Literal["reference"] = "reference"
    metric: Metric = "rougeL"
    against: Literal["references", "source", "context"] = "references"
    several: Literal["max", "mean"] = "max"
    stem: Literal["none", "porter"] = "none"
    tokens: Literal["13a", "intl", "zh", "char"] = "13a"
    synonyms: Literal["none", "wordnet"] = "none"
    weights: str = Field(default="", validate_default=True)
    layer: int | None = Field(default=None, ge=1)

    @field_validator("weights")
    @classmethod
    def _known_by_content(cls, weights: str, info: ValidationInfo) -> str:
        wanted = weights or info.data.get("metric") == "bertscore"
        return weights_name(weights) if wanted else weights

    @model_serializer(mode="wrap")
    def _family_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what BERTScore alone has where it is not set."""
        found = super()._family_first(plain)
        unset = [name for name in ("weights", "layer") if not found.get(name)]
        return {name: value for name, value in found.items() if name not in unset}

    @model_validator(mode="after")
    def _asks_nobody(self) -> Self:
        for name in ("samples", "weighting", "temperature"):
            usual = type(self).model_fields[name].default
            if getattr(self, name) != usual:
                raise InputError(
                    f"a reference metric asks no model: {name} must be {usual}; got "
                    f"{getattr(self, name)}."
                )
        return self

    @property
    def tells_rubric(self) -> bool:
        """Nobody is told anything."""
        return False

    @property
    def own_score(self) -> str:
        """What the score is where nothing was learned."""
        return f"{self.metric} against {self.against}"
