"""Sampling of demonstrations and rows."""

import re

import dspy
import numpy as np
import pytest
from looping import for_each
from optimizing import LIKERT, example, examples_with_criteria

from judgesmith.metrics.correlation import contributions
from judgesmith.optimizers import PredictionTable, ProtocolSearch, parse_objective
from judgesmith.optimizers.base import judge_texts, problem_with, with_texts
from judgesmith.optimizers.rows import rated_example, rows_from
from judgesmith.optimizers.space.demonstrations import (
    CHOSEN,
    FEWEST_KEPT,
    NEAREST,
    N,
    Pool,
    demonstration_plan,
    kept_runs,
)
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.adapter import PARTIAL
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.programs.lm import LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import (
    ActiveCriticConfig,
    CriterionScore,
    Demonstration,
    Judgement,
    RatedItem,
    Scale,
)
from judgesmith.signatures.scale import PERCENT

# drawing

FINE = ActiveCriticConfig()
VANILLA = ActiveCriticConfig(variant="vanilla")
COARSE = ActiveCriticConfig(variant="coarse")
SEPARATE = ActiveCriticConfig(criteria_calls="separate")
CHOICES = [
    {"variant": "vanilla"},
    {"variant": "coarse"},
    {},
    {"overall": "mean"},
    {"criteria_calls": "separate"},
    {"criteria_calls": "separate", "overall": "mean"},
]


def rows(n):
    return rows_from(
        [
            dspy.Example(source=f"s{i}", context=None, response=f"r{i}", score=i % 5, group=i)
            for i in range(n)
        ],
        Scale(low=0, high=4),
    )


def run(raw, explanation="why", criteria=None):
    usual = {name: {"score": raw, "explanation": "so"} for name in FINE.rubric.names}
    criteria = usual if criteria is None else criteria
    return Judgement(score=raw, raw=raw, explanation=explanation, criteria=criteria)


def criteria_of(points):
    return {
        name: CriterionScore(score=score, explanation=f"about {name}")
        for name, score in zip(FINE.rubric.names, points, strict=True)
    }


def rated_rows(n):
    """Rows of which every third has scores on all criteria, every third on one, the rest none."""
    names = FINE.rubric.names
    said = [dict(zip(names, range(10, 70, 10), strict=True)), {names[0]: 10}, {}]
    return rows_from(
        [
            dspy.Example(source=f"s{i}", response=f"r{i}", score=i % 5, criteria=said[i % 3])
            for i in range(n)
        ],
        Scale(low=0, high=4),
    )


def pool(n, runs):
    return Pool(rows=rows(n), runs={i: run(40) for i in runs})


def test_the_first_round_shows_none_and_the_second_labelled_ones_only():
    plan = list(demonstration_plan(3, 11, np.random.default_rng(0)))
    assert plan[:2] == [(0, 0), (3, 0)]
    assert {n for n, _ in plan[2:]} == {3}


def test_overall_shows_both_kinds_criteria_bootstrapped_ones_and_vanilla_labelled_ones():
    drawn = pool(20, range(10))
    rng = np.random.default_rng(0)
    fine = drawn.draw(FINE, 4, 2, rng)
    assert {one.kind for one in fine["overall"]} == {"labelled", "bootstrapped"}
    assert [one.kind for one in fine["assess"]] == ["bootstrapped"] * 2
    vanilla = drawn.draw(VANILLA, 4, 2, rng)
    assert {name: {one.kind for one in shown} for name, shown in vanilla.items()} == {
        "grade": {"labelled"}
    }


def test_labelled_ones_show_the_human_score_as_a_whole_number_of_a_hundred():
    shown = pool(5, []).draw(FINE, 5, 0, np.random.default_rng(0))["overall"]
    assert sorted(one.outputs["score"] for one in shown) == [0, 25, 50, 75, 100]
    assert all(set(one.outputs) == {"score"} for one in shown)


def test_bootstrapped_ones_keep_the_score_their_explanation_argues_for():
    shown = pool(5, [3]).draw(FINE, 1, 1, np.random.default_rng(0))
    assert shown["overall"][0].outputs == {"explanation": "why", "score": 40}
    assert shown["overall"][0].inputs["assessments"].startswith("- relevance: 40. so")
    first = shown["assess"][0].outputs["assessments"][0]
    assert first == {"criterion": "relevance", "explanation": "so", "score": 40}


