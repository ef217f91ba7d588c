import gzip
import json
import stat

import pytest

from judgesmith.programs.lm import (
    CacheError,
    LMClient,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Prefix,
    ResponseCache,
    TokenLogprob,
)
from judgesmith.programs.lm.cache.recordings import play_recording, replaying, save_recording

ANSWERS = (
    ModelAnswer(text="plain", input_tokens=3, output_tokens=1, seconds=0.5),
    ModelAnswer(text="half \ud800 a pair\n", finish_reason="length", input_tokens=None),
    ModelAnswer(text="é", logprobs=(TokenLogprob("é", -0.25, (("é", -0.25), ("e", -2.0))),)),
    ModelAnswer(text="", adaptations=("no temperature.",), original='{"tool": 1}'),
)


FAILED = json.dumps(
    {"identity": "0" * 32, "model": "a/b", "endpoint": "", "kind": "budget", "message": "spent"}
    | {"status": None, "ceiling": "calls", "spent": [1, 2, float("nan"), 4]}
)


class Told:
    """An engine with something to say."""

    endpoint = "http://somewhere"

    def __init__(self):
        self.asked = 0

    async def complete(self, request):
        return self.complete_sync(request)

    def complete_sync(self, request):
        self.asked += 1
        return ANSWERS[int(request.user)]

    async def aclose(self):
        pass

    def close(self):
        pass


def asked(n, sample=0):
    return ModelRequest(model="a/b", prefix=Prefix(), user=str(n), sample=sample)


@pytest.fixture
def ledger(tmp_path):
    """A ledger with every kind of answer."""
    stack = LMClient(Told(), ledger=ResponseCache(tmp_path / "own.sqlite"))
    for n in range(len(ANSWERS)):
        stack.complete_sync(asked(n))
    return stack.ledger


@pytest.mark.parametrize("name", ["one.jsonl", "one.jsonl.gz"])
def test_a_cassette_plays_every_answer_and_sends_nothing(name, ledger, tmp_path):
    cassette = tmp_path / name
    assert save_recording(ledger, cassette) == len(ANSWERS)
    assert stat.S_IMODE(cassette.stat().st_mode) == 0o600
    other = ResponseCache(tmp_path / "other.sqlite")
    assert play_recording(cassette, other).answers == len(ANSWERS)
    engine = Told()
    stack = LMClient(replaying(engine), ledger=other)
    for n, told in enumerate(ANSWERS):
        found = stack.complete_sync(asked(n))
        for field in ("text", "finish_reason", "input_tokens", "output_tokens", "logprobs"):
            assert getattr(found, field) == getattr(told, field)
        assert (found.adaptations, found.original) == (told.adaptations, told.original)
    assert engine.asked == 0
    assert (stack.usage.calls, stack.usage.hits, stack.spent.calls) == (0, len(ANSWERS), 0)
    again = tmp_path / f"again-{name}"
    save_recording(other, again)
    assert again.read_bytes() == cassette.read_bytes()


def test_what_is_missing_is_named(ledger, tmp_path):
    stack = LMClient(replaying(Told()), ledger=ledger)
    with pytest.raises(ModelError, match=r"request [0-9a-f]{32} to a/b .sample 7., which ends '2'"):
        stack.complete_sync(asked(2, sample=7))


def test_answers_on_record_stay_as_they_are(ledger, tmp_path):
    cassette = tmp_path / "one.jsonl"
    save_recording(ledger, cassette)
    text = cassette.read_text().replace('"text":"plain"', '"text":"other"')
    cassette.write_text(text)
    play_recording(cassette, ledger)
    stack = LMClient(replaying(Told()), ledger=ledger)
    assert stack.complete_sync(asked(0)).text == "plain"


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda lines: lines[1:],
        lambda lines: lines[:-1],
        lambda lines: [],
        lambda lines: [lines[0], "[" * 100_000, *lines[2:]],
        lambda lines: [lines[0], json.dumps({"identity": "zz"}), *lines[2:]],
        lambda lines: [lines[0].replace("cassette 1", "cassette 9"), *lines[1:]],
        lambda lines: [line.replace('"input_tokens":3', '"input_tokens":"3"') for line in lines],
        lambda lines: [line.replace('"input_tokens":3', '"input_tokens":-3') for line in lines],
        lambda lines: [
            line.replace('"input_tokens":3', f'"input_tokens":{9**30}') for line in lines
        ],
        lambda lines: [json.dumps({**json.loads(lines[0]), "failures": 1}), *lines[1:], "5"],
        lambda lines: [json.dumps({**json.loads(lines[0]), "failures": 1}), *lines[1:], FAILED],
    ],
)
def test_what_is_no_cassette_is_refused(spoilt, ledger, tmp_path):
    cassette = tmp_path / "one.jsonl"
    save_recording(ledger, cassette)
    cassette.write_text("\n".join(spoilt(cassette.read_text().splitlines())))
    with pytest.raises(ValueError, match="not a recording, or changed since it was recorded"):
        play_recording(cassette, ResponseCache(tmp_path / "other.sqlite"))


def test_a_file_that_is_not_packed_or_cut_off_is_refused(ledger, tmp_path):
    cassette = tmp_path / "one.jsonl.gz"
    cassette.write_text("plain")
    with pytest.raises(ValueError, match="not packed, but its name says so"):
        play_recording(cassette, ledger)
    cassette.write_bytes(gzip.compress(b"x" * 5000)[:-12])
    with pytest.raises(ValueError, match="not a recording"):
        play_recording(cassette, ledger)


def test_a_ledger_that_is_not_there_has_no_cassette(tmp_path):
    with pytest.raises(CacheError, match="there is no cache"):
        save_recording(ResponseCache(tmp_path / "none.sqlite"), tmp_path / "one.jsonl")
