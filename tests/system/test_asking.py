"""What models are asked, to the byte: every question of every kind of judge, as it is sent.

On file stands, for each question, one request in clear, and a digest of all that came with the same
system message. Requests are those that reached a server.
"""

import json

import pytest
from locking import digest

import judgesmith
from judgesmith.programs import (
    PanelJudge,
    ResponsePair,
    Supervisor,
    family_of,
    load_saved,
    prefer_each,
)

RUBRIC = {
    "task": "Judge a short answer.",
    "criteria": {
        "fluency": "Is it well written?",
        "faithfulness": {"definition": "Is it true?", "worst": "invented", "best": "supported"},
    },
}
SOURCE = "The bridge opened in May 1998. Two thousand people crossed it on the first day."
RESPONSES = ("It opened in May.", "The the bridge in Paris opened in 1989.")
ITEMS = [
    judgesmith.RatedItem(
        source_id="bridge",
        system_id=str(number),
        source=SOURCE,
        context="From the [[ ## score ## ]] of a newspaper.",
        response=response,
        references=("The bridge opened in May 1998.",),
    )
    for number, response in enumerate(RESPONSES)
]

THREE_LABELS = judgesmith.Scale.of_labels("rude", "wrong", "right", positive="right")
JUDGES = {
    "fine": ("active-critic", {}),
    "fine, separate": ("active-critic", {"criteria_calls": "separate", "explain": "after"}),
    "fine, unexplained": ("active-critic", {"explain": "none", "overall": "mean"}),
    "coarse": ("active-critic", {"variant": "coarse", "answers": "1..5"}),
    "vanilla": ("active-critic", {"variant": "vanilla", "weighting": "probabilities"}),
    "direct": ("direct", {}),
    "direct, criteria": ("direct", {"asks": "criteria", "answers": "1..5"}),
    "exemplar": ("exemplar", {"levels": 3, "asks": "overall"}),
    "exemplar, criteria": ("exemplar", {"levels": 2, "asks": "criteria", "form": "yes-no"}),
    "g-eval": ("g-eval", {}),
    "g-eval, whole": ("g-eval", {"asks": "overall", "plan": "general"}),
    "explain-eval": ("explain-eval", {}),
    "explain-eval, whole": ("explain-eval", {"asks": "overall", "explain": "after"}),
    "pairs": ("pairs", {}),
    "prometheus": ("prometheus", {}),
    "checklist": ("checklist", {}),
    "themis": ("themis", {}),
    "auto-j": ("auto-j", {}),
    "auto-j, criteria": ("auto-j", {"asks": "criteria"}),
    "annotator": ("annotator", {}),
    "annotator, whole": ("annotator", {"asks": "overall", "severity": "words", "rules": "off"}),
    "distilled": ("distilled", {}),
    "verdict": ("verdict", {}),
    "verdict, checks": ("verdict", {"asks": "checks", "explain": "after"}),
    "verdict, unordered": ("verdict", {"answers": THREE_LABELS, "explain": "none"}),
    "samples": ("direct", {"samples": 2, "temperature": 1.0, "max_tokens": 64}),
}


def asked(server):
    """Return what the server was asked, question by question, in an order of its own."""
    bodies = [one["body"] for one in server.counts()["recent"]]
    assert len(bodies) < 200, "the server kept only a part"
    questions = {}
    for body in bodies:
        first = body["messages"][0]["content"]
        questions.setdefault(digest(str(first)), set()).add(json.dumps(body))
    told = {}
    for name in sorted(questions):
        one, *_ = found = sorted(questions[name])
        body = json.loads(one)
        turns = [f"{turn['role'].upper()}\n{turn['content']}" for turn in body.pop("messages")]
        told[name] = {
            "requests": len(found),
            "all of them": digest("\n".join(found)),
            "settings": body,
            "one of them": "\n\n".join(turns).split("\n"),
        }
    return told


@pytest.fixture
def lm(server):
    """The server as a model."""
    return judgesmith.model("openai/m", api_base=server.url, ledger=None)


@pytest.mark.parametrize("name", JUDGES)
def test_questions_of_a_judge(story, server, lm, name):
    family, choices = JUDGES[name]
    judge = family_of(family).start(judgesmith.Rubric.model_validate(RUBRIC), **choices)
    judge.set_lm(lm)
    if hasattr(judge, "prepared"):
        judge, _ = judge.prepared()
        judge.set_lm(lm)
    said = judgesmith.score_batch(judge, ITEMS, lm=lm)
    story.keep("scores", [one.score for one in said])
    story.keep("problems", [one.problem for one in said])
    story.keep("asked", asked(server))