def test_runs_within_ten_points_of_people_are_kept():
    # People say 0, 25, 50, 75, 100 in turn; every run says 40.
    found = kept_runs(rows(300), [run(40)] * 300)
    assert {i % 5 for i in found} == {2}
    assert len(found) == 60


def test_with_too_few_near_runs_the_nearest_up_to_twenty_five_are_kept():
    found = kept_runs(rows(40), [run(38)] * 40)
    assert len(found) == FEWEST_KEPT == 25
    # 25 and 50 are 13 and 12 points away; 0, 75 and 100 are farther.
    assert {1, 2} <= {i % 5 for i in found} <= {0, 1, 2, 3}


@pytest.mark.parametrize("odd", [Judgement.unscored("lost"), Judgement(score=40, raw=40)])
def test_runs_without_scores_or_criteria_cannot_be_shown(odd):
    assert set(kept_runs(rows(3), [run(0), odd, run(50)])) == {0, 2}


class TestWhatEachQuestionIsShown:
    """Texts, what people said, and of runs what the question itself asks for."""

    def test_a_coarse_judge_is_shown_both_kinds_in_its_one_question(self):
        shown = pool(20, range(10)).draw(COARSE, 4, 2, np.random.default_rng(0))
        assert list(shown) == ["rate"]
        kinds = {one.kind: dict(one.outputs) for one in shown["rate"]}
        assert kinds["bootstrapped"] == {"explanation": "why", "score": 40}
        assert set(kinds["labelled"]) == {"score"}
        for one in shown["rate"]:
            assert one.inputs["criteria"].startswith("relevance: ")
            assert one.inputs["task"] == COARSE.rubric.task
            assert "assessments" not in one.inputs

    def test_every_criterion_in_a_call_of_its_own_is_shown_its_own_part_of_a_run(self):
        runs = {0: run(40, criteria=criteria_of(range(10, 70, 10)))}
        shown = Pool(rows=rows(5), runs=runs).draw(SEPARATE, 1, 1, np.random.default_rng(0))
        assert list(shown) == [*(f"assess_{n}" for n in range(1, 7)), "overall"]
        for place, name in enumerate(FINE.rubric.names, start=1):
            (one,) = shown[f"assess_{place}"]
            assert dict(one.outputs) == {"explanation": f"about {name}", "score": 10 * place}
            assert one.inputs["criterion"].startswith(f"{name}: ")
            assert "criteria" not in one.inputs

    @pytest.mark.parametrize("criteria_calls", ["joint", "separate"])
    def test_without_an_overall_question_nothing_is_drawn_for_one(self, criteria_calls):
        protocol = ActiveCriticConfig(criteria_calls=criteria_calls, overall="mean")
        shown = pool(9, range(9)).draw(protocol, 3, 2, np.random.default_rng(0))
        assert "overall" not in shown
        assert {len(several) for several in shown.values()} == {2}
        assert pool(9, []).draw(protocol, 3, 2, np.random.default_rng(0)) == {}

    @for_each("choices", CHOICES)
    @for_each("explain", ["before", "after", "none"])
    def test_what_is_drawn_fits_the_questions_of_the_judge(self, choices, explain):
        protocol = ActiveCriticConfig(explain=explain, **choices)
        drawn = Pool(rows=rated_rows(12), runs={i: run(40) for i in range(6)}, partial_demos=True)
        shown = drawn.draw(protocol, 6, 3, np.random.default_rng(0))
        judge = ActiveCritic(protocol.model_copy(update={"demonstrations": shown}))
        assert judge.protocol.demonstrations == shown
        for name, several in shown.items():
            signature = getattr(judge, name).signature
            for one in several:
                assert set(one.outputs) <= set(signature.output_fields)
                given = {"assessments"} if one.kind == "labelled" and name == "overall" else set()
                assert set(one.inputs) == set(signature.input_fields) - given
                assert name == "grade" or explain != "none" or "why" not in str(one.outputs)

    @pytest.mark.parametrize(
        ("explain", "keys"),
        [
            ("before", ["criterion", "explanation", "score"]),
            ("after", ["criterion", "score", "explanation"]),
            ("none", ["criterion", "score"]),
        ],
    )
    def test_records_are_shown_in_the_order_that_is_asked_for(self, explain, keys):
        protocol = ActiveCriticConfig(explain=explain)
        shown = pool(5, [3]).draw(protocol, 1, 1, np.random.default_rng(0))
        assert [list(one) for one in shown["assess"][0].outputs["assessments"]] == [keys] * 6


