"""An exported file asks, reads, asks again and adds up as the saved judge does."""

import ast
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import chatty
import hostile
import pytest
from exporting import TEXTS, calibrated_of, panel_of, saved_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judgesmith.programs.exporting import runtime
from judgesmith.programs.exporting.export import (
    differing,
    export_judge,
    golden_items,
    offline_models,
)
from judgesmith.programs.exporting.python_file import PythonFile, loaded, source_of
from judgesmith.programs.judging.program import answered, readable, unreadable
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.judging.runner import judge_items
from judgesmith.programs.lm import ModelAnswer
from judgesmith.signatures import Scale
from judgesmith.signatures.aggregation import Abstention, Aggregation

RUBRIC = {
    "task": "Judge a summary.",
    "criteria": {
        "fluency": "Is it well written?",
        "Fact_Check": {"definition": "Is it true?", "worst": "invented", "best": "supported"},
        "plain style": "Are the words simple?",
    },
}
WORDS = Scale.categorical("useless", "fair", "good")
LEARNED = Aggregation(
    kind="linear",
    terms=("overall", "criterion:fluency"),
    centers=(50, 60),
    spreads=(20, 10),
    weights=(1, -0.5),
    limit=1.5,
    intercept=3,
    scale="1..5",
)
IDS = ("source_id", "system_id", "key")
STRICTER = {"by name", "cut", "json fence", "single quotes"}
"""JSON that the file does not read: no list, broken off, beside brackets, in other quotes."""


COUNTED = Aggregation(
    kind="linear",
    terms=("overall", "lexical:known_words"),
    centers=(50, 0.5),
    spreads=(20, 0.3),
    weights=(1, 0.5),
    intercept=3,
    scale="1..5",
)
UNSURE = Abstention(
    doubt="criteria",
    keeps="below",
    limit=20,
    wished=1,
    coverage=0.5,
    confidence=0.9,
    n=40,
    n_sources=20,
)


STATED = {"rubric": RUBRIC, "weighting": "none"}
JUDGES = {
    "active-critic with learned weights": lambda: saved_of(rubric=RUBRIC, aggregation=LEARNED),
    "one question a criterion, mean": lambda: saved_of(
        rubric=RUBRIC, criteria_calls="separate", overall="mean"
    ),
    "in words, several times": lambda: saved_of(
        variant="coarse", answers=WORDS, samples=3, temperature=0.7, reduction="mode"
    ),
    "criteria, several times": lambda: saved_of(
        "direct", asks="criteria", rubric=RUBRIC, samples=3, temperature=0.7, reduction="median"
    ),
    "g-eval": lambda: saved_of("g-eval", **STATED),
    "explain-eval": lambda: saved_of("explain-eval", rubric=RUBRIC, answers="1..5"),
    "checklist": lambda: saved_of("checklist", **STATED),
    "panel": lambda: panel_of(a=saved_of(variant="vanilla"), b=saved_of("direct", answers="1..5")),
    "calibrated": lambda: calibrated_of(
        saved_of("direct", asks="criteria", rubric=RUBRIC), abstention=UNSURE
    ),
    "calibrated panel": lambda: calibrated_of(
        panel_of(a=saved_of(variant="vanilla"), b=saved_of("checklist", **STATED)),
        abstention=UNSURE.model_copy(update={"doubt": "members", "limit": 5.0}),
    ),
}


@pytest.fixture(scope="module")
def fine_file(tmp_path_factory):
    """A judge of criteria and the whole, and its file."""
    saved = saved_of(rubric=RUBRIC, aggregation=LEARNED)
    place = tmp_path_factory.mktemp("file") / "fine.py"
    return saved, loaded(export_judge(saved, "python", place).place)


@pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES)
def test_the_file_judges_golden_items_as_the_judge_does(make, tmp_path):
    saved = make()
    done = export_judge(saved, "python", tmp_path / "judge.py")
    assert done.verified.differences == ()
    assert done.verified.n_equal == len(TEXTS)
    lms = offline_models(saved)
    items = golden_items(saved)
    rows = PythonFile().judged(done.place, saved, lms)
    for item, own, row in zip(
        items, judge_items(saved, items, lm=lms["offline"]), rows, strict=True
    ):
        # The file gives the sentence why there is no score, and no code for it.
        left_out = {*IDS, "reason"}
        assert row == {k: v for k, v in score_row(item, own).items() if k not in left_out}
    text = done.place.read_text()
    imported = {
        line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))
    }
    assert "judgesmith" not in {one.partition(".")[0] for one in imported}
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E9,F", done.place]
    assert subprocess.run(ruff, capture_output=True, text=True).stdout == "All checks passed!\n"


