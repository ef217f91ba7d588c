"""A judge's templates give the bytes that DSPy would send, and the identity of the same request."""

import dspy
import pytest

from judgesmith.programs import judge_items
from judgesmith.programs.templating import template_of
from judgesmith.signatures import RatedItem
from judgesmith.signatures.scoring import GradeResponse

VARIANTS = ["vanilla", "fine"]


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
    (judgement,) = judge_items(judge, [item], lm=through_templates)
    return dspy_engine.requests, engine.requests, verdict, judgement


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("with_demonstrations", [False, True])
class TestBothWaysAreOne:
    def check(self, judge, item, scripted, script, **options):
        of_dspy, ours, verdict, judgement = both_ways(judge, item, scripted, script, **options)
        assert [sent(request) for request in ours] == [sent(request) for request in of_dspy]
        assert [one.settings for one in ours] == [one.settings for one in of_dspy]
        assert [one.sample for one in ours] == [one.sample for one in of_dspy]
        lm, _ = scripted(script, **options)
        identify = lm._engine_spec.stack.identity
        identities = tuple(identify(request).hex() for request in ours)
        assert identities == tuple(identify(request).hex() for request in of_dspy)
        assert tuple(judgement.calls) == tuple(verdict.calls) == identities
        assert (judgement.score, judgement.problem) == (verdict.score, verdict.problem)
        assert judgement.explanation == verdict.explanation
        assert dict(judgement.criteria) == verdict.criteria

    def test_for_any_text(self, variant, with_demonstrations, judge_of, hostile, scripted, good):
        judge = judge_of(variant, shown=hostile if with_demonstrations else None)
        item = RatedItem(source=hostile, context=None, response=f"{hostile} and more")
        self.check(judge, item, scripted, good)

    def test_with_a_context_samples_and_settings(
        self, variant, with_demonstrations, judge_of, item, scripted, good
    ):
        judge = judge_of(
            variant,
            shown="a" if with_demonstrations else None,
            samples=3,
            temperature=0.7,
            max_tokens=99,
            instructions={"overall" if variant == "fine" else "grade": "Rate.\n\n  Kindly. {x}"},
        )
        self.check(judge, item, scripted, good, top_p=0.5, seed=3)

    def test_where_answers_cannot_be_read(
        self, variant, with_demonstrations, judge_of, item, scripted
    ):
        judge = judge_of(variant, shown="a" if with_demonstrations else None)
        self.check(judge, item, scripted, lambda request: "no fields\n\n[[ ## x ## ]]\n5")

    def test_for_a_model_that_takes_no_temperature(
        self, variant, with_demonstrations, judge_of, item, scripted, good
    ):
        judge = judge_of(variant, shown="a" if with_demonstrations else None)
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