class TestWherePeopleScoredCriteria:
    def test_the_joint_question_shows_rows_with_all_of_them(self):
        shown = Pool(rows=rated_rows(12), runs={}).draw(FINE, 12, 0, np.random.default_rng(0))
        assert len(shown["assess"]) == 4  # every third row has all six
        assert {one.kind for one in shown["assess"]} == {"labelled"}
        for one in shown["assess"]:
            records = one.outputs["assessments"]
            assert [record["criterion"] for record in records] == list(FINE.rubric.names)
            assert [record["score"] for record in records] == [10, 20, 30, 40, 50, 60]
            assert {record["explanation"] for record in records} == {LEFT_OUT}

    def test_such_an_example_says_that_a_part_of_it_is_left_out(self):
        shown = Pool(rows=rated_rows(12), runs={}).draw(FINE, 12, 0, np.random.default_rng(0))
        judge = ActiveCritic(FINE.model_copy(update={"demonstrations": shown}))
        turns = judge.templates()["assess"].turns[1:]
        assert all(turn.text.startswith(PARTIAL) for turn in turns[::2])
        silent = ActiveCriticConfig(explain="none")
        shown = Pool(rows=rated_rows(12), runs={}).draw(silent, 12, 0, np.random.default_rng(0))
        judge = ActiveCritic(silent.model_copy(update={"demonstrations": shown}))
        turns = judge.templates()["assess"].turns[1:]
        assert len(turns) == 8
        assert not any(PARTIAL in turn.text or LEFT_OUT in turn.text for turn in turns)

    def test_a_question_of_its_own_shows_every_row_with_its_criterion(self):
        shown = Pool(rows=rated_rows(12), runs={}).draw(SEPARATE, 12, 0, np.random.default_rng(0))
        assert [len(shown[f"assess_{n}"]) for n in (1, 2, 6)] == [8, 4, 4]
        assert dict(shown["assess_1"][0].outputs) == {"score": 10}
        assert "explanation" not in shown["assess_2"][0].outputs

    def test_partial_ones_show_the_whole_score_alone(self):
        drawn = Pool(rows=rated_rows(12), runs={}, partial_demos=True)
        shown = drawn.draw(FINE, 12, 0, np.random.default_rng(0))
        assert len(shown["assess"]) == 12
        partial = [one for one in shown["assess"] if len(one.outputs["assessments"]) == 1]
        assert len(partial) == 8
        by_key = {item.key: 25 * (i % 5) for i, item in enumerate(drawn.rows.items)}
        for one in partial:
            (record,) = one.outputs["assessments"]
            assert record == {
                "criterion": "overall",
                "explanation": LEFT_OUT,
                "score": by_key[one.key],
            }


class TestRunsOfATeacherOfAnotherKind:
    def test_a_run_without_the_criteria_that_are_asked_for_is_not_kept(self):
        names = FINE.rubric.names
        coarse = Judgement(score=40, raw=40, explanation="why")
        other = run(40, criteria={"joy": {"score": 40}})
        assert kept_runs(rows(3), [run(40), coarse, run(40)], criteria=names).keys() == {0, 2}
        assert kept_runs(rows(3), [run(40), other, run(40)], criteria=names).keys() == {0, 2}
        assert kept_runs(rows(3), [run(40), coarse, other]).keys() == {0, 1, 2}

    def test_words_that_it_did_not_write_are_left_out(self):
        silent = Judgement(
            score=40,
            raw=40,
            criteria={name: {"score": 40} for name in FINE.rubric.names},
        )
        drawn = Pool(rows=rows(5), runs={0: silent})
        shown = drawn.draw(FINE, 1, 1, np.random.default_rng(0))
        assert dict(shown["overall"][0].outputs) == {"score": 40}
        records = shown["assess"][0].outputs["assessments"]
        assert {record["explanation"] for record in records} == {LEFT_OUT}
        shown = drawn.draw(SEPARATE, 1, 1, np.random.default_rng(0))
        assert dict(shown["assess_3"][0].outputs) == {"score": 40}


