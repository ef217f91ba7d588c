"""Search of demonstrations."""

import hashlib
import math
import re
from dataclasses import replace

import dspy
import numpy as np
import pytest
from looping import for_each
from optimizing import examples as examples_optimizing

from judgesmith.optimizers import RandomDemonstrationSearch
from judgesmith.optimizers.rows import rows_from
from judgesmith.optimizers.space.demonstrations import (
    CHOSEN,
    DRAW,
    NEAREST,
    ORDER,
    RUNS,
    Drawer,
    N,
    Pool,
    demonstration_choices,
)
from judgesmith.programs import ActiveCritic
from judgesmith.programs.lm import LMClient, ModelAnswer, lm_client_of, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.programs.offline import OfflineEngine
from judgesmith.signatures import ActiveCriticConfig, Demonstration, Judgement, Scale
from judgesmith.signatures.items import text_key
from judgesmith.signatures.space import Space

# demonstrations

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
    from judgesmith.programs.lm import Budget

    return ClientLM.over(
        LMClient(Engine(rule), budget=Budget(**budget) if budget else None), "scripted", recipe={}
    )


@pytest.fixture
def lm():
    return lm_of(lambda user, shown: says(number(user + "".join(shown))))


@pytest.fixture
def student():
    return ActiveCritic(variant="vanilla")


def search(lm, **settings):
    return RandomDemonstrationSearch(lm=lm, **{"n_trials": 5, **settings})


def test_the_best_trial_is_the_judge_that_comes_back_without_a_rule(lm, student):
    optimizer = search(lm, n_trials=8, confirm=None)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    best = max(optimizer.trials_, key=lambda trial: trial.rank)
    shown = judge.protocol.demonstrations.get("grade", ())
    assert tuple(one.key for one in shown) == best.keys
    assert best.value == max(trial.value for trial in optimizer.trials_)
    assert optimizer.trials_[optimizer.taken_] == best


def test_the_student_comes_back_where_luck_explains_the_best_trial(lm, student):
    optimizer = search(lm, n_trials=8)
    judge = optimizer.compile(student, trainset=examples(range(30)))
    assert judge.protocol == student.protocol
    assert optimizer.taken_ == 0
    assert optimizer.confirmation_.p_value > 0.05
    assert optimizer.confirmation_.chosen == max(trial.value for trial in optimizer.trials_)
    assert 0 < optimizer.confirmation_.n_compared < len(optimizer.trials_)


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


@pytest.mark.parametrize(
    ("trainset", "valset", "message"),
    [
        ([], None, "no rated items"),
        (examples(range(4)), examples(range(3, 8)), "1 sources are in both trainset and valset"),
        (
            examples(range(4)),
            [one.copy(score=2.0) for one in examples(range(9, 12))],
            "all 6 validation scores are 2",
        ),
        (examples([1]), None, "must not share a source"),
    ],
)
def test_rows_that_nothing_can_be_chosen_by_are_refused(lm, student, trainset, valset, message):
    with pytest.raises(ValueError, match=message):
        search(lm).compile(student, trainset=trainset, valset=valset)


def showing(student, rows, *, question="grade", grade=50):
    """Return a student that shows rows already."""
    shown = tuple(
        Demonstration(
            inputs={name: one[name] for name in ("source", "context", "response")},
            outputs={"score": grade},
        )
        for one in rows
    )
    protocol = student.protocol.model_copy(update={"demonstrations": {question: shown}})
    return student.with_protocol(protocol)


def key_of(example):
    return text_key(example["source"], example["context"], example["response"])


