"""Instructions and grammars are proposed and chosen by balance."""

import itertools
import random
import re
from math import log

import dspy
import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import for_each
from working import at_the_same_time

from judgesmith.optimizers import Agreement, FairPromptSearch, parse_objective
from judgesmith.optimizers.fair import Overheard, imbalance
from judgesmith.optimizers.objectives.agreement import (
    AbsoluteError,
    Kappa,
    NeighbourAccuracy,
    TieAccuracy,
)
from judgesmith.optimizers.objectives.combining import (
    Constrained,
    Constraint,
    SeveralObjectives,
    WeightedSum,
)
from judgesmith.optimizers.objectives.functions import CallsPerItem, ShareScored
from judgesmith.optimizers.objectives.grammar import NAMES, parse_objectives
from judgesmith.optimizers.search.screening import Surrogate, likeness
from judgesmith.optimizers.search.work_queue import WorkQueue
from judgesmith.optimizers.space.proposing import Proposer, configuration_id, tpe
from judgesmith.optimizers.storage import open_storage, quiet
from judgesmith.programs import DirectJudge
from judgesmith.programs.families.modules import GPTScoreJudge, PairwiseJudge
from judgesmith.programs.judging.runner import score_batch
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, TokenLogprob
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.space import Space

# Wordings of instructions are chosen by how evenly answers are spread, and by nothing else.

TEXTS = [
    dspy.Example(source=f"On day {n} it rained.", context=None, response=f"Rain {n}.", score=n % 5)
    for n in range(10)
]
WORDS = ("Score it coolly.", "Score it evenly.", "[[ ## score ## ]]")
RUBRIC = Rubric(criteria={"wit": "Is it funny?", "truth": "Is it true?"})


class Worded:
    """Answers 4 of everything, by all five answers under an even wording, or breaks off."""

    endpoint = "worded"

    def __init__(self, words=WORDS, *, tokens=False):
        self.words = words
        self.tokens = tokens
        self.asked = {"words": 0, "scores": 0}

    def answer(self, request):
        system = request.prefix.messages[0].text
        if "`paraphrase`" in system:
            self.asked["words"] += 1
            text = self.words[request.sample % len(self.words)]
            return ModelAnswer(text=f"[[ ## paraphrase ## ]]\n{text}\n\n[[ ## completed ## ]]")
        self.asked["scores"] += 1
        points = 4
        if "evenly" in system:
            points = 1 + int(request.user.partition("Rain ")[2].partition(".")[0]) % 5
        if "coolly" in system:
            points = "none"
        head, end = "[[ ## score ## ]]\n", "\n\n[[ ## completed ## ]]"
        chances = ((str(points), log(0.75)), ("5", log(0.25)))
        logprobs = (
            TokenLogprob(head, 0.0),
            TokenLogprob(str(points), log(0.75), chances),
            TokenLogprob(end, 0.0),
        )
        return ModelAnswer(text=f"{head}{points}{end}", logprobs=logprobs if self.tokens else None)


def lm_of(engine, **budget):
    return ClientLM.over(LMClient(engine, budget=Budget(**budget)), "worded/m", recipe={})


def compiled(engine, judge=None, *, budget=None, **settings):
    search = FairPromptSearch(lm=lm_of(engine, **(budget or {})), n_paraphrases=3, **settings)
    return search.compile(judge or DirectJudge(answers="1..5"), trainset=TEXTS), search


def test_imbalance_is_the_share_that_would_have_to_move():
    assert imbalance({"1": 0.2, "2": 0.2, "3": 0.2, "4": 0.2, "5": 0.2}) == pytest.approx(0)
    assert imbalance({"yes": 0.9, "no": 0.1}) == pytest.approx(0.4)
    assert imbalance({"a": 1.0, "b": 0.0, "c": 0.0}) == pytest.approx(2 / 3)


def test_the_wording_with_the_most_even_answers_is_taken():
    judge, search = compiled(Worded())
    assert judge.protocol.instructions == {"whole": "Score it evenly."}
    values = [one.value for one in search.trials_ if one.n_rows]
    assert values[0] == pytest.approx(-0.8)  # all on one of five
    assert max(values) == pytest.approx(0)
    assert search.complete_


