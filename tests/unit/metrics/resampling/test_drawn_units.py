import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.metrics.correlation.levels import ScoredRows, level_value
from judgesmith.metrics.resampling import counted, draws
from judgesmith.metrics.resampling.counted import of_units
from judgesmith.metrics.resampling.draws import (
    check_resample,
    draws_of_units,
    without_each,
)

pytestmark = pytest.mark.no_cover

STATISTICS = ["pearson", "spearman", "kendall", "kendall_c", "concordance", "q"]
LEVELS = ["system", "sample", "dataset"]
RESAMPLES = ["sources", "items", "systems", "both"]


def scored_rows(x, y, sources, systems, level):
    return ScoredRows.of(
        y, x, sources=sources, systems=systems, level=level, scored=np.ones(len(x), bool)
    )


def table(seed, *, levels, design, n_sources=7, n_systems=6):
    """Return scores in a design with all cells, with gaps, or with several rows in a cell."""
    rng = np.random.default_rng(seed)
    sources, systems = (
        each.ravel() for each in np.meshgrid(range(n_sources), range(n_systems), indexing="ij")
    )
    if design == "gaps":
        kept = rng.random(len(sources)) < 0.7
        kept[: n_systems + 1] = True
        kept[::n_systems] = True
        sources, systems = sources[kept], systems[kept]
    if design == "repeats":
        drawn = np.concatenate([np.arange(len(sources)), rng.integers(len(sources), size=20)])
        sources, systems = sources[drawn], systems[drawn]
    x = rng.normal(size=n_sources)[sources] + rng.normal(size=len(sources))
    y = x + rng.normal(size=len(sources))
    if levels:
        x, y = np.round(x), np.round(y)
    return x + 2.0, y, sources, systems


def value_of_repeated_rows(x, y, sources, systems, resample, counts, statistic, level):
    """Repeat rows as drawn; copies of a source or a system are new ones."""
    drawn = []
    for row, (source, system) in enumerate(zip(sources, systems, strict=True)):
        times_source = times_system = times_row = 1
        if resample in ("sources", "both"):
            times_source = int(counts[0][source])
        if resample in ("systems", "both"):
            times_system = int(counts[-1][system])
        if resample == "items":
            times_row = int(counts[0][row])
        drawn += [
            (row, f"{source} copy {a}", f"{system} copy {b}")
            for a in range(times_source)
            for b in range(times_system)
            for _ in range(times_row)
        ]
    if not drawn:
        return np.nan
    rows, source_copies, system_copies = (list(each) for each in zip(*drawn, strict=True))
    repeated = scored_rows(x[rows], y[rows], source_copies, system_copies, level)
    return level_value(repeated, statistic, level).value


def sizes_of(rows, resample):
    return {
        "sources": (rows.n_sources,),
        "items": (len(rows.sources),),
        "systems": (rows.n_systems,),
        "both": (rows.n_sources, rows.n_systems),
    }[resample]


@pytest.mark.parametrize("design", ["full", "gaps", "repeats"])
@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("resample", RESAMPLES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_equals_the_statistic_of_the_repeated_rows(statistic, level, resample, levels, design):
    x, y, sources, systems = table(3, levels=levels, design=design)
    rows = scored_rows(x, y, sources, systems, level)
    (drawn,) = draws_of_units(sizes_of(rows, resample), 12, np.random.default_rng(1))
    expected = [
        value_of_repeated_rows(x, y, sources, systems, resample, counts, statistic, level)
        for counts in zip(*drawn, strict=True)
    ]
    found = of_units(rows, statistic, level, resample)(*drawn)
    assert np.isfinite(found).any()
    np.testing.assert_allclose(found, expected, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(STATISTICS),
    st.sampled_from(LEVELS),
    st.sampled_from(RESAMPLES),
)
def test_small_designs_with_many_undefined_values_equal_the_repeated_rows(
    seed, statistic, level, resample
):
    x, y, sources, systems = table(
        seed, levels=True, design="gaps", n_sources=3 + seed % 2, n_systems=2 + seed % 3
    )
    rows = scored_rows(x, y, sources, systems, level)
    (drawn,) = draws_of_units(sizes_of(rows, resample), 6, np.random.default_rng(seed))
    expected = [
        value_of_repeated_rows(x, y, sources, systems, resample, counts, statistic, level)
        for counts in zip(*drawn, strict=True)
    ]
    found = of_units(rows, statistic, level, resample)(*drawn)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("resample", RESAMPLES)
def test_every_unit_drawn_once_gives_the_statistic_itself(level, resample):
    rows = scored_rows(*table(5, levels=True, design="gaps"), level)
    counts = [np.ones((1, size)) for size in sizes_of(rows, resample)]
    value = of_units(rows, "q", level, resample)(*counts)
    assert value == pytest.approx(level_value(rows, "q", level).value)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("resample", ["items", "systems", "both"])
def test_blocks_do_not_change_the_values(level, resample, monkeypatch):
    rows = scored_rows(*table(6, levels=False, design="full"), level)
    (drawn,) = draws_of_units(sizes_of(rows, resample), 60, np.random.default_rng(2))
    whole = of_units(rows, "q", level, resample)(*drawn)
    monkeypatch.setattr(counted, "_BLOCK_CELLS", 1)
    np.testing.assert_allclose(of_units(rows, "q", level, resample)(*drawn), whole, atol=1e-12)


def test_draws_of_both_are_independent_and_as_many_as_there_are():
    drawn = list(draws_of_units((3, 5), 4000, np.random.default_rng(0)))
    sources, systems = (np.concatenate(each) for each in zip(*drawn, strict=True))
    assert (sources.shape, systems.shape) == ((4000, 3), (4000, 5))
    assert set(sources.sum(axis=1)) == {3.0}
    assert set(systems.sum(axis=1)) == {5.0}
    assert sources.mean(axis=0) == pytest.approx(1, abs=0.05)
    assert abs(np.corrcoef(sources[:, 0], systems[:, 0])[0, 1]) < 0.05


def test_leaving_out_each_unit_covers_all_of_one_kind_and_none_of_the_other(monkeypatch):
    monkeypatch.setattr(draws, "_BATCH_CELLS", 1)
    batches = list(without_each((3, 20), 1))
    assert len(batches) == 20
    sources, systems = (np.concatenate(each) for each in zip(*batches, strict=True))
    assert (sources == 1).all()
    np.testing.assert_array_equal(systems, 1 - np.eye(20))


@pytest.mark.parametrize(
    ("resample", "message"),
    [("rows", "resample must be one of"), ("both", "resample='both' needs systems=")],
)
def test_units_that_there_are_not_are_refused(resample, message):
    with pytest.raises(ValueError, match=message):
        check_resample(resample, has_systems=False)
