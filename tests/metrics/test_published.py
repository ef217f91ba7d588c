"""Published numbers, recomputed from the shared ratings through the public functions."""

import gzip
import json

import numpy as np
import pytest

from judgesmith.metrics import (
    agreement,
    intraclass_correlation,
    kendall,
    krippendorff_alpha,
    pearson,
    spearman,
)

pytestmark = pytest.mark.data

UNIEVAL = [
    "unieval/topical_chat/naturalness",
    "unieval/topical_chat/coherence",
    "unieval/topical_chat/engagingness",
    "unieval/topical_chat/groundedness",
    "unieval/topical_chat/understandability",
    "unieval/topical_chat/overall",
    "unieval/sfres/naturalness",
    "unieval/sfres/informativeness",
    "unieval/sfres/overall",
    "unieval/qags_cnndm/consistency",
]
OPINSUMMEVAL = ["aspect_relevance", "self_coherence", "sentiment_consistency", "readability"]
WIKI_DA = ["bertscore_P", "bertscore_F1", "bleu", "sari", "fkgl", "samsa"]
CLOSER_LOOK = {
    "geval": "gpt-3.5-turbo geval",
    "geval_no_auto_cot": "gpt-3.5-turbo geval_no_auto_cot",
    "llm_eval_no_cot": "gpt-3.5-turbo llm_eval_no_cot",
    "analyze_rate": "gpt-3.5-turbo analyze_rate",
}


def records(folder, name):
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def published(data_folder):
    checks = json.loads((data_folder / "checks.json").read_text(encoding="utf-8"))
    return checks | {"checks": {check["id"]: check for check in checks["checks"]}}


@pytest.fixture(scope="module")
def rated(data_folder):
    """Return a function from a data set's name to its records by (source, system)."""
    seen = {}

    def load(name):
        if name not in seen:
            rows = records(data_folder, name)
            seen[name] = {(row["source_id"], row["system_id"]): row for row in rows}
        return seen[name]

    return load


@pytest.fixture(scope="module")
def recorded(data_folder):
    """Return a function from a recording, data set, judge and criterion to mean scores by key."""
    seen = {}

    def load(name, dataset, judge, criterion):
        if name not in seen:
            seen[name] = records(data_folder / "recorded", name)
        scores = {}
        for row in seen[name]:
            if (row["dataset"], row["judge"], row["criterion"]) == (dataset, judge, criterion):
                given = [score for score in row["scores"] if score is not None]
                key = row["source_id"], row["system_id"]
                scores[key] = np.mean(given) if given else np.nan
        assert scores, f"no scores by {judge} for {dataset} {criterion}"
        return scores

    return load


def aligned(scores, rows, human):
    """Return predicted and human scores and the sources of the rows that were judged."""
    keys = [key for key in rows if key in scores]
    predicted = np.array([scores[key] for key in keys])
    return predicted, np.array([human(rows[key]) for key in keys]), [key[0] for key in keys]


def assert_published(values, check):
    np.testing.assert_allclose(values, check["published"], rtol=0, atol=check["tolerance"])


@pytest.mark.parametrize("check", UNIEVAL)
def test_unieval_over_all_rows(check, published, rated, recorded):
    _, dataset, criterion = check.split("/")

    def human(row):
        if dataset == "qags_cnndm":
            return row["consistency_majority"]
        return np.mean(row["human"][criterion])

    scores = recorded("unieval", dataset, "UniEval", criterion)
    predicted, people, _ = aligned(scores, rated(dataset), human)
    values = [statistic(predicted, people) for statistic in (pearson, spearman, kendall)]
    assert_published(values, published["checks"][check])


