"""The rules of Active-Critic's self-optimisation (stage 3); those that we settled say "ours"."""

import json
import math
import re

import dspy
import numpy as np
import pytest
from scipy import stats

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.split import parts_of
from judgesmith.optimizers import RandomDemonstrationSearch
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.optimizers.rows import pool_and_selection, rows_from, split_by_source
from judgesmith.optimizers.space.demonstrations import Pool, demonstration_plan, kept_runs
from judgesmith.optimizers.trials import TrialRecord
from judgesmith.programs import ActiveCritic
from judgesmith.programs.judging.adapter import LEFT_OUT
from judgesmith.programs.lm import LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import ActiveCriticConfig, CriterionScore, Judgement, Rubric, Scale
from judgesmith.signatures.items import text_key

pytestmark = pytest.mark.no_cover

PERCENT = Scale(low=0, high=100)
RUBRIC = Rubric(task="t", criteria={"a": "Is it A?", "b": "Is it B?"})


def table(predicted, human):
    return PredictionTable(
        predicted=np.asarray(predicted, float),
        human=np.asarray(human, float),
        sources=np.arange(len(human)),
        systems=np.asarray(["m"] * len(human)),
    )


def q(predicted, human):
    return Agreement("q").value(table(predicted, human))


def examples(n, **criteria):
    """Rated rows whose texts tell their scores, two to a source."""
    return [
        dspy.Example(
            source=f"source {i // 2}",
            context=None,
            response=f"rated {i * 37 % 101}",
            score=float(i * 37 % 101),
            scale=PERCENT,
            group=i // 2,
            criteria=criteria,
        ).with_inputs("source", "context", "response")
        for i in range(n)
    ]


class Engine:
    """Answers with what a rule makes of the score that a text tells, and of what is shown."""

    endpoint = "scripted"

    def __init__(self, rule):
        self.rule = rule
        self.asked = []  # of each question, how many demonstrations it showed, and its text

    def answer(self, request):
        shown = [one.text for one in request.prefix.messages if one.role == "user"]
        self.asked.append((tuple(shown), request.user))
        said = self.rule(int(re.search(r"\nrated (\d+)\n", request.user)[1]), shown)
        text = f"[[ ## explanation ## ]]\nso\n\n[[ ## score ## ]]\n{said}"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def searched(rule, n=60, variant="vanilla", trainset=None, **settings):
    """Return the judge that a search finds, the search, and the engine that it asked."""
    engine = Engine(rule)
    lm = ClientLM.over(LMClient(engine), "scripted", recipe={})
    search = RandomDemonstrationSearch(lm=lm, **settings)
    student = ActiveCritic(variant=variant, rubric=RUBRIC)
    judge = search.compile(student, trainset=trainset or examples(n))
    return judge, search, engine


# -- the objective ---------------------------------------------------------------------------


def test_the_objective_is_q_at_the_level_of_the_whole_data_set():
    assert CompileSettings().objective == "q"
    assert Agreement() == Agreement("q", "dataset") == RandomDemonstrationSearch().objective


