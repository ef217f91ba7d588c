"""Files of scores: one per row of the data, or ``DataError``; nothing else."""

import functools
import json
import math

from draws import Draws, mutated, mutated_plain
from places import written

from judgesmith.data import DataError, read_items, read_scores

ROWS = [
    {"source_id": "1", "system_id": "a", "key": "k", "score": 4.0, "problem": None,
     "explanation": "Fine.", "criteria": {"clear": {"score": 60, "explanation": "So."}}, "run": "r",
     "target": "overall"},
    {"source_id": "1", "system_id": "b", "key": "k", "score": None, "problem": "no answer",
     "criteria": {}, "run": "r", "target": "overall"},
]  # fmt: skip
RECORDED = [
    {"source_id": "1", "system_id": "a", "criterion": "clear", "judge": "m", "scores": [1, None]},
    {"source_id": "1", "system_id": "b", "criterion": "overall", "judge": "n", "scores": []},
]


@functools.cache
def _data():
    rows = [
        {"source": "Ann left Rome.", "response": text, "score": 3, "id": "1", "system": name}
        for name, text in (("a", "Ann."), ("b", "Rome."))
    ]
    text = "\n".join(json.dumps(row) for row in rows)
    return read_items(written("rated.jsonl", text.encode()), scale="1..5")


def fuzz_one(data: bytes) -> None:
    """Read one file of scores."""
    draws = Draws(data)
    rows = [dict(row) for row in (RECORDED if draws.flag() else ROWS)]
    for _ in range(draws.below(3)):
        rows = mutated_plain(draws, rows)
    if isinstance(rows, list) and draws.flag(3):
        rows = [row | {"key": _data()[0].key} if isinstance(row, dict) else row for row in rows]
    ending = draws.of((".jsonl", ".json"))
    if ending == ".json" or not isinstance(rows, list):
        content = json.dumps(rows).encode()
    else:
        content = "\n".join(json.dumps(row) for row in rows).encode()
    if draws.flag(3):
        content = mutated(draws, content)
    path = written(f"scores{ending}", content)
    try:
        found = read_scores(
            path,
            _data(),
            judge=draws.of((None, "m", draws.clean(2))),
            criterion=draws.of((None, "clear", draws.clean(2))),
        )
    except DataError as fault:
        assert fault.problems
        return
    assert found.values.shape == (2,)
    for value, problem in zip(found.values, found.problems, strict=True):
        assert math.isnan(value) == (problem is not None)
        assert not math.isinf(value)
