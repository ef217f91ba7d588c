"""What is judged and by which criteria, in a file that a person can edit."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError, file_faults
from judgesmith.signatures.fences import imitates_layout, unix_lines
from judgesmith.signatures.plain_data import read_yaml, write_yaml


class Criterion(BaseModel):
    """One quality of a response, in words that raters would use.

    Parameters
    ----------
    name : str
        A short name on one line, without a colon, unique in its rubric.
    definition : str
        What the criterion asks, in one sentence.
    worst, best : str
        What the lowest and the highest score mean; may be empty.

    Raises
    ------
    ValueError
        If the name or the definition is empty, the name is not one that can stand before a
        colon, or a text contains the markers ``[[ ##`` and ``<verbatim-`` that questions are
        laid out with.

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

    @field_validator("name")
    @classmethod
    def _stands_before_a_colon(cls, name: str) -> str:
        if ":" in name or len(name.splitlines()) > 1 or not folded(name):
            raise InputError(f"expected a few words on one line, without a colon; got {name!r}.")
        return name

    @field_validator("*")
    @classmethod
    def _no_marker(cls, text: str) -> str:
        return _unmarked(text)


class Guideline(BaseModel):
    """A rule of judging in one sentence, and the rows of whose raters' words it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    text: str = Field(min_length=1, max_length=500)
    rows: tuple[str, ...] = ()

    @field_validator("text")
    @classmethod
    def _one_printable_line(cls, text: str) -> str:
        if not text.isprintable():
            raise InputError(f"expected a sentence on one printable line; got {_cut(text)}.")
        return _unmarked(text)


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
    guidelines : tuple of Guideline
        Rules of judging, one sentence each, as raters' words gave them; a text stands for one.
    provenance : dict
        Where the rubric comes from; kept, and never shown to the model.

    Raises
    ------
    ValueError
        If two criteria share a name; upper and lower case, ``_`` and blanks make no difference.

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
    guidelines: tuple[Guideline, ...] = ()
    provenance: dict[str, JsonValue] = Field(default_factory=dict)

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            task: str = "",
            task_type: str = "",
            criteria: Mapping[str, str] | Sequence[Criterion] = (),
            guidelines: Sequence[Guideline | str] = (),
            provenance: Mapping[str, JsonValue] = ...,
        ) -> None: ...

    @model_serializer(mode="wrap")
    def _with_guidelines_if_any(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {k: v for k, v in plain(self).items() if v or k != "guidelines"}

    @field_validator("guidelines", mode="before")
    @classmethod
    def _from_sentences(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise InputError(f"guidelines are a list of sentences; got {_cut(value)}.")
        return [{"text": one} if isinstance(one, str) else one for one in value]

    @model_validator(mode="before")
    @classmethod
    def _from_short_forms(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "criteria" not in value:
            return value
        criteria = value["criteria"]
        if isinstance(criteria, dict):
            criteria = [_criterion(name, body) for name, body in criteria.items()]
        elif not isinstance(criteria, list | tuple):
            raise InputError(
                f"criteria are written as name: definition, one per line; got {_cut(criteria)}."
            )
        for number, one in enumerate(criteria, start=1):
            if not isinstance(one, Criterion) and not (isinstance(one, dict) and "name" in one):
                raise InputError(
                    "criteria are written as name: definition, one per line and without dashes; "
                    f"got the list entry {_cut(one)} as number {number}."
                )
        return value | {"criteria": criteria}

    @field_validator("task", "task_type")
    @classmethod
    def _no_marker(cls, text: str) -> str:
        return _unmarked(text)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        by_folded: dict[str, str] = {}
        for name in self.names:
            if folded(name) in by_folded:
                other = by_folded[folded(name)]
                raise InputError(
                    f"every criterion needs a name of its own; got {other!r} and {name!r}."
                )
            by_folded[folded(name)] = name
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
        if self.guidelines:
            plain["guidelines"] = [
                {"text": one.text, "rows": list(one.rows)} if one.rows else one.text
                for one in self.guidelines
            ]
        if self.provenance:
            plain["provenance"] = self.provenance
        return write_yaml(plain)

    @classmethod
    def from_yaml(cls, text: str, *, where: str = "rubric") -> Self:
        """Return the rubric that ``text`` spells out in YAML; ``where`` is named in errors."""
        try:
            plain = read_yaml(text)
            if not isinstance(plain, dict):
                raise InputError(f"expected task and criteria by name; got {_cut(plain)}.")
            return cls.model_validate(plain)
        except ValidationError as fault:
            faults = [_said(dict(one), plain) for one in fault.errors(include_url=False)]
            listed = "\n".join(f"{where}: {said}" for said in faults)
            raise InputError(listed, where=where) from None
        except ValueError as fault:
            raise InputError(fault, at=where) from None

    @classmethod
    @file_faults()
    def load(cls, path: str | Path) -> Self:
        """Return the rubric in a YAML file; one that holds none is refused."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError("not a rubric: expected a text file in UTF-8.", at=path) from None
        except OSError as fault:
            raise InputError(f"cannot read the rubric: {fault.strerror}.", at=path) from None
        return cls.from_yaml(text, where=str(path))


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a criterion's name as it is recognised: ``**Fact_Check**`` is ``fact check``."""
    return " ".join(name.strip(" \t\r\n*_`\"'").casefold().replace("_", " ").split())


def _unmarked(text: str) -> str:
    if imitates_layout(text):
        mark = "<verbatim-" if "verbatim-" in text.lower() else "[[ ##"
        raise InputError(
            f"{mark!r} is a marker of the prompt layout.", hint="write it another way."
        )
    return unix_lines(text)


def _criterion(name: Any, body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        return {"name": name, "definition": body}
    if "name" in body:
        raise InputError(f"the criterion {name} has a second name, {body['name']!r}.")
    return {"name": name, **body}


def _body(criterion: Criterion) -> str | dict[str, str]:
    if not criterion.worst and not criterion.best:
        return criterion.definition
    ends = {"worst": criterion.worst, "best": criterion.best}
    return {"definition": criterion.definition, **{k: v for k, v in ends.items() if v}}


def _said(fault: Mapping[str, Any], plain: Mapping[str, Any]) -> str:
    """Return a fault with its place, criteria by name where they have one."""
    place, kind, came = fault["loc"], fault["type"], fault["input"]
    key = str(place[-1]) if place else ""
    path = list(map(_plain, place))
    criteria = plain.get("criteria")
    in_guideline = place[:1] == ("guidelines",)
    if in_guideline and len(place) > 1:
        path[1] = f"number {int(place[1]) + 1}"
    elif len(place) > 1 and isinstance(place[1], int):
        path[1] = _plain(_name_of(criteria, place[1]))
    if kind == "value_error":
        said = str(fault["ctx"]["error"])
    elif kind == "extra_forbidden":
        part = Rubric if len(place) == 1 else Guideline if in_guideline else Criterion
        keys = list(part.model_fields)
        if len(place) > 1 and not in_guideline and isinstance(criteria, Mapping):
            keys.remove("name")
        close = difflib.get_close_matches(key, keys, n=1)
        meant = f"did you mean {close[0]!r}?" if close else "there is no such key."
        said = f"expected one of {', '.join(keys)}; {meant}"
    else:
        said = f"expected {_WORDS.get(key, 'plain values, as YAML writes them')}; "
        said += "got none." if kind == "missing" else f"got {_came(came)}"
    return f"{'.'.join(path)}: {said}" if path else said


_WORDS = {
    "name": "a name",
    "definition": "a definition in words",
    "worst": "words for the lowest score",
    "best": "words for the highest score",
    "task": "a text",
    "task_type": "a text",
    "text": "a sentence of at most 500 characters",
    "rows": "a list of ids",
}


def _name_of(criteria: Any, number: int) -> str:
    """Return what the criterion with this number is called, or ``number 1`` without a name."""
    if isinstance(criteria, Mapping):
        return str(list(criteria)[number])
    one = criteria[number]
    name = one.get("name") if isinstance(one, Mapping) else None
    return name if isinstance(name, str) and name.strip() else f"number {number + 1}"


def _came(value: Any) -> str:
    """Return the end of a sentence: what stands there, and how to write it if it is no text."""
    if isinstance(value, bool):
        return (
            f"the truth value {str(value).lower()}, as which YAML reads yes, no, on and off; "
            "give it in quotes."
        )
    if isinstance(value, int | float):
        return f"the number {value}; give words, in quotes if they look like a number."
    if isinstance(value, str):
        return "an empty text." if not value.strip() else f"{_cut(value)}."
    return f"{_cut(value)}."


def _cut(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _plain(part: int | str) -> str:
    return str(part) if str(part).isprintable() else repr(part)


DEFAULT_RUBRIC = Rubric(
    task="The task is to judge a response that was written for a source, such as a summary of a "
    "document, the next turn of a conversation, a description of data, a continuation of a story "
    "or a new wording of a text.",
    criteria=(
        Criterion(
            name="relevance",
            definition="Does the response give what the source calls for, with what matters in it "
            "and without what does not?",
            worst="off the point, or the main content is missing",
            best="all that matters, and nothing beside it",
        ),
        Criterion(
            name="faithfulness",
            definition="Is everything that the response states supported by the source, or by the "
            "further material where there is some?",
            worst="contradicts the material or invents facts",
            best="every statement is supported",
        ),
        Criterion(
            name="coherence",
            definition="Do the parts of the response follow from each other, and from what came "
            "before, as one well-ordered whole?",
            worst="a heap of unrelated parts",
            best="each part follows from the last",
        ),
        Criterion(
            name="fluency",
            definition="Is the response correct and natural language: grammar, spelling, "
            "punctuation, complete sentences, no needless repetition?",
            worst="broken or garbled throughout",
            best="reads as a careful writer's own words",
        ),
        Criterion(
            name="clarity",
            definition="Can its readers understand the response at once, in plain and exact words?",
            worst="cannot be understood",
            best="understood at the first reading",
        ),
        Criterion(
            name="specificity",
            definition="Does the response say something particular and worth reading, rather than "
            "what could be said of anything?",
            worst="empty phrases that would fit anywhere",
            best="particular and worth reading",
        ),
    ),
)
"""The rubric of a judge that was given none."""