class PrefersTheFirst(Worded):
    """Prefers what is shown first, or by the number in it under an even wording."""

    def answer(self, request):
        if "`paraphrase`" in request.prefix.messages[0].text:
            return super().answer(request)
        self.asked["scores"] += 1
        a, b = (int(one.partition(".")[0]) for one in request.user.split("Rain ")[1:])
        even = "evenly" in request.prefix.messages[0].text
        better = "A" if not even or a > b else "B"
        return ModelAnswer(text=f"[[ ## better ## ]]\n{better}\n\n[[ ## completed ## ]]")


def test_pairs_are_even_where_either_place_wins_as_often():
    texts = [
        dspy.Example(source=f"On day {n // 3} it rained.", context=None, response=f"Rain {n}.")
        for n in range(12)
    ]
    engine = PrefersTheFirst(("Compare them evenly.",))
    search = FairPromptSearch(lm=lm_of(engine), n_paraphrases=1, n_rows=10)
    judge = search.compile(PairwiseJudge(weighting="none"), trainset=texts)
    assert judge.protocol.instructions == {"compare": "Compare them evenly."}
    assert [one.value for one in search.trials_ if one.n_rows] == [-0.5, 0.0]
    assert engine.asked["scores"] == 2 * 2 * 10  # two wordings, both orders
    alone = [one for one in texts if one.response == "Rain 1."]
    with pytest.raises(ValueError, match="no source has two responses that differ"):
        search.compile(PairwiseJudge(), trainset=alone)


def test_ratings_are_not_read():
    unrated = [
        dspy.Example(source=one.source, context=None, response=one.response) for one in TEXTS
    ]
    search = FairPromptSearch(lm=lm_of(Worded()), n_paraphrases=3)
    judge = search.compile(DirectJudge(answers="1..5"), trainset=unrated)
    assert judge.protocol == compiled(Worded())[0].protocol


def test_probabilities_count_where_there_are_some():
    heard = Overheard(DirectJudge(answers="1..5", weighting="probabilities"))
    items = [RatedItem(source=one.source, response=one.response) for one in TEXTS]
    score_batch(heard, items, lm=lm_of(Worded(tokens=True)))
    (shares,) = heard.mean_chances().values()
    assert shares == pytest.approx({"1": 0, "2": 0, "3": 0, "4": 0.75, "5": 0.25})
    assert heard.n_stated == 0


def test_questions_with_one_instruction_are_reworded_together():
    judge, _ = compiled(Worded(), DirectJudge(answers="1..5", asks="criteria", rubric=RUBRIC))
    assert judge.protocol.instructions == {
        "one_1": "Score it evenly.",
        "one_2": "Score it evenly.",
    }


def test_a_wording_that_leaves_texts_without_a_score_is_not_taken():
    judge, search = compiled(Worded(("Score it coolly.",)))
    assert judge.protocol.instructions == {}
    assert any("there before" in one.problem for one in search.trials_)


@pytest.mark.parametrize("max_calls", [5, 10, 15])
def test_a_budget_that_ends_leaves_the_best_so_far(max_calls):
    judge, search = compiled(Worded(), budget={"max_calls": max_calls})
    assert not search.complete_
    assert judge.protocol.instructions == {}


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (DirectJudge(), "has 101 answers, .* --choose answers=1-5"),
        (GPTScoreJudge(), "there is no wording"),
    ],
)
def test_judges_without_few_answers_are_refused(judge, said):
    with pytest.raises(ValueError, match=said):
        compiled(Worded(), judge)


# grammar

correlations = st.builds(
    Agreement,
    st.sampled_from(["q", "pearson", "spearman", "kendall", "kendall_c", "concordance"]),
    st.sampled_from(["dataset", "sample", "system"]),
)
higher = st.one_of(
    correlations,
    st.builds(Kappa, st.sampled_from(["quadratic", "linear"])),
    st.builds(TieAccuracy, st.sampled_from(["dataset", "sample"])),
    st.sampled_from([NeighbourAccuracy(), ShareScored()]),
)
positive = st.floats(1e-300, 1e300)
terms = st.one_of(
    st.tuples(positive, higher),
    st.tuples(positive.map(lambda x: -x), st.just(CallsPerItem())),
    st.tuples(st.sampled_from([-1.0, -0.5]), st.just(AbsoluteError())),
)
sums = st.lists(terms, min_size=1, max_size=5).map(lambda found: WeightedSum(tuple(found)))
constraints = st.builds(Constraint, sums, st.floats(-1e300, 1e300))
objectives = st.one_of(
    higher,
    sums,
    st.builds(Constrained, sums, st.lists(constraints, min_size=1, max_size=3).map(tuple)),
)