def test_scores_may_be_shown_as_percent_of_the_highest_point():
    examples = [
        dspy.Example(source=f"s{i}", response="r", score=score, group=i)
        for i, score in enumerate([1, 3, 5])
    ]
    for percent_of_max, scores in ((False, [0, 50, 100]), (True, [20, 60, 100])):
        drawn = rows_from(examples, Scale(low=1, high=5), percent_of_max=percent_of_max)
        shown = Pool(rows=drawn, runs={}).draw(COARSE, 3, 0, np.random.default_rng(0))["rate"]
        assert sorted(one.outputs["score"] for one in shown) == scores


def test_a_gap_in_a_run_is_nothing_to_learn_from():
    gap = {**run(40).criteria, "fluency": {"score": None, "explanation": "no score: lost"}}
    assert kept_runs(rows(2), [run(40), run(40, criteria=gap)]).keys() == {0}


@pytest.mark.parametrize(("raw", "shown"), [(12.5, 2), (87.5, 4), (62.5, 3), (100, 5)])
def test_a_run_is_shown_on_the_scale_of_the_answers_without_being_rounded_before(raw, shown):
    five = COARSE.model_copy(update={"answers": Scale(low=1, high=5)})
    runs = Pool(rows=rows(4), runs={0: run(raw)})
    (one,) = runs.shown(five, [0], [0])["rate"]
    assert one.outputs["score"] == shown


# rated examples


def test_an_item_comes_back_from_its_example_with_its_texts_and_its_group():
    item = RatedItem(source="s", context="c", response="r", system_id="m")
    examples = [rated_example(item, 4, LIKERT, group=7), example(1, group=8)]
    rows = rows_from(examples)
    assert rows.items[0].key == item.key
    assert rows.groups.tolist() == ["7", "8"]
    assert rows.systems.tolist() == ["m", ""]
    assert rows.human.tolist() == [4.0, 2.0]


def test_rows_without_a_group_are_grouped_by_source():
    rows = rows_from([example(0, source="same"), example(1, source="same"), example(2)])
    assert rows.groups.tolist() == ["same", "same", "s2"]


