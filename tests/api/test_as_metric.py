"""A judge is the metric of a DSPy program: evaluated, and improved by DSPy's optimizers."""

import re

import dspy
import pytest
from loopback import serving
from program_model import program_lm
from sessions import ROOT

import judgesmith

PAGE = ROOT / "docs" / "tutorials" / "dspy-metric.md"
ASKED = dspy.Example(document="The ferry leaves at nine.").with_inputs("document")
SAID = dspy.Prediction(reasoning="It says so.", summary="It leaves at nine.")
EMPTY = dspy.Prediction(summary="")


def judge(**choices):
    return judgesmith.ActiveCritic(**choices)


@pytest.fixture
def lm():
    return judgesmith.model("offline", ledger=None)


@pytest.mark.filterwarnings("ignore")
def test_the_page_raises_the_score_of_a_program_on_test_examples(lm, monkeypatch):
    """Run the page's own code, with a simulated program model in place of the hosted ones."""
    settings = judgesmith.CompileSettings(optimizer="none", criteria="given")
    compiled = judgesmith.compile(judgesmith.read("sample"), settings, lm=lm).saved.program()
    simulated = program_lm()
    monkeypatch.setattr(dspy, "LM", lambda name: simulated)
    monkeypatch.setattr(dspy, "configure", lambda lm: None)
    monkeypatch.setattr(judgesmith, "load", lambda place, lm: compiled)
    monkeypatch.setattr(judgesmith, "model", lambda name, max_usd: None)
    blocks = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found = {}
    with dspy.context(lm=simulated):
        exec("\n".join(blocks), found)
    assert len(found["test"]) == 28
    scores = [found[name] for name in ("before", "after_mipro", "after_gepa")]
    assert scores == pytest.approx([37.5, 62.3, 62.3], abs=0.1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda metric: dspy.BootstrapFewShot(metric=metric, metric_threshold=0.3),
        lambda metric: dspy.SIMBA(
            metric=metric, bsize=4, num_candidates=2, max_steps=1, max_demos=2
        ),
    ],
)
def test_other_optimizers_take_it(lm, optimizer):
    documents = list(dict.fromkeys(one.source for one in judgesmith.read("sample")))[:6]
    examples = [dspy.Example(document=text).with_inputs("document") for text in documents]
    metric = judge().as_metric(lm=lm)
    with dspy.context(lm=program_lm()):
        found = optimizer(metric).compile(dspy.Predict("document -> summary"), trainset=examples)
    assert found.demos
    assert metric.n_calls >= 4


def test_its_own_model_judges_and_not_the_programs(lm):
    simulated = program_lm()
    metric = judge().as_metric(lm=lm)
    with dspy.context(lm=simulated, trace=[]):
        score = metric(ASKED, SAID)
        assert dspy.settings.trace == []
    assert simulated.history == []
    assert score == metric(ASKED, SAID)


def test_scores_are_on_the_scale_that_was_asked_for(lm):
    one, two = (judge().as_metric(scale, lm=lm)(ASKED, SAID) for scale in ("0..1", "1..5"))
    assert 1 + 4 * one == pytest.approx(two)
    assert one == pytest.approx(judge()(source=ASKED.document, response=SAID.summary).score / 100)


def test_gepa_gets_words_and_error_spans_and_nobody_else_does():
    annotator = judgesmith.programs.AnnotatorJudge()
    metric = annotator.as_metric(lm=judgesmith.model("offline", ledger=None))
    said = dspy.Prediction(summary="The the ferry ferry leaves in 1987 cats.")
    plain = metric(ASKED, said)
    assert isinstance(plain, float)
    assert isinstance(metric(ASKED, said, []), float)
    found = metric(ASKED, said, [], "predict", [])
    assert found.score == plain
    assert found.feedback.startswith("Score: ")
    errors = metric.judgement(ASKED, said).errors
    assert errors
    assert all(f'"{one.text}"' in found.feedback for one in errors)
    quiet = annotator.as_metric(feedback=False, lm=judgesmith.model("offline", ledger=None))
    assert quiet(ASKED, said, [], "predict", []) == plain


@pytest.fixture(scope="module")
def running_server():
    with serving() as found:
        yield found


@pytest.fixture
def mute(server):
    server.script({"answer": "no number here"})
    return judgesmith.model("openai/m", api_base=server.url, ledger=None)


def test_an_unscored_response_is_an_error_or_the_chosen_number_and_counted(mute):
    strict = judge().as_metric(lm=mute)
    with pytest.raises(judgesmith.JudgesmithError, match="the judge gave no score"):
        strict(ASKED, SAID)
    chosen = judge().as_metric(unscored=0.25, lm=mute)
    assert chosen(ASKED, SAID) == 0.25
    assert "gave no score" in chosen(ASKED, SAID, [], "predict", []).feedback
    assert (dict(strict.reasons), dict(chosen.reasons)) == ({"unreadable": 1}, {"unreadable": 2})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scale": "nonsense"}, "a scale must be written"),
        ({"scale": 5}, "as_metric: expected a scale"),
        ({"unscored": "skip"}, "unscored must be 'raise' or a number on 0..1; got 'skip'"),
        ({"unscored": 2}, r"a number on 0\.\.1; got 2"),
        ({"unscored": True}, "got True"),
        ({"source": 3}, "as_metric: source must be the name of a field or a function; got 3"),
    ],
)
def test_wrong_arguments_are_refused_when_it_is_made(given, said, lm):
    with pytest.raises(judgesmith.InputError, match=said):
        judge().as_metric(lm=lm, **given)


@pytest.mark.parametrize(
    ("given", "example", "said"),
    [
        ({"source": "documnt"}, ASKED, r"as_metric\(source='documnt'\).*did you mean document"),
        ({"response": "text"}, ASKED, r"as_metric\(response='text'\): the prediction has no such"),
        ({}, dspy.Example(a="x", b="y").with_inputs("a", "b"), "There are a, b.*source='a'"),
        ({}, dspy.Example(a="x"), "which of the example's inputs is the source"),
    ],
)
def test_a_field_that_is_missing_is_named_before_any_call(given, example, said, lm):
    metric = judge().as_metric(lm=lm, **given)
    with pytest.raises(judgesmith.InputError, match=said):
        metric(example, SAID)
    assert metric.n_calls == 0


def test_a_judge_that_compares_is_refused(lm):
    with pytest.raises(judgesmith.InputError, match="compares the responses to a source"):
        judgesmith.programs.PairwiseJudge().as_metric(lm=lm)
