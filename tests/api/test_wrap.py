"""A signature or module of DSPy becomes a judge like any other."""

from typing import Literal

import dspy
import pytest

import judgesmith
from judgesmith.programs import load_program, wrap

TEXTS = {"source": "The ferry leaves at nine from pier two.", "response": "It leaves at nine."}
INPUTS = {"source": "question", "response": "answer"}


class Helpful(dspy.Signature):
    """Rate whether `answer` settles the `question`."""

    question: str = dspy.InputField(desc="what a customer asked")
    answer: str = dspy.InputField()
    rating: int = dspy.OutputField(desc="5 where nothing is open")


class Label(dspy.Signature):
    """Does the response answer the source?"""

    source: str = dspy.InputField()
    response: str = dspy.InputField()
    verdict: Literal["bad", "fair", "good"] = dspy.OutputField()


@pytest.fixture
def lm():
    return judgesmith.model("offline", ledger=None)


@pytest.mark.parametrize(
    "module",
    [
        Helpful,
        dspy.Predict(Helpful),
        dspy.ChainOfThought(Helpful),
        "question, answer -> rating: int",
        "question, answer -> why, rating: float",
    ],
)
def test_each_kind_of_question_scores(module):
    judge = judgesmith.wrap(module, scale="1..5", inputs=INPUTS)
    assert judge(**TEXTS).problem is None


def test_scores_are_on_the_scale_that_is_given_until_weights_are_learned(lm):
    judge = judgesmith.wrap("source, response -> score: int", scale="1..7")
    (found,) = judgesmith.score_batch(judge, [TEXTS], lm=lm)
    assert str(judge.scale) == "1..7"
    assert found.score == pytest.approx(1 + found.raw * 6 / 100)
    compiled = judgesmith.compile("sample", judge=judge, optimizer="none", learn_weights=False)
    assert compiled.judge(**TEXTS).score == found.score


class Thinks(dspy.Module):
    """Asks one question in its own names and says no scale."""

    def __init__(self, asked):
        self.rate = dspy.ChainOfThought(asked)

    def forward(self, **texts):
        return self.rate(**texts)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("source, response -> score: float", "from 1 (as bad as can be) to 5"),
        ("question, answer -> rating: int", "from 1 (as bad as can be) to 5"),
        (Helpful, "5 where nothing is open"),
    ],
)
def test_a_module_is_told_the_scale_and_the_offline_model_answers_it(asked, told, lm):
    judge = judgesmith.wrap(Thinks(asked), scale="1..5")
    (predictor,) = judge.predictors()
    score = predictor.signature.output_fields[judge.protocol.output]
    assert told in score.json_schema_extra["desc"]
    if asked is not Helpful:
        data = judgesmith.read("sample").items[:12]
        found = judgesmith.score_batch(judge, data, lm=lm)
        own = judgesmith.wrap("source, response -> reasoning, score: int", scale="1..5")
        assert [one.score for one in found] == [
            one.score for one in judgesmith.score_batch(own, data, lm=lm)
        ]
        assert all(one.explanation for one in found)


def test_the_prompt_is_the_users_own_with_texts_in_fences():
    judge = judgesmith.wrap(Helpful, scale="1..5", inputs=INPUTS)
    template = judge.templates()["whole"]
    system = template.turns[0].text
    assert "Rate whether `response` settles the `source`." in system
    assert "what a customer asked" in system
    assert "5 where nothing is open" in system
    slots = [one for one in template.question if hasattr(one, "fenced")]
    assert [(one.name, one.fenced) for one in slots] == [("source", True), ("response", True)]


def test_it_is_compiled_saved_loaded_and_evaluated_without_the_code(lm, tmp_path):
    judge = judgesmith.wrap(dspy.ChainOfThought(Helpful), scale="1..5", inputs=INPUTS)
    data = judgesmith.read("sample")
    settings = judgesmith.CompileSettings(
        protocol=judge.protocol, criteria="given", optimizer="protocol", n_trials=4
    )
    saved = judgesmith.compile(data, settings, lm=lm).saved
    again = judgesmith.load(saved.save(tmp_path / "judge"))
    assert again(**TEXTS) == saved.program()(**TEXTS)
    assert again.protocol.question == judge.protocol.question
    assert again.as_metric(lm=lm).scale.high == 1


