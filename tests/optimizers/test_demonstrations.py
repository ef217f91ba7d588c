import hashlib
import math
import re

import dspy
import numpy as np
import pytest

from judgesmith.optimizers import RandomDemonstrationSearch
from judgesmith.optimizers.demonstrations import Trial
from judgesmith.programs import ActiveCritic
from judgesmith.programs.models import ModelAnswer, Stack
from judgesmith.programs.models.dspy_lm import StackLM
from judgesmith.signatures import Scale

LIKERT = Scale(low=1, high=5)


def examples(sources, *, per_source=2):
    rng = np.random.default_rng(3)
    return [
        dspy.Example(
            source=f"source {s}",
            context=None,
            response=f"response {s} {k}",
            score=float(rng.integers(1, 6)),
            scale=LIKERT,
            group=s,
        ).with_inputs("source", "context", "response")
        for s in sources
        for k in range(per_source)
    ]


class Engine:
    """Answers a vanilla judge by a rule over (item's text, how many examples are shown)."""

    endpoint = "scripted"

    def __init__(self, rule):
        self.rule = rule
        self.asked = 0

    def answer(self, request):
        self.asked += 1
        shown = [m.text for m in request.prefix.messages if m.role == "user"]
        return ModelAnswer(text=self.rule(request.user, shown), input_tokens=1, output_tokens=1)


def number(text):
    """Return 0 to 100 that depends on a text alone."""
    return hashlib.blake2b(text.encode(), digest_size=1).digest()[0] % 101


def says(points):
    return f"[[ ## score ## ]]\n{points}"


def lm_of(rule, **budget):
    from judgesmith.programs.models import Budget

    return StackLM.over(
        Stack(Engine(rule), budget=Budget(**budget) if budget else None), "scripted", recipe={}
    )


@pytest.fixture
def lm():
    return lm_of(lambda user, shown: says(number(user + "".join(shown))))


@pytest.fixture
def student():
    return ActiveCritic(variant="vanilla")


def search(lm, **settings):
    return RandomDemonstrationSearch(lm=lm, **{"n_rounds": 5, **settings})


def test_the_student_is_left_as_it_was(lm, student):
    before = student.dump_state()
    search(lm).compile(student, trainset=examples(range(30)))
    assert student.dump_state() == before


def test_compiling_twice_gives_the_same_judge(lm, student):
    first, second = (
        search(lm).compile(student, trainset=examples(range(30))).protocol for _ in range(2)
    )
    assert first == second


def test_another_seed_draws_other_demonstrations(lm, student):
    drawn = []
    for seed in (0, 1):
        optimizer = search(lm, seed=seed)
        optimizer.compile(student, trainset=examples(range(30)))
        drawn.append([trial.keys for trial in optimizer.trials_])
    assert drawn[0] != drawn[1]


def test_the_best_trial_is_the_judge_that_comes_back(lm, student):
    optimizer = search(lm, n_rounds=8)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    best = max(optimizer.trials_, key=lambda trial: trial.rank)
    shown = judge.protocol.demonstrations.get("grade", ())
    assert tuple(one.key for one in shown) == best.keys
    assert best.value == max(trial.value for trial in optimizer.trials_)


def test_none_always_competes_and_comes_first(lm, student):
    optimizer = search(lm)
    optimizer.compile(student, trainset=examples(range(30)))
    assert [trial.n_demonstrations for trial in optimizer.trials_] == [0, 3, 3, 3, 3]


def test_rows_to_show_and_rows_to_choose_by_share_no_source(student):
    asked, shown_texts = set(), set()

    def rule(user, shown):
        asked.update(re.findall(r"source \d+", user))
        shown_texts.update(re.findall(r"source \d+", "".join(shown)))
        return says(number(user))

    search(lm_of(rule)).compile(student, trainset=examples(range(30)))
    assert len(asked) == 24
    assert shown_texts
    assert not asked & shown_texts


