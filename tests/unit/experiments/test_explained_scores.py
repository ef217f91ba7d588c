import json

import pytest

from judgesmith.data.problems import DataError
from judgesmith.experiments.labels.explanation_sheet import read_explained
from judgesmith.signatures import Scale

GOOD = {
    "source_id": "a",
    "system_id": "x",
    "key": "k1",
    "score": 70.0,
    "explanation": "Good.",
    "criteria": {"fluency": {"score": 80.0, "explanation": "Reads well."}},
    "errors": [],
    "problem": None,
    "judge": "j",
    "run": "r",
}


@pytest.fixture
def read(tmp_path):
    def reading(*rows, **options):
        path = tmp_path / "scores.jsonl"
        path.write_text("".join(json.dumps(GOOD | row) + "\n" for row in rows))
        return read_explained(path, **options)

    return reading


def faults(caught):
    return [(one.where.partition(":")[2], one.field, one.came) for one in caught.value.problems]


def test_scored_rows_come_with_their_explanations(read):
    found = read({}, {"key": "k2"})
    assert [row.key for row in found.rows] == ["k1", "k2"]
    assert found.rows[0].criteria == {"fluency": (80.0, "Reads well.")}
    assert (found.run, found.n_unscored, found.n_unexplained) == ("r", 0, 0)


def test_what_has_no_score_or_no_explanation_is_counted(read):
    found = read(
        {},
        {"score": None, "problem": "no answer", "explanation": "half"},
        {"explanation": " ", "criteria": {}},
        {"explanation": None, "criteria": None},
    )
    assert (len(found.rows), found.n_unscored, found.n_unexplained) == (1, 1, 2)


def test_a_criterion_without_score_or_words_is_no_explanation(read):
    criteria = {
        "a": {"score": None, "explanation": "?"},
        "b": {"score": 1, "explanation": ""},
        "c": {"score": 1, "explanation": "yes"},
    }
    assert list(read({"criteria": criteria}).rows[0].criteria) == ["c"]


def test_everything_that_score_does_not_write_is_named(read):
    with pytest.raises(DataError) as caught:
        read(
            {},
            {"key": None},
            {"score": "70"},
            {"score": 10**400},
            {"explanation": ["x"]},
            {"criteria": [1]},
            {"criteria": {"a": 3, "b": {"score": True, "explanation": "x"}}},
            {"criteria": {"a": {"explanation": "x"}}},
            {"run": "s"},
        )
    assert [(where, field) for where, field, _ in faults(caught)] == [
        ("2", "key"),
        ("3", "score"),
        ("4", "score"),
        ("5", "explanation"),
        ("6", "criteria"),
        ("7", "criteria.a"),
        ("7", "criteria.b"),
        ("8", "criteria.a"),
        ("9", "run"),
    ]


def test_recorded_ratings_of_other_judges_are_refused(tmp_path):
    path = tmp_path / "recorded.jsonl"
    path.write_text('{"source_id": "a", "system_id": "b", "judge": "j", "scores": [1, 2]}\n')
    with pytest.raises(DataError, match="that score writes into every row"):
        read_explained(path)


def test_scores_off_the_scale_are_named(read):
    assert len(read({}, scale=Scale(low=0, high=100)).rows) == 1
    with pytest.raises(DataError, match=r"expected a score on 1\.\.5; got 70"):
        read({}, scale=Scale(low=1, high=5))


def test_a_file_that_score_did_not_write_is_one_problem(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"source": "s", "response": "r"}\n' * 30)
    with pytest.raises(DataError) as caught:
        read_explained(path)
    assert list(map(str, caught.value.problems)) == [
        "data.jsonl:1: row: expected the score, key and run that score writes into every row; "
        "got the fields 'source, response'"
    ]


def test_a_file_without_any_explanation_says_which_judge_gives_them(read):
    with pytest.raises(DataError, match=r"of the variant fine.*1 scored rows without one and 1 "):
        read({"explanation": "", "criteria": {}}, {"score": None})
