"""Stages of a search: screening, racing, elimination and confirmation."""

from functools import cache

import numpy as np
import pytest
from looping import for_each
from tables import Told

from judgesmith.optimizers import (
    Agreement,
    ImprovementTest,
    NoElimination,
    ProtocolSearch,
    RacingRule,
    ScreeningStage,
)
from judgesmith.optimizers.search.racing import stratified_order
from judgesmith.optimizers.search.screening import (
    MOST_CANDIDATES,
    ConfirmedSearch,
    ScreenedSearch,
    ScreenedValue,
    promising,
)
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe
from judgesmith.optimizers.storage import open_storage
from judgesmith.programs import ActiveCritic
from judgesmith.signatures.space import Choice, Option, Space

# confirmed search

N = 150
HUMAN = np.random.default_rng(0).normal(size=N)
NOISE = (3.0, 2.5, 2.0, 1.5, 1.0, 0.5)
RULE = ImprovementTest()


class Simulated(Told):
    """Says what people said, with noise; may be told how many rows are left for all."""

    def __init__(self, noise, seed, rows_left):
        own = np.random.default_rng(seed).normal(size=N)
        super().__init__(HUMAN + noise * own, HUMAN, rows_left)


class Searching:
    """A search among judges of some noise, from a noisy one."""

    def __init__(self, noises=NOISE, *, rows=10**6, rule=RULE, draw=0, **settings):
        self.rows_left = [rows]
        self.made = []
        options = [Option(id=str(place)) for place in range(len(noises))]
        order = stratified_order(HUMAN, np.arange(N), np.random.default_rng(0))

        def make(picked):
            place = int(picked["judge"])
            self.made.append(Simulated(noises[place], [draw, 1 + place], self.rows_left))
            return self.made[-1]

        self.search = ConfirmedSearch(
            proposer=Proposer(
                study=open_storage(None).study("simulated"),
                space=Space(choices=[Choice(name="judge", options=options)]),
                sampler=tpe,
                seed=0,
                first=[{"judge": str(place)} for place in range(len(noises))],
            ),
            make=make,
            objective=Agreement("q"),
            order=order,
            rule=rule,
            **{
                "elimination": NoElimination(),
                "n_trials": len(noises),
                "batch": 2,
                "seed": 0,
                **settings,
            },
        )
        self.start = Simulated(4.0, [draw, 98], self.rows_left)
        self.found = self.search.run(self.start)


def test_the_best_is_taken_and_nothing_is_asked_for_that():
    one = Searching()
    assert one.search.taken == one.search.confirmation.number == 6
    assert one.search.confirmation.passed
    assert one.search.confirmation.n_compared == 6
    assert one.found is one.made[5]
    assert 10**6 - one.rows_left[0] == one.search.n_judged


def test_who_is_not_confirmed_does_not_replace_the_start():
    one = Searching([4.0] * 6, rule=ImprovementTest(level=0.001))
    assert not one.search.confirmation.passed
    assert one.found is one.start
    assert one.search.taken == 0


def test_who_fell_behind_is_held_against_the_start_on_as_many_rows():
    one = Searching([4.0, 0.5, *[5.0] * 10], elimination=RacingRule(), batch=4)
    rows = {trial.n_rows for trial in one.search.trials.values()}
    assert min(rows) < N
    assert one.search.taken == 2
    assert one.search.confirmation.n_compared == 12
    assert one.search.confirmation.n_rows == N


@pytest.mark.no_cover
def test_where_nobody_is_better_luck_is_found_out():
    lucky = [Searching([4.0] * 10, draw=draw, rule=None).search.taken for draw in range(4)]
    taken = [Searching([4.0] * 10, draw=draw).search.taken for draw in range(4)]
    assert lucky.count(0) <= 1
    assert taken.count(0) >= 3


