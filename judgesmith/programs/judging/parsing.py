"""Reading what a model answered: sections, values, and where in the answer they stand."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, get_origin

from judgesmith.errors import InputError
from judgesmith.programs.judging.json_answers import (
    read_json,
    record_type,
    shaped,
    spelled,
    typed,
    values_in,
)
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale, read_level, read_points, whole

_HEADER = re.compile(r"([\s*_`#]*)\[\[ *## *(\w+) *## *\]\](.*)")
_END = re.compile(r"\n[ \t\r*_`#]*+\[\[ *## *completed *## *\]\](.*)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FENCED = re.compile(r"```\w*\s*\n(.*)\n\s*```", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_THOUGHT = re.compile(r"\s*+<(think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)

_WRAPPERS = frozenset(
    {"answer", "answers", "data", "evaluation", "feedback", "final", "final_answer", "judgement"}
    | {"judgment", "json", "output", "outputs", "response", "result", "results", "verdict"}
)
"""What models call an object that holds the one they were asked for."""

_DEEPEST = 3  # objects within objects
_SHORT = 20  # characters of a text that is a number with its unit
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_LIST_MARK = re.compile(r"^[\s#>*•-]*+\(?\d{1,3}[.)](?=\s)", re.MULTILINE)
_DISOWNED = re.compile(
    r"\b(?:won['’]t|will not|can['’]t|cannot|can not|unable|refus|declin|sorry|disregard|ignor)"
    r"|不能|无法|抱歉",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    r"\b(?:it|text|response|answer|summary|author|writer|source|user|which|that|who|and)\b"
    r"[\w ,]{0,20}"
    r"\b(?:says?|said|reads?|claims?|states?|contains?|includes?|asks?|asked|quotes?|demands?"
    r"|ends?|begins?|tells?|told|wants?|has|instructs?|tries|pretends?)\b|\bquot|\binject",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s+(?!points?\b|pts?\b|out\b)[^\W\d_]{3,}")
_CUE = re.compile(
    r"scor|\brat(?:e|ed|ing)|grad|\bg[ia]ve|assign|award|deserv|worth|verdict|judg|\bmark|overall"
    r"|final|instead|actually|rather|\bsay|bewert|gebe\b|\bnot[ae]\b|puntu|punkt|分|점|оцен",
    re.IGNORECASE,
)


def read_answer(
    text: str, annotations: Mapping[str, Any], scale: Scale = PERCENT
) -> dict[str, Any]:
    r"""Return the fields of an answer."""
    text = without_thoughts(text)
    try:
        sections = split_answer(text, annotations)
    except ValueError:
        headers = [found[2] for line in text.split("\n") if (found := _HEADER.match(line))]
        if [one.casefold() for one in headers] not in ([], ["completed"]):
            raise
        plain = _whole_characters(_END.sub(r"\n\1", f"\n{text}", count=1)).strip()
        fields = _single_value(plain, annotations, scale)
        if fields is None:
            raise
        return fields
    _refuse_second_thoughts(text, sections, annotations, scale)
    return {
        name: read_field(one, annotations[name], name, scale=scale)
        for name, one in sections.items()
    }


def split_answer(text: str, names: Collection[str]) -> dict[str, str]:
    r"""Return the text of each named section of an answer."""
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
    r"""Return the value that ``text`` gives for a field of type ``annotation``."""
    if annotation is str:
        return _text_alone(text, name)
    if _is_score(annotation):
        return _score(text, annotation, name, scale)
    plain = read_json(text, annotation)
    if "\\ud" in text or "\\uD" in text:
        plain = _whole_characters(plain)
    return typed(shaped(plain, annotation, name), annotation)


def read_record(text: str, annotations: Mapping[str, Any], scale: Scale) -> dict[str, Any] | None:
    """Return the fields that the one JSON object in a text gives; None if there is none."""
    text = without_thoughts(text)
    values = values_in(text)
    claims = [
        (start, end, record)
        for start, end, value in values
        for record in _records_within(value, annotations)
    ]
    if not claims:
        return None
    if len(claims) > 1:
        raise InputError("the answer gives its fields in two JSON objects.")
    ((start, end, record),) = claims
    if set(annotations) - set(record) == {"explanation"}:
        record = {**record, "explanation": ""}  # a score counts without words
    if not set(annotations) <= set(record):
        return None
    if _is_disowned(text, start, end):
        return None
    found = {name: _converted(record[name], of, name, scale) for name, of in annotations.items()}
    for name, of in annotations.items():
        _refuse_rivals(text[:start] + "\n" + text[end:], record[name], of, scale)
    return found


def is_cut_off(text: str) -> bool:
    """Say whether an answer that ran into its limit of tokens lost what it was about to say."""
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


def without_thoughts(text: str) -> str:
    """Return an answer without what a model thought aloud before it."""
    opened = _THOUGHT.match(text)
    closing = f"</{opened[1]}>" if opened else ""
    closed = text.find(closing) if opened else -1
    return text[closed + len(closing) :] if closed >= 0 else text


def _single_value(text: str, annotations: Mapping[str, Any], scale: Scale) -> dict[str, Any] | None:
    """Return the fields of an answer that is, or holds, one value; None if there is none."""
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
    ((name, of), *others) = annotations.items()
    if others or of is str:
        return read_record(text, annotations, scale)
    if _is_score(of):
        try:
            return {name: _level(text, of, scale)}
        except ValueError:
            return read_record(text, annotations, scale)
    try:
        found = read_record(text, annotations, scale)
    except ValueError:
        if not is_json:
            raise
        found = None
    if found is None and is_json:
        return {name: read_field(text, of, name, scale=scale)}
    return found or _list_in(text, of, name, scale)


def _records_within(
    value: Any, names: Collection[str], deepest: int = _DEEPEST
) -> Iterator[dict[str, Any]]:
    """Yield the objects in a JSON value that give any of some fields."""
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if not isinstance(value, dict):
        return
    given = spelled(value, names)
    if any(name in given for name in names):
        yield given
    elif deepest:
        for name, one in value.items():
            if name.casefold().replace(" ", "_") in _WRAPPERS:
                yield from _records_within(one, names, deepest - 1)


def _list_in(text: str, annotation: Any, name: str, scale: Scale) -> dict[str, Any] | None:
    """Return a field whose JSON stands among words, as the one value in them."""
    values = values_in(text)
    if len(values) != 1:
        return None
    ((start, end, value),) = values
    if _is_disowned(text, start, end):
        return None
    found = typed(shaped(_whole_characters(value), annotation, name), annotation)
    _refuse_rivals(text[:start] + "\n" + text[end:], value, annotation, scale)
    return {name: found}


def _is_disowned(text: str, start: int, end: int) -> bool:
    """Say whether the words around a value refuse to answer, or introduce it as a quotation."""
    before = text[:start].rstrip("`~ \t\n").removesuffix("json").rstrip("`~ \t\n")
    introduced = _SENTENCE.split(before)[-1]
    return bool(_DISOWNED.search(before) or _DISOWNED.search(text, end)) or bool(
        _QUOTES.search(introduced)
    )


def _refuse_rivals(around: str, value: Any, annotation: Any, scale: Scale) -> None:
    """Refuse words around a JSON value that name another score than the value gives."""
    if not (_is_score(annotation) or record_type(annotation)):
        return
    given = set(map(float, _numbers_in(value)))
    low, high = f"{scale.low:g}", f"{scale.high:g}"
    ends = re.compile(
        rf"\b{low}\s*(?:-|–|—|~|\.\.+|to|and|through|bis|à|a|至|到)\s*{high}\b"
        rf"|(?:/|\bout of|\bof)\s*{high}\b"
    )
    for sentence in _SENTENCE.split(_LIST_MARK.sub(" ", around)):
        plain = ends.sub(" ", sentence)
        for number in () if scale.labels else _NUMBER.finditer(plain):
            said = float(number[0])
            if said in given or not scale.low <= said <= scale.high:
                continue
            if _CUE.search(plain) or not _COUNTED.match(plain, number.end()):
                raise InputError(f"the answer names another score, {number[0]}, beside its JSON.")
        if scale.labels and _is_score(annotation):
            try:
                level = read_level(sentence, scale)
            except ValueError:
                continue
            if level != read_level(value, scale):
                raise InputError(f"the answer names another score, {level}, beside its JSON.")


def _numbers_in(value: Any) -> Iterator[str]:
    """Yield the numbers of a JSON value that are not part of longer texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _numbers_in(one)
    elif not isinstance(value, bool) and len(str(value)) <= _SHORT:
        yield from _NUMBER.findall(str(value))


