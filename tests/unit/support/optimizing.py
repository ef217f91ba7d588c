"""What every optimizer of judges promises, and what its tests are made of."""

import hashlib
import re

import dspy
import numpy as np
import pytest

from judgesmith.optimizers.objectives.grammar import as_objective
from judgesmith.programs import ActiveCritic, judge_items
from judgesmith.programs.families.ensemble.judges import scale_of
from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, model
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import Scale

LIKERT = Scale(low=1, high=5)


def examples(sources, *, per_source=2):
    """Return rated texts; what people said depends on their place alone."""
    rng = np.random.default_rng(3)
    return [
        dspy.Example(
            source=f"The council met on day {s} and spoke of bridge number {s}.",
            context=None,
            response=f"The council met{' and spoke of the bridge' * (k + s % 3)} {s}-{k}.",
            score=float(rng.integers(1, 6)),
            scale=LIKERT,
            group=s,
        ).with_inputs("source", "context", "response")
        for s in sources
        for k in range(per_source)
    ]


def example(n, **fields):
    """Return one short rated text, other than those of other numbers, with fields as given."""
    given = {"source": f"s{n}", "response": f"r{n}", "score": 1.0 + n % 5, "scale": LIKERT}
    return dspy.Example(**{**given, **fields}).with_inputs("source", "response")


def examples_with_criteria():
    """Return texts with scores of criteria, whose names are written differently; some lack them."""
    return [
        example(0, criteria={"Fact_Check": 0, "joy": 50}),
        example(1),
        example(2, criteria={"**fact check**": 100.0, "joy": None}),
        example(3, criteria={"fact check": 25, "joy": float("nan")}),
    ]


class Engine:
    """Answers a vanilla judge by a rule over (question, examples shown, instruction)."""

    endpoint = "scripted"

    def __init__(self, rule):
        self.rule = rule
        self.asked = 0

    def answer(self, request):
        """Answer as the rule says."""
        self.asked += 1
        messages = request.prefix.messages
        shown = [one.text for one in messages if one.role == "user"]
        system = "".join(one.text for one in messages if one.role == "system")
        score = self.rule(request.user, shown, system)
        text = f"[[ ## score ## ]]\n{score}\n\n[[ ## completed ## ]]"
        return ModelAnswer(text=text, input_tokens=1, output_tokens=1)


def lm_of(rule, *, ledger=None, **budget):
    """Return a model that follows a rule."""
    stack = LMClient(Engine(rule), ledger=ledger, budget=Budget(**budget))
    return ClientLM.over(stack, "scripted", recipe={})


def number(text, most=100):
    """Return a whole number up to ``most`` that depends on a text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) % (most + 1)


def levels(system):
    """Return the lowest and the highest point that a question asks for."""
    found = re.search(r"a whole number from (\d+) \([a-z ]+\) to (\d+)", system)
    return int(found[1]), int(found[2])


class OptimizerContract:
    """Subclass it with a fixture ``optimizer``: a function from settings to an optimizer."""

    @pytest.fixture
    def student(self):
        return ActiveCritic()

    @pytest.fixture
    def trainset(self):
        return examples(range(30))

    @staticmethod
    def chosen_by(optimizer, trainset):
        """Return the rows that the optimizer chooses by."""
        raise NotImplementedError

    def test_leaves_the_student_as_it_was(self, optimizer, student, trainset):
        before = student.dump_state()
        optimizer().compile(student, trainset=trainset)
        assert student.dump_state() == before

    def test_compiling_twice_gives_the_same_judge(self, optimizer, student, trainset):
        twice = [optimizer().compile(student, trainset=trainset) for _ in range(2)]
        assert twice[0].dump_state() == twice[1].dump_state()

    def test_the_judge_is_a_new_one(self, optimizer, student, trainset):
        assert optimizer().compile(student, trainset=trainset) is not student

    def test_asks_for_items(self, optimizer, student):
        with pytest.raises(ValueError, match="no rated items"):
            optimizer().compile(student, trainset=[])

    def test_asks_for_a_judge(self, optimizer, trainset):
        with pytest.raises(TypeError, match="expected a judge"):
            optimizer().compile(dspy.Predict("source -> score"), trainset=trainset)

    def test_is_never_worse_on_the_rows_it_chose_by(self, optimizer, student, trainset):
        made = optimizer()
        judge = made.compile(student, trainset=trainset)
        rows = self.chosen_by(made, trainset)
        before, after = (
            as_objective("q").value(
                rows.judged(judge_items(one, rows.items), judge_scale=scale_of(one))
            )
            for one in (student, judge)
        )
        assert after >= before

    def test_without_any_budget_the_student_comes_back(self, optimizer, student, trainset):
        lm = model("offline", ledger=None, max_calls=0)
        judge = optimizer(lm=lm).compile(student, trainset=trainset)
        assert judge.protocol == student.protocol

    def test_says_nothing(self, optimizer, student, trainset, capfd):
        optimizer().compile(student, trainset=trainset)
        assert capfd.readouterr() == ("", "")
