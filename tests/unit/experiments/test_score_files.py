import gzip
import json
import math

import numpy as np
import pytest

from judgesmith.data import DataError, DataSet, read_scores
from judgesmith.data.score_files import NO_ROW
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import Cause, Reason


@pytest.fixture
def data():
    ids = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "x")]
    items = [RatedItem(source_id=s, system_id=m, response=f"r{n}") for n, (s, m) in enumerate(ids)]
    return DataSet(name="toy", items=tuple(items))


@pytest.fixture
def write(tmp_path):
    def rows(*several, name="scores.jsonl"):
        text = "".join(json.dumps(row) + "\n" for row in several)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return rows


def row(source, system, **fields):
    return {"source_id": source, "system_id": system, **fields}


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.jsonl.gz"])
def test_scores_find_their_items_whatever_the_order(data, write, name):
    path = write(row("b", "x", score=3), row("a", "y", score=2), row("a", "x", score=1), name=name)
    found = read_scores(path, data)
    np.testing.assert_equal(found.values, [1, 2, 3, np.nan])
    assert found.problems == (None, None, None, NO_ROW)
    assert (found.label, found.n_unused) == (name, 0)


def test_items_that_share_their_ids_are_told_apart_by_order(data, write):
    path = write(row("b", "x", score=3), row("a", "x", score=1), row("b", "x", score=4))
    np.testing.assert_equal(read_scores(path, data).values, [1, np.nan, 3, 4])


def test_why_there_is_no_score_is_kept(data, write):
    path = write(
        row("a", "x", score=None, problem="no end", reason="cut_off"), row("a", "y", score=None)
    )
    found = read_scores(path, data)
    unknown = Cause(Reason.OTHER, "unscored, without a reason")
    assert found.problems[:2] == (Cause(Reason.CUT_OFF, "no end"), unknown)


@pytest.mark.parametrize("code", [None, "", "it broke off", 3, ["cut_off"]])
def test_what_is_no_code_is_another_reason(data, write, code):
    path = write(row("a", "x", score=None, problem="cut off", reason=code))
    assert read_scores(path, data).problems[0] == Cause(Reason.OTHER, "cut off")


def test_recorded_answers_are_averaged_over_those_that_could_be_read(data, write):
    path = write(row("a", "x", scores=[1, None, 2]), row("a", "y", scores=[None]))
    found = read_scores(path, data)
    np.testing.assert_equal(found.values[:2], [1.5, np.nan])
    assert found.problems[1].text == "the recorded judge gave no readable score"


def test_tables_hold_scores_too(data, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("source_id,system_id,score\na,x,1.5\na,y,\n")
    np.testing.assert_equal(read_scores(path, data).values, [1.5, np.nan, np.nan, np.nan])


def recorded(write):
    return write(
        *(
            row("a", "x", judge=judge, criterion=criterion, scores=[value])
            for value, (judge, criterion) in enumerate(
                [("p", "wit"), ("p", "overall"), ("q", "wit"), ("q", "depth")]
            )
        )
    )


@pytest.mark.parametrize(
    ("asked", "value", "criterion"),
    [
        ({"judge": "p"}, 1, "overall"),
        ({"judge": "p", "criterion": "wit"}, 0, "wit"),
        ({"judge": "q", "target": "depth"}, 3, "depth"),
        ({"judge": "q", "criterion": "wit", "target": "depth"}, 2, "wit"),
    ],
)
def test_one_of_several_judges_and_criteria_is_picked(data, write, asked, value, criterion):
    found = read_scores(recorded(write), data, **asked)
    assert (found.values[0], found.criterion) == (value, criterion)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "judge: expected one of p, q (say which with"),
        ({"judge": "r"}, "judge: expected one of p, q"),
        ({"judge": "q"}, "criterion: expected one of depth, wit (say which with --criterion NAME)"),
        ({"judge": "q", "criterion": "overall"}, "expected one of depth, wit"),
    ],
)
def test_what_cannot_be_picked_is_asked_for(data, write, asked, said):
    with pytest.raises(DataError) as caught:
        read_scores(recorded(write), data, **asked)
    assert said in str(caught.value)


def test_a_judge_cannot_be_picked_where_none_is_named(data, write):
    with pytest.raises(DataError, match="judge: expected no judge to be named; got 'p'"):
        read_scores(write(row("a", "x", score=1)), data, judge="p")


def test_rows_of_other_sets_are_left_out_and_counted(data, write):
    path = write(
        row("a", "x", judge="p", score=1),
        row("c", "x", judge="p", score=1),
        row("d", "x", judge="other", score="never read"),
    )
    assert read_scores(path, data).n_unused == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"score": "good"},
        {"score": True},
        {"score": [1]},
        {"score": math.inf},
        {"scores": 3},
        {"scores": ["x"]},
        {"scores": [math.nan]},
    ],
    ids=str,
)
def test_what_is_no_score_is_a_problem_with_its_line(data, write, wrong):
    path = write(row("a", "x", score=1), row("a", "y", **wrong))
    with pytest.raises(DataError) as caught:
        read_scores(path, data)
    assert [one.where for one in caught.value.problems] == ["scores.jsonl:2"]


