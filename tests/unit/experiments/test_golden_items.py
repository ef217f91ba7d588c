"""The texts that a judge keeps are a fair sample of all that it judged."""

import numpy as np

from judgesmith.experiments.compile.compiling import MOST_ITEMS, MOST_LETTERS, golden_items
from judgesmith.signatures import Judgement, RatedItem


def rows(n, letters=1):
    return [RatedItem(source="s", response=f"{number} " + "x" * letters) for number in range(n)]


def scored(scores):
    return [
        Judgement.unscored("refused") if score is None else Judgement(score=score)
        for score in scores
    ]


def test_few_are_all_kept_from_the_best_to_the_worst_but_those_without_a_score():
    kept = golden_items(rows(4), scored([2, None, 5, 2]))
    assert [one.response[0] for one in kept] == ["2", "0", "3"]
    assert golden_items(rows(2), scored([None, None])) == ()


def test_of_many_the_mean_is_that_of_all():
    scores = np.random.default_rng(0).normal(50, 20, 500).tolist()
    kept = golden_items(rows(500), scored(scores))
    assert len(kept) == MOST_ITEMS
    found = [one.judgement.score for one in kept]
    assert abs(np.mean(found) - np.mean(scores)) < 1
    assert found == sorted(found, reverse=True)
    assert max(found) < max(scores)


def test_of_long_texts_five_are_kept_all_over_the_scores():
    kept = golden_items(rows(60, letters=MOST_LETTERS // 10), scored(range(60)))
    assert [one.judgement.score for one in kept] == [53, 41, 29, 17, 5]
