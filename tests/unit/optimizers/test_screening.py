import numpy as np
import pytest

from judgesmith.optimizers import ScreeningStage
from judgesmith.optimizers.search.screening import (
    MOST_CANDIDATES,
    ScreenedValue,
    predicted_values,
    promising,
)
from judgesmith.optimizers.space.proposing import configuration_id
from judgesmith.signatures.space import Choice, Option, Space


def space(n_choices, n_options=3):
    options = [Option(id=str(k)) for k in range(n_options)]
    return Space(choices=[Choice(name=f"c{k}", options=options) for k in range(n_choices)])


def seen_of(of, n, *, wanted="2"):
    """Return random configurations whose value is how often they pick one option."""
    rng = np.random.default_rng(0)
    found = [of.proposed(lambda choice: str(rng.choice(choice.ids))) for _ in range(n)]
    return [
        ScreenedValue(
            picked=one, value=sum(k == wanted for k in one.values()) + rng.normal(), share=0.05
        )
        for one in found
    ]


def test_proposals_are_what_their_options_promise():
    of = space(4)
    seen = seen_of(of, 40)
    found = promising(of, seen, set(), 3, rng=np.random.default_rng(0))
    assert len({configuration_id(one) for one in found}) == 3
    assert np.mean([list(one.values()).count("2") for one in found]) > 2.5


def test_proposals_from_a_large_space_lie_beside_the_best():
    of = space(12)
    assert of.size > 100 * MOST_CANDIDATES
    seen = seen_of(of, 60)
    found = promising(of, seen, set(), 5, rng=np.random.default_rng(0))
    assert np.mean([list(one.values()).count("2") for one in found]) > 6


def test_what_is_known_is_not_proposed():
    of = space(2)
    known = [configuration_id(one) for one in of.configurations()]
    seen = seen_of(of, 8)
    found = promising(of, seen, known[:-2], 6, rng=np.random.default_rng(0))
    assert {configuration_id(one) for one in found} == set(known[-2:])
    assert promising(of, seen, known, 6, rng=np.random.default_rng(0)) == []


def test_of_a_few_values_nothing_is_promised():
    of = space(3)
    assert promising(of, seen_of(of, 5), set(), 6, rng=np.random.default_rng(0)) == []
    undefined = [
        ScreenedValue(picked=one.picked, value=float("nan"), share=0.05) for one in seen_of(of, 9)
    ]
    assert len(promising(of, undefined, set(), 6, rng=np.random.default_rng(0))) == 6


def test_the_same_generator_gives_the_same_proposals():
    of = space(12)
    seen = seen_of(of, 20)
    first, again = (promising(of, seen, set(), 6, rng=np.random.default_rng(1)) for _ in range(2))
    assert first == again


def test_a_choice_without_alternatives_is_no_trouble():
    of = space(1, n_options=1)
    seen = [ScreenedValue(picked={"c0": "0"}, value=float(k), share=1.0) for k in range(7)]
    assert np.isfinite(predicted_values(of, seen, [{"c0": "0"}]).means).all()


def test_fewer_rows_have_fewer_looks():
    screen = ScreeningStage()
    assert screen.stops(200) == [10, 40, 200]
    assert screen.stops(50) == [10, 50]
    assert screen.stops(10) == [10]
    assert [screen.n_staying(left) for left in (2, 1)] == [12, 2]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"share": 0}, "share and share_again rise"),
        ({"share": 0.3}, "share and share_again rise"),
        ({"share_again": 1.1}, "share and share_again rise"),
        ({"n_finalists": 0}, "n_finalists must be 1 or more"),
        ({"n_again": 1}, "n_finalists must be 1 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        ScreeningStage(**settings)