def test_the_same_judge_is_written_in_the_same_bytes(fine_file):
    saved, module = fine_file
    assert source_of(saved, "fine.py") == Path(module.__file__).read_text(encoding="utf-8")


def test_below_its_data_a_file_is_the_runtime_as_it_is(fine_file):
    _, module = fine_file
    source = Path(runtime.__file__).read_text(encoding="utf-8")
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert text.endswith(source)
    (use, about, judge) = ast.parse(text.removesuffix(source)).body
    assert isinstance(use.value, ast.Constant)
    assert ast.literal_eval(about.value) == module.ABOUT
    assert ast.literal_eval(judge.value) == module.JUDGE
    imported = {
        (one.module if isinstance(one, ast.ImportFrom) else one.names[0].name).partition(".")[0]
        for one in ast.walk(ast.parse(source))
        if isinstance(one, ast.Import | ast.ImportFrom)
    }
    assert imported <= {*sys.stdlib_module_names, "openai"}


def own_row(saved, texts, say):
    """Return what the saved judge says where ``say`` answers."""
    turns = Counter()

    def reply(ask):
        template = saved.questions[ask.predictor]
        messages = [{"role": turn.role, "content": turn.text} for turn in template.turns]
        messages.append({"role": "user", "content": template.render(ask.inputs)})
        text, reason = said(say, turns, messages)
        answer = ModelAnswer(text=text, finish_reason=reason)
        try:
            return readable(template.read(text), answer=answer, ask=ask)
        except ValueError as fault:
            return unreadable(fault, answer=answer)

    return answered(saved.steps(**texts), reply)


def said(say, turns, messages):
    whole = json.dumps(messages)
    turns[whole] += 1
    return say({"messages": messages}, turns[whole])


def file_row(module, texts, say):
    """Return what the file says where ``say`` answers."""
    turns = Counter()

    def create(*, messages, model, **options):
        text, reason = said(say, turns, messages)
        message = SimpleNamespace(content=text, refusal=None)
        return SimpleNamespace(
            choices=[SimpleNamespace(message=message, finish_reason=reason, logprobs=None)]
        )

    completions = SimpleNamespace(create=create)
    client = SimpleNamespace(chat=SimpleNamespace(completions=completions))
    return module.judge(**texts, client=client)


HABITS = [*chatty.READ, *chatty.UNREAD, *chatty.READ_ALL, *chatty.GAPS, *chatty.UNREAD_ALL]


@pytest.mark.parametrize("habit", dict.fromkeys(HABITS))
def test_whatever_a_chat_model_writes_means_the_same_to_the_file(fine_file, habit):
    saved, module = fine_file
    texts = {"source": "About a.", "response": f"A text of quality 73 (habit {habit})"}
    own, row = own_row(saved, texts, chatty.reply), file_row(module, texts, chatty.reply)
    if habit in STRICTER:
        assert {one.exported for one in differing(0, own, row) if one.field != "problem"} <= {None}
        return
    assert apart(own, row) == []
    assert row["explanation"] == own.explanation


def apart(own, row):
    """Return what is not the same, but for how the faults of JSON that cannot be read are told."""
    found = differing(0, own, row)
    told = "could not be read: "
    return [
        one
        for one in found
        if not (one.field == "problem" and told in str(one.saved) and told in str(one.exported))
    ]


@pytest.mark.parametrize("name", hostile.TEXTS)
def test_hostile_texts_are_asked_about_in_the_same_bytes(fine_file, name, monkeypatch):
    saved, module = fine_file
    monkeypatch.setattr(chatty, "habit", lambda *_: "plain")
    text = hostile.TEXTS[name]
    texts = {"source": text, "context": text[:50], "response": text}
    asked = []

    def say(body, turn):
        asked.append(body["messages"])
        return chatty.reply(body, turn)

    own = own_row(saved, texts, say)
    n = len(asked)
    row = file_row(module, texts, say)
    assert asked[:n] == asked[n:]
    assert apart(own, row) == []


@pytest.mark.parametrize("text", hostile.UNSENDABLE.values(), ids=hostile.UNSENDABLE)
def test_half_a_character_is_unscored_for_the_same_reason(fine_file, text):
    saved, module = fine_file
    texts = {"source": "s", "response": text}
    own, row = own_row(saved, texts, chatty.reply), file_row(module, texts, chatty.reply)
    assert (row["score"], row["problem"]) == (None, own.problem)


