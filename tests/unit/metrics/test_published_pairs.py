"""Recorded comparisons: published accuracy recomputed, and what both orders say."""

import gzip
import json

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from judgesmith.metrics import kendall
from judgesmith.metrics.pairs.preferences import (
    majority_preference,
    order_consistency,
    preference_agreement,
    preferences_from_scores,
)
from judgesmith.metrics.pairs.strengths import bradley_terry

pytestmark = pytest.mark.data


def records(folder, name):
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def raters(data_folder):
    """Return the votes of three people by pair, of PandaLM's test set."""
    rows = records(data_folder, "pandalm")
    return {
        row["source_id"]: row["human"]["preferred"]
        for row in rows
        if row["system_id"] == "response_1"
    }


@pytest.fixture(scope="module")
def verdicts(data_folder):
    """Return a function from a judge to its preferences by pair, nan where unreadable."""
    rows = records(data_folder / "recorded", "pandalm_judges")

    def of(judge):
        return {
            row["source_id"]: np.nan if row["scores"][0] is None else row["scores"][0]
            for row in rows
            if row["judge"] == judge
        }

    return of


@pytest.fixture(scope="module")
def head_to_head(data_folder):
    """Return a function from a criterion to sources, systems, both answers and people's means."""
    rows = records(data_folder / "recorded", "summeval_h2h_chatgpt")

    def of(criterion):
        pairs = {}
        for row in rows:
            if row["criterion"] == criterion:
                both = pairs.setdefault((row["source_id"], row["system_id"]), {})
                both["swapped" in row["judge"]] = row["scores"][0]
                both["people"] = row["human_means"]
        answers = np.array([[both[False], both[True]] for both in pairs.values()])
        people = np.array([both["people"] for both in pairs.values()])
        sources, names = zip(*pairs, strict=True)
        return sources, [name.split("|") for name in names], answers, people

    return of


def test_people_prefer_what_pandalms_readme_counts(raters):
    # README.md of the repository WeOpenML/PandaLM: 105 ties, 422 and 472 wins by majority.
    preferred = majority_preference(list(raters.values()))
    assert [np.count_nonzero(preferred == kind) for kind in (0.5, 1, 0)] == [105, 422, 472]


@pytest.mark.parametrize(
    ("judge", "published"),
    [
        ("gpt-3.5-turbo", (0.7107, 0.5879, 0.5736, 0.5755)),
        ("PandaLM-7B", (0.6677, 0.5738, 0.5750, 0.5743)),
    ],
)
def test_agreement_on_pandalms_test_set_is_the_one_in_its_repository(
    judge, published, raters, verdicts
):
    # Comments of data/compute_metrics.py in WeOpenML/PandaLM: accuracy, then precision, recall and
    # F1 averaged over the three answers. There, an unreadable answer is a tie.
    given = verdicts(judge)
    people = majority_preference([raters[pair] for pair in given])
    answers = np.array(list(given.values()))
    found = preference_agreement(people, answers)
    assert found.n_unscored == np.count_nonzero(np.isnan(answers))
    filled = np.where(np.isnan(answers), 0.5, answers)
    counted = preference_agreement(people, filled)
    table = np.array(counted.confusion)
    precision = np.diag(table) / table.sum(axis=0)
    recall = np.diag(table) / table.sum(axis=1)
    f1 = 2 * precision * recall / (precision + recall)
    values = (counted.accuracy.value, precision.mean(), recall.mean(), f1.mean())
    np.testing.assert_allclose(values, published, rtol=0, atol=5.1e-5)
    np.testing.assert_array_equal(table, confusion_matrix(2 * people, 2 * filled))


@pytest.mark.parametrize(
    ("criterion", "consistent", "first_place", "given", "both"),
    [
        ("coherence", 0.644, 0.521, 0.608, 0.440),
        ("consistency", 0.644, 0.402, 0.651, 0.520),
        ("fluency", 0.637, 0.483, 0.623, 0.435),
        ("relevance", 0.669, 0.577, 0.621, 0.469),
    ],
)
def test_the_page_tells_what_both_orders_say(
    criterion, consistent, first_place, given, both, head_to_head
):
    sources, _, answers, people = head_to_head(criterion)
    preferred = preferences_from_scores(*people.T)
    orders = order_consistency(*answers.T, sources=sources)
    assert orders.consistent.value == pytest.approx(consistent, abs=5e-4)
    assert orders.first_place.value == pytest.approx(first_place, abs=5e-4)
    one = preference_agreement(preferred, answers[:, 0], sources=sources)
    two = preference_agreement(preferred, majority_preference(answers), sources=sources)
    assert one.accuracy_decided.value == pytest.approx(given, abs=5e-4)
    assert two.accuracy_decided.value == pytest.approx(both, abs=5e-4)


@pytest.mark.parametrize(("criterion", "expected"), [("relevance", 0.779), ("coherence", 0.515)])
def test_strengths_by_the_judge_rank_systems_like_strengths_by_people(
    criterion, expected, head_to_head
):
    sources, names, answers, people = head_to_head(criterion)
    first, second = zip(*names, strict=True)
    judge, humans = (
        bradley_terry(preferred, first=first, second=second, sources=sources)
        for preferred in (majority_preference(answers), preferences_from_scores(*people.T))
    )
    assert judge.systems == humans.systems
    assert kendall(humans.strengths, judge.strengths) == pytest.approx(expected, abs=5e-4)
