import json

import pytest

from judgesmith.data import read_items, stream_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.scoring import score_file, scoring
from judgesmith.programs import judge_items
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.lm import model
from judgesmith.signatures import ErrorSpan, Judgement, RatedItem


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
    judgements = judge_items(saved, items, lm=lm)
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

    def progress(n):
        nonlocal most, done
        done += n
        most = max(most, n_read - done)

    done = 0
    score_file(saved, items(), tmp_path / "o.jsonl", lm=lm, concurrency=4, progress=progress)
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


@pytest.mark.no_cover
def test_an_empty_file_holds_nobodys_rows(saved, lm, tmp_path):
    output = tmp_path / "out.jsonl"
    output.touch()
    assert score_file(saved, stream_items("sample"), output, lm=lm).n_rows == 160


WORDS = "gramática, 评价 👩‍🔬"
HOSTILE = "\ud800 \u2028 \x85 \x9b2J \x1b[2J \u202e \r\n \U000e0001"


def test_words_are_written_as_people_write_them_and_nothing_ends_a_line(saved, tmp_path):
    def answers(judge, items, **_):
        for item in items:
            yield item, Judgement(score=1.0, explanation=WORDS + HOSTILE)

    output = tmp_path / "out.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "judge_each", answers)
        score_file(saved, iter([RatedItem(response="r", source_id="ñ")]), output)
    text = output.read_text(encoding="utf-8")
    assert "gramática, 评价 " in text
    assert '"ñ"' in text
    (line,) = text.splitlines()
    assert line.isprintable()
    assert json.loads(line)["explanation"] == WORDS + HOSTILE


def test_a_row_says_all_there_is_to_say():
    judgement = Judgement.unscored("cut off", explanation="It …")
    row = score_row(RatedItem(source_id="s", system_id="m", response="r"), judgement)
    assert row == {
        "source_id": "s",
        "system_id": "m",
        "key": RatedItem(response="r").key,
        "score": None,
        "explanation": "It …",
        "criteria": {},
        "errors": [],
        "problem": "cut off",
        "reason": "other",
    }
    spans = Judgement(score=1.0, errors=(ErrorSpan(text="x", start=0, end=1),))
    assert score_row(RatedItem(response="x"), spans)["errors"][0]["end"] == 1