def _score(text: str, annotation: Any, name: str, scale: Scale) -> Any:
    """Return a score that stands alone, in a fence, or in the one JSON object of a text."""
    try:
        return _level(text, annotation, scale)
    except ValueError:
        plain = text.strip()
        if fenced := _FENCED.fullmatch(plain):
            plain = fenced[1].strip()
        if "{" not in plain:
            if fenced is None:
                raise
            return _level(plain, annotation, scale)
        found = read_record(plain, {name or "score": annotation}, scale)
        if found is None:
            raise
        return found[name or "score"]


def _text_alone(text: str, name: str) -> str:
    """Return a text, out of a JSON object that holds nothing else and is all that is there."""
    plain = text.strip()
    if fenced := _FENCED.fullmatch(plain):
        plain = fenced[1].strip()
    if plain[:1] + plain[-1:] != "{}":
        return text
    try:
        value = read_json(plain, dict)
    except ValueError:
        return text
    alone = spelled(value, [name]) if isinstance(value, dict) and len(value) == 1 else {}
    return _converted(alone[name], str, name, PERCENT) if name in alone else text


def _converted(value: Any, annotation: Any, name: str, scale: Scale) -> Any:
    """Return a value out of JSON as a field of type ``annotation``."""
    if annotation is str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            value = "\n".join(value)
        elif isinstance(value, list | dict):
            value = json.dumps(value, ensure_ascii=False)
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


