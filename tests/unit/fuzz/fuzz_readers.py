"""Rated texts in every format: items that are as the file says, or ``DataError``; nothing else."""

import csv
import gzip
import io
import json

from draws import Draws, mutated
from places import written

from judgesmith.data import DataError, read_items, stream_items

ROWS = [
    {"source": "Ann left Rome.", "response": "Ann left.", "score": 4, "id": "1", "system": "a"},
    {"source": "Ann left Rome.", "response": "Rome left.", "score": 1.5, "id": "1", "system": "b"},
    {"source": "Bob, the cat", "response": 'a "cat"\nand more', "score": 5, "id": 2, "system": "a"},
]
CANONICAL = [
    {"source_id": "x", "system_id": "m", "source": "s", "response": "r", "context": None,
     "references": ["t"], "human": {"clear": [1, 2]}, "scale": {"clear": [1, 5]}, "more": 1},
]  # fmt: skip
COLUMNS = (*ROWS[0], *CANONICAL[0], "output", "rating", "label", "score ", "Response", "text")
ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".ndjson")
MAPS = (None, "response=response", "score=score", "source=,response=source", "references=id+source",
        "clear=score+rating", "source_id=", "score=human")  # fmt: skip
SCALES = ("1..5", "0..100", "score=1..5", "clear=1..5,overall=1..5", None, "1:2")


def fuzz_one(data: bytes) -> None:
    """Read one file twice: whole, and as a stream."""
    draws = Draws(data)
    ending = draws.of(ENDINGS)
    content = _content(draws, ending)
    if draws.flag(6):
        packed = gzip.compress(content, mtime=0)
        content, ending = (mutated(draws, packed) if draws.flag() else packed), f"{ending}.gz"
    path = written(f"data{ending}", content)
    columns, scale = draws.of(MAPS), draws.of(SCALES)
    items = None
    try:
        items = read_items(path, columns=columns, scale=scale)
    except DataError as fault:
        assert fault.problems
        str(fault).encode("utf-8", "backslashreplace")
    else:
        for item in items:
            for criterion, ratings in item.human.items():
                assert all(one in item.scale[criterion] for one in ratings)
            (item.source + item.response + (item.context or "")).encode()
    try:
        streamed = list(stream_items(path, columns=columns))
    except DataError as fault:
        # Ratings are the only thing that a stream does not look at.
        assert items is None, fault
        return
    if items is not None:
        assert [one.key for one in items] == [one.key for one in streamed]


def _content(draws: Draws, ending: str) -> bytes:
    kind = draws.below(8)
    if kind == 7:
        return draws.blob(200)
    rows = [dict(row) for row in (ROWS if draws.flag() else CANONICAL)]
    if kind < 5:
        for _ in range(1 + draws.below(3)):
            row = draws.of(rows)
            row[draws.of(COLUMNS)] = draws.plain()
        if draws.flag(4):
            rows.append({draws.of(COLUMNS): draws.plain() for _ in range(draws.below(5))})
    whole = _spelled(rows, ending).encode("utf-8", "replace")
    return mutated(draws, whole) if kind > 2 else whole


def _spelled(rows, ending: str) -> str:
    if ending == ".json":
        return json.dumps(rows)
    if ending in (".jsonl", ".ndjson"):
        return "\n".join(json.dumps(row) for row in rows)
    table = io.StringIO(newline="")
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = csv.writer(table, delimiter="\t" if ending == ".tsv" else ",")
    lines.writerow(names)
    lines.writerows([row.get(name, "") for name in names] for row in rows)
    return table.getvalue()
