"""A judge on any scale: what it asks, how answers are read, and what demonstrations show."""

import itertools

import numpy as np
import pytest

from judgesmith.metrics import spearman
from judgesmith.programs import ActiveCritic, SavedJudge, score_batch
from judgesmith.programs.families.active_critic import assessments_text
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.signatures import (
    ActiveCriticConfig,
    CriterionScore,
    Demonstration,
    RatedItem,
    Rubric,
    Scale,
)
from judgesmith.signatures.questions.on_scale import answers_of
from judgesmith.signatures.scale import level_of, percent_of

FIVE = Scale(low=1, high=5)
TEN = Scale(low=1, high=10)
WORDS = Scale.categorical("poor", "fair", "good")
SIGNED = Scale(low=-2, high=2)
SCALES = {"1..5": FIVE, "1..10": TEN, "words": WORDS, "-2..2": SIGNED}
RUBRIC = Rubric(
    task="Judge a summary.",
    criteria={"faithful": {"definition": "Is all of it true?", "worst": "made up", "best": "true"}},
)
SOURCE = "The bridge opened on Monday. It cost five million and took three years to build."
RESPONSES = [
    "The bridge opened on Monday.",
    "The bridge opened on Monday. It cost five million.",
    "Bananas are cheap in Paris, said Napoleon in 1999.",
    "bridge bridge bridge bridge",
    "It cost five million and took three years to build.",
]
ITEMS = [RatedItem(source=SOURCE, response=response) for response in RESPONSES]
FORMS = [
    {"variant": "vanilla"},
    {"variant": "coarse"},
    {"variant": "coarse", "explain": "none"},
    {"variant": "fine"},
    {"variant": "fine", "explain": "after"},
    {"variant": "fine", "explain": "none", "overall": "mean"},
    {"variant": "fine", "criteria_calls": "separate"},
]


def judge_on(scale, **form):
    return ActiveCritic(rubric=RUBRIC, answers=scale, **form)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(form.values()))
def test_every_item_is_scored_on_a_level_of_the_scale_and_told_in_percent(name, form):
    scale = SCALES[name]
    levels = {percent_of(level_of(share, scale), scale) for share in range(101)}
    found = score_batch(judge_on(scale, **form), ITEMS)
    assert [one.problem for one in found] == [None] * len(ITEMS)
    for one in found:
        scores = [one.raw, *(part.score for part in one.criteria.values())]
        assert all(any(abs(score - level) < 1e-9 for level in levels) for score in scores)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SCALES)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(form.values()))
def test_templates_give_the_bytes_that_dspy_sends_and_read_what_it_reads(name, form):
    judge = judge_on(SCALES[name], **form)
    inputs = {"source": SOURCE, "context": None, "response": RESPONSES[0], "assessments": "- a: 1."}
    for question, predictor in judge.named_predictors():
        template = judge.templates()[question]
        given = {**judge.fixed_inputs(question), **inputs}
        wanted = {key: given[key] for key in predictor.signature.input_fields}
        messages = FencedAdapter().format(predictor.signature, predictor.demos, wanted)
        assert messages[0]["content"] == template.turns[0].text
        assert messages[-1]["content"] == template.render(inputs)
        assert template.answers == answers_of(predictor.signature) == SCALES[name]


def test_a_saved_judge_keeps_its_scale_and_refuses_questions_on_another(tmp_path):
    judge = judge_on(FIVE)
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model="offline",
        target="overall",
        human_scale="1..5",
    )
    loaded = SavedJudge.load(saved.save(tmp_path / "judge"))
    assert loaded.protocol.answers == FIVE
    assert score_batch(loaded, ITEMS) == score_batch(judge, ITEMS)
    other = judge.protocol.model_copy(update={"answers": Scale(low=0, high=100)})
    with pytest.raises(ValueError, match=r"asks for scores on 1\.\.5; the judge reads them on 0"):
        SavedJudge.model_validate({**dict(saved), "protocol": other})