FIELDS = ("explanation", "score", "assessments", "completed")
words = st.sampled_from(["85", "-5", "120", "**40/100**", "N/A", "yes", "- one", "Fact check"])
marks = st.sampled_from(["```json\n", "\n```", "[", "]", "{", "}", ",", '"', "'", ":", "\n", "#"])
headers = st.sampled_from(FIELDS).map("\n[[ ## {} ## ]]\n".format)
names = st.sampled_from(["fluency", "FACT CHECK", "plain_style", "criterion", "Score", "x"])
records = st.lists(
    st.fixed_dictionaries(
        {"criterion": names, "score": st.integers(-1, 101) | words | st.none() | st.booleans()},
        optional={"explanation": st.text(max_size=9) | st.none(), "note": words},
    ),
    max_size=4,
)
styles = st.sampled_from(
    [
        json.dumps,
        repr,
        lambda one: json.dumps(one).replace("}", ",}"),
        lambda one: json.dumps(one).replace('"score": ', "score: "),
        lambda one: json.dumps({"assessments": one}),
        lambda one: json.dumps(one, indent=1).replace(",\n", ",  // so\n"),
    ]
)
written = st.builds(lambda style, one: style(one), styles, records)
parts = st.one_of(headers, headers, words, marks, written, st.text(max_size=20))
free = st.lists(parts, max_size=9).map("".join)
headed = written.map("[[ ## assessments ## ]]\n{}\n\n[[ ## completed ## ]]".format)
HEADED_BACKSLASH = (
    '[[ ## assessments ## ]]\n[{"criterion": "x", "score": null,}, '
    '{"criterion": "x", "score": null,}, '
    '{"criterion": "y", "score": 0, "explanation": "\\\\\\"",}]\n\n[[ ## completed ## ]]'
)


@pytest.mark.no_cover
@settings(max_examples=200)
@given(st.sampled_from(["assess", "overall"]), headed | free)
@example("assess", HEADED_BACKSLASH)
@example("assess", HEADED_BACKSLASH.replace('\\\\\\"', "\\f"))
def test_any_answer_is_read_alike_or_not_at_all(fine_file, question, text):
    saved, module = fine_file
    own = outcome(saved.questions[question].read, text)
    asked = module.JUDGE["joint"] if question == "assess" else module.JUDGE["whole"]
    reader = module.Reader(asked["fields"], module.JUDGE["answers"])
    file = outcome(lambda answer: reader.read(answer, cut=False), text)
    assert file in (own, None)


def outcome(read, text):
    """Return the fields of an answer as plain data, without why a score cannot be read, or None."""
    try:
        fields = read(text)
    except ValueError:
        return None
    plain = json.loads(json.dumps(fields, default=lambda one: dict(vars(one))))
    for one in plain.get("assessments", ()):
        score = one.get("score")
        one["score"] = score if isinstance(score, int | float | str) else None
        one.pop("problem", None)
        one.pop("note", None)
        if one["score"] is None:
            one.pop("explanation", None)
    return plain


@pytest.mark.parametrize(
    ("family", "parts", "why"),
    [
        ("annotator", {}, "annotator need more than a file can hold"),
        ("exemplar", {}, "exemplar need more"),
        ("themis", {"rubric": RUBRIC}, "themis need more"),
        ("g-eval", {}, "weighed by log-probabilities, which the package does (compile with "),
        (
            "active-critic",
            {"aggregation": COUNTED},
            "which the package counts (compile with --no-lexical)",
        ),
    ],
)
def test_judges_that_need_more_are_refused(family, parts, why):
    assert why in PythonFile().check(saved_of(family, texts=(), **parts))


def test_models_that_a_client_cannot_tell_apart_are_refused():
    first, second = (saved_of(variant="vanilla", model=f"{one}/m") for one in ("openai", "groq"))
    assert "one name" in PythonFile().check(panel_of(a=first, b=second))


def test_names_and_words_of_a_judge_are_no_code(tmp_path):
    nasty = "a\"\"\"\n'''\\{x}\x1b[2J\u2028 import os"
    rubric = {"task": nasty, "criteria": {'it\'s "so"': f"Is it {nasty}?"}}
    saved = saved_of(rubric=rubric).model_copy(update={"target": 'x"""\nraise SystemExit\n'})
    done = export_judge(saved, "python", tmp_path / "odd name'.py")
    assert done.verified.differences == ()