def test_a_second_score_for_one_item_is_a_problem(data, write):
    with pytest.raises(DataError, match=r"scores.jsonl:2: .*expected one score for 'a', 'x'"):
        read_scores(write(row("a", "x", score=1), row("a", "x", score=1)), data)
    with pytest.raises(DataError, match=r"scores.jsonl:3: .*expected 2 scores for 'b', 'x'"):
        read_scores(write(*[row("b", "x", score=1)] * 3), data)


def test_one_side_of_several_pairs_may_be_said_again_with_each(data, write):
    said = [row("a", "x", score=1, pair=pair) for pair in ("p", "q")]
    assert read_scores(write(*said), data).values[0] == 1
    with pytest.raises(DataError, match="one more"):
        read_scores(write(*said, row("a", "x", score=2, pair="r")), data)


def test_a_file_for_other_texts_is_refused(data, write):
    with pytest.raises(DataError, match="score the same file that you evaluate on"):
        read_scores(write(row("z", "x", score=1)), data)


def test_a_score_of_other_texts_is_refused_with_its_row(data, write):
    own = [row("a", "x", score=1, run="r", key=data[0].key)]
    np.testing.assert_equal(read_scores(write(*own), data).values[:2], [1, np.nan])
    path = write(*own, row("a", "y", score=2, run="r", key=data[0].key))
    with pytest.raises(
        DataError, match=r"scores\.jsonl:2: key: .*that 'a', 'y' has in toy"
    ) as caught:
        read_scores(path, data)
    assert len(caught.value.problems) == 1


def test_texts_are_compared_too_where_items_share_their_ids(data, write):
    second = row("b", "x", score=4, run="r", key=data[3].key)
    first = row("b", "x", score=3, run="r", key=data[2].key)
    np.testing.assert_equal(read_scores(write(first, second), data).values[2:], [3, 4])
    with pytest.raises(DataError, match="2 problems"):
        read_scores(write(second, first), data)


def test_a_key_from_elsewhere_says_nothing_about_texts(data, write):
    assert read_scores(write(row("a", "x", score=1, key="mine")), data).values[0] == 1


def test_where_only_systems_differ_the_way_out_is_the_same_map(data, write):
    with pytest.raises(DataError, match=r"'a' has 'x, y' .*the same --map\); got nothing"):
        read_scores(write(row("a", "", score=1)), data)


def written(source, system, criteria, *, target="overall", **fields):
    ours = {"run": "abc", "target": target, "criteria": criteria}
    return row(source, system, **({"score": 3} | ours | fields))


def test_scores_on_criteria_are_read_where_score_wrote_them(data, write):
    why = {"score": None, "explanation": "no score: cut off"}
    path = write(
        written("a", "x", {"Clear": {"score": 70, "explanation": "It is."}, "kind": why}),
        written("b", "x", {}, score=None, problem="cut off"),
    )
    found = read_scores(path, data)
    assert found.target == "overall"
    assert found.criteria[0]["Clear"].score == 70
    assert found.criteria[0]["kind"].explanation == "no score: cut off"
    assert [dict(one) for one in found.criteria[1:]] == [{}, {}, {}]


def test_what_others_call_criteria_or_target_is_none_of_ours(data, write):
    path = write(
        row("a", "x", score=1, criteria=["clear"], target=[1]),
        row("a", "y", score=2, criteria={"clear": 5}, target="overall"),
    )
    found = read_scores(path, data)
    assert (found.criteria, found.target) == ((), None)


@pytest.mark.parametrize("second", [{"target": "mean"}, {"target": 5}, {"run": None}])
def test_rows_of_several_judges_say_of_none_what_it_was_compiled_for(data, write, second):
    path = write(written("a", "x", {}), written("a", "y", {}, **second))
    assert read_scores(path, data).target is None


@pytest.mark.parametrize(
    ("one", "came"),
    [
        (5, r"5 for 'clear'"),
        ({"explanation": "x"}, r"\{'explanation': 'x'\} for 'clear'"),
        ({"score": "good"}, "'good'"),
        ({"score": float("nan")}, "nan"),
    ],
)
def test_scores_on_criteria_that_are_none_are_named(data, write, one, came):
    path = write(written("a", "x", {}), written("a", "y", {"clear": one}))
    with pytest.raises(DataError, match=rf"scores.jsonl:2: criteria: expected a score .*{came}"):
        read_scores(path, data)


def test_every_answer_behind_a_score_is_kept_in_order(data, write):
    path = write(row("a", "x", scores=[1, None, 2]), row("a", "y", score=4))
    np.testing.assert_equal(read_scores(path, data).samples, ((1, np.nan, 2), (4,), (), ()))
