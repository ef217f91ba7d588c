import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.items import DataSet
from judgesmith.data.reading import read_items
from judgesmith.data.targets import (
    FRACTION,
    UselessTargetError,
    criteria_behind,
    ratings_behind,
    target_names,
    targets_of,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.scale import Scale

LIKERT = Scale(low=1, high=5)
FAULTS = Scale(low=0, high=10, higher_is_better=False)


def dataset(*rated, **scales):
    scales = scales or {name: LIKERT for human in rated for name in human}
    items = [
        RatedItem(source=str(n), response="r", human=human, scale=scales)
        for n, human in enumerate(rated)
    ]
    return DataSet(name="toy", items=tuple(items))


def test_overall_is_the_target_where_it_is_rated():
    targets = targets_of(dataset({"a": (1,), "overall": (4, 5)}, {"a": (1,), "overall": (2,)}))
    assert (targets.name, targets.scale) == ("overall", LIKERT)
    assert targets.values.tolist() == [4.5, 2]
    assert targets.n_raters.tolist() == [2, 1]
    assert targets.reasons == (None, None)


def test_otherwise_the_mean_of_the_criteria_is():
    targets = targets_of(dataset({"a": (1,), "b": (4, 2)}, {"a": (5,), "b": (5, 5)}))
    assert (targets.name, targets.scale) == ("mean", LIKERT)
    assert targets.values.tolist() == [2, 5]
    assert targets.n_raters.tolist() == [1, 1]


def test_the_mean_leaves_overall_out():
    data = dataset({"a": (1,), "overall": (5,)}, {"a": (3,), "overall": (5,)})
    assert targets_of(data, "mean").values.tolist() == [1, 3]


def test_criteria_on_different_scales_are_averaged_as_fractions():
    data = dataset({"a": (5,), "b": (0,)}, {"a": (1,), "b": (5,)}, a=LIKERT, b=FAULTS)
    targets = targets_of(data)
    assert targets.scale == FRACTION
    assert targets.values.tolist() == [1, 0.25]


def test_a_scale_that_counts_faults_keeps_its_direction():
    data = dataset({"a": (2,), "b": (4,)}, {"a": (0,), "b": (0,)}, a=FAULTS, b=FAULTS)
    targets = targets_of(data)
    assert not targets.scale.higher_is_better
    assert targets.values.tolist() == pytest.approx([3, 0])
    assert targets.fractions.tolist() == pytest.approx([0.7, 1])


def test_the_mean_of_whole_points_is_on_a_scale_that_allows_it():
    whole = Scale(low=1, high=5, kind="integer")
    data = dataset({"a": (2,), "b": (3,)}, {"a": (5,), "b": (5,)}, a=whole, b=whole)
    targets = targets_of(data)
    assert targets.values[0] in targets.scale


def test_items_that_lack_a_criterion_are_unrated_and_say_why():
    data = dataset({"a": (1,), "b": (2,)}, {"a": (3,)}, {}, {"a": (5,), "b": (4,)})
    targets = targets_of(data)
    assert targets.reasons == (None, "nobody rated b", "nobody rated a, b", None)
    assert np.isnan(targets.values[[1, 2]]).all()
    assert (targets.rated.tolist(), targets.n_unrated) == ([0, 3], 2)
    assert targets.reason_counts() == {"nobody rated b": 1, "nobody rated a, b": 1}


def test_items_without_a_unanimous_value_are_unrated_and_say_why():
    data = dataset({"overall": (4, 4)}, {"overall": (4, 5)}, {"overall": (1, 1)})
    targets = targets_of(data, aggregate="unanimous")
    assert targets.reasons == (None, "raters differ on overall", None)
    assert targets.values[[0, 2]].tolist() == [4, 1]


def test_targets_of_some_items_stay_aligned():
    data = dataset({"overall": (4, 4)}, {}, {"overall": (1,)})
    part = targets_of(data).take([2, 1])
    assert part.values[0] == 1
    assert part.reasons == (None, "nobody rated overall")
    assert part.n_raters.tolist() == [1, 0]


def test_an_unknown_target_names_the_known_and_a_near_one():
    data = dataset({"coherence": (1,), "fluency": (2,)}, {"coherence": (2,), "fluency": (2,)})
    with pytest.raises(ValueError) as caught:
        targets_of(data, "coherense")
    assert str(caught.value) == (
        "nobody rated 'coherense' in toy; there is coherence, fluency, mean; did you mean "
        "coherence?"
    )
    with pytest.raises(ValueError, match=r"there is coherence, fluency, mean\.$"):
        targets_of(data, "overall")


def test_a_set_without_ratings_says_how_to_map_them():
    with pytest.raises(ValueError) as caught:
        targets_of(dataset({}, {}))
    assert str(caught.value) == (
        "toy has no ratings to agree with; its 2 items are unrated; say --map score=COLUMN if a "
        "column holds ratings."
    )


def test_constant_ratings_are_refused():
    with pytest.raises(UselessTargetError) as caught:
        targets_of(dataset({"overall": (4,)}, {"overall": (4, 4)}, {}))
    assert str(caught.value) == (
        "all 2 rated items have the same value on overall, 4: a judge cannot agree or disagree "
        "with that; choose another target."
    )


def test_a_target_without_any_value_is_refused_with_the_reasons():
    with pytest.raises(UselessTargetError) as caught:
        targets_of(dataset({"a": (1,)}, {"b": (1,)}, {"b": (2,)}), "mean")
    assert str(caught.value) == (
        "no item has a value on mean: 2 × nobody rated a; 1 × nobody rated b."
    )


def test_a_criterion_called_mean_comes_first():
    data = dataset({"mean": (1,), "a": (5,)}, {"mean": (2,), "a": (5,)})
    assert target_names(data) == ("mean", "a")
    assert targets_of(data, "mean").values.tolist() == [1, 2]


def test_overall_alone_has_no_mean():
    assert target_names(dataset({"overall": (1,)})) == ("overall",)


class TestASumOfCriteria:
    DATA = dataset(
        {"a": (1, 3), "b": (5,), "overall": (4,), "c": (1,)},
        {"a": (5,), "b": (4,), "overall": (1,)},
    )

    def test_is_the_mean_over_exactly_these(self):
        targets = targets_of(self.DATA, "a+b")
        assert (targets.name, targets.scale) == ("a+b", LIKERT)
        assert targets.values.tolist() == [3.5, 4.5]
        assert targets.n_raters.tolist() == [1, 1]

    def test_may_hold_overall(self):
        assert targets_of(self.DATA, "overall+b").values.tolist() == [4.5, 2.5]

    def test_does_not_mind_the_order_but_for_its_name(self):
        one, other = targets_of(self.DATA, "a+b"), targets_of(self.DATA, "b+a")
        assert one.values.tolist() == other.values.tolist()
        assert other.name == "b+a"

    def test_over_different_scales_is_one_of_fractions(self):
        rated = [{"a": (5,), "b": (0,), "c": (1,)}, {"a": (1,), "b": (5,), "c": (1,)}]
        data = dataset(*rated, a=LIKERT, b=FAULTS, c=LIKERT)
        targets = targets_of(data, "a+b")
        assert targets.scale == FRACTION
        assert targets.values.tolist() == [1, 0.25]
        assert targets_of(data, "a+c").scale == LIKERT

    def test_leaves_items_unrated_that_lack_one(self):
        targets = targets_of(dataset({"a": (1,), "b": (2,)}, {"a": (3,)}, {"a": (4,), "b": (4,)}))
        assert targets.reasons == (None, "nobody rated b", None)

    def test_has_the_means_of_each_rater_behind_it(self):
        data = dataset({"a": (1, 2), "b": (5, 4), "c": (1,)}, {"a": (1,), "b": (5, 4), "c": (1,)})
        assert ratings_behind(data, "b+a") == [(3.0, 3.0), ()]

    def test_comes_after_a_criterion_of_that_name(self):
        data = dataset({"a+b": (1,), "a": (5,), "b": (5,)}, {"a+b": (2,), "a": (5,), "b": (4,)})
        assert criteria_behind(data, "a+b") == ("a+b", ("a+b",))
        assert criteria_behind(data, "b+a") == ("b+a", ("b", "a"))
        assert criteria_behind(data, "a+b+a") == ("a+b+a", ("a+b", "a"))

    @pytest.mark.parametrize(
        ("target", "said"),
        [
            ("a+mean", "nobody rated 'mean' in toy; there is a, b, overall, c."),
            ("a+x+ y", "nobody rated 'x' or 'y' in toy; there is a, b, overall, c."),
            (
                "overal+b",
                "nobody rated 'overal' in toy; there is a, b, overall, c; did you mean overall?",
            ),
            ("a+b+A", "'a+b+A' names a more than once; a mean takes each once."),
            ("a+", "criteria are added as in coherence+fluency; got 'a+'."),
            ("+", "criteria are added as in coherence+fluency; got '+'."),
        ],
    )
    def test_that_makes_no_sense_is_refused(self, target, said):
        with pytest.raises(ValueError) as caught:
            targets_of(self.DATA, target)
        assert str(caught.value) == said


class TestNames:
    DATA = dataset(
        {"fluency": (1,), "Fact_Check": (5,), "Tone": (1,), "tone": (2,)},
        {"fluency": (2,), "Fact_Check": (4,), "Tone": (3,), "tone": (3,)},
    )

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("Fluency", "fluency"),
            ("fact check", "Fact_Check"),
            (" FLUENCY+fact_check ", "fluency+Fact_Check"),
            ("MEAN", "mean"),
            ("tone", "tone"),
            ("Tone+tone", "Tone+tone"),
        ],
    )
    def test_are_recognised_and_written_as_the_data_does(self, written, meant):
        assert criteria_behind(self.DATA, written)[0] == meant

    def test_that_may_mean_several_are_refused(self):
        for target in ("TONE", "fluency+TONE"):
            with pytest.raises(ValueError) as caught:
                targets_of(self.DATA, target)
            assert str(caught.value) == "'TONE' may be any of 'Tone', 'tone'; write it as there."


