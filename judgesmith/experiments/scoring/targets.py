"""Which rows go into which file: all into one, or those of each input into one of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgesmith.errors import InputError
from judgesmith.experiments.scoring.formats import ENDINGS, check_ending, ending_of
from judgesmith.experiments.scoring.shards import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One file of scores, and the inputs whose rows it is to hold.

    Attributes
    ----------
    place : Path
        The file.
    ending : str
        Its format, one of ``ENDINGS``.
    shards : tuple of Shard
        In order.
    """

    place: Path
    ending: str
    shards: tuple[Shard, ...]


def is_folder(output: str | Path) -> bool:
    """Say whether an output is a folder: one that is there, or a name with a slash at its end."""
    return str(output).endswith(("/", os.sep)) or Path(output).is_dir()


def targets_of(
    output: str | Path, shards: Sequence[Shard], *, ending: str | None = None
) -> tuple[Target, ...]:
    """Return the files to write.

    Parameters
    ----------
    output : str or Path
        A file that ends in one of ``ENDINGS``, for all rows; or a folder, by a slash at its end
        or because it is there, for one file of the same stem for each input.
    shards : sequence of Shard
        The inputs.
    ending : str or None
        The format of the files in a folder; None is ``.jsonl``.

    Raises
    ------
    ValueError
        If the output is named as something else, is an input or holds one, or two inputs would
        be written to one place.
    ImportError
        If it is Parquet and pyarrow is not installed.

    Examples
    --------
    >>> [one.place.name for one in targets_of("scores/", [Shard("a.csv"), Shard("b.jsonl.gz")])]
    ['a.jsonl', 'b.jsonl']
    """
    if is_folder(output):
        return _in_folder(Path(output), shards, ending or ENDINGS[0])
    if ending is not None:
        raise InputError(
            f"{ending} is for the files of a folder, and {output} is a file.",
            hint=f"name a folder, as in {Path(output).stem}/, or let the name end in {ending}.",
        )
    return (_one_file(Path(output), shards),)


def _one_file(place: Path, shards: Sequence[Shard]) -> Target:
    ending = ending_of(place.name)
    if ending is None:
        raise InputError(
            "rows are written as JSON Lines or as a table.",
            hint=f"name a file in {', '.join(ENDINGS)}, "
            f"or a folder with / at its end, not {place}.",
        )
    check_ending(ending)
    _refuse_inputs(place, shards)
    _refuse_within(place, shards, "a file")
    return Target(place=place, ending=ending, shards=tuple(shards))


def _in_folder(folder: Path, shards: Sequence[Shard], ending: str) -> tuple[Target, ...]:
    if ending not in ENDINGS:
        raise InputError(f"rows are written as {', '.join(ENDINGS)}; got {ending!r}.")
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
        Target(place=folder / name, ending=ending, shards=(shard,)) for name, shard in taken.items()
    )


def _refuse_inputs(place: Path, shards: Sequence[Shard]) -> None:
    if place.exists() and any(one.path and _same(place, one.path) for one in shards):
        raise InputError(f"{place} is read by this command.", hint="name another file.")


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
