"""What clients send: items to judge, as they are read, and every fault in them with its place."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from judgesmith.errors import InputError
from judgesmith.programs.serving.limits import ServingLimits
from judgesmith.programs.serving.refusals import Refusal
from judgesmith.signatures.plain_faults import plain_fault
from judgesmith.signatures.rated import RatedItem, source_hash

_MOST_NAMED = 5  # faults that one reply lists
_LONGEST_NAME = 60  # characters of a field that a reply names
_MOST_FIELDS = 20  # unknown fields that are looked at
_MOST_REFERENCES = 100  # of one item: each that is no text is a fault that is told apart
_RATED = ("human", "scale")  # what rows of rated texts have beside, and no judge reads


def _text(value: Any) -> Any:
    return "" if value is None else value


def _id(value: Any) -> Any:
    """Return an id as a text, as files of rows are read."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return str(int(value)) if value == int(value) else str(value)
    return _text(value)


def _references(value: Any) -> Any:
    given = [] if value is None else [value] if isinstance(value, str) else value
    if isinstance(given, list) and len(given) > _MOST_REFERENCES:
        raise InputError(f"expected at most {_MOST_REFERENCES} texts; got {len(given)}")
    return [one for one in given if one not in (None, "")] if isinstance(given, list) else given


_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)

Id = Annotated[str, BeforeValidator(_id)]


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
    source: Annotated[str, BeforeValidator(_text)] = Field(
        default="", description="what was answered, verbatim"
    )
    context: str | None = Field(default=None, description="further material, if there is any")
    references: Annotated[tuple[str, ...], BeforeValidator(_references)] = Field(
        default=(), description="answers known to be good, for judges that read them"
    )
    source_id: Id = Field(default="", description="comes back with the row")
    system_id: Id = Field(default="", description="comes back with the row")

    @model_validator(mode="before")
    @classmethod
    def _names_no_other_field(cls, value: Any) -> Any:
        """Refuse a field that is probably one of ours, misspelled: it would be passed over."""
        if isinstance(value, Mapping):
            known = [name for name in cls.model_fields if name not in value]
            others = [one for one in value if one not in cls.model_fields and one not in _RATED]
            for name in others[:_MOST_FIELDS]:
                close = difflib.get_close_matches(str(name)[:40], known, n=1, cutoff=0.8)
                if close:
                    raise InputError(f"there is no field {name!r}; did you mean {close[0]!r}?")
        return value

    def rated(self) -> RatedItem:
        """Return the item as judges take it."""
        return RatedItem(
            source_id=self.source_id or source_hash(self.source, self.response),
            system_id=self.system_id,
            source=self.source,
            context=self.context or None,
            response=self.response,
            references=self.references,
        )


class Batch(BaseModel):
    """Items that are judged in one request."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"example": {"items": [_EXAMPLE]}}
    )

    items: list[Item] = Field(description="in the order in which their rows come back")


def parsed(body: bytes | bytearray, *, where: str = "body") -> Any:
    """Return what JSON spells.

    Raises
    ------
    Refusal
        If it is none, or nested too deeply.

    Examples
    --------
    >>> parsed(b'{"response": "r"}')
    {'response': 'r'}
    """
    try:
        return _ANYTHING.validate_json(bytes(body))
    except ValidationError as fault:
        found = fault.errors(include_url=False, include_input=False)[0]
        why = found.get("ctx", {}).get("error", found["msg"])
        raise Refusal(
            422,
            "invalid",
            f"expected JSON in UTF-8; got something else: {why}.",
            where=where,
            hint="send one JSON object.",
        ) from None


def item_of(value: Any, limits: ServingLimits, *, where: str = "body") -> RatedItem:
    """Return the one item that plain data holds.

    Raises
    ------
    Refusal
        If it holds none, or a text that is too long.

    Examples
    --------
    >>> item_of({"response": "r", "source_id": 7}, ServingLimits()).source_id
    '7'
    >>> item_of({"source": "s"}, ServingLimits())
    Traceback (most recent call last):
    ...
    judgesmith.programs.serving.refusals.Refusal: response is missing
    """
    try:
        item = Item.model_validate(value)
    except ValidationError as fault:
        raise _invalid(fault, where) from None
    _check_length(item, limits, where)
    return item.rated()


def items_of(value: Any, limits: ServingLimits) -> list[RatedItem]:
    """Return the items of a batch, in order.

    Raises
    ------
    Refusal
        If it holds none or too many, or one is none or has a text that is too long.

    Examples
    --------
    >>> items_of({"items": [{"response": "r"}, {"response": 7}]}, ServingLimits())
    Traceback (most recent call last):
    ...
    judgesmith.programs.serving.refusals.Refusal: items[1].response: expected a text; got 7
    """
    given = value.get("items") if isinstance(value, Mapping) else None
    n = len(given) if isinstance(given, list) else 0
    if n > limits.max_items:
        raise Refusal(
            413,
            "items",
            f"expected at most {limits.max_items} items in a batch; got {n}.",
            where="items",
            hint="send them in parts, or as a stream of lines to …/stream.",
        )
    if isinstance(value, Mapping):
        value = {
            name: value[name] for name in [*islice(value, _MOST_FIELDS), "items"] if name in value
        }
    try:
        batch = Batch.model_validate(value)
    except ValidationError as fault:
        raise _invalid(fault, "body") from None
    if not batch.items:
        raise Refusal(422, "invalid", "items: expected at least one; got none.", where="items")
    for place, item in enumerate(batch.items):
        _check_length(item, limits, f"items[{place}]")
    return [item.rated() for item in batch.items]


def _check_length(item: Item, limits: ServingLimits, where: str) -> None:
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


def _invalid(fault: ValidationError, where: str) -> Refusal:
    """Return the refusal that says everything that is wrong, up to a few faults, with its place."""
    faults = fault.errors(include_url=False)
    said, places = [], []
    for one in faults[:_MOST_NAMED]:
        place = _placed(where, one["loc"])
        text = plain_fault(one)
        places.append(place)
        named = "" if place == "body" else place
        said.append(f"{named} {text}" if text == "is missing" else f"{named}: {text}".lstrip(": "))
    more = len(faults) - len(said)
    error = "; ".join(said) + (f"; and {more} more" if more > 0 else "")
    return Refusal(
        422,
        "invalid",
        error,
        where=places[0],
        hint="GET /openapi.json describes what is expected.",
    )


def _placed(where: str, parts: tuple[int | str, ...]) -> str:
    """Return a place inside what came: ``items[3].response``."""
    path = "" if where == "body" else where
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            name = part if len(part) <= _LONGEST_NAME else f"{part[: _LONGEST_NAME - 1]}…"
            path += f".{name}" if path else name
    return path or "body"
