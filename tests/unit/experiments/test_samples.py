import json
from collections import defaultdict

import numpy as np
import pytest

from judgesmith.data.reading import read_items
from judgesmith.data.samples import sample_path


@pytest.fixture(scope="module")
def rows():
    return [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]


def overall(row):
    return float(np.mean(row["human"]["overall"]))


def test_forty_sources_have_four_different_answers_each(rows):
    answers = defaultdict(set)
    for row in rows:
        answers[row["source_id"], row["source"]].add((row["system_id"], row["response"]))
    assert len(answers) == 40
    assert {len(given) for given in answers.values()} == {4}
    assert len({row["response"] for row in rows}) == len(rows)


def test_sources_are_short_texts(rows):
    assert all(60 <= len(row["source"].split()) <= 140 for row in rows)


def test_each_criterion_has_two_raters_on_its_scale_who_differ_by_a_point_at_most(rows):
    for row in rows:
        assert set(row["human"]) == set(row["scale"]) == {"overall", "faithfulness", "fluency"}
        for criterion, ratings in row["human"].items():
            low, high = row["scale"][criterion]
            assert len(ratings) == 2
            assert all(low <= rating <= high for rating in ratings)
            assert abs(ratings[0] - ratings[1]) <= 1


def test_raters_disagree_often_enough_to_leave_a_ceiling_below_one(rows):
    first, second = np.array([row["human"]["overall"] for row in rows]).T
    assert 0.2 <= np.mean(first != second) <= 0.5
    assert 0.8 <= np.corrcoef(first, second)[0, 1] <= 0.95


def test_neither_the_system_nor_the_length_gives_the_rating_away(rows):
    ratings = np.array([overall(row) for row in rows])
    systems = np.array([row["system_id"] for row in rows])
    between = sum(
        np.sum(systems == system) * (ratings[systems == system].mean() - ratings.mean()) ** 2
        for system in set(systems)
    )
    assert between / np.sum((ratings - ratings.mean()) ** 2) < 0.15
    lengths = [len(row["response"].split()) for row in rows]
    assert abs(np.corrcoef(lengths, ratings)[0, 1]) < 0.3


def test_an_unknown_sample_is_refused_by_naming_those_there_are():
    with pytest.raises(ValueError, match="'novels'; there is: answers"):
        sample_path("novels")


def test_the_reader_takes_the_sample_as_it_is():
    dataset = read_items(sample_path())
    assert len(dataset) == 160
    assert dataset.notes == ()
    assert set(dataset.criteria) == {"overall", "faithfulness", "fluency"}
