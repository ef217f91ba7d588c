"""`metrics.spans` against definitions, worked values and other implementations."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.metrics.spans import (
    Span,
    matched_span_agreement,
    span_agreement_difference,
    span_character_agreement,
)

# -- span characters -----------------------------------------------------------------------------


LENGTH = 16
spans = st.tuples(
    st.integers(0, LENGTH),
    st.integers(0, LENGTH),
    st.sampled_from([1.0, 5.0]),
    st.sampled_from("ab"),
).map(lambda s: (min(s[:2]), max(s[:2]), *s[2:]))
texts = st.lists(
    st.tuples(st.lists(spans, max_size=4), st.lists(spans, max_size=4)), min_size=1, max_size=5
)


def agreement(predicted, gold, **settings):
    return span_character_agreement(gold, predicted, seed=0, n_resamples=20, **settings)


def over(side, character, label=None):
    """Return the severities of the spans over a character."""
    return {
        severity
        for start, end, severity, kind in side
        if start <= character < end and label in (None, kind)
    }


def by_characters(predicted, gold, weighted, severity_credit, labels):
    """Return the four amounts of one text, character by character."""
    amounts = np.zeros(4)
    for label in labels:
        for character in range(LENGTH):
            p, g = over(predicted, character, label), over(gold, character, label)
            credit = 0.0 if not (p and g) else 1.0 if p & g else severity_credit
            for place, found in ((0, p), (2, g)):
                size = max(found, default=0.0) if weighted else float(bool(found))
                amounts[place : place + 2] += size * credit, size
    return amounts


def f1(amounts):
    matched_predicted, predicted, matched_gold, gold = amounts
    if not predicted and not gold:
        return np.nan
    p = matched_predicted / predicted if predicted else 0.0
    r = matched_gold / gold if gold else 0.0
    return 2 * p * r / (p + r) if p + r else 0.0


@pytest.mark.no_cover
@given(texts, st.booleans(), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_matches_the_definition_counted_character_by_character(
    pairs, weighted, severity_credit, same_label
):
    predicted, gold = zip(*pairs, strict=True)
    found = agreement(
        predicted, gold, weighted=weighted, severity_credit=severity_credit, same_label=same_label
    )
    rows = [
        by_characters(p, g, weighted, severity_credit, "ab" if same_label else [None])
        for p, g in pairs
    ]
    total = np.sum(rows, axis=0)
    assert [
        found.matched_predicted,
        found.predicted,
        found.matched_gold,
        found.gold,
    ] == pytest.approx(total)
    assert found.precision.value == pytest.approx(
        total[0] / total[1] if total[1] else np.nan, nan_ok=True
    )
    assert found.recall.value == pytest.approx(
        total[2] / total[3] if total[3] else np.nan, nan_ok=True
    )
    assert found.f1.value == pytest.approx(f1(total), nan_ok=True)
    assert found.macro_f1.value == pytest.approx(np.mean(np.nan_to_num([*map(f1, rows)], nan=1.0)))
    assert found.n_unlocated_predicted == sum(s[0] == s[1] for p in predicted for s in p)
    assert found.n_unlocated_gold == sum(s[0] == s[1] for g in gold for s in g)


@pytest.mark.no_cover
@given(texts, st.booleans(), st.sampled_from([0.0, 0.5, 1.0]))
def test_changing_sides_changes_precision_and_recall(pairs, weighted, severity_credit):
    predicted, gold = zip(*pairs, strict=True)
    settings = {"weighted": weighted, "severity_credit": severity_credit}
    one, other = agreement(predicted, gold, **settings), agreement(gold, predicted, **settings)
    assert one.precision.value == pytest.approx(other.recall.value, nan_ok=True)
    assert one.f1.value == pytest.approx(other.f1.value, nan_ok=True)
    assert one.macro_f1.value == pytest.approx(other.macro_f1.value)


@pytest.mark.no_cover
@given(texts, st.integers(0, 10**12))
def test_neither_where_in_a_text_nor_in_what_order_matters(pairs, shift):
    predicted, gold = zip(*pairs, strict=True)
    moved = [
        [[(s[0] + shift, s[1] + shift, *s[2:]) for s in reversed(text)] for text in reversed(side)]
        for side in (predicted, gold)
    ]
    one, other = agreement(predicted, gold), agreement(*moved)
    assert (one.true_positives, one.false_positives, one.false_negatives) == (
        other.true_positives,
        other.false_positives,
        other.false_negatives,
    )


def test_equals_what_transcribed_counting_loops_of_the_shared_tasks_gave():
    # The counting loops of WMT 2023 (qe-eval-scripts, wmt23/task2_evaluate.py: score_new) and WMT
    # 2025 (wmt25-mteval, scoring_esa.py: get_char_f1) were transcribed, not called; major is 5 and
    # minor 1. They agree where no span overlaps another of its side; then 2025 counts twice.
    predicted = [[(0, 10, 5), (15, 20, 1)], [], [(3, 9, 1)], [(0, 4, 5), (6, 12, 1)]]
    gold = [[(2, 12, 1), (15, 22, 1)], [(0, 3, 5)], [(3, 9, 1)], [(1, 8, 5)]]
    found = agreement(predicted, gold, severity_credit=0.5)
    assert [found.precision.value, found.recall.value, found.f1.value] == pytest.approx(
        [0.6129032258064516, 0.5757575757575758, 0.59375]
    )
    predicted[0].append((8, 16, 1))
    gold[3].append((2, 10, 1))
    found = agreement(predicted, gold, severity_credit=0.5)
    assert [found.precision.value, found.recall.value, found.f1.value] == pytest.approx(
        [0.6944444444444444, 0.7142857142857143, 0.7042253521126761]
    )


def test_a_text_without_spans_on_either_side_counts_in_the_mean_over_texts_alone():
    some, none = [[(0, 4)], [(2, 4)]], [[], []]
    one = agreement(some[:1], some[1:])
    both = agreement([some[0], none[0]], [some[1], none[1]])
    assert one.f1.value == both.f1.value == pytest.approx(2 / 3)
    assert both.macro_f1.value == pytest.approx((2 / 3 + 1) / 2)
    nothing = agreement([[], []], [[], []])
    assert np.isnan([nothing.precision.value, nothing.recall.value, nothing.f1.value]).all()
    assert nothing.f1.n_undefined == 1
    assert nothing.macro_f1.value == 1


def test_one_empty_side_has_an_f1_of_zero_and_one_undefined_rate():
    found = agreement([[(0, 3)]], [[]])
    assert (found.precision.value, found.f1.value, found.macro_f1.value) == (0, 0, 0)
    assert np.isnan(found.recall.value)


def test_texts_nobody_judged_and_spans_without_a_place_are_left_out_and_counted():
    found = agreement(
        [None, [(0, 4), (None, None)], float("nan")],
        [[(0, 1)], [Span(0, 4), (2, 2)], []],
        sources=["a", "b", "c"],
    )
    assert found.n_unscored == 2
    assert (found.f1.value, found.f1.n, found.f1.n_groups) == (1, 1, 1)
    assert (found.n_unlocated_predicted, found.n_unlocated_gold) == (1, 1)
    assert np.isnan(found.f1.low)


def test_offsets_of_any_whole_kind_and_labels_that_are_missing_are_read():
    spans = [[(np.uint64(0), 4, 1, np.nan), (np.int32(6), np.int64(8), 1, float("nan"))]]
    found = agreement(spans, [[(0, 4), (6, 8)]], same_label=True)
    assert found.f1.value == 1


def test_no_texts_have_no_value():
    found = agreement([], [])
    values = [found.precision.value, found.recall.value, found.f1.value, found.macro_f1.value]
    assert np.isnan(values).all()
    assert (found.f1.n, found.f1.n_groups) == (0, 0)


@for_each(
    ("predicted", "gold", "said"),
    [
        ([[]], [[], []], "got 1 and 2"),
        ([[]], [None], "gold has no list of spans for 1 of 1"),
        ([(0, 3)], [[(0, 3)]], "text 0 of predicted has 0. Every text needs a list"),
        ([[(0, 3)]], ["ab"], "must hold a list of spans for each text"),
        ([[(0,)]], [[]], "a span must be"),
        ([[3]], [[]], "a span must be"),
        ([[(0, 3, 1, "a", 2)]], [[]], "a span must be"),
        ([[(0.0, 3.5)]], [[]], "whole numbers"),
        ([[("0", "3")]], [[]], "whole numbers"),
        ([[(None, 3), (1, 3)]], [[]], "whole numbers.*got None"),
        ([[([1], 3), (1, 3)]], [[]], "whole numbers"),
        ([[(False, True)]], [[]], "whole numbers.*got False"),
        ([[(4, 3)]], [[]], r"0 <= start <= end; text 0 of predicted has \(4, 3\)"),
        ([None, [(-1, 3)]], [[], []], r"text 1 of predicted has \(-1, 3\)"),
        ([[(0, 3, 0)]], [[]], "above 0, such as"),
        ([[(0, 3, np.nan)]], [[]], "above 0, such as"),
        ([[(0, 3, "major")]], [[]], "severities in predicted must be a vector of numbers"),
        ([[(0, 3, "5")]], [[]], "severities in predicted must be a vector of numbers"),
        ([[(0, 3, 1e308)]], [[]], "finite numbers above 0"),
        ([[("a", "a")]], [[]], "got 'a' among them"),
        ([[(True, 2)]], [[]], "got True among them"),
        ([[(0, 2**70)]], [[]], "got 1180591620717411303424 among them"),
        ([[(-3, -3)]], [[]], "0 <= start <= end"),
        ([[(0, 3, 1, [1])]], [[]], "must be one value"),
        ([[(0, 2**62)], [(0, 2**62)]], [[], []], "too long"),
    ],
)
def test_spans_that_cannot_be_are_refused(predicted, gold, said):
    with pytest.raises(ValueError, match=said):
        agreement(predicted, gold)


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(TypeError, match="a list of spans for each text; got str"):
        agreement("ab", [[]])
    with pytest.raises(TypeError, match="got int"):
        agreement(3, [[]])
    with pytest.raises(ValueError, match="severity_credit"):
        agreement([[]], [[]], severity_credit=2)
    with pytest.raises(ValueError, match="one label per item"):
        agreement([[]], [[]], sources=[1, 2])
    with pytest.raises(TypeError, match="seed"):
        span_character_agreement([[]], [[]], seed="0")


@pytest.mark.no_cover
def test_texts_of_more_characters_than_memory_has_take_no_more_than_their_spans():
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 5_000_000, size=(2, 20_000))
    ends = starts + rng.integers(1, 2000, size=starts.shape)
    severities = rng.random(starts.shape) + 0.1
    wide = 1_000_000
    sides = [
        list(zip(*side, strict=True))
        for side in zip(wide * starts, wide * ends, severities, strict=True)
    ]
    found = agreement(sides[:1], sides[1:], weighted=True, severity_credit=0.5)
    largest = np.zeros((2, 5_010_000))
    for line, *side in zip(largest, starts, ends, severities, strict=True):
        for start, end, severity in zip(*side, strict=True):
            np.maximum(line[start:end], severity, out=line[start:end])
    assert found.predicted == pytest.approx(wide * largest[0].sum())
    assert found.matched_gold == pytest.approx(wide * 0.5 * largest[1][largest[0] > 0].sum())


def marked(rng, n_sources, size):
    """Return texts in which a source's share of found and invented characters varies."""
    predicted, gold = [], []
    for _ in range(n_sources):
        hit, false = rng.beta(4, 2), rng.beta(2, 6)
        for _ in range(size):
            length = int(rng.integers(0, 40))
            both, extra = rng.binomial(length, hit), rng.binomial(30, false)
            gold.append([(0, length)])
            predicted.append([(length - both, length + extra)])
    return predicted, gold


