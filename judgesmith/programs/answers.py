"""Reading what a model answered: sections first, then one value per section.

Both ways to a model, through DSPy and through rendered templates, read answers here, so that
the same answer always means the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, get_origin

from judgesmith.errors import InputError
from judgesmith.programs.answer_json import read_json, shaped, spelled
from judgesmith.programs.answer_types import typed
from judgesmith.signatures.points import read_level, read_points, whole
from judgesmith.signatures.scale import PERCENT, Scale

_HEADER = re.compile(r"([\s*_`#]*)\[\[ *## *(\w+) *## *\]\](.*)")
_END = re.compile(r"\n[ \t\r*_`#]*+\[\[ *## *completed *## *\]\](.*)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FENCED = re.compile(r"```\w*\s*\n(.*)\n\s*```", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_answer(
    text: str, annotations: Mapping[str, Any], scale: Scale = PERCENT
) -> dict[str, Any]:
    r"""Return the fields of an answer.

    An answer without any section may be a single value: JSON with all the fields, or the one
    field that was asked for, if that is no text.

    Parameters
    ----------
    text : str
        The answer, as the model wrote it.
    annotations : dict of str to type
        What is wanted, by field.
    scale : Scale
        What scores are on.

    Raises
    ------
    ValueError
        If a field is missing, given twice, or unreadable; the message says which. Or if the
        answer goes on after its end with another number: then a quotation may have ended there.

    Examples
    --------
    >>> read_answer("**[[ ## score ## ]]**\n85 points.", {"score": int})
    {'score': 85}
    >>> read_answer('```json\n{"explanation": "Brief.", "score": "85/100"}\n```',
    ...             {"explanation": str, "score": int})
    {'explanation': 'Brief.', 'score': 85}
    """
    try:
        sections = split_answer(text, annotations)
    except ValueError:
        if any(_HEADER.match(line) for line in text.split("\n")):
            raise
        fields = _single_value(_whole_characters(text).strip(), annotations, scale)
        if fields is None:
            raise
        return fields
    _refuse_second_thoughts(text, sections, annotations, scale)
    return {
        name: read_field(one, annotations[name], name, scale=scale)
        for name, one in sections.items()
    }


def split_answer(text: str, names: Collection[str]) -> dict[str, str]:
    r"""Return the text of each named section of an answer.

    Parameters
    ----------
    text : str
        An answer in DSPy's chat layout: ``[[ ## name ## ]]`` headers at the start of lines,
        perhaps in bold or as headings.
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
        name, rest = header[2].lower(), header[3].strip()
        if marks := header[1].strip("# \t\r\f\v"):
            rest = rest.removeprefix(marks).strip()
        if name in sections and name in names:
            raise InputError(f"the answer gives the field {name} twice.")
        current = sections[name] = [rest] if rest else []
    wanted = {name: "\n".join(lines).strip() for name, lines in sections.items() if name in names}
    missing = [name for name in names if name not in wanted]
    if missing:
        raise InputError(f"the answer lacks the field {', '.join(missing)}.")
    return wanted


def read_field(text: str, annotation: Any, name: str = "", *, scale: Scale = PERCENT) -> Any:
    r"""Return the value that ``text`` gives for a field of type ``annotation``.

    Whole numbers are read leniently ("85/100", "85.5"), lists and records as JSON, with
    markdown fences, text around them and small faults mended. A record that cannot be read
    stands as an ``UnreadRecord`` among those that can.

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
    if _is_score(annotation):
        return _level(text, annotation, scale)
    plain = read_json(text, annotation)
    if "\\ud" in text or "\\uD" in text:
        plain = _whole_characters(plain)
    return typed(shaped(plain, annotation, name), annotation)


def is_cut_off(text: str) -> bool:
    """Say whether an answer that ran into its limit of tokens lost what it was about to say.

    It may end inside a number, or go on after its end: then what it quoted ended there.

    Examples
    --------
    >>> is_cut_off("[[ ## score ## ]] 8"), is_cut_off("[[ ## score ## ]] 8 [[ ## completed ## ]]")
    (True, False)
    """
    return text.rstrip()[-1:].isdigit() or bool(_after_the_end(text))


def _after_the_end(text: str) -> str:
    """Return what an answer says after it said that it is completed."""
    end = _END.search(f"\n{text}")
    return end[1].strip(" \t\r\n*_`#") if end else ""


def _refuse_second_thoughts(
    text: str, sections: Mapping[str, str], annotations: Mapping[str, Any], scale: Scale
) -> None:
    """Refuse an answer that names another number after its end than it gave before."""
    after = _NUMBER.findall(_after_the_end(text))
    if not after:
        return
    numeric = (one for name, one in sections.items() if annotations[name] is not str)
    given = {number for one in numeric for number in _NUMBER.findall(one)}
    ends = {f"{scale.low:g}", f"{scale.high:g}"}
    if given and not given | ends >= set(after):
        raise InputError("the answer goes on after its end, with another number.")


def _single_value(text: str, annotations: Mapping[str, Any], scale: Scale) -> dict[str, Any] | None:
    """Return the fields of an answer that is one value and nothing else; None if it is none."""
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1].strip()
    is_json = text[:1] + text[-1:] in ("{}", "[]")
    if text.startswith("{") and is_json:
        value = read_json(text, dict)
        given = spelled(value, annotations) if isinstance(value, dict) else {}
        if set(annotations) <= set(given):
            return {
                name: _converted(given[name], of, name, scale) for name, of in annotations.items()
            }
    if len(annotations) > 1:
        return None
    ((name, of),) = annotations.items()
    if of is str or not (is_json or _is_score(of)):
        return None
    try:
        return {name: read_field(text, of, name, scale=scale)}
    except ValueError:
        if is_json:
            raise
        return None


def _converted(value: Any, annotation: Any, name: str, scale: Scale) -> Any:
    """Return a value out of JSON as a field of type ``annotation``."""
    if annotation is str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not isinstance(value, str):
            raise InputError(f"{name}: expected a text; got {str(value)[:80]!r}.")
        if any(_HEADER.match(line) for line in value.split("\n")):
            raise InputError(f"{name}: the text holds what marks the fields of an answer.")
        return _whole_characters(value)
    if _is_score(annotation):
        return _level(value, annotation, scale)
    return typed(shaped(_whole_characters(value), annotation, name), annotation)


def _is_score(annotation: Any) -> bool:
    return annotation in (int, float) or get_origin(annotation) is Literal


def _level(answer: Any, annotation: Any, scale: Scale) -> Any:
    """Return a number as it would be written, or one of the scale's words."""
    if get_origin(annotation) is Literal:
        return read_level(answer, scale)
    return whole(read_points(answer, scale))


def _whole_characters(value: Any) -> Any:
    """Return a model's words without lone surrogates, which no later question could hold."""
    if isinstance(value, dict):
        return {_whole_characters(name): _whole_characters(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_whole_characters(one) for one in value]
    if isinstance(value, str) and _SURROGATE.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value
