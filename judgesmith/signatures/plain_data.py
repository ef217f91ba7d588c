"""Plain data from users: strict YAML, validation faults as sentences, and declared fields."""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from judgesmith.errors import InputError, did_you_mean, hint_of, sentence_of
from judgesmith.results.base import one_line

# Aliases let a few lines stand for more than any memory holds.
_MOST_PARTS = 1_000_000


class _Loader(yaml.SafeLoader):
    """The safe loader, which makes plain data alone; strict about keys, without dates or tags."""

    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _n_parts(node, {})
        return node

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) not in (None, "!"):
            raise _refusal(event, f"the tag {event.tag} is not plain YAML", "leave it out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        given: dict[str, yaml.Mark] = {}
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.tag != "tag:yaml.org,2002:str":
                raise _refusal(key, f"expected a text as key; got {key.value}", "put it in quotes")
            if key.value in given:
                first = given[key.value].line + 1
                said = f"the key {key.value!r} is given twice, first on line {first}"
                raise _refusal(key, said, "keep one of the two")
            given[key.value] = key.start_mark
        return super().construct_mapping(node, deep)


def _refusal(at: Any, problem: str, note: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, note=note, problem_mark=at.start_mark)


def _n_parts(node: yaml.Node, known: dict[int, int]) -> int:
    """Return how many values a node stands for, aliases followed; refuse one that holds itself."""
    if id(node) in known:
        n = known[id(node)]
    else:
        known[id(node)] = _MOST_PARTS  # until it is known: what comes back to it never ends
        below = node.value if isinstance(node, yaml.CollectionNode) else []
        parts = [one for part in below for one in (part if isinstance(part, tuple) else (part,))]
        n = known[id(node)] = 1 + sum(_n_parts(part, known) for part in parts)
    if n > _MOST_PARTS:
        said = f"its aliases stand for more than {_MOST_PARTS:,} values"
        raise _refusal(node, said, "write them out")
    return n


# A date would come back as something other than the text that was written.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with texts of several lines as blocks and numbers side by side."""


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    # Of these PyYAML reads some back as plain line ends unless they are spelled as escapes.
    style = '"' if _ODD_LINE_END.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _list(dumper: _Dumper, values: list[Any]) -> yaml.SequenceNode:
    numbers = bool(values) and all(isinstance(one, int | float) for one in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=numbers)


_ODD_LINE_END = re.compile("[\r\x85\u2028\u2029]")
_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def read_yaml(text: str) -> Any:
    r"""Return the plain data that ``text`` spells out."""
    return _read(text)[0]


Place = tuple[str | int, ...]  # the keys, and numbers of entries from 0, that lead to a value


def read_placed_yaml(text: str) -> tuple[Any, dict[Place, int]]:
    r"""Return plain data as ``read_yaml`` does, and on which line each value begins."""
    data, node = _read(text)
    lines: dict[Place, int] = {(): 1}
    waiting: list[tuple[Place, yaml.Node]] = [] if node is None else [((), node)]
    while waiting:
        place, one = waiting.pop()
        if isinstance(one, yaml.MappingNode):
            for key, value in one.value:
                lines[(*place, key.value)] = key.start_mark.line + 1
                waiting.append(((*place, key.value), value))
        elif isinstance(one, yaml.SequenceNode):
            for number, value in enumerate(one.value):
                lines[(*place, number)] = value.start_mark.line + 1
                waiting.append(((*place, number), value))
    return data, lines


def _read(text: str) -> tuple[Any, yaml.Node | None]:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return (None if node is None else loader.construct_document(node)), node
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        where = "" if mark is None else f"line {mark.line + 1}: "
        said, hint = _plainly(fault)
        raise InputError(f"{where}{said}.", hint=None if hint is None else f"{hint}.") from None
    except yaml.YAMLError:
        raise InputError(
            "not YAML: it contains a character that cannot be printed.",
            hint="remove it, or spell it as an escape in double quotes.",
        ) from None
    except RecursionError:
        raise InputError("cannot read the YAML: it is nested too deeply.") from None


_SAID = {
    r"found character '\\t' that cannot start any token": ("a tab begins the line", "write blanks"),
    r"expected .*, but (found|got) '<stream end>'": ("a bracket or a quote is never closed", None),
    r"found undefined alias '(?P<name>.*)'": (
        "*{name} stands for nothing",
        "put a text that begins with * in quotes",
    ),
    r"but found another document": ("a second document begins", "keep one of them"),
    r"mapping values are not allowed here": ("a second colon", "put a text with a colon in quotes"),
    r"expected ',' or '[}\]]', but got '(?P<name>.*)'": (
        "{name!r} cannot stand in a text between brackets",
        "put the text in quotes, or close the bracket before it",
    ),
}
"""What PyYAML reports, what it means to the writer of a rubric, and what to do about it."""


def _plainly(fault: yaml.MarkedYAMLError) -> tuple[str, str | None]:
    said = fault.problem or fault.context or "not YAML"
    for pattern, (words, hint) in _SAID.items():
        if found := re.fullmatch(pattern, said):
            return words.format(**found.groupdict()), hint
    return said, fault.note


def write_yaml(plain: Any) -> str:
    r"""Return plain data as YAML that ``read_yaml`` reads back the same."""
    return str(yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=88))