def test_q_is_the_sum_of_pearson_spearman_and_kendall_over_the_whole_list():
    predicted, human = [10, 30, 20, 90, 50], [1, 2, 3, 5, 4]
    parts = (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    assert q(predicted, human) == pytest.approx(sum(f(predicted, human)[0] for f in parts))
    assert q(human, human) == pytest.approx(3)
    assert q([-one for one in human], human) == pytest.approx(-3)


def test_ours_kendalls_tau_is_tau_b_because_human_ratings_tie():
    predicted, human = [1, 2, 3, 4, 5], [1, 1, 2, 2, 2]
    found = Agreement("kendall").value(table(predicted, human))
    assert found == pytest.approx(stats.kendalltau(predicted, human, variant="b")[0])
    assert found != pytest.approx(stats.kendalltau(predicted, human, variant="c")[0])


@pytest.mark.parametrize(
    ("predicted", "human"),
    [([50, 50, 50], [1, 2, 3]), ([1, 2], [1, 2]), ([1, 2, math.nan], [1, 2, 3]), ([math.nan], [1])],
    ids=["constant", "two", "two scored", "none scored"],
)
def test_ours_any_of_the_three_undefined_makes_q_undefined(predicted, human):
    assert math.isnan(q(predicted, human))


def trial(value, *, n=3, share=1.0):
    return TrialRecord(
        n_demonstrations=n, n_bootstrapped=0, keys=(), value=value, share_scored=share
    ).rank


def test_ours_undefined_ranks_below_every_defined_candidate():
    assert trial(math.nan, n=0) < trial(-3.0)
    judge, search, _ = searched(lambda points, shown: points if shown else 50, n_trials=2)
    assert math.isnan(search.trials_[0].value)
    assert judge.protocol.demonstrations


def test_ours_constant_human_scores_are_refused_before_anything_is_asked():
    engine = Engine(lambda points, shown: points)
    lm = ClientLM.over(LMClient(engine), "scripted", recipe={})
    rated = [one.copy(score=3.0) for one in examples(40)]
    with pytest.raises(ValueError, match="agreement with a constant is undefined"):
        RandomDemonstrationSearch(lm=lm).compile(ActiveCritic(variant="vanilla"), trainset=rated)
    assert not engine.asked


def test_ours_so_are_those_of_the_rows_to_choose_by_before_the_task_is_inferred(tmp_path):
    place = tmp_path / "rated.jsonl"
    odd = {"s3", "s4"}  # the others, on which nothing could be chosen, are all rated 3
    rated = [
        {"source_id": f"s{s}", "source": f"About {s}.", "response": f"It is {s} {k}."}
        | {"human": {"overall": [3 + (f"s{s}" in odd and k)]}, "scale": {"overall": [1, 5]}}
        for s in range(12)
        for k in range(3)
    ]
    place.write_text("".join(json.dumps(one) + "\n" for one in rated))
    engine = Engine(lambda points, shown: points)
    lm = ClientLM.over(LMClient(engine), "scripted", recipe={})
    with pytest.raises(ValueError, match="agreement with a constant is undefined"):
        compile_judge(read_items(place), CompileSettings(), lm=lm)
    assert not engine.asked


def test_ours_of_equal_q_the_one_with_fewer_demonstrations_wins_then_the_earlier_one():
    assert trial(1.0, n=2) > trial(1.0, n=3)
    judge, search, _ = searched(lambda points, shown: points, n_trials=4)
    assert [one.value for one in search.trials_] == pytest.approx([3.0] * 4)
    assert not judge.protocol.demonstrations
    judge, search, _ = searched(lambda points, shown: points if shown else points % 7, n_trials=4)
    assert (
        tuple(one.key for one in judge.protocol.demonstrations["grade"]) == search.trials_[1].keys
    )
    assert len({one.keys for one in search.trials_}) == 4


def test_ours_unscored_items_leave_the_correlations_and_are_counted():
    judged = table([10, math.nan, 30, 50], [1, 9, 3, 5])
    assert Agreement("q").value(judged) == pytest.approx(q([10, 30, 50], [1, 3, 5]))
    assert (judged.n_unscored, judged.share_scored) == (1, 0.75)


def test_ours_a_candidate_that_scores_under_95_percent_ranks_below_those_that_reach_it():
    assert trial(-3.0, share=0.95) > trial(3.0, share=0.949)
    assert trial(math.nan, share=0.95) > trial(3.0, share=0.949)

    def failing_on_hard_items(points, shown):
        if shown:
            return points if points > 30 else "I cannot say"
        return points if points % 5 else 3

    judge, search, _ = searched(failing_on_hard_items, n_trials=3)
    assert search.trials_[1].value > search.trials_[0].value
    assert search.trials_[1].share_scored < 0.95
    assert not judge.protocol.demonstrations


# -- the search ------------------------------------------------------------------------------


def test_by_default_11_sets_of_3_demonstrations_are_tried_and_both_are_parameters():
    _, search, _ = searched(lambda points, shown: points)
    assert [one.n_demonstrations for one in search.trials_] == [0] + [3] * 10
    _, search, _ = searched(lambda points, shown: points, n_trials=4, n_demonstrations=8, n=160)
    assert [one.n_demonstrations for one in search.trials_] == [0, 8, 8, 8]


def test_ours_a_round_is_one_set_scored_on_all_selection_rows_which_are_the_same_for_all():
    _, search, engine = searched(lambda points, shown: points, n_trials=5)
    asked = {}
    for shown, text in engine.asked:
        asked.setdefault(shown, set()).add(text)
    assert len(asked) == 5
    assert len({frozenset(texts) for texts in asked.values()}) == 1
    assert [one.share_scored for one in search.trials_] == [1.0] * 5


def test_ours_the_first_round_shows_no_demonstrations_and_the_second_labelled_ones_only():
    plan = list(demonstration_plan(3, 11, np.random.default_rng(0)))
    assert plan[:2] == [(0, 0), (3, 0)]


def test_ours_the_count_is_the_total_and_the_bootstrapped_share_is_drawn_from_none_to_all():
    plan = list(demonstration_plan(3, 400, np.random.default_rng(0)))[2:]
    assert {n for n, _ in plan} == {3}
    assert {n_bootstrapped for _, n_bootstrapped in plan} == {0, 1, 2, 3}
    assert len(pool().draw(protocol(), 3, 2, np.random.default_rng(0))["overall"]) == 3


# -- demonstrations --------------------------------------------------------------------------


def protocol(**choices):
    return ActiveCriticConfig(rubric=RUBRIC, **choices)


def run(raw, **criteria):
    scores = {"a": raw, "b": raw} | criteria
    return Judgement(
        score=raw,
        raw=raw,
        explanation=f"because of {raw}",
        criteria={
            name: CriterionScore(score=s, explanation=f"{name}!") for name, s in scores.items()
        },
    )


def pool(n=30, runs=range(10), *, partial_demos=False, **criteria):
    rated = rows_from(examples(n, **criteria))
    return Pool(rows=rated, runs={i: run(40.0) for i in runs}, partial_demos=partial_demos)


def kinds(source, chosen, n=4, n_bootstrapped=2):
    shown = source.draw(chosen, n, n_bootstrapped, np.random.default_rng(0))
    return {question: sorted(one.kind for one in several) for question, several in shown.items()}


BOTH = ["bootstrapped"] * 2 + ["labelled"] * 2


def test_ours_overall_and_coarse_get_both_kinds_vanilla_labelled_ones_criteria_bootstrapped_ones():
    assert kinds(pool(), protocol(variant="vanilla")) == {"grade": ["labelled"] * 4}
    assert kinds(pool(), protocol(variant="coarse")) == {"rate": BOTH}
    assert kinds(pool(), protocol()) == {"assess": ["bootstrapped"] * 2, "overall": BOTH}
    alone = kinds(pool(), protocol(criteria_calls="separate", overall="mean"))
    assert alone == {"assess_1": ["bootstrapped"] * 2, "assess_2": ["bootstrapped"] * 2}


def test_ours_criteria_get_labelled_ones_too_where_people_scored_every_criterion():
    assert kinds(pool(a=20, b=30), protocol())["assess"] == BOTH
    assert kinds(pool(a=20), protocol())["assess"] == ["bootstrapped"] * 2
    separate = kinds(pool(a=20), protocol(criteria_calls="separate"))
    assert (separate["assess_1"], separate["assess_2"]) == (BOTH, ["bootstrapped"] * 2)


def test_ours_partial_demos_show_criteria_the_overall_score_alone():
    shown = pool(partial_demos=True).draw(protocol(), 3, 0, np.random.default_rng(0))
    for one in shown["assess"]:
        (record,) = one.outputs["assessments"]
        human = int(one.inputs["response"].removeprefix("rated "))
        assert record == {"criterion": "overall", "explanation": LEFT_OUT, "score": human}


def test_a_labelled_one_is_the_row_with_its_human_score():
    (one,) = pool().draw(protocol(), 1, 0, np.random.default_rng(0))["overall"]
    assert one.outputs == {"score": int(one.inputs["response"].removeprefix("rated "))}


def test_a_bootstrapped_one_also_shows_criteria_scores_and_ours_keeps_the_runs_own_score():
    shown = pool().draw(protocol(), 1, 1, np.random.default_rng(0))
    assert [one["score"] for one in shown["assess"][0].outputs["assessments"]] == [40, 40]
    (one,) = shown["overall"]
    assert one.inputs["assessments"] == "- a: 40. a!\n- b: 40. b!"
    assert one.outputs == {"explanation": "because of 40.0", "score": 40}


def kept(distances):
    rated = rows_from([one.copy(score=50.0) for one in examples(len(distances))])
    return set(kept_runs(rated, [run(50.0 + gap) for gap in distances]))


def test_ours_a_teachers_run_is_kept_within_10_points_of_people():
    assert kept([0.0, -10.0, 10.0] * 10 + [10.1, -11.0]) == set(range(30))


def test_ours_of_too_few_runs_the_nearest_are_kept_up_to_25():
    assert kept([1.0] + [20.0] * 10 + [12.0] * 20) == {0, *range(11, 31), *range(1, 5)}


def test_ours_the_uncompiled_judge_is_the_teacher():
    _, search, engine = searched(lambda points, shown: points, n=60, variant="coarse", n_trials=6)
    bare = [text for shown, text in engine.asked if not shown]
    assert len(bare) == 60  # the pool for its runs, and the others as the first candidate
    assert any(one.n_bootstrapped for one in search.trials_)


# -- against leakage -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_sources", "n_demonstrations", "n_pool"), [(100, 3, 20), (40, 3, 12), (10, 8, 5)]
)
def test_ours_the_pool_is_a_fifth_at_least_4_rows_per_demonstration_and_at_most_half(
    n_sources, n_demonstrations, n_pool
):
    pool, selection = pool_and_selection(
        range(n_sources),
        range(n_sources),
        n_demonstrations=n_demonstrations,
        rng=np.random.default_rng(0),
    )
    assert len(pool) == n_pool
    assert len(selection) == n_sources - n_pool