@pytest.mark.no_cover
@given(st.lists(st.lists(st.integers(1, 5), min_size=4, max_size=4), min_size=2, max_size=5))
def test_a_sum_of_all_criteria_is_what_mean_is(rows):
    data = dataset(*({name: (n,) for name, n in zip("abcd", row, strict=True)} for row in rows))
    if len({sum(row) for row in rows}) > 1:
        whole = targets_of(data, "a+b+c+d")
        assert whole.values == pytest.approx(targets_of(data, "mean").values)
        assert whole.scale == targets_of(data, "mean").scale


said = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@pytest.mark.no_cover
@given(st.lists(st.tuples(said, said), min_size=2, max_size=6))
def test_the_mean_matches_its_definition(rows):
    data = dataset(*({"a": tuple(a), "b": tuple(b)} for a, b in rows))
    expected = [(np.mean(a) + np.mean(b)) / 2 for a, b in rows]
    if np.ptp(expected) > 1e-9:
        assert targets_of(data).values == pytest.approx(expected)


def test_ratings_behind_a_mean_are_the_means_of_each_rater():
    data = dataset({"a": (1, 2), "b": (5, 4)}, {"a": (1,), "b": (5, 4)}, {"a": (1, 2)})
    assert ratings_behind(data, "mean") == [(3.0, 3.0), (), ()]
    assert ratings_behind(data, "a") == [(1.0, 2.0), (1.0,), (1.0, 2.0)]


@pytest.mark.parametrize(
    ("name", "target", "scale"),
    [
        ("summeval", "mean", "1..5"),
        ("topical_chat", "overall", "1..5"),
        ("mqm_ted_ende", "mean", "-25..0"),
        ("wiki_da", "mean", "0..100"),
    ],
)
def test_real_sets_have_the_target_people_expect(data_folder, name, target, scale):
    targets = targets_of(read_items(data_folder / f"{name}.jsonl.gz"))
    assert (targets.name, str(targets.scale), targets.n_unrated) == (target, scale, 0)


def test_criteria_of_topical_chat_do_not_share_a_scale(data_folder):
    targets = targets_of(read_items(data_folder / "topical_chat.jsonl.gz"), "mean")
    assert targets.scale == FRACTION
    assert 0 <= targets.values.min() < targets.values.max() <= 1