class TestTheStudentsOwnDemonstrations:
    ROWS = examples(range(30))

    def best_with_own(self):
        """Agree perfectly where the student's own example is shown, and hardly otherwise."""
        human = {one["response"]: one["score"] for one in self.ROWS}

        def rule(user, shown):
            response = "response " + user.split("response ")[-1].split("\n")[0]
            if any("my own" in text for text in shown):
                return says(round(20 * human[response]))
            return says(number(user + "".join(shown)))

        return rule

    def own(self):
        return dspy.Example(source="my own", context=None, response="mine")

    def test_they_compete_and_stay_where_they_are_best(self, student):
        student = showing(student, [self.own()])
        optimizer = search(lm_of(self.best_with_own()))
        judge = optimizer.compile(student, trainset=self.ROWS)
        assert judge.protocol == student.protocol
        assert optimizer.trials_[1].keys == (key_of(self.own()),)
        assert optimizer.trials_[1].value == max(trial.value for trial in optimizer.trials_)

    def test_they_are_tried_beside_the_rounds_and_move_no_other_draw(self, student, lm):
        plain, with_own = search(lm, n_trials=4), search(lm, n_trials=4)
        plain.compile(student, trainset=self.ROWS)
        with_own.compile(showing(student, [self.own()]), trainset=self.ROWS)
        assert [trial.n_demonstrations for trial in with_own.trials_] == [0, 1, 3, 3, 3]
        others = (*with_own.trials_[:1], *with_own.trials_[2:])
        assert [replace(one, number=n) for n, one in enumerate(others)] == list(plain.trials_)

    def test_rows_that_they_show_are_not_chosen_by(self, student):
        asked = set()

        def rule(user, shown):
            asked.update(re.findall(r"response \d+ \d", user))
            return says(number(user))

        pool, selection = self.ROWS[:20], self.ROWS[20:]
        own = [*selection[:3], pool[0]]
        optimizer = search(lm_of(rule))
        optimizer.compile(showing(student, own), trainset=pool, valset=selection)
        assert asked == {one["response"] for one in selection[3:]}
        for trial in optimizer.trials_:
            assert not set(trial.keys) & {key_of(one) for one in selection[3:]}

    def test_a_budget_that_ends_before_they_were_tried_leaves_them(self, student):
        for n_calls in (5, 48 + 5):
            lm = lm_of(lambda user, shown: says(number(user)), max_calls=n_calls)
            optimizer = search(lm)
            judge = optimizer.compile(showing(student, [self.own()]), trainset=self.ROWS)
            assert len(optimizer.trials_) == n_calls // 48
            assert judge.protocol == showing(student, [self.own()]).protocol


def prose(n, *, criteria=("fluency", "relevance")):
    """Rated summaries, better and worse; the offline model can tell."""
    texts = [
        ("The council of town {i} opened a new bridge on Monday.", 5.0),
        ("Town {i} opened a bridge, the council said.", 4.0),
        ("bridge bridge opened the the town {i} and", 1.0),
        ("Bob Stone sold 99 cars in London to {i} people.", 2.0),
    ]
    source = (
        "The council of town {i} opened a new bridge over the river on Monday. It cost 12 million "
        "pounds, the council said, and took two years to build after the flood."
    )
    found = []
    for i in range(n):
        for k, (text, score) in enumerate(texts):
            if (i + k) % 2:
                continue
            points = {name: 25 * (score - 1) - 5 * place for place, name in enumerate(criteria)}
            found.append(
                dspy.Example(
                    source=source.format(i=i),
                    context=None,
                    response=text.format(i=i),
                    score=score,
                    scale=LIKERT,
                    group=i,
                    criteria={name: max(value, 0.0) for name, value in points.items()},
                ).with_inputs("source", "context", "response")
            )
    return found


RUBRIC = {
    "task": "Judge a summary.",
    "criteria": {"fluency": "Is it well written?", "relevance": "Does it keep to what matters?"},
}
VARIANTS = {
    "vanilla": {"variant": "vanilla"},
    "coarse": {"variant": "coarse"},
    "fine": {},
    "no overall": {"overall": "mean"},
    "separate": {"criteria_calls": "separate"},
    "separate, no overall": {"criteria_calls": "separate", "overall": "mean"},
}


