"""What is judged and by which criteria, in a file that a person can edit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator


class Criterion(BaseModel):
    """One quality of a response, in words that raters would use.

    Parameters
    ----------
    name : str
        A short name, unique in its rubric.
    definition : str
        What the criterion asks, in one sentence.
    worst, best : str
        What the lowest and the highest score mean; may be empty.

    Examples
    --------
    >>> Criterion(name="fluency", definition="Is it well written?").name
    'fluency'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    name: str = Field(min_length=1)
    definition: str = Field(min_length=1)
    worst: str = ""
    best: str = ""


class Rubric(BaseModel):
    """A description of the task and the criteria of a good response.

    Parameters
    ----------
    task : str
        What is judged, in one or two sentences that are shown to the model.
    task_type : str
        summarization, dialogue, translation, …; may be empty.
    criteria : tuple of Criterion
        In the order they are shown; names differ.
    provenance : dict
        Where the rubric comes from; kept, and never shown to the model.

    Raises
    ------
    ValueError
        If two criteria share a name.

    Examples
    --------
    >>> rubric = Rubric(task="Judge a summary.", criteria={"brevity": "Is it short?"})
    >>> Rubric.from_yaml(rubric.to_yaml()) == rubric
    True
    >>> print(rubric.to_yaml().strip())
    task: Judge a summary.
    criteria:
      brevity: Is it short?
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    task: str = ""
    task_type: str = ""
    criteria: tuple[Criterion, ...] = ()
    provenance: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_short_forms(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("criteria"), dict):
            named = value["criteria"].items()
            value = value | {"criteria": [_criterion(name, body) for name, body in named]}
        return value

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [criterion.name for criterion in self.criteria]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"every criterion needs its own name; twice: {', '.join(twice)}.")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The criteria's names, in order."""
        return tuple(criterion.name for criterion in self.criteria)

    def to_yaml(self) -> str:
        """Return the rubric as YAML: a criterion is ``name: definition`` where that says it all."""
        plain: dict[str, Any] = {"task": self.task}
        if self.task_type:
            plain["task_type"] = self.task_type
        plain["criteria"] = {criterion.name: _body(criterion) for criterion in self.criteria}
        if self.provenance:
            plain["provenance"] = self.provenance
        return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=88)

    @classmethod
    def from_yaml(cls, text: str, *, where: str = "rubric") -> Self:
        """Return the rubric that ``text`` spells out.

        Parameters
        ----------
        text : str
            YAML with ``task`` and ``criteria``; see ``to_yaml``.
        where : str
            Named in errors, such as the file's name.

        Raises
        ------
        ValueError
            If the text is not YAML, or not a rubric; the message says where and what was expected.
        """
        try:
            plain = yaml.safe_load(text)
        except yaml.YAMLError as fault:
            raise ValueError(f"{where}: not YAML: {fault}") from None
        if not isinstance(plain, dict):
            raise ValueError(
                f"{where}: expected a mapping with task and criteria; got {type(plain).__name__}."
            )
        try:
            return cls(**plain)
        except ValidationError as fault:
            faults = "; ".join(
                f"{'.'.join(map(str, one['loc'])) or 'rubric'}: {one['msg']}"
                for one in fault.errors(include_url=False)
            )
            raise ValueError(f"{where}: {faults}") from None
        except TypeError as fault:
            raise ValueError(f"{where}: {fault}") from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the rubric in a YAML file.

        Raises
        ------
        ValueError
            If the file cannot be read or holds no rubric.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise ValueError(f"{path}: cannot read the rubric: {fault}") from None
        return cls.from_yaml(text, where=str(path))


def _criterion(name: Any, body: Any) -> dict[str, Any]:
    if isinstance(body, dict):
        return {"name": str(name), **body}
    return {"name": str(name), "definition": body}


def _body(criterion: Criterion) -> str | dict[str, str]:
    if not criterion.worst and not criterion.best:
        return criterion.definition
    ends = {"worst": criterion.worst, "best": criterion.best}
    return {"definition": criterion.definition, **{k: v for k, v in ends.items() if v}}
