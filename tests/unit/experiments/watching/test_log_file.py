import errno
import json
import logging
import os

import pytest

from judgesmith.errors import FileError
from judgesmith.experiments.scoring.watching import run_log as log_file
from judgesmith.experiments.scoring.watching.run_log import LogFile


def record(event, **details):
    return logging.makeLogRecord({"event": event, "details": details, "levelname": "INFO"})


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def said():
    return []


@pytest.fixture
def file(tmp_path, said):
    handler = LogFile(tmp_path / "log.jsonl", complain=said.append)
    yield handler
    handler.close()


def test_every_record_is_one_line_and_earlier_lines_stay(tmp_path, file):
    file.handle(record("started", models=["m\n\u2028é"]))
    second = LogFile(tmp_path / "log.jsonl", complain=print)
    second.handle(record("finished"))
    second.close()
    first, last = lines_of(tmp_path / "log.jsonl")
    assert (first["event"], first["level"], first["models"]) == ("started", "info", ["m\n\u2028é"])
    assert first["time"].endswith("Z")
    assert last["event"] == "finished"


def test_records_of_others_are_kept_without_keys(tmp_path, file):
    file.handle(logging.makeLogRecord({"msg": "key %s", "args": ("sk-abcdef0123456789",)}))
    (line,) = lines_of(tmp_path / "log.jsonl")
    assert (line["event"], line["message"]) == ("message", "key [key]")


def test_a_full_disk_is_said_once_and_the_log_goes_on_later(tmp_path, file, said, monkeypatch):
    real = os.write

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    file.handle(record("one"))
    monkeypatch.setattr(log_file.os, "write", full)
    file.handle(record("two"))
    file.handle(record("three"))
    monkeypatch.setattr(log_file.os, "write", lambda handle, said: real(handle, said[:5]))
    file.handle(record("torn"))
    monkeypatch.setattr(log_file.os, "write", real)
    file.handle(record("four"))
    file.handle(record("five"))
    assert len(said) == 1
    assert "No space left on device; the run goes on without its log." in said[0]
    first, torn, fourth, fifth = (tmp_path / "log.jsonl").read_text().splitlines()
    assert len(torn) == 5
    assert json.loads(first)["event"] == "one"
    assert json.loads(fourth)["lost_records"] == 3
    assert "lost_records" not in json.loads(fifth)


def test_a_place_that_cannot_be_opened_is_refused_at_once(tmp_path):
    with pytest.raises(FileError, match="Is a directory"):
        LogFile(tmp_path, complain=print)
