"""Small files of texts to score, and what was written of them."""

import json


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def texts(n, start=0):
    return [
        {"source": f"Number {k}.", "response": f"It is {k}.", "source_id": str(k)}
        for k in range(start, start + n)
    ]


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
