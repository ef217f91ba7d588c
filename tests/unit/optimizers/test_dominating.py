import numpy as np
import pytest
from tables import judged

from judgesmith.optimizers import NoElimination, RacingRule, SuccessiveHalving
from judgesmith.optimizers.objectives.grammar import parse_objectives
from judgesmith.optimizers.search.racing import DominanceRule, FrontStage, front_elimination

N = 60
HUMAN = np.random.default_rng(0).integers(1, 6, N).astype(float)


def table(noise, n_calls, seed=1, n_rows=N):
    rng = np.random.default_rng(seed)
    said = 20 * HUMAN + 20 * noise * rng.normal(size=N)
    return judged(said[:n_rows], HUMAN[:n_rows], n_calls=(n_calls,) * n_rows)


def staying(members, contenders, text="q, -calls", *, meets=None, n_looks=4, risk=0.2):
    look = FrontStage(
        members=members,
        meets=meets or [True] * len(members),
        contenders=contenders,
        objectives=parse_objectives(text),
        n_looks=n_looks,
        rng=np.random.default_rng(0),
    )
    return list(DominanceRule(risk)(look))


def test_who_is_plainly_worse_at_no_fewer_calls_goes():
    assert staying([table(0.2, 2)], [table(3.0, 2), table(3.0, 3)]) == []


def test_who_takes_fewer_calls_stays_however_wrong():
    assert staying([table(0.2, 2)], [table(9.0, 1)]) == [0]


def test_who_is_better_or_not_surely_worse_stays():
    assert staying([table(0.5, 2)], [table(0.1, 9), table(0.55, 3, seed=2)]) == [0, 1]


def test_who_says_the_same_at_more_calls_goes_and_at_as_many_stays():
    assert staying([table(0.5, 2)], [table(0.5, 3), table(0.5, 2)]) == [1]


def test_one_member_has_to_be_better_on_all():
    members = [table(0.2, 9), table(4.0, 1)]
    assert staying(members, [table(2.0, 3)]) == [0]
    assert staying([*members, table(0.2, 3)], [table(2.0, 3)]) == []


def test_without_risk_or_members_nobody_is_beaten():
    assert staying([table(0.2, 2)], [table(3.0, 3)], risk=0) == [0]
    assert staying([], [table(3.0, 3)]) == [0]


def test_undefined_and_unscored_contenders_go():
    flat = judged([50.0] * N, HUMAN, n_calls=(1,) * N)
    silent = judged([np.nan] * 40 + list(range(20)), HUMAN, n_calls=(1,) * N)
    assert staying([table(0.2, 2)], [flat, silent]) == []


def test_who_surely_misses_a_condition_that_a_member_meets_goes():
    assert staying([table(0.2, 9)], [table(9.0, 1)], "q, -calls; pearson >= .8") == []
    assert staying([table(0.2, 9)], [table(0.3, 1)], "q, -calls; pearson >= .8") == [0]


def test_a_member_that_misses_the_conditions_beats_nobody_by_its_aims():
    text = "q, -calls; calls <= 1"
    assert staying([table(0.2, 3)], [table(3.0, 3)], text, meets=[False]) == [0]
    assert staying([table(0.2, 3)], [table(3.0, 4)], text, meets=[False]) == []


@pytest.mark.no_cover
def test_who_is_as_good_as_a_member_goes_by_mistake_as_rarely_as_is_said():
    gone = 0
    for seed in range(100):
        pair = [table(1.0, 2, seed=2 * seed + k) for k in range(2)]
        gone += not staying([pair[0]], [pair[1]], n_looks=2, risk=0.2)
    assert gone / 100 <= 0.2 + 3 * (0.2 * 0.8 / 100) ** 0.5


def test_ways_to_eliminate_by_one_objective_become_those_by_several():
    assert front_elimination(RacingRule(0.3)) == DominanceRule(0.3)
    look = FrontStage(
        members=[table(0.2, 2)],
        meets=[True],
        contenders=[table(3.0, 3)],
        objectives=parse_objectives("q, -calls"),
        n_looks=4,
        rng=np.random.default_rng(0),
    )
    assert list(front_elimination(NoElimination())(look)) == [0]
    with pytest.raises(
        ValueError, match="raced by RacingRule or NoElimination, for they give no ranking"
    ):
        front_elimination(SuccessiveHalving())
