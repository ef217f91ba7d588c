import csv

import marking
import pytest

from judgesmith.signatures import RatedItem

WRITE = ["sheet", "write-errors", "scores.jsonl", "data.jsonl", "-o", "sheet.csv"]
TEXT = "=Maria Rossi won 14 races, and then she won 20 more."


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def scored(folder):
    """Six texts with two errors each, one without any and one unscored."""
    items = [
        RatedItem(source_id=f"s{n}", source=f"Source {n}.", response=f"{TEXT} {n}")
        for n in range(8)
    ]
    rows = [
        marking.score_row(one, marking.marked(one.response, (1, 12), (17, 25))) for one in items
    ]
    rows[0]["errors"][0] |= {"text": "the king", "located": "unresolved"}
    rows[0]["errors"][0] |= {"start": None, "end": None}
    rows[6]["errors"] = []
    rows[7] |= {"errors": [], "score": None, "problem": "cut off"}
    marking.write_lines(folder / "scores.jsonl", rows)
    fields = ("source_id", "source", "response")
    marking.write_lines(
        folder / "data.jsonl", [{name: getattr(item, name) for name in fields} for item in items]
    )


@pytest.fixture
def fill(folder, run, scored):
    """Fill in a copy of the sheet with the labels that ``labels_of`` returns for each row."""
    assert run(*WRITE).status == 0

    def filling(rater, labels_of):
        rows = rows_of(folder / "sheet.csv")
        for number, row in enumerate(rows):
            row["span_is"], row["explanation_is"] = labels_of(number, row)
        path = folder / f"{rater}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        return path

    return filling


def test_a_sheet_has_a_row_for_each_error_with_the_place_in_the_text(run, scored, folder):
    done = run(*WRITE)
    assert done.out.startswith("12 errors of 6 texts in sheet.csv\n")
    assert "1 texts are unscored, and in 1 nothing is marked" in done.out
    assert "not in the text" in done.out
    assert "note: there are 6 texts with an error, fewer than --rows 40" in done.out
    rows = rows_of(folder / "sheet.csv")
    placed = next(row for row in rows if row["source_id"] == "s3")
    assert placed["marked"].startswith("'=[1>Maria Rossi<1] won 14 races")
    assert (placed["part"], placed["severity"]) == ("error 1", "major, 4 of 5")
    assert placed["place"] == "characters 1 to 12"
    assert (placed["span_is"], placed["explanation_is"]) == ("", "")
    invented = next(row for row in rows if row["quoted"] == "the king")
    assert (invented["part"], invented["place"]) == ("error 2", "quoted, but not in the text")
    assert "[2>" not in invented["marked"]


def test_few_texts_are_drawn_by_seed_and_nothing_is_replaced(run, scored, folder):
    first = run(*WRITE, "--rows", "2", "--json")
    assert (first.json["items"], first.json["rows"], first.json["without"]) == (2, 4, 1)
    assert run(*WRITE, "--rows", "2").status == 0
    other = run(*WRITE, "--rows", "2", "--seed", "4")
    assert other.status == 2
    assert "may hold answers" in other.err
    assert run(*WRITE, "--rows", "2", "--seed", "4", "--force").status == 0


def test_labels_come_back_with_shares_agreement_and_both_together(run, fill):
    ana = fill("ana", lambda n, row: ("Error", "correct" if n % 3 else "vague"))
    ben = fill(
        "ben", lambda n, row: ("not an error" if n == 0 else "error", "" if n == 5 else "Vague.")
    )
    done = run("sheet", "read-errors", ana, ben)
    assert done.status == 0
    assert "2 raters on 12 errors of 6 texts" in done.out
    found = run("sheet", "read-errors", ana, ben, "--json").json
    spans, reasons = found["questions"]["span_is"], found["questions"]["explanation_is"]
    assert spans["shares"]["error"]["value"] == 23 / 24
    assert spans["agreement"] == 11 / 12
    assert spans["raters"]["ben"]["not an error"] == 1
    assert (reasons["filled"], reasons["blank"]) == (23, 1)
    assert found["crossed"]["error"]["correct"] == 8
    assert found["crossed"]["not an error"]["vague"] == 1
    assert reasons["shares"]["correct"]["low"] < 8 / 23 < reasons["shares"]["correct"]["high"]


def test_what_is_no_label_is_told_with_its_place(run, fill, folder):
    ana = fill("ana", lambda n, row: ("maybe" if n == 1 else "error", "correct"))
    done = run("sheet", "read-errors", ana)
    assert done.status == 2
    assert "ana.csv:3: span_is: expected one of error, none given, not an error, not in" in done.err
    assert "got 'maybe'" in done.err


def test_rows_that_are_gone_are_noted(run, fill, folder):
    path = fill("ana", lambda n, row: ("error", "correct"))
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    done = run("sheet", "read-errors", path)
    assert "note: 1 row of the sheet not in ana's file: taken as blank." in done.out
