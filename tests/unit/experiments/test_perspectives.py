import json
from dataclasses import replace

import numpy as np
import pytest

import judgesmith
from judgesmith.data import DataSet
from judgesmith.experiments.evaluate.perspectives.perspectives import asked_on, perspective_of_judge
from judgesmith.experiments.evaluate.perspectives.ratings import right_levels
from judgesmith.optimizers.objectives.grammar import parse_objective
from judgesmith.optimizers.predictions import on_criterion, prediction_table
from judgesmith.programs import score_batch
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.scale import PERCENT

RNG = np.random.default_rng
LOCAL_FORM = {
    "perspective": "local",
    "built_by": {"injector": "offline", "writer": "openai/w"},
}


@pytest.fixture(scope="module")
def saved():
    """A judge of two criteria and of what it was compiled for."""
    settings = judgesmith.CompileSettings(criteria="human", optimizer="none", holdout=0)
    return judgesmith.compile(judgesmith.read("sample"), settings).saved


@pytest.fixture(scope="module")
def built():
    """Sequences of texts that lose a word and their faithfulness, step by step."""
    items = []
    for place, item in enumerate(judgesmith.read("sample").items[:24:4]):
        words = item.source.split()[:24]
        for step in range(4):
            text = " ".join(words[: len(words) - 5 * step]) + " 1987" * step
            items.append(
                RatedItem(
                    source_id=f"s{place}",
                    system_id=f"faithfulness-{step}",
                    source=item.source,
                    response=text,
                    human={"faithfulness": (3.0 - step,)},
                    scale={"faithfulness": Scale(low=0, high=3)},
                    extra={"provenance": LOCAL_FORM | {"n_errors": step}},
                )
            )
    return DataSet(name="built", items=tuple(items))


def test_a_judge_is_asked_about_texts_with_an_undisputed_rating_alone(saved):
    data = judgesmith.read("sample").subset(range(40))
    other = DataSet(
        name="other",
        items=tuple(one.model_copy(update={"response": one.response + " "}) for one in data),
    )
    lm = judgesmith.model("offline", ledger=None)
    found = perspective_of_judge(
        saved, other, perspective="global", target="fluency", lm=lm, rng=RNG(0)
    )
    report = found.reports["fluency"]
    undisputed = sum(len(set(one.human["fluency"])) == 1 for one in data)
    assert report.kappa.n == undisputed < 40
    assert lm_client_of(lm).spent.calls == undisputed * len(saved.questions)
    assert found.mean.value == report.kappa.value


def test_all_criteria_that_the_judge_scores_are_reported_with_their_mean(saved, built):
    data = judgesmith.read("sample")
    fresh = DataSet(
        name="fresh",
        items=tuple(one.model_copy(update={"source": one.source + " "}) for one in data.items[:60]),
    )
    found = perspective_of_judge(saved, fresh, perspective="local", rng=RNG(0))
    assert list(found.reports) == ["faithfulness", "fluency"]
    values = [one.accuracy.value for one in found.reports.values()]
    assert found.mean.value == pytest.approx(np.mean(values))
    assert found.mean.low < found.mean.value < found.mean.high
    assert found.mean.n == sum(one.accuracy.n for one in found.reports.values())
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["perspective"] == "local"


def test_a_built_set_is_ordered_by_errors_and_its_own_builder_is_told(saved, built):
    found = perspective_of_judge(saved, built, perspective="local", rng=RNG(0))
    report = found.reports["faithfulness"]
    assert report.by_errors.errors == (0, 1, 2, 3)
    assert report.accuracy.n == report.apart[1].n == 18
    assert report.accuracy.value == report.apart[1].value > 0.5
    assert any("offline judges texts that it built itself (injector)" in n for n in found.notes)
    clean = perspective_of_judge(
        saved.model_copy(update={"model": "openai/w"}),
        built,
        perspective="local",
        lm=judgesmith.model("offline", ledger=None),
        rng=RNG(0),
    )
    assert any(note.startswith("openai/w judges") for note in clean.notes)


def test_a_built_set_stays_whole_though_the_judge_was_made_from_some_of_its_texts(saved, built):
    first, *others = built.items
    seen = judgesmith.read("sample").items[0]
    assert seen.key in saved.seen_keys
    known = first.model_copy(update={"source": seen.source, "response": seen.response})
    data = DataSet(name="known", items=(known, *others))
    assert known.key in saved.seen_keys
    found = perspective_of_judge(saved, data, perspective="local", rng=RNG(0))
    assert found.reports["faithfulness"].accuracy.n == 18
    assert any("made from 1 of 24 texts, which were rated otherwise" in n for n in found.notes)


