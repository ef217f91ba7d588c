"""How well a judge agrees with people, as it is saved: estimates by level and statistic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    StrictFloat,
    StrictInt,
    model_serializer,
    model_validator,
)

from judgesmith.errors import InputError

Number = StrictInt | StrictFloat


class _AsGiven(BaseModel):
    """A record that is written with the keys that it was given, in their order, and no others."""

    model_config = ConfigDict(frozen=True, extra="allow")

    _given: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _keeps_keys(cls, given: Any, made_of: ModelWrapValidatorHandler[Self]) -> Self:
        made = made_of(given)
        if isinstance(given, Mapping):
            made._given = tuple(given)
        return made

    @model_serializer(mode="wrap")
    def _given_alone(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = plain(self)
        return {name: found[name] for name in self._given}

    @property
    def plain(self) -> dict[str, Any]:
        return self.model_dump(mode="json")


class SavedEstimate(_AsGiven):
    """A number with its interval, and what it rests on."""

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    confidence: Number | None = None
    n: Number | None = None

    @model_validator(mode="before")
    @classmethod
    def _estimates_something(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and not {"value", "n"} & set(given):
            raise InputError(f"expected an estimate; got {str(dict(given))[:80]!r}.")
        return given

    def text(self, digits: str = ".3f") -> str:
        """Return the number with its interval as text, ``undefined`` where there is none."""
        # What differs from 0 by rounding alone would show as -0.000.
        value, low, high = (
            0.0 if one is not None and abs(one) < 1e-12 else one
            for one in (self.value, self.low, self.high)
        )
        if value is None:
            return "undefined"
        if low is None or high is None:
            return f"{value:{digits}}"
        return f"{value:{digits}} [{low:{digits}}, {high:{digits}}]"


Report = Mapping[str, Mapping[str, SavedEstimate | None] | None]
"""Estimates by level, then by statistic."""

ByName = Mapping[str, Report | None]


class _Kind(_AsGiven):
    name: str


class SavedDiscernment(_AsGiven):
    """Which changes of texts a judge notices."""

    selection: Report | None = None
    seen: ByName | None = None
    unseen: ByName | None = None
    kinds: tuple[_Kind, ...] | None = None
    unseen_kinds: tuple[_Kind, ...] | None = None


class SavedAgreement(_AsGiven):
    """How well a judge agrees with people, on the rows that each part is named for."""

    uncompiled: Report | None = None
    best_member: Report | None = None
    selection: Report | None = None
    heldout: Report | None = None
    criteria: Mapping[str, ByName | None] | None = None
    discernment: SavedDiscernment | None = None
    calibration: Any = None

    @property
    def is_unrated(self) -> bool:
        return "selection" in self._given and self.selection is None

    @property
    def reports(self) -> dict[str, Report]:
        parts = ("uncompiled", "best_member", "selection", "heldout")
        return {name: found for name in parts if (found := getattr(self, name))}

    @property
    def best_known(self) -> tuple[str, Report]:
        """The report on held-out rows, or else on those that the judge was chosen by."""
        for rows, found in (("held out", self.heldout), ("rows of selection", self.selection)):
            if found:
                return rows, found
        return "", {}


def estimate_in(report: Report | None, level: str, statistic: str) -> SavedEstimate | None:
    return ((report or {}).get(level) or {}).get(statistic)


def plain_report(report: Report) -> dict[str, Any]:
    return {
        level: {name: None if one is None else one.plain for name, one in (found or {}).items()}
        for level, found in report.items()
    }


def agreement_text(estimate: SavedEstimate | Mapping[str, Any] | None, digits: str = ".3f") -> str:
    """Return an estimate with its interval as text, ``undefined`` where there is none."""
    return "undefined" if estimate is None else SavedEstimate.model_validate(estimate).text(digits)
