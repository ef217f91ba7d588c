"""Answers of models: a score on the scale or a reason why there is none; nothing else."""

import functools

from draws import TEXTS, Draws, mutated
from scripted_steps import program_of

from judgesmith.programs import ActiveCritic
from judgesmith.programs.judging.answers import read_answer, read_field, read_json
from judgesmith.programs.judging.program import ModelReply, PromptRequest, answered
from judgesmith.signatures import Rubric
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.scale import read_points, whole

PIECES = (
    *TEXTS,
    "[[ ## explanation ## ]]\n",
    "[[ ## assessments ## ]]\n",
    "**[[ ## score ## ]]** 85",
    '[{"criterion": "fluency", "explanation": "x", "score": 70},',
    '{"criterion": "Fact_Check", "explanation": "y", "score": "85/100"}]',
    '{"fluency": {"score": 1}, "fact check": {"score": NaN}}',
    '{"score": Infinity}',
    '{"score": 85, "score": 90}',
    "Score (0-100): **85** out of 100.",
    "```\n",
    "assessments",
    "\\ud800",
)
WHOLE = (
    "[[ ## explanation ## ]]\nIt is fine.\n\n[[ ## score ## ]]\n70\n\n[[ ## completed ## ]]",
    '[[ ## assessments ## ]]\n[{"criterion": "fluency", "explanation": "x", "score": 70}, '
    '{"criterion": "Fact_Check", "explanation": "y", "score": 55.5}]\n\n[[ ## completed ## ]]',
    '```json\n{"explanation": "Brief.", "score": "85/100"}\n```',
    '{"assessments": {"fluency": {"score": 60, "explanation": "a"}, '
    '"Fact_Check": {"score": 20, "explanation": "b"}}}',
    "- fluency: 60\n- Fact_Check: 20",
)
CHOICES = (
    {"variant": "fine"},
    {"variant": "fine", "criteria_calls": "separate", "overall": "mean", "explain": "after"},
    {"variant": "coarse"},
    {"variant": "vanilla", "samples": 2},
)


@functools.cache
def _judge(place: int) -> tuple:
    criteria = {"fluency": "Is it well written?", "Fact_Check": "Is it true?"}
    judge = ActiveCritic(rubric=Rubric(task="Judge.", criteria=criteria), **CHOICES[place])
    return judge.protocol, judge.templates()


def _answer(draws: Draws) -> str:
    if draws.flag():
        return draws.text(8, among=PIECES)
    return mutated(draws, draws.of(WHOLE).encode()).decode("utf-8", "replace")


def fuzz_one(data: bytes) -> None:
    """Judge one text with a model that answers anything; read values by themselves."""
    draws = Draws(data)
    protocol, questions = _judge(draws.below(len(CHOICES)))
    steps = program_of(protocol, source="Ann left Rome.", response="Ann left.")

    def reply(ask: PromptRequest) -> ModelReply:
        try:
            return ModelReply(fields=questions[ask.predictor].read(_answer(draws)), call="00")
        except ValueError as fault:
            return ModelReply(cause=Cause(Reason.UNREADABLE, str(fault)), call="00")

    judgement = answered(steps, reply)
    assert (judgement.score is None) != (judgement.problem is None)
    points = [judgement.score, *(one.score for one in judgement.criteria.values())]
    assert all(one is None or 0 <= one <= 100 for one in points)
    judgement.model_dump_json().encode()
    text = draws.text(8, among=PIECES)
    for read in (
        lambda: whole(read_points(text)),
        lambda: read_json(text, list[str]),
        lambda: read_field(text, list[str]),
        lambda: read_answer(text, {"criteria": list[str], "notes": str}),
        lambda: read_answer(text, {"score": int}),
    ):
        try:
            read()
        except ValueError as fault:
            assert len(str(fault)) < 5_000
