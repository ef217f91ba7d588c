"""Hold what commands and calls come to against values on file, to about 1e-9.

``JUDGESMITH_RECORD=1 python -m pytest tests/system tests/api`` writes all of the values anew; the
diff then shows what has changed. Texts that are long stand on file as digests, numbers in clear.
"""

import csv
import dataclasses
import gzip
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

RECORD = os.environ.get("JUDGESMITH_RECORD") == "1"

LONG = 60
"""Longer texts are told by their digest."""
MANY = 24
"""More numbers in a row are told by their sums, more keys by their digest."""
PASSING = {"time", "seconds", "created", "started", "finished", "ended", "elapsed", "at", "bytes"}
PASSING |= {"size_bytes", "rows_per_second", "worker", "pid", "host"}
"""Fields that say when something was, or how large a file with such fields is."""
TABLES = (".csv", ".tsv")
PROSE = (".md", ".txt", ".html", ".tex", ".yaml", ".svg")

_VERSION = re.compile(r"(judgesmith(?:\[\w+\])?[ =]+)\d+\.\d+\.\d+\S*")
_SERVER = re.compile(r"http://(?:127\.0\.0\.1|localhost):\d+")
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+\d\d:\d\d)?")
# What a database takes on disk depends on how much of its log was written back.
_MEGABYTES = re.compile(r"\b\d+\.\d MB")
_RUN = re.compile(r'"run": ?"([0-9a-f]{12,})"')