@given(objectives)
def test_what_is_written_reads_as_the_same_objective(objective):
    found = parse_objective(str(objective))
    alone = isinstance(objective, WeightedSum) and len(objective.terms) == 1
    if alone and objective.terms[0][0] == 1:
        assert found == objective.terms[0][1]
    else:
        assert found == objective


def test_spaces_and_forms_of_numbers_do_not_matter():
    written = (
        "q + 0.5*kappa-.01 * calls ;scored>= .95",
        " q+5e-1*kappa - 1E-2*calls;scored >=95e-2 ",
    )
    first, second = map(parse_objective, written)
    assert first == second
    assert first == Constrained(
        WeightedSum(((1.0, Agreement("q")), (0.5, Kappa()), (-0.01, CallsPerItem()))),
        (Constraint(WeightedSum(((1.0, ShareScored()),)), 0.95),),
    )


def test_several_objectives_stand_between_commas_under_the_same_conditions():
    found = parse_objectives(" q , -calls;scored>= .95 ")
    assert found == SeveralObjectives(
        (Agreement("q"), WeightedSum(((-1.0, CallsPerItem()),))),
        (Constraint(WeightedSum(((1.0, ShareScored()),)), 0.95),),
    )
    assert parse_objectives(str(found)) == found
    assert parse_objectives("q; scored >= .95") == parse_objective("q; scored >= .95")


@for_each(
    ("text", "message"),
    [
        ("q,", "at character 3: expected a name or a weight"),
        (", q", "at character 1: expected a name or a weight"),
        ("q, calls", "at character 4: calls is better when lower; subtract it"),
        ("q; scored >= .9, -calls", "at character 16: expected ; or the end; got ','"),
        ("q, -calls, 1*q", "every objective is named once; got q twice"),
    ],
)
def test_several_objectives_that_cannot_be_meant_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_objectives(text)


