import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.data.reading import read_items
from judgesmith.data.targets import targets_of
from judgesmith.optimizers.rows import folds_by_source, pool_and_selection, split_by_source

RATED_SETS = ["summeval", "topical_chat", "sfres", "pandalm", "mqm_ted_ende", "wiki_da"]

groups = st.lists(st.integers(0, 9), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1)
seeds = st.integers(0, 2**32 - 1)


def rng(seed=0):
    return np.random.default_rng(seed)


def sources(n_groups, n_rows_each):
    return np.repeat(np.arange(n_groups), n_rows_each)


@pytest.mark.no_cover
@given(groups, seeds, st.floats(0, 0.99))
def test_parts_share_no_source_and_lose_no_row(labels, seed, holdout):
    values = np.arange(len(labels)) % 5
    parts = split_by_source(labels, values, holdout=holdout, rng=rng(seed))
    assert sorted([*parts.tuning, *parts.heldout]) == list(range(len(labels)))
    labels = np.asarray(labels)
    assert not set(labels[parts.tuning]) & set(labels[parts.heldout])
    n_held = len(set(labels[parts.heldout]))
    n = len(set(labels.tolist()))
    assert n_held == (min(max(round(holdout * n), 1), n - 1) if holdout else 0)


@pytest.mark.no_cover
@given(groups, seeds)
def test_equal_generators_give_equal_parts(labels, seed):
    values = np.arange(len(labels)) % 5
    first, second = (split_by_source(labels, values, rng=rng(seed)) for _ in range(2))
    assert first.tuning.tolist() == second.tuning.tolist()


def test_names_of_sources_do_not_matter():
    values = np.arange(12.0)
    plain = split_by_source(sources(6, 2), values, rng=rng(3))
    named = split_by_source([f"doc {n}" for n in sources(6, 2)], values, rng=rng(3))
    assert plain.heldout.tolist() == named.heldout.tolist()


def test_without_a_holdout_every_row_tunes():
    parts = split_by_source([1, 1], [1, 2], holdout=0, rng=rng())
    assert (parts.tuning.tolist(), parts.heldout.tolist()) == ([0, 1], [])