def digest(text: str) -> str:
    """Return a few characters that tell one text from another."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


class Plain:
    """Leaves out of texts what differs from run to run: places, ports, clocks, versions."""

    def __init__(self, *folders: Path) -> None:
        """Know the places that texts may name, and the fields that say nothing lasting."""
        self.folders = [str(one) for one in folders]
        self.passing = set(PASSING)
        self.keys: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.hashes: set[str] = set()
        self.hashes_vary = True

    def learn_hashes(self, written: Iterable[Path]) -> None:
        """Know the hashes of learned numbers, whose last digits depend on the processor."""
        for path in written if self.hashes_vary else ():
            if path.name == "judge.json":
                judge = json.loads(path.read_text(encoding="utf-8"))
                run = judge.get("settings", {}).get("run")
                self.hashes |= {one for one in (judge.get("content_hash"), run) if one}
            elif path.suffix == ".jsonl":
                with path.open(encoding="utf-8", errors="replace") as lines:
                    self.hashes |= set(_RUN.findall(lines.readline()))

    def text(self, text: str) -> str:
        for folder in self.folders:
            text = text.replace(folder, "FOLDER")
        for one in self.hashes:
            text = text.replace(one, "HASH").replace(one[:12], "HASH")
        text = _CLOCK.sub("CLOCK", _SERVER.sub("SERVER", text))
        return _MEGABYTES.sub("N MB", _VERSION.sub(r"\1VERSION", text))

    def short(self, text: str) -> str:
        text = self.text(text)
        return text if len(text) <= LONG else f"{digest(text)} ({len(text)} characters)"

    def table(self, value: object) -> dict[str, Any]:
        """Return the leaves of nested values by their path, elements of a list under one."""
        found: dict[str, list[Any]] = {}
        single: set[str] = set()
        for path, leaf, alone in _leaves(value, self.passing, alone=True):
            found.setdefault(path, []).append(leaf)
            if alone:
                single.add(path)
        return {
            path or "all": self._one(leaves[0]) if path in single else self._several(leaves)
            for path, leaves in found.items()
        }

    def _one(self, leaf: Any) -> Any:
        if isinstance(leaf, dict):
            told = map(self._one, leaf.values())
            shape = self.keys.setdefault(" ".join(leaf), f"#{len(self.keys) + 1}")
            return [shape, *(self._named(one) if isinstance(one, str) else one for one in told)]
        return self.short(leaf) if isinstance(leaf, str) else _rounded(leaf)

    def _named(self, text: str) -> str:
        """Return a short name for a text in a record, which stands on file once."""
        if len(text) <= 20:
            return text
        return self.texts.setdefault(text, f"'{len(self.texts) + 1}")

    def _several(self, leaves: list[Any]) -> Any:
        if any(isinstance(one, str) for one in leaves):
            texts = [self.text(one) if isinstance(one, str) else json.dumps(one) for one in leaves]
            if sum(map(len, texts)) <= 2 * LONG:
                return texts
            if not any(isinstance(one, float) and one % 1 for one in leaves):
                return f"{digest(chr(0).join(texts))} ({len(texts)} texts)"
            # The last digits of numbers depend on the processor, and a digest on every digit.
            texts = [self.text(one) for one in leaves if isinstance(one, str)]
            numbers = [one for one in leaves if not isinstance(one, str)]
            return [f"{digest(chr(0).join(texts))} ({len(texts)} texts)", *sums(numbers)[1:]]
        if len(leaves) <= MANY:
            return [_rounded(one) for one in leaves]
        return sums(leaves)

    def _cell(self, text: Any) -> Any:
        """Return the number that a cell holds; a hash may look like one."""
        hashed = text in self.hashes or text in {one[:12] for one in self.hashes}
        return text if hashed else _number(text)

    def lines(self, text: str) -> list[str]:
        return [line.rstrip() for line in self.text(text).splitlines()]

    def whole_or_parts(self, value: Any, *, whole: bool) -> Any:
        """Return the leaves of a value, of a large one part by part."""
        if whole or not isinstance(value, dict) or len(json.dumps(value)) < 1200:
            return self.table(value)
        return {key: self.part(one) for key, one in value.items()}

    def part(self, value: object) -> Any:
        """Return what tells one part of a large file from another: keys, texts, and numbers."""
        leaves = list(_leaves(value, self.passing, alone=False))
        if len(leaves) < 4 or len(json.dumps(value)) < 500:
            return self.table(value) if isinstance(value, dict | list) else self._one(value)
        keys = digest("\n".join(dict.fromkeys(path for path, _, _ in leaves)))
        texts = digest(chr(0).join(self.text(one) for _, one, _ in leaves if isinstance(one, str)))
        told = sums([one for _, one, _ in leaves if not isinstance(one, str)])
        return [keys, texts, *told[1:]]

    def file(self, path: Path, *, whole: bool = False) -> Any:
        """Return what is in a file, as its name says that it is to be read.

        Large JSON is told part by part if it is not to be told as a whole.
        """
        packed = path.suffix == ".gz"
        kind = Path(path.stem).suffix if packed else path.suffix
        if kind == ".parquet":
            import pandas as pd

            return self.table(json.loads(pd.read_parquet(path).to_json(orient="records")))
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if packed else raw).decode("utf-8-sig")
        if path.name == "log.jsonl":
            return sorted({key for line in text.splitlines() for key in json.loads(line)})
        if kind == ".jsonl":
            return self.table([json.loads(line) for line in text.splitlines()])
        if kind == ".json":
            return self.whole_or_parts(json.loads(text), whole=whole)
        if kind in TABLES:
            rows = csv.DictReader(io.StringIO(text), delimiter="\t" if kind == ".tsv" else ",")
            return self.table([{k: self._cell(v) for k, v in row.items()} for row in rows])
        if kind in PROSE:
            return self.short(text + " " * LONG)
        return "there"


def sums(numbers: list[Any]) -> list[Any]:
    """Return what tells one long row of numbers from another, in clear.

    That is how many there are and how many of these are null, their sum, their sum by place, the
    least and the most.
    """
    known = [(place, float(one)) for place, one in enumerate(numbers, 1) if one is not None]
    finite = [(place, one) for place, one in known if math.isfinite(one)]
    return [
        *("sums", len(numbers), len(numbers) - len(known)),
        _rounded(math.fsum(one for _, one in finite)),
        _rounded(math.fsum(one * place for place, one in finite)),
        _rounded(min((one for _, one in finite), default=None)),
        _rounded(max((one for _, one in finite), default=None)),
    ]


def _rounded(value: Any) -> Any:
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    return float(f"{value:.12g}")


def _number(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _leaves(
    value: Any, passing: Set[str], path: str = "", *, alone: bool
) -> Iterator[tuple[str, Any, bool]]:
    if isinstance(value, dict):
        flat = not any(isinstance(one, dict | list) for one in value.values())
        if alone and len(value) > 2 and flat:
            told = {key: "PASSING" if key in passing else one for key, one in value.items()}
            yield path, told, alone
            return
        if len(value) > MANY:
            yield f"{path}{{}}", "\n".join(sorted(value)), alone
            for one in value.values():
                yield from _leaves(one, passing, f"{path}*", alone=False)
            return
        for key, one in value.items():
            if key in passing and not isinstance(one, dict | list):
                one = "PASSING"
            yield from _leaves(one, passing, f"{path}.{key}" if path else str(key), alone=alone)
        if not value:
            yield path, "{}", alone
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one, passing, f"{path}[]", alone=False)
        if not value:
            yield f"{path}[]", 0, alone
    else:
        yield path, value, alone


def differences(found: Any, wanted: Any, place: str = "") -> list[str]:
    """Return where what came differs from what is on file, numbers by more than 1e-9."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        said = []
        for key in dict.fromkeys([*wanted, *found]):
            at = f"{place} / {key}" if place else str(key)
            if key not in found:
                said.append(f"{at}: gone; it was {wanted[key]!r}")
            elif key not in wanted:
                said.append(f"{at}: new; it is {found[key]!r}")
            else:
                said += differences(found[key], wanted[key], at)
        return said
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return [
            one
            for n, pair in enumerate(zip(found, wanted, strict=True))
            for one in differences(*pair, f"{place}[{n}]")
        ]
    numbers = (int, float)
    if isinstance(found, str) and isinstance(wanted, str) and found != wanted:
        found, wanted = _number(found), _number(wanted)
    if type(found) in numbers and type(wanted) in numbers:
        same = math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9) or (
            math.isnan(found) and math.isnan(wanted)
        )
        return [] if same else [f"{place}: {found!r}, and it was {wanted!r}"]
    return [] if found == wanted else [f"{place}: {found!r}, and it was {wanted!r}"]


