"""Damaged Parquet files: items, or ``DataError``; nothing else."""

import functools

from draws import Draws, mutated
from places import scratch, written

from judgesmith.data import DataError, read_items


@functools.cache
def _whole() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = scratch() / "whole.parquet"
    rows = {"source": ["Ann left Rome.", "Bob"], "response": ["Ann", "B."], "score": [4.0, 1.0]}
    pq.write_table(pa.table(rows), path)
    return path.read_bytes()


def fuzz_one(data: bytes) -> None:
    """Read a Parquet file with a few faults."""
    draws = Draws(data)
    path = written("data.parquet", mutated(draws, _whole()))
    try:
        items = read_items(path, scale="1..5")
    except DataError as fault:
        assert fault.problems
    else:
        ratings = [
            (item.scale.get(name), one) for item in items for name, one in item.human.items()
        ]
        assert all(one in scale for scale, several in ratings for one in several)
