import dspy
import numpy as np
import pytest

from judgesmith.optimizers.rows import rows_of
from judgesmith.optimizers.space.demonstrations import (
    FEWEST_KEPT,
    Pool,
    demonstration_plan,
    kept_runs,
)
from judgesmith.programs import ActiveCritic
from judgesmith.programs.judging.adapter import PARTIAL
from judgesmith.programs.judging.answers import LEFT_OUT
from judgesmith.signatures import ActiveCriticConfig, CriterionScore, Judgement, Scale

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
    return rows_of(
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
    return rows_of(
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


def test_the_bootstrapped_share_of_later_rounds_is_drawn_from_none_to_all():
    plan = list(demonstration_plan(3, 400, np.random.default_rng(0)))
    assert {bootstrapped for _, bootstrapped in plan[2:]} == {0, 1, 2, 3}


def test_the_count_is_the_total_per_prompt():
    shown = pool(20, range(10)).draw(FINE, 4, 3, np.random.default_rng(0))
    assert [one.kind for one in shown["overall"]].count("bootstrapped") == 3
    assert len(shown["overall"]) == 4
    assert len({one.key for one in shown["overall"]}) == 4


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


def test_without_bootstrapped_ones_the_criteria_question_shows_none():
    assert set(pool(9, []).draw(FINE, 3, 2, np.random.default_rng(0))) == {"overall"}


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


def test_equal_generators_draw_equal_demonstrations():
    draws = [pool(20, range(9)).draw(FINE, 4, 2, np.random.default_rng(5)) for _ in range(2)]
    assert draws[0] == draws[1]


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

    @pytest.mark.parametrize("choices", CHOICES)
    @pytest.mark.parametrize("explain", ["before", "after", "none"])
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

    def test_a_task_that_is_not_described_is_not_shown(self):
        rubric = FINE.rubric.model_copy(update={"task": ""})
        for protocol in (
            ActiveCriticConfig(rubric=rubric),
            ActiveCriticConfig(rubric=rubric, variant="coarse"),
        ):
            shown = pool(9, range(9)).draw(protocol, 3, 2, np.random.default_rng(0))
            assert not any("task" in one.inputs for many in shown.values() for one in many)


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

    def test_names_are_recognised_as_people_write_them(self):
        examples = [
            dspy.Example(source="s", response="r", score=1, criteria={"**Fact_Check** ": 30})
        ]
        drawn = Pool(rows=rows_of(examples, Scale(low=0, high=4)), runs={})
        protocol = ActiveCriticConfig(rubric={"criteria": {"fact check": "Is it true?"}})
        shown = drawn.draw(protocol, 1, 0, np.random.default_rng(0))
        (record,) = shown["assess"][0].outputs["assessments"]
        assert (record["criterion"], record["score"]) == ("fact check", 30)


class TestRunsOfATeacherOfAnotherKind:
    def test_a_run_without_the_criteria_that_are_asked_for_is_not_kept(self):
        names = FINE.rubric.names
        coarse = Judgement(score=40, raw=40, explanation="why")
        other = run(40, criteria={"joy": {"score": 40}})
        assert kept_runs(rows(3), [run(40), coarse, run(40)], criteria=names).keys() == {0, 2}
        assert kept_runs(rows(3), [run(40), other, run(40)], criteria=names).keys() == {0, 2}
        assert kept_runs(rows(3), [run(40), coarse, other]).keys() == {0, 1, 2}

    def test_criteria_that_nobody_asks_for_are_not_shown(self):
        more = {"joy": {"score": 5, "explanation": "no"}, **run(40).criteria}
        runs = {0: run(40, criteria=more)}
        shown = Pool(rows=rows(5), runs=runs).draw(FINE, 1, 1, np.random.default_rng(0))
        names = [one["criterion"] for one in shown["assess"][0].outputs["assessments"]]
        assert names == list(FINE.rubric.names)
        assert "joy" not in shown["overall"][0].inputs["assessments"]

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
        drawn = rows_of(examples, Scale(low=1, high=5), percent_of_max=percent_of_max)
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
