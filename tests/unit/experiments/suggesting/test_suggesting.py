import numpy as np
import pytest

from judgesmith.data import read_items
from judgesmith.data.items import DataSet
from judgesmith.data.targets import targets_of
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of, set_aside
from judgesmith.experiments.labels.suggesting import asked_criteria, read_rates, suggest
from judgesmith.programs.judging.runner import judge_items
from judgesmith.signatures import Scale
from judgesmith.signatures.judgement import Reason

QUICK = CompileSettings(criteria="given", n_rounds=1)


@pytest.fixture(scope="module")
def data():
    return read_items("sample")


@pytest.fixture(scope="module")
def judge(data):
    return compile_judge(data.subset(range(24)), QUICK).saved


def unrated(data, places):
    items = [data[place].model_copy(update={"human": {}}) for place in places]
    return DataSet(name="pool", items=tuple(items))


def marked(data, places, by):
    extra = {"suggested_by": by}
    items = [
        item.model_copy(update={"extra": extra}) if place in places else item
        for place, item in enumerate(data)
    ]
    return DataSet(name="marked", items=tuple(items))


def test_what_is_rated_seen_or_repeated_is_left_out_and_counted(data, judge):
    pool = unrated(data, range(40))
    twice = DataSet(name="pool", items=(*pool.items, pool[39], data[38]))
    found = suggest(judge, twice, n=4)
    held_out = 24 - len(judge.seen_keys)
    assert (found.n_rows, found.n_rated, found.n_seen) == (42, 1, 24 - held_out)
    assert found.n_repeated == 1
    assert not {item.key for item, _ in found.rows} & judge.seen_keys


def test_the_same_seed_chooses_the_same_rows_whatever_the_concurrency(data, judge):
    pool = unrated(data, range(24, 60))
    first, again, other = (
        [item.key for item, _ in suggest(judge, pool, n=6, seed=s, concurrency=c).rows]
        for s, c in ((1, 1), (1, 7), (2, 7))
    )
    assert first == again
    assert first != other  # at least in another order


def test_rows_drawn_at_random_do_not_depend_on_the_judge(data, judge):
    pool = unrated(data, range(24, 60))

    def random_rows(**options):
        rows = suggest(judge, pool, n_random=5, **options).rows
        return {item.key for item, by in rows if by == "random"}

    assert random_rows(n=4) == random_rows(n=7, strategy="coverage") == random_rows(n=0)
    assert suggest(judge, pool, n=5, strategy="random").counts == {"random": 5}


def test_no_more_rows_are_judged_than_was_said(data, judge):
    found = suggest(judge, unrated(data, range(24, 60)), n=3, at_most=5)
    assert (found.n_unasked, len(found.rows)) == (31, 3)


def test_rows_without_a_score_are_counted_and_not_chosen(data, judge):
    from judgesmith.programs.lm import model

    lm = model("offline", ledger=None, max_calls=10)
    found = suggest(judge, unrated(data, range(24, 40)), n=16, lm=lm, concurrency=1)
    assert found.n_unscored == 16 - len(found.rows) > 0
    assert all(one.reason is Reason.OVER_BUDGET for one in found.causes)


def test_a_row_that_lacks_what_is_asked_is_not_rated_yet(data, judge):
    (item,) = data.subset([30]).items
    half = DataSet(name="half", items=(item.model_copy(update={"human": {"fluency": (3.0,)}}),))
    assert suggest(judge, half, n=1, criteria=["overall"]).n_rated == 0
    with pytest.raises(ValueError, match="no row of half is left"):
        suggest(judge, half, n=1)


def test_a_mean_is_asked_by_its_criteria_where_they_are_known(data, judge):
    mean = judge.model_copy(update={"target": "mean"})
    assert list(asked_criteria(mean, data)) == ["faithfulness", "fluency"]
    with pytest.raises(ValueError, match="mean of several criteria"):
        asked_criteria(mean, unrated_alone(data))
    assert asked_criteria(mean, unrated_alone(data), {"a": Scale.parse("0..9")}) == {
        "a": Scale.parse("0..9")
    }
    both = judge.model_copy(update={"target": "a+b", "human_scale": Scale.parse("0..1")})
    with pytest.raises(ValueError, match="the scale of a is not known"):
        asked_criteria(both, unrated_alone(data))


def unrated_alone(data):
    item = data[0].model_copy(update={"human": {}, "scale": {}})
    return DataSet(name="pool", items=(item,))


def test_rows_that_were_chosen_are_never_held_out(data):
    settings = CompileSettings()
    chosen = marked(data, range(60), "coverage")
    parts = parts_of(chosen, chosen_targets(chosen, settings), settings)
    taken = {item.source_id for item in chosen.subset(range(60))}
    assert parts.n_chosen > 0
    assert not {item.source_id for item in parts.heldout.items} & taken
    drawn = marked(data, range(60), "random")
    assert parts_of(drawn, chosen_targets(drawn, settings), settings).n_chosen == 0


def test_nothing_is_calibrated_by_rows_that_were_chosen(data):
    chosen = marked(data, range(60), "disagreement")
    _, aside = set_aside(chosen, targets_of(chosen), share=0.3, seed=0)
    assert len(aside)
    assert not {item.source_id for item in aside} & {chosen[i].source_id for i in range(60)}


def test_a_report_on_chosen_rows_alone_is_none(data, judge):
    few = marked(data.subset(range(24, 40)), range(16), "coverage")
    made = compile_judge(few, CompileSettings(n_rounds=1), earlier=judge)
    assert made.heldout is None
    assert any("suggest chose" in note and "none are left" in note for note in made.notes)


def test_scores_are_spread_over_their_range_by_coverage(data, judge):
    pool = unrated(data, range(24, 160))
    scores = [one.score for one in judge_items(judge, pool.items)]
    rows = suggest(judge, pool, n=10, strategy="coverage").rows
    said = [one.score for one in judge_items(judge, [item for item, _ in rows])]
    assert np.ptp(said) >= 0.6 * np.ptp(scores)


def test_what_is_to_be_rated_is_named_once():
    with pytest.raises(ValueError, match="clear is to be rated twice; name it once"):
        read_rates(["clear=1..5", "clear=1..3"])