@pytest.mark.no_cover
@pytest.mark.parametrize("rows", [0, 330])
def test_a_budget_that_ends_leaves_one_that_has_passed_or_the_start(rows):
    one = Searching(rows=rows)
    assert not one.search.complete
    found = one.search.confirmation
    if one.search.taken:
        assert found.passed
        assert found.n_compared == len(one.search.trials) - 1
        assert one.found is one.made[one.search.taken - 1]
    else:
        assert one.found is one.start


# protocol confirming


def search(lm, **settings):
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    space = Space(choices=(answers.model_copy(update={"options": answers.options[:3]}),))
    given = {"n_trials": 9, "batch": 3, "space": space, "n_demonstrations": 3, **settings}
    return ProtocolSearch(lm=lm, **given)


# protocol screening


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sampler": lambda seed: None}, "proposes by itself; drop the sampler"),
        ({"objective": "q, -calls"}, "they give no ranking"),
    ],
)
def test_what_a_screen_cannot_do_is_refused(settings, said):
    with pytest.raises(ValueError, match=said):
        ProtocolSearch(elimination=ScreeningStage(), **settings)


# screened search

N_SCREENED_SEARCH = 300
HUMAN_SCREENED_SEARCH = np.random.default_rng(0).normal(size=N_SCREENED_SEARCH)
SPACE = Space(
    choices=[Choice(name=name, options=[Option(id=str(k)) for k in range(4)]) for name in "abcd"]
)
BEST = dict.fromkeys("abcd", "2")


class SimulatedScreenedSearch(Told):
    """Says what people said, with noise that options add to; may leave rows without a score."""

    def __init__(self, picked, rows_left, *, refusing=()):
        whole = SPACE.complete(picked)
        wrong = sum(option != "2" for option in whole.values())
        own = int.from_bytes("".join(whole.values()).encode())
        noise = np.random.default_rng(own).normal(size=N_SCREENED_SEARCH)
        said = HUMAN_SCREENED_SEARCH + (0.2 + 0.5 * wrong) * noise
        if whole["a"] in refusing:
            said[::2] = np.nan
        super().__init__(said, HUMAN_SCREENED_SEARCH, rows_left)


class SearchingScreenedSearch:
    """A search of 256 configurations from one that is wrong everywhere."""

    def __init__(
        self,
        *,
        rows=10**6,
        study=None,
        refusing=(),
        rule=None,
        n=N_SCREENED_SEARCH,
        start=None,
        space=SPACE,
        **settings,
    ):
        self.rows_left = [rows]
        self.made = []
        self.study = open_storage(None).study("simulated") if study is None else study

        def make(picked):
            self.made.append(SimulatedScreenedSearch(picked, self.rows_left, refusing=refusing))
            return self.made[-1]

        first = settings.pop("first", ())
        self.search = ScreenedSearch(
            proposer=Proposer(study=self.study, space=space, sampler=tpe, seed=0, first=first),
            make=make,
            objective=Agreement("q"),
            order=stratified_order(
                HUMAN_SCREENED_SEARCH[:n], np.arange(n), np.random.default_rng(0)
            ),
            rule=rule,
            **{"screen": ScreeningStage(), "n_trials": 60, "batch": 6, "seed": 0, **settings},
        )
        self.start = SimulatedScreenedSearch({}, self.rows_left) if start is None else start
        known = [configuration_id(space.complete({}))] if start is None else []
        self.found = self.search.run(self.start, known=known)

    @property
    def taken(self):
        return self.search.trials[self.search.taken].picked


@cache
def undisturbed():
    return SearchingScreenedSearch()


def test_the_best_of_256_is_found_with_a_tenth_of_the_rows_of_those_that_are_tried():
    one = undisturbed()
    assert one.taken == BEST
    assert one.search.n_judged == 10**6 - one.rows_left[0]
    assert one.search.n_judged < 0.15 * 61 * N_SCREENED_SEARCH


def test_the_study_is_told_of_everybody_once_the_race_is_over():
    one = undisturbed()
    told = {trial.user_attrs["k"]: trial.value for trial in one.study.get_trials()}
    assert sorted(told) == list(range(60))
    assert all(value is not None for value in told.values())
    for k, trial in one.search.trials.items():
        if k and trial.n_rows == N_SCREENED_SEARCH:
            assert told[k - 1] == pytest.approx(trial.value)


