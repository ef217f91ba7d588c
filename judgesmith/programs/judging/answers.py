"""Answers: read from what models write, mended, never guessed; and where in it they stand."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel, RootModel, TypeAdapter, ValidationError

from judgesmith.errors import InputError
from judgesmith.signatures.items import Demonstration
from judgesmith.signatures.judgement import (
    Assessment,
    AssessmentScoreFirst,
    AssessmentScoreOnly,
    assessment_on,
)
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale, is_percent, read_level, read_points, whole

if TYPE_CHECKING:
    import dspy


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


_adapter = functools.lru_cache(maxsize=64)(TypeAdapter)


def _validated(plain: Any, annotation: Any) -> Any:
    try:
        return _adapter(annotation).validate_python(plain)
    except ValidationError as fault:
        first = fault.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the value"
        raise InputError(f"{first['msg'].removeprefix('Value error, ')}", at=where) from None


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
    elif isinstance(value, dict) and [
        k for k, v in value.items() if isinstance(v, list | dict)
    ] == [name]:
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
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    found = [_BULLET.fullmatch(line) for line in lines]
    return [one[1].strip() for one in found if one] if all(found) else []


def _listed(value: Mapping[str, Any], kind: Any) -> Any:
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


def _key(name: str) -> str:
    return folded(name).replace(" ", "_")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError(f"the JSON gives a key twice among {', '.join(found)[:200]}.")
    return found


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
    """Return the fields that the one JSON object in a text gives; None if missing."""
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
    lacking = set(annotations) - set(record)
    if lacking and lacking <= {"explanation", "critique"}:
        record = {**record, **dict.fromkeys(lacking, "")}  # a score counts without words
    if not set(annotations) <= set(record):
        return None
    if _is_disowned(text, start, end):
        return None
    found = {name: _converted(record[name], of, name, scale) for name, of in annotations.items()}
    for name, of in annotations.items():
        _refuse_rivals(text[:start] + "\n" + text[end:], record[name], of, scale)
    return found


def is_cut_off(text: str) -> bool:
    """Return whether an answer that ran into its limit of tokens lost what it was about to say."""
    return text.rstrip()[-1:].isdigit() or bool(_after_the_end(text))


def _after_the_end(text: str) -> str:
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
        raise InputError("the answer continues after its end, with another number.")


def without_thoughts(text: str) -> str:
    opened = _THOUGHT.match(text)
    closing = f"</{opened[1]}>" if opened else ""
    closed = text.find(closing) if opened else -1
    return text[closed + len(closing) :] if closed >= 0 else text


def _single_value(text: str, annotations: Mapping[str, Any], scale: Scale) -> dict[str, Any] | None:
    """Return the fields of an answer that is, or holds, one value; None if missing."""
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
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _numbers_in(one)
    elif not isinstance(value, bool) and len(str(value)) <= _SHORT:
        yield from _NUMBER.findall(str(value))


def _score(text: str, annotation: Any, name: str, scale: Scale) -> Any:
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
            raise InputError(f"expected a text; got {str(value)[:80]!r}.", at=name)
        if any(_HEADER.match(line) for line in value.split("\n")):
            raise InputError("the text holds what marks the fields of an answer.", at=name)
        return _whole_characters(value)
    if _is_score(annotation):
        return _level(value, annotation, scale)
    return typed(shaped(_whole_characters(value), annotation, name), annotation)


def _is_score(annotation: Any) -> bool:
    return annotation in (int, float) or get_origin(annotation) is Literal


def _level(answer: Any, annotation: Any, scale: Scale) -> Any:
    if get_origin(annotation) is Literal:
        return read_level(answer, scale)
    return whole(read_points(answer, scale))


def _whole_characters(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole_characters(name): _whole_characters(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_whole_characters(one) for one in value]
    if isinstance(value, str) and _SURROGATE.search(value):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


LEFT_OUT = "(left out of this example)"
"""What stands in a demonstration for an output that it does not show."""

Kind = Literal[
    "text", "points", "assessments", "assessments, score first", "assessments, score only"
]
KINDS: dict[Kind, Any] = {
    "text": str,
    "points": int,
    "assessments": list[Assessment],
    "assessments, score first": list[AssessmentScoreFirst],
    "assessments, score only": list[AssessmentScoreOnly],
}
"""How a field of an answer is read, by the name that saved judges keep."""


@functools.lru_cache(maxsize=256)
def annotation_of(kind: Kind, answers: Scale) -> Any:
    if is_percent(answers) or kind == "text":
        return KINDS[kind]
    if kind == "points":
        return Literal[answers.labels] if answers.labels else int
    (record,) = get_args(KINDS[kind])
    return list[assessment_on(record, answers)]  # type: ignore[misc]


def demonstration_of(demo: Any, signature: type[dspy.Signature]) -> Demonstration:
    """Return what a predictor shows as a value, from any origin."""
    plain = dict(demo)
    texts = {name: one for name, one in plain.items() if not isinstance(one, Mapping)}
    inputs = {name: texts[name] for name in signature.input_fields if name in texts}
    inputs = {name: one if one is None else str(one) for name, one in inputs.items()}
    given = [name for name in signature.output_fields if plain.get(name) is not None]
    return Demonstration(
        inputs=inputs,
        outputs={name: _plain(plain[name]) for name in given},
        kind="bootstrapped" if plain.get("augmented") else "labelled",
    )


def shown_example(
    demonstration: Demonstration, predictor: str, signature: type[dspy.Signature]
) -> dspy.Example:
    """Return a demonstration as a predictor shows it: the fields that are asked for alone."""
    asked = signature.output_fields
    outputs = {
        name: _as_asked(value, asked[name].annotation)
        for name, value in demonstration.outputs.items()
        if name in asked
    }
    if demonstration.outputs and not outputs:
        raise InputError(
            f"a demonstration for {predictor} answers {', '.join(demonstration.outputs)}; that "
            f"question asks for {', '.join(asked)}."
        )
    import dspy

    fields = {**demonstration.inputs, **outputs}
    if demonstration.kind == "bootstrapped":
        fields["augmented"] = True
    return dspy.Example(**fields).with_inputs(*demonstration.inputs)


def _as_asked(value: Any, annotation: Any) -> Any:
    """Return records with the keys that are asked for, in that order; other values as they are."""
    kinds = [one for one in get_args(annotation) if hasattr(one, "model_fields")]
    if not kinds or not isinstance(value, list | tuple):
        return value
    return [
        {key: one.get(key, LEFT_OUT) for key in kinds[0].model_fields}
        if isinstance(one, Mapping)
        else one
        for one in value
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
