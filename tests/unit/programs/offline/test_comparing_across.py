"""The offline model comparing texts about different sources: fair to places, blind to sources."""

import hostile
import pytest

from judgesmith.programs.benchmarking import AcrossPair, Comparator
from judgesmith.signatures import RatedItem
from judgesmith.signatures.rubric import Criterion

TOWN = "The bridge over the Wupper opened on Monday. Two thousand people crossed it on foot."
RAIN = "It rained in Ghent for nine days. The canal rose by a metre, and three cellars flooded."
GOOD = RatedItem(source=TOWN, response="The bridge over the Wupper opened on Monday.")
INVENTED = RatedItem(source=RAIN, response="Carla bought 900 horses in Peru, says Mayor Smith.")
BROKEN = RatedItem(source=RAIN, response="the the rained rained canal canal it,, nine nine rose")
DEFINITIONS = {
    "consistency": "Is everything in the text supported by the source?",
    "fluency": "Is every sentence well written?",
    "relevance": "Does the text hold what matters in the source?",
}


def relation(first, second, criterion="fluency"):
    comparator = Comparator(Criterion(name=criterion, definition=DEFINITIONS[criterion]))
    ((_, found),) = comparator.each([AcrossPair(first, second)])
    assert found.cause is None
    assert not found.disagree
    return found.relation


@pytest.mark.parametrize("criterion", DEFINITIONS)
def test_a_text_is_similar_to_itself_on_every_criterion(criterion):
    assert relation(BROKEN, BROKEN, criterion) == "similar"


@pytest.mark.parametrize(
    ("worse", "criterion"),
    [(INVENTED, "consistency"), (BROKEN, "fluency"), (INVENTED, "relevance")],
)
def test_a_text_that_fails_its_own_source_loses_to_one_that_keeps_to_another(worse, criterion):
    assert relation(GOOD, worse, criterion) == "first"
    assert relation(worse, GOOD, criterion) == "second"


def test_texts_are_held_against_their_own_source_not_the_other():
    stranger = GOOD.model_copy(update={"source": RAIN})
    assert relation(GOOD, stranger, "consistency") == "first"


def test_nothing_at_all_loses():
    assert relation(RatedItem(source=TOWN, response=" "), GOOD) == "second"
    assert relation(RatedItem(source="", response=""), RatedItem(response="")) == "similar"


def test_orders_never_disagree_whatever_the_texts_say():
    texts = [RatedItem(source=TOWN, response=one) for one in list(hostile.TEXTS.values())[::4]]
    comparator = Comparator(Criterion(name="wit", definition="Is it funny?"), concurrency=1)
    found = [one for _, one in comparator.each(AcrossPair(text, GOOD) for text in texts)]
    assert {one.disagree for one in found} == {False}


@pytest.mark.parametrize(
    ("criterion", "fault"),
    [
        ("relevance", " Penguins rarely swim in warmer oceans."),
        ("consistency", " Penguins rarely swim in warmer oceans."),
        ("fluency", " Two thousnad people corssed it."),
    ],
)
def test_a_single_visible_fault_makes_a_text_lose_to_itself(criterion, fault):
    worse = GOOD.model_copy(update={"response": GOOD.response + fault})
    assert relation(GOOD, worse, criterion) == "first"
