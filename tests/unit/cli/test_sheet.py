import csv
import json
import re

import pytest

WRITE = ["sheet", "write", "scores.jsonl", "data.jsonl", "-o", "sheet.csv"]


@pytest.fixture
def scores(run, judge, data, folder):
    assert run("score", judge, data, "-o", "scores.jsonl").status == 0
    return folder / "scores.jsonl"


@pytest.fixture
def n_parts(scores):
    """How many explanations each text has."""
    return 1 + len(json.loads(scores.read_text().splitlines()[0])["criteria"])


@pytest.fixture
def sheet(run, scores, folder):
    assert run(*WRITE, "--rows", "6").status == 0
    return folder / "sheet.csv"


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def fill(sheet, folder):
    def filling(rater, *, no_every=5, delimiter=",", **changes):
        rows = rows_of(sheet)
        for number, row in enumerate(rows):
            for name in list(row)[-7:]:
                answer = "4" if name == "usefulness" else "yes" if number % no_every else "no"
                row[name] = row[name] or answer
        rows[0] |= changes
        path = folder / f"{rater}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            table.writeheader()
            table.writerows(rows)
        return path

    return filling


def test_a_sheet_is_written_and_says_what_is_asked(run, scores, n_parts, folder):
    done = run(*WRITE, "--rows", "6", "--scale", "-1..100")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{6 * n_parts} explanations of 6 scored texts in sheet.csv\n")
    assert "fits_score           Does it fit the score?\n" in done.out
    assert "note" not in done.out
    rows = rows_of(folder / "sheet.csv")
    assert [row["scale"] for row in rows] == [*["0..100"] * (n_parts - 1), "-1..100"] * 6
    texts = {line["key"]: line for line in map(json.loads, scores.read_text().splitlines())}
    assert {row["explanation"] for row in rows if row["part"] == "overall"} <= {
        line["explanation"] for line in texts.values()
    }


def test_that_there_are_fewer_texts_than_asked_for_is_noted(run, scores):
    n = len(scores.read_text().splitlines())
    done = run(*WRITE, "--rows", str(n + 1), "--scale", "-1..100", "--json")
    assert done.json["items"] == n
    assert done.err == (
        f"note: there are {n} texts with a score and an explanation, fewer than --rows {n + 1}; "
        "all of them are asked about.\n"
    )
    assert run(*WRITE, "--rows", str(n), "--scale", "-1..100", "--json", "--force").err == ""


def test_writing_says_as_json_what_is_in_the_sheet_and_what_is_not(run, scores, n_parts):
    lines = scores.read_text().splitlines()
    bare = json.loads(lines[0]) | {"score": None, "problem": "no answer"}
    scores.write_text("\n".join([json.dumps(bare), *lines[1:]]))
    done = run(*WRITE, "--rows", "6", "--json")
    assert done.json | {"sheet": ""} == {
        "output": "sheet.csv",
        "sheet": "",
        "items": 6,
        "rows": 6 * n_parts,
        "unscored": 1,
        "unexplained": 0,
        "cut": 0,
    }
    assert done.err.startswith("note: the sheet does not say what overall scores are out of")


def test_seeds_draw_other_texts_and_equal_ones_the_same(run, sheet):
    before = sheet.read_bytes()
    assert run(*WRITE, "--rows", "6").status == 0
    assert run(*WRITE, "--rows", "6", "--seed", "1").status == 2
    assert sheet.read_bytes() == before
    assert run(*WRITE, "--rows", "6", "--seed", "1", "--force").status == 0
    assert sheet.read_bytes() != before


def test_filled_sheets_are_read_in_tables(run, n_parts, fill):
    done = run("sheet", "read", fill("ana"), fill("ben", no_every=4, delimiter=";"))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"2 raters on {6 * n_parts} explanations of 6 texts (sheet x")
    assert re.search(r"\nusefulness +4\.000 \[no interval\] +12 +0\n", done.out)
    assert all(title in done.out for title in ("By part", "By rater", "Krippendorff's alpha"))


