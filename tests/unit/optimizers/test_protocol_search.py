"""The search of protocols."""

import math
import re
import shutil

import numpy as np
import optuna
import pytest
from optimizing import LIKERT, examples, levels, lm_of, number

from benchmarks.search import protocol_simulation
from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.base import pool_and_selection_rows
from judgesmith.optimizers.space.candidates import check_fixed
from judgesmith.optimizers.space.demonstrations import NAMES, N
from judgesmith.optimizers.trials import ImprovementTest
from judgesmith.programs import ActiveCritic
from judgesmith.programs.families.pointwise import DirectConfig
from judgesmith.programs.lm import lm_client_of
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.signatures import ActiveCriticConfig, Demonstration, Rubric
from judgesmith.signatures.space import Choice, Space

# protocol search

"""Of 30 sources with two rows each, where prompts show up to 3."""


@pytest.fixture
def student():
    return ActiveCritic(variant="vanilla")


def scales():
    """Return the choice between scales of whole points."""
    answers = next(one for one in ActiveCritic().space().choices if one.name == "answers")
    return answers.model_copy(update={"options": answers.options[:3]})


def space(*choices):
    return Space(choices=choices or (scales(),))


def search(lm, **settings):
    given = {"n_trials": 12, "batch": 4, "space": space(), "n_demonstrations": 3, **settings}
    return ProtocolSearch(lm=lm, **given)


HUMAN = {one["response"]: one["score"] for one in examples(range(60))}


def response(user):
    return re.search(r"The council met[^\n]*\d\.", user.split("response ## ]]")[1])[0]


def by_chance(user, shown, system):
    low, high = levels(system)
    return low + number(user + "".join(shown) + system, high - low)


def knows(user, system, noise=0.0):
    """Answer as people did, on the scale that is asked for."""
    low, high = levels(system)
    share = (HUMAN[response(user)] - 1) / 4
    share = (1 - noise) * share + noise * number(user + system) / 100
    return round(low + share * (high - low))


class TestPlantedOptima:
    @pytest.mark.no_cover
    def test_a_scale_on_which_the_model_is_right(self, student):
        def rule(user, shown, system):
            return knows(user, system, noise=0.0 if levels(system) == (1, 5) else 0.7)

        optimizer = search(lm_of(rule), n_demonstrations=0)
        judge = optimizer.compile(student, trainset=examples(range(30)))
        assert judge.protocol.answers == LIKERT
        assert max(one.value for one in optimizer.trials_) == pytest.approx(3.0)

    @pytest.mark.no_cover
    def test_a_rubric(self):
        own = Rubric.model_validate(
            {"criteria": [{"name": "colour", "definition": "how it looks"}], "task": "Look."}
        )
        right = own.model_copy(update={"task": "Read."})

        def rule(user, shown, system):
            return knows(user, system, noise=0.0 if "Read." in user + system else 0.9)

        student = ActiveCritic(variant="coarse", explain="none", rubric=own)
        only = student.space({"right": right}).without("variant", "explain", "samples", "answers")
        found = search(lm_of(rule), space=only).compile(student, trainset=examples(range(30)))
        assert found.protocol.rubric.task == "Read."

    def test_the_student_where_nothing_is_better(self, student):
        def rule(user, shown, system):
            return knows(user, system, noise=0.0 if not shown else 0.5)

        only = space(Choice(name="answers", options=scales().options[:1]))
        judge = search(lm_of(rule), space=only).compile(student, trainset=examples(range(30)))
        assert judge.protocol == student.protocol


class TestTheStudent:
    @pytest.mark.no_cover
    def test_is_not_scored_on_rows_it_shows(self):
        rows = examples(range(30))
        selection = pool_and_selection_rows(
            rows, None, n_demonstrations=3, scale=None, percent_of_max=False, seed=0
        )[1]
        item = selection.items[0]
        own = Demonstration(
            inputs={"source": item.source, "context": None, "response": item.response},
            outputs={"score": 50},
        )
        given = ActiveCritic(ActiveCriticConfig(variant="vanilla", demonstrations={"grade": [own]}))
        optimizer = search(lm_of(by_chance))
        optimizer.compile(given, trainset=rows)
        assert optimizer.trials_[0].n_rows == len(selection) - 1


@pytest.mark.no_cover
def test_no_row_is_shown_and_chosen_by(student):
    rows = examples(range(30))
    # One text was rated under two sources.
    rows += [one.copy(group=100 + one["group"]) for one in rows[:20]]
    asked, shown_texts = set(), set()

    def rule(user, shown, system):
        asked.add(response(user))
        shown_texts.update(map(response, shown))
        return by_chance(user, shown, system)

    search(lm_of(rule), n_trials=8).compile(student, trainset=rows)
    assert shown_texts
    assert not asked & shown_texts


