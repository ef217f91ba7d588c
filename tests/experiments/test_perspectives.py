import json
from dataclasses import replace

import numpy as np
import pytest

import judgesmith
from judgesmith.experiments import DataError, DataSet, read_items
from judgesmith.experiments.asked_samples import asked_on, scores_of_judge
from judgesmith.experiments.global_perspective import ratings_of
from judgesmith.experiments.perspective_ratings import right_levels
from judgesmith.experiments.perspective_report import mean_estimate
from judgesmith.experiments.perspective_scores import SampledScores
from judgesmith.experiments.perspectives import (
    perspective_of_judge,
    perspective_of_scores,
)
from judgesmith.experiments.recorded_samples import recorded_by_criterion, scale_of_answers
from judgesmith.experiments.score_files import Scores
from judgesmith.metrics import kappa_interval
from judgesmith.optimizers.grammar import parse_objective
from judgesmith.optimizers.source_counts import Counted, ratio_of_sums
from judgesmith.optimizers.table import judged_table, on_criterion
from judgesmith.programs import judge_items
from judgesmith.programs.models import stack_of
from judgesmith.signatures import Judgement, RatedItem, Scale
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
    assert stack_of(lm).spent.calls == undisputed * len(saved.questions)
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
        saved.model_copy(update={"model": "openai/w"}), built, perspective="local", rng=RNG(0)
    )
    assert any(note.startswith("openai/w judges") for note in clean.notes)


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


def test_learned_scores_beyond_their_scale_are_ordered_and_rated_at_its_end(saved):
    judgements = {n: (Judgement(score=score),) for n, score in enumerate((99.0, 101.0, 130.0))}
    found = scores_of_judge(judgements, 3, "wit", own="wit", scale=PERCENT, alone=False)
    assert found.values.ravel().tolist() == [99, 101, 130]
    assert ratings_of(found, np.arange(1.0, 6.0))[0].tolist() == [5, 5, 5]


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


@pytest.fixture
def recorded(tmp_path):
    """Two criteria of several samples each, of which one was on another scale."""
    rows = [
        {"source_id": "a", "system_id": str(n), "criterion": name, "judge": "j", "scores": scores}
        for name, by_text in {
            "wit": ([1, 1, 2, 1], [3, None, 3, 3], [7, 5, 5, 5]),
            "charm": ([10, 20, 90], [60, 70, 80], [90, 95, 99]),
        }.items()
        for n, scores in enumerate(by_text)
    ]
    path = tmp_path / "recorded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def three():
    items = [
        RatedItem(
            source_id="a",
            system_id=str(n),
            response=f"r{n}",
            human={"wit": (right, right), "charm": (right, right), "grace": (1, 1)},
            scale=dict.fromkeys(("wit", "charm", "grace"), Scale(low=1, high=5)),
        )
        for n, right in enumerate((1, 3, 5))
    ]
    return DataSet(name="three", items=tuple(items))


def test_samples_on_file_are_reported_by_their_criterion_on_the_scale_they_look_to_be_on(
    recorded, three
):
    scores = recorded_by_criterion(recorded, three)
    assert sorted(scores) == ["charm", "wit"]
    found = perspective_of_scores(scores, three, perspective="global", rng=RNG(0))
    assert {k: str(one.basis.answers) for k, one in found.reports.items()} == {
        "wit": "1..5",
        "charm": "0..100",
    }
    assert found.reports["wit"].ratings.tolist() == [1, 3, 5]
    assert found.reports["wit"].basis.n_outside == 1
    assert found.reports["charm"].ratings.tolist() == [2, 4, 5]
    assert found.mean.n_undefined == 0
    told = perspective_of_scores(
        scores, three, perspective="global", target="wit", answers=Scale(low=1, high=9), rng=RNG(0)
    )
    assert told.reports["wit"].ratings.tolist() == [1, 2, 3]


