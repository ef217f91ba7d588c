"""Files at addresses, as far as that takes no cluster."""

from types import SimpleNamespace

import pytest

from judgesmith.data import DataError
from judgesmith.data.problems import Problem
from judgesmith.experiments.scoring.clusters import addresses
from judgesmith.experiments.scoring.clusters.addresses import score_addresses
from judgesmith.programs.lm import ModelError, client_model


@pytest.fixture
def here(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.csv", ".hidden.csv", "_success", "no.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "t.parquet").write_text("x")
    return tmp_path.as_uri()


def names(found):
    files, kind = found
    return [one.rpartition("/")[2] for one in files], kind


def test_files_folders_and_patterns_are_found_once_and_in_order(here):
    lines = [f"{here}/*.jsonl*", f"{here}/b.jsonl"]
    assert names(addresses._files(lines)) == (["a.jsonl.gz", "b.jsonl"], "lines")
    assert names(addresses._files([f"{here}/tables"])) == (["t.parquet"], "parquet")
    assert names(addresses._files([f"{here}/c.csv"])) == (["c.csv"], "csv")


@pytest.mark.parametrize(
    ("name", "fault", "says"),
    [
        ("none.csv", FileNotFoundError, "there is no file at .*/none.csv"),
        ("*.parquet", FileNotFoundError, "there is no file at"),
        ("", ValueError, "no.txt: expected an ending of .parquet, .jsonl"),
        ("[bc].*", ValueError, "are read in one format; got .*b.jsonl and .*c.csv"),
    ],
)
def test_what_cannot_be_read_is_named(name, fault, says, here):
    with pytest.raises(fault, match=says):
        addresses._files([f"{here}/{name}"])


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nofs://host/rows", "nofs://host/rows cannot be reached: Unrecognized filesystem type"),
        ("s3://me:secret-word@b/rows.csv", "s3://b/rows.csv came with a user, password or query"),
        ("s3://b/rows.csv?key=secret-word", "s3://b/rows.csv came with a user, password or query"),
    ],
)
def test_an_address_that_cannot_be_is_said_without_its_secret(address, says, saved):
    lm = client_model("offline", ledger=None)
    with pytest.raises(ValueError, match=says) as caught:
        score_addresses(saved, [address], "s3://b/out", lm=lm)
    assert "secret-word" not in str(caught.value)


def test_rows_go_to_an_empty_folder_alone(here, saved):
    addresses._refuse_full(f"{here}/new")
    for name in ("tables", "c.csv"):
        with pytest.raises(FileExistsError, match=rf"{name} holds something; name an empty folder"):
            score_addresses(
                saved, [f"{here}/c.csv"], f"{here}/{name}", lm=client_model("offline", ledger=None)
            )


def test_cells_of_a_table_are_the_texts_that_stand_there(tmp_path):
    (tmp_path / "t.csv").write_text('id,response\n007,"1\n2"\nNA,\n')
    settings = addresses._as_texts((tmp_path / "t.csv").as_uri())
    from pyarrow import csv

    found = csv.read_csv(tmp_path / "t.csv", **settings).to_pylist()
    assert found == [{"id": "007", "response": "1\n2"}, {"id": "NA", "response": ""}]


class RayError(Exception):
    """What Ray raises, with what it is about as its cause."""

    def __init__(self, cause):
        super().__init__("a report of many lines")
        self.cause = cause


class RayErrorOfValues(RayError, ValueError):
    """A report that is of the class of what it reports, too."""


@pytest.mark.parametrize("report", [RayError, RayErrorOfValues])
def test_a_fault_of_a_worker_is_said_as_here_and_without_the_words_of_ray(report):
    ray = SimpleNamespace(exceptions=SimpleNamespace(RayError=RayError))
    tried = "\nFailed to apply UDF transform after 1/1 attempts (total backoff 0.0s).\nTo change"
    problem = Problem(where="a.jsonl:2", field="line", expected="one JSON object", came="'{'")
    with pytest.raises(DataError) as caught, addresses._plain_faults(ray):
        raise report(DataError([problem]))
    assert "a.jsonl:2: line: expected one JSON object" in str(caught.value)
    assert caught.value.problems == (problem,)
    with pytest.raises(ModelError) as refused, addresses._plain_faults(ray):
        raise report(ModelError(f"set a key.{tried}", status=401))
    assert (str(refused.value), refused.value.status) == ("set a key.", 401)
