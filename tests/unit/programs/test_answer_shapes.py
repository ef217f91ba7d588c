"""Shapes of answers that models give: scales, chat around the score, faults."""

import itertools
import json
import re

import answer_shapes
import chatty
import dspy
import loopback
import numpy as np
import pytest
from dspy.utils.exceptions import AdapterParseError
from exporting import saved_judge
from hypothesis import given, settings
from hypothesis import strategies as st
from looping import for_each

from judgesmith.metrics import spearman
from judgesmith.programs import ActiveCritic, DirectJudge, SavedJudge, score_batch
from judgesmith.programs.artifacts.saved_ensembles import SavedPanel, narrowed, pointed_rubric
from judgesmith.programs.families.active_critic import assessments_text
from judgesmith.programs.families.modules import AnnotatorJudge, TaskInference
from judgesmith.programs.families.task_inference import RatedExample, batches_of, inference_steps
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.program import ModelReply
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.scoring import criteria_text
from judgesmith.programs.lm import lm_client_of, model
from judgesmith.programs.offline.engine import OfflineEngine
from judgesmith.signatures import (
    ActiveCriticConfig,
    CriterionScore,
    Demonstration,
    RatedItem,
    Rubric,
    Scale,
)
from judgesmith.signatures.aggregation import PanelRules, PanelWeights
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.questions import task_inference as questions
from judgesmith.signatures.questions.on_scale import answers_of
from judgesmith.signatures.scale import level_of, percent_of

# A judge on any scale: what it asks, how answers are read, and what demonstrations show.

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
FORMS_ON_SCALES = list(zip(FORMS, itertools.cycle(SCALES), strict=False))


def judge_on(scale, **form):
    return ActiveCritic(rubric=RUBRIC, answers=scale, **form)


@pytest.mark.no_cover
@for_each(("form", "name"), FORMS_ON_SCALES)
def test_every_item_is_scored_on_a_level_of_the_scale_and_told_in_percent(name, form):
    scale = SCALES[name]
    levels = {percent_of(level_of(share, scale), scale) for share in range(101)}
    found = score_batch(judge_on(scale, **form), ITEMS)
    assert [one.problem for one in found] == [None] * len(ITEMS)
    for one in found:
        scores = [one.raw, *(part.score for part in one.criteria.values())]
        assert all(any(abs(score - level) < 1e-9 for level in levels) for score in scores)


@pytest.mark.no_cover
@for_each(("form", "name"), FORMS_ON_SCALES)
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
    saved = saved_judge(judge)
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