def test_an_undefined_objective_never_wins(student):
    # With examples the model answers the same for every text.
    lm = lm_of(lambda user, shown: says(50 if shown else number(user)))
    optimizer = search(lm)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert judge.protocol.demonstrations == {}
    assert all(math.isnan(trial.value) for trial in optimizer.trials_[1:])


def test_a_candidate_that_fails_on_more_than_a_twentieth_ranks_below(student):
    human = {}
    for one in examples(range(30)):
        human[one["response"]] = one["score"]

    def rule(user, shown):
        response = "response " + user.split("response ")[-1].split("\n")[0]
        if not shown:
            return says(number(user))
        # Perfect where it answers, and silent on every fourth text.
        return "no idea" if number(user) % 4 == 0 else says(round(20 * human[response]))

    optimizer = search(lm_of(rule))
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert judge.protocol.demonstrations == {}
    assert optimizer.trials_[1].share_scored < 0.95
    assert optimizer.trials_[1].value > optimizer.trials_[0].value


def test_of_equals_fewer_demonstrations_win_and_then_the_earlier(student):
    optimizer = search(lm_of(lambda user, shown: says(number(user))))
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert len({trial.value for trial in optimizer.trials_}) == 1
    assert judge.protocol.demonstrations == {}


def test_rank_puts_scored_share_before_value_and_value_before_length():
    def rank(value, share=1.0, n=3):
        return Trial(
            n_demonstrations=n, n_bootstrapped=0, keys=(), value=value, share_scored=share
        ).rank

    assert rank(0.1) > rank(2.0, share=0.94) > rank(math.nan, share=0.94)
    assert rank(-3.0) > rank(math.nan)
    assert rank(1.0, n=0) > rank(1.0, n=3)


def test_a_budget_that_ends_in_the_search_leaves_the_best_so_far(student):
    whole = search(lm_of(lambda user, shown: says(number(user + "".join(shown)))))
    whole.compile(student, trainset=examples(range(30)))
    n_selection = 48
    lm = lm_of(
        lambda user, shown: says(number(user + "".join(shown))), max_calls=2 * n_selection + 5
    )
    optimizer = search(lm)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert optimizer.trials_ == whole.trials_[:2]
    best = max(optimizer.trials_, key=lambda trial: trial.rank)
    shown = judge.protocol.demonstrations.get("grade", ())
    assert tuple(one.key for one in shown) == best.keys


def test_progress_counts_every_judged_row(lm, student):
    counted = []
    search(lm, progress=counted.append).compile(student, trainset=examples(range(30)))
    assert sum(counted) == 5 * 48


@pytest.mark.parametrize(
    ("trainset", "valset", "message"),
    [
        ([], None, "no rated items"),
        (examples(range(4)), examples(range(3, 8)), "1 sources are in both trainset and valset"),
        (
            examples(range(4)),
            [one.copy(score=2.0) for one in examples(range(9, 12))],
            "all 6 scores to choose by are 2",
        ),
        (examples([1]), None, "must not share a source"),
    ],
)
def test_rows_that_nothing_can_be_chosen_by_are_refused(lm, student, trainset, valset, message):
    with pytest.raises(ValueError, match=message):
        search(lm).compile(student, trainset=trainset, valset=valset)


@pytest.mark.parametrize("setting", [{"n_demonstrations": 0}, {"n_rounds": 0}])
def test_settings_that_search_nothing_are_refused_at_construction(lm, setting):
    with pytest.raises(ValueError, match="must be 1 or more; got"):
        search(lm, **setting)


def test_only_judges_can_be_compiled(lm):
    with pytest.raises(TypeError, match=r"expected a judge, .*; got Predict"):
        search(lm).compile(dspy.Predict("a -> b"), trainset=examples(range(30)))


def test_an_objective_may_be_named():
    assert str(RandomDemonstrationSearch("spearman@sample").objective) == "spearman@sample"
