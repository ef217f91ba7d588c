from pathlib import Path

import pytest

from judgesmith.experiments.scoring import Shard
from judgesmith.experiments.scoring.shards import targets_of

AB = (Shard("in/a.csv"), Shard("in/b.jsonl.gz"))


def test_a_file_takes_all_rows_and_a_folder_has_a_file_for_each_input():
    (one,) = targets_of("out.csv", AB)
    assert (one.place, one.ending, one.shards) == (Path("out.csv"), ".csv", AB)
    several = targets_of("out/", AB, ending=".jsonl.gz")
    assert [one.place.name for one in several] == ["a.jsonl.gz", "b.jsonl.gz"]
    assert [one.shards for one in several] == [(AB[0],), (AB[1],)]


@pytest.mark.parametrize(
    ("output", "inputs", "ending", "said"),
    [
        ("out.txt", AB, None, "name a file in .jsonl, .jsonl.gz, .csv, .parquet, or a folder"),
        ("out.csv", AB, ".csv", ".csv is for the files of a folder, and out.csv is a file"),
        ("out/", AB, ".txt", "rows are written as"),
        ("out/", (Shard("x/a.csv"), Shard("y/a.jsonl")), None, "x/a.csv and y/a.jsonl would both"),
    ],
)
def test_what_cannot_be_written_is_refused(output, inputs, ending, said):
    with pytest.raises(ValueError, match=said):
        targets_of(output, inputs, ending=ending)


def test_nothing_is_written_where_it_is_read(shards):
    inside = [Shard(f"in/{name}.jsonl", folder="in") for name in "abc"]
    with pytest.raises(ValueError, match=r"in/a\.jsonl is read by this command"):
        targets_of("in/a.jsonl", inside)
    with pytest.raises(ValueError, match="would lie in in, all of which is read"):
        targets_of("in/out.jsonl", inside)
    with pytest.raises(ValueError, match=r"out would lie in in, .* name one in another folder"):
        targets_of("in/out/", inside)
    with pytest.raises(ValueError, match=r"in holds in/a\.jsonl, which is read"):
        targets_of("in", inside)
