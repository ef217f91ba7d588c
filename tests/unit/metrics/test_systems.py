"""Inside metrics: systems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.metrics.systems.means import SystemRows, rectified

points = st.integers(1, 5)
row = st.tuples(st.integers(0, 4), points, st.one_of(st.none(), points))
tables = st.lists(row, min_size=2, max_size=12)


def part_of(rows):
    sources, predicted, human = zip(*rows, strict=True) if rows else ((), (), ())
    return SystemRows(
        predicted=np.array(predicted, dtype=float),
        human=np.array(human, dtype=float),
        sources=np.array(sources, dtype=np.int64),
    )


def likeness(values, others, sources, other_sources, same):
    """Return the mean product of deviations of two rows of one source, a row with itself apart."""
    products = [
        a * b
        for i, a in enumerate(values)
        for j, b in enumerate(others)
        if sources[i] == other_sources[j] and not (same and i == j)
    ]
    return np.mean(products) if products else 0.0


def best_weight(parts, signs):
    """Return the variance-minimising weight, pair of rows by pair of rows."""
    split = []
    for part in parts:
        rated = ~np.isnan(part.human)
        order = np.argsort(~rated, kind="stable")
        p, h, s, rated = part.predicted[order], part.human[order], part.sources[order], rated[order]
        n, others = rated.sum(), (~rated).sum()
        in_gap = np.where(rated, 1 / n if n else 0, -1 / others if others else 0)
        in_gap = in_gap if n and others else np.zeros(len(p))
        split.append((p - p.mean(), h[rated] - h[rated].mean(), s, n, in_gap))
    variance = covariance = 0.0
    for a, (p, h, s, n, gap) in enumerate(split):
        for b, (other_p, _, other_s, _, other_gap) in enumerate(split):
            same = a == b
            alike = likeness(p, other_p, s, other_s, same)
            alike_human = likeness(h, other_p, s[:n], other_s, same)
            for i in range(len(p)):
                for j in range(len(other_p)):
                    both = signs[a] * signs[b]
                    if same and i == j:
                        squares = np.sum(p**2) / (len(p) - 1) if len(p) > 1 else 0.0
                        variance += gap[i] ** 2 * squares
                        if i < n:
                            covariance += gap[i] / n * np.mean(h * p[:n])
                    elif s[i] == other_s[j]:
                        variance += both * gap[i] * other_gap[j] * alike
                        if i < n:
                            covariance += both * other_gap[j] / n * alike_human
    return covariance, variance


def corrected(part, weight):
    rated = ~np.isnan(part.human)
    mean = part.human[rated].mean() if rated.any() else np.nan
    if rated.all():
        return mean
    return mean - weight * (part.predicted[rated].mean() - part.predicted[~rated].mean())


@pytest.mark.no_cover
@given(st.lists(tables, min_size=1, max_size=2))
def test_the_weight_minimises_the_variance_if_rows_of_a_source_are_exchangeable(rows):
    parts = [part_of(each) for each in rows]
    if any(np.isnan(part.human).all() for part in parts):
        return
    signs = [1.0, -1.0][: len(parts)]
    found = rectified(parts, signs, None)
    covariance, variance = best_weight(parts, signs)
    if variance > 1e-9:
        assert found.weight == pytest.approx(np.clip(covariance / variance, 0, 1), abs=1e-7)
    expected = [corrected(part, found.weight) for part in parts]
    assert found.means == pytest.approx(expected)
    assert found.value == pytest.approx(np.dot(signs, expected))


@pytest.mark.no_cover
@given(st.lists(tables, min_size=1, max_size=2), st.sampled_from([None, 0.0, 0.4, 1.0]))
def test_the_error_is_that_of_leaving_out_one_source_at_a_time(rows, weight):
    parts = [part_of(each) for each in rows]
    signs = [1.0, -1.0][: len(parts)]
    found = rectified(parts, signs, weight)
    kinds = []
    for rated in (True, False):
        for part in parts:
            kinds.append(set(part.sources[np.isnan(part.human) != rated]))
    if min(map(len, kinds[: len(parts)])) < 2:
        assert np.isnan([found.error, found.freedom]).all()
        return
    spread = dict.fromkeys(range(len(kinds)), 0.0)
    for source in {code for part in parts for code in part.sources}:
        left = [
            SystemRows(
                predicted=part.predicted[part.sources != source],
                human=part.human[part.sources != source],
                sources=part.sources[part.sources != source],
            )
            for part in parts
        ]
        gap = rectified(left, signs, weight).value - found.value
        own = min((k for k in spread if source in kinds[k]), key=lambda k: len(kinds[k]))
        spread[own] += max(len(kinds[own]) - 1, 1) / len(kinds[own]) * gap**2
    total = sum(spread.values())
    assert found.error == pytest.approx(np.sqrt(total), abs=1e-6)
    if total > 1e-9:
        freedom = total**2 / sum(each**2 / max(len(kinds[k]) - 1, 1) for k, each in spread.items())
        assert found.freedom == pytest.approx(freedom, rel=1e-4)


@pytest.mark.no_cover
@given(tables, st.floats(-100, 100), st.integers(0, 9))
def test_an_offset_of_the_judge_changes_nothing_and_one_of_people_moves_the_mean(rows, by, seed):
    part = part_of(rows)
    found = rectified([part], [1.0], None)
    order = np.random.default_rng(seed).permutation(len(rows))
    moved = SystemRows(
        predicted=part.predicted[order] + by,
        human=part.human[order] + by,
        sources=9 - part.sources[order],
    )
    other = rectified([moved], [1.0], None)
    assert other.value == pytest.approx(found.value + by, nan_ok=True)
    assert other.error == pytest.approx(found.error, abs=1e-6, nan_ok=True)


@pytest.mark.no_cover
@pytest.mark.parametrize("n_rows", [5000, 40_000])
def test_many_sources_are_left_out_block_by_block(n_rows):
    rng = np.random.default_rng(0)
    p = rng.normal(size=n_rows)
    h = p + rng.normal(size=n_rows)
    h[1000:] = np.nan
    part = SystemRows(predicted=p, human=h, sources=np.arange(n_rows))
    found = rectified([part], [1.0], 0.5)
    rated = h[:1000] - 0.5 * p[:1000]
    expected = rated.var(ddof=1) / 1000 + 0.25 * p[1000:].var(ddof=1) / (n_rows - 1000)
    assert found.error == pytest.approx(np.sqrt(expected))


@pytest.mark.no_cover
def test_rounding_is_no_evidence_of_spread():
    part = SystemRows(
        predicted=np.full(6, 0.1),
        human=np.array([0.1, 0.3 - 0.2, 0.1, *[np.nan] * 3]),
        sources=np.arange(6),
    )
    found = rectified([part], [1.0], None)
    assert (found.error, found.weight) == (0.0, 0.0)
    assert np.isnan(found.freedom)
