"""What a folder of scores holds: which judge wrote which file from which input."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgesmith.data.samples import sample_path
from judgesmith.data.scores import RECORD
from judgesmith.drafts import draft_beside, put, tidy_within, write_synced
from judgesmith.errors import ExistingFileError, InputError, file_faults
from judgesmith.experiments.scoring.lines import Tally
from judgesmith.experiments.scoring.parts import clear_parts
from judgesmith.experiments.scoring.shards import OutputPlace, Shard
from judgesmith.signatures.judgement import Cause, Reason, by_sentence
from judgesmith.signatures.plain_data import fingerprint_of

_KIND = "judgesmith scores"
_SHARE = 20  # how many times the time that a renewal takes may pass until the next one
_WAY_OUT = "name another folder, or replace everything with --force."


@dataclass(frozen=True, kw_only=True)
class Finished:
    """One file of the folder, and the input that it was made of."""

    input: str
    output: str
    input_sha256: str
    output_sha256: str
    run: str | None  # what its rows say of the run; None where there are none
    tally: Tally

    def to_dict(self) -> dict[str, Any]:
        counts = {"rows": self.tally.n_rows, "unscored": self.tally.causes.total()}
        causes = self.tally.causes
        told: dict[str, Any] = {"reasons": by_sentence(causes), "stated": self.tally.stated}
        told |= {"codes": [[one.reason, one.text, n] for one, n in causes.most_common()]}
        told |= {"sampled": self.tally.sampled, "again": self.tally.n_again}
        told |= {"labels": self.tally.labels}
        names = ("input", "output", "run", "input_sha256", "output_sha256")
        plain = {name: getattr(self, name) for name in names}
        return plain | counts | {name: one for name, one in told.items() if one}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Finished:
        """Return what :meth:`to_dict` made plain data of."""
        tally = Tally(
            n_rows=row["rows"],
            n_again=row.get("again", 0),
            causes=Counter(
                {Cause(Reason.read(code), text): n for code, text, n in row.get("codes", [])}
                or {Cause(Reason.OTHER, text): n for text, n in row.get("reasons", {}).items()}
            ),
            stated=Counter(row.get("stated", {})),
            sampled=Counter(row.get("sampled", {})),
            labels=Counter(row.get("labels", {})),
        )
        names = ("input", "output", "run", "input_sha256", "output_sha256")
        return cls(**{name: row[name] for name in names}, tally=tally)


@dataclass(kw_only=True)
class Manifest:
    """The finished files of a folder, recorded next to them."""

    folder: Path
    judge: str
    target: str
    models: str
    reading: Mapping[str, Any]
    finished: dict[str, Finished] = field(default_factory=dict)
    _told: list[Callable[[], None]] = field(default_factory=list)
    _next: float = 0.0

    @classmethod
    @file_faults()
    def of(
        cls,
        folder: Path,
        asked: Sequence[str],
        *,
        judge: str,
        target: str,
        reading: Mapping[str, Any],
        overwrite: bool,
    ) -> Manifest:
        """Return the record of a folder, empty where it has none."""
        models = fingerprint_of(list(asked))
        tidy_within(folder)
        new = cls(folder=folder, judge=judge, target=target, models=models, reading=reading)
        place = folder / RECORD
        if overwrite or not place.exists():
            return new
        try:
            found = json.loads(place.read_text(encoding="utf-8"))
            if found["kind"] != _KIND:
                raise InputError(found["kind"])
            files = [Finished.from_dict(one) for one in found["files"]]
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            raise ExistingFileError(
                "expected the record of a folder of scores; got something else.",
                at=place,
                hint=_WAY_OUT,
            ) from fault
        whose = None
        if found.get("judge") != judge:
            whose = f"of the judge {found.get('judge')}, and this is {judge}"
        elif found.get("models") != models:
            whose = "by this judge asking another model"
        elif found.get("reading") != reading:
            whose = "that were read or written otherwise (--map, --unordered, --as)"
        if whose is not None:
            raise ExistingFileError(f"{folder} holds scores {whose}.", hint=_WAY_OUT)
        new.finished = {one.output: one for one in files}
        return new

    def done(self, target: OutputPlace) -> Tally | None:
        """Return what was counted of a file that is finished; None for one that is to be made."""
        name = target.place.name
        found = self.finished.get(name)
        (shard,) = target.shards
        if found is None or shard.once or not target.place.exists():
            return None
        if found.input_sha256 != shard_digest(shard):
            raise ExistingFileError(
                f"{shard.name} has changed since {target.place} was made of it.", hint=_WAY_OUT
            )
        if found.output_sha256 != _sha256(target.place):
            raise ExistingFileError(
                f"{target.place} has changed since it was written.", hint=f"put it back, {_WAY_OUT}"
            )
        if found.tally.n_again:
            return None
        clear_parts(target.place)
        return found.tally

    def add(
        self, target: OutputPlace, run: str | None, tally: Tally, told: Callable[[], None]
    ) -> None:
        """Record a finished file, and report it when the record is on disk."""
        (shard,) = target.shards
        one = Finished(
            input=shard.name,
            output=target.place.name,
            input_sha256="" if shard.once else shard_digest(shard),
            output_sha256=_sha256(target.place),
            run=run,
            tally=tally,
        )
        self.finished[one.output] = one
        self._told.append(told)
        if time.monotonic() >= self._next:
            self.write()

    def write(self) -> None:
        begun = time.monotonic()
        total = Tally()
        for one in self.finished.values():
            total.add(one.tally)
        plain = {
            "kind": _KIND,
            "judge": self.judge,
            "target": self.target,
            "models": self.models,
            "reading": self.reading,
            "rows": total.n_rows,
            "unscored": total.causes.total(),
            "reasons": by_sentence(total.causes),
            "files": [self.finished[name].to_dict() for name in sorted(self.finished)],
        }
        place = self.folder / RECORD
        with draft_beside(place) as draft:
            write_synced(draft, json.dumps(plain, indent=1) + "\n")
            put(draft, place)
        while self._told:
            self._told.pop()()
        self._next = time.monotonic() + _SHARE * (time.monotonic() - begun)

    def close(self) -> None:
        """Renew the record if something is not in it yet."""
        if self._told:
            self.write()


def shard_digest(shard: Shard) -> str:
    """Return the SHA-256 of an input's bytes, in hex."""
    return _sha256(shard.path or sample_path(shard.name))


@file_faults()
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