def test_samples_are_taken_on_the_scale_of_the_ratings_or_on_one_to_ten(saved, built):
    found = perspective_of_judge(saved, built, perspective="global", samples=3, rng=RNG(0))
    report = found.reports["faithfulness"]
    assert report.basis.n_samples == (3, 3)
    assert set(report.ratings.tolist()) <= {0, 1, 2, 3}
    asked, why = asked_on(saved, Scale(low=1, high=10, kind="integer"), 1.0)
    assert (asked.protocol.answers.high, asked.protocol.temperature, why) == (10, 1.0, None)
    local = perspective_of_judge(saved, built, perspective="local", samples=3, rng=RNG(0))
    assert local.reports["faithfulness"].basis.n_samples == (3, 3)
    again = perspective_of_judge(
        saved, built, perspective="local", samples=3, rng=RNG(0), concurrency=2
    )
    assert again.to_dict() == local.to_dict()


def test_texts_that_the_judge_was_made_from_are_left_out_where_there_are_others(saved):
    data = judgesmith.read("sample")
    fresh = [one.model_copy(update={"source": one.source + " "}) for one in data.items[:20]]
    both = DataSet(name="both", items=(*data.items[40:60], *fresh))
    found = perspective_of_judge(saved, both, perspective="global", target="overall", rng=RNG(0))
    assert "20 of 40 texts, those that the judge was made from, are left out." in found.notes
    alone = DataSet(name="alone", items=tuple(fresh))
    same = perspective_of_judge(saved, alone, perspective="global", target="overall", rng=RNG(0))
    assert found.reports["overall"].kappa.value == same.reports["overall"].kappa.value
    flattered = perspective_of_judge(
        saved, data.subset(range(40)), perspective="global", target="overall", rng=RNG(0)
    )
    assert any("made from all of these texts" in note for note in flattered.notes)


def test_a_criterion_rated_on_texts_of_the_judge_alone_is_left_out(saved):
    data = judgesmith.read("sample")
    fresh = [
        one.model_copy(
            update={"source": one.source + " ", "human": {"fluency": one.human["fluency"]}}
        )
        for one in data.items[:20]
    ]
    both = DataSet(name="both", items=(*data.items[40:60], *fresh))
    found = perspective_of_judge(saved, both, perspective="global", rng=RNG(0))
    assert list(found.reports) == ["fluency"]
    assert "made from all texts" in found.left_out["faithfulness"]
    with pytest.raises(ValueError, match="faithfulness: the judge was made from all texts"):
        perspective_of_judge(saved, both, perspective="global", target="faithfulness", rng=RNG(0))


def test_a_judge_that_scores_none_of_the_criteria_needs_a_target(saved):
    human = [{"wit": (r, r), "charm": (r, r)} for r in (1, 2)]
    items = [
        RatedItem(source="a b", response=f"r{n}", human=one, scale=dict.fromkeys(one, "1..5"))
        for n, one in enumerate(human)
    ]
    data = DataSet(name="toy", items=tuple(items))
    with pytest.raises(ValueError, match="scores none of wit, charm"):
        perspective_of_judge(saved, data, perspective="local", rng=RNG(0))
    found = perspective_of_judge(saved, data, perspective="local", target="Wit", rng=RNG(0))
    assert "its score is for mean, and compared with wit." in found.notes
    with pytest.raises(ValueError, match="nobody rated 'grace'"):
        perspective_of_judge(saved, data, perspective="local", target="grace", rng=RNG(0))


def test_where_no_rating_is_beyond_doubt_that_is_said_and_nobody_is_asked(saved):
    data = judgesmith.read("sample").subset(range(4))
    lone = [
        one.model_copy(update={"human": {k: v[:1] for k, v in one.human.items()}}) for one in data
    ]
    single = DataSet(name="single", items=tuple(lone))
    with pytest.raises(ValueError, match=r"4 have a single rating.*--aggregate mode"):
        perspective_of_judge(saved, single, perspective="local", rng=RNG(0))


@pytest.mark.parametrize("perspective", ["global", "local"])
def test_a_budget_that_reached_nothing_is_named_with_what_to_do(saved, built, perspective):
    lm = judgesmith.model("offline", ledger=None, max_calls=0)
    with pytest.raises(ValueError, match=r"is spent\. Give a larger one; [a-z ]+\.$"):
        perspective_of_judge(saved, built, perspective=perspective, lm=lm, rng=RNG(0))


def test_objectives_see_a_built_set_as_the_perspectives_do(saved, built):
    right = right_levels(built, "faithfulness")
    judgements = score_batch(saved, built.items)
    table = replace(
        prediction_table(
            on_criterion(judgements, "faithfulness"),
            right.values,
            sources=built.groups,
            systems=np.asarray([one.system_id for one in built]),
        ),
        scale=right.scale,
        judge_scale=PERCENT,
    )
    near = perspective_of_judge(saved, built, perspective="local", rng=RNG(0))
    assert parse_objective("adjacent").value(table) == pytest.approx(near.mean.value)
    wide = perspective_of_judge(saved, built, perspective="global", rng=RNG(0))
    assert parse_objective("kappa_linear").value(table) == pytest.approx(wide.mean.value)
