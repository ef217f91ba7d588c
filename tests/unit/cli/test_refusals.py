"""What a command says when something outside is wrong; bad input is in test_bad_input."""

import json
import os

COMPILE = ["compile", "data.jsonl", "-o", "new"]


def test_a_server_that_is_not_there_is_given_up(run, folder, data, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    done = run(*COMPILE, "--model", "openai/m", "--api-base", "http://127.0.0.1:9/v1")
    assert done.status == 2
    assert "Nothing has answered there so far: check the address (--api-base)" in done.err
    assert not (folder / "new").exists()


def test_a_wrong_key_is_given_up_at_once_and_not_quoted(run, data, server, monkeypatch):
    key = f"sk-{'a1' * 20}"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}})
    server.script({"status": 401, "body": body})
    done = run(*COMPILE, "--model", "openai/m", "--api-base", server.url)
    assert done.status == 2
    assert "(check the key in the environment.)" in done.err
    assert key not in done.err
    assert server.counts()["requests"] <= 32


def test_names_cannot_move_the_cursor_in_a_message(run, folder):
    name = f"\x1b[2J{os.urandom(2).hex()}.jsonl"
    done = run("check", name)
    assert done.status == 2
    assert "\\x1b[2J" in done.err
    assert "\x1b" not in done.err
