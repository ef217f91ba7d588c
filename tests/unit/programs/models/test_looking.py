import pytest

from judgesmith.programs.lm import (
    BudgetSpent,
    ClientModel,
    LMClient,
    ModelAnswer,
    ModelRequest,
    Prefix,
    ResponseCache,
    client_model,
)
from judgesmith.programs.lm.factory import cache_only_model


class Echo:
    endpoint = "echo"

    def answer(self, request):
        return ModelAnswer(text=request.user, input_tokens=1, output_tokens=1, seconds=0.25)


def question(text):
    return ModelRequest(model="echo", prefix=Prefix(), user=text)


def test_what_is_on_record_is_found_and_nothing_else_is_asked(tmp_path):
    stack = LMClient(Echo(), ledger=ResponseCache(tmp_path / "ledger.sqlite"))
    stack.complete_sync(question("first"))
    lm = ClientModel(model="echo", client=stack, temperature=0.0, max_tokens=None, recipe={})
    looked = cache_only_model(lm).client
    assert looked.complete_sync(question("first")).from_cache
    with pytest.raises(BudgetSpent, match="not on record"):
        looked.complete_sync(question("second"))
    assert (stack.spent.calls, looked.usage.calls, looked.usage.hits) == (1, 0, 1)
    stack.ledger.close()


def test_a_stack_tells_what_each_answer_took():
    stack = LMClient(Echo())
    heard = []
    stack.on_answer(heard.append)
    stack.complete_sync(question("one"))
    stack.on_answer(None)
    stack.complete_sync(question("two"))
    assert heard == [0.25]
    assert stack.places is None


def test_the_places_of_a_gate_are_told():
    assert (
        client_model("openai/m", ledger=None, api_base="http://localhost:1/v1").client.places == 32
    )
