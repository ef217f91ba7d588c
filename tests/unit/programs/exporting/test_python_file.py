"""An exported Python file asks, reads and weighs as the saved judge does."""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import answer_shapes
import chatty
import hostile
import httpx
import loopback_offline
import openai
import pytest
from exporting import TEXTS, calibrated_of, panel_of, saved_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.programs.exporting import runtime
from judgesmith.programs.exporting.export import (
    differing,
    export_judge,
    golden_items,
    offline_models,
)
from judgesmith.programs.exporting.python_file import PythonFile, loaded
from judgesmith.programs.judging.program import answered, readable, unreadable
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.judging.runner import score_batch
from judgesmith.programs.lm import ModelAnswer, ModelError, ModelRequest, TransientModelError, model
from judgesmith.programs.lm.records import Message, Prefix
from judgesmith.programs.offline.engine import OfflineEngine
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.aggregation import Abstention, Aggregation, Decision

# An exported file asks, reads, asks again and adds up as the saved judge does.

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
    products=(
        {
            "first": "overall",
            "second": "criterion:fluency",
            "center": 0,
            "spread": 1,
            "weight": 0.2,
        },
        {"first": "overall", "second": "overall", "center": 1, "spread": 0.5, "weight": -0.4},
    ),
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
ORDERED = Scale.of_labels("bad", "so-so", "good", ordered=True)
DECIDED = Aggregation(decision=Decision(scale="wrong|right", threshold=0.9, why="tnr >= 0.9"))
LEFT = Aggregation(decision=Decision(scale="fail|pass", abstain=(0.0, 0.9)))
LABELLED = LEARNED.model_copy(
    update={"scale": Scale.parse("fail|{pass}"), "decision": Decision(scale="fail|{pass}")}
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
    "verdict": lambda: saved_of("verdict", rubric=RUBRIC, weighting="none"),
    "verdict of checks": lambda: saved_of(
        "verdict", asks="checks", combine="any", samples=3, temperature=0.7, **STATED
    ),
    "verdict with a threshold": lambda: saved_of(
        "verdict", answers="wrong|right", explain="none", aggregation=DECIDED, **STATED
    ),
    "verdict left to people": lambda: saved_of(
        "verdict", samples=3, temperature=1.0, aggregation=LEFT, explain="after", **STATED
    ),
    "labels in an order": lambda: saved_of("direct", answers=ORDERED, rubric=RUBRIC),
    "labels by weights": lambda: saved_of(rubric=RUBRIC, aggregation=LABELLED),
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
        items, score_batch(saved, items, lm=lms["offline"]), rows, strict=True
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

    return answered(saved.steps(RatedItem(**texts)), reply)


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


@for_each("habit", dict.fromkeys(HABITS))
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


@for_each(
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


# An exported panel takes a member that cannot be asked as the package's panel does.

ANSWER = "[[ ## score ## ]]\n4\n\n[[ ## completed ## ]]"
REQUEST = httpx.Request("POST", "http://127.0.0.1/v1")


def refusal(status):
    reply = httpx.Response(status, request=REQUEST)
    return openai.APIStatusError("no", response=reply, body=None)


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    members = {
        name: saved_of("direct", answers=scale, model=f"openai/{name}")
        for name, scale in (("live", "1..5"), ("other", "0..10"), ("dead", "1..9"))
    }
    saved = panel_of(**members)
    place = tmp_path_factory.mktemp("panel") / "judge.py"
    return saved, loaded(export_judge(saved, "python", place).place)


def client(faults):
    def create(*, messages, model, **options):
        if model in faults:
            raise faults[model]
        message = SimpleNamespace(content=ANSWER, refusal=None)
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice])

    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


def own(saved, scripted, faults):
    def answering(name):
        def reply(request):
            if name in faults:
                raise faults[name]
            return ANSWER

        return scripted(reply)[0]

    lms = {f"openai/{name}": answering(name) for name in ("live", "other", "dead")}
    return score_batch(saved.with_models(lms), TEXTS[:1], lm=lms["openai/live"])[0]


