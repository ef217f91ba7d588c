import json

import pytest
from sharding import rows_of, write

pytestmark = pytest.mark.no_cover


@pytest.fixture
def parts(folder, sample_rows):
    """Two files of texts in a folder of their own."""
    write(folder / "in" / "a.jsonl", sample_rows[:5])
    write(folder / "in" / "b.jsonl", sample_rows[5:8])
    return folder / "in"


def test_folders_patterns_and_files_go_into_one_file_or_a_folder(run, judge, parts, folder):
    assert run("score", judge, "in", "-o", "all.jsonl").out.startswith("8 rows in all.jsonl, 0 wi")
    assert run("score", judge, "in/b.jsonl", "in/a*", "-o", "other.jsonl").status == 0
    rows = rows_of(folder / "all.jsonl")
    keys = [row["key"] for row in rows_of(folder / "other.jsonl")]
    assert keys == [row["key"] for row in rows[5:] + rows[:5]]
    done = run("score", judge, "in", "-o", "out/", "--json")
    assert (done.json["rows"], done.json["calls"], done.json["output"]) == (8, 0, "out/")
    assert (folder / "out" / "a.jsonl").read_text() == "".join(
        (folder / "all.jsonl").read_text().splitlines(keepends=True)[:5]
    )
    assert run("score", judge, "in", "-o", "out", "--as", "csv").status == 2
    assert run("evaluate", "out", "sample", "--json").status == 0


def test_tables_and_rows_as_they_are_finished_hold_the_same(run, judge, parts, folder, sample_rows):
    write(folder / "data.jsonl", sample_rows[:8])
    for name, options in (("a.csv", ()), ("b.parquet", ()), ("c.jsonl", ("--unordered",))):
        assert run("score", judge, "in", "-o", name, *options).status == 0
    found = [run("evaluate", n, "data.jsonl", "--json").json for n in ("a.csv", "b.parquet")]
    assert [one.pop("judge", None) for one in found]
    assert found[0] == found[1]
    rows = rows_of(folder / "c.jsonl")
    assert sorted((row["file"], row["row"]) for row in rows) == [
        *(("in/a.jsonl", n) for n in range(1, 6)),
        *(("in/b.jsonl", n) for n in range(1, 4)),
    ]


def test_a_bad_row_of_any_file_is_named_before_anything_is_asked(run, judge, parts, folder):
    with (parts / "b.jsonl").open("a") as file:
        file.write('{"source": ')
    done = run("score", judge, "in", "-o", "out/", "--ledger", "fresh.sqlite")
    assert done.status == 2
    assert "in/b.jsonl:4: line: expected one JSON object" in done.err
    assert sorted(one.name for one in folder.iterdir()) == ["in", "judge"]


def test_a_changed_input_of_a_finished_file_is_refused_by_name(run, judge, parts):
    assert run("score", judge, "in", "-o", "out/").status == 0
    lines = (parts / "a.jsonl").read_text().splitlines(keepends=True)
    (parts / "a.jsonl").write_text("".join(lines[:4]))
    done = run("score", judge, "in", "-o", "out/", "--json")
    assert (done.status, done.fault["hint"]) == (
        *(2, "name another folder, or replace everything with --force."),
    )
    assert done.fault["error"] == "in/a.jsonl has changed since out/a.jsonl was made of it."
    done = run("score", judge, "in", "-o", "out/", "--force", "--json")
    assert json.loads(done.out)["rows"] == 7


@pytest.mark.parametrize(
    ("options", "option", "says"),
    [
        ("-o new.jsonl --ledger ./new.jsonl", "--ledger", "is what -o names, too"),
        ("-o new.jsonl --ledger a.sqlite --log a.sqlite", "--log", "is what --ledger names, too"),
        ("-o new.jsonl --record c.jsonl --log c.jsonl", "--log", "is what --record names, too"),
        (
            *("-o new.jsonl --record c.jsonl --metrics-file c.jsonl", "--metrics-file"),
            "is what --record names, too",
        ),
        ("-o judge/", "--output", "judge holds a judge"),
        ("-o judge --force", "--output", "judge holds a judge"),
    ],
)
def test_no_file_of_a_run_takes_the_place_of_another(
    run, judge, parts, folder, options, option, says
):
    before = sorted(folder.rglob("*"))
    done = run("score", judge, "in", *options.split(), "--json")
    assert (done.status, done.fault["where"]) == (2, option)
    assert says in done.fault["error"]
    assert sorted(folder.rglob("*")) == before


def test_an_empty_name_does_not_stand_for_the_working_folder(run, judge, parts, folder):
    done = run("score", judge, "", "-o", "new.jsonl")
    assert done.status == 2
    assert "expected a file, a folder or a pattern; got an empty name" in done.err


@pytest.mark.parametrize("record", ["{", '{"files": 3}', '{"files": [{}]}', "[" * 100_000])
def test_a_folder_whose_record_is_damaged_is_refused_by_every_reader(
    run, judge, parts, folder, record
):
    (folder / "out").mkdir()
    (folder / "out" / "scores.json").write_text(record)
    said = "out/scores.json: file: expected the record of a folder of scores"
    for command in (
        *(
            "evaluate out sample",
            "errors out sample",
            "drift judge out",
            "compare out judge sample",
        ),
    ):
        done = run(*command.split())
        assert (done.status, said in done.err) == (2, True), (command, done.err)
    assert run("score", judge, "in", "-o", "out/").status == 2
