"""Panels of annotators of which one invents errors: its place in the list, mean and weights."""

import re

import dspy
import pytest
from optimizing import number
from panelling import FIVE

from judgesmith.optimizers.fitting.panels import PanelSelection
from judgesmith.programs import PanelJudge, Supervisor, score_batch
from judgesmith.programs.families.modules import AnnotatorJudge
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures.items import RatedItem

LEVELS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
RUBRIC = {"criteria": {"truth": "Is it true to the source?"}}
FAULTS = {"at ten": "It left at nine.", "Oslo": "It was Bergen.", "Mr Ito": "She is a woman."}


def text_of(n):
    """Return a report with some of the faults, by a number from 0 to 7."""
    hour, city, who = (
        pair[n >> place & 1]
        for place, pair in enumerate((("nine", "ten"), ("Bergen", "Oslo"), ("Ms", "Mr")))
    )
    return f"On day {n} the ferry left at {hour}. {who} Ito sang. It was raining in {city}."


def rating(text):
    """Return what people would say: a level less for every fault."""
    return 5.0 - sum(fault in text for fault in FAULTS)


class Scripted:
    """A model that answers by a function of the response that it is shown."""

    endpoint = "scripted"

    def __init__(self, answer):
        self.say = answer

    def answer(self, request):
        """Answer in the form of annotators."""
        response = re.search(r"On day .*", request.user)[0]
        return ModelAnswer(text=self.say(response), input_tokens=1, output_tokens=1)


def report(errors, level):
    """Return an annotator's answer."""
    listed = [
        f'{k}. Location: "{words}"\n   Explanation: {why}\n   Severity: {severity}'
        for k, (words, why, severity) in enumerate(errors, start=1)
    ]
    told = "\n".join(listed) or "No Error"
    return f"Errors:\n{told}\n\nScore explanation: So it is.\nOverall score: {LEVELS[level - 1]}"


def careful(grade):
    """Return what an annotator says that finds the faults, and grades them in its own way."""

    def say(response):
        found = [(words, why, grade) for words, why in FAULTS.items() if words in response]
        return report(found, round(rating(response)))

    return say


def inventing(response):
    """Return what one says that quotes what is not there, and scores at random."""
    errors = [("a red balloon", "No balloon was there.", 5), ("ferry", "It was a boat.", 5)]
    return report(errors, 1 + number(response, most=3))


def panel(n_careful, supervisor):
    """Return annotators that each ask a model of their own, the last of which invents."""
    says = {f"careful {k}": careful(k + 1) for k in range(n_careful)} | {"eve": inventing}
    members = {}
    for name, say in says.items():
        members[name] = AnnotatorJudge(rubric=RUBRIC)
        stack = LMClient(Scripted(say), budget=Budget())
        members[name].set_lm(ClientLM.over(stack, "scripted", recipe={}))
    return PanelJudge(members, supervisor=supervisor)


def judged(judge, n):
    return score_batch(judge, [RatedItem(source="s", response=text_of(n))])[0]


@pytest.mark.parametrize("n_careful", [4, 2])
@pytest.mark.parametrize("supervisor", [None, Supervisor()])
def test_where_the_inventor_stands_apart_its_errors_leave_the_list_and_its_score_stays(
    n_careful, supervisor
):
    judge = panel(n_careful, supervisor)
    apart = [n for n in range(8) if rating(text_of(n)) - 1 - number(text_of(n), most=3) >= 2]
    assert apart
    for n in range(8):
        found = judged(judge, n)
        careful_score = 25 * (rating(text_of(n)) - 1)
        own = found.members["eve"]
        assert found.score == pytest.approx((n_careful * careful_score + own) / (n_careful + 1))
        assert found.outliers == ({"criterion:truth": ("eve",)} if n in apart else {})
        faults = [(words, n_careful) for words in FAULTS if words in text_of(n)]
        theirs = [] if n in apart else [("ferry", 5)]
        assert sorted((one.text, one.severity) for one in found.errors) == sorted(faults + theirs)
        assert all(one.located == "exact" for one in found.errors)
        flagged = [note.about for note in found.notes if note.kind == "left out"]
        assert flagged == ["eve/criterion:truth"]
        invented = found.annotations["eve"][0]
        assert (invented.text, invented.located) == ("a red balloon", "unresolved")


@pytest.mark.parametrize("n_careful", [4, 2])
def test_weights_are_learned_that_leave_the_inventor_out(n_careful):
    trainset = [
        dspy.Example(
            source=f"s{k}", response=text_of(k % 8), score=rating(text_of(k % 8)), scale=FIVE
        ).with_inputs("source", "response")
        for k in range(40)
    ]
    student = panel(n_careful, Supervisor())
    compiled = PanelSelection(n_repeats=2).compile(student, trainset=trainset)
    assert "eve" not in compiled.asked
    assert isinstance(compiled, PanelJudge)
    assert compiled.supervisor is not None
    found = judged(compiled, 7)
    assert {one.text for one in found.errors} == set(FAULTS)
    assert "eve" not in found.members
