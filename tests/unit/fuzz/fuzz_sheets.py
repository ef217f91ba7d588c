"""Sheets about explanations: written from any scores and read back, or ``DataError``."""

import csv
import functools
import io
import json

import numpy as np
from draws import Draws, mutated, mutated_plain
from places import scratch, written

from judgesmith.data import DataError, read_items
from judgesmith.experiments.labels.explanation_answers import read_filled
from judgesmith.experiments.labels.explanation_sheet import read_sheets, write_sheet

TEXTS = [f"Ann left Rome {n} times." for n in range(4)]


@functools.cache
def _data():
    rows = [{"source": "Ann.", "response": text, "system": str(n)} for n, text in enumerate(TEXTS)]
    path = written("texts.jsonl", "\n".join(map(json.dumps, rows)).encode())
    return path, [item.key for item in read_items(path)]


def _scores(draws: Draws) -> bytes:
    rows = [
        {
            "source_id": "x",
            "system_id": str(n),
            "key": key,
            "run": "r",
            "score": 20.0 * n,
            "explanation": draws.clean(4),
            "criteria": {draws.clean(2): {"score": n, "explanation": draws.clean(4)}},
            "problem": None,
        }
        for n, key in enumerate(_data()[1])
    ]
    for _ in range(draws.below(3)):
        rows = mutated_plain(draws, rows)
    lines = rows if isinstance(rows, list) else [rows]
    return "\n".join(map(json.dumps, lines)).encode()


def fuzz_one(data: bytes) -> None:
    """Write one sheet, fill it in somehow, damage it, read it."""
    draws = Draws(data)
    scores, output = written("scored.jsonl", _scores(draws)), scratch() / "sheet.csv"
    try:
        write_sheet(
            scores, _data()[0], output, seed=np.random.default_rng(draws.byte()), overwrite=True
        )
    except DataError as fault:
        assert fault.problems
        return
    (blank,) = read_filled([output])
    assert blank.answers == {}
    lines = list(csv.reader(io.StringIO(output.read_text("utf-8-sig"), newline="")))
    for line in lines[1:]:
        for place in range(len(line)):
            if line[place] == "" or draws.flag(8):
                line[place] = draws.of(("yes", "n", "WAHR", "4,0", "", "-", "?", draws.clean(2)))
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter=draws.of(",;\t"))
    table.writerows(lines)
    content = text.getvalue().encode()
    if draws.flag(3):
        content = mutated(draws, content)
    one, other = written("rater-1.csv", content), written("rater-2.csv", output.read_bytes())
    try:
        found = read_sheets([one, other])
    except DataError as fault:
        assert fault.problems
        return
    json.dumps(found.to_dict(), allow_nan=False)
