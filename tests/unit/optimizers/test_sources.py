import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.optimizers.fitting.aggregation import Whitening

pytestmark = pytest.mark.no_cover

labels = st.lists(st.integers(0, 3), min_size=3, max_size=12)
shares = st.sampled_from([0.0, 0.2, 0.8, 5.0])


@given(labels, shares)
def test_whitened_rows_have_the_identity_as_their_covariance(groups, share):
    codes = np.asarray(groups)
    same = (codes[:, None] == codes[None, :]).astype(float)
    covariance = np.eye(len(codes)) + share * same
    white = Whitening.of(codes, share)
    matrix = white._white(np.eye(len(codes)))
    np.testing.assert_allclose(matrix @ covariance @ matrix.T, np.eye(len(codes)), atol=1e-9)


@given(labels, shares)
def test_the_log_determinant_is_that_of_covariance_and_intercept(groups, share):
    codes = np.asarray(groups)
    same = (codes[:, None] == codes[None, :]).astype(float)
    covariance = np.eye(len(codes)) + share * same
    ones = np.ones(len(codes))
    precision = ones @ np.linalg.solve(covariance, ones)
    expected = np.linalg.slogdet(covariance)[1] + np.log(precision)
    assert Whitening.of(codes, share).log_determinant == pytest.approx(expected)


@given(labels, shares)
def test_a_constant_is_nothing_once_the_intercept_is_out(groups, share):
    white = Whitening.of(np.asarray(groups), share)
    np.testing.assert_allclose(white.centered(np.full(len(groups), 3.0)), 0, atol=1e-9)
