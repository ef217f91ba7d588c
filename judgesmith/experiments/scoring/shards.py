"""What is scored, file by file, and which rows go into which file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from judgesmith.data.formats.opening import STANDARD_INPUT, endings, is_read, open_rows
from judgesmith.data.problems import DataError
from judgesmith.data.reading import ColumnsGiven, ItemStream, stream_items
from judgesmith.data.samples import SAMPLES
from judgesmith.errors import InputError, MissingFileError, file_faults
from judgesmith.experiments.scoring.formats import SCORE_ENDINGS, check_ending, output_ending

Inputs = str | Path | Sequence[str | Path]
"""One place that rows are read from, or several."""

_NAMED = 5  # things in a folder that cannot be read, by name


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of rows, as named or found.

    Parameters
    ----------
    name : str
        Its path, ``-`` for standard input, or ``sample``.
    folder : str
        The folder that was named and in which it was found; empty for other files.
    encoding, sheet : str or None
        As for ``stream_items``.

    Examples
    --------
    >>> Shard("rows/part-7.jsonl.gz").stem, Shard("rows/v1.2.csv").stem, Shard("-").stem
    ('part-7', 'v1.2', 'standard-input')
    """

    name: str
    folder: str = ""
    encoding: str | None = field(default=None, repr=False)
    sheet: str | None = field(default=None, repr=False)

    @property
    def path(self) -> Path | None:
        """The file; None for standard input and the sample."""
        return None if self.name in (STANDARD_INPUT, *SAMPLES) else Path(self.name)

    @property
    def once(self) -> bool:
        """Whether it can be read but once."""
        return self.name == STANDARD_INPUT

    @property
    def stem(self) -> str:
        """Its name without folder and ending."""
        if self.path is None:
            return "standard-input" if self.once else self.name
        bare = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
        return bare.stem if bare.suffix.lower() in endings() else bare.name

    def items(self, columns: ColumnsGiven = None) -> ItemStream:
        """Return its rows one at a time, from the first on."""
        named = None if self.path is None else self.name  # others may have the same last part
        return stream_items(
            self.name, columns=columns, name=named, encoding=self.encoding, sheet=self.sheet
        )


def shards_of(
    inputs: Inputs, *, encoding: str | None = None, sheet: str | None = None
) -> tuple[Shard, ...]:
    """Return the files that some inputs stand for, in the order of the inputs.

    Parameters
    ----------
    inputs : str, Path or sequence of them
        Each a file that ``stream_items`` reads, a folder of nothing but such files, a pattern
        such as ``rows/part-*.jsonl``, ``-`` for JSON Lines on standard input, or ``sample``. Of
        a folder or a pattern files come sorted by name; hidden files, and those whose name
        begins with ``_``, are left out.
    encoding, sheet : str or None
        As for ``stream_items``.

    Raises
    ------
    DataError
        If a file is of a kind that is not read here, or occurs twice; if a folder holds nothing
        to read, or something that cannot be read.
    FileNotFoundError
        If there is no such file, or a pattern finds none.

    Examples
    --------
    >>> shards_of("sample")
    (Shard(name='sample', folder=''),)
    """
    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    if not given:
        raise InputError("need at least one file to score; got none.")
    found = [one for each in given for one in _found(str(each))]
    _refuse_twice([one.name for one in found])
    return tuple(replace(one, encoding=encoding, sheet=sheet) for one in found)


def _found(name: str) -> list[Shard]:
    """Return the files that one input stands for."""
    if not name:  # as of a variable that is not set: not the working folder
        raise _problem(repr(name), "a file, a folder or a pattern", "an empty name")
    path = Path(name)
    if name not in (STANDARD_INPUT, *SAMPLES) and path.is_dir():
        return [Shard(one, folder=name) for one in _in_folder(path)]
    if glob.has_magic(name) and not path.exists():
        return [Shard(one) for one in _matching(name)]
    open_rows(name)  # which reads nothing yet
    return [Shard(name)]