@pytest.mark.no_cover
def test_the_interval_of_f1_covers_the_truth_about_as_often_as_it_claims():
    rng = np.random.default_rng(0)
    # Long-run totals per text: 19.5 gold characters, 2/3 of them found, 7.5 invented.
    truth = 2 * 13 / (19.5 + 13 + 7.5)
    covered = 0
    for _ in range(200):
        predicted, gold = marked(rng, 30, 3)
        found = span_character_agreement(
            gold, predicted, sources=np.repeat(np.arange(30), 3), seed=rng, n_resamples=300
        )
        covered += found.f1.low <= truth <= found.f1.high
    assert 0.9 <= covered / 200 <= 0.985


# -- span difference -----------------------------------------------------------------------------


GOLD = [[(0, 5)], [(3, 9)], [(2, 4)], [], [(0, 2), (6, 9)]]
ONE = [[(0, 5)], [(3, 8)], [(2, 5)], [], [(0, 2)]]
OTHER = [[(4, 9)], [(3, 8)], [], [(0, 1)], [(5, 9)]]


def rng():
    return np.random.default_rng(0)


@for_each("measure", [span_character_agreement, matched_span_agreement])
@for_each("statistic", ["precision", "recall", "f1", "macro_f1"])
def test_the_difference_is_that_of_the_two_values_and_turns_around(measure, statistic):
    one, other = measure(GOLD, ONE, seed=rng()), measure(GOLD, OTHER, seed=rng())
    found = span_agreement_difference(one, other, statistic=statistic, seed=rng())
    back = span_agreement_difference(other, one, statistic=statistic, seed=rng())
    assert found.first == getattr(one, statistic).value
    assert found.second == getattr(other, statistic).value
    assert found.value == found.first - found.second == -back.value
    assert (found.low, found.high) == pytest.approx((-back.high, -back.low))
    assert found.p_value == back.p_value
    assert (found.n, found.n_groups) == (5, 5)