_LONGEST = 80
_MISSING = "is missing"
_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "fields by name",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "fields by name",
    "model_type": "fields by name",
    "string_type": "a text",
    "tuple_type": "a list",
}


class FrozenModel(BaseModel):
    """A record that never changes, and takes no fields but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __repr__(self) -> str:
        return one_line(super().__repr__())


class SettingsModel(BaseModel):
    """A record that users make themselves: what it does not take is an ``InputError``."""

    def __repr__(self) -> str:
        return one_line(super().__repr__())

    if not TYPE_CHECKING:  # where the signature is that of the fields

        def __init__(self, **given: Any) -> None:
            with record_faults(type(self).model_fields):
                super().__init__(**given)

        # So that what is read, and is no call of a user, keeps its places: see pydantic.
        __init__.__pydantic_base_init__ = True


@contextmanager
def record_faults(known: Iterable[str] = ()) -> Iterator[None]:
    """Raise what a record with the ``known`` fields does not take as an ``InputError``."""
    try:
        yield
    except ValidationError as fault:
        own = _own_fault(fault)
        if hint_of(own) is None:
            raise InputError(plain_faults(fault), hint=_meant(fault, known)) from own
        place = ".".join(map(str, fault.errors()[0]["loc"]))
        said = f"{place}: {sentence_of(own)}" if place else sentence_of(own)
        raise InputError(said, hint=hint_of(own)) from own


def _own_fault(fault: ValidationError) -> Exception:
    of_checks = [one.get("ctx", {}).get("error") for one in fault.errors(include_url=False)]
    only = of_checks[0] if len(of_checks) == 1 else None
    return only if isinstance(only, Exception) else fault


def _meant(fault: ValidationError, known: Iterable[str]) -> str | None:
    """Return which field or value was meant, where one fault is of a name like a known one."""
    several = fault.errors(include_url=False)
    one = several[0]
    if len(several) > 1:
        return None
    if one["type"] == "extra_forbidden" and len(one["loc"]) == 1:
        name = str(one["loc"][0])
        return _GUESSED.get(name) or did_you_mean(name, known)
    if one["type"] == "literal_error":
        return did_you_mean(one["input"], _QUOTED.findall(one["ctx"]["expected"]))
    return None


_GUESSED = {
    "scale": "a judge answers on answers='1..5', and judgesmith.wrap takes a scale.",
    "criteria": "a rubric has them: rubric={'criteria': {'clarity': 'Is it clear?'}}.",
}
_QUOTED = re.compile(r"'([^']*)'")


def plain_faults(fault: ValidationError) -> str:
    return "; ".join(_placed(one) for one in fault.errors(include_url=False))


def _placed(one: Mapping[str, Any]) -> str:
    place, said = ".".join(map(str, one["loc"])), plain_fault(one)
    if not place:
        return said
    return f"{place} {said}" if said == _MISSING else f"{place}: {said}"


def plain_fault(one: Mapping[str, Any]) -> str:
    """Return one fault without its place: what was expected, and what came."""
    kind, limits = one["type"], one.get("ctx", {})
    if kind == "missing":
        return _MISSING
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "value_error":
        return str(limits["error"])
    if kind in ("literal_error", "enum"):
        expected = f"one of {limits['expected']}"
    elif kind in ("string_too_short", "too_short"):
        return f"expected {'some text' if kind == 'string_too_short' else 'at least one'}; got none"
    elif kind == "string_too_long":
        expected = f"a text of at most {limits['max_length']} characters"
    elif kind in _EXPECTED:
        expected = _EXPECTED[kind]
    else:
        expected = one["msg"].removeprefix("Input should be ")
    came = _shown(one["input"]) if "input" in one else "something else"
    return f"expected {expected}; got {came}"


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def json_line(row: Mapping[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    if not text.isprintable():
        text = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)
    return text + "\n"


def fingerprint_of(whole: object, *, sort_keys: bool = True) -> str:
    """Return twelve hex digits that change with plain data; a text is hashed as it is."""
    text = whole if isinstance(whole, str) else json.dumps(whole, sort_keys=sort_keys)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredField:
    """One field of a settings model, as options, specification files and tables show it."""

    name: str
    option: str
    group: str | None
    kind: Any
    """``bool``, ``int``, ``float``, ``str``, ``tuple``, ``dict``, or a tuple of choices."""
    optional: bool
    default: Any
    bounds: Mapping[str, Any]
    help: str
    metavar: str | None
    default_text: str | None
    expert: bool

    @classmethod
    def of(cls, name: str, field: FieldInfo) -> DeclaredField:
        extra = field.json_schema_extra
        told: dict[str, Any] = dict(extra) if isinstance(extra, dict) else {}
        members = _members(field.annotation)
        plain = next(one for one in members if one is not type(None))
        choices = get_args(plain) if get_origin(plain) is Literal else None
        origin = get_origin(plain) or plain
        kind = choices or {Mapping: dict, Any: str}.get(origin, origin)
        marked = [(one, mark) for one in field.metadata for mark in ("ge", "lt")]
        bounds = {mark: getattr(one, mark) for one, mark in marked if hasattr(one, mark)}
        default = field.get_default(call_default_factory=True)
        return cls(
            name=name,
            option=told.get("option") or name,
            group=told.get("group"),
            kind=kind,
            optional=type(None) in members,
            default=None if default is PydanticUndefined else default,
            bounds=bounds,
            help=field.description or "",
            metavar=told.get("metavar"),
            default_text=told.get("default_text"),
            expert=bool(told.get("expert")),
        )


def _members(annotation: Any) -> tuple[Any, ...]:
    unions = (Union, types.UnionType)
    return get_args(annotation) if get_origin(annotation) in unions else (annotation,)


def declared_fields(model: type[BaseModel], *names: str) -> Iterator[DeclaredField]:
    """Return the named fields of a model, or all that have a group."""
    for name in names or model.model_fields:
        found = DeclaredField.of(name, model.model_fields[name])
        if names or found.group is not None:
            yield found


def rows_of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table that is given by column."""
    found = {name: _column(name, values) for name, values in columns.items()}
    if len(set(map(len, found.values()))) > 1:
        counts = ", ".join(f"{len(values)} of {name}" for name, values in found.items())
        raise TypeError(f"expected columns of one length; got {counts}.")
    return [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]


def _column(name: str, values: Any) -> list[Any]:
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping):
        return list(values)
    shown = reprlib.repr(values)
    raise TypeError(
        f"expected rows, or a list of values by column; got {shown} of {name}. Put one row into "
        "a list."
    )