class TestEveryVariant:
    """End to end, with the offline model."""

    @pytest.fixture
    def offline(self):
        return model("offline", ledger=None)

    @pytest.mark.no_cover
    @for_each("choices", VARIANTS.values())
    def test_no_demonstration_scores_itself(self, choices):
        asked, shown = set(), set()

        class Watched:
            endpoint = "watched"

            def __init__(self, engine):
                self.engine = engine

            def answer(self, request):
                turns = [one.text for one in request.prefix.messages if one.role == "user"]
                seen = set(re.findall(r"town (\d+) opened a new bridge over", "".join(turns)))
                (item,) = set(re.findall(r"town (\d+) opened a new bridge over", request.user))
                assert item not in seen
                shown.update(seen)
                if seen:
                    asked.add(item)
                return self.engine.answer(request)

        lm = ClientLM.over(LMClient(Watched(OfflineEngine())), "scripted", recipe={})
        student = ActiveCritic(rubric=RUBRIC, **choices)
        search(lm, n_trials=6).compile(student, trainset=prose(16))
        assert shown
        assert asked
        assert not asked & shown

    def test_each_target_needs_its_scores(self):
        class Silent(OfflineEngine):
            """Never scores relevance, once examples are shown."""

            def answer(self, request):
                shown = len(request.prefix.messages) > 1
                if shown and "[[ ## criterion ## ]]\nrelevance" in request.user:
                    return ModelAnswer(text="no idea", input_tokens=1, output_tokens=1)
                return super().answer(request)

        lm = ClientLM.over(LMClient(Silent()), "scripted", recipe={})
        student = ActiveCritic(rubric=RUBRIC, criteria_calls="separate")
        optimizer = search(lm, n_trials=2, targets=("score", "fluency", "relevance"))
        judge = optimizer.compile(student, trainset=prose(12))
        assert [trial.share_scored for trial in optimizer.trials_] == [1.0, 0.0]
        assert judge.protocol.demonstrations == {}

    def test_what_people_said_of_a_criterion_is_shown_to_the_question_about_it(self):
        shown = set()

        class Watched(OfflineEngine):
            def answer(self, request):
                if "[[ ## criterion ## ]]\nfluency" in request.user:
                    shown.add(tuple(one.text for one in request.prefix.messages[1:]))
                return super().answer(request)

        lm = ClientLM.over(LMClient(Watched()), "scripted", recipe={})
        student = ActiveCritic(rubric=RUBRIC, criteria_calls="separate")
        rows = prose(12)
        search(lm, n_trials=2, n_demonstrations=2).compile(student, trainset=rows)
        said = {one["response"]: round(one["criteria"]["fluency"]) for one in rows}
        assert sorted(map(len, shown)) == [0, 4]
        labelled = max(shown, key=len)
        for question, answer in zip(labelled[::2], labelled[1::2], strict=True):
            (response,) = [text for text in said if text in question]
            assert f"[[ ## score ## ]]\n{said[response]}\n" in answer


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"variant": "vanilla"}, "gives no score for fluency; it scores the whole alone"),
        ({"variant": "coarse"}, "gives no score for fluency; it scores the whole alone"),
        (
            {"rubric": {"criteria": {"wit": "Is it funny?"}}},
            "gives no score for fluency; it scores the whole and wit",
        ),
    ],
)
def test_a_target_that_the_judge_does_not_score_is_refused_before_anything_is_asked(choices, said):
    lm = lm_of(lambda user, shown: says(50))
    student = ActiveCritic(**{"rubric": RUBRIC, **choices})
    with pytest.raises(ValueError, match=said):
        search(lm, targets=("score", "fluency")).compile(student, trainset=prose(12))
    assert lm._engine_spec.client.engine.asked == 0


def test_sets_that_come_out_the_same_are_asked_about_once():
    rows = [one.without("criteria") for one in prose(12)]
    student = ActiveCritic(rubric=RUBRIC, overall="mean")
    n_asked, told = [], []
    for n_trials in (1, 2):
        counted = []
        lm = model("offline", ledger=None)
        optimizer = search(lm, n_trials=n_trials, on_progress=counted.append)
        optimizer.compile(student, trainset=rows)
        n_asked.append(lm_client_of(lm).usage.calls)
        told.append(counted[-1].done)
    none, labelled = optimizer.trials_
    # No question about criteria can show rows of which people scored the whole alone.
    assert replace(labelled, number=0) == none
    assert n_asked[0] == n_asked[1] == len(rows)
    assert told[1] > told[0]


def test_a_text_that_is_rated_under_two_sources_is_not_shown_and_chosen_by():
    train, chosen_by = examples(range(4)), examples(range(4, 8))
    again = [one.copy(group=f"again {one.group}") for one in train[1:]]
    search = RandomDemonstrationSearch(n_demonstrations=3, n_trials=4, lm=model(ledger=None))
    search.compile(ActiveCritic(variant="vanilla"), trainset=train, valset=[*again, *chosen_by])
    first = text_key(train[0].source, None, train[0].response)
    assert {key for trial in search.trials_ for key in trial.keys} == {first}


