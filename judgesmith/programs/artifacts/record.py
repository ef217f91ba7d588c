"""What every saved judge is: one folder of plain data that can be read, compared and moved."""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    StrictFloat,
    StrictInt,
    ValidationError,
    WrapSerializer,
    model_serializer,
    model_validator,
)

from judgesmith.drafts import draft_beside, put, tidy, write_synced
from judgesmith.errors import ExistingFileError, InputError, file_faults, hint_of, sentence_of
from judgesmith.front_door import at
from judgesmith.programs.artifacts.test_rows import ROWS_FILE, JudgedRow, read_rows, rows_text
from judgesmith.programs.judging.metric import AsMetric
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.registry import UnknownJudgeError
from judgesmith.programs.lm.factory import check_name
from judgesmith.results.base import Keyed, Listed, one_line
from judgesmith.signatures.items import RatedItem, item_to_judge
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import FrozenModel, plain_faults
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.programs.families.ensemble.judges import AnyJudge


Number = StrictInt | StrictFloat


class _AsGiven(BaseModel):
    """A record that is written with the keys that it was given, in their order, and no others."""

    model_config = ConfigDict(frozen=True, extra="allow")

    _given: tuple[str, ...] = PrivateAttr(default=())

    def __repr__(self) -> str:
        return one_line(super().__repr__())

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
    reason: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _estimates_something(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and not {"value", "n"} & set(given):
            raise InputError(f"expected an estimate; got {str(dict(given))[:80]!r}.")
        return given

    def text(self, digits: str = ".3f") -> str:
        """Return the number with its interval as text, or ``undefined``."""
        # What differs from 0 by rounding alone would show as -0.000.
        value, low, high = (
            0.0 if one is not None and abs(one) < 1e-12 else one
            for one in (self.value, self.low, self.high)
        )
        if value is None:
            return "undefined"
        if low is None or high is None:
            return f"{value:{digits}}{' [<5 sources]' if self.reason else ''}"
        return f"{value:{digits}} [{low:{digits}}, {high:{digits}}]"

    @property
    def percent(self) -> str:
        """A share with its interval in whole percent, as in ``91% [84, 95]``."""
        if self.value is None:
            return "undefined"
        ends = (self.low, self.high)
        shown = "" if None in ends else " [{:.0f}, {:.0f}]".format(*(100 * (x or 0) for x in ends))
        return f"{100 * self.value:.0f}%{shown}"


Report = Mapping[str, Mapping[str, SavedEstimate | None] | None]
"""Estimates by level, then by statistic."""

ByName = Mapping[str, Report | None]


class _Kind(_AsGiven):
    name: str


class SavedDiscernment(_AsGiven):
    """Which changes of texts a judge detects."""

    selection: Report | None = None
    seen: ByName | None = None
    unseen: ByName | None = None
    kinds: tuple[_Kind, ...] | None = None
    unseen_kinds: tuple[_Kind, ...] | None = None


class SavedVerdicts(_AsGiven):
    """What share of bad and good test rows a judge stops and passes, by label of people."""

    uncompiled: Mapping[str, SavedEstimate] = Field(default_factory=dict)
    heldout: Mapping[str, SavedEstimate] = Field(default_factory=dict)
    n: Mapping[str, int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_both_rates(self) -> Self:
        if not {"tnr", "tpr"} <= set(self.heldout) or len(self.n) != 2:
            raise InputError("expected TNR, TPR and the rows of two labels.")
        return self


class SavedAgreement(_AsGiven):
    """How well a judge agrees with people, on the rows that each part is named for."""

    uncompiled: Report | None = None
    best_member: Report | None = None
    selection: Report | None = None
    heldout: Report | None = None
    criteria: Mapping[str, ByName | None] | None = None
    discernment: SavedDiscernment | None = None
    verdicts: SavedVerdicts | None = None
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
        """The report on held-out rows, or else on the validation rows."""
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
    """Return an estimate with its interval as text, or ``undefined``."""
    return "undefined" if estimate is None else SavedEstimate.model_validate(estimate).text(digits)


def as_loaded(value: object) -> Any:
    """Return plain data as it comes back from a file: lists for tuples, None for nan."""
    if isinstance(value, Mapping):
        return {str(name): as_loaded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_loaded(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


Plain = Annotated[Mapping[str, Any], BeforeValidator(as_loaded)]
_ONE_LINE = AfterValidator(lambda one: (Listed if isinstance(one, tuple) else Keyed)(one))
ModelName = Annotated[str, Field(min_length=1), AfterValidator(check_name)]
"""``provider/model`` or ``offline``: a name alone, which contains no address."""

PredictorName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]  # names a file, too


SCHEMA = 1
"""Version of the layout of ``judge.json``; a reader refuses what it does not know."""

JUDGE_FILE = "judge.json"
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_MOST_SAID = 1000  # characters of what is wrong with a file
_OWN_FILES = {JUDGE_FILE, ROWS_FILE, "README.md", "prompts"}


class Kind(NamedTuple):
    """One kind of saved judge."""

    place: str
    title: str
    advice: str  # where another kind is expected


_ARTIFACTS = "judgesmith.programs.artifacts"
_KINDS = {
    "": Kind(
        f"{_ARTIFACTS}.saved:SavedJudge",
        "one judge by itself",
        "Name the folder of one, or load it as what it is.",
    ),
    "panel": Kind(
        f"{_ARTIFACTS}.saved_ensembles:SavedPanel",
        "a panel of judges",
        "Name the folder of one that it was put together from, or compile one without "
        "--calls-per-item.",
    ),
    "calibrated": Kind(
        f"{_ARTIFACTS}.saved_ensembles:SavedCalibrated",
        "a calibrated judge",
        "Name the folder of one compiled without --calibrate.",
    ),
}
"""Every kind of saved judge by what its ``kind`` says; where it says nothing, it is one judge."""


_LARGEST_FILE = 64 * 2**20  # bytes; a judge with a thousand golden items has a tenth of that


class SavedJudgeError(InputError):
    """A folder holds no judge that can be trusted; the message says what is wrong with it."""


def _bounded_text(path: Path) -> str:
    # Opened without waiting: a pipe would have the reader wait for a writer.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SavedJudgeError(
                "is a device or a pipe, not a file.",
                at=path,
                hint="name a folder that compile made.",
            )
        content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise SavedJudgeError(
            f"is larger than {_LARGEST_FILE // 2**20} MiB, which no judge is.",
            at=path,
            hint="name a folder that compile made.",
        )
    return content.decode()


def _as_its_kind_has_it(value: Any) -> Any:
    from judgesmith.programs.families.ensemble.members import (
        CalibratedJudgement,
        PanelJudgement,
        PanelVerdict,
    )

    if not isinstance(value, Mapping):
        return value
    for kind, mark in (
        (CalibratedJudgement, "uncalibrated"),
        (PanelVerdict, "merged_by"),
        (PanelJudgement, "members"),
    ):
        if mark in value:
            return kind.model_validate(value)
    return value


def _without_code(judgement: Judgement, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """Return a judgement as plain data without its code: judges' identities are older than it."""
    return {name: value for name, value in plain(judgement).items() if name != "reason"}


AnyJudgement = Annotated[
    SerializeAsAny[Judgement], BeforeValidator(_as_its_kind_has_it), WrapSerializer(_without_code)
]


class GoldenItem(FrozenModel):
    """A text with the judgement it had when the judge was made, to be judged again later."""

    source: str
    context: str | None = None
    response: str
    references: tuple[str, ...] = ()
    judgement: AnyJudgement
    human_label: str | None = None

    @property
    def item(self) -> RatedItem:
        return item_to_judge(self.source, self.response, self.context, self.references)

    @classmethod
    def of(cls, item: RatedItem, judgement: Judgement, label: str | None = None) -> Self:
        return cls(
            source=item.source,
            context=item.context,
            response=item.response,
            references=item.references,
            judgement=judgement,
            human_label=label,
        )

    @model_serializer(mode="wrap")
    def _without_what_it_lacks(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = plain(self)
        for name in ("references", "human_label"):
            if not found.get(name, True):
                del found[name]
        return found


class SavedRecord(AsMetric, FrozenModel):
    """What saved judges of every kind have; ``SavedRecord.load`` loads any of them."""

    target: str
    human_scale: Scale
    agreement: Annotated[SavedAgreement, BeforeValidator(as_loaded)] = Field(
        default_factory=SavedAgreement
    )
    rows: Mapping[str, int] = Field(default_factory=dict)
    seen: Annotated[Mapping[str, tuple[str, ...]], _ONE_LINE] = Field(default_factory=dict)
    golden: Annotated[tuple[GoldenItem, ...], _ONE_LINE] = ()
    history: Annotated[tuple[Plain, ...], _ONE_LINE] = ()
    settings: Plain = Field(default_factory=dict)
    reference: Annotated[Plain, _ONE_LINE] = Field(default_factory=dict)
    _loaded_from: Path | None = PrivateAttr(None)

    @model_serializer(mode="wrap")
    def _own_first(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write what is the kind's own first; leave out what only some have where it is not."""
        found: dict[str, Any] = plain(self)
        for name in ("front", "roles", "rules", "supervisor", "reference"):
            if not found.get(name, True):
                del found[name]
        own = [name for name in found if name not in SavedRecord.model_fields and name != "front"]
        return {name: found[name] for name in (*own, *(one for one in found if one not in own))}

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same plain data, whatever models they are bound to."""
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    @property
    @abstractmethod
    def models(self) -> tuple[str, ...]:
        """The models that it was made with, each once."""

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """What scores are measured in."""

    @abstractmethod
    def program(self) -> AnyJudge:
        """Return the judge as a DSPy module."""

    @abstractmethod
    def asked_questions(self) -> Iterator[tuple[str, Template]]:
        """Yield every question with the place of its file under ``prompts``, without an ending."""

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when anything in the judge does."""
        return content_hash(self.model_dump(mode="json"))[:12]

    @property
    def seen_keys(self) -> frozenset[str]:
        """Keys of all rows the judge was made from."""
        return frozenset(key for keys in self.seen.values() for key in keys)

    @file_faults()
    def save(
        self, folder: str | Path, *, overwrite: bool = False, rows: Sequence[JudgedRow] = ()
    ) -> Path:
        """Write the judge and its ``rows``, else those loaded with it: all of it, or nothing."""
        named, folder = (
            folder,
            Path(folder).resolve(),
        )  # through a link, to the folder that it names
        tidy(folder)
        rows = rows or self._rows_where_loaded()
        if folder.exists():
            _refuse_to_lose(folder, named, overwrite=overwrite)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with draft_beside(folder, folder=True) as draft:
            self._write(draft)
            if rows:
                write_synced(draft / ROWS_FILE, rows_text(rows))
            put(draft, folder)
        return folder

    def _rows_where_loaded(self) -> Sequence[JudgedRow]:
        """Return the rows of the folder it was loaded from, if the same judge is still there."""
        if self._loaded_from is None:
            return ()
        try:
            same = SavedRecord.load(self._loaded_from).fingerprint == self.fingerprint
            return read_rows(self._loaded_from) if same else ()
        except (ValueError, OSError):
            return ()

    @file_faults()
    def _write(self, folder: Path) -> None:
        content = self.model_dump(mode="json")
        document = {
            "schema": SCHEMA,
            "made_by": f"judgesmith {version('judgesmith')}",
            "content_hash": content_hash(content),
            **content,
        }
        text = json.dumps(document, ensure_ascii=True, indent=1, allow_nan=False)
        write_synced(folder / JUDGE_FILE, text + "\n")
        prompts = folder / "prompts"
        prompts.mkdir()
        for name, question in self.asked_questions():
            place = prompts / f"{name}.txt"
            place.parent.mkdir(parents=True, exist_ok=True)
            write_synced(place, question.as_text() + "\n")
        write_synced(folder / "README.md", at(f"{_ARTIFACTS}.card:judge_card")(self))

    @classmethod
    @file_faults()
    def load(cls, folder: str | Path) -> Self:
        """Return the judge in ``folder``, verified."""
        path = Path(folder)
        path = path if path.is_file() else path / JUDGE_FILE
        try:
            document = json.loads(_bounded_text(path))
        except (FileNotFoundError, NotADirectoryError):
            raise SavedJudgeError(
                f"no judge found; expected a {JUDGE_FILE}.",
                at=folder,
                hint="name a folder that compile made.",
            ) from None
        except SavedJudgeError:
            raise
        except (OSError, UnicodeDecodeError, ValueError, RecursionError) as fault:
            said = f"cannot be read as a judge: {_unreadable(fault)}"
            raise SavedJudgeError(
                f"{said}.", at=path, hint="name a folder that compile made."
            ) from None
        if not isinstance(document, dict) or "schema" not in document:
            is_program = isinstance(document, dict) and "metadata" in document
            raise SavedJudgeError(
                "holds no judge.",
                at=path,
                hint="read a DSPy program with judgesmith.programs.load_program."
                if is_program
                else "name a folder that compile made.",
            )
        if document["schema"] != SCHEMA:
            raise SavedJudgeError(
                f"expected schema {SCHEMA} of judgesmith {version('judgesmith')}; "
                f"got {document['schema']!r}.",
                at=path,
                hint="compile the judge again, or use the version that made it.",
            )
        content = {
            name: value
            for name, value in document.items()
            if name not in ("schema", "made_by", "content_hash")
        }
        try:
            found = content_hash(content)
        except RecursionError:
            raise SavedJudgeError(
                "cannot be read as a judge: nested too deeply.", at=path
            ) from None
        if found != document.get("content_hash"):
            raise SavedJudgeError(
                "changed since it was saved: its content does not match its hash.",
                at=path,
                hint="restore the file, or change the rubric or protocol and compile again.",
            )
        try:
            judge = cls._of(content)
            content_hash(judge.model_dump(mode="json"))  # whoever loads it may save it
        except SavedJudgeError as fault:
            raise SavedJudgeError(fault, at=path) from None
        except ValidationError as fault:
            causes = [one.get("ctx", {}).get("error") for one in fault.errors(include_url=False)]
            unknown = next((one for one in causes if isinstance(one, UnknownJudgeError)), None)
            said = plain_faults(fault)
            if unknown is not None:
                said = sentence_of(unknown)
            # Names in a tampered file may be as long as they like.
            said = said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}…"
            advice = (
                "install the package that brings this family, or call judge_family for it first."
            )
            raise SavedJudgeError(
                said, at=path, hint=advice if unknown else "compile the judge again."
            ) from None
        except (ValueError, RecursionError) as fault:
            raise SavedJudgeError(
                f"cannot be read as a judge: {sentence_of(fault)}", at=path, hint=hint_of(fault)
            ) from None
        judge._loaded_from = path.parent.resolve()
        return judge

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> Self:
        """Return the record of the kind that plain data is of."""
        kind = kind_of(content)
        if not issubclass(kind, cls):
            own = cls.model_fields.get("kind")
            wanted = _KINDS[own.default if own is not None else ""]
            found = _KINDS[content.get("kind", "")]
            raise SavedJudgeError(f"expected {wanted.title}; got {found.title}. {found.advice}")
        return kind.model_validate(content)


def _unreadable(fault: Exception) -> str:
    if isinstance(fault, OSError):
        return fault.strerror or "it cannot be opened"
    if isinstance(fault, json.JSONDecodeError):
        return f"no JSON from line {fault.lineno}, character {fault.colno} on"
    if isinstance(fault, UnicodeDecodeError):
        return "it is not in UTF-8"
    deep = isinstance(fault, RecursionError)
    return "it is nested too deeply" if deep else "it holds a number that is too long"


@file_faults()
def _refuse_to_lose(folder: Path, named: str | Path, *, overwrite: bool) -> None:
    """Refuse to replace anything but a judge, or a judge that may not be overwritten."""
    is_judge = folder.is_dir() and (folder / JUDGE_FILE).is_file()
    if not (overwrite and is_judge):
        way_out = ", or replace the judge in it with overwrite=True." if is_judge else "."
        raise ExistingFileError(f"{named} exists.", hint=f"name another folder{way_out}")
    others = sorted({path.name for path in folder.iterdir()} - _OWN_FILES)
    if others:
        raise ExistingFileError(
            f"{named} holds more than a judge, such as {others[0]}.",
            hint="move that, or name another folder.",
        )


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain data, whatever the order of its keys."""
    plain = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def kind_of(content: Mapping[str, Any]) -> type[SavedRecord]:
    """Return the class of the saved judge that plain data is of."""
    said = content.get("kind", "")
    if not isinstance(said, str) or said not in _KINDS or ("kind" in content and not said):
        known = " or ".join(name for name in _KINDS if name)
        raise InputError(f"kind: expected {known}, or none; got {str(said)[:80]!r}")
    found: type[SavedRecord] = at(_KINDS[said].place)
    return found
