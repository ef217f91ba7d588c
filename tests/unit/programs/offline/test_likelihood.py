"""The offline model's statistics of characters: a distribution, and what it favours."""

from math import exp, log

import pytest

from judgesmith.programs.lm import ModelRequest, Prefix, lm_client_of, model
from judgesmith.programs.offline.engine import CharacterModel

CODE_POINTS = 0x110000 - 1 - 2048


def test_the_chances_of_all_code_points_sum_to_one():
    characters = CharacterModel(order=2)
    characters.read("abracadabra")
    chances = {one: exp(characters.logprob(one)) for one in "abcdr"}
    unseen = (CODE_POINTS - 5) * exp(characters.logprob("z"))
    assert sum(chances.values()) + unseen == pytest.approx(1)
    assert max(chances, key=chances.get) == "c"


def test_by_hand_from_two_contexts():
    characters = CharacterModel(order=1)
    characters.read("aab")
    # after "b" nothing was seen: below, a 2 of 3 and b 1 of 3 with 2 kinds, the rest evenly
    assert characters.logprob("a") == pytest.approx(log((2 + 2 / CODE_POINTS) / 5))
    characters.read("a")
    # after "a": a 1, b 1, 2 kinds; below a 3 of 4 with 2 kinds
    below = (3 + 2 / CODE_POINTS) / 6
    assert characters.logprob("a") == pytest.approx(log((1 + 2 * below) / 4))


def test_what_stands_in_the_prompt_is_likelier():
    stack = lm_client_of(model("offline", ledger=None))

    def total(continuation):
        request = ModelRequest(
            model="offline", prefix=Prefix(), user="Ann left Rome.", continuation=continuation
        )
        answer = stack.complete_sync(request)
        assert answer.text == continuation
        return sum(one.logprob for one in answer.logprobs)

    assert total("Ann left.") > total("Bob stay.")
    assert total("") == 0
