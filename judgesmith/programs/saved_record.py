"""What every saved judge is: one folder of plain data that can be read, compared, moved and loaded.

Nothing in it is code, nothing is unpickled, and it names no key and no endpoint.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from judgesmith.drafts import draft_beside, put, tidy, write_synced
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.programs.plain_data import Plain
from judgesmith.programs.templates import Template
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_faults import plain_faults
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.programs.holding import AnyJudge

SCHEMA = 1
"""Version of the layout of ``judge.json``; a reader refuses what it does not know."""

JUDGE_FILE = "judge.json"
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_MOST_SAID = 1000  # characters of what is wrong with a file
_OWN_FILES = {JUDGE_FILE, "README.md", "prompts"}


_KINDS = {
    "": ("one judge by itself", "Name the folder of one, or load it as what it is."),
    "panel": ("a panel of judges", "Name the folder of one that it was put together from."),
    "calibrated": ("a calibrated judge", "Name the folder of one compiled without --calibrate."),
}
"""What a saved judge is, and what to do where another kind is expected, by kind."""


_LARGEST_FILE = 64 * 2**20  # bytes; a judge with a thousand golden items has a tenth of that


class SavedJudgeError(InputError):
    """A folder holds no judge that can be trusted; the message says what is wrong with it."""


def _bounded_text(path: Path) -> str:
    """Return the text of a regular file of bounded size."""
    # Opened without waiting: a pipe would have the reader wait for a writer.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SavedJudgeError(
                f"{path}: is a device or a pipe, not a file; name a folder that compile made."
            )
        content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise SavedJudgeError(
            f"{path}: is larger than {_LARGEST_FILE // 2**20} MiB, which no judge is; name a "
            "folder that compile made."
        )
    return content.decode()


def _as_its_kind_has_it(value: Any) -> Any:
    """Return plain data of a judgement as the kind of judgement that has such fields."""
    from judgesmith.programs.calibrated_judgement import CalibratedJudgement
    from judgesmith.programs.panel_judgement import PanelJudgement
    from judgesmith.programs.panel_verdict import PanelVerdict

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


AnyJudgement = Annotated[SerializeAsAny[Judgement], BeforeValidator(_as_its_kind_has_it)]


class GoldenItem(BaseModel):
    """A text with the judgement it had when the judge was made, to be judged again later."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    context: str | None = None
    response: str
    references: tuple[str, ...] = ()
    judgement: AnyJudgement

    @property
    def item(self) -> RatedItem:
        """The text by itself, as judges take it."""
        return RatedItem(
            source=self.source,
            context=self.context,
            response=self.response,
            references=self.references,
        )

    @classmethod
    def of(cls, item: RatedItem, judgement: Judgement) -> Self:
        """Return an item with its judgement."""
        return cls(
            source=item.source,
            context=item.context,
            response=item.response,
            references=item.references,
            judgement=judgement,
        )

    @model_serializer(mode="wrap")
    def _without_what_it_lacks(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out references where there are none, as judges of before had none."""
        found: dict[str, Any] = plain(self)
        if not found.get("references", True):
            del found["references"]
        return found


class SavedRecord(BaseModel):
    """What saved judges of every kind have; ``SavedRecord.load`` loads any of them.

    Parameters
    ----------
    target : str
        What people rated: a criterion, ``overall`` or ``mean``.
    human_scale : Scale
        What people rated it on.
    agreement : dict
        Agreement with people, by ``uncompiled``, ``selection``, ``heldout``, ``gain`` and
        ``optimism``; estimates with their intervals.
    rows : dict of str to int
        How many rows were used for what, and how many stayed unscored.
    seen : dict of str to tuple of str
        ``RatedItem.key`` of every row the judge was made from, by its use.
    golden : tuple of GoldenItem
        A few judged texts; may be empty.
    history : tuple of dict
        What the search tried, oldest first.
    settings : dict
        The run's own settings, so that it can be repeated.
    reference : dict
        What its scores, and the texts that it was made with, are like, in plain numbers; empty
        where that is not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    human_scale: Scale
    agreement: Plain = Field(default_factory=dict)
    rows: Mapping[str, int] = Field(default_factory=dict)
    seen: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    golden: tuple[GoldenItem, ...] = ()
    history: tuple[Plain, ...] = ()
    settings: Plain = Field(default_factory=dict)
    reference: Plain = Field(default_factory=dict)

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
    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the judge to ``folder``: all of it, or nothing.

        Raises
        ------
        FileExistsError
            If the folder exists, and is not an earlier judge, and nothing else, that may be
            overwritten.
        """
        named, folder = (
            folder,
            Path(folder).resolve(),
        )  # through a link, to the folder that it names
        tidy(folder)
        if folder.exists():
            _refuse_to_lose(folder, named, overwrite=overwrite)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with draft_beside(folder, folder=True) as draft:
            self._write(draft)
            put(draft, folder)
        return folder

    @file_faults()
    def _write(self, folder: Path) -> None:
        from judgesmith.programs.card import judge_card

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
        write_synced(folder / "README.md", judge_card(self))

    @classmethod
    @file_faults()
    def load(cls, folder: str | Path) -> Self:
        """Return the judge in ``folder``, verified.

        Raises
        ------
        SavedJudgeError
            If there is no judge, its layout is of another version, or it was changed; or it is of
            another kind than this class, which ``SavedRecord.load`` does not mind.
        """
        path = Path(folder)
        path = path if path.is_file() else path / JUDGE_FILE
        try:
            document = json.loads(_bounded_text(path))
        except (FileNotFoundError, NotADirectoryError):
            raise SavedJudgeError(f"{folder}: no judge there; expected a {JUDGE_FILE}.") from None
        except SavedJudgeError:
            raise
        except (OSError, UnicodeDecodeError, ValueError, RecursionError) as fault:
            said = f"cannot be read as a judge: {_unreadable(fault)}"
            raise SavedJudgeError(f"{path}: {said}; name a folder that compile made.") from None
        if not isinstance(document, dict) or "schema" not in document:
            raise SavedJudgeError(f"{path}: holds no judge; name a folder that compile made.")
        if document["schema"] != SCHEMA:
            raise SavedJudgeError(
                f"{path}: expected schema {SCHEMA} of judgesmith {version('judgesmith')}; "
                f"got {document['schema']!r}. Compile the judge again, or use the version that "
                "made it."
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
                f"{path}: cannot be read as a judge: nested too deeply."
            ) from None
        if found != document.get("content_hash"):
            raise SavedJudgeError(
                f"{path}: changed since it was saved: its content does not match its hash. "
                "Restore the file, or change the rubric or protocol and compile again."
            )
        try:
            judge = cls._of(content)
            content_hash(judge.model_dump(mode="json"))  # whoever loads it may save it
        except SavedJudgeError as fault:
            raise SavedJudgeError(f"{path}: {fault}") from None
        except ValidationError as fault:
            said = plain_faults(fault).rstrip(".")
            # Names in a tampered file may be as long as they like.
            said = said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}…"
            advice = "Compile the judge again."
            if "no judge is called" in said:
                said = said.partition("; did you mean")[0]
                advice = "Install the package that brings this family of judges."
            raise SavedJudgeError(f"{path}: {said}. {advice}") from None
        except (ValueError, RecursionError) as fault:
            raise SavedJudgeError(f"{path}: cannot be read as a judge: {fault}") from None
        return judge

    @classmethod
    def _of(cls, content: Mapping[str, Any]) -> Self:
        """Return the record of the kind that plain data is of."""
        from judgesmith.programs.saved_kinds import kind_of

        kind = kind_of(content)
        if not issubclass(kind, cls):
            own = cls.model_fields.get("kind")
            wanted, _ = _KINDS[own.default if own is not None else ""]
            found, advice = _KINDS[content.get("kind", "")]
            raise SavedJudgeError(f"expected {wanted}; got {found}. {advice}")
        return kind.model_validate(content)


def _unreadable(fault: Exception) -> str:
    """Return why a file is no JSON document."""
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
        raise ExistingFileError(f"{named} exists; name another folder{way_out}")
    others = sorted({path.name for path in folder.iterdir()} - _OWN_FILES)
    if others:
        raise ExistingFileError(
            f"{named} holds more than a judge, such as {others[0]}; move that, or name another "
            "folder."
        )


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain data, whatever the order of its keys."""
    plain = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()