def test_resamples_are_those_of_repeated_texts():
    one = span_character_agreement(GOLD, ONE, seed=rng())
    other = span_character_agreement(GOLD, OTHER, seed=rng())
    found = span_agreement_difference(one, other, seed=rng(), n_resamples=20, confidence=0.5)
    drawn = rng().integers(5, size=(20, 5))
    differences = []
    for rows in drawn:
        values = [
            span_character_agreement(
                [GOLD[k] for k in rows], [side[k] for k in rows], seed=rng(), n_resamples=20
            ).f1.value
            for side in (ONE, OTHER)
        ]
        differences.append(values[0] - values[1])
    assert min(differences) <= found.low <= found.high <= max(differences)
    assert found.low == pytest.approx(np.quantile(differences, 0.25), abs=0.1)


def test_texts_that_one_judge_did_not_score_are_left_out_for_both():
    one = span_character_agreement(GOLD, [None, *ONE[1:]], seed=rng())
    other = span_character_agreement(GOLD, [*OTHER[:-1], None], seed=rng())
    found = span_agreement_difference(one, other, seed=rng(), sources=list("aabbc"))
    assert (found.n, found.n_groups) == (3, 2)
    middle = span_character_agreement(GOLD[1:-1], ONE[1:-1], seed=rng())
    assert found.first == middle.f1.value


