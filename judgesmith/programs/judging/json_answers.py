"""JSON as models write it: fenced, wrapped, with small faults; read, mended, never guessed."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError

from judgesmith.errors import InputError
from judgesmith.signatures.rubric import folded

_MARKS = "\"'`“”[]{}:,\\#/*"
_MENDABLE = 10_000_000  # marks times characters: an answer on 20 criteria has some 5,000,000

_BARE_SCORE = re.compile(
    r"""((?:["'“”]score["'“”]|[{,]\s*score)\s*:\s*)([^\s"'“”\[{,}\]][^"'“”\[{,}\]\n]*)""",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?:-?\d+(?:\.\d*)?|null|true|false|None|True|False)\s*(?:(?://|\#).*)?")


def mended(core: str) -> Any:
    """Return the one JSON value that a text with small faults holds."""
    # Mending can take time in the square of what it is given.
    n_marks = len(core) // 100 + sum(core.count(mark) for mark in _MARKS)
    if n_marks * len(core) > _MENDABLE:
        raise InputError(f"no JSON, and too long to be mended: {len(core)} characters.")
    import json_repair

    try:
        # Strict: two values, or a key that is given twice, are refused rather than chosen from.
        return json_repair.loads(_BARE_SCORE.sub(_quoted, core), skip_json_loads=True, strict=True)
    except ValueError as fault:
        raise InputError(f"expected one JSON value: {fault}") from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply to be read.") from None
    except Exception as fault:
        # What mends JSON was not made for every text; one that breaks it is none it can mend.
        raise InputError("no JSON, and none that can be mended.") from fault


def _quoted(bare: re.Match[str]) -> str:
    """Return a score that stands there in words in quotes, as mending would keep its beginning."""
    words = bare[2].strip()
    return bare[0] if _PLAIN.fullmatch(words) else f'{bare[1]}"{words}" '


class UnreadRecord(BaseModel):
    """One record of several that could not be read, which takes nothing from the others."""

    criterion: str
    problem: str


def typed(plain: Any, annotation: Any) -> Any:
    """Return a plain value as ``annotation``; of several records, unread ones say why."""
    try:
        return _validated(plain, annotation)
    except ValueError:
        kind = record_type(annotation)
        if kind is None or not isinstance(plain, list) or get_origin(annotation) is None:
            raise
    title = next(iter(kind.model_fields))
    found: list[Any] = []
    first: ValueError | None = None
    for place, one in enumerate(plain):
        try:
            found.append(_validated(one, kind))
        except ValueError as fault:
            if not isinstance(one, dict) or not isinstance(one.get(title), str):
                raise InputError(f"{place}.{fault}") from None
            first = first or ValueError(f"{place}.{fault}")
            found.append(UnreadRecord(criterion=one[title], problem=str(fault)))
    if first is not None and all(isinstance(one, UnreadRecord) for one in found):
        raise first
    return found


def record_type(annotation: Any) -> type[BaseModel] | None:
    """Return the type of the records in a list of them, or None where there are none."""
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        annotation = annotation.model_fields["root"].annotation
    if get_origin(annotation) is not list:
        return None
    (kind,) = get_args(annotation)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _validated(plain: Any, annotation: Any) -> Any:
    try:
        return _type_adapter(annotation).validate_python(plain)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the value"
        raise InputError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None


@functools.lru_cache(maxsize=64)
def _type_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


_OPENING = re.compile(r"""[\[{]\s*["'“‘{\[]""")
_LIKE_JSON = re.compile(r"""\{|\[\s*["'“‘{\[]""")
_VALUE = re.compile(r"""\{\s*+(?:["'“‘]|\w[\w ]{0,40}:)|\[\s*+[{"'“‘]""")
_BRACKET = re.compile(r"""["\\{}\[\]]""")
_BULLET = re.compile(r"\s*(?:[-*•–+]|\(?\d{1,3}[.)])\s+(\S.*)")
_LONGEST = 200_000  # characters of a text in which values are looked for
_MOST = 20  # values that are looked for

Found = tuple[int, int, Any]
"""Where a JSON value begins and ends in a text, and the value."""


def read_json(text: str, annotation: Any) -> Any:
    r"""Return the JSON value in ``text``, with text around it and small faults of it mended."""
    if annotation == list[str] and (lines := _bullets(text)):
        return lines
    for core in _cores(text):
        try:
            return json.loads(core, object_pairs_hook=_each_once, strict=False)
        except json.JSONDecodeError:
            pass
        except RecursionError:
            raise InputError("the JSON is nested too deeply to be read.") from None
    if core.rstrip()[-1:].isdigit() and core.lstrip()[:1] in ("[", "{"):
        raise InputError("the JSON breaks off inside a number.")
    if annotation == list[str] and not any(mark in core for mark in "\"'“‘"):
        raise InputError("expected a JSON list of texts; there are no quotation marks.")
    return mended(core)


def values_in(text: str) -> list[Found]:
    """Return every JSON list or object in a text, whatever stands between them."""
    found: list[Found] = []
    at = 0
    while opening := _VALUE.search(text, at):
        if len(text) > _LONGEST or len(found) == _MOST:
            raise InputError(f"too long to look for JSON in it: {len(text)} characters.")
        start = opening.start()
        at = _end_of_first(text, start) or _end_of_brackets(text, start)
        core = text[start:at]
        try:
            value = json.loads(core, object_pairs_hook=_each_once, strict=False)
        except json.JSONDecodeError:
            value = mended(core)
        except RecursionError:
            raise InputError("the JSON is nested too deeply to be read.") from None
        found.append((start, at, value))
    return found


def _end_of_brackets(text: str, start: int) -> int:
    """Return where the brackets that open at a place are closed; those in quotes do not count."""
    for mark in _BRACKET.pattern, r"[{}\[\]]":  # quotes may be lost, or be others
        depth, quoted, at = 0, False, start
        for found in re.finditer(mark, text[start:]):
            sign, place = found[0], start + found.start()
            if place < at or (quoted and sign not in '"\\'):
                continue
            if sign == "\\":
                at = place + 2
            elif sign == '"':
                quoted = not quoted
            else:
                depth += 1 if sign in "{[" else -1
                if depth == 0:
                    return place + 1
    raise InputError("the JSON breaks off.")


def shaped(value: Any, annotation: Any, name: str) -> Any:
    """Return a JSON value in the shape that field ``name`` is asked for in."""
    if isinstance(value, dict) and list(map(_key, value)) == [name]:
        (value,) = value.values()
    elif isinstance(value, dict) and [k for k, v in value.items() if _is_long(v)] == [name]:
        value = value[name]
    kind = record_type(annotation)
    if kind is None:
        return value
    if isinstance(value, dict):
        value = _listed(value, kind)
    if isinstance(value, list):
        names = kind.model_fields
        return [spelled(one, names) if isinstance(one, dict) else one for one in value]
    return value


def spelled(record: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return a record with those of its keys that are ``names`` in the spelling of these."""
    if set(names).issuperset(record):
        return dict(record)
    keys = [own if (own := _key(key)) in names else key for key in record]
    return _each_once(list(zip(keys, record.values(), strict=True)))


def _cores(text: str) -> Iterator[str]:
    """Yield what may be JSON in a text: all from where it begins, then its first value alone."""
    start = min((place for mark in "[{" if (place := text.find(mark)) >= 0), default=0)
    opening = _OPENING.search(text)
    if opening is not None:
        # Brackets in prose, closed before the first value begins, open nothing.
        before = text[start : opening.start()]
        if "]" in before and "{" not in before:
            start = opening.start()
    end = max(text.rfind("]"), text.rfind("}")) + 1
    yield text[start:end] if end > start else text[start:]
    if opening is not None:
        # Nor do brackets in prose after it.
        value_end = _end_of_first(text, start)
        if value_end is not None and not _LIKE_JSON.search(text, value_end):
            yield text[start:value_end]


def _end_of_first(text: str, start: int) -> int | None:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return None


def _bullets(text: str) -> list[str]:
    """Return the items of a list in markdown, perhaps under a line that ends with a colon."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    found = [_BULLET.fullmatch(line) for line in lines]
    return [one[1].strip() for one in found if one] if all(found) else []


def _listed(value: Mapping[str, Any], kind: Any) -> Any:
    """Return one record, or records by name, as a list of records."""
    fields = list(kind.model_fields)
    if {_key(one) for one in value} >= set(fields):
        return [value]
    title = fields[0]
    if not value:
        return value
    if all(isinstance(one, dict) for one in value.values()):
        return [_titled(name, one, title) for name, one in value.items()]
    if len(fields) == 2 and not any(isinstance(one, list | dict) for one in value.values()):
        return [{title: name, fields[1]: one} for name, one in value.items()]
    return value


def _titled(name: str, record: Mapping[str, Any], title: str) -> dict[str, Any]:
    own = next((one for key, one in record.items() if _key(key) == title), None)
    if own is None:
        return {title: name, **record}
    if not name.strip().isdigit() and folded(name) != folded(str(own)):
        raise InputError(f"the JSON calls one record {name[:80]!r} and {str(own)[:80]!r}.")
    return dict(record)


def _is_long(value: Any) -> bool:
    return isinstance(value, list | dict)


def _key(name: str) -> str:
    return folded(name).replace(" ", "_")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError(f"the JSON gives a key twice among {', '.join(found)[:200]}.")
    return found
