import dspy
import numpy as np
import pytest

from judgesmith.optimizers.drawing import FEWEST_KEPT, Pool, demonstration_plan, kept_runs
from judgesmith.optimizers.rows import rows_of
from judgesmith.signatures import Judgement, Protocol, Scale

FINE = Protocol()
VANILLA = Protocol(variant="vanilla")


def rows(n):
    return rows_of(
        [
            dspy.Example(source=f"s{i}", context=None, response=f"r{i}", score=i % 5, group=i)
            for i in range(n)
        ],
        Scale(low=0, high=4),
    )


def run(raw, explanation="why"):
    criteria = {name: {"score": raw, "explanation": "so"} for name in FINE.rubric.names}
    return Judgement(score=raw, raw=raw, explanation=explanation, criteria=criteria)


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