def test_a_judge_does_not_differ_from_itself():
    one = span_character_agreement(GOLD, ONE, seed=rng())
    found = span_agreement_difference(one, one, seed=rng())
    assert found.value == 0
    assert np.isnan([found.low, found.high, found.p_value]).all()
    none = span_character_agreement([], [], seed=rng())
    assert span_agreement_difference(none, none, seed=rng()).n_undefined == 1


def test_what_cannot_be_compared_is_refused():
    one = span_character_agreement(GOLD, ONE, seed=rng())
    with pytest.raises(ValueError, match="same texts; got 5 and 4"):
        span_agreement_difference(
            one, span_character_agreement(GOLD[1:], ONE[1:], seed=rng()), seed=rng()
        )
    with pytest.raises(ValueError, match="same gold spans in the same way; text 0 differs"):
        span_agreement_difference(one, matched_span_agreement(GOLD, ONE, seed=rng()), seed=rng())
    with pytest.raises(ValueError, match="statistic must be one of"):
        span_agreement_difference(one, one, statistic="f2", seed=rng())
    with pytest.raises(ValueError, match="one label per item"):
        span_agreement_difference(one, one, sources=[1], seed=rng())
    with pytest.raises(TypeError, match="seed"):
        span_agreement_difference(one, one, seed="0")


@pytest.mark.no_cover
def test_equal_judges_are_told_apart_no_more_often_than_they_may():
    generator = np.random.default_rng(1)
    wrong = 0
    for _ in range(150):
        gold = [[(0, int(size))] for size in generator.integers(5, 20, size=40)]
        ours = [
            span_character_agreement(
                gold,
                [[(0, int(generator.integers(1, text[0][1] + 1)))] for text in gold],
                seed=generator,
                n_resamples=20,
            )
            for _ in range(2)
        ]
        found = span_agreement_difference(*ours, seed=generator, n_resamples=200)
        wrong += found.p_value <= 0.05
    assert 0.015 <= wrong / 150 <= 0.085