@pytest.mark.parametrize("module", [Helpful, "question, answer -> rating: int"])
def test_two_fields_are_the_source_and_the_response_in_this_order(module):
    named = judgesmith.wrap(module, scale="1..5", inputs=INPUTS)
    assert judgesmith.wrap(module, scale="1..5").protocol == named.protocol


def test_compile_takes_the_judge_itself(lm):
    judge = judgesmith.wrap("source, response -> score: int", scale="1..5")
    found = judgesmith.compile("sample", judge=judge, optimizer="none", lm=lm)
    assert found.saved.protocol.question == judge.protocol.question


def test_dspys_state_opens_here(tmp_path):
    assert wrap is judgesmith.wrap
    judge = wrap(Label)
    judge.save(str(tmp_path / "program.json"))
    again = load_program(tmp_path / "program.json")
    assert again.templates() == judge.templates()
    assert judge.protocol.answers.labels == ("bad", "fair", "good")


def test_instructions_that_an_optimizer_wrote_are_kept():
    module = dspy.Predict(Helpful.with_instructions("Be strict with `answer`."))
    judge = judgesmith.wrap(module, scale="1..5", inputs=INPUTS)
    assert judge.whole.signature.instructions == "Be strict with `response`."


class Steps(dspy.Module):
    """Two steps of its own, with code between them."""

    def __init__(self):
        self.rate = dspy.Predict("source, response -> explanation, score: int")

    def forward(self, question, answer):
        found = self.rate(source=question, response=answer)
        return dspy.Prediction(rating=1 + found.score // 25, reasoning=found.explanation)


def own_steps(**given):
    return judgesmith.wrap(
        Steps(), **{"scale": "1..5", "inputs": INPUTS, "output": "rating"} | given
    )


def test_a_module_with_code_of_its_own_scores_and_says_why():
    verdict = own_steps()(**TEXTS)
    assert verdict.problem is None
    assert verdict.score in {1, 2, 3, 4, 5}
    assert verdict.explanation
    assert len(verdict.calls) == 1


@pytest.mark.parametrize("optimizer", ["protocol", "reflective", "balanced", "miprov2"])
def test_every_optimizer_compiles_a_module_and_what_it_learns_is_saved(optimizer, lm, tmp_path):
    trials = {"n_trials": 2} if optimizer == "protocol" else {}
    found = judgesmith.compile("sample", judge=own_steps(), optimizer=optimizer, lm=lm, **trials)
    assert found.saved.protocol.aggregation.kind == "linear"
    folder = found.save(tmp_path / "judge")
    assert judgesmith.load(folder, module=Steps())(**TEXTS) == found.judge(**TEXTS)


def test_demonstrations_and_instructions_of_a_module_survive_and_its_code_is_asked_for(tmp_path):
    module = Steps()
    module.rate.demos = [dspy.Example(source="a", response="b", explanation="c", score=3)]
    module.rate.signature = module.rate.signature.with_instructions("Be strict.")
    judge = judgesmith.wrap(module, scale="1..5", inputs=INPUTS, output="rating")
    found = judgesmith.compile("sample", judge=judge, optimizer="none", learn_weights=False)
    folder = found.save(tmp_path / "judge")
    (predictor,) = judgesmith.load(folder, module=Steps()).predictors()
    assert predictor.signature.instructions == "Be strict."
    assert [demo.score for demo in predictor.demos] == [3]
    with pytest.raises(judgesmith.JudgesmithError, match=r"contains no code.*module=Steps\("):
        judgesmith.load(folder)
    with pytest.raises(judgesmith.JudgesmithError, match="this module has module"):
        judgesmith.load(folder, module=dspy.Predict("question, answer -> rating"))


def test_what_a_module_returns_is_read_or_the_response_has_no_score():
    class Answers(dspy.Module):
        def __init__(self, answer):
            self.answer = answer

        def forward(self, source, response):
            return self.answer

    def verdict(answer, scale="1..5"):
        return judgesmith.wrap(Answers(answer), scale=scale)(**TEXTS)

    assert verdict(4).score == 4
    assert verdict(dspy.Prediction(score="2")).score == 2
    assert verdict(70, "0..100").score == 70
    assert verdict(True, scale=["no", "yes"]).label == "yes"
    assert "got 'None'" in verdict(None).problem
    assert "outside" in verdict(9).problem


@pytest.mark.parametrize(
    ("module", "given", "said"),
    [
        (Steps(), {"scale": None}, "on which scale is 'score'"),
        (7, {}, "got int"),
        ("-> ->", {}, "is no signature of DSPy"),
        (Helpful, {"scale": None}, "on which scale is 'rating'"),
        (Helpful, {"scale": "1..500"}, "at most 101 whole points"),
        ("a, b, c -> score: int", {"inputs": None}, "which texts of a judge are the inputs a, b"),
        (Helpful, {"inputs": {"source": "question"}}, "Not given: answer"),
        (Helpful, {"inputs": {"sorce": "question"}}, "no text 'sorce'; did you mean source"),
        (Helpful, {"inputs": {"source": "questoin"}}, "no input 'questoin'; did you mean quest"),
        (Helpful, {"output": "ratng"}, "did you mean rating"),
        ("question, answer -> a: int, b: int", {}, "which output is the score"),
        ("question, answer -> a, b, c: int", {}, "there may be one output of type str"),
    ],
)
def test_what_cannot_be_wrapped_is_refused(module, given, said):
    with pytest.raises(judgesmith.InputError, match=said):
        judgesmith.wrap(module, **{"scale": "1..5", "inputs": INPUTS, **given})


def test_a_module_that_runs_as_it_is_has_no_probabilities_to_weigh():
    class Strict(dspy.Module):
        def forward(self, source, response):
            return dspy.Prediction(score=3)

    judge = judgesmith.wrap(Strict(), scale="1..5", output="score")
    weighed = {**judge.protocol.model_dump(), "weighting": "probabilities"}
    with pytest.raises(ValueError, match="without probabilities"):
        type(judge.protocol).model_validate(weighed)


@pytest.mark.parametrize(
    ("module", "predictor"),
    [
        (dspy.ChainOfThought("source, response -> score: int"), "whole"),
        (Thinks("question, answer -> rating: int"), "module.rate.predict"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_our_optimizers_and_those_of_dspy_show_examples_in_a_wrapped_question(
    module, predictor, lm
):
    examples = judgesmith.to_examples("sample")
    judge = judgesmith.wrap(module, scale="1..5")
    for optimizer in (
        judgesmith.RandomDemonstrationSearch(n_trials=8, confirm=None, lm=lm),
        dspy.BootstrapFewShot(
            metric=lambda *_: True, max_bootstrapped_demos=2, max_labeled_demos=0
        ),
    ):
        found = optimizer.compile(judge, trainset=examples)
        shown = found.protocol.demonstrations[predictor]
        assert all(1 <= list(one.outputs.values())[-1] <= 5 for one in shown)
        assert {"source", "response"} <= {*shown[0].inputs} or {"question"} <= {*shown[0].inputs}
        assert found(**TEXTS).problem is None
    runs = [one for one in shown if one.kind == "bootstrapped"]
    assert len(runs) == 2
    assert all(len(one.outputs) == 2 for one in runs)


def test_ratings_are_no_examples_for_a_module_with_code_between():
    search = judgesmith.RandomDemonstrationSearch(n_trials=2)
    with pytest.raises(judgesmith.InputError, match=r"Steps does more than.*optimizer='miprov2'"):
        search.compile(own_steps(), trainset=judgesmith.to_examples("sample"))


def test_a_module_in_the_place_of_a_judge_is_answered_with_the_call_that_wraps_it():
    module, data = Steps(), judgesmith.read("sample")
    calls = [
        lambda: judgesmith.compile(data, judge=module),
        lambda: judgesmith.evaluate(module, data),
        lambda: judgesmith.compare(module, module, data),
        lambda: judgesmith.score_batch(module, data),
        lambda: judgesmith.as_metric(module),
        lambda: judgesmith.RandomDemonstrationSearch().compile(
            module, trainset=judgesmith.to_examples(data)
        ),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"expected a judge.*judgesmith.wrap\(Steps, scale="):
            call()
    with pytest.raises(TypeError, match=r"RandomDemonstrationSearch.* no argument 'n_candidates'"):
        judgesmith.RandomDemonstrationSearch(n_candidates=3)
