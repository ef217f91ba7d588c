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

from judgesmith.signatures.points import read_points

_HEADER = re.compile(r"\s*\[\[ ## (\w+) ## \]\](.*)")


def split_answer(text: str, names: Collection[str]) -> dict[str, str]:
    r"""Return the text of each named section of an answer.

    Parameters
    ----------
    text : str
        An answer in DSPy's chat layout: ``[[ ## name ## ]]`` headers on lines of their own.
    names : collection of str
        The sections wanted; others are passed over, as is everything after ``completed``.

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
    for line in text.split("\n"):
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
    """Return the value that ``text`` gives for a field of type ``annotation``.

    Whole numbers are read leniently ("85/100", "85.5"), lists and records as JSON, with
    markdown fences and small faults mended.

    Raises
    ------
    ValueError
        If the text is no such value.

    Examples
    --------
    >>> read_field("**85/100**", int), read_field("[1, 2]", list[int])
    (85.0, [1, 2])
    """
    if annotation is str:
        return text
    if annotation in (int, float):
        return read_points(text)
    adapter = _type_adapter(annotation)
    try:
        return adapter.validate_python(json.loads(text))
    except ValueError:
        pass
    import json_repair

    try:
        return adapter.validate_python(json_repair.loads(text))
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the value"
        raise ValueError(f"{where}: {first['msg']}") from None


@functools.lru_cache(maxsize=64)
def _type_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)