@pytest.mark.parametrize(
    ("by_file", "by_package"),
    [
        (openai.APIConnectionError(request=REQUEST), TransientModelError("down")),
        (refusal(503), TransientModelError("down", status=503)),
        (refusal(422), ModelError("no", status=422)),
    ],
)
@pytest.mark.parametrize("several", [(), ("dead",), ("dead", "other"), ("dead", "other", "live")])
def test_a_dead_member_leaves_the_score_to_the_others(
    several, by_file, by_package, panel, scripted
):
    saved, module = panel
    mine = own(saved, scripted, dict.fromkeys(several, by_package))
    texts = TEXTS[0].model_dump(include={"source", "context", "response"})
    row = module.judge(**texts, client=client(dict.fromkeys(several, by_file)))
    assert row["score"] == mine.score
    assert (row["score"] is None) == (len(several) == 3)
    if several and row["score"] is None:
        assert row["problem"].partition(":")[0] == mine.problem.partition(":")[0]
        return
    assert row["members"] == mine.members
    assert [name for name, score in row["members"].items() if score is None] == [
        name for name in row["members"] if name in several
    ]
    assert (row["voice"], row["disagreement"]) == (mine.voice, mine.disagreement)


def test_a_member_with_a_wrong_key_ends_the_run(panel, scripted):
    saved, module = panel
    with pytest.raises(ModelError):
        own(saved, scripted, {"dead": ModelError("no such key", status=401)})
    with pytest.raises(module.ModelError):
        module.judge(source="s", response="r", client=client({"dead": refusal(401)}))


# The exported file over real HTTP: as a program, as a module, and by itself.

LINES = [
    json.dumps({"source_id": str(n), **one.model_dump(include={"source", "context", "response"})})
    for n, one in enumerate(TEXTS)
]


