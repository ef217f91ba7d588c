"""Examples that judges of labels show, and labels among the answers that compete."""

import numpy as np

import judgesmith
from judgesmith import programs as p
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.space.demonstrations import Pool
from judgesmith.signatures.space import with_labels

UNORDERED = judgesmith.Scale.of_labels("rude", "wrong", "right", positive="right")
RUBRIC = judgesmith.Rubric.model_validate({"criteria": {"truth": "Is it all in the source?"}})


# Examples show labels with the words of raters, or with those of a run that agrees.


def pool(labels, scale, runs=None, **more):
    items = [
        judgesmith.RatedItem(source=f"s{n}", response="r", human={"ok": (float(one),)})
        for n, one in enumerate(labels)
    ]
    best = [one if scale.ordered else 2 * (one == 2) for one in labels]
    names = np.array([item.source for item in items])
    rows = Rows(
        items=tuple(items),
        human=np.array(best, float),
        groups=names,
        systems=names,
        scale=scale,
        **more,
    )
    return Pool(rows=rows, runs=runs or {})


def said(found):
    return [(one.outputs.get("critique"), one.outputs["verdict"], one.kind) for one in found]


def test_examples_show_the_label_and_the_words_of_raters():
    scale = judgesmith.Scale.of_labels("fail", "pass")
    config = p.VerdictJudge(rubric=RUBRIC).protocol
    words = ({"score": "It is false."}, {})
    runs = {
        0: judgesmith.Judgement(score=1.0, raw=100.0, explanation="It is fine."),
        1: judgesmith.Judgement(score=1.0, raw=100.0, explanation="It is right."),
    }
    given = pool([0, 1], scale, runs, rationale=words)
    labelled = given.shown(config, [0, 1], [])["decide"]
    assert said(labelled) == [("It is false.", "fail", "labelled"), (None, "pass", "labelled")]
    told = given.shown(config, [0, 1], [0, 1])["decide"]
    assert said(told) == [
        ("It is false.", "fail", "labelled"),  # its run passed what the rater failed
        ("It is right.", "pass", "bootstrapped"),
    ]
    silent = p.VerdictJudge(rubric=RUBRIC, explain="none").protocol
    assert [one.outputs for one in given.shown(silent, [0], [])["decide"]] == [{"verdict": "fail"}]
    judge = p.VerdictJudge(config.model_copy(update={"demonstrations": {"decide": told}}))
    assert "It is false." in judge.templates()["decide"].as_text()


def test_examples_of_labels_without_an_order_and_of_checks():
    config = p.VerdictJudge(answers=UNORDERED, rubric=RUBRIC).protocol
    shown = pool([0, 1, 2], UNORDERED).shown(config, [0, 1, 2], [])["decide"]
    assert [one.outputs["verdict"] for one in shown] == ["rude", "wrong", "right"]
    scale = judgesmith.Scale.of_labels("fail", "pass")
    checks = p.VerdictJudge(asks="checks", rubric=RUBRIC).protocol
    known = pool([0, 1], scale, criteria={"truth": np.array([0.0, np.nan])})
    assert said(known.shown(checks, [0, 1], [])["check_1"]) == [(None, "no", "labelled")]


def test_labels_compete_with_scales_of_numbers_where_people_gave_labels():
    labels = judgesmith.Scale.of_labels("fail", "pass")
    judge = p.DirectJudge(rubric=RUBRIC)
    space = with_labels(judge.space(), labels)
    decided = judge.with_choices({"answers": "labels"}, space=space)
    assert decided.scale == labels
    assert with_labels(judge.space(), UNORDERED) == judge.space()
    assert with_labels(decided.space(), labels) == decided.space()
