"""Which row of a file of scores belongs to which item of a data set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.problems import DataError, Problem, nothing_in, shown
from judgesmith.experiments.score_rows import Key, Placed, key_of, named_key
from judgesmith.experiments.written_scores import open_scores

Said = TypeVar("Said")


def placed_rows(path: str | Path) -> tuple[str, list[Placed]]:
    """Return the name of a file and its rows, each with where it stands.

    Raises
    ------
    DataError
        If a row cannot be read, or there is none.
    FileNotFoundError
        If there is no such file.
    """
    raw = open_scores(path)
    rows: list[Placed] = [(raw.where(number), row) for number, row in raw.rows]
    if raw.problems:
        raise DataError(raw.problems)
    if not rows:
        raise nothing_in(raw.name)
    return raw.name, rows


def keys_of(dataset: DataSet) -> list[Key]:
    """Return source and system of every item."""
    return [(item.source_id, item.system_id) for item in dataset]


def matched(
    rows: Sequence[Placed],
    dataset: DataSet,
    read: Callable[[str, Mapping[str, Any]], Said | Problem],
) -> list[Said | None]:
    """Return what is read from the row of each item, None for an item that has no row.

    Rows are matched by source and system, and in order where several items share both. Where a
    row has the ``key`` that ``score`` writes, the texts must be the same, too. Rows that name a
    ``pair`` may say the same of one item several times.

    Parameters
    ----------
    rows : sequence of Placed
        Of one judge, each about an item of the set.
    dataset : DataSet
        The items.
    read : callable
        Returns what a row says, given where it stands, or what is wrong with it.

    Raises
    ------
    DataError
        With every row that cannot be read or was given to other texts, and every one too many.
    """
    wanted = keys_of(dataset)
    n_wanted = Counter(wanted)
    problems: list[Problem] = []
    texts: dict[Key, list[str]] = defaultdict(list)
    for item, key in zip(dataset, wanted, strict=True):
        texts[key].append(item.key)
    found: dict[Key, list[Said]] = defaultdict(list)
    for where, row in rows:
        key = key_of(row)
        given = read(where, row)
        if isinstance(given, Problem):
            problems.append(given)
            continue
        if row.get("pair") and given in found[key]:
            continue  # one side of several pairs, said again with each of them
        found[key].append(given)
        if len(found[key]) > n_wanted[key]:
            n = f"{n_wanted[key]} scores" if n_wanted[key] > 1 else "one score"
            problems.append(
                Problem(
                    where=where,
                    field="source_id, system_id",
                    expected=f"{n} for {named_key(key)}",
                    came="one more",
                )
            )
        elif _of_other_texts(row, texts[key][len(found[key]) - 1]):
            expected = f"a score of the texts that {named_key(key)} has in {dataset.name}"
            came = "a score of other texts (score these, or name the set that was scored)"
            problems.append(Problem(where=where, field="key", expected=expected, came=came))
    if problems:
        raise DataError(problems)
    in_order = {key: iter(given) for key, given in found.items()}
    return [next(in_order.get(key, iter(())), None) for key in wanted]


def _of_other_texts(row: Mapping[str, Any], key: str) -> bool:
    """Say whether ``score`` gave this row to other texts; rows from elsewhere do not tell."""
    return bool(row.get("run") and row.get("key")) and row["key"] != key


def nothing_in_common(name: str, rows: Sequence[Placed], dataset: DataSet) -> Problem:
    """Return why no row of a file of scores belongs to any item of the set."""
    wanted = keys_of(dataset)
    sources = {source for source, _ in wanted if source}
    same = next((key for _, row in rows if (key := key_of(row))[0] in sources), None)
    if same is None:
        expected = f"ids that occur in {dataset.name} (score the same file that you evaluate on)"
        came = f"none that does, the first {named_key(key_of(rows[0][1]))}"
        return Problem(where=name, field="source_id, system_id", expected=expected, came=came)
    systems = sorted({system for source, system in wanted if source == same[0]})
    theirs = shown(", ".join(filter(None, systems))) if any(systems) else "none"
    return Problem(
        where=name,
        field="system_id",
        expected=f"systems that occur in {dataset.name}, where {shown(same[0])} has {theirs} "
        "(source ids match, systems do not: give score and evaluate the same --map)",
        came=shown(same[1] or None),
    )
