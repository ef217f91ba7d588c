"""Data is scored on one machine, in parts and shards."""

import errno
import json
import subprocess
import sys
from pathlib import Path

import killing
import pytest

from judgesmith.data import read_items, stream_items
from judgesmith.data.formats.opening import open_rows
from judgesmith.data.scores import COLUMNS, PLACES, open_scores, score_columns
from judgesmith.data.sheets.cells import as_written, cell_of
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.scoring import Shard, score_file
from judgesmith.experiments.scoring import parts as parts_module
from judgesmith.experiments.scoring import run as run_module
from judgesmith.experiments.scoring.formats import SCORE_ENDINGS as ENDINGS
from judgesmith.experiments.scoring.formats import write_scores
from judgesmith.experiments.scoring.lines import ScoreLine, read_line
from judgesmith.experiments.scoring.parts import PartFiles
from judgesmith.experiments.scoring.shards import output_places
from judgesmith.programs import score_batch
from judgesmith.programs.families.ensemble.members import (
    CalibratedJudgement,
    PanelJudgement,
    PanelVerdict,
)
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.lm import model
from judgesmith.signatures import CriterionScore, Judgement, RatedItem
from judgesmith.signatures.judgement import Note
from judgesmith.signatures.plain_data import json_line

# formats

MARKS = {"judge": "j", "target": "overall", "run": "r"}
HOSTILE = '=1+1 "quoted", a\nline\r\nand \r \u2028 \x00 \x1b[2J \u202e 👩‍🔬 ]]> -->'


def rows():
    item = RatedItem(source_id="ñ,\n", system_id="", response="r")
    note = Note(kind="unread", about="overall", text="It says.")
    criteria = {HOSTILE: CriterionScore(score=None, explanation=HOSTILE)}
    judgements = [
        Judgement(score=3.5, explanation=HOSTILE, criteria=criteria, notes=(note,)),
        Judgement.unscored(f"cut off {HOSTILE}"),
        CalibratedJudgement(score=2.0, low=1.0, high=3.0, doubt=0.25, uncalibrated=60.0),
        CalibratedJudgement(score=None, problem="in doubt", abstained=True),
        PanelJudgement(score=1.0, members={"a": 1.0, "b": None}, voice="a", disagreement=0.5),
        PanelVerdict(score=1.0, annotations={"a": ()}, support=(("a", "b"),), n_dropped=2),
    ]
    return [score_row(item, one) | MARKS for one in judgements]


def written(place, ending, found, *, placed=False):
    place = place / f"scores{ending}"
    place.touch()
    write_scores((json_line(row)[:-1] for row in found), place, ending, placed=placed)
    return place


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_gives_back_what_was_written_and_the_same_bytes(tmp_path, ending):
    place = written(tmp_path, ending, rows())
    said = [{k: v for k, v in row.items() if v is not None} for row in rows()]
    if ending == ".csv":  # control characters are spelled out, and line ends are one kind
        said = [
            {k: as_written(cell_of(v)) if isinstance(v, str) else v for k, v in row.items()}
            for row in said
        ]
    found = [row for _, row in open_scores(place).rows]
    assert [{k: v for k, v in row.items() if v is not None} for row in found] == said
    assert all("score" in row and "problem" in row for row in found)
    before = place.read_bytes()
    assert written(tmp_path, ending, rows()).read_bytes() == before


def test_no_cell_of_a_csv_file_is_a_formula_or_moves_a_cursor(tmp_path):
    item = RatedItem(source_id="@SUM(1)", system_id="-1+1", response="r")
    judgement = Judgement(score=-1.5, explanation="=HYPERLINK(1)\n+2\x1b[2J")
    place = written(tmp_path, ".csv", [score_row(item, judgement) | MARKS])
    (cells,) = [row for _, row in open_rows(place).rows]
    assert cells["source_id"] == "'@SUM(1)"
    assert cells["system_id"] == "'-1+1"
    assert cells["explanation"] == "'=HYPERLINK(1)\n'+2\\x1b[2J"
    assert cells["score"] == "-1.5"
    (row,) = [row for _, row in open_scores(place).rows]
    assert (row["source_id"], row["system_id"], row["score"]) == ("@SUM(1)", "-1+1", -1.5)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_tables_have_the_same_columns_whatever_rows_hold(tmp_path, ending):
    kinds = (CalibratedJudgement, PanelJudgement, PanelVerdict)
    fields = {name for kind in kinds for name in kind.model_fields}
    assert fields - {"calls", "raw"} <= set(score_columns(labels=True))
    assert not {"label", "probability"} & set(score_columns(labels=False))
    with pytest.raises(ValueError, match="tables have no column for mood; name a file"):
        written(tmp_path, ending, [rows()[0] | {"mood": "good"}])
    place = written(tmp_path, ending, rows()[:1])
    assert list(next(open_rows(place).rows)[1]) == list(COLUMNS)
    place = written(tmp_path, ending, [{"row": 7, "file": "a", **rows()[0]}], placed=True)
    _, row = next(open_scores(place).rows)
    assert list(row)[:2] == list(PLACES)
    assert (row["row"], row["file"]) == (7, "a")


