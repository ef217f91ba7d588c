"""Reading what a model answered: sections first, then one value per section.

Both ways to a model, through DSPy and through rendered templates, read answers here, so that
the same answer always means the same.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection
from typing import Any

from pydantic import TypeAdapter, ValidationError

from judgesmith.signatures.points import read_points, whole

_HEADER = re.compile(r"\s*\[\[ ## (\w+) ## \]\](.*)")
_SURROGATE = re.compile("[\ud800-\udfff]")

_MARKS = "\"'`“”[]{}:,\\#/*"
_MENDABLE = 10_000_000  # marks times characters: an answer on 20 criteria has some 5,000,000


def split_answer(text: str, names: Collection[str]) -> dict[str, str]:
    r"""Return the text of each named section of an answer.

    Parameters
    ----------
    text : str
        An answer in DSPy's chat layout: ``[[ ## name ## ]]`` headers on lines of their own.
    names : collection of str
        The sections wanted; others, such as ``completed``, are passed over.

    Raises
    ------
    ValueError
        If a section is missing or stands there twice: two answers are no answer.

    Examples
    --------
    >>> split_answer("[[ ## score ## ]]\n85\n\n[[ ## completed ## ]]", {"score": int})
    {'score': '85'}
    """
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in _whole_characters(text).split("\n"):
        header = _HEADER.match(line)
        if header is None:
            current.append(line)
            continue
        name, rest = header[1], header[2].strip()
        if name in sections and name in names:
            raise ValueError(f"the answer gives the field {name} twice.")
        current = sections[name] = [rest] if rest else []
    wanted = {name: "\n".join(lines).strip() for name, lines in sections.items() if name in names}
    missing = [name for name in names if name not in wanted]
    if missing:
        raise ValueError(f"the answer lacks the field {', '.join(missing)}.")
    return wanted


def read_field(text: str, annotation: Any) -> Any:
    r"""Return the value that ``text`` gives for a field of type ``annotation``.

    Whole numbers are read leniently ("85/100", "85.5"), lists and records as JSON, with
    markdown fences, text around them and small faults mended.

    Raises
    ------
    ValueError
        If the text is no such value, or gives two where one was asked for.

    Examples
    --------
    >>> read_field("**85/100**", int), read_field("```json\n[1, 2,]\n```", list[int])
    (85, [1, 2])
    """
    if annotation is str:
        return text
    if annotation in (int, float):
        return whole(read_points(text))
    try:
        plain = _read_json(text)
        if "\\ud" in text or "\\uD" in text:
            plain = _whole_characters(plain)
        return _type_adapter(annotation).validate_python(plain)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the value"
        raise ValueError(f"{where}: {first['msg'].removeprefix('Value error, ')}") from None


def _read_json(text: str) -> Any:
    start = min((place for mark in "[{" if (place := text.find(mark)) >= 0), default=0)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    core = text[start:end] if end > start else text[start:]
    try:
        return json.loads(core, object_pairs_hook=_each_once, strict=False)
    except json.JSONDecodeError:
        pass
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be read.") from None
    # Mending can take time in the square of what it is given.
    n_marks = len(core) // 100 + sum(core.count(mark) for mark in _MARKS)
    if n_marks * len(core) > _MENDABLE:
        raise ValueError(f"no JSON, and too long to be mended: {len(core)} characters.")
    import json_repair

    try:
        # Strict: two values, or a key that is given twice, are refused rather than chosen from.
        return json_repair.loads(core, skip_json_loads=True, strict=True)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be read.") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the JSON gives a key twice among {', '.join(found)[:200]}.")
    return found


def _whole_characters(value: Any) -> Any:
    """Return a model's words without lone surrogates, which no later question could hold."""
    if isinstance(value, dict):
        return {_whole_characters(name): _whole_characters(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_whole_characters(one) for one in value]
    if isinstance(value, str) and _SURROGATE.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


@functools.lru_cache(maxsize=64)
def _type_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)
