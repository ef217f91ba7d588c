import csv
import json

import pytest


@pytest.fixture
def pool(folder, data):
    """The rows that the judge was made from, and others without ratings."""
    from judgesmith.data.samples import sample_path

    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    for row in rows:
        del row["human"], row["scale"]
    place = folder / "pool.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows[:72]), encoding="utf-8")
    return place


def fill(place, ratings, name="filled.csv"):
    with place.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    (column,) = [number for number, one in enumerate(header) if one.startswith("overall: ")]
    for row, rating in zip(rows, ratings, strict=False):
        row[column] = rating
    filled = place.with_name(name)
    with filled.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows([header, *rows])
    return filled


def test_a_sheet_comes_back_as_data_to_compile_from(run, judge, data, pool, folder):
    done = run("suggest", judge, pool, data, "-n", "6", "--with-random", "6", "-o", "next.csv")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("12 rows to rate in next.csv: 6 stratified, 6 at random\n")
    assert "of 72 rows, 40 rated, 0 that the judge was made from" in done.out
    assert "overall: a number from 1 (worst) to 5 (best)" in done.out
    assert "compile RATED next.csv --from" in done.out
    filled = fill(folder / "next.csv", ["1", "5", "2", "4", "3", "", "5", "1", "2", "4", "3"])
    learn = ["compile", data, filled, "--from", judge, "-o", "new", "--rounds", "2"]
    done = run(*learn)
    assert done.status == 0
    assert "rows: " in done.out
    assert "2 unrated" in done.out
    assert "note: 2 ratings are blank and left out." in done.out
    assert "were chosen by suggest and not at random" in done.out
    fill(folder / "next.csv", ["1", "9"])
    bad = run(*learn[:-4], "-o", "newer", "--json")
    assert bad.status == 2
    assert "filled.csv:3: overall: a number from 1 (worst) to 5 (best)" in bad.fault["error"]


def test_the_judge_may_be_made_from_the_sheet_and_the_rows_it_was_chosen_from(
    run, judge, pool, folder
):
    ask = ["suggest", judge, pool, "-n", "12", "-o", "next.csv", "--strategy", "coverage"]
    assert run(*ask).status == 0
    filled = fill(folder / "next.csv", "123451234512")
    done = run("compile", pool, filled, "--from", judge, "-o", "new", "--rounds", "1", "--json")
    assert done.status == 0
    rows = done.json["rows"]
    assert rows["train"] + rows["select"] == 12
    assert done.json["heldout"] is None
    assert "sheets hold the ratings of 12 rows of the other files." in done.err


def test_what_it_would_cost_is_said_and_nothing_is_asked(run, judge, pool, folder):
    done = run("suggest", judge, pool, "-o", "next.csv", "--dry-run", "--at-most", "9", "--json")
    assert done.json["rows"] == 9
    assert done.json["calls"] % 9 == 0 < done.json["calls"]
    assert not (folder / "next.csv").exists()
    assert not (folder / ".judgesmith").exists()


def test_a_sheet_with_ratings_is_not_written_over(run, judge, pool, folder):
    ask = ["suggest", judge, pool, "-o", "next.csv", "--strategy", "random", "-n", "3"]
    done = run(*ask, "--json")
    assert (done.json["chosen_by"], done.json["calls"]) == ({"random": 3}, 0)
    before = fill(folder / "next.csv", ["1"], name="next.csv").read_bytes()
    assert run(*ask).status == 2
    assert (folder / "next.csv").read_bytes() == before
    assert run(*ask, "--force").status == 0
    assert (folder / "next.csv").read_bytes() != before
