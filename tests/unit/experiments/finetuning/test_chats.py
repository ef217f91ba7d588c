import pytest
from students import write_data

from judgesmith.experiments.distil.chats import as_question_and_answer, read_chats


def test_folders_are_read_one_after_the_other(data, tmp_path):
    other = write_data(tmp_path / "other", ["And?"], run="ba9876543210")
    found = read_chats([data, other])
    assert [chat[1]["content"] for chat in found.train] == ["Is it?", "Was it?", "Will it?", "And?"]
    assert [chat[1]["content"] for chat in found.validation] == ["Can it?"]
    assert found.runs == ("0123456789ab", "ba9876543210")
    assert found.digest != read_chats([data]).digest == read_chats([data]).digest


def test_only_the_answer_is_learned(data):
    parts = as_question_and_answer(read_chats([data]).train[0])
    assert [one["role"] for one in parts["prompt"]] == ["system", "user"]
    assert [one["role"] for one in parts["completion"]] == ["assistant"]


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"messages": 3}',
        '{"messages": [1, 2, 3]}',
        '{"messages": [{"role": "user", "content": "x"}]}',
        '{"messages": [{"role": "system", "content": 1}, {"role": "user", "content": "x"}, '
        '{"role": "assistant", "content": "x"}]}',
    ],
)
def test_a_line_that_is_no_chat_is_named(data, line):
    with (data / "train.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match=r"train\.jsonl:4: expected messages of system, user, as"):
        read_chats([data])


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no distillation data; name the folder"):
        read_chats([tmp_path])


def test_a_file_that_is_not_there_is_named(data):
    (data / "validation.jsonl").unlink()
    with pytest.raises(ValueError, match=r"validation\.jsonl: cannot be read; write the data"):
        read_chats([data])


def test_without_an_example_there_is_nothing_to_learn(tmp_path):
    with pytest.raises(ValueError, match="no example for training"):
        read_chats([write_data(tmp_path / "empty", [])])