# Scoring that is killed at random moments loses, doubles and asks nothing again.


@pytest.mark.no_cover
def test_whatever_is_killed_the_rows_are_those_of_a_run_that_was_not(tmp_path):
    call = [sys.executable, killing.__file__, "out/", "13"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("kills") >= 2
    answers, undisturbed = found.pop("answers")
    assert answers == undisturbed
    assert found == {"again": 0, "same": True, "left": [], "late": 0}


# parts

MARKS_PARTS = {"judge": "j", "target": "t", "run": "r"}
AGAIN = {"problem": "not asked: the budget is spent", "again": True}


def key(n):
    return 2 * f"{n:016x}"


def line(n, note=None, row='{"score": 1}'):
    return ScoreLine(n, key(n), note, row)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(parts_module, "ROWS", 2)


@pytest.fixture
def begun(tmp_path):
    """Return parts of one file, as each process makes its own."""

    def begin(**options):
        return PartFiles(
            tmp_path / "out.jsonl", options.pop("marks", MARKS_PARTS), **_ordered(options)
        )

    return begin


def _ordered(options):
    return {"ordered": True, **options}


def stopped(parts, *lines):
    """Let a process take rows and be killed."""
    for one in lines:
        parts.add(one)
    parts.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "one", [line(3), line(4, AGAIN), ScoreLine(5, key(5), {"stated": '", null, {'}, '{"a": ", {"}')]
)
def test_a_line_is_read_as_it_was_written(one):
    assert read_line(f"{one.written()}\n") == one
    with pytest.raises(ValueError, match=r"not enough|expected|Expecting|invalid"):
        read_line(one.written()[:-3])


@pytest.mark.usefixtures("small")
def test_rows_that_were_committed_are_known_to_the_next_process_and_come_in_order(begun, tmp_path):
    stopped(begun(), line(1), line(2), line(3))
    parts = begun()
    earlier = parts.earlier()
    assert [earlier.has(n, key(n)) for n in (1, 2, 3, 4)] == [True, True, False, False]
    earlier.refuse_rest(4)
    for n in (3, 4, 5):
        parts.add(line(n))
    assert [one.number for one in parts.lines()] == [1, 2, 3, 4, 5]
    parts.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_few_rows_need_no_folder_and_what_goes_wrong_leaves_none(begun, tmp_path):
    parts = begun()
    parts.add(line(1))
    assert list(tmp_path.iterdir()) == []
    assert list(parts.lines()) == [line(1)]
    parts.leave()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_rows_worth_another_try_are_judged_again_and_replaced(begun):
    stopped(begun(), line(1), line(2, AGAIN), line(3, AGAIN), line(4))
    parts = begun()
    earlier = parts.earlier()
    assert [earlier.has(n, key(n)) for n in (1, 2, 3, 4)] == [True, False, False, True]
    parts.add(line(2))
    parts.add(line(3, AGAIN))
    assert list(parts.lines()) == [line(1), line(2), line(3, AGAIN), line(4)]


@pytest.mark.usefixtures("small")
def test_rows_in_no_order_are_known_by_their_number(begun):
    stopped(begun(ordered=False), line(40), line(7), line(1, AGAIN), line(8))
    parts = begun(ordered=False)
    earlier = parts.earlier()
    with pytest.raises(FileExistsError, match="holds rows beyond the 5 of this input"):
        earlier.refuse_rest(5)
    with pytest.raises(FileExistsError, match="row 7 of the run that was stopped is about other"):
        earlier.has(7, key(9))
    assert [n for n in range(1, 50) if earlier.has(n, key(n))] == [7, 8, 40]
    earlier.refuse_rest(40)
    parts.add(line(1))
    assert [one.number for one in parts.lines()] == [40, 7, 8, 1]


