"""A search may show each text its nearest rows; the judge that wins keeps them and their number."""

import re

import dspy
import pytest
from optimizing import LIKERT

from judgesmith.optimizers import ProtocolSearch
from judgesmith.optimizers.space.demonstrations import CHOSEN, NEAREST, N
from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.lm import LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import RatedItem

TOPICS = ("ferry", "bridge", "council", "harvest", "violin", "glacier", "market", "library")
TOPICS += ("engine", "garden")


class ByExample:
    """Gives a text the grade of the example on its topic, and 50 where it is shown none."""

    endpoint = "by example"

    def answer(self, request):
        """Answer as the examples say."""
        (topic,) = set(TOPICS) & set(re.findall(r"\w+", request.user))
        messages = request.prefix.messages
        grades = [
            answer.text
            for question, answer in zip(messages[1::2], messages[2::2], strict=True)
            if topic in question.text
        ]
        text = grades[-1] if grades else "[[ ## score ## ]]\n50\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def rows(numbers):
    """Return rated texts; what people said depends on the topic alone."""
    return [
        dspy.Example(
            source=f"Report {n} is on the {topic}.",
            context=None,
            response=f"It says of the {topic} what it says, {n}.",
            score=float(1 + place % 5),
            scale=LIKERT,
            group=f"{n} {topic}",
        ).with_inputs("source", "context", "response")
        for n in numbers
        for place, topic in enumerate(TOPICS)
    ]


@pytest.fixture(scope="module")
def found():
    search = ProtocolSearch(
        n_trials=2,
        n_demonstrations=1,
        n_demo_sets=1,
        confirm=None,
        fixed=("variant", "answers", "samples", "weighting", "reduction"),
        first=({N: "1"}, {N: "1", CHOSEN: NEAREST}),
        lm=ClientLM.over(LMClient(ByExample()), "scripted/m", recipe={}),
    )
    student = ActiveCritic(variant="vanilla")
    return search, search.compile(student, trainset=rows(range(3)), valset=rows(range(3, 6)))


def test_the_nearest_win_where_they_are_what_helps(found):
    search, judge = found
    assert search.trials_[search.taken_].picked == {N: "1", CHOSEN: NEAREST}
    assert judge.protocol.nearest == 1
    assert len(judge.protocol.demonstrations["grade"]) == 30


def test_rows_of_the_pool_are_judged_by_other_rows(found):
    search, judge = found
    shown = rows(range(3))[0]
    item = RatedItem(source=shown.source, response=shown.response)
    (judgement,) = score_batch(judge, [item], lm=search.lm)
    assert judgement.score == 0  # as the two others on this topic


def test_another_choice_forgets_them(found):
    _, judge = found
    assert judge.with_choices({}).protocol == judge.protocol
    other = judge.with_choices({"answers": "1-5"}).protocol
    assert (other.nearest, other.demonstrations) == (None, {})