def test_recorded_criteria_that_nobody_rated_are_refused_with_what_to_say(recorded, three):
    bare = three.subset(range(3))
    items = [one.model_copy(update={"human": {"tone": (1, 1)}}) for one in bare]
    data = DataSet(name="bare", items=tuple(items))
    with pytest.raises(ValueError, match="say which go together"):
        recorded_by_criterion(recorded, data)
    both = recorded_by_criterion(recorded, three, criterion="wit")
    assert list(both) == [""]
    with pytest.raises(DataError):
        recorded_by_criterion(recorded, three, criterion="tone")


def test_the_scale_of_answers_is_people_s_if_nearly_all_lie_there():
    likert = Scale(low=1, high=5)
    assert scale_of_answers([[1] * 9 + [8]], likert) == likert
    assert str(scale_of_answers([[1] * 8 + [8, 8]], likert)) == "0..100"
    assert scale_of_answers([[-50.0, 2.0]], likert) is None
    found = SampledScores.of([[1, 8], [], [9]], [None, "cut off", None], likert)
    assert found.problems == (None, "cut off", "no answer lies on the scale")
    assert found.n_outside == 2


def test_the_mean_leaves_out_what_is_undefined_and_counts_it():
    part = ratio_of_sums(np.array([1.0, 0, 1]), np.ones(3), np.arange(3), 3)
    nothing = Counted(value=np.nan, of_counts=lambda c: np.full(len(c), np.nan), n_units=3)
    found = mean_estimate([part, nothing], 3, n=3, rng=RNG(0))
    assert (found.value, found.n_undefined) == (pytest.approx(2 / 3), 1)
    assert np.isnan(mean_estimate([nothing], 3, n=3, rng=RNG(0)).value)


def test_the_interval_of_a_mean_of_one_is_near_that_of_the_one():
    rng = RNG(1)
    right = rng.integers(1, 6, 120)
    judged = np.clip(right + rng.integers(-1, 2, 120), 1, 5)
    items = [
        RatedItem(
            source_id=str(n // 3),
            system_id=str(n % 3),
            response=f"r{n}",
            human={"wit": (float(one),) * 2},
            scale={"wit": Scale(low=1, high=5)},
        )
        for n, one in enumerate(right.tolist())
    ]
    data = DataSet(name="many", items=tuple(items))
    scores = Scores(
        values=judged.astype(float),
        problems=(None,) * 120,
        label="j",
        criterion=None,
        n_unused=0,
        samples=tuple((float(one),) for one in judged),
    )
    found = perspective_of_scores({"": scores}, data, perspective="global", rng=RNG(0))
    alone = kappa_interval(
        judged, right, sources=data.groups.tolist(), levels=range(1, 6), rng=RNG(5)
    )
    assert found.mean.value == pytest.approx(alone.value)
    assert (found.mean.low, found.mean.high) == pytest.approx((alone.low, alone.high), abs=0.02)


@pytest.mark.data
def test_recorded_judges_are_seen_from_both_sides(data_folder):
    data = read_items(data_folder / "summeval.jsonl.gz")
    path = data_folder / "recorded" / "summeval_likert_llms.jsonl.gz"
    scores = recorded_by_criterion(path, data, judge="gpt-4-0314 rts", criterion="relevance")
    wide = perspective_of_scores(scores, data, perspective="global", rng=RNG(0))
    near = perspective_of_scores(scores, data, perspective="local", rng=RNG(0))
    assert (wide.reports["relevance"].kappa.n, wide.reports["relevance"].basis.unscored.n) == (
        179,
        19,
    )
    assert round(wide.mean.value, 3) == 0.305
    assert round(near.mean.value, 3) == 0.303


def test_objectives_see_a_built_set_as_the_perspectives_do(saved, built):
    right = right_levels(built, "faithfulness")
    judgements = judge_items(saved, built.items)
    table = replace(
        judged_table(
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
