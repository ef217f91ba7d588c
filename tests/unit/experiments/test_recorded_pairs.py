import json

import numpy as np
import pytest

from judgesmith.data import DataError, DataSet, read_scores
from judgesmith.data.score_files import OTHER_ORDER, PairedAnswers, Scores, read_recorded
from judgesmith.data.scores import NO_ANSWER
from judgesmith.signatures import RatedItem


@pytest.fixture
def data():
    ids = [("s", "a"), ("s", "b"), ("t", "a"), ("t", "b|c"), ("u", "a"), ("u", "b"), ("u", "b")]
    items = [RatedItem(source_id=s, system_id=m, response=f"r{n}") for n, (s, m) in enumerate(ids)]
    return DataSet(name="toy", items=tuple(items))


@pytest.fixture
def read(tmp_path, data):
    def rows(*several, **options):
        path = tmp_path / "pairs.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in several))
        return read_recorded(path, data, **options)

    return rows


def row(source, system, *scores, **fields):
    return {"source_id": source, "system_id": system, "scores": list(scores), **fields}


def test_a_comparison_names_two_rows_of_a_source(read):
    found = read(row("s", "a|b", 1), row("t", "a|b|c", 0.5))
    assert (found.first.tolist(), found.second.tolist()) == ([0, 2], [1, 3])
    assert found.given.tolist() == [1, 0.5]
    assert (found.has_both_orders, found.problems) == (False, (None, None))
    assert (found.label, found.example) == ("pairs.jsonl", "'a|b'")


def test_the_other_order_may_be_written_the_other_way_round(read):
    found = read(row("s", "b|a", 1), row("s", "a|b", 1))
    assert (found.first.tolist(), found.second.tolist()) == ([1], [0])
    assert (found.given.tolist(), found.swapped.tolist()) == ([1], [0])


def test_the_other_order_may_be_a_judge_of_that_name(read):
    name = "m order swapped"
    rows = [row("s", "a|b", 1, judge="m"), row("s", "a|b", 0, judge=name)]
    for judge in (None, "m"):
        found = read(*rows, judge=judge)
        assert (found.label, found.given.tolist(), found.swapped.tolist()) == ("m", [1], [0])
    alone = read(*rows, judge=name)
    assert (alone.label, alone.given.tolist(), alone.has_both_orders) == (name, [0], False)


def test_a_twin_answers_on_the_same_criterion_alone(read):
    name = "m order swapped"
    rows = [
        row("s", "a|b", 1, judge=judge, criterion=criterion)
        for judge in ("m", name)
        for criterion in ("wit", "tone")
    ]
    found = read(*rows, criterion="wit")
    assert (found.criterion, found.swapped.tolist()) == ("wit", [1])


def test_a_pair_that_was_seen_in_the_other_order_alone_says_so(read):
    name = "m order swapped"
    rows = [row("s", "a|b", 1, judge="m"), row("t", "a|b|c", 0, judge=name)]
    found = read(*rows, judge="m")
    np.testing.assert_equal(found.given, [1, np.nan])
    np.testing.assert_equal(found.swapped, [np.nan, 0])
    assert found.problems == (None, OTHER_ORDER)


def test_the_majority_of_several_samples_counts(read):
    found = read(row("s", "a|b", 1, None, 1, 0), row("t", "a|b|c", None))
    np.testing.assert_equal(found.given, [1, np.nan])
    assert found.problems == (None, NO_ANSWER)


def test_a_plain_score_is_a_preference_too(read):
    found = read({"source_id": "s", "system_id": "a|b", "score": 0})
    assert found.given.tolist() == [0]


def test_rows_of_other_sets_are_counted(read):
    found = read(row("s", "a|b", 1), row("z", "a|b", 1), row("s", "a|z", 1))
    assert (len(found.given), found.n_unused) == (1, 2)


def test_single_rows_are_scores_still(read):
    assert isinstance(read(row("s", "a", 3), row("t", "b|c", 4)), Scores)
    assert isinstance(read(row("s", "a|b", 1)), PairedAnswers)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row("s", "a|b", 2)],
            r"scores: expected 1 \(the first is better\), 0 \(the second\) or 0.5 \(neither\); "
            "got 2$",
        ),
        ([row("s", "a|b", "first")], r"0.5 \(neither\); got 'first'"),
        ([{"source_id": "s", "system_id": "a|b", "scores": 1}], r"0.5 \(neither\); got 1"),
        ([row("s", "a|b", 1), row("s", "a|b", 1)], "one answer for 's', 'a|b'; got one more"),
        (
            [row("u", "a|b", 1)],
            "expected one row of toy for each of the two; got 2 for 'u', 'b'",
        ),
        (
            [row("s", "a|b", 1), row("s", "a", 1)],
            "expected scores of single rows, or comparisons of two, and not both .*; got 'a' and "
            r"'a\|b'",
        ),
    ],
)
def test_what_cannot_be_read_is_named(read, rows, message):
    with pytest.raises(DataError, match=message):
        read(*rows)


def test_two_kinds_in_one_file_are_told_apart_by_judge(read):
    rows = [row("s", "a|b", 1, judge="p"), row("s", "a", 4, judge="q")]
    assert isinstance(read(*rows, judge="p"), PairedAnswers)
    assert isinstance(read(*rows, judge="q"), Scores)
    with pytest.raises(DataError, match="expected one of p, q"):
        read(*rows)


def test_scores_are_asked_for_and_comparisons_found(tmp_path, data):
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row("s", "a|b", 1)) + "\n")
    message = r"expected scores of single rows; got comparisons of two \('a|b'\), which evaluate"
    with pytest.raises(DataError, match=message):
        read_scores(path, data)
