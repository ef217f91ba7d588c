"""Agreement of raters who give labels, held against published figures."""

import numpy as np
import pytest

from judgesmith.metrics import krippendorff_alpha
from judgesmith.metrics.ratings.nominal import nominal_agreement

MISSING = np.nan
FOUR_RATERS = (
    np.array(
        [
            [1, 1, MISSING, 1],
            [2, 2, 3, 2],
            [3, 3, 3, 3],
            [3, 3, 3, 3],
            [2, 2, 2, 2],
            [1, 2, 3, 4],
            [4, 4, 4, 4],
            [1, 1, 2, 1],
            [2, 2, 2, 2],
            [MISSING, 5, 5, 5],
            [MISSING, MISSING, 1, 1],
            [MISSING, MISSING, 3, MISSING],
        ]
    )
    - 1
)
"""The table ``raw4raters`` of irrCAC, where R prints the three figures below."""


def test_coefficients_are_those_of_irrcac():
    kappa, alpha, ac1 = nominal_agreement(FOUR_RATERS, n_labels=5)
    assert kappa.value == pytest.approx(0.76117, abs=5e-6)
    assert alpha.value == pytest.approx(0.74342, abs=5e-6)
    assert ac1.value == pytest.approx(0.77544, abs=5e-6)
    assert alpha.value == pytest.approx(krippendorff_alpha(FOUR_RATERS, measurement="nominal"))
    assert kappa.n == 11


def test_one_label_has_no_kappa_and_full_agreement_by_ac1():
    kappa, alpha, ac1 = nominal_agreement([[1, 1]] * 6, n_labels=2)
    assert np.isnan(kappa.value)
    assert np.isnan(alpha.value)
    assert ac1.value == 1.0
