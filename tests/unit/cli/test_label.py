"""Sheets for raters, and error spans."""

import csv
import json

import hostile
import marking
import pytest

from judgesmith.signatures import RatedItem

# sheet

WRITE = ["sheet", "write", "scores.jsonl", "data.jsonl", "-o", "sheet.csv"]


@pytest.fixture
def scores(run, judge, data, folder):
    assert run("score", judge, data, "-o", "scores.jsonl").status == 0
    return folder / "scores.jsonl"


@pytest.fixture
def sheet(run, scores, folder):
    assert run(*WRITE, "--rows", "6").status == 0
    return folder / "sheet.csv"


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["scores.csv", "data.csv"])
def test_a_sheet_never_replaces_what_it_is_made_from(run, folder, name):
    for one in ("scores.csv", "data.csv"):
        (folder / one).write_text("a,b\n1,2\n")
    done = run("sheet", "write", "scores.csv", "data.csv", "-o", f"./{name}", "--force")
    assert done.status == 2
    assert "is read by this command" in done.err
    assert (folder / name).read_text() == "a,b\n1,2\n"


# suggest


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
    assert "were selected by suggest and not at random" in done.out
    fill(folder / "next.csv", ["1", "9"])
    bad = run(*learn[:-4], "-o", "newer", "--json")
    assert bad.status == 2
    assert "filled.csv:3: overall: a number from 1 (worst) to 5 (best)" in bad.fault["error"]


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


# errors

PLANTED = ["errors", "scores.jsonl", "data.jsonl"]


def row_of(item):
    return {
        **{name: getattr(item, name) for name in ("source_id", "system_id", "source", "response")},
        "human": {},
        **item.extra,
    }


@pytest.fixture
def write(folder):
    """Write texts, and rows of scores with the errors that ``errors_of`` returns for each."""

    def writing(items, errors_of, **fields):
        marking.write_lines(folder / "data.jsonl", [row_of(item) for item in items])
        rows = [
            marking.score_row(item, errors_of(item)) | fields.get(item.system_id, {})
            for item in items
        ]
        marking.write_lines(folder / "scores.jsonl", rows)

    return writing


@pytest.fixture
def planted(write):
    """Five texts, of which a judge marks all that was changed in them, and a name everywhere."""
    items = marking.changed_items(5)
    places = marking.places_in(marking.changed_set(5))

    def errors_of(item):
        changed = places.get((item.source_id, item.system_id), ())
        return marking.marked(item.response, (0, 5), *changed)

    write(items, errors_of)
    return items


def test_texts_are_shown_with_numbered_marks_and_reasons(run, write):
    item = marking.changed_items(1)[0]
    errors = marking.marked(item.response, (0, 11), (6, 15))
    errors[0] |= {"criterion": "consistency", "severity": 5}
    errors[1] |= {"text": "Rossi lost", "located": "fuzzy", "ambiguous": True, "severity": None}
    errors.append({"text": "nobody", "located": "unresolved", "severity": 2})
    errors.append({"text": "", "located": "missing", "explanation": "Who was second?"})
    write([item], lambda item: errors)
    out = run(*PLANTED).out
    assert "scores.jsonl on data: 4 errors in 1 of 1 text; 0 unscored, 0 with a note" in out
    assert "[1>Maria [2>Rossi<1] won<2] 04 of the 20 races" in out
    assert "  1 critical, 5 of 5; characters 0 to 11; about consistency\n" in out
    assert "    why: Number 1 is wrong.\n" in out
    assert "of no stated severity; characters 6 to 15, quoted with other letters" in out
    assert "    quoted: Rossi lost\n" in out
    assert "  3 minor, 2 of 5; quoted, but not in the text\n    quoted: nobody\n" in out
    assert "missing from the text\n    why: Who was second?\n" in out
    assert "one of several such places" in out


def test_of_a_panel_it_is_told_who_found_an_error_and_one_member_can_be_read(run, write):
    item = marking.changed_items(1)[0]
    own = {"annotations": {"gemma": marking.marked(item.response, (0, 5)), "qwen": []}}
    of_panel = own | {"members": {"gemma": 20, "qwen": 80}, "support": [["gemma"]]}
    write([item], lambda item: marking.marked(item.response, (0, 5)), m=of_panel)
    assert "1 major, 4 of 5; characters 0 to 5; found by gemma\n" in run(*PLANTED).out
    gemma, qwen = (run(*PLANTED, "--member", name, "--all").out for name in ("gemma", "qwen"))
    assert "gemma of scores.jsonl on data: 1 error in 1 of 1 text" in gemma
    assert "0 errors in 0 of 1 text" in qwen
    assert "0, m: score 80" in qwen