@for_each(
    ("examples", "message"),
    [
        ([], "no rated items to learn from; give a non-empty trainset"),
        ([example(0, response=None)], "example 0 has no response"),
        ([example(0), example(1, score=None)], "example 1 has no score"),
        ([example(0, scale=None)], "expected one scale for all scores; got none"),
        ([example(0), example(1, scale="0..1")], r"expected one scale.*1\.\.5, 0\.\.1"),
        ([example(0, score=float("nan"))], "a score is nan; leave unrated items out"),
        (
            [example(0, scale=Scale(low=0, high=9, higher_is_better=False))],
            "the scores count faults",
        ),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(examples, message):
    with pytest.raises(ValueError, match=message):
        rows_from(examples)


class TestCriteria:
    """What people said of single criteria is read by name, from 0 to 100."""

    @pytest.fixture
    def rows(self):
        return rows_from(examples_with_criteria())

    def test_names_are_recognised_however_they_are_written(self, rows):
        assert list(rows.criteria) == ["fact check", "joy"]
        assert rows.said("FACT_CHECK").tolist() == pytest.approx([0, np.nan, 100, 25], nan_ok=True)

    @pytest.mark.parametrize(
        ("criteria", "message"),
        [
            ({"joy": 101}, r"example 0: joy is 101, outside 0\.\.100"),
            ({"joy": -1}, r"example 0: joy is -1, outside 0\.\.100"),
            ({"joy": float("inf")}, r"example 0: joy is inf, outside 0\.\.100"),
            ("joy", "example 0: criteria are points by name, .*; got 'joy'"),
        ],
    )
    def test_what_is_no_score_of_a_criterion_is_refused(self, criteria, message):
        with pytest.raises(ValueError, match=message):
            rows_from([example(0, criteria=criteria)])


# judge texts

RUBRIC = {
    "task": "Judge a summary.",
    "criteria": [
        {"name": "brevity", "definition": "Is it short?"},
        {"name": "truth", "definition": "Is it true?", "worst": "invented", "best": "checked"},
    ],
}


def test_the_texts_of_every_variant_are_those_that_the_model_reads():
    names = {
        v: list(judge_texts(ActiveCritic(variant=v, rubric=RUBRIC)))
        for v in ("vanilla", "coarse", "fine")
    }
    shared = ["task", "criterion:brevity", "criterion:truth"]
    assert names == {
        "vanilla": ["instructions:grade"],
        "coarse": ["instructions:rate", *shared],
        "fine": ["instructions:assess", "instructions:overall", *shared],
    }


def test_every_text_comes_back_as_it_was_put():
    judge = ActiveCritic(rubric=RUBRIC)
    texts = {
        "instructions:assess": "Look twice.",
        "instructions:overall": "Weigh.",
        "task": "Judge headlines.",
        "criterion:brevity": "Is it one line?\nworst: a page",
        "criterion:truth": "Is nothing invented?",
    }
    changed = with_texts(judge, texts)
    assert judge_texts(changed) == texts
    assert changed.protocol.rubric.criteria[0].worst == "a page"
    assert changed.protocol.rubric.criteria[1].best == ""
    assert changed.protocol.rubric.names == ("brevity", "truth")


def test_demonstrations_repeat_the_new_texts():
    inputs = {"task": "Judge a summary.", "criteria": "old", "source": "s", "response": "r"}
    shown = Demonstration(inputs=inputs, outputs={"score": 10})
    judge = ActiveCritic(variant="coarse", rubric=RUBRIC, demonstrations={"rate": (shown,)})
    changed = with_texts(judge, {"task": "Judge headlines.", "criterion:brevity": "One line?"})
    found = changed.protocol.demonstrations["rate"][0].inputs
    assert found["task"] == "Judge headlines."
    assert found["criteria"].startswith("brevity: One line?")
    assert (found["source"], found["response"]) == ("s", "r")


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"criterion:wit": "Is it?"}, "no text criterion:wit; this judge has instructions:assess"),
        ({"task": "[[ ## score ## ]]"}, "task: it imitates"),
        ({"task": " "}, "task: it is empty"),
        ({"criterion:truth": "best: all"}, "criterion:truth: it has no definition"),
    ],
)
def test_texts_that_cannot_be_are_refused(texts, why):
    with pytest.raises(ValueError, match=why):
        with_texts(ActiveCritic(rubric=RUBRIC), texts)


@for_each(
    "text", ["", "\n", "x" * 4001, "a\ud800", "a\x1b[31m", "［［ ## x", "<verbatim-1>", "a\ue000"]
)
def test_odd_texts_cannot(text):
    assert problem_with(text)


# rows


def test_scores_are_shown_between_the_ends_of_their_scale():
    # The paper's own examples divide by the maximum; 0 is described as worst, so min-max here.
    assert rows_from([example(0), example(4), example(2)]).percent().tolist() == [0.0, 100.0, 50.0]


def test_constant_scores_are_refused_where_something_is_chosen_by_them():
    rows = rows_from([example(0, score=3), example(1, score=3)])
    with pytest.raises(ValueError, match="all 2 validation scores are 3"):
        rows.refuse_constant()
    assert np.ptp(rows.human) == 0


class TestCriteriaRows:
    """What people said of single criteria goes with the rows, by name."""

    @pytest.fixture
    def rows(self):
        return rows_from(examples_with_criteria())

    def test_they_stay_beside_their_rows(self, rows):
        assert rows.take([3, 0]).said("fact check").tolist() == [25, 0]
        left = rows.without([rows.items[0].key])
        assert left.said("fact check").tolist() == pytest.approx([np.nan, 100, 25], nan_ok=True)

    def test_the_table_of_several_targets_has_a_part_for_each_with_the_rows_rated_on_it(self, rows):
        judgements = [
            Judgement(score=10 * n, criteria={"Fact_Check": {"score": n}}) for n in range(4)
        ]
        table = rows.judged(judgements, ("score", "fact check"), judge_scale=PERCENT)
        whole, criterion = table.parts
        assert table.targets == ("score",) * 4 + ("fact check",) * 3
        assert whole.predicted.tolist() == [0, 10, 20, 30]
        assert whole.human.tolist() == rows.human.tolist()
        assert criterion.predicted.tolist() == [0, 2, 3]
        assert criterion.human.tolist() == [0, 100, 25]
        assert criterion.sources.tolist() == ["s0", "s2", "s3"]
        one = rows.judged(judgements, ("fact check",), judge_scale=PERCENT)
        assert (one.targets, one.predicted.tolist()) == ((), [0, 2, 3])