def test_given_configurations_are_tried_first_and_nothing_is_tried_twice():
    first = [{"a": "1"}, {}, {"b": "3"}]
    one = SearchingScreenedSearch(first=first, n_trials=30)
    picked = [one.search.trials[k].picked for k in range(1, 31)]
    assert picked[0] == SPACE.complete({"a": "1"})
    assert picked[2] == SPACE.complete({"b": "3"})
    assert len({configuration_id(each) for each in picked}) == 30
    assert SPACE.complete({}) not in picked


def test_a_search_that_was_ended_goes_on_to_what_it_would_have_found():
    whole = undisturbed()
    cut = SearchingScreenedSearch(rows=1400)
    assert not cut.search.complete
    again = SearchingScreenedSearch(study=cut.study)
    assert again.search.trials == whole.search.trials
    assert again.search.taken == whole.search.taken


@pytest.mark.parametrize("rows", [0, 1250])
def test_a_budget_that_ends_leaves_the_best_on_all_rows_until_then(rows):
    one = SearchingScreenedSearch(rows=rows)
    assert not one.search.complete
    assert one.rows_left[0] >= 0
    whole = {
        k: trial for k, trial in one.search.trials.items() if trial.n_rows == N_SCREENED_SEARCH
    }
    if not whole:
        assert one.found is one.start
    else:
        assert one.search.taken == max(whole, key=lambda k: whole[k].rank)


def test_who_leaves_rows_without_a_score_does_not_go_on():
    one = SearchingScreenedSearch(refusing=("1", "2", "3"))
    longer = [trial for trial in one.search.trials.values() if trial.n_rows > 15]
    assert {trial.picked.get("a", "0") for trial in longer} == {"0"}
    assert one.taken == {**BEST, "a": "0"}


def test_where_everybody_leaves_rows_without_a_score_the_start_stays():
    one = SearchingScreenedSearch(
        refusing=("1", "2", "3"), first=[{"a": "1"}, {"a": "2"}], n_trials=2
    )
    assert one.search.complete
    assert one.search.taken == 0


def test_a_start_that_is_not_in_the_space_or_says_always_the_same_is_no_trouble():
    flat = SimulatedScreenedSearch({}, [10**6])
    flat.said[:] = 1.0
    one = SearchingScreenedSearch(start=flat)
    assert np.isnan(one.search.trials[0].value)
    assert 0 not in one.search.seen
    assert one.taken == BEST


def test_a_winner_is_confirmed_among_all_that_were_screened():
    one = SearchingScreenedSearch(rule=ImprovementTest())
    assert one.search.confirmation.passed
    assert one.search.confirmation.number == one.search.taken
    assert one.search.confirmation.n_compared == 60
    assert one.taken == BEST


def test_a_space_that_is_used_up_ends_the_search():
    space = Space(choices=SPACE.choices[:3])
    one = SearchingScreenedSearch(n_trials=100, batch=10, space=space)
    assert len(one.search.trials) == space.size == 64
    assert one.taken == dict.fromkeys("abc", "2")


@for_each(("n", "rows"), [(9, {9}), (40, {10, 40}), (100, {10, 20, 100})])
@for_each("n_trials", [1, 2, 13])
def test_few_rows_and_few_trials_are_searched_as_well(n, rows, n_trials):
    one = SearchingScreenedSearch(n=n, n_trials=n_trials)
    assert one.search.complete
    assert {trial.n_rows for trial in one.search.trials.values()} <= rows
    assert len(one.search.trials) == n_trials + 1
    assert one.search.n_judged <= (n_trials + 1) * n


# screening


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


def test_fewer_rows_have_fewer_looks():
    screen = ScreeningStage()
    assert screen.stops(200) == [10, 40, 200]
    assert screen.stops(50) == [10, 50]
    assert screen.stops(10) == [10]
    assert [screen.n_staying(left) for left in (2, 1)] == [12, 2]


@for_each(
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