def test_filled_sheets_are_read_as_json(run, n_parts, fill):
    done = run("sheet", "read", fill("ana"), fill("ben", no_every=4), "--json")
    assert (done.status, done.err) == (0, "")
    clear = done.json["questions"]["clear"]
    n = 6 * n_parts
    assert clear["filled"] == 2 * n
    n_no = len(range(0, n, 5)) + len(range(0, n, 4))
    assert clear["value"]["value"] == pytest.approx(1 - n_no / (2 * n))
    assert clear["value"]["n_groups"] == clear["alpha"]["n_groups"] == 6
    assert clear["value"]["low"] < clear["value"]["value"] < clear["value"]["high"]
    assert done.json["questions"]["usefulness"]["alpha"]["value"] is None


def test_rows_that_are_not_in_a_file_are_noted(run, fill):
    path = fill("ana")
    kept = path.read_bytes().splitlines(keepends=True)[:-1]
    path.write_bytes(b"".join(kept))
    assert "note: 1 row of the sheet not in ana's file: taken as blank.\n" in (
        run("sheet", "read", path).out
    )


def test_what_cannot_be_read_is_named(run, fill):
    one, other = fill("ana", clear="perhaps"), fill("ben", factual="\x1b[31m")
    done = run("sheet", "read", one, other)
    assert (done.status, done.out) == (2, "")
    assert "ana.csv:2: clear: expected yes or no, or a blank cell; got 'perhaps'" in done.err
    assert "ben.csv:2: factual: expected yes or no, or a blank cell; got '\\x1b[31m'" in done.err
    assert run("sheet", "read", one, "--json").fault["where"] == "ana.csv:2"


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sheet", "write", "scores.jsonl", "data.jsonl", "-o", "s.txt"], "name a file in .csv"),
        (["sheet", "write", "missing.jsonl", "data.jsonl", "-o", "s.csv"], "no file missing.jsonl"),
        (["sheet", "write", "scores.jsonl", "sample", "-o", "none/s.csv"], "there is no folder"),
        (["sheet", "write", "data.jsonl", "data.jsonl", "-o", "s.csv"], "that score writes into"),
        (
            ["sheet", "write", "scores.jsonl", "few.jsonl", "-o", "s.csv"],
            "the file that was scored",
        ),
        ([*WRITE[:-1], "s.csv", "--rows", "2"], "expected a whole number, 3 or more; got '2'"),
        ([*WRITE[:-1], "s.csv", "--scale", "5"], "5"),
        ([*WRITE[:-1], "s.csv", "--scale", "8..9"], "expected a score on 8..9"),
        (["sheet", "write", "-", "-", "-o", "s.csv"], "standard input is one file"),
        (["sheet", "read"], "Missing argument"),
        (["sheet", "read", "-"], "name files, not '-'"),
        (["sheet", "read", "missing.csv"], "no file missing.csv"),
        (["sheet", "read", "scores.jsonl"], "the columns of the sheet"),
        (["sheet", "read", "sample"], "the columns of the sheet"),
    ],
)
def test_bad_input_is_one_error_and_leaves_nothing(run, scores, folder, data, arguments, said):
    (folder / "few.jsonl").write_text(data.read_text().splitlines()[0] + "\n")
    before = sorted(folder.iterdir())
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ["scores.csv", "data.csv"])
def test_a_sheet_never_replaces_what_it_is_made_from(run, folder, name):
    for one in ("scores.csv", "data.csv"):
        (folder / one).write_text("a,b\n1,2\n")
    done = run("sheet", "write", "scores.csv", "data.csv", "-o", f"./{name}", "--force")
    assert done.status == 2
    assert "is read by this command" in done.err
    assert (folder / name).read_text() == "a,b\n1,2\n"


def test_columns_can_be_named_as_for_score(run, judge, folder, sample_rows):
    with (folder / "flat.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "said"])
        table.writerows([row["source"], row["response"]] for row in sample_rows[:8])
    named = ["--map", "source=text,response=said"]
    assert run("score", judge, "flat.csv", "-o", "scores.jsonl", *named).status == 0
    done = run("sheet", "write", "scores.jsonl", "flat.csv", "-o", "s.csv", *named, "--json")
    assert done.json["items"] == 8