def dumped(value: Any, depth: int = 0) -> str:
    """Return JSON with a line for each field, and lists on one."""
    if not isinstance(value, dict) or not value:
        longer = isinstance(value, list) and len(json.dumps(value)) > 200
        if longer and all(isinstance(one, str) for one in value):
            return json.dumps(value, indent=1, ensure_ascii=False)
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = (
        f"{json.dumps(key, ensure_ascii=False)}: {dumped(one, depth + 1)}"
        for key, one in value.items()
    )
    return "{\n" + ",\n".join(" " * (depth + 1) + line for line in lines) + "}"


def file_of(request: Any, folder: Path) -> Path:
    """Return the file with the values of one test."""
    name = re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")
    return folder / request.path.stem.removeprefix("test_") / f"{name}.json"


def hold(found: object, path: Path) -> None:
    """Compare with the values in a file, or write them there."""
    text = dumped(found)
    if RECORD:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
        return
    assert path.is_file(), f"nothing is on file at {path.name}; record it: {__doc__}"
    wanted = json.loads(path.read_text(encoding="utf-8"))
    said = differences(json.loads(text), wanted)
    assert not said, f"{path.name}, {len(said)} differences:\n" + "\n".join(said[:40])


class Told:
    """How a command ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        """The one object on standard output."""
        return json.loads(self.out)


class Story:
    """What somebody does one command after another in one folder, and what comes of each.

    Parameters
    ----------
    folder : Path
        Where the commands run.
    command : callable
        Runs one, and returns its status and what it wrote to both streams.
    """

    def __init__(self, folder: Path, command: Any, *places: Path) -> None:
        self.folder = folder
        self.plain = Plain(folder, *places)
        self.steps: dict[str, Any] = {}
        self._before: dict[str, str] = {}
        self._command = command
        self._seen = self._marks()

    def run(
        self,
        *words: object,
        text: bool = True,
        whole: bool = False,
        only: str = "*",
        out: bool = True,
    ) -> Told:
        """Run a command, keep what came of it, and return that as it was.

        With ``--json`` among the words what is printed is read. ``text`` false keeps no more than
        the digest of what is printed for people; ``whole`` tells all that is in large JSON;
        ``only`` is a pattern for the files to look at; ``out`` false leaves out what is printed.
        """
        said = [str(one) for one in words]
        done = self._command(*said)
        status, printed, err = done
        changed = self._changed()
        self.plain.learn_hashes(changed)
        step: dict[str, Any] = {"status": status}
        if "--json" in said and printed.strip() and out:
            step["out"] = self.plain.whole_or_parts(json.loads(printed), whole=whole)
        elif printed and out:
            lines = self.plain.lines(printed)
            step["out"] = lines if text else digest("\n".join(lines))
        if err:
            lines = err.splitlines()
            if status and "--json" in said and lines[-1].startswith("{"):
                step["fault"] = {
                    key: None if one is None else self.plain.text(one)
                    for key, one in json.loads(lines.pop()).items()
                }
            if lines:
                step["err"] = self.plain.lines("\n".join(lines))
        made = [one for one in changed if one.match(only)]
        if made:
            step["files"] = {
                str(one.relative_to(self.folder)): self.plain.file(one, whole=whole) for one in made
            }
        self.keep(" ".join(self.plain.text(one) for one in said), self._once(step, ""))
        return Told(status, printed, err)

    def _once(self, found: Any, place: str) -> Any:
        """Return what was found, long parts that stand further up by where they do."""
        if isinstance(found, list | dict) and len(text := json.dumps(found)) > 400 and place:
            at = f"{len(self.steps) + 1:02}{place}"
            before = self._before.setdefault(text, at)
            if before != at:
                return f"as {before}"
        if isinstance(found, dict):
            return {key: self._once(one, f"{place} / {key}") for key, one in found.items()}
        return found

    @property
    def told(self) -> dict[str, Any]:
        """All that came of the steps, and what the short names in it stand for."""
        names = {name: said for said, name in [*self.plain.keys.items(), *self.plain.texts.items()]}
        return {**self.steps, "names": names}

    def keep(self, name: str, found: object) -> None:
        """Keep something else that came of the steps so far."""
        self.steps[f"{len(self.steps) + 1:02} {name}"] = found

    def write(self, name: str, text: str) -> Path:
        """Write a file of the user's own, which is no result."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self._seen = self._marks()
        return path

    def rows(self, name: str, rows: list[dict[str, Any]]) -> Path:
        """Write rows of the user's own."""
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def _marks(self) -> dict[Path, str]:
        return {
            path: hashlib.blake2b(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
            and ".sqlite" not in path.name
            and path.suffix != ".db"
            and not any(part.startswith(".") for part in path.relative_to(self.folder).parts)
        }

    def _changed(self) -> list[Path]:
        before, self._seen = self._seen, self._marks()
        return [path for path, mark in self._seen.items() if before.get(path) != mark]


def values(found: Any) -> Any:
    """Return the plain values of a record, an array or a collection, by the names of its fields."""
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        # Labels that an estimate prints are in no file.
        names = (
            field.name for field in dataclasses.fields(found) if "repr_only" not in field.metadata
        )
        return {name: values(getattr(found, name)) for name in names if not name.startswith("_")}
    if hasattr(found, "model_dump"):
        return values(found.model_dump(mode="json"))
    if hasattr(found, "toDict"):
        return values(found.toDict())
    if hasattr(found, "tolist"):
        return values(found.tolist())
    if isinstance(found, Mapping):
        return {str(key): values(one) for key, one in found.items()}
    if isinstance(found, list | tuple | set | frozenset):
        return [values(one) for one in found]
    if isinstance(found, float) and not math.isfinite(found):
        return str(found)
    if found is None or isinstance(found, bool | int | float | str):
        return found
    return type(found).__name__
