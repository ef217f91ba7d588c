import gzip
import json

import pytest

from judgesmith.data.formats.opening import open_rows
from judgesmith.data.scores import COLUMNS, PLACES, open_scores
from judgesmith.data.sheets import as_written, cell_of
from judgesmith.experiments.scoring.formats import SCORE_ENDINGS as ENDINGS
from judgesmith.experiments.scoring.formats import write_rows
from judgesmith.programs.families.ensemble.members import (
    CalibratedJudgement,
    PanelJudgement,
    PanelVerdict,
)
from judgesmith.programs.judging.rows import score_row
from judgesmith.signatures import CriterionScore, Judgement, RatedItem
from judgesmith.signatures.judgement import Note
from judgesmith.signatures.plain_data import json_line

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
    write_rows((json_line(row)[:-1] for row in found), place, ending, placed=placed)
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


def test_packed_lines_are_the_lines_packed(tmp_path):
    plain, packed = (written(tmp_path, one, rows()) for one in (".jsonl", ".jsonl.gz"))
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert len(plain.read_bytes().splitlines()) == 6


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_tables_have_the_same_columns_whatever_rows_hold(tmp_path, ending):
    kinds = (CalibratedJudgement, PanelJudgement, PanelVerdict)
    fields = {name for kind in kinds for name in kind.model_fields}
    assert fields - {"calls", "raw"} <= set(COLUMNS)
    with pytest.raises(ValueError, match="tables have no column for mood; name a file"):
        written(tmp_path, ending, [rows()[0] | {"mood": "good"}])
    place = written(tmp_path, ending, rows()[:1])
    assert list(next(open_rows(place).rows)[1]) == list(COLUMNS)
    place = written(tmp_path, ending, [{"row": 7, "file": "a", **rows()[0]}], placed=True)
    _, row = next(open_scores(place).rows)
    assert list(row)[:2] == list(PLACES)
    assert (row["row"], row["file"]) == (7, "a")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_half_a_surrogate_pair_is_an_escape_in_tables(tmp_path, ending):
    row = rows()[0] | {"explanation": "a\ud800b"}
    _, found = next(open_scores(written(tmp_path, ending, [row])).rows)
    assert found["explanation"] == "a\\ud800b"


def test_rows_from_elsewhere_are_left_as_they_are(tmp_path):
    place = tmp_path / "theirs.csv"
    place.write_text('source_id,score,criteria\na,3,"{""x"": 1}"\n')
    assert [row for _, row in open_scores(place).rows] == [
        {"source_id": "a", "score": "3", "criteria": json.dumps({"x": 1})}
    ]
