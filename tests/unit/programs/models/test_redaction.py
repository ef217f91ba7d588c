from urllib.parse import quote

import pytest

from judgesmith.programs.lm.errors import public_address, redacted


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdef0123456789",
        "sk-abc***def",
        "Bearer abcdef0123456789",
        "AIzaSyA0123456789abcdef",
        "gsk_0123456789abcdef",
        "AKIA0123456789ABCDEF",
        "Basic dXNlcjpwYXNzd29yZA==",
        "me:secretword@",
        "?access_token=0123456789abcdef",
        "&X-Amz-Signature=0123456789abcdef",
        "x-api-key: 0123456789abcdef",
        '"api-key": "0123456789abcdef',
    ],
)
def test_what_looks_like_a_key_is_taken_out(secret):
    host = "h" if secret.endswith("@") else ""
    shown = redacted(f"refused {secret}{host} (HTTP 401)")
    assert "[key]" in shown
    assert secret[-5:-1] not in shown


def test_the_key_of_the_environment_is_taken_out_whatever_it_looks_like(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plainwords")
    assert redacted("you sent plainwords") == "you sent [key]"


def test_a_key_of_the_environment_is_taken_out_however_it_is_spelled(monkeypatch):
    key = "plain words, with a/slash and more of them"
    monkeypatch.setenv("SOME_API_KEY", key)
    assert redacted(f"you sent {quote(key)}") == "you sent [key]"
    assert redacted(f"you sent {quote(key, safe='')} as {key}") == "you sent [key] as [key]"


def test_a_key_of_the_environment_that_is_no_text_is_taken_out_too(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plain\udcffwords")
    assert redacted("you sent plain\udcffwords") == "you sent [key]"
    assert redacted("you sent plain%FFwords to h") == "you sent [key] to h"


def test_a_part_of_a_long_key_is_taken_out(monkeypatch):
    key = "0123456789/abcdefghijklmnopqrstu"
    monkeypatch.setenv("SOME_API_KEY", key)
    assert redacted(f"you sent {key[:15]}****") == "you sent [key]"
    assert redacted(f"it ends in {key[-12:]}") == "it ends in [key]"


@pytest.mark.no_cover
@pytest.mark.parametrize("filling", ["a", "a:", ":", "a:a@", "?", "&a=", "sk-", " ", "basic "])
def test_long_runs_of_anything_take_no_time(filling, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "a" * 30 + "b" * 30)
    assert isinstance(redacted(filling * 200_000), str)


def test_addresses_lose_user_password_and_query():
    assert public_address("http://u:p@[::1]:80/v1/?api_key=x#y") == "http://[::1]:80/v1"
    assert public_address("u:p@h:80/v1?key=x") == "h:80/v1"
    assert redacted("http://u:pw@h/v1?key=abc&x=1") == "http://[key]@h/v1?[key]&x=1"


def test_ordinary_text_stays():
    assert redacted("the sky is blue; risk-averse task-force") == (
        "the sky is blue; risk-averse task-force"
    )
    for text in (
        "user@example.com at 12:30",
        "a basic understanding",
        "http://h:80/v1?n=1",
        "a: b",
    ):
        assert redacted(text) == text
