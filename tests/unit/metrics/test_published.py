"""Published numbers, recomputed from shared ratings and recorded answers by public functions."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from recomputing import RECIPES, Data

from judgesmith.data import targets_of
from judgesmith.metrics import kendall, krippendorff_alpha, pearson, spearman

pytestmark = pytest.mark.data

PAGE = Path(__file__).resolve().parents[3] / "docs" / "evidence" / "published.md"


@pytest.fixture(scope="module")
def published(data_folder):
    checks = json.loads((data_folder / "checks.json").read_text(encoding="utf-8"))
    return checks | {"checks": {check["id"]: check for check in checks["checks"]}}


@pytest.fixture(scope="module")
def data(data_folder):
    return Data(data_folder)


def test_every_published_entry_has_a_recipe(published):
    assert set(published["checks"]) == set(RECIPES)


@pytest.mark.parametrize("entry", RECIPES)
def test_the_published_number_is_reproduced_within_its_tolerance(entry, published, data):
    check = published["checks"][entry]
    found, expected = RECIPES[entry](data), np.atleast_1d(check["published"])
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=check["tolerance"])


def test_the_page_tells_every_entry_and_its_published_values(published):
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w/.-]+) \| ([\d., ]+) \|", page, flags=re.MULTILINE))
    told = {entry: [float(one) for one in text.split(", ")] for entry, text in rows.items()}
    expected = {
        k: np.atleast_1d(one["published"]).tolist() for k, one in published["checks"].items()
    }
    assert told == expected


def test_alpha_of_sentence_votes_on_qags(published, data):
    votes = [sentence["votes"] for row in data.rows("qags_cnndm") for sentence in row["sentences"]]
    longest = max(len(each) for each in votes)
    table = [each + [None] * (longest - len(each)) for each in votes]
    expected = published["computed_only"]["qags_krippendorff_alpha_nominal_sentence_votes"]
    found = krippendorff_alpha(table, measurement="nominal")
    assert found == pytest.approx(expected["qags_cnndm"], abs=1e-4)


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
