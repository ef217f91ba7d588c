"""What clients send: items to judge, as they are read, and every fault in them with its place."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, core_schema

from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.refusals import Refusal
from judgesmith.signatures.plain_faults import plain_fault
from judgesmith.signatures.rated import RatedItem, source_hash

T = TypeVar("T")

_MOST_NAMED = 5  # faults that one reply lists
_LONGEST_NAME = 60  # characters of a field that a reply names
_LONGEST_SHOWN = 65_536  # bytes of what comes, of which a reply shows what is wrong
_MOST_FIELDS = 20  # unknown fields that are looked at
_MOST_REFERENCES = 100  # of one item
_MOST_PARTS = 200_000  # names and values of what comes at once: no other thread runs meanwhile
_RATED = ("human", "scale")  # what rows of rated texts have beside, and no judge reads
_QUOTES = re.compile(rb'\\.|"', re.DOTALL)  # escaped ones are passed over
_MARKS = (b"[", b"{", b",", b":")


@dataclass(frozen=True, slots=True)
class _Told:
    """Has one fault say what was expected where a field takes several types."""

    expected: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.custom_error_schema(
            handler(source), "other_type", custom_error_message=f"Input should be {self.expected}"
        )


class _OrNone:
    """Reads anything else as None, without making an object of it."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


Id = Annotated[
    StrictStr | StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)] | None,
    _Told("a text"),
]
References = Annotated[
    StrictStr
    | Annotated[list[StrictStr | None], Field(fail_fast=True, max_length=_MOST_REFERENCES)]
    | None,
    _Told(f"a text, or a list of at most {_MOST_REFERENCES} texts"),
]


_EXAMPLE: dict[str, JsonValue] = {
    "source_id": "bridge",
    "system_id": "a",
    "source": "The bridge opened on Monday. Two thousand people crossed it.",
    "response": "Two thousand people crossed the bridge on Monday.",
}


class Item(BaseModel):
    """One response to judge, with what it answers."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        json_schema_extra={"example": _EXAMPLE},
    )

    response: str = Field(description="the text under judgement, verbatim")
    source: str | None = Field(default=None, description="what was answered, verbatim")
    context: str | None = Field(default=None, description="further material, if there is any")
    references: References = Field(
        default=None, description="answers known to be good, for judges that read them"
    )
    source_id: Id = Field(default=None, description="comes back with the row")
    system_id: Id = Field(default=None, description="comes back with the row")

    def rated(self) -> RatedItem:
        """Return the item as judges take it, and as files of rows are read."""
        source = self.source or ""
        references = self.references or ()
        given = (references,) if isinstance(references, str) else references
        return RatedItem(
            source_id=_id(self.source_id) or source_hash(source, self.response),
            system_id=_id(self.system_id),
            source=source,
            context=self.context or None,
            response=self.response,
            references=tuple(one for one in given if one),
        )


def _id(value: str | float | None) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


class Batch(BaseModel):
    """Items that are judged in one request."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"example": {"items": [_EXAMPLE]}}
    )

    items: list[Item] = Field(description="in the order in which their rows come back")


# What is read of a body first: its names alone, however much else there is.
_Names = Annotated[dict[str, Annotated[None, _OrNone()]] | None, _OrNone()]


class _Head(BaseModel):
    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, Annotated[None, _OrNone()]]
    items: Annotated[list[_Names] | None, _OrNone()] = None


_NAMES: TypeAdapter[dict[str, None] | None] = TypeAdapter(_Names)
_HEAD: TypeAdapter[_Head | None] = TypeAdapter(Annotated[_Head | None, _OrNone()])
_ITEM = TypeAdapter(Item)
_BATCH = TypeAdapter(Batch)


def item_of(body: bytes, limits: ServingLimits, *, where: str = "body") -> RatedItem:
    """Return the one item that JSON spells.

    Raises
    ------
    Refusal
        If it is no JSON, holds no item, or a text that is too long.

    Examples
    --------
    >>> item_of(b'{"response": "r", "source_id": 7}', ServingLimits()).source_id
    '7'
    >>> item_of(b'{"source": "s"}', ServingLimits())
    Traceback (most recent call last):
    ...
    judgesmith.programs.serving.refusals.Refusal: response is missing
    """
    _check_parts(body, where)
    _check_names([_read(_NAMES, body, where)], [where])
    item = _read(_ITEM, body, where).rated()
    _check_length(item, limits, where)
    return item