@pytest.mark.no_cover
def test_no_configuration_is_tried_twice(student):
    optimizer = search(lm_of(by_chance), n_trials=14)
    optimizer.compile(student, trainset=examples(range(30)))
    tried = [tuple(one.picked.items()) for one in optimizer.trials_]
    assert len(set(tried)) == len(tried) == 15


def test_what_makes_a_row_unreadable_never_wins(student):
    def rule(user, shown, system):
        whole = levels(system) == (0, 100)
        return (
            "no idea" if not whole and number(user) % 4 == 0 else knows(user, system, 0.6 * whole)
        )

    optimizer = search(lm_of(rule), n_demonstrations=0)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert judge.protocol == student.protocol


@pytest.mark.no_cover
def test_a_student_that_says_the_same_of_all_rows_is_beaten(student):
    def rule(user, shown, system):
        return 50 if levels(system) == (0, 100) else knows(user, system, noise=0.5)

    optimizer = search(lm_of(rule), n_demonstrations=0)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert math.isnan(optimizer.trials_[0].value)
    assert judge.protocol.answers.high in (5, 10)
    assert len(optimizer.study_.get_trials(states=[optuna.trial.TrialState.COMPLETE])) == 2


def test_several_targets_are_all_scored_by_every_candidate():
    rows = [one.copy(criteria={"clear": 25 * (i % 5)}) for i, one in enumerate(examples(range(30)))]
    rows = [one.with_inputs("source", "context", "response") for one in rows]
    rubric = Rubric.model_validate({"criteria": [{"name": "clear", "definition": "is clear"}]})
    other = Rubric.model_validate({"criteria": [{"name": "kind", "definition": "is kind"}]})
    optimizer = ProtocolSearch(n_trials=4, targets=("clear",), rubrics={"other": other})
    optimizer.compile(ActiveCritic(rubric=rubric), trainset=rows)
    assert all(one.share_scored == 1 for one in optimizer.trials_)
    assert "variant" not in optimizer.space_.names
    assert {one.picked.get("rubric", "own") for one in optimizer.trials_} == {"own"}


class TestABudgetThatEnds:
    @pytest.mark.no_cover
    @pytest.mark.parametrize("max_calls", [0, 170])
    def test_leaves_one_that_passed_on_all_rows_or_the_student(self, student, max_calls):
        lm = lm_of(by_chance, max_calls=max_calls)
        optimizer = search(lm)
        judge = optimizer.compile(student, trainset=examples(range(30)))
        assert lm_client_of(lm).usage.calls <= max_calls
        if not optimizer.trials_:
            assert judge.protocol == student.protocol
            return
        whole = [one for one in optimizer.trials_ if one.n_rows == optimizer.trials_[0].n_rows]
        taken = next(one for one in whole if one.number == optimizer.taken_)
        if taken.number == 0:
            assert judge.protocol == student.protocol
        else:
            assert optimizer.confirmation_.passed
            shown = judge.protocol.demonstrations.get("grade", ())
            assert len(shown) == int(taken.picked["demonstrations"])


class Killed(BaseException):
    """Ends a search as a kill does: nothing is tidied up."""


def trials_of(study):
    """Return what counts of a study, in the order of its proposals."""
    kept = [one for one in study.get_trials() if "k" in one.user_attrs]
    found = [(one.user_attrs["k"], one.params, one.values, one.state) for one in kept]
    return sorted(found, key=lambda one: one[0])


def on_a_journal(folder, *, lm, **settings):
    optimizer = search(lm, storage=folder / "study.journal", n_trials=9, batch=3, **settings)
    judge = optimizer.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))
    return judge, optimizer