@pytest.fixture(scope="module")
def running_server():
    with loopback_offline.serving() as server:
        yield server


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A judge that says a number, and one that explains, with their files."""
    folder = tmp_path_factory.mktemp("files")
    judges = {
        "g_eval": saved_of("g-eval", asks="overall", weighting="none"),
        "fine": saved_of(max_tokens=900),
    }
    return {
        name: (one, export_judge(one, "python", folder / f"{name}.py").place)
        for name, one in judges.items()
    }


def run(module, arguments, lines=LINES):
    """Return exit status, rows and standard error of the program."""
    out, err = io.StringIO(), io.StringIO()
    sent = b"".join(one if isinstance(one, bytes) else one.encode() + b"\n" for one in lines)
    stdin = io.TextIOWrapper(io.BytesIO(sent), encoding="ascii")
    with mock.patch("sys.stdin", stdin), redirect_stdout(out), redirect_stderr(err):
        status = module.main([str(one) for one in arguments])
    return status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def check_rows(saved, rows):
    assert [row["source_id"] for row in rows] == ["0", "1"]
    for one, row in zip(saved.golden, rows, strict=True):
        assert row["score"] == pytest.approx(one.judgement.score, abs=1e-9)
        assert row["problem"] is None
        assert (row["judge"], row["target"]) == (saved.fingerprint, "overall")
        assert set(row["criteria"]) == set(one.judgement.criteria)


@pytest.mark.parametrize("name", ["g_eval", "fine"])
def test_the_program_scores_lines_as_the_judge_scored_them(name, made, server):
    saved, place = made[name]
    status, rows, said = run(loaded(place), ["--base-url", server.url])
    assert (status, said) == (0, "")
    check_rows(saved, rows)


def test_it_sends_what_the_package_sends(made, server, monkeypatch):
    saved, place = made["fine"]
    run(loaded(place), ["--base-url", server.url, "--model", "m", "--concurrency", 1])
    by_file = server.counts()["recent"]
    server.reset()
    score_batch(saved, TEXTS, lm=model("openai/m", api_base=server.url, ledger=None), concurrency=1)
    by_us = server.counts()["recent"]
    assert len(by_us) == len(by_file) == 4
    for ours, file in zip(by_us, by_file, strict=True):
        for field in ("model", "messages", "temperature", "max_tokens"):
            assert file["body"][field] == ours["body"][field], field


def test_the_function_takes_a_client_of_ones_own(made, server):
    saved, place = made["g_eval"]
    client = openai.OpenAI(base_url=server.url)
    first = TEXTS[0]
    row = loaded(place).judge(source=first.source, response=first.response, client=client)
    assert row["score"] == pytest.approx(saved.golden[0].judgement.score, abs=1e-9)
    assert "weighting" not in row


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ({"answer": "Sorry."}, "the model's answer could not be read: the answer lacks the field"),
        ({"answer": "[[ ## score ## ]] 4", "finish_reason": "length"}, "cut off at the model's"),
        ({"answer": "[[ ## score ## ]]\n9"}, "the model answered 9, outside 1..5"),
        ({"status": 422, "body": "{}"}, "the model refused the request: m: "),
        (
            {"status": 400, "body": '{"error": {"message": "maximum context length is 9"}}'},
            "the texts are longer than the model reads",
        ),
        ({"status": 503, "body": "{}"}, "the model could not be reached"),
        ({"body": '{"choices": []}'}, "the model could not be reached: m: the reply has no"),
    ],
)
def test_a_text_without_an_answer_is_unscored_and_says_why(behaviour, problem, made, server):
    _, place = made["g_eval"]
    server.script(behaviour)
    module = loaded(place)
    client = openai.OpenAI(base_url=server.url, max_retries=0)
    row = module.judge(source="s", response="r", client=client, model="m")
    assert row["score"] is None
    assert problem in row["problem"]


def test_a_wrong_key_ends_the_run_with_one_sentence(made, server):
    server.script({"status": 401, "body": '{"error": {"message": "no such key"}}'})
    status, rows, said = run(loaded(made["fine"][1]), ["--base-url", server.url])
    assert (status, rows) == (2, [])
    assert said.startswith("error: offline: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["[1]"], "line 1: expected a JSON object with source, response and perhaps context."),
        ([LINES[0], "", "{"], "line 3: expected a JSON object"),
        (['{"source": "s"}'], "line 1: response: expected a text; got nothing."),
        (['{"source": 1, "response": "r"}'], "line 1: source: expected a text; got int."),
        (['{"source": "s", "response": "r", "context": []}'], "context: expected a text; got list"),
        ([LINES[0], b'{"source": "\xe9"}'], "line 2: expected UTF-8; convert the file."),
        (
            ['{"source": "s", "response": "r", "system_id": {}}'],
            "line 1: system_id: expected an id; got dict.",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(lines, said, made, server):
    status, rows, error = run(loaded(made["fine"][1]), ["--base-url", server.url], lines)
    assert (status, rows) == (2, [])
    assert said in error
    assert server.counts()["requests"] == 0


def test_marks_of_utf8_and_numbers_as_ids_are_read_as_score_reads_them(made, server):
    first = (
        b'\xef\xbb\xbf{"source": "\xc3\xa9", "response": "r", "source_id": 7.0, "system_id": null}'
    )
    status, rows, said = run(loaded(made["fine"][1]), ["--base-url", server.url], [first])
    assert (status, said) == (0, "")
    assert [(row["source_id"], row["system_id"]) for row in rows] == [("7", "")]


def test_a_missing_key_or_file_is_refused(made, monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    module = loaded(made["fine"][1])
    assert "set OPENAI_API_KEY in the environment" in run(module, [])[2]
    assert run(module, [tmp_path / "missing.jsonl"])[0] == 2


@pytest.mark.openai
@pytest.mark.parametrize("name", ["g_eval", "fine"])
def test_an_environment_with_only_the_openai_client_is_enough(name, made, server, tmp_path):
    saved, place = made[name]
    python = os.environ.get("JUDGESMITH_OPENAI_PYTHON")
    if python is None:
        pytest.skip("no $JUDGESMITH_OPENAI_PYTHON; .ci/services/openai makes one")
    shutil.copy(place, tmp_path)
    done = subprocess.run(
        [python, "-W", "error", place.name, "--base-url", server.url],
        input="\n".join(LINES),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"OPENAI_API_KEY": "sk-test", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    check_rows(saved, [json.loads(line) for line in done.stdout.splitlines()])
    without = subprocess.run([python, "-c", "import judgesmith"], capture_output=True, cwd=tmp_path)
    assert without.returncode == 1


# An exported file reads 150 shapes of answers as its judge does, or leaves the text unscored.

RUBRIC_PYTHON_SHAPES = {"criteria": {"fluency": "Is it well written?", "Fact_Check": "Is it true?"}}
JUDGES_PYTHON_SHAPES = {
    "active-critic": {},
    "active-critic, separate": {"criteria_calls": "separate"},
    "active-critic, coarse": {"variant": "coarse"},
    "active-critic, vanilla": {"variant": "vanilla"},
    "active-critic, scores alone": {"explain": "none"},
    "direct": {},
    "direct, words": {"answers": Scale.categorical("poor", "fair", "good")},
    "g-eval": {"weighting": "none"},
    "explain-eval": {},
    "checklist": {"weighting": "none"},
}
NAMES = tuple(answer_shapes.SHAPES)
STRICTER_PYTHON_SHAPES = {name for name in NAMES if name.endswith("long prose")}
"""Shapes that the file asks about again: their prose has numbers and brackets of its own."""


def items():
    return [
        RatedItem(source=f"Ann left Rome on day {n}.", response=f"Shape {n}: Ann went away.")
        for n in range(len(NAMES))
    ]


def reshaped(text, user):
    n = int(re.findall(r"(?:Shape|day) (\d+)", user)[-1])
    return answer_shapes.shaped(text, NAMES[n])


def plain(messages):
    *before, last = messages
    turns = [Message(one["role"], one["content"]) for one in before]
    request = ModelRequest(model="offline", prefix=Prefix(turns), user=last["content"])
    return OfflineEngine().answer(request).text


class Reshaping:
    """A client that answers in another shape for each text."""

    def __init__(self):
        self.chat = SimpleNamespace(completions=self)

    def create(self, *, messages, **options):
        text = reshaped(plain(messages), messages[-1]["content"])
        message = SimpleNamespace(content=text, refusal=None)
        choice = SimpleNamespace(message=message, finish_reason="stop")
        return SimpleNamespace(choices=[choice])


@pytest.mark.no_cover
@pytest.mark.parametrize("name", JUDGES_PYTHON_SHAPES)
def test_the_file_gives_the_score_of_the_judge_or_none(name, scripted, tmp_path):
    family = name.partition(",")[0]
    saved = saved_of(family, **{"rubric": RUBRIC_PYTHON_SHAPES, **JUDGES_PYTHON_SHAPES[name]})
    module = loaded(export_judge(saved, "python", tmp_path / "judge.py").place)
    engine = OfflineEngine()
    lm, _ = scripted(lambda request: reshaped(engine.answer(request).text, request.user))
    own = score_batch(saved, items(), lm=lm)
    unread = set()
    for shape, item, judgement in zip(NAMES, items(), own, strict=True):
        row = module.judge(source=item.source, response=item.response, client=Reshaping())
        assert judgement.score is not None
        if row["score"] is None:
            assert "could not be read" in row["problem"]
            unread.add(shape)
            continue
        assert row["score"] == judgement.score, shape
        scores = {one: found.score for one, found in judgement.criteria.items()}
        assert {one: found["score"] for one, found in row["criteria"].items()} == scores, shape
    assert unread <= STRICTER_PYTHON_SHAPES
    assert len(STRICTER_PYTHON_SHAPES) == 10