# demonstration choices

ROWS = rows_from(examples_optimizing(range(12)))
VANILLA = ActiveCriticConfig(variant="vanilla")


def drawer(*, runs=None, seed=0):
    return Drawer(Pool(rows=ROWS, runs=runs or {}), seed)


def picked(n="3", chosen="stratified", draw="0", order="drawn", **more):
    return {N: n, CHOSEN: chosen, DRAW: draw, ORDER: order, **more}


def grades(shown, question="grade"):
    return [one.outputs["score"] for one in shown[question]]


@for_each(
    ("most", "numbers"),
    [(3, "3 0 1 2"), (4, "3 0 1 2 4"), (8, "3 0 1 2 5 8"), (2, "0 1 2"), (12, "3 0 1 2 5 8 12")],
)
def test_the_most_that_may_be_shown_competes(most, numbers):
    assert demonstration_choices(40, most=most, n_demo_sets=1)[0].ids == tuple(numbers.split())


@pytest.mark.parametrize("chosen", ["random", "stratified", "diverse"])
def test_the_same_configuration_shows_the_same_rows(chosen):
    twice = [drawer().shown(VANILLA, picked("5", chosen)) for _ in range(2)]
    assert twice[0] == twice[1]
    assert len({one.key for one in twice[0]["grade"]}) == 5


def test_stratified_ones_span_the_human_scores():
    shown = sorted(grades(drawer().shown(VANILLA, picked("3"))))
    thirds = np.quantile(ROWS.percent(), [0, 1 / 3, 2 / 3, 1])
    for grade, low, high in zip(shown, thirds, thirds[1:], strict=False):
        assert low - 1 <= grade <= high + 1


def test_order_changes_the_order_alone():
    drawn, rising, falling = (
        drawer().shown(VANILLA, picked("5", order=order))
        for order in ("drawn", "rising", "falling")
    )
    assert grades(rising) == sorted(grades(drawn))
    assert grades(falling) == sorted(grades(drawn), reverse=True)
    assert {one.key for one in rising["grade"]} == {one.key for one in drawn["grade"]}


def test_runs_are_shown_as_the_configuration_says():
    run = Judgement(score=50, raw=50, explanation="it says so", criteria={})
    coarse = ActiveCriticConfig(variant="coarse")
    with_runs = drawer(runs=dict.fromkeys(range(len(ROWS)), run))
    counts = {}
    for runs in ("none", "some", "all"):
        shown = with_runs.shown(coarse, picked("5", **{RUNS: runs}))
        counts[runs] = sum(one.kind == "bootstrapped" for one in next(iter(shown.values())))
    assert counts["none"] == 0
    assert 1 <= counts["some"] <= 5
    assert counts["all"] == 5


class TestNearest:
    def test_there_is_nothing_more_to_decide_about_them(self):
        space = Space(choices=demonstration_choices(40, most=3, n_demo_sets=2))
        whole = space.complete({CHOSEN: NEAREST, DRAW: "1", ORDER: "rising", RUNS: "all"})
        assert whole == {N: "3", CHOSEN: NEAREST}

    def test_they_compete_only_where_there_are_more_rows_than_are_shown(self):
        for n_rows, competes in ((3, False), (4, True)):
            chosen = demonstration_choices(n_rows, most=3, n_demo_sets=1)[1]
            assert (chosen.name, NEAREST in chosen.ids) == (CHOSEN, competes)

    def test_all_rows_are_looked_among_up_to_a_bound(self):
        shown = drawer().shown(VANILLA, {N: "3", CHOSEN: NEAREST})
        assert len({one.key for one in shown["grade"]}) == len(shown["grade"]) == len(ROWS)
        bounded = Drawer(Pool(rows=ROWS, runs={}), 0, n_pool=5)
        few = bounded.shown(VANILLA, {N: "2", CHOSEN: NEAREST})
        assert len({one.key for one in few["grade"]}) == len(few["grade"]) == 5
        assert few == bounded.shown(VANILLA, {N: "3", CHOSEN: NEAREST})
