"""Whatever objective a search is given, it is checked first and means what was given."""

import numpy as np
import pytest
from optimizing import examples, lm_of

from judgesmith.optimizers import ProtocolSearch, RandomDemonstrationSearch
from judgesmith.programs import ActiveCritic

ROWS = examples(range(40))
RATED = {row.response: int(row.score) for row in ROWS}


def in_points(user, shown, system):
    """Answer with people's points, from 1 to 5, whatever scale was asked for."""
    return next(score for response, score in RATED.items() if f"{response}\n" in user)


class TestScales:
    """A judge that answers 1 to 5 when it is asked for 0 to 100 is far off in points."""

    @pytest.mark.parametrize(
        "search",
        [
            lambda objective, **more: RandomDemonstrationSearch(objective, n_rounds=2, **more),
            lambda objective, **more: ProtocolSearch(objective, n_trials=2, confirm=None, **more),
        ],
        ids=["random", "protocol"],
    )
    def test_a_search_knows_what_its_judges_answer_on(self, search):
        student = ActiveCritic(variant="vanilla")
        values = {}
        for objective in ("kappa", "-mae", "q"):
            made = search(objective, lm=lm_of(in_points))
            made.compile(student, trainset=ROWS)
            values[objective] = made.trials_[0].value
        assert values["q"] == pytest.approx(3)
        assert values["kappa"] == pytest.approx(0, abs=0.01)
        off = np.mean([row.score - 1 - row.score / 25 for row in ROWS])
        assert values["-mae"] == pytest.approx(-off, abs=0.5)
