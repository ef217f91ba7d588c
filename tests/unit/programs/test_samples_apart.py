import numpy as np
import pytest

import judgesmith
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.families.modules import PairwiseJudge
from judgesmith.programs.families.samples_apart import judged_samples
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import RatedItem

ITEMS = [
    RatedItem(source="The bridge opened on Monday.", response=text)
    for text in ("It opened on Monday.", "It closed in 1987.")
]


def asking(**choices):
    return ActiveCritic(variant="vanilla", answers="1..5", temperature=1.0, **choices)


def test_samples_are_those_that_the_judge_itself_would_take(tmp_path):
    lm = judgesmith.model("offline", ledger=tmp_path / "ledger.sqlite")
    together = score_batch(asking(samples=4), ITEMS, lm=lm)
    asked = lm_client_of(lm).spent.calls
    apart = judged_samples(asking(), ITEMS, 4, lm=lm)
    assert lm_client_of(lm).spent.calls == asked == 8
    means = [np.mean([one.score for one in several]) for several in apart]
    assert means == pytest.approx([one.score for one in together])


def test_questions_that_go_out_together_are_numbered_alike():
    judge = ActiveCritic(criteria_calls="separate", overall="mean", temperature=1.0)
    several = judged_samples(judge, ITEMS[:1], 3)[0]
    assert len({call for one in several for call in one.calls}) == 3 * len(several[0].calls)
    assert judged_samples(judge, ITEMS[:1], 3, concurrency=1)[0] == several


def test_a_budget_that_runs_out_leaves_texts_without_samples_and_says_so():
    lm = judgesmith.model("offline", ledger=None, max_calls=3)
    first, second = judged_samples(asking(), ITEMS, 3, lm=lm)
    assert [one.problem for one in first] == [None] * 3
    assert all(one.problem.startswith("not asked: ") for one in second)


@pytest.mark.parametrize(
    ("judge", "n", "message"),
    [
        (asking(), 0, "samples must be 1 or more"),
        (asking(samples=2), 3, "takes 2 samples"),
        (PairwiseJudge(), 3, "ranks the responses"),
    ],
)
def test_judges_that_cannot_be_sampled_are_refused(judge, n, message):
    with pytest.raises(ValueError, match=message):
        judged_samples(judge, ITEMS, n)