def test_ours_rows_that_are_shown_and_rows_to_choose_by_share_no_source():
    _, search, engine = searched(lambda points, shown: points if shown else 1)
    asked = {re.search(r"source \d+", text)[0] for _, text in engine.asked}
    shown = {one for texts, _ in engine.asked for one in re.findall(r"source \d+", "".join(texts))}
    assert shown
    assert not shown & asked
    everything = {text_key(one["source"], None, one["response"]) for one in examples(60)}
    assert {key for one in search.trials_ for key in one.keys} <= everything


def compiled(**settings):
    items = read_items("sample")
    return items, compile_judge(items, CompileSettings(n_trials=2, **settings))


def test_ours_the_optimism_gap_is_reported_q_on_selection_against_held_out_rows():
    _, found = compiled()
    chosen, held = (
        found.saved.agreement.plain[part]["dataset"]["q"] for part in ("selection", "heldout")
    )
    gap = found.saved.agreement.plain["optimism"]["dataset"]["q"]
    assert gap == pytest.approx(chosen["value"] - held["value"])


def test_ours_no_source_is_in_two_of_the_parts_to_show_to_choose_by_and_to_report_on():
    items = read_items("sample")
    settings = CompileSettings()
    parts = parts_of(items, chosen_targets(items, settings), settings)
    several = [set(part.groups.tolist()) for part in (parts.pool, parts.selection, parts.heldout)]
    assert sum(map(len, several)) == len(set.union(*several)) == len(set(items.groups.tolist()))


def test_the_papers_protocol_tunes_on_25_percent_of_the_rows_whatever_their_source():
    groups = np.arange(400) // 16
    parts = split_by_source(
        groups, np.arange(400), holdout=0.75, rng=np.random.default_rng(0), rows=True
    )
    assert (len(parts.tuning), len(parts.heldout)) == (100, 300)
    assert set(groups[parts.tuning]) & set(groups[parts.heldout])
    _, found = compiled(holdout=0.75, split_rows=True)
    assert found.saved.rows["heldout"] == 120
    assert found.saved.rows["train"] + found.saved.rows["select"] == 40
    assert not set(found.saved.seen["train"]) & set(found.saved.seen["select"])


def test_ours_rows_are_split_by_source():
    groups = np.arange(400) // 16
    parts = split_by_source(groups, np.arange(400), holdout=0.75, rng=np.random.default_rng(0))
    assert not set(groups[parts.tuning]) & set(groups[parts.heldout])
    assert len(parts.tuning) == pytest.approx(100, abs=16)