def test_few_texts_are_shown_and_the_command_says_how_to_see_more(run, planted):
    out = run(*PLANTED, "--rows", "2", "--start", "4", "--gold", "none").out
    assert out.count(": score 40") == 2
    assert "texts 4 to 5 of" in " ".join(out.split())
    assert "the next with --start 6" in " ".join(out.split())
    assert ": score 40" not in run(*PLANTED, "--rows", "0").out
    last = run(*PLANTED, "--rows", "9", "--start", "999")
    assert (last.status, ": score" in last.out) == (0, False)
    assert "and --start is 999.\n" in last.out


def test_errors_are_held_against_edits(run, planted):
    done = run(*PLANTED, "--rows", "0")
    assert "Places beside what was changed: 1" in done.out
    assert "character_typos/minor" in done.out
    assert "Controls, which make no text worse" in done.out
    found = run(*PLANTED, "--rows", "0", "--json").json
    assert found["evaluation"]["gold"] == "edits"
    assert found["evaluation"]["new"]["pairs"]["f1"]["value"] > 0.95
    assert found["evaluation"]["all"]["pairs"]["precision"]["value"] < 1.0
    assert {kind["name"] for kind in found["evaluation"]["kinds"]} == set(marking.KINDS)
    assert run(*PLANTED, "--gold", "none", "--json").json["evaluation"] is None


def test_errors_are_held_against_what_people_marked(run, folder, write):
    items = [
        item.model_copy(
            update={"extra": {"errors": [{"severity": "Major", "start": 0, "end": 5}] * (n % 2)}}
        )
        for n, item in enumerate(marking.changed_items(6)[::5])
    ]
    write(items, lambda item: marking.marked(item.response, (0, 5)))
    out = run(*PLANTED, "--rows", "0").out
    assert "Places beside what raters marked" in out
    assert "half credit for severity" in out
    assert "Number and severity, whatever the place" in out
    data = folder / "data.jsonl"
    data.write_text(data.read_text().replace(', "start": 0, "end": 5', ""))
    done = run(*PLANTED, "--rows", "0", "--json")
    assert done.json["evaluation"]["all"] is None
    assert "not their places" in done.err


def test_a_page_is_written_once_and_the_same_every_time(run, folder, planted):
    page = folder / "page.html"
    done = run(*PLANTED, "--html", "page.html")
    assert done.status == 0
    assert "texts in page.html" in done.out
    assert ": score 40" not in done.out
    before = page.read_bytes()
    assert run(*PLANTED, "--html", "page.html").status == 2
    assert run(*PLANTED, "--html", "page.html", "--force", "--json").json["output"] == "page.html"
    assert page.read_bytes() == before


def test_no_terminal_obeys_and_no_page_runs_what_a_text_says(run, folder, write):
    texts = [text for text in hostile.TEXTS.values() if 8 <= len(text) < 3000]
    item = marking.changed_items(1)[0]
    items = [
        item.model_copy(update={"source_id": text[:40] + str(n), "response": text, "source": text})
        for n, text in enumerate([*texts, "<script>alert(1)</script>" * 9])
    ]
    evil = "<img src=x onerror=alert(1)>\u202e\x1b[2J"

    def errors_of(item):
        errors = marking.marked(item.response, (0, 3), (2, 7))
        return [one | {"explanation": evil + item.response, "criterion": evil} for one in errors]

    write(items, errors_of)
    done = run(*PLANTED, "--rows", "999", "--gold", "none")
    assert done.status == 0
    assert all(one.isprintable() or one in "\n\t" for one in done.out + done.err)
    assert run(*PLANTED, "--html", "page.html", "--gold", "none").status == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1
    for forbidden in ("<script>alert", "<img", "\u202e", "\x1b"):
        assert forbidden not in page


# errors sheet

WRITE_ERRORS_SHEET = ["sheet", "write-errors", "scores.jsonl", "data.jsonl", "-o", "sheet.csv"]
TEXT = "=Maria Rossi won 14 races, and then she won 20 more."


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


def test_a_sheet_has_a_row_for_each_error_with_the_place_in_the_text(run, scored, folder):
    done = run(*WRITE_ERRORS_SHEET)
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
    first = run(*WRITE_ERRORS_SHEET, "--rows", "2", "--json")
    assert (first.json["items"], first.json["rows"], first.json["without"]) == (2, 4, 1)
    assert run(*WRITE_ERRORS_SHEET, "--rows", "2").status == 0
    other = run(*WRITE_ERRORS_SHEET, "--rows", "2", "--seed", "4")
    assert other.status == 2
    assert "may hold answers" in other.err
    assert run(*WRITE_ERRORS_SHEET, "--rows", "2", "--seed", "4", "--force").status == 0
