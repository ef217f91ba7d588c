"""What is not there is neither counted nor spoken of: texts without a context."""

import pytest

import judgesmith
from judgesmith.programs import ActiveCritic
from judgesmith.signatures import RatedItem

TALK = "A: Do you like to sail?\nB: I do, my uncle has a boat.\nA: Where does he sail it?"
TURN = "He sails it on the lake near Bergen in the summer."
CRITERIA = {"groundedness": "Does the turn use the given facts?", "coherence": "Does it fit?"}


def judged(context):
    item = RatedItem(source=TALK, response=TURN, context=context)
    (found,) = judgesmith.judge_items(ActiveCritic(rubric={"criteria": CRITERIA}), [item])
    words = [found.explanation, *(one.explanation for one in found.criteria.values())]
    return found, " ".join(words).lower()


def test_a_dialogue_without_a_context_is_not_held_against_one():
    _, words = judged(None)
    assert "context" not in words
    given, words = judged("Tomatoes ripen in warm soil.")
    assert "context" in words
    assert judged(None)[0].criteria["groundedness"].score > given.criteria["groundedness"].score


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_context_is_none(blank):
    found, words = judged(blank)
    none, _ = judged(None)
    assert "context" not in words
    assert found.score == none.score
