import json

import numpy as np
import pytest

from judgesmith.data import DataError, DataSet, read_items
from judgesmith.experiments import perspective_of_scores
from judgesmith.experiments.evaluate.perspectives.perspectives import recorded_by_criterion
from judgesmith.experiments.evaluate.perspectives.ratings import SampledScores
from judgesmith.signatures import RatedItem, Scale
from judgesmith.signatures.scale import PERCENT

RNG = np.random.default_rng


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


def test_samples_on_file_are_reported_by_their_criterion_on_the_scale_that_is_named(
    recorded, three
):
    scores = recorded_by_criterion(recorded, three)
    assert sorted(scores) == ["charm", "wit"]
    asked = {"wit": Scale(low=1, high=5), "charm": PERCENT}
    found = perspective_of_scores(scores, three, perspective="global", answers=asked, rng=RNG(0))
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


def test_without_a_scale_samples_on_file_are_no_ratings_and_all_of_them_order(recorded, three):
    scores = recorded_by_criterion(recorded, three)
    unknown = "nobody says what its scores are points of. Say what .* with --answers"
    with pytest.raises(ValueError, match=unknown):
        perspective_of_scores(scores, three, perspective="global", rng=RNG(0))
    one = {"charm": PERCENT}
    found = perspective_of_scores(scores, three, perspective="global", answers=one, rng=RNG(0))
    assert list(found.reports) == ["charm"]
    assert "--answers" in found.left_out["wit"]
    near = perspective_of_scores(scores, three, perspective="local", rng=RNG(0))
    assert near.reports["wit"].basis.n_outside == 0


def test_answers_outside_of_the_scale_are_left_out():
    likert = Scale(low=1, high=5)
    found = SampledScores.of([[1, 8], [], [9]], [None, "cut off", None], likert)
    first, cut_off, outside = found.problems
    assert (first, cut_off) == (None, "cut off")
    assert outside.text == "no answer lies on the scale"
    assert found.n_outside == 2


@pytest.mark.data
def test_recorded_judges_are_seen_from_both_sides(data_folder):
    data = read_items(data_folder / "summeval.jsonl.gz")
    path = data_folder / "recorded" / "summeval_likert_llms.jsonl.gz"
    scores = recorded_by_criterion(path, data, judge="gpt-4-0314 rts", criterion="relevance")
    asked = {"answers": Scale(low=1, high=5), "rng": RNG(0)}
    wide = perspective_of_scores(scores, data, perspective="global", **asked)
    near = perspective_of_scores(scores, data, perspective="local", **asked)
    assert (wide.reports["relevance"].kappa.n, wide.reports["relevance"].basis.unscored.n) == (
        179,
        19,
    )
    assert round(wide.mean.value, 3) == 0.305
    assert round(near.mean.value, 3) == 0.303