@for_each(
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


@for_each(
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


@pytest.mark.parametrize("name", SCALES)
def test_a_level_is_the_one_nearest_to_what_is_meant(name):
    scale = SCALES[name]
    levels = scale.labels or range(int(scale.low), int(scale.high) + 1)
    for share in range(0, 101, 5):
        distance = abs(percent_of(level_of(share, scale), scale) - share)
        nearest = min(abs(percent_of(one, scale) - share) for one in levels)
        assert distance == pytest.approx(nearest)


@for_each(
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


# Every family of judges, and task inference, reads 150 shapes of answers like the asked one.

RUBRIC_ANSWER_SHAPES = {"criteria": {"fluency": "Is it well written?", "Fact_Check": "Is it true?"}}
JUDGES = {
    "active-critic": {},
    "active-critic, separate": {"criteria_calls": "separate"},
    "active-critic, coarse": {"variant": "coarse"},
    "active-critic, vanilla": {"variant": "vanilla"},
    "active-critic, scores alone": {"explain": "none"},
    "direct": {},
    "direct, words": {"answers": Scale.categorical("poor", "fair", "good")},
    "exemplar": {"levels": 3},
    "g-eval": {"weighting": "none"},
    "explain-eval": {},
    "checklist": {"weighting": "none"},
    "pairs": {"weighting": "none"},
    "annotator": {},
    "prometheus": {},
    "themis": {},
    "auto-j": {},
    "distilled": {},
}
MARKS = {"prometheus": "feedback", "themis": "analysis", "auto-j": "critique"}
NAMES = tuple(answer_shapes.SHAPES)
EACH_THIRD = {name: range(place % 3, len(NAMES), 3) for place, name in enumerate(JUDGES)}
"""Which shapes a family reads here: each shape is read by several of them."""


def judge_called(name):
    family = family_of(name.partition(",")[0])
    rubric = {} if name == "distilled" else {"rubric": RUBRIC_ANSWER_SHAPES}
    return family.judge_of(family.protocol.model_validate({**rubric, **JUDGES[name]}))


def items(name):
    """Return one text for every shape; two where texts are compared."""
    said = (
        ("Ann went away. She sang.", "Cats ate hats.") if name == "pairs" else ("Ann went away.",)
    )
    return [
        RatedItem(source=f"Ann left Rome on day {n}.", response=f"Shape {n}: {one}")
        for n in EACH_THIRD[name]
        for one in said
    ]


def reshaped(name, text, n):
    shape = NAMES[n]
    if name in MARKS:
        words, _, said = re.match(r"(?s)(.*?)(\[RESULT\]|Rating:)\W*(\w+)", text).groups()
        text = f"[[ ## {MARKS[name]} ## ]]\n{words.strip()}\n\n[[ ## score ## ]]\n{said}"
    return answer_shapes.shaped(text, shape)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", JUDGES)
def test_families_read_every_shape(name, scripted):
    engine = OfflineEngine()
    counted = []

    def plain(request):
        return engine.answer(request).text

    def other(request):
        n = int(re.findall(r"(?:Shape|day) (\d+)", request.user)[-1])
        counted.append(n)
        return reshaped(name, plain(request), n)

    judge = judge_called(name)
    usual = score_batch(judge, items(name), lm=scripted(plain)[0])
    found = score_batch(judge, items(name), lm=scripted(other)[0])
    shapes = [NAMES[n] for n in EACH_THIRD[name]]
    several = [shape for shape in shapes for _ in range(len(found) // len(shapes))]
    lost = [
        (shape, one.problem)
        for shape, one, was in zip(several, found, usual, strict=True)
        if one.score != was.score or [e.text for e in one.errors] != [e.text for e in was.errors]
    ]
    assert not lost
    assert counted
    assert all(one.score is not None for one in usual)


@pytest.mark.no_cover
def test_task_inference_reads_any_shape(scripted):
    engine = OfflineEngine()
    rows = [RatedItem(source=f"Day {n}.", response=f"Ann went away {n} times.") for n in range(6)]
    infer = TaskInference(batch_size=3, n_batches=2)

    def inferred(lm):
        rubric = infer(items=rows, scores=[10.0 * n for n in range(6)], lm=lm)
        return rubric.task, rubric.criteria, rubric.provenance.get("notes")

    usual = inferred(scripted(lambda request: engine.answer(request).text)[0])
    for name in NAMES[::4]:
        lm, _ = scripted(
            lambda request, name=name: answer_shapes.shaped(engine.answer(request).text, name)
        )
        assert inferred(lm) == usual, name


# Whatever a model writes, judges say something, and inference ends or says why it cannot.

ASKED = {
    "observe": questions.ObserveExamples,
    "describe": questions.DescribeTask,
    "propose": questions.ProposeCriteria,
    "check": questions.JudgeCompleteness,
    "merge": questions.MergeDescriptions,
    "select": questions.SelectCriteria,
}
FIELDS = ("explanation", "score", "assessments", "completed", "observations", "complete", "names")
FIELDS += ("task_type", "evaluated", "relationship", "description", "criteria", "missing")
words = st.sampled_from(["85", "-5", "120", "**40/100**", "N/A", "yes", "No.", "- one", "a", "B b"])
marks = st.sampled_from(["```json\n", "\n```", "[", "]", "{", "}", ",", '"', "'", ":", "\n", "**"])
headers = st.sampled_from(FIELDS).map("\n[[ ## {} ## ]]\n".format)
names = st.sampled_from(["a", "B-b", "b_b", "criterion", "explanation", "score", "name", *FIELDS])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 120) | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
records = st.lists(
    st.fixed_dictionaries(
        {"criterion": names, "score": st.integers(-1, 101) | words},
        optional={"explanation": st.text(max_size=9), "definition": words, "name": names},
    ),
    max_size=3,
)
parts = st.one_of(headers, headers, words, marks, (values | records).map(json.dumps), st.text())
answers = st.lists(parts, max_size=12).map("".join)


@pytest.mark.no_cover
@settings(max_examples=150)
@given(st.sampled_from(sorted(ASKED)), answers)
def test_a_question_of_inference_is_answered_or_refused_as_dspy_refuses(step, text):
    signature = ASKED[step]
    try:
        fields = FencedAdapter().parse(signature, text)
    except AdapterParseError:
        return
    assert list(fields) == list(signature.output_fields)


@pytest.mark.no_cover
@settings(max_examples=60)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), values, max_size=6), min_size=1))
def test_inference_ends_with_a_rubric_or_says_why_there_is_none(said):
    examples = [RatedExample(item=RatedItem(response=f"r{n}"), score=n) for n in range(7)]
    batches = batches_of(examples, size=3, max_characters=9999, rng=np.random.default_rng(0))
    steps = inference_steps(batches, InferenceSettings(n_batches=4), Rubric())
    reply = None
    n_asked = 0
    why = ""
    try:
        while True:
            ask = steps.send(reply)
            n_asked += 1
            fields = {**_usual(ask.predictor), **said[n_asked % len(said)]}
            text = "\n".join(f"[[ ## {name} ## ]]\n{_written(one)}" for name, one in fields.items())
            try:
                reply = ModelReply(fields=FencedAdapter().parse(ASKED[ask.predictor], text))
            except AdapterParseError as fault:
                reply = ModelReply(cause=Cause(Reason.UNREADABLE, str(fault)))
    except StopIteration as end:
        rubric = end.value.rubric()
        assert Rubric.from_yaml(rubric.to_yaml()) == rubric
        assert len(rubric.criteria) <= 10
    except ValueError as fault:
        why = str(fault)
    assert not why or "nothing could be inferred" in why
    assert n_asked <= 2 * (4 * 4 + 2)


