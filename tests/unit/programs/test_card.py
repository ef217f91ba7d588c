"""The card says what a compiled judge is, and claims nothing that was not measured."""

import pytest

from judgesmith.programs import SavedJudge
from judgesmith.programs.artifacts.card import (
    aggregation_text,
    agreement_text,
    judge_card,
    rubric_mark,
)
from judgesmith.signatures import ActiveCriticConfig, Aggregation, Rubric, Scale


def saved(judge, **parts):
    given = {
        "protocol": judge.protocol,
        "questions": judge.templates(),
        "model": "offline",
        "target": "overall",
        "human_scale": Scale(low=1, high=5),
    }
    return SavedJudge(**{**given, **parts})


def estimates(value):
    return {"dataset": {"q": {"value": value, "low": value - 0.1, "high": value + 0.1}}}


def test_it_names_target_scale_model_and_criteria(judge_of):
    card = judge_card(saved(judge_of(shown="a")))
    assert "Judges `overall`, rated by people on 1..5;\nanswers on 0..100." in card
    assert "not a language model" in card
    assert "- **fluency**: Is it well written?" in card
    assert "- demonstrations in `overall`: 2" in card


def test_agreement_stands_in_a_table_with_its_intervals(judge_of):
    agreement = {"uncompiled": estimates(1.0), "selection": None, "heldout": estimates(1.5)}
    card = judge_card(saved(judge_of(), agreement=agreement, rows={"train": 3, "heldout": 4}))
    assert "| level | statistic | uncompiled | heldout |" in card
    assert "| dataset | q | 1.000 [0.900, 1.100] | 1.500 [1.400, 1.600] |" in card
    assert "Rows: 3 train, 4 heldout." in card
    assert "not used to choose" in card


def test_without_held_out_rows_nothing_is_claimed_of_them(judge_of):
    card = judge_card(saved(judge_of(), agreement={"selection": estimates(1.0)}))
    assert "not used to choose" not in card
    assert "Rows:" not in card
    assert "No rows were kept for a report." in judge_card(saved(judge_of()))


@pytest.mark.parametrize(
    ("choices", "lines"),
    [
        ({}, ["- variant: fine", "- score: the model's own overall score"]),
        (
            {"criteria_calls": "separate", "overall": "mean", "explain": "after"},
            [
                "- variant: fine, every criterion in a call of its own, no overall question, "
                "explanations last",
                "- score: the mean of the criteria",
            ],
        ),
        ({"variant": "coarse", "explain": "none"}, ["- variant: coarse, no explanations"]),
        ({"variant": "vanilla"}, ["- variant: vanilla"]),
    ],
)
def test_the_variant_is_told_with_its_choices(judge_of, choices, lines):
    card = judge_card(saved(judge_of(**choices))).split("\n")
    assert [line for line in lines if line not in card] == []


def test_a_judge_without_a_task_says_so(judge_of, rubric):
    card = judge_card(saved(judge_of(rubric=rubric.model_copy(update={"task": ""}))))
    assert "- task: not described" in card


def test_text_of_several_lines_stays_in_its_place(judge_of):
    card = judge_card(saved(judge_of()))
    assert "- task: Judge a summary. It was written for a newspaper." in card


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (None, "undefined"),
        ({"value": None}, "undefined"),
        ({"value": 0.5, "low": None, "high": None}, "0.500"),
        ({"value": -0.5, "low": -1.0, "high": 0.25}, "-0.500 [-1.000, 0.250]"),
    ],
)
def test_an_estimate_is_shown_with_what_is_known_of_it(estimate, text):
    assert agreement_text(estimate) == text


def test_the_strongest_learned_weights_come_first():
    n = 10
    learned = Aggregation(
        kind="linear",
        terms=[f"lexical:{place}" for place in range(n)],
        centers=[0] * n,
        spreads=[1] * n,
        weights=[(-1) ** place * place for place in range(n)],
    )
    text = aggregation_text(learned)
    assert text.startswith("learned weights per standard deviation: -9.000 lexical:9, +8.000 lex")
    assert text.endswith("and 2 more")
    assert aggregation_text(Aggregation()) == "the model's own overall score"
    assert aggregation_text(Aggregation(kind="mean")) == "the mean of the criteria"


