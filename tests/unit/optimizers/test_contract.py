"""Every optimizer keeps the promises of ``optimizing.OptimizerContract``."""

import pytest
from optimizing import OptimizerContract

from judgesmith.optimizers import (
    FitAggregation,
    ProtocolSearch,
    RandomDemonstrationSearch,
    ScreeningStage,
)
from judgesmith.optimizers.base import pool_and_selection_rows
from judgesmith.optimizers.rows import rows_of
from judgesmith.programs.lm import model

pytestmark = pytest.mark.no_cover


def selection_rows(optimizer, trainset):
    return pool_and_selection_rows(
        trainset,
        None,
        n_demonstrations=optimizer.n_demonstrations,
        scale=None,
        percent_of_max=False,
        seed=optimizer.seed,
    )[1]


class TestRandomDemonstrationSearch(OptimizerContract):
    chosen_by = staticmethod(selection_rows)

    @pytest.fixture
    def optimizer(self):
        lm = model("offline", ledger=None)
        return lambda **given: RandomDemonstrationSearch(**{"n_trials": 4, "lm": lm, **given})


class TestFitAggregation(OptimizerContract):
    @staticmethod
    def chosen_by(optimizer, trainset):
        return rows_of(trainset)

    @pytest.fixture
    def optimizer(self):
        lm = model("offline", ledger=None)
        return lambda **given: FitAggregation(**{"lm": lm, **given})


class TestProtocolSearch(OptimizerContract):
    chosen_by = staticmethod(selection_rows)

    @pytest.fixture
    def optimizer(self):
        lm = model("offline", ledger=None)
        return lambda **given: ProtocolSearch(**{"n_trials": 8, "batch": 4, "lm": lm, **given})


class TestScreenedProtocolSearch(OptimizerContract):
    chosen_by = staticmethod(selection_rows)

    @pytest.fixture
    def optimizer(self):
        lm = model("offline", ledger=None)
        given = {"n_trials": 8, "batch": 4, "elimination": ScreeningStage(n_again=4), "lm": lm}
        return lambda **settings: ProtocolSearch(**{**given, **settings})