_SECTION_HEADER = re.compile(r"^[\s*_`#]*\[\[ *## *(\w+) *## *\]\][*_`]*", re.MULTILINE)
_BARE = re.compile(r"[^\s\[\]{},:\"']+")
_JSON = json.JSONDecoder(strict=False)
_OUTER_QUOTES = "\"'`*_([<“‘«„「『"


def place_of_answer(
    text: str, field: str, said: str, answers: Sequence[str]
) -> tuple[int, int] | None:
    r"""Return where the answer to a field begins and ends, with the quotes before it."""
    if said.casefold() not in {one.casefold() for one in answers}:
        return None
    start, end = _section(text, field)
    found = [where for _, key, _, where in _values(text[start:end]) if folded(key) == folded(field)]
    if len(found) > 1:
        return None
    for first, last in found:
        start, end = start + first, start + last
    return _word(text, start, end, said)


def places_in_records(
    text: str, field: str, said: Mapping[str, str], *, title: str, key: str
) -> dict[str, tuple[int, int]]:
    r"""Return where one value of each of several records begins and ends."""
    start, end = _section(text, field)
    names: dict[int, str] = {}
    places: dict[int, tuple[int, int]] = {}
    for record, at, value, where in _values(text[start:end]):
        if folded(at) == title and isinstance(value, str):
            names[record] = folded(value)
        elif folded(at) == key:
            places[record] = (start + where[0], start + where[1])
    found: dict[str, tuple[int, int]] = {}
    for name, wanted in said.items():
        records = [one for one, called in names.items() if called == folded(name)]
        if len(records) == 1 and records[0] in places:
            place = _word(text, *places[records[0]], wanted)
            if place is not None:
                found[name] = place
    return found


def _section(text: str, field: str) -> tuple[int, int]:
    """Return where the text of a field stands; all of an answer that has no fields."""
    begin = len(text) - len(without_thoughts(text))
    headers = list(_SECTION_HEADER.finditer(text, begin))
    for place, header in enumerate(headers):
        if header[1].lower() == field.lower():
            after = headers[place + 1].start() if place + 1 < len(headers) else len(text)
            return header.end(), after
    return begin, len(text)


def _word(text: str, start: int, end: int, said: str) -> tuple[int, int] | None:
    """Return where a word or number stands in a stretch of a text, for the first time."""
    stretch = "".join(map(_narrow, text[start:end]))
    after = r"\d|\.\d" if said[-1:].isdecimal() else r"\w"
    found = re.search(rf"(?<![\w.–/-]){re.escape(said)}(?!{after})", stretch, re.IGNORECASE)
    if found is None:
        return None
    first, last = start + found.start(), start + found.end()
    while first > start and text[first - 1] in _OUTER_QUOTES:
        first -= 1
    return first, last


def _narrow(letter: str) -> str:
    """Return a digit or letter in its usual form, where that is one character, too."""
    if letter.isascii():
        return letter
    usual = unicodedata.normalize("NFKC", letter)
    return usual if len(usual) == 1 else letter


def _values(text: str) -> Iterator[tuple[int, str, Any, tuple[int, int]]]:
    """Yield the plain values of JSON objects: which object, key, value, and where it stands."""
    at = min((one for one in map(text.find, "[{") if one >= 0), default=len(text))
    stack: list[int] = []  # the objects and lists that are open; a list is -1
    key: str | None = None
    n_objects = 0
    while at < len(text):
        mark = text[at]
        if mark in "[{":
            stack.append(n_objects if mark == "{" else -1)
            n_objects += mark == "{"
            key, at = None, at + 1
        elif mark in "]}":
            if not stack or (stack.pop() < 0) != (mark == "]"):
                return
            key, at = None, at + 1
            if not stack:
                return
        elif mark in ",:" or mark.isspace():
            key, at = (None if mark == "," else key), at + 1
        else:
            value, end = _scalar(text, at)
            if end == at:
                return
            if stack and stack[-1] >= 0:
                if key is None:
                    key = str(value)
                else:
                    yield stack[-1], key, value, (at, end)
                    key = None
            at = end


def _scalar(text: str, at: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and where it ends; there itself if it is none."""
    if text[at] == '"':
        try:
            return _JSON.raw_decode(text, at)
        except json.JSONDecodeError:
            return None, at
    bare = _BARE.match(text, at)
    return (bare[0], bare.end()) if bare else (None, at)
