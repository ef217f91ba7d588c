"""What tests of optimizers are made of: rated rows, and models that follow rules."""

import hashlib
import re

import dspy
import numpy as np

from judgesmith.programs.lm import Budget, LMClient, ModelAnswer, ResponseCache, lm_client_of
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
    return scripted(Engine(rule), ledger=ledger, **budget)


def scripted(engine, *, ledger=None, **budget):
    """Return a model that an engine answers for."""
    client = LMClient(engine, ledger=ledger, budget=Budget(**budget))
    return ClientLM.over(client, "scripted", recipe={})


def number(text, most=100):
    """Return a whole number up to ``most`` that depends on a text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) % (most + 1)


def levels(system):
    """Return the lowest and the highest point that a question asks for."""
    found = re.search(r"a whole number from (\d+) \([a-z ]+\) to (\d+)", system)
    return int(found[1]), int(found[2])


class Writer:
    """Writes texts, each other than the last, and scores by what a response says."""

    endpoint = "scripted"

    def answer(self, request):
        """Fill the fields that are asked for."""
        system = "".join(one.text for one in request.prefix.messages)
        wanted = re.findall(r"\[\[ ## (\w+) ## \]\]", system + request.user)
        digest = hashlib.blake2b(request.user.encode(), digest_size=4).digest()
        score = 1 + int.from_bytes(digest) % 5
        texts = {"diagnosis": "It is vague.", "rewritten": f"Judge by rule {request.sample}."}
        texts |= {"paraphrase": f"Judge it by rule {request.sample}."}
        fields = {name: texts[name] for name in texts if name in wanted} or {"score": score}
        text = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items())
        return ModelAnswer(text=f"{text}\n\n[[ ## completed ## ]]", input_tokens=1, output_tokens=1)


def writer(*, ledger=None, **budget):
    """Return a model that writes texts, with its answers in a file where one is given."""
    kept = None if ledger is None else ResponseCache(ledger)
    return scripted(Writer(), ledger=kept, **budget)


def n_calls(lm):
    """Return how many requests a model was sent."""
    return lm_client_of(lm).usage.calls