def _usual(step):
    return {
        "observe": {"observations": ["Short."], "complete": "no"},
        "describe": {"task_type": "x", "evaluated": "y", "relationship": "z", "description": "d"},
        "propose": {"criteria": {"a": "Is it A?", "b": "Is it B?"}},
        "check": {"missing": "much", "complete": "no"},
        "merge": {"description": "merged"},
        "select": {"names": ["a", "b"]},
    }[step]


def _written(value):
    return value if isinstance(value, str) else json.dumps(value)


# Over real HTTP, whatever a chat model writes is scored as the rules say, or unscored.

RUBRIC_CHATTY_MODELS = {
    "task": "Judge a summary.",
    "criteria": {
        "fluency": "Is it well written?",
        "Fact_Check": {"definition": "Is it true?", "worst": "invented", "best": "supported"},
        "plain style": "Are the words simple?",
    },
}
JUDGES_CHATTY_MODELS = {
    "vanilla": {"variant": "vanilla"},
    "coarse": {"variant": "coarse"},
    "fine joint": {"explain": "after"},
    "separate, without the overall question": {"criteria_calls": "separate", "overall": "mean"},
}
ALONE = [*chatty.READ, *chatty.UNREAD]
TOGETHER = [*chatty.READ_ALL, *chatty.GAPS, *chatty.UNREAD_ALL]


@pytest.fixture(scope="module")
def running_server():
    with loopback.serving() as server:
        yield server


@pytest.fixture
def server(running_server):
    running_server.reset()
    running_server.script({"chatty": True})
    return running_server


