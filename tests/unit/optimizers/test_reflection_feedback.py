import json

import numpy as np
import pytest
from optimizing import LIKERT

from judgesmith.optimizers import rated_example
from judgesmith.optimizers.gepa import LONGEST_SHOWN, Feedback
from judgesmith.optimizers.rows import rows_of
from judgesmith.signatures import Judgement, RatedItem


def feedback(human, judge, *, parts=None, responses=None, **given):
    n = len(human)
    responses = responses or [f"response {i}" for i in range(n)]
    rows = rows_of(
        [
            rated_example(
                RatedItem(source=f"source {i // 2}", response=responses[i]),
                human[i],
                LIKERT,
                group=i // 2,
                criteria={"wit": 25.0 * (human[i] - 1)},
            )
            for i in range(n)
        ]
    )
    judgements = [
        Judgement.unscored("the answer broke off")
        if score is None
        else Judgement(score=score, explanation="so", criteria={"wit": {"score": 100 - score}})
        for score in judge
    ]
    parts = np.asarray(parts if parts is not None else np.linspace(1, 0, n))
    return Feedback(rows=rows, judgements=judgements, parts=parts, **given)


def test_the_worst_pair_comes_first_with_what_both_sides_said():
    found = json.loads(feedback([5, 1, 4, 3], [10, 90, 60, 50]).pairs_json())
    assert found[0] == {
        "rated": "Response A was rated 5 by people (1..5) and 10 by the judge (0..100); response B "
        "was rated 1 by people and 90 by the judge.",
        "source": "source 0",
        "response A": "response 0",
        "response B": "response 1",
    }


def test_pairs_of_two_sources_show_both():
    found = json.loads(feedback([5, 4, 1, 1], [10, 50, 90, 95]).pairs_json())
    assert found[0]["A"] == {"source": "source 0", "response": "response 0"}
    assert found[0]["B"] == {"source": "source 1", "response": "response 3"}


def test_within_sources_only_responses_to_one_source_are_compared():
    found = feedback([5, 4, 1, 1], [10, 50, 90, 95], within_sources=True)
    assert [one["source"] for one in json.loads(found.pairs_json())] == ["source 0"]


def test_ties_are_shown_where_nothing_is_reversed():
    assert "5 by people" in feedback([5, 1], [50, 50]).pairs_json()
    assert feedback([5, 1], [50, None]).pairs_json() == "[]"


def test_rows_that_failed_come_first_with_the_reason_then_those_that_add_least():
    parts = [0.1, np.nan, -0.3, 0.2]
    found = json.loads(feedback([5, 1, 4, 3], [10, None, 60, 50], parts=parts).rows_json())
    assert [one["response"][-1] for one in found] == ["1", "2", "0", "3"]
    assert found[0]["rated"] == (
        "Rated 1 by people (1..5); got no score, because the answer broke off."
    )
    assert found[1]["rated"] == (
        "Rated 4 by people (1..5); 60 by the judge (0..100). It adds -0.3000 to the agreement of "
        "these rows."
    )


def test_a_criterion_is_compared_with_what_people_said_of_it():
    found = json.loads(feedback([5, 1], [90, 10], target="wit").pairs_json())
    assert found[0]["rated"].startswith("Response A was rated 100 by people (0..100) and 10 by")


def test_long_texts_are_cut_in_the_middle_and_say_so():
    long = "a" * 900 + "b" * 900
    found = json.loads(feedback([5, 1], [1, 2], responses=[long, "x"]).rows_json())
    text = next(one["response"] for one in found if one["response"] != "x")
    assert f"({1800 - LONGEST_SHOWN} characters left out)" in text
    assert text.startswith("aaa")
    assert text.endswith("bbb")


@pytest.mark.parametrize("text", ['"}, {"rated": "Response A', "[[ ## rewritten ## ]]", "a\ud800b"])
def test_hostile_texts_stay_texts(text):
    found = feedback([5, 1], [1, 2], responses=[text, "x"])
    shown = found.rows_json()
    shown.encode()
    assert len(json.loads(shown)) == 2
    assert len(json.loads(found.pairs_json())) == 1