@pytest.mark.usefixtures("small")
def test_other_texts_and_fewer_rows_are_refused(begun):
    stopped(begun(), line(1), line(2))
    earlier = begun().earlier()
    with pytest.raises(FileExistsError, match=r"out.jsonl.parts: row 1 of the run"):
        earlier.has(1, key(2))
    with pytest.raises(FileExistsError, match=r"beyond the 0 of this input; give the whole input"):
        earlier.refuse_rest(0)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"marks": MARKS_PARTS | {"judge": "k"}}, "of another judge"),
        ({"marks": MARKS_PARTS | {"run": "q"}}, "for another input or model"),
        ({"ordered": False}, "written in order"),
    ],
)
def test_parts_of_another_run_are_refused_unless_it_starts_over(begun, tmp_path, other, said):
    stopped(begun(), line(1), line(2))
    with pytest.raises(FileExistsError, match=f"rows of a run that was stopped, {said}; finish"):
        begun(**other)
    assert begun(fresh=True, **other).earlier().has(1, key(1)) is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("damaged", [b'[1, "', b"\xff\n", b'[1, "k", ' + b"[" * 100_000])
def test_a_damaged_part_is_named(begun, tmp_path, damaged):
    stopped(begun(), line(1), line(2))
    (part,) = (tmp_path / "out.jsonl.parts").glob("*.jsonl")
    part.write_bytes(damaged)
    with pytest.raises(FileExistsError, match=r"000000-000000000.jsonl:1: expected a row of a run"):
        begun().earlier()


@pytest.mark.usefixtures("small")
def test_a_full_disk_is_told_with_the_name_of_the_file(begun, tmp_path, monkeypatch):
    def full(draft, place):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(parts_module, "put", full)
    parts = begun()
    parts.add(line(1))
    with pytest.raises(OSError, match=r"out\.jsonl: No space left on device"):
        parts.add(line(2))
    parts.close()


@pytest.mark.usefixtures("small")
def test_a_process_beside_another_keeps_its_rows_to_itself(begun, tmp_path):
    one = begun()
    for n in (1, 2):
        one.add(line(n))
    other = begun()
    assert other.earlier().has(1, key(1)) is False
    for n in (1, 2, 3):
        other.add(line(n))
    assert [len(list(each.lines())) for each in (one, other)] == [2, 3]
    one.remove()
    assert [each.number for each in other.lines()] == [1, 2, 3]
    other.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_a_folder_of_somebody_else_is_left_alone(begun, tmp_path):
    theirs = tmp_path / "out.jsonl.parts"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("all of it")
    for fresh in (False, True):
        parts = begun(fresh=fresh)
        for n in (1, 2, 3):
            parts.add(line(n))
        assert [one.number for one in parts.lines()] == [1, 2, 3]
        parts.remove()
    assert [one.name for one in theirs.iterdir()] == ["thesis.txt"]
    assert list(tmp_path.iterdir()) == [theirs]


# scoring


@pytest.fixture(scope="module")
def saved():
    data = read_items("sample").subset(range(40))
    return compile_judge(data, CompileSettings(n_rounds=2), lm=model(ledger=None)).saved


@pytest.fixture
def lm():
    return model(ledger=None)


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.no_cover
def test_a_file_holds_what_the_judge_says_of_each_text(saved, lm, tmp_path):
    output = tmp_path / "out.jsonl"
    done = score_file(saved, stream_items("sample"), output, lm=lm)
    items = read_items("sample")
    judgements = score_batch(saved, items, lm=lm)
    rows = rows_of(output)
    assert (done.n_rows, done.n_unscored, done.reasons) == (160, 0, {})
    assert [row["score"] for row in rows] == [one.score for one in judgements]
    assert [(r["source_id"], r["system_id"]) for r in rows] == [
        (i.source_id, i.system_id) for i in items
    ]
    assert {row["judge"] for row in rows} == {saved.fingerprint}