def items_of(body: bytes, limits: ServingLimits) -> list[RatedItem]:
    """Return the items of a batch, in order.

    Raises
    ------
    Refusal
        If it is no JSON, holds none or too many, or one is none or has a text that is too long.

    Examples
    --------
    >>> items_of(b'{"items": [{"response": "r"}, {"response": 7}]}', ServingLimits())
    Traceback (most recent call last):
    ...
    judgesmith.programs.serving.refusals.Refusal: items[1].response: expected a text; got 7
    """
    _check_parts(body, "body")
    head = _read(_HEAD, body, "body") or _Head(items=None)
    given = head.items or []
    if len(given) > limits.max_items:
        raise Refusal(
            413,
            "items",
            f"expected at most {limits.max_items} items in a batch; got {len(given)}.",
            where="items",
            hint="send them in parts, or as a stream of lines to …/stream.",
        )
    if others := head.model_extra:
        missing = [] if "items" in head.model_fields_set else [("items", "is missing")]
        some = [(name, "there is no such field") for name in islice(others, _MOST_NAMED)]
        raise _refused([*missing, *some], len(missing) + len(others))
    places = [f"items[{place}]" for place in range(len(given))]
    _check_names(given, places)
    batch = _read(_BATCH, body, "body")
    if not batch.items:
        raise Refusal(422, "invalid", "items: expected at least one; got none.", where="items")
    items = [item.rated() for item in batch.items]
    for item, place in zip(items, places, strict=True):
        _check_length(item, limits, place)
    return items


def _check_parts(body: bytes, where: str) -> None:
    """Refuse what holds so many names and values that reading it keeps everybody else waiting."""
    if sum(map(body.count, _MARKS)) <= _MOST_PARTS:
        return
    n = end = 0
    in_text = False
    for quote in _QUOTES.finditer(body):
        if quote[0] == b'"':
            if not in_text:
                n += sum(body.count(mark, end, quote.start()) for mark in _MARKS)
            end, in_text = quote.end(), not in_text
            if n > _MOST_PARTS:
                break
    if not in_text:
        n += sum(body.count(mark, end) for mark in _MARKS)
    if n > _MOST_PARTS:
        raise Refusal(
            413,
            "size",
            f"expected at most {_MOST_PARTS} names and values at once; got more.",
            where=where,
            hint="leave out fields that no judge reads, or send fewer items at a time.",
        )


def _read(adapter: TypeAdapter[T], body: bytes, where: str) -> T:
    """Return what JSON spells; fields that are not known are passed over as it is read."""
    try:
        return adapter.validate_json(body)
    except ValidationError as fault:
        raise _invalid(fault, where, shows=len(body) <= _LONGEST_SHOWN) from None


def _check_names(items: Sequence[dict[str, None] | None], places: Sequence[str]) -> None:
    """Refuse a field that is probably one of ours, misspelled: it would be passed over."""
    meant: dict[str, list[str]] = {}
    for names, place in zip(items, places, strict=True):
        for name in names or ():
            if name in Item.model_fields or name in _RATED:
                continue
            if name not in meant:
                if len(meant) == _MOST_FIELDS:
                    continue
                close = difflib.get_close_matches(name[:40], Item.model_fields, n=1, cutoff=0.8)
                meant[name] = close
            for one in meant[name]:
                if one not in (names or ()):
                    said = f"there is no field {name!r}; did you mean {one!r}?"
                    raise _refused([(place, said)], 1)


def _check_length(item: RatedItem, limits: ServingLimits, where: str) -> None:
    texts = {"response": item.response, "source": item.source, "context": item.context or ""}
    texts |= {f"references[{n}]": one for n, one in enumerate(item.references)}
    texts |= {"source_id": item.source_id, "system_id": item.system_id}
    for name, text in texts.items():
        if len(text) > limits.max_chars:
            raise Refusal(
                413,
                "chars",
                f"expected at most {limits.max_chars} characters; got {len(text)}.",
                where=name if where == "body" else f"{where}.{name}",
                hint="send a shorter text; none is cut.",
            )


def _invalid(fault: ValidationError, where: str, *, shows: bool) -> Refusal:
    """Return the refusal of what was read; with values, where those are short."""
    faults = fault.errors(include_url=False, include_input=shows)
    if faults[0]["type"] == "json_invalid":
        return Refusal(
            422,
            "invalid",
            f"expected JSON in UTF-8; got something else: {faults[0]['ctx']['error']}.",
            where=where,
            hint="send one JSON object.",
        )
    said = [(_placed(where, one["loc"]), plain_fault(one)) for one in faults[:_MOST_NAMED]]
    return _refused(said, len(faults))


def _refused(faults: Sequence[tuple[str, str]], n: int) -> Refusal:
    """Return the refusal that says what is wrong, each with its place, and how much more."""
    said = []
    for place, text in faults[:_MOST_NAMED]:
        named = "" if place == "body" else _shortened(place)
        said.append(f"{named} {text}" if text == "is missing" else f"{named}: {text}".lstrip(": "))
    return Refusal(
        422,
        "invalid",
        "; ".join(said) + (f"; and {n - len(said)} more" if n > len(said) else ""),
        where=_shortened(faults[0][0]),
        hint="GET /openapi.json describes what is expected.",
    )


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _placed(where: str, parts: tuple[int | str, ...]) -> str:
    """Return a place inside what came: ``items[3].response``."""
    path = "" if where == "body" else where
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path or "body"