def test_every_part_sees_the_whole_range_where_chance_would_not():
    # Of 100 sources in order of value, every tenth stretch gives exactly one to the smaller part.
    values = np.arange(100)
    for holdout in (0.1, 0.9):
        parts = split_by_source(values, values, holdout=holdout, rng=rng(1))
        small = min(parts.tuning, parts.heldout, key=len)
        assert np.bincount(small // 10).tolist() == [1] * 10


def test_stratified_parts_are_closer_to_each_other_than_random_ones():
    draw = rng(5)
    labels = sources(60, 4)
    values = np.repeat(draw.normal(size=60), 4) + draw.normal(scale=0.3, size=240)

    def gap(parts):
        return abs(values[parts.tuning].mean() - values[parts.heldout].mean())

    stratified = [gap(split_by_source(labels, values, rng=rng(n))) for n in range(100)]
    unordered = [gap(split_by_source(labels, np.zeros(240), rng=rng(n))) for n in range(100)]
    assert np.mean(stratified) < 0.3 * np.mean(unordered)


def test_every_source_is_held_out_about_as_often_as_any_other():
    values = np.arange(20)
    held = np.zeros(20)
    for n in range(400):
        held[split_by_source(values, values, holdout=0.25, rng=rng(n)).heldout] += 1
    assert held.min() > 60
    assert held.max() < 140


def test_unrated_sources_are_shared_out_likewise():
    values = np.where(np.arange(100) < 50, np.nan, np.arange(100.0))
    parts = split_by_source(np.arange(100), values, holdout=0.2, rng=rng())
    assert np.isnan(values[parts.heldout]).sum() == 10


def test_rows_may_be_split_whatever_their_source():
    parts = split_by_source(sources(2, 50), np.zeros(100), holdout=0.75, rng=rng(), rows=True)
    assert (len(parts.tuning), len(parts.heldout)) == (25, 75)
    assert set(sources(2, 50)[parts.tuning]) == {0, 1}


@pytest.mark.parametrize("holdout", [-0.1, 1, 1.5, float("nan")])
def test_a_holdout_that_is_no_share_is_refused(holdout):
    with pytest.raises(ValueError, match="holdout is a share of sources from 0 to below 1; got"):
        split_by_source([1, 2], [1, 2], holdout=holdout, rng=rng())


def test_one_source_cannot_be_shared_out():
    with pytest.raises(
        ValueError, match=r"^there is 1 source; holding some out needs at least 2; give more "
    ):
        split_by_source([1, 1], [1, 2], rng=rng())


def test_values_must_be_one_per_row():
    with pytest.raises(ValueError, match=r"^expected one value per row, 3; got shape \(2,\)"):
        split_by_source([1, 2, 3], [1, 2], rng=rng())


@given(groups, seeds, st.integers(1, 9))
def test_pool_and_selection_share_no_source_and_lose_no_rated_row(labels, seed, n_shown):
    labels = np.asarray(labels)
    values = np.where(np.arange(len(labels)) % 7 == 6, np.nan, labels * 1.0)
    rated = np.flatnonzero(np.isfinite(values))
    n_sources = len(set(labels[rated].tolist()))
    if n_sources < 2:
        return
    parts = pool_and_selection(labels, values, n_demonstrations=n_shown, rng=rng(seed))
    assert sorted([*parts.pool, *parts.selection]) == rated.tolist()
    assert not set(labels[parts.pool]) & set(labels[parts.selection])
    n_pooled = len(set(labels[parts.pool].tolist()))
    assert 1 <= n_pooled <= n_sources // 2
    if len(parts.pool) < 4 * n_shown:
        assert n_pooled == n_sources // 2


@pytest.mark.parametrize(
    ("n_sources", "each", "n_shown", "n_pooled"),
    [(100, 4, 3, 20), (20, 1, 3, 10), (40, 1, 3, 12), (20, 16, 8, 4), (2, 10, 3, 1)],
)
def test_the_pool_is_a_fifth_or_what_the_demonstrations_need_or_half(
    n_sources, each, n_shown, n_pooled
):
    labels = sources(n_sources, each)
    parts = pool_and_selection(labels, labels, n_demonstrations=n_shown, rng=rng())
    assert len(set(labels[parts.pool])) == n_pooled


def test_without_demonstrations_there_is_no_pool():
    parts = pool_and_selection([1, 1], [1, np.nan], n_demonstrations=0, rng=rng())
    assert (parts.pool.tolist(), parts.selection.tolist()) == ([], [0])


def test_a_single_source_cannot_both_teach_and_decide():
    with pytest.raises(
        ValueError, match=r"got 2 rated rows of 1 source to learn from; ask for no dem"
    ):
        pool_and_selection([1, 1, 2], [1, 2, np.nan], n_demonstrations=3, rng=rng())


@given(groups, seeds, st.integers(2, 5))
def test_folds_keep_sources_whole_and_are_all_used(labels, seed, k):
    n = len(set(labels))
    if k > n:
        with pytest.raises(ValueError, match=f"{n} sources make 2 to {n} folds; asked for {k}"):
            folds_by_source(labels, k, rng=rng(seed))
        return
    folds = folds_by_source(labels, k, rng=rng(seed))
    assert set(folds.tolist()) == set(range(k))
    assert len({(g, f) for g, f in zip(labels, folds.tolist(), strict=True)}) == n


def test_folds_are_of_like_size():
    sizes = np.bincount(folds_by_source(sources(30, 4), 5, rng=rng()))
    assert sizes.tolist() == [24] * 5


@pytest.mark.parametrize("name", RATED_SETS)
def test_real_sets_are_split_by_source_into_like_parts(data_folder, name):
    data = read_items(data_folder / f"{name}.jsonl.gz")
    values = targets_of(data).values
    split = split_by_source(data.groups, values, holdout=0.75, rng=rng())
    inner = pool_and_selection(
        data.groups[split.tuning], values[split.tuning], n_demonstrations=3, rng=rng()
    )
    parts = [split.heldout, split.tuning[inner.pool], split.tuning[inner.selection]]
    for field in ("source_id", "source"):
        seen = [{getattr(data[i], field) for i in part} for part in parts]
        assert len(set.union(*seen)) == sum(map(len, seen))
    tuning, heldout = values[split.tuning], values[split.heldout]
    assert abs(tuning.mean() - heldout.mean()) < 0.1 * values.std()
    assert 0.85 < tuning.std() / heldout.std() < 1.15