@pytest.fixture
def open_model(server, tmp_path, monkeypatch):
    """Open a model on the server, each time anew, with one ledger for all."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    def again():
        return model(
            "openai/m", api_base=server.url, ledger=tmp_path / "l.sqlite", temperature=0, run_id="1"
        )

    return again


def items_chatty_models():
    """One text for every habit, one for each whose question on the whole alone is odd, and more."""
    texts = [f"A text of quality 73 (habit {name})" for name in dict.fromkeys(ALONE + TOGETHER)]
    texts += [f"Quality is quality 40 (habit overall={name})" for name in ALONE]
    texts += [f"Text {n} of quality {n + 3}." for n in range(60)]
    return [RatedItem(source=f"About {n}.", response=text) for n, text in enumerate(texts)]


@pytest.mark.no_cover
@pytest.mark.parametrize("choices", JUDGES_CHATTY_MODELS.values(), ids=JUDGES_CHATTY_MODELS)
def test_every_answer_is_scored_by_the_rules_or_unscored_with_the_reason(
    choices, server, open_model
):
    judge = ActiveCritic(rubric=RUBRIC_CHATTY_MODELS, **choices)
    lm = open_model()
    everything = items_chatty_models()
    found = score_batch(judge, everything, lm=lm, concurrency=8)
    n_asked = 0
    for item, judgement in zip(everything, found, strict=True):
        score, criteria, n, why = chatty.judgement_by_rule(judge.protocol, item.response)
        assert judgement.score == pytest.approx(score), item.response
        assert {k: one.score for k, one in judgement.criteria.items()} == criteria, item.response
        assert len(judgement.calls) == n, item.response
        assert why in (judgement.problem or "") if score is None else judgement.problem is None
        n_asked += n
    counts = server.counts()
    assert counts["requests"] == counts["answered"] == n_asked == lm_client_of(lm).spent.calls
    assert set(counts["times_asked"]) == {"1", "2"}
    assert 0 < sum(one.score is None for one in found) < len(found)
    assert score_batch(judge, everything, lm=open_model(), concurrency=3) == found
    assert server.counts()["requests"] == n_asked


@pytest.mark.no_cover
@pytest.mark.parametrize("choices", [{"variant": "coarse"}, {}], ids=["coarse", "fine"])
def test_through_dspy_the_same_answers_mean_the_same_and_nothing_is_asked(
    choices, server, open_model
):
    judge = ActiveCritic(rubric=RUBRIC_CHATTY_MODELS, **choices)
    # DSPy's adapters are not told why an answer ended, so that a cut number passes for a number.
    # An empty answer is refused by DSPy itself, in words of its own.
    everything = [one for one in items_chatty_models() if "empty" not in _habits(one.response)]
    found = score_batch(judge, everything, lm=open_model())
    n_asked = server.counts()["requests"]
    with dspy.context(lm=open_model()):
        again = [judge(source=one.source, response=one.response) for one in everything]
    assert server.counts()["requests"] == n_asked
    for one, other in zip(found, again, strict=True):
        assert (one.score, one.calls) == (other.score, other.calls)
        assert (one.problem, dict(one.criteria)) == (other.problem, other.criteria)


def _habits(response):
    return {chatty.habit(kind, response) for kind in ("rate", "assess", "overall")}


@pytest.mark.no_cover
def test_task_and_criteria_are_inferred_from_such_answers(server, open_model):
    rows = [
        RatedItem(source=f"Source {n}.", response=f"Response {n} of quality {n}.")
        for n in range(30)
    ]
    scores = [float(3 * n) for n in range(30)]
    lm = open_model()
    rubric = TaskInference(seed=0)(items=rows, scores=scores, lm=lm)
    assert rubric.task.startswith("The task is summarization, which means evaluating")
    assert rubric.task_type == "Summarization"
    assert rubric.names[:4] == ("Fluency", "Faithfulness", "Coverage", "Word_Choice")
    assert rubric.criteria[0].definition == chatty.PROPOSED["Fluency"]
    counts = server.counts()
    assert counts["requests"] == lm_client_of(lm).spent.calls
    assert set(counts["times_asked"]) <= {"1", "2"}
    n_twice = counts["times_asked"].get("2", 0)
    assert rubric.provenance["questions"] == counts["requests"] - n_twice
    again = TaskInference(seed=0)(items=rows, scores=scores, lm=open_model())
    assert again == rubric
    assert server.counts()["requests"] == counts["requests"]


# A judge that is asked about some criteria asks just what it asked before, and no more.

THREE = Rubric(task="Judge.", criteria={"truth": "True?", "wit": "Funny?", "tact": "Tactful?"})
ITEM = RatedItem(source="Ann left Rome in May.", response="Then Bob left Rome.")


def panel_of(**members):
    scales = {name: one.scale for name, one in members.items()}
    return SavedPanel(
        members=members,
        weights=PanelWeights.equal(scales),
        rules=PanelRules(),
        target="overall",
        human_scale="1..5",
    )


def test_what_it_asks_of_a_criterion_stays_the_same():
    judge = saved_judge(AnnotatorJudge(rubric=THREE))
    some = narrowed(judge, ("truth", "tact"))
    (whole,), (part,) = score_batch(judge, [ITEM]), score_batch(some, [ITEM])
    assert part.calls == (whole.calls[0], whole.calls[2])
    assert part.criteria == {name: whole.criteria[name] for name in ("truth", "tact")}
    assert part.errors == tuple(one for one in whole.errors if one.criterion != "wit")
    assert list(judge.questions) == ["annotate_1", "annotate_2", "annotate_3"]


def test_of_a_panel_every_member_is_narrowed():
    other = Rubric(task="Other.", criteria={"wit": "Witty?", "pace": "Quick?"})
    panel = panel_of(
        ada=saved_judge(AnnotatorJudge(rubric=THREE)), ben=saved_judge(AnnotatorJudge(rubric=other))
    )
    assert pointed_rubric(panel).names == ("truth", "wit", "tact", "pace")
    assert pointed_rubric(panel).criteria[1].definition == "Funny?"
    assert pointed_rubric(panel).task == "Judge."
    some = narrowed(panel, ("wit",))
    assert some.calls_per_item == 2
    (found,) = score_batch(some, [ITEM])
    assert list(found.criteria) == ["wit"]
    assert {one.criterion for one in found.errors} <= {"wit"}


@pytest.mark.parametrize("names", [(), ("pace",)])
def test_a_judge_without_such_criteria_stays_as_it_is(names):
    judge = saved_judge(AnnotatorJudge(rubric=THREE))
    assert narrowed(judge, names) is judge


def test_a_judge_of_the_whole_stays_as_it_is():
    judge = saved_judge(AnnotatorJudge(rubric=THREE, asks="overall"))
    assert narrowed(judge, ("wit",)) is judge
    assert pointed_rubric(judge) == Rubric(task="Judge.")


def test_a_judge_that_lists_no_errors_is_refused():
    with pytest.raises(ValueError, match="the judge lists no errors; take one of the family"):
        pointed_rubric(saved_judge(DirectJudge(rubric=THREE, asks="criteria")))
