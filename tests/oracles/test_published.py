"""Published numbers, recomputed from ratings and recorded answers."""

import gzip
import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from recomputing import RECIPES, Data
from sklearn.metrics import confusion_matrix

from judgesmith.data import targets_of
from judgesmith.metrics import kendall, krippendorff_alpha, pearson, spearman
from judgesmith.metrics.pairs import (
    bradley_terry,
    majority_preference,
    order_consistency,
    preference_agreement,
    preferences_from_scores,
)
from judgesmith.metrics.ratings import (
    icc,
    modes,
    pairwise_kappa,
    pairwise_rater_agreement,
    unanimous_counts,
    weighted_kappa,
)

# -- Published numbers, recomputed from shared ratings and recorded answers by public ------------


PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "published.md"


@pytest.fixture(scope="module")
def published(data_folder):
    checks = json.loads((data_folder / "checks.json").read_text(encoding="utf-8"))
    return checks | {"checks": {check["id"]: check for check in checks["checks"]}}


@pytest.fixture(scope="module")
def data(data_folder):
    return Data(data_folder)


@pytest.mark.data
def test_every_published_entry_has_a_recipe(published):
    assert set(published["checks"]) == set(RECIPES)


@pytest.mark.data
@pytest.mark.parametrize("entry", RECIPES)
def test_the_published_number_is_reproduced_within_its_tolerance(entry, published, data):
    check = published["checks"][entry]
    found, expected = RECIPES[entry](data), np.atleast_1d(check["published"])
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=check["tolerance"])


@pytest.mark.data
def test_the_page_tells_every_entry_and_its_published_values(published):
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w/.-]+) \| ([\d., ]+) \|", page, flags=re.MULTILINE))
    told = {entry: [float(one) for one in text.split(", ")] for entry, text in rows.items()}
    expected = {
        k: np.atleast_1d(one["published"]).tolist() for k, one in published["checks"].items()
    }
    assert told == expected


@pytest.mark.data
def test_alpha_of_sentence_votes_on_qags(published, data):
    votes = [sentence["votes"] for row in data.rows("qags_cnndm") for sentence in row["sentences"]]
    longest = max(len(each) for each in votes)
    table = [each + [None] * (longest - len(each)) for each in votes]
    expected = published["computed_only"]["qags_krippendorff_alpha_nominal_sentence_votes"]
    found = krippendorff_alpha(table, measurement="nominal")
    assert found == pytest.approx(expected["qags_cnndm"], abs=1e-4)


@pytest.mark.data
def test_recorded_likert_judges_on_summeval(published, data):
    for entry in published["computed_only"]["summeval_dataset_level_1200_summaries"]:
        criterion = entry["criterion"]
        scores = data.judged("summeval_likert_llms", "summeval", entry["judge"], criterion)
        people = targets_of(data.rated("summeval"), criterion).values
        given = ~np.isnan(scores)
        assert np.count_nonzero(given) == 1200
        values = [one(scores[given], people[given]) for one in (pearson, spearman, kendall)]
        expected = [entry[name] for name in ("pearson", "spearman", "kendall")]
        np.testing.assert_allclose(values, expected, rtol=0, atol=5.1e-5)


# -- Recorded comparisons: published accuracy recomputed, and what both orders say ---------------


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


@pytest.mark.data
def test_people_prefer_what_pandalms_readme_counts(raters):
    # README.md of the repository WeOpenML/PandaLM: 105 ties, 422 and 472 wins by majority.
    preferred = majority_preference(list(raters.values()))
    assert [np.count_nonzero(preferred == kind) for kind in (0.5, 1, 0)] == [105, 422, 472]


@pytest.mark.data
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


@pytest.mark.data
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


@pytest.mark.data
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


# -- Published numbers about raters, recomputed from the shared ratings through the f ------------


# What the dual-perspective paper kept of each criterion's 1,600 ratings, from 1 to 5.
KEPT_OF_SUMMEVAL = {
    "coherence": (13, 29, 33, 14, 111),
    "consistency": (14, 14, 5, 1, 1306),
    "fluency": (5, 10, 24, 2, 1150),
    "relevance": (5, 19, 37, 84, 83),
}
RELIABILITY_ROW = re.compile(
    r"^\| ([\w ]+?)(?: \((\d+)\))? \| (\w+ -?\.\d+/-?\.\d+.*) \|$", re.MULTILINE
)
RELIABILITY = re.compile(r"(\w+) (-?\.\d+)/(-?\.\d+)")


