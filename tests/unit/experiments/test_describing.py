"""Rated data is described: datasets, ratings and summaries."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each

from judgesmith.data.items import DataSet, grouped
from judgesmith.data.reading import read_items
from judgesmith.data.targets import rating_points, rating_value
from judgesmith.experiments.evaluate.describing import (
    Lengths,
    cautions,
    describe,
    rating_summary,
    text_summary,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

# dataset

LIKERT = Scale(low=1, high=5)


def item(source="s", response="r", said=None, **ids):
    human = {"overall": said} if said is not None else {}
    scale = {"overall": LIKERT} if said is not None else {}
    return RatedItem(source=source, response=response, human=human, scale=scale, **ids)


def dataset(*items, **how):
    return DataSet(name="toy", items=items, **how)


def test_a_set_is_a_sequence_of_its_items_and_a_subset_keeps_what_is_known():
    data = dataset(item(response="a"), item(response="b"))
    assert len(data) == 2
    assert [one.response for one in data] == ["a", "b"]
    assert data[1].response == "b"
    data = dataset(item(response="a"), item(response="b"), notes=("n",), places=(3, 7))
    part = data.subset(np.array([1]))
    assert [one.response for one in part] == ["b"]
    assert (part.name, part.notes, part.places) == ("toy", ("n",), (7,))
    assert dataset(item()).subset([0]).places == ()
    rated = item(said=(4,))
    empty = RatedItem(response="r", human={"fluency": ()}, scale={"fluency": LIKERT})
    data = dataset(empty, rated)
    assert data.criteria == ("overall",)
    assert list(data.scales) == ["fluency", "overall"]
    assert data.n_unrated == 1


def test_the_digest_changes_with_what_decides_and_nothing_else():
    base = item(said=(4, 5))
    wider = base.model_copy(update={"scale": {"overall": Scale(low=1, high=7)}})
    others = [
        dataset(item(said=(5, 4))),
        dataset(item(said=(4, 5), response="x")),
        dataset(item(said=(4, 5), system_id="m")),
        dataset(wider),
        dataset(base, item(source="t")),
        dataset(item(source="t"), base),
    ]
    digests = {data.digest for data in [dataset(base), *others]}
    assert len(digests) == 7
    assert dataset(base, notes=("other",)).digest == dataset(base).digest
    stated = [None, {"overall": "Is it good?"}, {"overall": "Is it?"}, "{}", {1: "\ud800", "a": []}]
    digests = [dataset(item(extra={"definitions": one})).digest for one in stated]
    assert len(set(digests)) == len(stated)
    assert dataset(item(extra={"other": "x"})).digest == dataset(item()).digest == digests[0]


pairs = st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("abc")), max_size=8)


@pytest.mark.no_cover
@given(pairs)
def test_groups_are_the_connected_components_of_ids_and_texts(rows):
    items = [RatedItem(source_id=i, source=s, response="r") for i, s in rows]
    label = list(range(len(rows)))
    for _ in rows:
        for a, first in enumerate(rows):
            for b, second in enumerate(rows):
                if first[0] == second[0] or first[1] == second[1]:
                    label[a] = label[b] = min(label[a], label[b])
    found = grouped(items)
    assert [[x == y for y in found] for x in found] == [[x == y for y in label] for x in label]


def test_empty_sources_join_nothing():
    items = [item(source=" ", source_id="1"), item(source=" ", source_id="2")]
    assert grouped(items).tolist() == [0, 1]
    assert grouped([item(source=""), item(source="")]).tolist() == [0, 1]


# describing


def dataset_describing(rows, **ids):
    items = [
        RatedItem(
            source=f"source {n}",
            system_id=f"m{n % 2}",
            response="r" * (n + 1),
            human=human,
            scale=dict.fromkeys(human, LIKERT),
        )
        for n, human in enumerate(rows)
    ]
    return DataSet(name="toy", items=tuple(items), notes=("as read",))


def found(data, **how):
    return describe(data, seed=0, **how)


def test_an_unrated_set_is_described_without_a_target():
    description = found(dataset_describing([{}, {}]))
    assert (description.target, description.criteria) == (None, ())
    assert (description.n_items, description.n_unrated, description.n_sources) == (2, 2, 2)
    assert description.criteria_table()[1:] == []
    assert ["unrated rows", "2"] in description.overview()


def test_a_constant_target_is_a_warning_and_not_an_error():
    description = found(dataset_describing([{"overall": (4,)}] * 3))
    assert description.target is None
    assert description.warnings[0].startswith("all 3 rated items have the same value on overall")
    assert "overall: all values are 4; nothing can agree or disagree with that." in (
        description.warnings
    )


def test_the_overview_tells_the_target_and_what_it_can_be_known_to():
    rows = dict(
        found(dataset_describing([{"overall": (1 + n % 5,) * 2} for n in range(103)])).overview()
    )
    assert rows["target"] == "overall on 1..5"
    assert rows["rated rows"] == "103"
    assert rows["ceiling set by rater noise"] == "1.00 (103 items with several raters)"
    assert rows["margin of error at r = 0.5"] == "±0.15; ±0.05 needs 867 independent items"


def test_longer_responses_that_are_rated_higher_are_seen():
    rising = [{"overall": (n,)} for n in (1, 2, 3, 4)]
    description = found(dataset_describing(rising))
    assert description.length_correlation == pytest.approx(1)
    assert any("longer responses are rated higher" in one for one in description.warnings)


def test_json_has_null_for_undefined_and_texts_for_scales():
    plain = found(dataset_describing([{"overall": (1,)}, {"overall": (5,)}])).to_dict()
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert again == plain
    assert plain["target"]["scale"] == "1..5"
    assert plain["target"]["ceiling"] is None
    assert plain["target"]["raters"] == {"1": 2}
    assert plain["notes"] == ["as read"]


@pytest.mark.no_cover
def test_what_columns_of_ratings_are_is_said():
    rows = [{"a": (1, 2), "b": (2, 2)}, {"a": (5, 4), "b": (4, 4)}, {"a": (3, 3), "b": (1, 2)}]
    assert found(dataset_describing(rows)).rater_notes() == [
        "a, b, mean: two-way ICC takes the n-th rating of every item for the same person's, as "
        "rows do not name their raters."
    ]
    named = [
        item.model_copy(update={"extra": {"raters": ["ana", "bo"]}})
        for item in dataset_describing(rows)
    ]
    assert found(DataSet(name="toy", items=tuple(named))).rater_notes() == []
    others = [
        item.model_copy(update={"extra": {"raters": ["ana", f"r{n}"]}})
        for n, item in enumerate(dataset_describing(rows))
    ]
    said = found(DataSet(name="toy", items=tuple(others))).rater_notes()
    assert said == ["a, b, mean: no two-way ICC, as other raters rated other items."]


# Published as one value per item and criterion, or (wiki_da) on other numbers of raters.


# rating summary

# One-way ICC of one rater and of the mean, as the data folder's description gives them.
RELIABILITY = {
    "summeval": {
        "consistency": (0.899, 0.964),
        "relevance": (0.494, 0.745),
    },
    "topical_chat": {"understandability": (0.483, 0.737), "overall": (0.661, 0.854)},
    "wiki_da": {"simplicity": (0.294, 0.862)},
}


def summary(values, ratings=None, scale=LIKERT):
    said = [(one,) if np.isfinite(one) else () for one in values] if ratings is None else ratings
    return rating_summary("overall", scale, values, said, rng=np.random.default_rng(0))


@pytest.mark.no_cover
@given(st.lists(st.integers(1, 5), min_size=2, max_size=12))
def test_ties_match_the_definition_counted_pair_by_pair(values):
    pairs = list(combinations(values, 2))
    assert summary(values).tied == pytest.approx(np.mean([a == b for a, b in pairs]))


def test_the_best_end_follows_the_direction_of_the_scale():
    assert summary([1, 5, 5]).at_top == pytest.approx(2 / 3)
    faults = Scale(low=1, high=5, higher_is_better=False)
    assert summary([1, 5, 5], scale=faults).at_top == pytest.approx(1 / 3)


def test_agreement_rests_on_items_with_several_ratings_alone():
    several = [(1, 2), (4, 4), (3, 5)]
    alone = [*several, (1,), (5,)]
    first = summary([np.mean(one) for one in several], several)
    second = summary([np.mean(one) for one in alone], alone)
    for name in ("alpha_interval", "alpha_ordinal", "icc_single", "icc_mean", "ceiling"):
        assert getattr(first, name) == getattr(second, name)
    assert (first.n_several, second.n_several) == (3, 3)


@pytest.mark.parametrize("name", RELIABILITY)
def test_reliability_of_real_sets_is_as_published_beside_them(data_folder, name):
    data: DataSet = read_items(data_folder / f"{name}.jsonl.gz")
    for criterion, (single, mean) in RELIABILITY[name].items():
        said = [item.human[criterion] for item in data]
        values = [np.mean(one) for one in said]
        found = summary(values, said, data.scales[criterion])
        assert (found.icc_single, found.icc_mean) == pytest.approx((single, mean), abs=6e-4)


def test_two_way_correlations_are_of_the_columns_that_may_be_people():
    lenient = [(1, 2), (2, 3), (4, 5), (3, 4)]
    values = [np.mean(one) for one in lenient]
    found = summary(values, lenient)
    assert (found.who, found.icc_consistency) == ("unnamed", pytest.approx(1))
    assert found.icc_single < found.icc_agreement < 1
    uneven = summary([*values, 3], [*lenient, (3, 3, 3)])
    assert uneven.who == "uneven"
    assert np.isnan([uneven.icc_agreement, uneven.icc_consistency]).all()
    assert uneven.rater_vs_rest.n_groups == 5


def test_a_rater_is_held_against_the_mean_of_the_others():
    said = [(1, 2, 2), (4, 4, 5), (3, 5, 4), (2, 2, 1), (5, 4, 4)]
    found = summary([np.mean(one) for one in said], said)
    table = np.asarray(said, float)
    rest = [np.delete(table, n, axis=1).mean(axis=1) for n in range(3)]
    direct = np.mean([np.corrcoef(table[:, n], rest[n])[0, 1] for n in range(3)])
    assert found.rater_vs_rest.value == pytest.approx(direct)
    assert (found.rater_vs_rest.n, found.rater_vs_rest.n_groups) == (15, 5)


@for_each(
    ("values", "ratings", "why"),
    [
        ([1, 5], [(1,), (5,)], "each item has a single value, one rating, or a figure without"),
        ([1.5, 5], [(1.5,), (5,)], "each item has a single value, a mean or another figure"),
        ([1.5, 5], [(), ()], "its criteria have different numbers of ratings"),
        ([1, 4.5], [(1,), (4, 5)], "a single item has several ratings"),
        ([3, 3], [(3, 3), (3, 3)], "the ratings of half of the raters are all equal"),
        ([3, 3], [(1, 5), (5, 1)], "halves of the raters correlate with -1.00; there is nothing"),
        ([float("nan")], [()], "no item has a value"),
    ],
)
def test_where_there_is_no_ceiling_it_says_why(values, ratings, why):
    found = summary(values, ratings)
    assert np.isnan(found.ceiling)
    assert found.no_ceiling.startswith(why)


# ratings

ratings = st.lists(st.integers(1, 5), min_size=1, max_size=9)


@given(ratings)
def test_mean_and_median_match_their_definitions(said):
    assert rating_value(said, "mean") == pytest.approx(sum(said) / len(said))
    low, high = sorted(said)[(len(said) - 1) // 2], sorted(said)[len(said) // 2]
    assert rating_value(said, "median") == (low + high) / 2


def test_raters_who_differ_have_no_unanimous_value():
    assert rating_value([4, 4, 4], "unanimous") == 4
    assert rating_value([4, 4, 5], "unanimous") is None


@for_each("answer", ["4", " 4 ", "4.0", "+4", "4e0", 4, 4.0])
def test_numbers_and_their_spellings_are_read(answer):
    assert rating_points(answer, LIKERT) == 4


@for_each(
    "answer",
    [
        *("four", "4,5", "1_0", "nan", "NaN", "NA", "inf", "", "٤", "4/5", "5.01"),
        *(True, False, None, [4], math.nan, math.inf, -math.inf, 10**400, 0, 6),
    ],
)
def test_what_is_no_rating_on_the_scale_is_refused(answer):
    with pytest.raises(ValueError, match=r"^a number from 1 to 5$"):
        rating_points(answer, LIKERT)


def test_whole_points_only_where_the_scale_says_so():
    whole = Scale(low=1, high=5, kind="integer")
    with pytest.raises(ValueError, match=r"^a whole number from 1 to 5$"):
        rating_points(4.5, whole)
    assert rating_points(4.5, LIKERT) == 4.5


def test_labels_are_read_on_a_categorical_scale():
    words = Scale.categorical("poor", "fair", "good")
    assert rating_points("good", words) == 2
    assert rating_points(1, words) == 1
    with pytest.raises(ValueError, match=r"^one of poor, fair, good, or a whole number from 0 to"):
        rating_points("excellent", words)


# text summary


def found_text_summary(*items):
    return text_summary(DataSet(name="toy", items=items))


def test_lengths_are_in_characters_and_only_of_what_is_there():
    summary = found_text_summary(
        RatedItem(source="漢字", response="abc", references=("x", "yyy")),
        RatedItem(source="", response=""),
    )
    assert summary.lengths == {
        "source": Lengths(n=1, shortest=2, median=2, longest=2),
        "response": Lengths(n=2, shortest=0, median=1.5, longest=3),
        "references": Lengths(n=2, shortest=1, median=2, longest=3),
    }


def test_repeated_items_are_told_from_those_rated_differently():
    same = RatedItem(source="s", response="r", human={"a": (1,)})
    other = RatedItem(source="s", response="r", human={"a": (2,)})
    summary = found_text_summary(same, same, other)
    assert (summary.repeated_items, summary.rated_differently) == (2, 1)
    assert summary.shared_responses == 0


def test_a_response_to_several_sources_leaks_but_an_empty_one_does_not():
    rows = [("s", "yes"), ("t", "yes"), ("t", "yes"), ("s", ""), ("t", ""), ("u", "no")]
    summary = found_text_summary(*(RatedItem(source=s, response=r) for s, r in rows))
    assert (summary.shared_responses, summary.items_with_shared_response) == (1, 3)


@pytest.mark.parametrize(("scale", "told"), [("1..5", False), ("1..10", True)])
def test_ratings_in_one_half_of_their_scale_are_told(scale, told):
    rows = [{"source": f"s{n}", "response": f"r{n}", "score": n % 5 + 1} for n in range(40)]
    found = cautions(describe(read_items(rows, scale=scale), seed=0))
    assert any("in one half of the scale" in one for one in found) == told
