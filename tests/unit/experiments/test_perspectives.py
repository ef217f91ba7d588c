"""Perspectives: global and local, criteria and sub-aspects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgesmith
from judgesmith.data import DataSet, read_items
from judgesmith.experiments.evaluate.perspectives.perspectives import asked_on, perspective_of_judge
from judgesmith.experiments.evaluate.perspectives.ratings import (
    SampledScores,
    builders,
    errors_made,
    on_levels_of,
    right_levels,
)
from judgesmith.experiments.evaluate.perspectives.report import (
    UNREADABLE,
    global_report,
    local_report,
    mean_of_criteria,
    ratings_of,
)
from judgesmith.metrics import weighted_kappa
from judgesmith.metrics.resampling.draws import ratio_of_sums
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import RatedItem, Scale

# perspectives

RNG = np.random.default_rng
LOCAL_FORM = {
    "perspective": "local",
    "built_by": {"injector": "offline", "writer": "openai/w"},
}


@pytest.fixture(scope="module")
def saved():
    """A judge of two criteria and of what it was compiled for."""
    settings = judgesmith.CompileSettings(criteria="human", optimizer="none", holdout=0)
    return judgesmith.compile(judgesmith.read("sample"), settings).saved


@pytest.fixture(scope="module")
def built():
    """Sequences of texts that lose a word and their faithfulness, step by step."""
    items = []
    for place, item in enumerate(judgesmith.read("sample").items[:24:4]):
        words = item.source.split()[:24]
        for step in range(4):
            text = " ".join(words[: len(words) - 5 * step]) + " 1987" * step
            items.append(
                RatedItem(
                    source_id=f"s{place}",
                    system_id=f"faithfulness-{step}",
                    source=item.source,
                    response=text,
                    human={"faithfulness": (3.0 - step,)},
                    scale={"faithfulness": Scale(low=0, high=3)},
                    extra={"provenance": LOCAL_FORM | {"n_errors": step}},
                )
            )
    return DataSet(name="built", items=tuple(items))


def test_a_judge_is_asked_about_texts_with_an_undisputed_rating_alone(saved):
    data = judgesmith.read("sample").subset(range(40))
    other = DataSet(
        name="other",
        items=tuple(one.model_copy(update={"response": one.response + " "}) for one in data),
    )
    lm = judgesmith.model("offline", ledger=None)
    found = perspective_of_judge(
        saved, other, perspective="global", target="fluency", lm=lm, seed=RNG(0)
    )
    report = found.reports["fluency"]
    undisputed = sum(len(set(one.human["fluency"])) == 1 for one in data)
    assert report.kappa.n == undisputed < 40
    assert lm_client_of(lm).spent.calls == undisputed * len(saved.questions)
    assert found.mean.value == report.kappa.value


def test_a_built_set_is_ordered_by_errors_and_its_own_builder_is_told(saved, built):
    found = perspective_of_judge(saved, built, perspective="local", seed=RNG(0))
    report = found.reports["faithfulness"]
    assert report.by_errors.errors == (0, 1, 2, 3)
    assert report.accuracy.n == report.apart[1].n == 18
    assert report.accuracy.value == report.apart[1].value > 0.5
    assert any("offline judges texts that it built itself (injector)" in n for n in found.notes)
    clean = perspective_of_judge(
        saved.model_copy(update={"model": "openai/w"}),
        built,
        perspective="local",
        lm=judgesmith.model("offline", ledger=None),
        seed=RNG(0),
    )
    assert any(note.startswith("openai/w judges") for note in clean.notes)


def test_a_built_set_stays_whole_though_the_judge_was_made_from_some_of_its_texts(saved, built):
    first, *others = built.items
    seen = judgesmith.read("sample").items[0]
    assert seen.key in saved.seen_keys
    known = first.model_copy(update={"source": seen.source, "response": seen.response})
    data = DataSet(name="known", items=(known, *others))
    assert known.key in saved.seen_keys
    found = perspective_of_judge(saved, data, perspective="local", seed=RNG(0))
    assert found.reports["faithfulness"].accuracy.n == 18
    assert any("made from 1 of 24 texts, which were rated otherwise" in n for n in found.notes)


def test_samples_are_taken_on_the_scale_of_the_ratings_or_on_one_to_ten(saved, built):
    found = perspective_of_judge(saved, built, perspective="global", samples=3, seed=RNG(0))
    report = found.reports["faithfulness"]
    assert report.basis.n_samples == (3, 3)
    assert set(report.ratings.tolist()) <= {0, 1, 2, 3}
    asked, why = asked_on(saved, Scale(low=1, high=10, kind="integer"), 1.0)
    assert (asked.protocol.answers.high, asked.protocol.temperature, why) == (10, 1.0, None)
    local = perspective_of_judge(saved, built, perspective="local", samples=3, seed=RNG(0))
    assert local.reports["faithfulness"].basis.n_samples == (3, 3)
    again = perspective_of_judge(
        saved, built, perspective="local", samples=3, seed=RNG(0), concurrency=2
    )
    assert again.to_dict() == local.to_dict()


def test_texts_that_the_judge_was_made_from_are_left_out_where_there_are_others(saved):
    data = judgesmith.read("sample")
    fresh = [one.model_copy(update={"source": one.source + " "}) for one in data.items[:20]]
    both = DataSet(name="both", items=(*data.items[40:60], *fresh))
    found = perspective_of_judge(saved, both, perspective="global", target="overall", seed=RNG(0))
    assert "20 of 40 texts, those that the judge was made from, are left out." in found.notes
    alone = DataSet(name="alone", items=tuple(fresh))
    same = perspective_of_judge(saved, alone, perspective="global", target="overall", seed=RNG(0))
    assert found.reports["overall"].kappa.value == same.reports["overall"].kappa.value
    flattered = perspective_of_judge(
        saved, data.subset(range(40)), perspective="global", target="overall", seed=RNG(0)
    )
    assert any("made from all of these texts" in note for note in flattered.notes)


def test_a_criterion_rated_on_texts_of_the_judge_alone_is_left_out(saved):
    data = judgesmith.read("sample")
    fresh = [
        one.model_copy(
            update={"source": one.source + " ", "human": {"fluency": one.human["fluency"]}}
        )
        for one in data.items[:20]
    ]
    both = DataSet(name="both", items=(*data.items[40:60], *fresh))
    found = perspective_of_judge(saved, both, perspective="global", seed=RNG(0))
    assert list(found.reports) == ["fluency"]
    assert "made from all texts" in found.left_out["faithfulness"]
    with pytest.raises(ValueError, match="faithfulness: the judge was made from all texts"):
        perspective_of_judge(saved, both, perspective="global", target="faithfulness", seed=RNG(0))


def test_where_no_rating_is_beyond_doubt_that_is_said_and_nobody_is_asked(saved):
    data = judgesmith.read("sample").subset(range(4))
    lone = [
        one.model_copy(update={"human": {k: v[:1] for k, v in one.human.items()}}) for one in data
    ]
    single = DataSet(name="single", items=tuple(lone))
    with pytest.raises(ValueError, match=r"4 have a single rating.*--aggregate mode"):
        perspective_of_judge(saved, single, perspective="local", seed=RNG(0))


@pytest.mark.parametrize("perspective", ["global", "local"])
def test_a_budget_that_reached_nothing_is_named_with_what_to_do(saved, built, perspective):
    lm = judgesmith.model("offline", ledger=None, max_calls=0)
    with pytest.raises(ValueError, match=r"is spent\. Give a larger one; [a-z ]+\.$"):
        perspective_of_judge(saved, built, perspective=perspective, lm=lm, seed=RNG(0))


# perspective ratings

LIKERT = Scale(low=1, high=5)
PUBLISHED = {
    "coherence": (13, 29, 33, 14, 111),
    "consistency": (14, 14, 5, 1, 1306),
    "fluency": (5, 10, 24, 2, 1150),
    "relevance": (5, 19, 37, 84, 83),
}


def rated(*ratings, scale=LIKERT, **extra):
    items = [
        RatedItem(
            source_id=str(place),
            response=f"r{place}",
            human={"wit": one} if one else {},
            scale={"wit": scale},
            extra=extra,
        )
        for place, one in enumerate(ratings)
    ]
    return DataSet(name="toy", items=tuple(items))


def test_texts_have_a_level_where_raters_agree_beyond_doubt():
    found = right_levels(rated((4, 4, 4), (4, 4, 5), (1, 1), ()), "wit")
    np.testing.assert_equal(found.values, [4, np.nan, 1, np.nan])
    assert found.counts.n_kept == (1, 0, 0, 1, 0)
    assert found.counts.n_dropped == (0, 0, 0, 1, 0)
    assert (found.n_unrated, found.n_built, found.kept.tolist()) == (1, 0, [0, 2])
    found = right_levels(rated((5,), (1,), (4,), (3.67,), human_detail="mean"), "wit")
    np.testing.assert_equal(found.values, [5, 1, np.nan, np.nan])
    assert (found.counts.n_unknown, found.counts.n_too_few) == (2, 0)
    found = right_levels(rated((4.5,), (5,), (2, 2)), "wit")
    np.testing.assert_equal(found.values, [np.nan, np.nan, 2])
    assert (found.counts.n_unknown, found.counts.n_too_few) == (1, 1)
    found = right_levels(rated((3,), (5,), provenance={"perspective": "global"}), "wit")
    assert (found.values.tolist(), found.n_built) == ([3, 5], 2)
    faults = Scale(low=0, high=4, higher_is_better=False)
    found = right_levels(rated((0, 0), (3, 3), scale=faults), "wit")
    assert found.values.tolist() == [4, 1]
    assert found.counts.n_kept == (1, 0, 0, 1, 0)


def test_other_aggregations_keep_every_rated_text():
    data = rated((1, 2, 2), (5,), (1, 5, 5, 1))
    assert right_levels(data, "wit", "mode").values.tolist() == [2, 5, 3]
    assert right_levels(data, "wit", "mean").values.tolist() == [pytest.approx(5 / 3), 5, 3]
    assert on_levels_of(right_levels(data, "wit", "mean")).tolist() == [2, 5, 3]
    assert right_levels(data, "wit", "median").counts is None
    same = [right_levels(data, "wit", how).values for how in (None, "unanimous")]
    np.testing.assert_equal(*same)


def test_ratings_between_whole_points_can_be_agreed_on_but_are_no_levels():
    found = right_levels(rated((2.5, 2.5), (1, 1), (2, 3)), "wit")
    np.testing.assert_equal(found.values, [2.5, 1, np.nan])
    with pytest.raises(ValueError, match=r"lie between the whole points of 1\.\.5"):
        on_levels_of(found)
    assert on_levels_of(right_levels(rated((2.5, 2.5), (1, 1)), "wit", "mean")).tolist() == [3, 1]
    wide = right_levels(rated((0.1, 0.1), (0.4,), scale=Scale(low=0, high=0.5)), "wit")
    with pytest.raises(ValueError, match=r"0\.\.0\.5, has no levels"):
        on_levels_of(wide)


def test_what_built_a_benchmark_is_read_from_its_rows_whatever_they_hold():
    made = [{"built_by": {"writer": "a", "injector": "b"}, "n_errors": 2}, {"built_by": "a"}, 3]
    items = [RatedItem(response="", extra={"provenance": one}) for one in made]
    data = DataSet(name="toy", items=tuple(items))
    assert builders(data) == {"writer": ("a",), "injector": ("b",)}
    np.testing.assert_equal(errors_made(data), [2, np.nan, np.nan])
    odd = [{"n_errors": one} for one in (True, -1, "2", 10**30, 0)]
    items = [RatedItem(response="", extra={"provenance": one}) for one in odd]
    np.testing.assert_equal(
        errors_made(DataSet(name="toy", items=tuple(items))), [np.nan] * 4 + [0]
    )


@pytest.mark.data
def test_summeval_keeps_as_many_as_published_at_both_ends_and_no_more_between(data_folder):
    data = read_items(data_folder / "summeval.jsonl.gz")
    for criterion, published in PUBLISHED.items():
        counts = right_levels(data, criterion).counts
        assert (counts.n_kept[0], counts.n_kept[-1]) == (published[0], published[-1])
        hidden = np.subtract(published, counts.n_kept)
        assert hidden.min() >= 0
        assert hidden.sum() <= counts.n_unknown
        assert criterion != "consistency" or counts.n_kept == published


# perspective report


def test_a_criterion_that_is_undefined_takes_no_part_in_the_interval_of_the_mean():
    half = ratio_of_sums(np.array([1.0, 1.0, 0.0, 0.0]), np.ones(4), np.arange(4), 4)
    none = ratio_of_sums(np.zeros(4), np.zeros(4), np.arange(4), 4)
    found = mean_of_criteria([half, none], 4, n=4, rng=RNG(0))
    alone = mean_of_criteria([half], 4, n=4, rng=RNG(0))
    assert (found.value, found.n_undefined) == (0.5, 1)
    assert (found.low, found.high) == (alone.low, alone.high)
    assert found.low < 0.5 < found.high


# global perspective

THREE = Scale(low=1, high=3)
PERCENT_GLOBAL_PERSPECTIVE = Scale(low=0, high=100)
LEVELS = np.arange(1.0, 6.0)


def of(right, answers, *, scale=THREE, judged_on=THREE, sources=None):
    items = [
        RatedItem(
            source_id=str(place if sources is None else sources[place]),
            response="",
            human={"wit": (one, one)},
            scale={"wit": scale},
        )
        for place, one in enumerate(right)
    ]
    data = DataSet(name="toy", items=tuple(items))
    rows = [one if isinstance(one, list) else [one] for one in answers]
    scores = SampledScores.of(rows, [None] * len(rows), judged_on)
    rng = np.random.default_rng(0)
    return global_report(right_levels(data, "wit"), scores, data.groups, rng=rng)


def test_kappa_equals_a_table_worked_by_hand():
    # Right 1 1 2 3 against judged 1 2 2 2: 2 levels off in all. Rows 2/1/1, columns 1/3/0 let
    # expect (1*1*1 + 2*3*1 + 2*0*2 + ... ) = (6 + 1 + 2 + 3) / 4 = 3.
    found = of([1, 1, 2, 3], [1, 2, 2, 2])
    assert found.kappa.value == pytest.approx(1 - 2 / 3)
    assert found.confusion.counts == ((1, 1, 0), (0, 1, 0), (0, 1, 0))
    assert found.confusion.rates == ((0.5, 0.5, 0), (0, 1, 0), (0, 1, 0))
    assert found.confusion.shifts == (0.5, 0, -1)


def test_kappa_of_two_equal_constants_is_undefined():
    assert np.isnan(of([2, 2], [2, 2]).kappa.value)
    assert of([2, 2], [2, 2]).to_dict()["kappa"]["value"] is None


def test_samples_become_levels_before_their_mode_is_taken():
    scores = SampledScores.of([[30, 35, 60, 60, 30.5]], [None], PERCENT_GLOBAL_PERSPECTIVE)
    assert ratings_of(scores, LEVELS)[0].tolist() == [2]
    near = SampledScores.of([[1, 1, 5, 5, 4], [2, 4]], [None] * 2, Scale(low=1, high=5))
    assert ratings_of(near, LEVELS)[0].tolist() == [5, 2]
    half, less = [3, np.nan], [3, np.nan, np.nan]
    found, why = ratings_of(SampledScores.of([half, less], [None] * 2, THREE), LEVELS[:3])
    np.testing.assert_equal(found, [3, np.nan])
    assert why == (None, UNREADABLE)


@pytest.mark.parametrize(("answer", "level"), [(12.5, 2), (87.5, 4), (37.5, 3), (62.5, 3)])
def test_halves_go_towards_the_middle(answer, level):
    scores = SampledScores.of([[answer]], [None], PERCENT_GLOBAL_PERSPECTIVE)
    assert ratings_of(scores, LEVELS)[0].tolist() == [level]


def test_what_has_no_rating_is_counted_with_its_reason_and_not_as_zero():
    found = of([1, 2, 3, 3], [1, [np.nan], [9.0], 3])
    assert (found.basis.unscored.n, found.basis.unscored.n_rows, found.basis.n_outside) == (2, 4, 1)
    assert found.kappa.n == 2
    assert sum(found.basis.unscored.reasons.values()) == 2
    assert found.kappa.value == pytest.approx(1.0)


@given(st.lists(st.tuples(*[st.integers(1, 3)] * 3), min_size=1, max_size=12))
def test_kappa_as_a_function_of_drawn_sources_is_that_of_their_rows(rows):
    right, judged, sources = zip(*rows, strict=True)
    found = of(right, judged, sources=sources)
    labels = {one: place for place, one in enumerate(dict.fromkeys(sources))}
    draws = np.zeros((1, len(labels)))
    draws[0, 0] = 2
    kept = [place for place, one in enumerate(sources) if labels[one] == 0] * 2
    expected = weighted_kappa(np.array(right)[kept], np.array(judged)[kept], levels=[1, 2, 3])
    np.testing.assert_allclose(found.counted.of_counts(draws)[0], expected)
    np.testing.assert_allclose(found.counted.value, found.kappa.value)


# local perspective

TEN = Scale(low=1, high=10)


def of_local_perspective(rows, *, errors=None):
    """Report rows of a source, a rating and answers."""
    items = [
        RatedItem(source_id=source, response="", human={"wit": (right,) * 2}, scale={"wit": "0..9"})
        for source, right, _ in rows
    ]
    data = DataSet(name="toy", items=tuple(items))
    answers = [one if isinstance(one, list) else [one] for _, _, one in rows]
    scores = SampledScores.of(answers, [None] * len(rows), TEN)
    n_errors = None if errors is None else np.asarray(errors, dtype=float)
    return local_report(right_levels(data, "wit"), scores, data.groups, n_errors=n_errors)


def test_accuracy_equals_a_table_worked_by_hand():
    # a: 3 < 5 right, 5 < 5 tied, so wrong; b has two texts: 7 > 6 wrong.
    found = of_local_perspective([("a", 0, 3), ("a", 1, 5), ("a", 2, 5), ("b", 0, 7), ("b", 1, 6)])
    assert (found.accuracy.value, found.accuracy.n) == (pytest.approx(1 / 3), 3)
    assert found.accuracy.tied == pytest.approx(1 / 3)


def test_every_pair_of_neighbouring_occupied_ratings_counts_and_no_other():
    # 2 and 5 are neighbours where nothing lies between: two texts at 2, one at 5, one at 9.
    found = of_local_perspective([("a", 2, 1), ("a", 2, 6), ("a", 5, 5), ("a", 9, 9)])
    assert (found.accuracy.n, found.accuracy.value) == (3, pytest.approx(2 / 3))


def test_pairs_with_an_unscored_side_are_left_out_and_counted():
    found = of_local_perspective(
        [("a", 0, 3), ("a", 1, [np.nan]), ("a", 2, 5), ("b", 0, 1), ("b", 1, 2)]
    )
    assert (found.accuracy.n, found.accuracy.n_unscored, found.basis.unscored.n) == (1, 2, 1)
    assert found.accuracy.value == 1


def test_samples_are_averaged_and_noise_of_their_mean_is_no_difference():
    tenths = [[1.1, 1.2, 1.5], [1.5, 1.2, 1.1]]
    assert sum(tenths[0]) / 3 != sum(tenths[1]) / 3
    found = of_local_perspective(
        [("a", 0, tenths[0]), ("a", 1, tenths[1]), ("b", 0, [1, 4]), ("b", 1, [2, np.nan])]
    )
    assert (found.accuracy.value, found.accuracy.tied) == (0, 0.5)


def test_complete_sequences_have_the_same_accuracy_by_neighbours_and_by_errors():
    rows = [("a", 2, 9), ("a", 1, 6), ("a", 0, 6), ("b", 2, 8), ("b", 1, 5), ("b", 0, 3)]
    found = of_local_perspective(rows, errors=[0, 1, 2, 0, 1, 2])
    assert found.by_errors.errors == (0, 1, 2)
    np.testing.assert_equal(
        found.by_errors.accuracy, [[np.nan, 1, 1], [1, np.nan, 0.5], [1, 0.5, np.nan]]
    )
    assert {k: (one.value, one.n) for k, one in found.apart.items()} == {1: (0.75, 4), 2: (1, 2)}
    same = found.apart[1].value, found.by_errors.at(1), found.accuracy.value, found.counted.value
    assert same == (0.75,) * 4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", 0, 3), ("b", 1, 5)], "no source has two texts with different"),
        ([("a", 0, 3), ("a", 1, [np.nan])], "no pair of neighbours on wit has two scores"),
    ],
)
def test_a_set_without_a_pair_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        of_local_perspective(rows)
