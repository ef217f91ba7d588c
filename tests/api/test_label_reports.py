"""What is said about labels, and about judges that give them."""

import numpy as np
import pytest

import judgesmith
from judgesmith.experiments.evaluate.describing import describe


def labelled(*given, criterion="overall", **more):
    """Two responses to each source, with the labels of their raters."""
    return judgesmith.read(
        [
            {
                "source_id": f"q{n // 2}",
                "system_id": f"s{n % 2}",
                "source": f"question {n // 2}",
                "response": f"answer {n}",
                "human": {criterion: labels},
                **more,
            }
            for n, labels in enumerate(given)
        ]
    )


def described(data, **more):
    return describe(data, rng=np.random.default_rng(0), **more)


def test_check_counts_labels_ties_and_the_undecided():
    rows = [["pass", "pass"]] * 12 + [["fail", "fail"]] * 6 + [["pass", "fail"]] * 2
    found = described(labelled(*rows, ["pass", "unsure"], ["n/a", "n/a"]))
    (labels,) = found.labels
    assert labels.counts == {"fail": 6, "pass": 13}
    assert (labels.n_labelled, labels.n_tied) == (19, 2)
    assert labels.undecided == {"unsure": 1, "n/a": 2}
    share = labels.shares["fail"]
    assert share.value == pytest.approx(6 / 19)
    assert share.low < share.value < share.high
    assert found.to_dict()["labels"][0]["counts"] == {"fail": 6, "pass": 13}


def test_check_holds_each_rater_against_most_of_the_others():
    rows = [["pass", "pass", "pass"]] * 10 + [["fail", "fail", "fail"]] * 8
    rows += [["pass", "pass", "fail"]] * 2
    raters = {"raters": {"overall": ["ann", "ben", "cid"]}}
    (labels,) = described(labelled(*rows, **raters)).labels
    ann, _, cid = labels.raters
    assert (ann.name, cid.name) == ("ann", "cid")
    assert (ann.tpr.value, ann.tnr.value) == (1.0, 1.0)
    assert (cid.tpr.value, cid.tnr.value) == (pytest.approx(10 / 12), 1.0)
    assert labels.ceiling.value == pytest.approx((30 / 32 + 1) / 2)
    assert labels.labels_needed == 141


def test_check_says_that_fails_are_missing_and_how_many_it_takes():
    found = described(labelled(*["pass"] * 30))
    assert found.labels[0].n_negative == 0
    assert any("labelled 'fail'" in one and "22" in one for one in found.warnings)
    assert np.isnan(found.labels[0].half_width["tnr"])


def test_check_takes_ways_to_make_one_label_of_several():
    data = labelled(*[["pass", "fail"]] * 4, *[["pass", "pass"]] * 4)
    (labels,) = described(data, aggregate="any-fail").labels
    assert labels.counts == {"fail": 4, "pass": 4}


def test_check_reads_three_labels_one_against_the_rest():
    data = judgesmith.read(
        [
            {"source_id": f"q{n}", "response": f"r{n}", "human": {"tone": word}}
            for n, word in enumerate(["rude", "right", "wrong", "right"] * 5)
        ],
        positive="right",
    )
    (labels,) = described(data).labels
    assert (labels.n_positive, labels.n_negative, labels.negative) == (10, 10, "not right")


def test_labels_of_several_criteria_are_described_without_a_mean():
    rows = [
        {"source_id": f"q{n}", "response": f"r{n}", "human": {"a": n % 2 > 0, "b": n % 3 > 0}}
        for n in range(12)
    ]
    found = described(judgesmith.read(rows))
    assert [one.name for one in found.labels] == ["a", "b"]
    assert found.target is None
    assert any("--target" in one for one in found.warnings)
