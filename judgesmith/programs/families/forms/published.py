"""The prompt formats of published judge models: one data file each, and how answers are read."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from judgesmith.errors import InputError, did_you_mean, file_faults
from judgesmith.programs.families.forms.annotators import StatedError, errors_text
from judgesmith.programs.judging.answers import Kind, read_record
from judgesmith.programs.judging.prompts import (
    TEXTS,
    VERBATIM,
    PromptFormat,
    criterion_line,
    register_prompt_format,
    registered_prompt_format,
)
from judgesmith.signatures.plain_data import FrozenModel, read_yaml, record_faults
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale, read_level, read_points

_OPENING = re.compile(r"\A[\s#*_]*+feedback\s*+:[*_]*+\s*", re.IGNORECASE)
_ENDING = re.compile(r"(?:\s|</s>|<\|\w+\|>)+\Z")
_HEADING = re.compile(r"^\s*(?:#{2,}|\[(?:BEGIN DATA|Query|INST)\])", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = ("feedback", "analysis", "critique", "explanation")
_AROUND = " \t\r\n*_`\"'()[]<>.:"
_PLACEHOLDER = re.compile(r"\$?\{\w+\}")


@functools.lru_cache(maxsize=64)
def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.IGNORECASE | re.MULTILINE)
    except re.error as fault:
        raise InputError(f"{text[:80]!r} is not a regular expression: {fault}.") from None


class ResultMark(FrozenModel):
    """The mark between the explanation of an answer and its result."""

    name: str
    pattern: str
    closing: str = ""
    whole: bool = True

    @field_validator("pattern")
    @classmethod
    def _is_a_pattern(cls, given: str) -> str:
        return _pattern(given).pattern


class ErrorMarks(FrozenModel):
    """How an answer lists errors, each of which takes points from the best score."""

    each: str
    none: str

    @model_validator(mode="after")
    def _names_the_parts_of_an_error(self) -> Self:
        parts = {"location", "explanation", "severity", "points"}
        if lacking := sorted(parts - set(_pattern(self.each).groupindex)):
            raise InputError(f"'each' has no group called {', '.join(lacking)}.")
        _pattern(self.none)
        return self


class FormatFile(FrozenModel):
    """How a judge model is asked and read, as a file of YAML has it.

    ``layout`` is the user message, with ``{task}``, ``{criterion}``, ``{source}``, ``{context}``
    and ``{response}``; ``answer`` is that of the model, with the fields that are read from it.
    """

    name: str = Field(min_length=1, max_length=80)
    reworded: bool = False
    system: str = ""
    layout: str
    answer: str
    scale: Scale
    asks: Literal["criteria", "overall"] = "overall"
    weighting: Literal["none", "probabilities"] = "none"
    levels: tuple[str, ...] = ()
    mark: ResultMark | None = None
    errors: ErrorMarks | None = None
    fenced: bool = True

    @field_validator("scale", mode="before")
    @classmethod
    def _as_written(cls, given: Any) -> Any:
        return Scale.parse(given) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if "response" not in self.form.inputs:
            raise InputError(f"the layout of the format {self.name} does not show {{response}}.")
        if self.levels and len(self.levels) != self.scale.high - self.scale.low + 1:
            raise InputError(f"{self.scale} does not have {len(self.levels)} levels.")
        return self

    @classmethod
    @record_faults()
    def load(cls, path: str | Path) -> Self:
        """Return the format of a file, which may start from one that ships: its ``base``.

        Its ``template`` names a file with the published message, taken byte for byte but for the
        placeholders in ``fields``, which says what stands for each.
        """
        place = Path(path)
        try:
            with file_faults(place):
                given = read_yaml(place.read_bytes().decode())
            if not isinstance(given, Mapping):
                raise InputError("expected fields such as base and template, as name: value.")
            plain = dict(given)
            if "base" in plain:
                plain = {**_shipped(str(plain.pop("base"))), "reworded": False, **plain}
            fields = plain.pop("fields", {})
            if "template" in plain:
                published = place.parent / str(plain.pop("template"))
                with file_faults(published):
                    plain["layout"] = _laid_out(published.read_bytes().decode(), fields)
            with record_faults(cls.model_fields):
                return cls.model_validate(plain)
        except UnicodeDecodeError:
            raise InputError("expected a text file in UTF-8.", at=place) from None
        except InputError as fault:
            raise InputError(fault, at=place) from None

    def __str__(self) -> str:
        return self.name

    @property
    def text(self) -> str:
        """The whole as one line: what a saved judge calls a format that does not ship."""
        return self.model_dump_json(exclude_defaults=True)

    @property
    def form(self) -> PromptFormat:
        """The format as questions are asked in it."""
        before: dict[str, Kind] = {"errors": "text"} if self.errors else {}
        if self.mark or self.errors:
            before["explanation"] = "text"
        return PromptFormat(
            name=self.name,
            instructions=f"{self.system} {VERBATIM}".lstrip() if self.fenced else self.system,
            layout=self.layout,
            answer=self.answer,
            outside=frozenset(one for one in TEXTS if f"{{{one}}}" in self.layout),
            outputs={**before, "score": "points"},
            answers=self.scale,
            read=self.read,
            criterion=self._criterion_text,
            fenced=self.fenced,
        )

    def read(self, answer: str) -> dict[str, Any]:
        """Return the fields of an answer; ``ValueError`` where they cannot be read."""
        if self.errors is not None:
            return _read_errors(answer, self.scale, self.errors)
        if self.mark is None:
            return {"score": read_level(_ENDING.sub("", answer.strip()), self.scale)}
        words, score = read_scored(answer, self.scale, self.mark)
        return {"explanation": words, "score": score}

    def _criterion_text(self, criterion: Criterion) -> str:
        if not self.levels:
            return criterion_line(criterion)
        worst, best = (" ".join(one.split()) for one in (criterion.worst, criterion.best))
        told = [worst or self.levels[0], *self.levels[1:-1], best or self.levels[-1]]
        lines = [f"Score {at}: {one}" for at, one in enumerate(told, start=int(self.scale.low))]
        return "\n".join([f"[{criterion_line(criterion)}]", *lines])


def _laid_out(template: str, fields: object) -> str:
    """Return a published template with our fields in place of its own placeholders."""
    if not isinstance(fields, Mapping) or not all(isinstance(one, str) for one in fields.values()):
        raise InputError("fields says for each placeholder of the template what stands there.")
    if unknown := [one for one in fields if one not in template]:
        raise InputError(f"the template has no {unknown[0][:80]!r}, which fields names.")
    if foreign := [one for one in _PLACEHOLDER.findall(template) if one not in fields]:
        raise InputError(
            f"nothing says what stands for {foreign[0]} in the template.",
            hint=f"give it in fields, as '{foreign[0]}': '{{source}}'.",
        )
    if not fields:
        return template
    own = re.compile("|".join(map(re.escape, sorted(fields, key=len, reverse=True))))
    return own.sub(lambda found: fields[found[0]], template)


def read_scored(answer: str, scale: Scale, mark: ResultMark) -> tuple[str, float]:
    """Return the words of an answer and its score, in points of ``scale``."""
    if not _pattern(mark.pattern).search(answer) and (found := _in_json(answer, scale)):
        return found
    words, said = _parted(answer, mark)
    try:
        points = read_points(said, scale)
    except ValueError:
        points = None
    if points is None or (mark.whole and not points.is_integer()):
        raise InputError(
            f"expected a {'whole ' if mark.whole else ''}number from {scale.low:g} to "
            f"{scale.high:g} after {mark.name}; got {said[:80]!r}."
        )
    if not scale.low <= points <= scale.high:
        raise InputError(f"the model answered {points:g}, outside {scale}.")
    return words, int(points) if points.is_integer() else points


def _in_json(answer: str, scale: Scale) -> tuple[str, int] | None:
    """Return words and score of the one JSON object of an answer; None where it lacks one."""
    for words in _WORDS:
        for score in ("score", "rating"):
            found = read_record(answer, {words: str, score: int}, scale)
            if found is not None:
                points = found[score]
                if points != int(points) or not scale.low <= points <= scale.high:
                    raise InputError(f"the model answered {points:g}, outside {scale}.")
                return found[words], int(points)
    return None


def _parted(answer: str, mark: ResultMark) -> tuple[str, str]:
    text = _OPENING.sub("", _SURROGATE.sub("\ufffd", answer))
    text = _ENDING.sub("", text)
    marks = list(_pattern(mark.pattern).finditer(text))
    if not marks:
        raise InputError(f"there is no {mark.name} in it: {text[:80]!r}.")
    if len(marks) > 1 and _HEADING.search(text, marks[0].end()):
        raise InputError("it continues with another question after its result.")
    said = text[marks[-1].end() :].strip()
    if mark.closing:
        said, closing, rest = said.partition(mark.closing)
        if not closing or rest.strip(_AROUND):
            raise InputError(
                f"expected {mark.closing} after the number, and nothing more; got "
                f"{(said + closing + rest)[:80]!r}."
            )
    return text[: marks[-1].start()].strip(" \t\r\n{"), said.strip(" \t\r\n}")


def _read_errors(answer: str, scale: Scale, marks: ErrorMarks) -> dict[str, Any]:
    """Return errors and what they leave of the best score, which has no end below in the paper."""
    found = list(_pattern(marks.each).finditer(_SURROGATE.sub("\ufffd", answer)))
    if not found and not _pattern(marks.none).search(answer):
        raise InputError(f"it lists no error, and does not deny errors: {answer[:80]!r}.")
    parts = ("location", "explanation", "severity")
    try:
        lost = sum(abs(float(one["points"])) for one in found)
    except ValueError:
        raise InputError("the points that an error costs are not a number.") from None
    errors = [StatedError.model_validate({name: one[name] for name in parts}) for one in found]
    score = max(scale.high - lost, scale.low)
    return {"errors": errors_text(errors), "explanation": "", "score": score}


_PLAIN = {
    path.name.removesuffix(".yaml"): path
    for path in sorted(resources.files(__package__).iterdir(), key=lambda one: one.name)
    if path.name.endswith(".yaml")
}


def _shipped(name: str) -> dict[str, Any]:
    if name in _PLAIN:
        return {"name": name, **read_yaml(_PLAIN[name].read_text(encoding="utf-8"))}
    raise InputError(
        f"no prompt format is called {name[:80]!r}; there are {', '.join(_PLAIN)}.",
        hint=did_you_mean(name, _PLAIN),
    )


@functools.cache
def shipped_format(name: str) -> FormatFile:
    """Return a format that ships; all are reworded."""
    return FormatFile.model_validate(_shipped(name))


for _name in _PLAIN:
    register_prompt_format(shipped_format(_name).form)


def format_at(given: str, place: Path) -> str | FormatFile:
    """Return what names a format: the name of one that ships, or the file at ``place``."""
    if given not in _PLAIN and place.exists():
        return FormatFile.load(place)
    return shipped_format(given).name


def prompt_format_named(name: str) -> PromptFormat:
    """Return the form of that name, or the one that a ``FormatFile`` wrote as its text."""
    return _own_form(name) if name.startswith("{") else registered_prompt_format(name)


@functools.lru_cache(maxsize=64)
def _own_form(text: str) -> PromptFormat:
    given = FormatFile.model_validate_json(text)
    return given.model_copy(update={"name": text}).form