def test_coarser_scales_order_texts_much_as_the_finest_does():
    fine = [one.raw for one in score_batch(judge_on(Scale(low=0, high=100)), ITEMS)]
    for scale in (FIVE, TEN):
        coarse = [one.raw for one in score_batch(judge_on(scale), ITEMS)]
        assert spearman(fine, coarse) > 0.7


def test_ends_of_criteria_and_assessments_are_worded_on_the_scale():
    assert criteria_text(RUBRIC, FIVE) == (
        "faithful: Is all of it true? 1 means: made up. 5 means: true."
    )
    assert "poor means: made up. good means: true." in criteria_text(RUBRIC, WORDS)
    assessed = {"a": CriterionScore(score=75, explanation="So so.")}
    assert assessments_text(assessed, FIVE) == "- a: 4. So so."
    assert assessments_text(assessed, WORDS) == "- a: fair. So so."  # halves go to the middle


@pytest.mark.parametrize(
    ("answer", "scale", "percent"),
    [
        ("4", FIVE, 75.0),
        ("**4/5**", FIVE, 75.0),
        ("Score: 3 out of 5", FIVE, 50.0),
        ("3.5", FIVE, 62.5),
        ("10 / 10", TEN, 100.0),
        ("-1", SIGNED, 25.0),
        ("Fair.", WORDS, 50.0),
        ("**good**", WORDS, 100.0),
    ],
)
def test_answers_are_read_leniently_on_their_scale(answer, scale, percent):
    template = judge_on(scale, variant="vanilla").templates()["grade"]
    found = template.read(f"[[ ## score ## ]]\n{answer}\n\n[[ ## completed ## ]]")
    assert percent_of(found["score"], scale) == pytest.approx(percent)


@pytest.mark.parametrize(
    ("answer", "scale"),
    [("6", FIVE), ("0", FIVE), ("4/10", FIVE), ("excellent", WORDS), ("fair or good", WORDS)],
)
def test_answers_that_are_none_on_the_scale_are_refused(answer, scale):
    template = judge_on(scale, variant="vanilla").templates()["grade"]
    with pytest.raises(ValueError, match=r"expected|outside"):
        percent_of(template.read(f"[[ ## score ## ]]\n{answer}")["score"], scale)


def test_demonstrations_shift_the_offline_model_on_every_scale():
    low = {"source": SOURCE, "context": None, "response": RESPONSES[0]}
    for scale in SCALES.values():
        scores = []
        for percent in (0, 100):
            shown = [
                Demonstration(
                    inputs={**low, "response": f"{response} {n}"},
                    outputs={"score": level_of(percent, scale)},
                )
                for n, response in itertools.product(range(4), RESPONSES[:2])
            ]
            judge = judge_on(scale, variant="vanilla", demonstrations={"grade": shown})
            scores.append(np.mean([one.raw for one in score_batch(judge, ITEMS)]))
        assert scores[0] < scores[1]


@pytest.mark.no_cover
@pytest.mark.parametrize("share", range(0, 101, 5))
@pytest.mark.parametrize("name", SCALES)
def test_a_level_is_the_one_nearest_to_what_is_meant(share, name):
    scale = SCALES[name]
    levels = scale.labels or range(int(scale.low), int(scale.high) + 1)
    distance = abs(percent_of(level_of(share, scale), scale) - share)
    assert distance == pytest.approx(min(abs(percent_of(one, scale) - share) for one in levels))


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({"low": 0.5, "high": 5}, "at most 101 whole points"),
        ({"low": 0, "high": 1000}, "at most 101 whole points"),
        ({"low": 0, "high": 5, "higher_is_better": False}, "which counts faults"),
        (Scale.categorical("poor", "[[ ## score ## ]]"), "must be one line of text"),
        (Scale.categorical("poor", "very\ngood"), "must be one line of text"),
    ],
)
def test_scales_that_nobody_can_answer_on_are_refused(scale, message):
    with pytest.raises(ValueError, match=message):
        ActiveCriticConfig(answers=scale)