@pytest.mark.parametrize("criterion", OPINSUMMEVAL)
@pytest.mark.parametrize(
    ("prompt", "judge"),
    [
        ("cot", "gpt-3.5-turbo G-Eval-style prompt"),
        ("handwritten", "gpt-3.5-turbo hand-written prompt (one reply for all criteria)"),
    ],
)
def test_chatgpt_on_opinsummeval_within_each_input(
    prompt, judge, criterion, published, rated, recorded
):
    scores = recorded("opinsummeval_chatgpt", "opinsummeval", judge, criterion)
    values = []
    for target in OPINSUMMEVAL:
        predicted, people, sources = aligned(
            scores, rated("opinsummeval"), lambda row, name=target: np.mean(row["human"][name])
        )
        found = agreement(predicted, people, sources=sources, statistic="kendall", level="sample")
        values.append(found.value)
    assert_published(values, published["checks"][f"opinsummeval/{prompt}/{criterion}"])


@pytest.mark.parametrize("run", CLOSER_LOOK)
def test_chatgpt_on_topical_chat_over_all_rows_and_within_dialogues(
    run, published, rated, recorded
):
    values, within = [], []
    for criterion in ("naturalness", "coherence", "engagingness", "groundedness"):
        scores = recorded(
            "topical_chat_chatgpt_20samples", "topical_chat", CLOSER_LOOK[run], criterion
        )
        predicted, people, sources = aligned(
            scores, rated("topical_chat"), lambda row, name=criterion: np.mean(row["human"][name])
        )
        for statistic, level in (
            ("pearson", "dataset"),
            ("kendall", "sample"),
            ("pearson", "sample"),
        ):
            found = agreement(predicted, people, sources=sources, statistic=statistic, level=level)
            (within if (statistic, level) == ("pearson", "sample") else values).append(found.value)
    assert_published(values, published["checks"][f"closer_look/topical_chat/{run}"])
    if run == "analyze_rate":
        pairs = [each for pair in zip(within, values[1::2], strict=True) for each in pair]
        name = "closer_look/topical_chat/analyze_rate_within_dialogue"
        assert_published(pairs, published["checks"][name])


@pytest.fixture(scope="module")
def standardised_simplicity(rated):
    """Return wiki_da's simplicity ratings, standardised per rater (population sd)."""
    rows = rated("wiki_da").values()
    ratings = np.array([row["human"]["simplicity"] for row in rows])
    names = np.array([row["raters"] for row in rows])
    for rater in np.unique(names):
        own = ratings[names == rater]
        ratings[names == rater] = (own - own.mean()) / own.std()
    return ratings


def test_icc_of_wiki_da(published, standardised_simplicity):
    found = intraclass_correlation(standardised_simplicity)
    assert_published([found.single, found.mean], published["checks"]["wiki_da/icc"])


@pytest.mark.parametrize("metric", WIKI_DA)
def test_metrics_on_wiki_da(metric, published, rated, recorded, standardised_simplicity):
    scores = recorded("wiki_da_metrics", "wiki_da", f"metric:{metric} (ASSET references)", "any")
    means = standardised_simplicity.mean(axis=1)
    predicted = [scores[key] for key in rated("wiki_da")]
    assert_published(abs(pearson(predicted, means)), published["checks"][f"wiki_da/{metric}"])


def test_alpha_of_sentence_votes_on_qags(published, rated):
    votes = [
        sentence["votes"] for row in rated("qags_cnndm").values() for sentence in row["sentences"]
    ]
    longest = max(len(each) for each in votes)
    table = [each + [None] * (longest - len(each)) for each in votes]
    expected = published["computed_only"]["qags_krippendorff_alpha_nominal_sentence_votes"]
    found = krippendorff_alpha(table, measurement="nominal")
    assert found == pytest.approx(expected["qags_cnndm"], abs=1e-4)


def test_recorded_likert_judges_on_summeval(published, rated, recorded):
    for entry in published["computed_only"]["summeval_dataset_level_1200_summaries"]:
        criterion = entry["criterion"]
        scores = recorded("summeval_likert_llms", "summeval", entry["judge"], criterion)
        predicted, people, _ = aligned(
            scores, rated("summeval"), lambda row, name=criterion: np.mean(row["human"][name])
        )
        assert len(people) == 1200
        values = [statistic(predicted, people) for statistic in (pearson, spearman, kendall)]
        expected = [entry[name] for name in ("pearson", "spearman", "kendall")]
        np.testing.assert_allclose(values, expected, rtol=0, atol=5.1e-5)
