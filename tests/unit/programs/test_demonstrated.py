"""What DSPy's own optimizers put into predictors is shown, and read back as values."""

import dspy

from judgesmith.signatures import ActiveCriticConfig


def test_labelled_demonstrations_of_dspys_optimizer_are_shown(judge_of, scripted, good):
    trainset = [
        dspy.Example(source=f"s{n}", context=None, response=f"r{n}", score=10 * n).with_inputs(
            "source", "context", "response"
        )
        for n in range(4)
    ]
    student = judge_of()
    compiled = dspy.LabeledFewShot(k=2).compile(student, trainset=trainset)
    assert student.protocol.demonstrations == {}
    shown = compiled.protocol.demonstrations["overall"]
    assert [set(one.outputs) for one in shown] == [{"score"}, {"score"}]
    assert len(compiled.templates()["overall"].turns) == 5
    # The criteria question was given examples without an answer to it: none is shown.
    assert len(compiled.templates()["assess"].turns) == 1


def test_dspys_bootstrapping_shows_runs_that_the_metric_likes(judge_of, scripted, good):
    lm, _ = scripted(good)
    trainset = [
        dspy.Example(source=f"s{n}", context=None, response="r").with_inputs(
            "source", "context", "response"
        )
        for n in range(3)
    ]
    optimizer = dspy.BootstrapFewShot(
        metric=lambda example, verdict, trace=None: verdict.score == 70,
        max_bootstrapped_demos=2,
        max_labeled_demos=0,
    )
    with dspy.context(lm=lm):
        compiled = optimizer.compile(judge_of(), trainset=trainset)
    shown = compiled.protocol.demonstrations
    assert [one.kind for one in shown["overall"]] == ["bootstrapped"] * 2
    assert dict(shown["overall"][0].outputs) == {"explanation": "It is fine.", "score": 70}
    assert shown["assess"][0].outputs["assessments"][0]["score"] == 60
    answer = compiled.templates()["assess"].turns[2].text
    assert '"score": 60}' in answer
    assert ActiveCriticConfig.model_validate_json(compiled.protocol.model_dump_json()) == (
        compiled.protocol
    )
