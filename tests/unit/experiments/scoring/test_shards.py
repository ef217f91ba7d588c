import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.scoring import shards_of


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("b.jsonl", "a.csv", ".hidden.jsonl", "_SUCCESS", "c.jsonl.gz"):
        (tmp_path / "in" / name).touch()
    return tmp_path


def names(*inputs):
    return [shard.name for shard in shards_of(inputs)]


def test_a_folder_stands_for_its_files_by_name_without_hidden_ones(place):
    assert names("in") == ["in/a.csv", "in/b.jsonl", "in/c.jsonl.gz"]
    assert names(str(place / "in")) == [str(place / one) for one in names("in")]


def test_inputs_keep_their_order_and_patterns_are_expanded(place):
    assert names("-", "in/c*", "sample", "in/[ab].*") == [
        *("-", "in/c.jsonl.gz", "sample", "in/a.csv", "in/b.jsonl")
    ]
    assert names("**/b.jsonl") == ["in/b.jsonl"]
    (place / "x[1].jsonl").touch()
    assert names("x[1].jsonl") == ["x[1].jsonl"]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (["in", "in/b.jsonl"], "in/b.jsonl: input: expected each file once; got it twice"),
        (["in/b.jsonl", "./in/b.jsonl"], "got it twice, also as in/b.jsonl"),
        (["-", "-"], "-: input: expected each file once"),
        (["empty"], "empty: input: expected files of rows to score; got none"),
        (["mixed"], r"as in 'mixed/\*.csv'\); got notes.txt, sub"),
        (["in/_SUCCESS"], "expected an ending of"),
    ],
)
def test_what_is_no_row_of_files_is_named(place, inputs, said):
    (place / "empty").mkdir()
    (place / "mixed" / "sub").mkdir(parents=True)
    (place / "mixed" / "notes.txt").touch()
    (place / "mixed" / "a.csv").touch()
    with pytest.raises(DataError, match=said):
        shards_of(inputs)


def test_a_pattern_that_finds_nothing_and_a_file_that_is_not_there_are_named(place):
    with pytest.raises(FileNotFoundError, match=r"no file matches in/\*\.tsv; check the pattern"):
        shards_of("in/*.tsv")
    with pytest.raises(FileNotFoundError, match="did you mean"):
        shards_of("in/b.jsonk")
    with pytest.raises(ValueError, match="at least one file"):
        shards_of([])