def test_criteria_that_people_rated_have_a_table_of_their_own(judge_of):
    def pearson(value):
        return {"dataset": {"pearson": {"value": value, "low": 0.0, "high": 1.0, "n": 7}}}

    agreement = {
        "criteria": {
            "uncompiled": {"flu|ency": pearson(0.25)},
            "heldout": {"flu|ency": pearson(0.5), "tone": pearson(None), "wit": None},
        }
    }
    card = judge_card(saved(judge_of(), agreement=agreement))
    assert "| flu/ency | 7 | 0.250 [0.000, 1.000] | 0.500 [0.000, 1.000] |" in card
    assert "| tone | 7 | undefined | undefined |" in card
    assert "| wit | 0 | undefined | undefined |" in card


def test_the_judge_it_started_from_is_named(judge_of):
    card = judge_card(saved(judge_of(), settings={"earlier": "0123456789ab"}))
    assert "- started from the judge with the fingerprint `0123456789ab`" in card


def test_an_inferred_rubric_says_from_what(judge_of, rubric):
    batches = [{"rows": {"a": "row 1", "b": "row 2"}}, {"rows": {"b": "row 2", "c": "row 3"}}]
    learned = {"task": {"batches": [1]}, "criteria": {"fluency": {"batches": [1, 2]}}}
    whole = rubric.model_copy(update={"provenance": {**learned, "batches": batches}})
    card = judge_card(saved(judge_of(), protocol=ActiveCriticConfig(rubric=whole)))
    assert "- task and criteria inferred from 3 rated rows in 2 batches" in card
    half = {"task": {"batches": [1]}, "criteria": {"fluency": "general"}, "batches": batches}
    whole = rubric.model_copy(update={"provenance": half})
    assert "- task inferred from 3" in judge_card(
        saved(judge_of(), protocol=ActiveCriticConfig(rubric=whole))
    )


@pytest.mark.parametrize("odd", [{"batches": 3}, {"task": {"batches": [1]}, "batches": "two"}, {}])
def test_a_rubric_that_people_wrote_says_nothing_of_it(judge_of, rubric, odd):
    whole = rubric.model_copy(update={"provenance": odd})
    card = judge_card(saved(judge_of(), protocol=ActiveCriticConfig(rubric=whole)))
    assert "inferred" not in card


def test_an_inferred_rubric_that_was_edited_says_so(judge_of, rubric):
    learned = {"task": {"batches": [1]}, "batches": [{"rows": {"a": "row 1"}}]}
    marked = rubric.model_copy(update={"provenance": {**learned, "mark": rubric_mark(rubric)}})
    card = judge_card(saved(judge_of(), protocol=ActiveCriticConfig(rubric=marked)))
    assert "task inferred from 1 rated rows in 1 batches;" in card
    edited = marked.model_copy(update={"task": "Judge something else."})
    card = judge_card(saved(judge_of(), protocol=ActiveCriticConfig(rubric=edited)))
    assert "task inferred from 1 rated rows in 1 batches and edited since;" in card


def test_what_the_ends_of_a_criterion_mean_is_shown(judge_of):
    ends = {"definition": "Does it help?", "worst": "of no use", "best": "all one needs"}
    rubric = Rubric(task="Judge it.", criteria={"use": ends})
    card = judge_card(saved(judge_of(), protocol=ActiveCriticConfig(rubric=rubric)))
    assert "- **use**: Does it help? (0 means: of no use; 100 means: all one needs)" in card


def test_how_answers_become_numbers_is_shown_where_it_is_not_usual(judge_of):
    assert "by probability" not in judge_card(saved(judge_of()))
    weighed = judge_of(weighting="probabilities").protocol
    card = judge_card(saved(judge_of(weighting="probabilities"), protocol=weighed))
    assert "- its numbers are means of all that the model might have answered" in card
    several = judge_of(samples=3, reduction="median").protocol
    card = judge_card(saved(judge_of(samples=3), protocol=several))
    assert "- every question is asked 3 times: the median counts" in card


def test_a_search_says_which_choices_told_judges_apart(judge_of):
    shares = {"answers": 0.61, "variant": 0.39, "odd": "none"}
    history = ({"stage": "importances", "objective": "q", "shares": shares}, {"stage": "protocol"})
    card = judge_card(saved(judge_of(), history=history))
    assert "apart by q, by PED-ANOVA: answers 61%, variant 39%\n" in card