@file_faults()
def _in_folder(folder: Path) -> list[str]:
    inside = sorted(one for one in folder.iterdir() if one.name[0] not in "._")
    if not inside:
        raise _problem(folder, "files of rows to score", "none")
    if other := [one.name for one in inside if not (one.is_file() and is_read(one))]:
        more = f", and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
        like = folder / f"*{next((one.suffix for one in inside if is_read(one)), '.jsonl')}"
        raise _problem(
            folder,
            f"nothing but files in {', '.join(endings())} (name those to score, as in '{like}')",
            f"{', '.join(other[:_NAMED])}{more}",
        )
    return [str(one) for one in inside]


@file_faults()
def _matching(pattern: str) -> list[str]:
    found = [Path(one) for one in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207
    files = [str(one) for one in found if one.is_file() and one.name[0] not in "._"]
    if not files:
        raise MissingFileError(f"no file matches {pattern}.", hint="check the pattern.")
    for one in files:
        open_rows(one)
    return files


def _refuse_twice(names: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        place = name if name in (STANDARD_INPUT, *SAMPLES) else str(Path(name).resolve())
        if place in seen:
            other = "" if seen[place] == name else f", also as {seen[place]}"
            raise _problem(name, "each file once", f"it twice{other}")
        seen[place] = name


def _problem(where: str | Path, expected: str, came: str) -> DataError:
    return DataError.of(where=str(where), field="input", expected=expected, came=came)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPlace:
    """One file of scores, and the inputs whose rows it is to hold."""

    place: Path
    ending: str
    shards: tuple[Shard, ...]


def is_folder(output: str | Path) -> bool:
    """Say whether an output is a folder: one that is there, or a name with a slash at its end."""
    return str(output).endswith(("/", os.sep)) or Path(output).is_dir()


def output_places(
    output: str | Path, shards: Sequence[Shard], *, ending: str | None = None
) -> tuple[OutputPlace, ...]:
    """Return the files to write: the one that is named, or in a folder one for each input."""
    if is_folder(output):
        return _into_folder(Path(output), shards, ending or SCORE_ENDINGS[0])
    if ending is not None:
        raise InputError(
            f"{ending} is for the files of a folder, and {output} is a file.",
            hint=f"name a folder, as in {Path(output).stem}/, or let the name end in {ending}.",
        )
    return (_one_file(Path(output), shards),)


def _one_file(place: Path, shards: Sequence[Shard]) -> OutputPlace:
    ending = output_ending(place.name)
    if ending is None:
        raise InputError(
            "rows are written as JSON Lines or as a table.",
            hint=f"name a file in {', '.join(SCORE_ENDINGS)}, "
            f"or a folder with / at its end, not {place}.",
        )
    check_ending(ending)
    if place.exists() and any(one.path and _same(place, one.path) for one in shards):
        raise InputError(f"{place} is read by this command.", hint="name another file.")
    _refuse_within(place, shards, "a file")
    return OutputPlace(place=place, ending=ending, shards=tuple(shards))


def _into_folder(folder: Path, shards: Sequence[Shard], ending: str) -> tuple[OutputPlace, ...]:
    if ending not in SCORE_ENDINGS:
        raise InputError(f"rows are written as {', '.join(SCORE_ENDINGS)}; got {ending!r}.")
    check_ending(ending)
    inside = [one for one in shards if one.path and _same(folder, one.path.parent)]
    if inside:
        raise InputError(
            f"{folder} holds {inside[0].name}, which is read.", hint="name another folder."
        )
    _refuse_within(folder, shards, "one")
    taken: dict[str, Shard] = {}
    for shard in shards:
        name = f"{shard.stem}{ending}"
        if name in taken:
            raise InputError(
                f"{taken[name].name} and {shard.name} would both be {folder / name}.",
                hint="give one of them another name, or write all rows into one file.",
            )
        taken[name] = shard
    return tuple(
        OutputPlace(place=folder / name, ending=ending, shards=(shard,))
        for name, shard in taken.items()
    )


def _refuse_within(place: Path, shards: Sequence[Shard], what: str) -> None:
    """Refuse to write in a folder that is read: the same command again would read it, too."""
    inside = [one for one in shards if one.folder and _same(place.parent, Path(one.folder))]
    if inside:
        raise InputError(
            f"{place} would lie in {inside[0].folder}, all of which is read.",
            hint=f"name {what} in another folder.",
        )


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