def test_severities_that_are_no_whole_numbers_are_one_gold_however_spans_cut_it():
    gold = [[(0, 7, 0.1)], [(2, 9, 0.1)], [(0, 3, 0.3)]]
    whole = [[(0, 7, 0.1)], [(3, 8, 0.1)], [(1, 4, 0.1)]]
    parts = [[(0, 3, 0.1), (3, 5, 0.1), (5, 7, 0.1)], [(3, 8, 0.1)], [(1, 2, 0.1), (2, 4, 0.1)]]
    one, other = (
        span_character_agreement(gold, spans, weighted=True, seed=rng()) for spans in (whole, parts)
    )
    found = span_agreement_difference(one, other, seed=rng())
    assert found.value == pytest.approx(0, abs=1e-12)
    assert np.isnan([found.low, found.high, found.p_value]).all()


# -- span matching -------------------------------------------------------------------------------


spans_of_span_matching = st.tuples(
    st.integers(0, 12), st.integers(1, 6), st.sampled_from([1.0, 5.0]), st.sampled_from("ab")
).map(lambda s: (s[0], s[0] + s[1], *s[2:]))
texts_of_span_matching = st.lists(
    st.tuples(
        st.lists(spans_of_span_matching, max_size=4), st.lists(spans_of_span_matching, max_size=4)
    ),
    min_size=1,
    max_size=4,
)


def agreement_of_span_matching(predicted, gold, **settings):
    return matched_span_agreement(gold, predicted, seed=0, n_resamples=20, **settings)


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
    texts_of_span_matching,
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_matches_the_best_of_all_assignments(
    pairs, threshold, partial, severity_credit, same_label
):
    predicted, gold = zip(*pairs, strict=True)
    found = agreement_of_span_matching(
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
@given(texts_of_span_matching, st.booleans())
def test_neither_sides_nor_order_nor_other_texts_matter(pairs, partial):
    predicted, gold = zip(*pairs, strict=True)
    settings = {"partial": partial, "iou_threshold": 0.2}
    one = agreement_of_span_matching(predicted, gold, **settings)
    other = agreement_of_span_matching(
        [text[::-1] for text in gold[::-1]], [text[::-1] for text in predicted[::-1]], **settings
    )
    assert one.true_positives == pytest.approx(other.true_positives)
    apart = [agreement_of_span_matching([p], [g], **settings).true_positives for p, g in pairs]
    assert one.true_positives == pytest.approx(sum(apart))


def test_a_span_has_one_partner_only():
    found = agreement_of_span_matching([[(0, 10), (0, 10)]], [[(0, 10)]])
    assert (found.true_positives, found.false_positives, found.false_negatives) == (1, 1, 0)


def test_two_fair_partners_are_worth_more_than_one_perfect_one():
    predicted, gold = [[(0, 4), (2, 10)]], [[(2, 10), (4, 13)]]
    assert agreement_of_span_matching(predicted, gold, iou_threshold=0.2).true_positives == 2
    assert agreement_of_span_matching(predicted, gold, iou_threshold=0.9).true_positives == 1


def test_an_overlap_equal_to_the_threshold_is_enough():
    assert (
        agreement_of_span_matching([[(0, 3)]], [[(0, 10)]], iou_threshold=0.3).true_positives == 1
    )
    assert agreement_of_span_matching([[(0, 3)]], [[(3, 6)]], iou_threshold=0.0).true_positives == 0


@pytest.mark.parametrize(("setting", "value"), [("iou_threshold", 1.5), ("severity_credit", -0.5)])
def test_settings_that_cannot_be_are_refused_of_span_matching(setting, value):
    with pytest.raises(ValueError, match=setting):
        agreement_of_span_matching([[]], [[]], **{setting: value})


def test_no_spans_and_no_texts_are_no_error():
    assert agreement_of_span_matching([[], []], [[], []]).macro_f1.value == 1
    assert np.isnan(agreement_of_span_matching([], []).f1.value)
    assert agreement_of_span_matching([[], [(0, 1)]], [[(0, 1)], []]).f1.value == 0


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
            gold, predicted, sources=np.repeat(np.arange(30), 2), seed=rng, n_resamples=300
        )
        covered += found.recall.low <= 2 / 3 <= found.recall.high
    assert 0.9 <= covered / 150 <= 0.985