@pytest.fixture(scope="module")
def rows(data_folder):
    """Return a function from a data set's name to its rows."""
    seen = {}

    def load(name):
        if name not in seen:
            with gzip.open(data_folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
                seen[name] = [json.loads(line) for line in lines]
        return seen[name]

    return load


def table_of(rows, criterion):
    """Return the ratings of rows with one criterion, filled up with nan."""
    ratings = [row["human"][criterion] for row in rows]
    longest = max(map(len, ratings))
    return np.array([each + [np.nan] * (longest - len(each)) for each in ratings])


@pytest.fixture(scope="module")
def verdicts_of_published_raters(rows):
    """Return what three annotators of PandaLM preferred: 0 the second, 1 the first, 0.5 neither."""
    return table_of(
        [row for row in rows("pandalm") if row["system_id"] == "response_1"], "preferred"
    )


@pytest.mark.data
def test_kappas_of_pandalms_annotators(published, verdicts_of_published_raters):
    check = published["checks"]["pandalm/cohen_kappa"]
    kappas = [
        weighted_kappa(other, one, levels=[0, 0.5, 1], weights="nominal")
        for one, other in combinations(verdicts_of_published_raters.T, 2)
    ]
    np.testing.assert_allclose(kappas, check["published"], atol=check["tolerance"])
    found = pairwise_kappa(
        verdicts_of_published_raters,
        levels=[0, 0.5, 1],
        weights="nominal",
        seed=0,
    )
    assert found.value == pytest.approx(np.mean(kappas))
    assert 0.83 < found.low < found.high < 0.9


@pytest.mark.data
def test_majority_labels_of_pandalm(published, verdicts_of_published_raters):
    labels, counts = np.unique(modes(verdicts_of_published_raters), return_counts=True)
    assert labels.tolist() == [0, 0.5, 1]
    second, tie, first = counts
    assert [tie, first, second] == published["checks"]["pandalm/labels"]["published"]


@pytest.mark.data
def test_pairwise_agreement_of_raters_on_topical_chat(published, rows):
    for entry in published["computed_only"]["usr_pairwise_rater_agreement"]:
        table = table_of(rows(entry["dataset"]), entry["criterion"])
        for statistic in ("pearson", "spearman"):
            found = pairwise_rater_agreement(table, statistic=statistic, seed=0, n_resamples=20)
            assert found.value == pytest.approx(entry[statistic], abs=5.1e-5)


@pytest.mark.data
@pytest.mark.parametrize("criterion", KEPT_OF_SUMMEVAL)
def test_unanimous_ratings_of_summeval(criterion, rows):
    is_mean = [row["human_detail"] == "mean" for row in rows("summeval")]
    found = unanimous_counts(
        table_of(rows("summeval"), criterion), levels=[1, 2, 3, 4, 5], is_mean=is_mean
    )
    kept = KEPT_OF_SUMMEVAL[criterion]
    assert (found.n_kept[0], found.n_kept[-1]) == (kept[0], kept[-1])
    # Of the means between the ends, some were unanimous and cannot be told from the others.
    hidden = np.subtract(kept, found.n_kept)
    assert hidden.min() >= 0
    assert hidden.sum() <= found.n_unknown
    assert criterion != "consistency" or found.n_kept == kept


@pytest.mark.data
def test_reliability_of_raters_as_it_stands_beside_the_data(data_folder, rows):
    readme = (data_folder / "README.md").read_text(encoding="utf-8")
    n_found = 0
    for name, n_items, line in RELIABILITY_ROW.findall(readme):
        for criterion, single, mean in RELIABILITY.findall(line):
            rated = [row for row in rows(name) if row.get("human_detail") != "mean"]
            assert not n_items or len(rated) == int(n_items)
            found = icc(table_of(rated, criterion))
            assert (found.single, found.mean) == pytest.approx(
                (float(single), float(mean)), abs=5.1e-4
            )
            n_found += 1
    assert n_found == 32