def asked_of(lm):
    return lm_client_of(lm).engine.asked


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nothing disturbed, and what came of it."""
    folder = tmp_path_factory.mktemp("whole")
    lm = lm_of(by_chance, ledger=ResponseCache(folder / "whole.sqlite"))
    judge, optimizer = on_a_journal(folder, lm=lm)
    found = judge.protocol, trials_of(optimizer.study_), optimizer.trials_, asked_of(lm)
    return folder, found


class TestAJournal:
    @pytest.fixture
    def undisturbed(self, whole, tmp_path):
        """What came of it; its study is in the folder of the test."""
        folder, found = whole
        shutil.copy(folder / "study.journal", tmp_path)
        return found

    @pytest.mark.no_cover
    def test_killed_after_a_trial_it_goes_on_as_if_nothing_had_been(self, tmp_path, undisturbed):
        folder = tmp_path / "again"
        folder.mkdir()

        def kill(trial):
            seen.append(trial)
            if len(seen) > 6:
                raise Killed

        seen, n_asked = [], 0
        lm = lm_of(by_chance, ledger=ResponseCache(folder / "ledger.sqlite"))
        with pytest.raises(Killed):
            on_a_journal(folder, lm=lm, on_trial=kill)
        n_asked += asked_of(lm)
        lm = lm_of(by_chance, ledger=ResponseCache(folder / "ledger.sqlite"))
        judge, optimizer = on_a_journal(folder, lm=lm)
        n_asked += asked_of(lm)
        found = judge.protocol, trials_of(optimizer.study_), optimizer.trials_, n_asked
        assert found == undisturbed

    @pytest.mark.no_cover
    def test_killed_within_a_proposal_it_proposes_the_same(
        self, tmp_path, undisturbed, monkeypatch
    ):
        folder = tmp_path / "again"
        folder.mkdir()
        marked = optuna.Trial.set_user_attr
        told = []

        def kill(trial, name, value):
            told.append(name)
            if len(told) == 9:
                raise Killed
            marked(trial, name, value)

        monkeypatch.setattr(optuna.Trial, "set_user_attr", kill)
        lm = lm_of(by_chance, ledger=ResponseCache(folder / "ledger.sqlite"))
        with pytest.raises(Killed):
            on_a_journal(folder, lm=lm)
        monkeypatch.undo()
        lm = lm_of(by_chance, ledger=ResponseCache(folder / "ledger.sqlite"))
        judge, optimizer = on_a_journal(folder, lm=lm)
        found = judge.protocol, trials_of(optimizer.study_), optimizer.trials_
        assert found == undisturbed[:3]

    @pytest.mark.no_cover
    def test_killed_while_a_leader_is_confirmed_it_goes_on_as_if_nothing_had_been(
        self, tmp_path, student, monkeypatch
    ):
        rows = examples(range(60))

        def run(folder, lm):
            folder.mkdir(exist_ok=True)
            kept = folder / "study.journal"
            one = search(lm, storage=kept, n_trials=3, batch=3, n_demonstrations=0)
            return one.compile(student, trainset=rows).protocol, one

        def rule(user, shown, system):
            return knows(user, system, noise=0.1 if levels(system) == (1, 5) else 0.8)

        whole = lm_of(rule, ledger=ResponseCache(tmp_path / "whole.sqlite"))
        undisturbed, optimizer = run(tmp_path / "whole", whole)
        assert optimizer.confirmation_

        def kill(*args, **kwargs):
            raise Killed

        monkeypatch.setattr(ImprovementTest, "best", kill)
        first = lm_of(rule, ledger=ResponseCache(tmp_path / "ledger.sqlite"))
        with pytest.raises(Killed):
            run(tmp_path / "again", first)
        monkeypatch.undo()
        second = lm_of(rule, ledger=ResponseCache(tmp_path / "ledger.sqlite"))
        judge, again = run(tmp_path / "again", second)
        assert judge == undisturbed
        assert again.confirmation_ == optimizer.confirmation_
        assert asked_of(first) + asked_of(second) == asked_of(whole)


@pytest.mark.no_cover
def test_every_trial_is_told_of_once_and_says_whom_it_raced(student):
    told = []
    optimizer = search(lm_of(by_chance), on_trial=told.append)
    optimizer.compile(student, trainset=examples(range(30)))
    assert sorted(told, key=lambda one: one.number) == list(optimizer.trials_)
    best = np.argmax([one.value for one in told])
    assert told[0].against is None
    assert {one.against for one in told[1:]} >= {0}
    assert told[best].number not in {one.against for one in told[:best]}


# fixed choices

OWN = ("variant", "answers", "samples", "weighting", "reduction", "rubric")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sampels", "did you mean samples?"),
        ("demonstration.order", "did you mean demonstrations.order?"),
        ("???", "give some of variant, rubric, "),
        ("x" * 5000, "give some of variant, rubric, "),
    ],
)
def test_a_name_that_no_choice_has_is_refused_with_the_nearest(name, meant):
    with pytest.raises(ValueError, match="fixed names choices of the search") as refused:
        check_fixed([name], ActiveCriticConfig())
    assert meant in str(refused.value)
    assert len(str(refused.value)) < 500


def test_usual_names_are_good_for_every_family_and_those_of_a_given_space_are():
    check_fixed(["samples", "variant", "asks", "model", *NAMES], DirectConfig())
    check_fixed(["tone"], ActiveCriticConfig(), ["tone"])


def searched(*fixed):
    search = ProtocolSearch(
        n_trials=4,
        batch=4,
        n_demonstrations=2,
        confirm=None,
        fixed=(*OWN, *fixed),
        first=({N: "2"},),
        lm=lm_of(lambda user, shown, system: 50 + len(user) % 7 * (1 + len(shown))),
    )
    search.compile(ActiveCritic(variant="vanilla"), trainset=examples(range(30)))
    return search


def test_demonstrations_that_are_fixed_are_not_searched():
    search = searched("demonstrations", "explain")
    assert search.space_.names == ()
    assert [one.picked for one in search.trials_] == [{}]


# The search on simulated protocols, a few; benchmark ``protocol_simulation`` has more.


@pytest.fixture
def simulation():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return protocol_simulation


@pytest.fixture
def rated(simulation, data_folder):
    return simulation.rated_set("topical_chat")
