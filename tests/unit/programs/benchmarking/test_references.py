"""References chosen: nothing is lost uncounted, the best that differ are kept."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesmith.programs.benchmarking import diverse, references_for, write_references
from judgesmith.programs.families.modules import DirectJudge
from judgesmith.programs.judging.ask_once import Written
from judgesmith.programs.judging.runner import score_batch
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.rubric import Rubric

RUBRIC = Rubric(task="Judge.", criteria={"brevity": "Is it short?"})
SOURCE = "Ann left Rome. It rained. Bob wept."
TEXTS = ("ten a b", "twenty c d", "ninety e f", "eighty g h", "eighty-one g h")
SCORES = dict(
    zip(("ten", "twenty", "ninety", "eighty", "eighty-one"), (10, 20, 90, 80, 81), strict=True)
)


class Engine:
    """Scores a text by its first word, or says nothing that can be read."""

    endpoint = "scripted"

    def __init__(self):
        self.n_asked = 0

    def answer(self, request):
        self.n_asked += 1
        word = request.user.split("[[ ## response ## ]]\n")[1].split("\n")[1].split()[0]
        text = f"[[ ## score ## ]]\n{SCORES.get(word, 'well')}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def scripted(**budget):
    engine = Engine()
    stack = LMClient(engine, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={}, temperature=0.0), engine


def item(*references, source=SOURCE, context=None):
    return RatedItem(source=source, context=context, references=references, response="")


def ids(found):
    return [one.id for one in found.by_item[0]]


def test_the_best_share_goes_on_and_of_it_those_least_alike():
    lm, engine = scripted()
    found = references_for([item(*TEXTS)], RUBRIC, 2, lm, share=0.6)
    assert ids(found) == ["given-3", "given-5"]  # of two equally far from the best, the better
    assert [one.quality for one in found.by_item[0]] == [0.9, 0.81]
    assert found.dropped == {"lower quality than others": 2, "good, but not needed": 1}
    assert (found.n_candidates, found.n_without, engine.n_asked) == (5, 0, 5)


def test_as_many_as_are_wanted_go_on_however_small_the_share():
    lm, _ = scripted()
    found = references_for([item(*TEXTS)], RUBRIC, 4, lm, share=0.1)
    assert sorted(ids(found)) == ["given-2", "given-3", "given-4", "given-5"]
    assert found.dropped == {"lower quality than others": 1}


def test_a_source_with_no_more_than_are_wanted_keeps_all_unrated():
    lm, engine = scripted()
    found = references_for([item(*TEXTS), item("ten")], RUBRIC, 5, lm)
    assert [len(several) for several in found.by_item] == [5, 1]
    assert {one.quality for several in found.by_item for one in several} == {None}
    assert (engine.n_asked, found.dropped) == (0, {})


def test_what_says_nothing_of_its_own_is_no_reference():
    context = "Rome is a city."
    given_texts = ("", "…", "ann left rome; it rained, bob wept", "ROME is a city", "Wet.", "wet")
    found = references_for([item(*given_texts, context=context)], RUBRIC, 3)
    assert ids(found) == ["given-5"]
    assert found.dropped == {
        "no word in it": 2,
        "a copy of the source": 2,
        "the same as another": 1,
    }


def test_candidates_of_all_origins_are_told_apart_by_their_names():
    written = [
        [
            Written(text=" Wet. "),
            Written(cause=Cause(Reason.UNREADABLE, "a refusal")),
            Written(text="Cold."),
        ]
    ]
    found = references_for([item("It.")], RUBRIC, 9, responses=[["Dry.", "It!"]], written=written)
    assert [(one.id, one.text) for one in found.by_item[0]] == [
        ("given-1", "It."),
        ("response-1", "Dry."),
        ("written-1", "Wet."),
        ("written-3", "Cold."),
    ]
    assert found.dropped == {"the same as another": 1, "not written": 1}
    assert (found.n_candidates, list(map(str, found.causes))) == (6, ["a refusal"])


def test_a_source_without_any_is_counted():
    found = references_for([item(), item("It.")], RUBRIC, 1)
    assert (found.by_item[0], found.n_without, found.n_candidates) == ((), 1, 1)


def test_what_has_no_score_is_left_out_where_enough_have_one():
    lm, _ = scripted()
    found = references_for([item("what x", *TEXTS)], RUBRIC, 2, lm, share=1)
    assert found.dropped == {"no quality score": 1, "good, but not needed": 3}
    assert found.by_item[0][0].quality == 0.9


def test_what_has_no_score_stands_in_where_too_few_have_one():
    lm, _ = scripted()
    found = references_for([item("what x", "why y", "ten a b")], RUBRIC, 2, lm)
    assert [(one.id, one.quality) for one in found.by_item[0]] == [
        ("given-3", 0.1),
        ("given-1", None),
    ]
    assert found.dropped == {"no quality score": 1}
    assert len(found.causes) == 1


def test_what_the_budget_does_not_reach_is_told():
    lm, _ = scripted(max_calls=3)
    found = references_for([item(*TEXTS)], RUBRIC, 1, lm)
    assert [one.reason for one in found.causes] == [Reason.OVER_BUDGET]
    assert sum(found.dropped.values()) + 1 == found.n_candidates


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.text("ab .!🦆", max_size=6), max_size=8),
    st.integers(1, 4),
    st.floats(0.05, 1),
    st.integers(1, 9),
)
def test_every_candidate_is_a_reference_or_counted(texts, n, share, concurrency):
    lm = model("offline", ledger=None)
    one = item(*texts)
    found = references_for([one, one], RUBRIC, n, lm, share=share, concurrency=concurrency)
    assert found.n_candidates == 2 * len(texts)
    assert sum(map(len, found.by_item)) + sum(found.dropped.values()) == found.n_candidates
    assert found.by_item[0] == found.by_item[1]
    assert len(found.by_item[0]) <= n


def test_choosing_is_what_its_definition_says_offline():
    lm = model("offline", ledger=None)
    texts = [
        one.text
        for one in write_references([item(source=" ".join(TEXTS) + ". " + SOURCE)], RUBRIC, 5, lm)[
            0
        ]
    ]
    texts = list(dict.fromkeys(texts))
    found = references_for([item(*texts)], RUBRIC, 2, lm)
    judged = score_batch(
        DirectJudge(rubric=RUBRIC), [RatedItem(source=SOURCE, response=t) for t in texts], lm=lm
    )
    order = sorted(range(len(texts)), key=lambda place: -judged[place].score)
    good = order[: max(2, math.ceil(len(texts) / 2))]
    expected = [good[place] for place in diverse([texts[place] for place in good], 2)]
    assert [one.text for one in found.by_item[0]] == [texts[place] for place in expected]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n": 0}, "must be at least 1; got 0"),
        ({"share": 0}, "share must be above 0"),
        ({"written": [[], []]}, "written holds texts for each of 1 items; it has 2 entries"),
        ({"responses": [[], []]}, "responses holds texts for each of 1 items"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        references_for([item("x")], RUBRIC, **{"n": 1, **options})
