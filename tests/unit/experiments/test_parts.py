import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.data.items import DataSet
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.split import examples_of, parts_of
from judgesmith.signatures import RatedItem, Scale

FORM = {"overall": Scale(low=1, high=5)}


def rated_set(sizes, unrated=()):
    items = [
        RatedItem(
            source=f"source {s}",
            response=f"response {s}.{r}",
            source_id=str(s),
            system_id=str(r),
            human={} if (s, r) in unrated else {"overall": (1 + (3 * s + r) % 5,)},
            scale=FORM,
        )
        for s, size in enumerate(sizes)
        for r in range(size)
    ]
    return DataSet(name="toy", items=tuple(items))


def parts(data, **options):
    chosen = CompileSettings(**options)
    return parts_of(data, chosen_targets(data, chosen), chosen)


def used(found):
    return {
        name: [] if rows is None else [item.key for item in rows.items]
        for name, rows in (
            ("pool", found.pool),
            ("selection", found.selection),
            ("heldout", found.heldout),
        )
    }


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=6, max_size=20),
    st.sampled_from([0.0, 0.2, 0.3, 0.5]),
    st.integers(0, 3),
    st.integers(0, 5),
)
def test_every_rated_row_has_one_use_and_no_source_two(sizes, holdout, n_demonstrations, seed):
    data = rated_set(sizes, unrated={(1, 0)})
    found = parts(data, holdout=holdout, n_demonstrations=n_demonstrations, seed=seed)
    sources = [
        set() if rows is None else {item.source for item in rows.items}
        for rows in (found.pool, found.selection, found.heldout)
    ]
    assert sum(map(len, sources)) == len(set().union(*sources))
    keys = [key for several in used(found).values() for key in several]
    assert sorted(keys) == sorted(item.key for item in data if item.human)


def test_equal_seeds_give_equal_parts_and_others_do_not():
    data = rated_set([2] * 20)
    assert used(parts(data, seed=3)) == used(parts(data, seed=3))
    assert used(parts(data, seed=3)) != used(parts(data, seed=4))


def test_without_a_search_there_is_no_pool():
    found = parts(rated_set([2] * 10), optimizer="none")
    assert found.pool is None
    assert [len(rows) for rows in found.tuning] == [len(found.selection)]


def test_rows_can_be_split_instead_of_sources():
    found = parts(rated_set([8, 8]), split_rows=True, holdout=0.5)
    shared = {item.source for item in found.selection.items}
    assert shared & {item.source for item in found.heldout.items}
    assert not set(used(found)["selection"]) & set(used(found)["heldout"])
    shown = {item.source for item in found.pool.items}
    assert shown
    assert not shown & {item.source for item in found.selection.items}


def test_rows_keep_what_people_said():
    data = rated_set([3] * 8)
    said = {item.key: item.human["overall"][0] for item in data}
    found = parts(data)
    for rows in (found.pool, found.selection, found.heldout):
        assert [said[item.key] for item in rows.items] == rows.human.tolist()
        assert [one.score for one in examples_of(rows)] == rows.human.tolist()


def test_too_little_to_learn_from_is_refused():
    with pytest.raises(ValueError, match="holding some out needs at least 2"):
        parts(rated_set([6]))
    with pytest.raises(ValueError, match="must not share a source"):
        parts(rated_set([6]), holdout=0.0)


def test_parts_are_spread_over_the_whole_range_of_ratings():
    found = parts(rated_set([4] * 30), holdout=0.3)
    means = [np.mean(rows.human) for rows in (found.pool, found.selection, found.heldout)]
    assert max(means) - min(means) < 0.5


@pytest.mark.parametrize("objective", ["q", "q - .1*mae; kappa >= .4", "q + adjacent - .1*calls"])
def test_an_objective_that_these_ratings_have_is_taken(objective):
    assert parts(rated_set([3] * 20), objective=objective).selection is not None


def test_an_objective_that_these_ratings_cannot_have_is_refused_before_anything_is_asked():
    with pytest.raises(ValueError, match=r"adjacent is undefined on the .* rows to choose by"):
        parts(rated_set([1] * 20), objective="adjacent")
    items = [
        item.model_copy(
            update={"human": {"overall": (1 + k,)}, "scale": {"overall": Scale(low=1, high=99)}}
        )
        for k, item in enumerate(rated_set([1] * 40).items)
    ]
    with pytest.raises(ValueError, match="kappa needs 11 levels or fewer"):
        parts(DataSet(name="fine", items=tuple(items)), objective="q; kappa >= .4")


def test_rows_that_cannot_be_ranked_are_refused_before_anything_is_asked():
    ranked = {"judge": "pairs", "optimizer": "none", "criteria": "given"}
    assert parts(rated_set([2] * 20), **ranked).heldout is not None
    with pytest.raises(ValueError, match=r"none of the 14 rows to choose by shares its source"):
        parts(rated_set([1] * 20), **ranked)
    # Rows that share an id alone, and no source, have nothing to be ranked among.
    apart = [
        item.model_copy(update={"source": f"{item.source}, {item.system_id}"})
        for item in rated_set([2] * 20)
    ]
    with pytest.raises(ValueError, match="shares its source"):
        parts(DataSet(name="apart", items=tuple(apart)), **ranked)


def test_rows_held_out_that_cannot_be_ranked_are_refused_too():
    ranked = {"judge": "pairs", "optimizer": "none", "criteria": "given"}
    several = rated_set([2] * 20)
    held = set(parts(several, **ranked).heldout_places.tolist())
    items = [
        item.model_copy(update={"context": item.system_id}) if place in held else item
        for place, item in enumerate(several)
    ]
    with pytest.raises(ValueError, match=r"none of the 12 rows held out shares its source"):
        parts(DataSet(name="apart", items=tuple(items)), **ranked)
