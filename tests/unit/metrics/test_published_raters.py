"""Published numbers about raters, recomputed from the shared ratings through the functions."""

import gzip
import json
import re
from itertools import combinations

import numpy as np
import pytest

from judgesmith.metrics.ratings.agreement import modes, unanimous_counts
from judgesmith.metrics.ratings.kappa import pairwise_kappa, weighted_kappa
from judgesmith.metrics.ratings.raters import pairwise_rater_agreement
from judgesmith.metrics.ratings.reliability import icc

pytestmark = pytest.mark.data

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
def published(data_folder):
    checks = json.loads((data_folder / "checks.json").read_text(encoding="utf-8"))
    return checks | {"checks": {check["id"]: check for check in checks["checks"]}}


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
def verdicts(rows):
    """Return what three annotators of PandaLM preferred: 0 the second, 1 the first, 0.5 neither."""
    return table_of(
        [row for row in rows("pandalm") if row["system_id"] == "response_1"], "preferred"
    )


def test_kappas_of_pandalms_annotators(published, verdicts):
    check = published["checks"]["pandalm/cohen_kappa"]
    kappas = [
        weighted_kappa(other, one, levels=[0, 0.5, 1], weights="nominal")
        for one, other in combinations(verdicts.T, 2)
    ]
    np.testing.assert_allclose(kappas, check["published"], atol=check["tolerance"])
    found = pairwise_kappa(
        verdicts, levels=[0, 0.5, 1], weights="nominal", rng=np.random.default_rng(0)
    )
    assert found.value == pytest.approx(np.mean(kappas))
    assert 0.83 < found.low < found.high < 0.9


def test_majority_labels_of_pandalm(published, verdicts):
    labels, counts = np.unique(modes(verdicts), return_counts=True)
    assert labels.tolist() == [0, 0.5, 1]
    second, tie, first = counts
    assert [tie, first, second] == published["checks"]["pandalm/labels"]["published"]


def test_pairwise_agreement_of_raters_on_topical_chat(published, rows):
    for entry in published["computed_only"]["usr_pairwise_rater_agreement"]:
        table = table_of(rows(entry["dataset"]), entry["criterion"])
        for statistic in ("pearson", "spearman"):
            found = pairwise_rater_agreement(
                table, statistic=statistic, rng=np.random.default_rng(0), n_resamples=20
            )
            assert found.value == pytest.approx(entry[statistic], abs=5.1e-5)


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