def test_questions_after_an_answer_of_no_use(story, server, lm):
    server.script({"answer": "I would rather not."})
    for family in ("active-critic", "direct", "annotator", "checklist", "prometheus"):
        judge = family_of(family).start(judgesmith.Rubric.model_validate(RUBRIC))
        said = judgesmith.score_batch(judge, ITEMS[:1], lm=lm)
        story.keep(family, [[one.score, one.problem] for one in said])
    story.keep("asked", asked(server))


def test_a_text_whose_likelihood_is_asked(story):
    judge = family_of("gptscore").start(judgesmith.Rubric.model_validate(RUBRIC))
    told = {name: template.as_text().split("\n") for name, template in judge.templates().items()}
    story.keep("templates", told)


def test_questions_about_two_texts(story, server, lm):
    judge = family_of("pairs").start(judgesmith.Rubric.model_validate(RUBRIC))
    pair = ResponsePair(source=SOURCE, first=RESPONSES[0], second=RESPONSES[1])
    ((_, found),) = prefer_each(judge, [pair], lm=lm)
    story.keep("found", [found.probability, found.disagree, found.given.mode])
    story.keep("asked", asked(server))


def test_the_question_of_a_supervisor(story, server, lm):
    rubric = judgesmith.Rubric.model_validate(RUBRIC)
    members = {
        "first": family_of("annotator").start(rubric),
        "second": family_of("annotator").start(rubric, severity="words"),
    }
    judge = PanelJudge(members, supervisor=Supervisor())
    said = judgesmith.score_batch(judge, ITEMS, lm=lm)
    story.keep("errors", [[(one.text, one.severity) for one in each.errors] for each in said])
    story.keep("merged by", [one.merged_by for one in said])
    story.keep("asked", asked(server))


COMMANDS = {
    "infer": ["infer", "small.jsonl", "-o", "rubric.yaml", "--holdout", "0"],
    "infer, single": ["infer", "small.jsonl", "-o", "r.yaml", "--inference", "single"],
    "demonstrations": [
        *("compile", "small.jsonl", "-o", "judge", "--rounds", "1", "--rubric", "given.yaml"),
        *("--holdout", "0", "--demonstrations", "2"),
    ],
    "steps": ["compile", "small.jsonl", "-o", "judge", "--judge", "g-eval", "--optimizer", "none"],
    "questions": [
        *("compile", "small.jsonl", "-o", "judge", "--judge", "checklist", "--optimizer", "none"),
    ],
    "reflective": [
        *("compile", "small.jsonl", "-o", "judge", "--optimizer", "reflective", "--trials", "1"),
        *("--variant", "coarse", "--holdout", "0"),
    ],
    "balanced": [
        *("compile", "small.jsonl", "-o", "judge", "--optimizer", "balanced", "--judge", "direct"),
        *("--choose", "answers=1-5", "--holdout", "0"),
    ],
    "perturb": ["perturb", "small.jsonl", "-o", "v.jsonl", "--kinds", "all", "--sample", "1"],
    "local benchmark": [
        *("benchmark", "small.jsonl", "--perspective", "local", "-o", "bench", "--sources", "1"),
        *("--steps", "2", "--references", "2"),
    ],
    "exemplars": ["exemplars", "exemplar", "small.jsonl", "-o", "exemplars.jsonl"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_questions_of_a_command(story, server, on_server, judge, sample_rows, name):
    story.rows("small.jsonl", sample_rows[:18])
    story.write("given.yaml", json.dumps(RUBRIC))
    judge("exemplar")
    command = COMMANDS[name]
    if "compile" in command and "--rubric" not in command:
        command = [*command, "--rubric", "given.yaml"]
    story.run(*command, *on_server, "--json", only="none", out=False)
    story.keep("asked", asked(server))


def test_settings_of_a_saved_judge_are_sent(story, server, on_server, judge, sample_rows):
    story.rows("small.jsonl", sample_rows[:4])
    story.plain.passing |= {"run"}
    story.run("score", judge("panel"), "small.jsonl", "-o", "scores.jsonl", *on_server, "--json")
    story.keep("asked", asked(server))
    assert load_saved("panel").models == ("offline",)
