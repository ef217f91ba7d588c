import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesmith.programs.lm import (
    Message,
    ModelRequest,
    Prefix,
    SamplingSettings,
    records,
    request_identity,
    sampling,
)
from judgesmith.programs.lm.records import sample_number

anything = st.text(st.characters(codec=None), max_size=20)
turns = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), anything), max_size=3)


def asked(turns, user, **fields):
    prefix = Prefix([Message(role, text) for role, text in turns])
    return ModelRequest(model="p/m", prefix=prefix, user=user, **fields)


@pytest.mark.no_cover
@given(turns, anything, turns, anything)
def test_two_requests_share_an_identity_only_if_they_are_the_same(a, first, b, second):
    same = request_identity(asked(a, first), "e") == request_identity(asked(b, second), "e")
    assert same == ((a, first) == (b, second))


CHANGES = [
    {"sample": 1},
    {"settings": SamplingSettings(temperature=0.5)},
    {"settings": SamplingSettings(temperature=None)},
    {"settings": SamplingSettings(max_tokens=5)},
    {"settings": SamplingSettings(top_p=0.5)},
    {"settings": SamplingSettings(stop=("a", "b"))},
    {"settings": SamplingSettings(stop=("ab",))},
    {"settings": SamplingSettings(seed=0)},
    {"settings": SamplingSettings(logprobs=0)},
    {"settings": SamplingSettings(extra=(("top_k", "1"),))},
    {"original": object()},
]


def test_everything_that_can_change_an_answer_changes_the_identity():
    identities = {request_identity(asked([], "x", **change), "e") for change in [{}, *CHANGES]}
    identities.add(request_identity(asked([], "x"), "elsewhere"))
    other = ModelRequest(model="p/n", prefix=Prefix(), user="x")
    identities.add(request_identity(other, "e"))
    assert len(identities) == len(CHANGES) + 3


def test_a_whole_number_and_its_float_are_the_same_setting():
    whole = asked([], "x", settings=SamplingSettings(temperature=1))
    assert request_identity(whole, "e2") == request_identity(
        asked([], "x", settings=SamplingSettings(temperature=1.0)), "e2"
    )


def test_the_identity_is_stable_across_releases():
    # Changing this value makes every ledger in the world worthless; see SCHEMA_VERSION.
    request = asked([("user", "a"), ("assistant", "b")], "c")
    assert request_identity(request, "e").hex() == "21ed64b9197534770ffe2d58b4675bec"


def test_demonstrations_are_hashed_once_and_not_for_every_request(monkeypatch):
    request = asked([("user", "x" * 2000), ("assistant", "y" * 2000)] * 64, "z" * 500)
    hashed, framed = [], records.framed
    monkeypatch.setattr(records, "framed", lambda *part: hashed.append(part) or framed(*part))
    request_identity(request, "e")
    assert hashed == [("user", "z" * 500)]


def test_a_sample_number_below_zero_is_refused():
    with pytest.raises(ValueError, match="got -1"), sampling(-1):
        pass


def test_the_sample_number_ends_with_its_block():
    with sampling(sample=1):
        with sampling(2):
            assert sample_number.get() == 2
        assert sample_number.get() == 1
    assert sample_number.get() == 0