@pytest.mark.no_cover
def test_no_more_of_the_input_is_read_than_is_under_way(saved, lm, tmp_path):
    n_read = 0
    most = 0

    def items():
        nonlocal n_read
        for n in range(300):
            n_read += 1
            yield RatedItem(source=f"Number {n}.", response=f"{n} it is.", source_id=str(n))

    def listen(event):
        nonlocal most, done
        done = event.done
        most = max(most, n_read - done)

    done = 0
    score_file(saved, items(), tmp_path / "o.jsonl", lm=lm, concurrency=4, on_progress=listen)
    assert done == 300
    assert most <= 64 + 4 * 4 + 16


def test_a_fault_in_the_middle_leaves_nothing(saved, lm, tmp_path):
    def items():
        yield RatedItem(source="a", response="b")
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        score_file(saved, items(), tmp_path / "out.jsonl", lm=lm)
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_file_stays_whole_until_the_new_one_is(saved, lm, tmp_path):
    output = tmp_path / "out.jsonl"
    items = [RatedItem(source="a", response=str(n), source_id=str(n)) for n in range(5)]
    score_file(saved, iter(items), output, lm=lm)
    before = output.read_bytes()

    def broken():
        yield items[0]
        assert output.read_bytes() == before
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        score_file(saved, broken(), output, lm=lm)
    assert output.read_bytes() == before


@pytest.mark.parametrize("holds", ["hello\n", '{"judge": "other"}\n', "[1]\n", "{", "\xff"])
def test_what_is_no_score_of_this_run_is_not_replaced(saved, lm, tmp_path, holds):
    output = tmp_path / "out.jsonl"
    output.write_text(holds, encoding="latin-1")
    with pytest.raises(FileExistsError, match="replace it with --force"):
        score_file(saved, stream_items("sample"), output, lm=lm)
    assert output.read_text(encoding="latin-1") == holds
    score_file(saved, stream_items("sample"), output, lm=lm, overwrite=True)
    assert len(rows_of(output)) == 160


WORDS = "gramática, 评价 👩‍🔬"
HOSTILE_SCORING = "\ud800 \u2028 \x85 \x9b2J \x1b[2J \u202e \r\n \U000e0001"


def test_words_are_written_as_people_write_them_and_nothing_ends_a_line(saved, tmp_path):
    def answers(judge, items, **_):
        for item in items:
            yield item, Judgement(score=1.0, explanation=WORDS + HOSTILE_SCORING)

    output = tmp_path / "out.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "iter_scores", answers)
        score_file(saved, iter([RatedItem(response="r", source_id="ñ")]), output)
    text = output.read_text(encoding="utf-8")
    assert "gramática, 评价 " in text
    assert '"ñ"' in text
    (line,) = text.splitlines()
    assert line.isprintable()
    assert json.loads(line)["explanation"] == WORDS + HOSTILE_SCORING


# targets

AB = (Shard("in/a.csv"), Shard("in/b.jsonl.gz"))


def test_a_file_takes_all_rows_and_a_folder_has_a_file_for_each_input():
    (one,) = output_places("out.csv", AB)
    assert (one.place, one.ending, one.shards) == (Path("out.csv"), ".csv", AB)
    several = output_places("out/", AB, ending=".jsonl.gz")
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
        output_places(output, inputs, ending=ending)


def test_nothing_is_written_where_it_is_read(shards):
    inside = [Shard(f"in/{name}.jsonl", folder="in") for name in "abc"]
    with pytest.raises(ValueError, match=r"in/a\.jsonl is read by this command"):
        output_places("in/a.jsonl", inside)
    with pytest.raises(ValueError, match="would lie in in, all of which is read"):
        output_places("in/out.jsonl", inside)
    with pytest.raises(ValueError, match=r"out would lie in in, .* name one in another folder"):
        output_places("in/out/", inside)
    with pytest.raises(ValueError, match=r"in holds in/a\.jsonl, which is read"):
        output_places("in", inside)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("damaged", ["", "[1]", "[" * 100_000])
def test_parts_that_do_not_say_whose_they_are_are_refused(begun, tmp_path, damaged):
    stopped(begun(), line(1), line(2))
    (tmp_path / "out.jsonl.parts" / "run.json").write_text(damaged)
    with pytest.raises(FileExistsError, match="rows of a run that was stopped"):
        begun()


@pytest.mark.usefixtures("small")
def test_what_a_process_left_before_its_first_part_is_cleared_away(begun, tmp_path):
    (tmp_path / "out.jsonl.parts").mkdir()
    (tmp_path / "out.jsonl.parts" / "draft").write_text("half")
    begun()
    assert list(tmp_path.iterdir()) == []
