"""A judge's templates give the bytes that DSPy would send, and the identity of the same request."""

import dspy
import pytest

from judgesmith.programs import score_batch
from judgesmith.programs.judging.adapter import template_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.questions.active_critic import GradeResponse

JUDGES = {
    "vanilla": {"variant": "vanilla"},
    "coarse": {"variant": "coarse"},
    "fine": {},
    "no overall": {"overall": "mean"},
    "separate": {"criteria_calls": "separate"},
    "separate, no overall": {"criteria_calls": "separate", "overall": "mean"},
}
N_QUESTIONS = {
    "vanilla": 1,
    "coarse": 1,
    "fine": 2,
    "no overall": 1,
    "separate": 3,
    "separate, no overall": 2,
}


def sent(request):
    """Return the messages of a request as pairs."""
    turns = [(one.role, one.text) for one in request.prefix.messages]
    return [*turns, ("user", request.user)]


def both_ways(judge, item, scripted, script, **options):
    """Return what a judge sends through DSPy and through its templates, and both verdicts."""
    through_dspy, dspy_engine = scripted(script, **options)
    with dspy.context(lm=through_dspy):
        verdict = judge(source=item.source, context=item.context, response=item.response)
    through_templates, engine = scripted(script, **options)
    (judgement,) = score_batch(judge, [item], lm=through_templates)
    return dspy_engine.requests, engine.requests, verdict, judgement


@pytest.mark.parametrize("variant", JUDGES)
@pytest.mark.parametrize("with_demonstrations", [False, True])
class TestBothWaysAreOne:
    def check(self, judge, item, scripted, script, *, n_asked=None, **options):
        of_dspy, ours, verdict, judgement = both_ways(judge, item, scripted, script, **options)
        assert n_asked is None or len(ours) == n_asked
        assert [sent(request) for request in ours] == [sent(request) for request in of_dspy]
        assert [one.settings for one in ours] == [one.settings for one in of_dspy]
        assert [one.sample for one in ours] == [one.sample for one in of_dspy]
        lm, _ = scripted(script, **options)
        identify = lm._engine_spec.client.identity
        identities = tuple(identify(request).hex() for request in ours)
        assert identities == tuple(identify(request).hex() for request in of_dspy)
        assert tuple(judgement.calls) == tuple(verdict.calls)
        # Calls stand sample by sample, requests in the order in which they went out.
        assert sorted(judgement.calls) == sorted(identities)
        assert (judgement.score, judgement.problem) == (verdict.score, verdict.problem)
        assert judgement.explanation == verdict.explanation
        assert dict(judgement.criteria) == verdict.criteria

    @pytest.mark.no_cover
    def test_for_any_text(self, variant, with_demonstrations, judge_of, hostile, scripted, good):
        judge = judge_of(**JUDGES[variant], shown=hostile if with_demonstrations else None)
        item = RatedItem(source=hostile, context=None, response=f"{hostile} and more")
        self.check(judge, item, scripted, good)

    @pytest.mark.no_cover
    @pytest.mark.parametrize("kind", ["labelled", "bootstrapped"])
    @pytest.mark.parametrize("explain", ["before", "after", "none"])
    @pytest.mark.parametrize("task", ["", "Judge it.\n\nIt is `source` -> {task}."])
    def test_for_any_choice_of_parts(
        self,
        variant,
        with_demonstrations,
        kind,
        explain,
        task,
        judge_of,
        rubric,
        everything,
        scripted,
        good,
    ):
        judge = judge_of(
            **JUDGES[variant],
            shown=everything if with_demonstrations else None,
            explain=explain,
            rubric=rubric.model_copy(update={"task": task}),
        )
        for _, predictor in judge.named_predictors():
            bootstrapped = kind == "bootstrapped"
            predictor.demos = [
                one for one in predictor.demos if bool(one.get("augmented")) == bootstrapped
            ]
        item = RatedItem(source=everything, context="A diary.", response=everything[::-1])
        self.check(judge, item, scripted, good, n_asked=N_QUESTIONS[variant])
        again = judge.with_protocol(judge.protocol)
        assert again.templates() == judge.templates()

    @pytest.mark.no_cover
    def test_with_a_context_samples_and_settings(
        self, variant, with_demonstrations, judge_of, item, scripted, good
    ):
        judge = judge_of(
            **JUDGES[variant],
            shown="a" if with_demonstrations else None,
            samples=3,
            temperature=0.7,
            max_tokens=99,
        )
        last = list(judge.templates())[-1]
        protocol = judge.protocol.model_copy(
            update={"instructions": {last: "Rate.\n\n  Kindly. {x}"}}
        )
        judge = judge.with_protocol(protocol)
        n_asked = 3 * N_QUESTIONS[variant]
        self.check(judge, item, scripted, good, n_asked=n_asked, top_p=0.5, seed=3)

    @pytest.mark.no_cover
    def test_where_answers_cannot_be_read(
        self, variant, with_demonstrations, judge_of, item, scripted
    ):
        judge = judge_of(**JUDGES[variant], shown="a" if with_demonstrations else None)
        self.check(judge, item, scripted, lambda request: "no fields\n\n[[ ## x ## ]]\n5")

    @pytest.mark.no_cover
    def test_for_a_model_that_takes_no_temperature(
        self, variant, with_demonstrations, judge_of, item, scripted, good
    ):
        judge = judge_of(**JUDGES[variant], shown="a" if with_demonstrations else None)
        _, ours, _, _ = both_ways(judge, item, scripted, good, temperature=None)
        assert all(request.settings.temperature is None for request in ours)
        self.check(judge, item, scripted, good, temperature=None)


def test_demonstrations_that_dspy_made_are_rendered_the_same(judge_of, item, scripted, good):
    judge = judge_of("fine")
    lm, _ = scripted(good)
    trainset = [
        dspy.Example(source="s", context=None, response="r").with_inputs(
            "source", "context", "response"
        )
    ]
    with dspy.context(lm=lm):
        compiled = dspy.BootstrapFewShot(max_bootstrapped_demos=1, max_labeled_demos=1).compile(
            judge, trainset=trainset
        )
    assert compiled.protocol.demonstrations["assess"][0].kind == "bootstrapped"
    of_dspy, ours, _, _ = both_ways(compiled, item, scripted, good)
    assert [sent(request) for request in ours] == [sent(request) for request in of_dspy]
    # The same after the way through the protocol, as a saved judge goes it.
    again = compiled.with_protocol(compiled.protocol)
    assert again.templates() == compiled.templates()


def test_a_fixed_input_is_rendered_once():
    template = template_of("grade", dspy.Predict(GradeResponse), {"source": "Always this."})
    assert [piece.name for piece in template.question if not isinstance(piece, str)] == [
        "context",
        "response",
    ]
    assert "Always this." in template.question[0]


def test_an_output_that_templates_cannot_read_is_named():
    predictor = dspy.Predict("source -> scores: dict[str, int]")
    with pytest.raises(TypeError, match=r"output field scores is dict\[str, int\]; templates read"):
        template_of("rate", predictor, {})