@for_each(
    ("text", "place", "message"),
    [
        ("", 1, "expected a name or a weight; .*; got the end"),
        ("q + + kappa", 5, r"expected a name or a weight; .*; got '\+'"),
        ("q + wit", 5, "expected a known name; names are q, pearson, .*calls, usd; got 'wit'\\.$"),
        ("q@item", 3, "those of q are system, sample, dataset; got 'item'"),
        ("ties@system", 6, "those of ties are sample, dataset; got 'system'"),
        ("kappa@sample", 6, "expected no level, which kappa does not have; got '@'"),
        ("q@", 3, "expected a level; .*; got the end"),
        ("3", 2, "expected a name or a weight; .*; got the end"),
        ("3 * 2q", 5, "expected a name or a weight; .*; got '2'"),
        ("q*3", 2, r"expected \+, -, ; or the end; got '\*'"),
        ("q kappa", 3, r"expected \+, -, ; or the end; got 'kappa'"),
        ("0*q", 1, "expected a weight other than 0"),
        ("1e999*q", 1, "expected a weight; got '1e999'"),
        ("(q)", 1, r"got '\('"),
        ("q;", 3, "expected a name or a weight"),
        ("q; kappa", 9, r"expected \+, -, >= or <=; got the end"),
        ("q; kappa > .4", 10, r"expected \+, -, >= or <=; got '>'"),
        ("q; kappa >= high", 13, "expected a number to compare with; got 'high'"),
        ("q; kappa >= .4 + q", 16, r"expected ; or the end; got '\+'"),
        ("q, -calls", 2, "expected one objective; several, with commas between, are for a search"),
        ("q + mae", 1, "mae is better when lower; subtract it, as in q - .1"),
        ("q; calls >= 3", 4, "calls is better when lower; bound it from above, as in calls <= 2"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(text, place, message):
    with pytest.raises(ValueError, match=f"at character {place}: .*{message}"):
        parse_objective(text)


def test_any_text_is_read_or_refused():
    rng = random.Random(0)
    pieces = [
        *NAMES,
        "+",
        "-",
        "*",
        ";",
        ">=",
        "<=",
        "@",
        "sample",
        ".5",
        "1e3",
        " ",
        "é",
        "\n",
        ".",
    ]
    n_read = 0
    for _ in range(3000):
        text = "".join(rng.choices(pieces, k=rng.randint(0, 6)))
        try:
            found = parse_objective(text)
        except ValueError:
            continue
        n_read += 1
        assert parse_objective(str(found)) == found
    assert n_read > 100


@for_each(
    ("written", "said"),
    [
        ("-d_min", "d_min is better when higher; add it, as in 2*d_min."),
        ("q - .1*d_avg", "d_avg is better when higher; add it, as in 2*d_avg."),
        ("q; d_min <= 2", "d_min is better when higher; bound it from below, as in d_min >= .4."),
        ("-q", "q is better when higher; add it, as in 2*q."),
        ("-kappa", "kappa is better when higher; add it, as in 2*kappa."),
        ("q - .1*scored", "scored is better when higher; add it, as in 2*scored."),
        ("-q@sample", "q@sample is better when higher; add it, as in 2*q@sample."),
        ("q; kappa <= .4", "kappa is better when higher; bound it from below, as in kappa >= .4."),
        ("q; calls + q <= 4", "q is better when higher; bound it from below, as in q >= .4."),
    ],
)
def test_what_is_better_when_higher_cannot_be_made_smaller(written, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_objective(written)


@pytest.mark.parametrize("written", ["2*q", "2q", "2 q", "2.0 * q"])
def test_a_weight_stands_before_a_name_with_or_without_a_star(written):
    assert parse_objective(written) == WeightedSum(((2.0, Agreement("q")),))
    assert str(parse_objective(f"pearson + {written}; {written} >= 1")) == "pearson + 2*q; 2*q >= 1"


@for_each(
    ("written", "meant"),
    [
        ("spearmen", "spearman"),
        ("q + .5kapa", "kappa"),
        ("Q", "q"),
        ("Kendal_C", "kendall_c"),
        ("q@sytem", "system"),
        ("q; scorred >= .9", "scored"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(written, meant):
    with pytest.raises(ValueError, match=rf"; did you mean {meant}\?$"):
        parse_objective(written)


# proposing

SPACE = Space(
    choices=[
        {"name": "variant", "options": [{"id": "fine"}, {"id": "vanilla"}]},
        {
            "name": "explain",
            "options": [{"id": "before"}, {"id": "after"}, {"id": "none"}],
            "only_if": {"variant": ["fine"]},
        },
        {"name": "answers", "options": [{"id": "0-100"}, {"id": "1-5"}]},
    ]
)


def proposer(storage=None, *, sampler=tpe, seed=0):
    return Proposer(
        study=open_storage(storage).study("one"), space=SPACE, sampler=sampler, seed=seed
    )


def propose_all(one, n=8):
    tried = {}
    for k in range(n):
        found = one.propose(k, tried)
        if found is not None:
            tried[configuration_id(found[1])] = found
            one.tell(found[0], float(k % 3))
    return tried


@pytest.mark.parametrize(
    "sampler", [tpe, lambda seed: optuna.samplers.RandomSampler(seed=seed)], ids=["tpe", "random"]
)
def test_every_configuration_is_proposed_once_and_then_none(sampler):
    tried = propose_all(proposer(sampler=sampler), n=20)
    assert set(tried) == {configuration_id(one) for one in SPACE.configurations()}
    assert len(tried) == SPACE.size == 8


def test_a_choice_that_does_not_arise_is_not_asked_for():
    for _, picked in propose_all(proposer()).values():
        assert ("explain" in picked) == (picked["variant"] == "fine")


def test_a_proposal_that_the_study_holds_is_taken_from_there(tmp_path):
    kept = list(propose_all(proposer(tmp_path / "a.journal"), n=4))
    again = list(propose_all(proposer(tmp_path / "a.journal"), n=8))
    assert again[:4] == kept
    assert again == list(propose_all(proposer(), n=8))


def test_workers_that_propose_one_after_the_other_make_the_same_proposals(tmp_path):
    def work():
        kept, one = open_storage(tmp_path / "a.journal"), proposer(tmp_path / "a.journal")
        board, tried = WorkQueue(kept, "turns", poll=0.005), {}
        for k in range(8):
            with board.alone(f"proposal {k}"):
                number, picked = one.propose(k, tried)
            tried[configuration_id(picked)] = number, picked
            one.tell(number, float(k % 3))
        return tried

    with quiet():
        found = at_the_same_time(work, work, work)
    alone = propose_all(proposer())
    assert [list(one) for one in found] == [list(alone)] * 3
    assert found[0] == found[1] == found[2]


def test_a_worker_whose_trial_was_taken_for_abandoned_takes_the_proposal_of_the_other(tmp_path):
    first, second = (proposer(tmp_path / "a.journal") for _ in range(2))
    plain, others = first.study.ask, []

    def asked():
        trial = plain()
        if not others:
            others.append(second.propose(0, ()))
        return trial

    first.study.ask = asked
    assert first.propose(0, ()) == others[0]
    assert first.study.trials[0].state == optuna.trial.TrialState.FAIL


def test_what_fell_behind_is_pruned_with_its_last_value_and_what_it_was_expected_to_come_to():
    one = proposer()
    number, _ = one.propose(0, ())
    one.prune(number, [0.3], [0.8], 45)
    one.prune(number, [0.4], [0.9], 90)
    trial = one.study.trials[number]
    assert trial.state == optuna.trial.TrialState.PRUNED
    assert (trial.value, trial.intermediate_values) == (0.3, {45: 0.3})
    assert trial.user_attrs["expected"] == [0.8]


# effects

CODES = np.asarray(list(itertools.product((1, 2, 3), repeat=3)))


def evidence(values, shares=1.0):
    return Surrogate(codes=CODES, values=values, shares=np.full(len(CODES), shares))


def test_likeness_goes_from_nothing_to_everything_in_common():
    found = likeness(np.asarray([[1, 1, 1]]), np.asarray([[2, 2, 2], [1, 2, 2], [1, 1, 1]]), 0.3)
    assert found[0, 0] == 0
    assert found[0, 1] == pytest.approx(0.6 / 3)
    assert found[0, 2] == pytest.approx(1)


def test_effects_add_up_for_configurations_that_were_not_seen():
    adds = np.asarray([[0.0, 0.3, -0.3], [0.0, 0.5, 0.1], [0.0, -0.2, 0.4]])
    truth = sum(adds[choice, CODES[:, choice] - 1] for choice in range(3))
    rng = np.random.default_rng(0)
    known = rng.permutation(len(CODES))[:18]
    seen = Surrogate(codes=CODES[known], values=truth[known], shares=np.ones(18))
    found = seen.outlook(CODES)
    unknown = np.setdiff1d(np.arange(len(CODES)), known)
    assert np.corrcoef(found.means[unknown], truth[unknown])[0, 1] > 0.9
    assert found.deviations[unknown].min() > found.deviations[known].max()


def test_what_is_seen_on_few_rows_moves_less_than_what_is_seen_on_all():
    values = np.random.default_rng(1).normal(size=len(CODES))
    values[0] = 4
    shares = np.ones(len(CODES))
    few = shares.copy()
    few[0] = 0.05
    found = [
        Surrogate(codes=CODES, values=values, shares=one).outlook(CODES).means[0]
        for one in (shares, few)
    ]
    assert found[1] < found[0]


def test_the_undefined_counts_as_the_worst():
    values = np.random.default_rng(4).normal(size=len(CODES))
    worst = values.copy()
    values[5], worst[5] = np.nan, np.delete(values, 5).min()
    assert evidence(values).outlook(CODES).means == pytest.approx(
        evidence(worst).outlook(CODES).means
    )


@for_each("values", [[], [1.0], [np.nan, np.nan], [1.0, 1.0], [0.0, 1.0]])
def test_little_is_enough_to_answer(values):
    seen = Surrogate(
        codes=np.asarray([[1], [2]])[: len(values)],
        values=np.asarray(values),
        shares=np.asarray([1.0, 0.1])[: len(values)],
    )
    found = seen.outlook(np.asarray([[1], [2], [3]]))
    assert np.isfinite(found.means).all()
    assert np.isfinite(found.deviations).all()