def test_the_table_names_the_scale_of_each_target():
    rows = rows_from(
        [example(n, scale=Scale(low=1, high=5), criteria={"wit": 50}) for n in range(2)]
    )
    judgements = [Judgement(score=3, criteria={"wit": {"score": 40}})] * 2
    likert = rows.scale

    def table(*targets):
        return rows.judged(judgements, targets, judge_scale=likert)

    assert (table("score").scale, table("score").judge_scale) == (likert, likert)
    assert (table("wit").scale, table("wit").judge_scale) == (PERCENT, PERCENT)
    both = table("score", "wit")
    assert both.scale == both.judge_scale == {"score": likert, "wit": PERCENT}
    assert [part.judge_scale for part in both.take(np.array([3, 0])).parts] == [PERCENT, likert]


# row parts


def table(n=24, *, unscored=(), targets=()):
    rng = np.random.default_rng(1)
    predicted = rng.integers(0, 101, n).astype(float)
    predicted[list(unscored)] = np.nan
    return PredictionTable(
        predicted=predicted,
        human=rng.integers(1, 6, n).astype(float),
        sources=np.repeat(np.arange(n // 4), 4),
        systems=np.tile(list("abcd"), n // 4),
        targets=targets,
        n_calls=(1,) * n,
        scale=Scale(low=1, high=5),
        judge_scale=Scale(low=0, high=100),
    )


def test_the_parts_of_a_correlation_are_its_contributions():
    rows = table()
    expected = contributions(
        rows.human,
        rows.predicted,
        sources=rows.sources,
        systems=rows.systems,
        statistic="q",
        level="dataset",
    )
    assert parse_objective("q").row_parts(rows) == pytest.approx(expected)


# A search may show each text its nearest rows; the judge that wins keeps them and their number.

TOPICS = ("ferry", "bridge", "council", "harvest", "violin", "glacier", "market", "library")
TOPICS += ("engine", "garden")


class ByExample:
    """Gives a text the grade of the example on its topic, and 50 where it is shown none."""

    endpoint = "by example"

    def answer(self, request):
        """Answer as the examples say."""
        (topic,) = set(TOPICS) & set(re.findall(r"\w+", request.user))
        messages = request.prefix.messages
        grades = [
            answer.text
            for question, answer in zip(messages[1::2], messages[2::2], strict=True)
            if topic in question.text
        ]
        text = grades[-1] if grades else "[[ ## score ## ]]\n50\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def rows_nearest_candidates(numbers):
    """Return rated texts; what people said depends on the topic alone."""
    return [
        dspy.Example(
            source=f"Report {n} is on the {topic}.",
            context=None,
            response=f"It says of the {topic} what it says, {n}.",
            score=float(1 + place % 5),
            scale=LIKERT,
            group=f"{n} {topic}",
        ).with_inputs("source", "context", "response")
        for n in numbers
        for place, topic in enumerate(TOPICS)
    ]


@pytest.fixture(scope="module")
def found():
    search = ProtocolSearch(
        n_trials=2,
        n_demonstrations=1,
        n_demo_sets=1,
        confirm=None,
        fixed=("variant", "answers", "samples", "weighting", "reduction"),
        first=({N: "1"}, {N: "1", CHOSEN: NEAREST}),
        lm=ClientLM.over(LMClient(ByExample()), "scripted/m", recipe={}),
    )
    student = ActiveCritic(variant="vanilla")
    return search, search.compile(
        student,
        trainset=rows_nearest_candidates(range(3)),
        valset=rows_nearest_candidates(range(3, 6)),
    )


def test_the_nearest_win_where_they_are_what_helps(found):
    search, judge = found
    assert search.trials_[search.taken_].picked == {N: "1", CHOSEN: NEAREST}
    assert judge.protocol.nearest == 1
    assert len(judge.protocol.demonstrations["grade"]) == 30


def test_rows_of_the_pool_are_judged_by_other_rows(found):
    search, judge = found
    shown = rows_nearest_candidates(range(3))[0]
    item = RatedItem(source=shown.source, response=shown.response)
    (judgement,) = score_batch(judge, [item], lm=search.lm)
    assert judgement.score == 0  # as the two others on this topic
