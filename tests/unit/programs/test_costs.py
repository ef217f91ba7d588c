import math

import pytest
from optimizing import Engine

from judgesmith.programs import ActiveCritic, score_batch
from judgesmith.programs.judging.rows import knows_costs, usd_of
from judgesmith.programs.lm import LMClient, ModelAnswer, Price, model
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.dspy_lm import ClientLM
from judgesmith.signatures import Judgement, RatedItem

PRICE = Price(1.0, 10.0)
ITEMS = [RatedItem(source="The bridge opened.", response=f"It opened {k}.") for k in range(3)]


def lm_of(folder, *, price=PRICE, answer=None):
    engine = Engine(lambda user, shown, system: 50)
    if answer is not None:
        engine.answer = lambda request: answer
    return ClientLM.over(
        LMClient(engine, ledger=ResponseCache(folder / "ledger.sqlite"), price=price),
        "scripted",
        recipe={},
    )


def test_a_judgement_costs_what_its_answers_do_also_when_they_are_on_record(tmp_path):
    for _ in range(2):
        lm = lm_of(tmp_path)
        found = score_batch(ActiveCritic(variant="vanilla"), ITEMS, lm=lm)
        assert usd_of(found, lm) == pytest.approx((11e-6,) * 3)


def test_every_call_counts(tmp_path):
    lm = lm_of(tmp_path)
    twice = ActiveCritic(variant="vanilla", samples=2, temperature=0.7)
    assert usd_of(score_batch(twice, ITEMS, lm=lm), lm) == pytest.approx((22e-6,) * 3)


def test_what_the_server_did_not_count_is_undefined(tmp_path):
    text = "[[ ## score ## ]]\n50\n\n[[ ## completed ## ]]"
    lm = lm_of(tmp_path, answer=ModelAnswer(text=text, input_tokens=1, output_tokens=None))
    found = score_batch(ActiveCritic(variant="vanilla"), ITEMS, lm=lm)
    assert all(math.isnan(usd) for usd in usd_of(found, lm))


def test_free_models_need_no_ledger_and_unpriced_ones_cost_nobody_knows_what(tmp_path):
    free = model("offline", ledger=None)
    assert usd_of([Judgement(score=1.0, calls=("00",))], free) == (0.0,)
    unpriced = lm_of(tmp_path, price=None)
    assert not knows_costs(unpriced)
    assert usd_of([Judgement(score=1.0, calls=("00",))], unpriced) == ()
