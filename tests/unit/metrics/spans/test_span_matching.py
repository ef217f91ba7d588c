from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.spans import matching
from judgesmith.metrics.spans.matching import matched_span_agreement

spans = st.tuples(
    st.integers(0, 12), st.integers(1, 6), st.sampled_from([1.0, 5.0]), st.sampled_from("ab")
).map(lambda s: (s[0], s[0] + s[1], *s[2:]))
texts = st.lists(
    st.tuples(st.lists(spans, max_size=4), st.lists(spans, max_size=4)), min_size=1, max_size=4
)


def agreement(predicted, gold, **settings):
    return matched_span_agreement(
        gold, predicted, rng=np.random.default_rng(0), n_resamples=20, **settings
    )


def credit(one, other, threshold, partial, severity_credit, same_label):
    first, second = set(range(*one[:2])), set(range(*other[:2]))
    overlap = len(first & second) / len(first | second)
    if not overlap or overlap < threshold or (same_label and one[3] != other[3]):
        return 0.0
    return (overlap if partial else 1.0) * (1.0 if one[2] == other[2] else severity_credit)


def best(predicted, gold, *settings):
    """Return the best credit of one text by trying every assignment."""
    fewer, more = sorted((predicted, gold), key=len)
    return max(
        sum(credit(a, b, *settings) for a, b in zip(fewer, chosen, strict=True))
        for chosen in permutations(more, len(fewer))
    )


@pytest.mark.no_cover
@given(
    texts,
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_matches_the_best_of_all_assignments(
    pairs, threshold, partial, severity_credit, same_label
):
    predicted, gold = zip(*pairs, strict=True)
    found = agreement(
        predicted,
        gold,
        iou_threshold=threshold,
        partial=partial,
        severity_credit=severity_credit,
        same_label=same_label,
    )
    settings = threshold, partial, severity_credit, same_label
    matched = [best(p, g, *settings) for p, g in pairs]
    assert found.true_positives == pytest.approx(sum(matched))
    assert found.predicted == sum(map(len, predicted))
    assert found.gold == sum(map(len, gold))
    own = [
        2 * m / (len(p) + len(g)) if p or g else 1.0
        for m, (p, g) in zip(matched, pairs, strict=True)
    ]
    assert found.macro_f1.value == pytest.approx(np.mean(own))


@pytest.mark.no_cover
@given(texts, st.booleans())
def test_neither_sides_nor_order_nor_other_texts_matter(pairs, partial):
    predicted, gold = zip(*pairs, strict=True)
    settings = {"partial": partial, "iou_threshold": 0.2}
    one = agreement(predicted, gold, **settings)
    other = agreement(
        [text[::-1] for text in gold[::-1]], [text[::-1] for text in predicted[::-1]], **settings
    )
    assert one.true_positives == pytest.approx(other.true_positives)
    apart = [agreement([p], [g], **settings).true_positives for p, g in pairs]
    assert one.true_positives == pytest.approx(sum(apart))


def test_a_span_has_one_partner_only():
    found = agreement([[(0, 10), (0, 10)]], [[(0, 10)]])
    assert (found.true_positives, found.false_positives, found.false_negatives) == (1, 1, 0)


def test_two_fair_partners_are_worth_more_than_one_perfect_one():
    predicted, gold = [[(0, 4), (2, 10)]], [[(2, 10), (4, 13)]]
    assert agreement(predicted, gold, iou_threshold=0.2).true_positives == 2
    assert agreement(predicted, gold, iou_threshold=0.9).true_positives == 1


def test_an_overlap_equal_to_the_threshold_is_enough():
    assert agreement([[(0, 3)]], [[(0, 10)]], iou_threshold=0.3).true_positives == 1
    assert agreement([[(0, 3)]], [[(3, 6)]], iou_threshold=0.0).true_positives == 0


def test_spans_that_hang_together_in_too_great_number_are_refused(monkeypatch):
    monkeypatch.setattr(matching, "_MOST_PAIRS", 3)
    with pytest.raises(ValueError, match="2 predicted and 2 gold spans of one text overlap"):
        agreement([[(0, 4), (1, 5)]], [[(2, 6), (3, 7)]])


@pytest.mark.parametrize(("setting", "value"), [("iou_threshold", 1.5), ("severity_credit", -0.5)])
def test_settings_that_cannot_be_are_refused(setting, value):
    with pytest.raises(ValueError, match=setting):
        agreement([[]], [[]], **{setting: value})


def test_no_spans_and_no_texts_are_no_error():
    assert agreement([[], []], [[], []]).macro_f1.value == 1
    assert np.isnan(agreement([], []).f1.value)
    assert agreement([[], [(0, 1)]], [[(0, 1)], []]).f1.value == 0


def test_many_spans_are_matched_in_reasonable_time():
    rng = np.random.default_rng(0)
    texts = [[(int(s), int(s) + 20) for s in rng.integers(0, 2000, size=20)] for _ in range(2000)]
    found = agreement(texts[:1000], texts[1000:])
    assert 0 < found.f1.value < 1


@pytest.mark.no_cover
def test_the_interval_of_recall_covers_the_truth_about_as_often_as_it_claims():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(150):
        found_share = np.repeat(rng.beta(4, 2, size=30), 2)
        gold = [[(10 * k, 10 * k + 5) for k in range(rng.integers(1, 5))] for _ in range(60)]
        predicted = [
            [span for span in text if rng.random() < share]
            for text, share in zip(gold, found_share, strict=True)
        ]
        found = matched_span_agreement(
            gold, predicted, sources=np.repeat(np.arange(30), 2), rng=rng, n_resamples=300
        )
        covered += found.recall.low <= 2 / 3 <= found.recall.high
    assert 0.9 <= covered / 150 <= 0.985
