"""The offline model writes texts of a wanted quality, and compares two, by rule."""

import pytest

from judgesmith.programs import judge_items
from judgesmith.programs.families.modules import ExemplarJudge
from judgesmith.programs.offline import Words
from judgesmith.programs.offline.judging import _compare_exemplars as _compare
from judgesmith.programs.offline.judging import text_of_quality
from judgesmith.programs.offline.requests import Question
from judgesmith.signatures import RatedItem
from judgesmith.signatures.family_configs import THREE, YES_NO

SOURCE = (
    "The bridge opened on Monday. Ann cut the ribbon, though it rained. Two thousand people came."
)
GOOD, BAD = text_of_quality(SOURCE, 1.0), text_of_quality(SOURCE, 0.25)


def verdict(first, second, words=THREE):
    question = Question(inputs=(), outputs=("verdict",), schemas={}, examples=(), answers=words)
    fields = {"criterion": "quality: Is it good?", "source": SOURCE, "context": None}
    ((found,),) = _compare(None, question, {**fields, "first": first, "second": second}).values()
    return found.chances


def test_a_share_of_the_source_stays_and_the_length_is_kept():
    lengths = {len(text_of_quality(SOURCE, share).split()) for share in (0, 0.25, 0.5, 1)}
    assert lengths == {len(SOURCE.split())}
    assert GOOD == SOURCE
    assert "bridge" not in text_of_quality(SOURCE, 0)


@pytest.mark.parametrize("source", ["", "   ", "A", "?!", "word " * 5000, "桥在星期一开放。"])
def test_any_source_gives_a_text(source):
    assert all(text_of_quality(source, share) for share in (0, 0.5, 1))


def test_neither_place_is_preferred():
    one, other = verdict(GOOD, BAD), verdict(BAD, GOOD)
    assert one["Worse"] == pytest.approx(other["Better"])
    assert one["Similar"] == pytest.approx(other["Similar"])
    assert one["Worse"] > 0.5
    yes, no = verdict(GOOD, BAD, YES_NO), verdict(BAD, GOOD, YES_NO)
    assert yes["Yes"] == pytest.approx(no["No"])
    assert verdict(GOOD, GOOD, YES_NO)["Yes"] == pytest.approx(0.5)


@pytest.mark.no_cover
def test_words_are_drawn_as_often_as_they_are_likely():
    item = RatedItem(source=SOURCE, response=text_of_quality(SOURCE, 0.6))
    usual, drawn = (
        judge_items(ExemplarJudge(levels=3, verdicts=one, n_sampled=400), [item])[0]
        for one in ("probabilities", "samples")
    )
    assert drawn.weighting["overall"].n == 400
    assert drawn.score == pytest.approx(usual.score, abs=5)


def test_likelihoods_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ValueError, match=r"sum to 1; got 0\.5"):
        Words({"Yes": 0.5})
