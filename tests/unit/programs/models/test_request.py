import pickle

import pytest

from judgesmith.programs.lm.records import Message, Prefix, framed


def test_a_system_message_anywhere_but_first_is_refused():
    with pytest.raises(ValueError, match="message 1 of 2"):
        Prefix([Message("user", "a"), Message("system", "b")])


def test_prefixes_are_equal_when_their_messages_are_and_survive_pickling():
    prefix = Prefix([Message("system", "a"), Message("user", "b")])
    assert pickle.loads(pickle.dumps(prefix)) == prefix
    assert len({prefix, Prefix(prefix.messages)}) == 1
    assert prefix != Prefix([Message("system", "ab")])


def test_the_framing_of_messages_cannot_be_imitated_by_their_text():
    assert framed("user", "a") + framed("user", "b") != framed("user", "a" + "user 1\nb")
    assert framed("user", "\ud800") != framed("user", "\udfff")
