import pytest

from judgesmith.programs.models.redaction import public_address, redacted


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdef0123456789",
        "sk-abc***def",
        "Bearer abcdef0123456789",
        "AIzaSyA0123456789abcdef",
        "gsk_0123456789abcdef",
    ],
)
def test_what_looks_like_a_key_is_taken_out(secret):
    shown = redacted(f"refused {secret} (HTTP 401)")
    assert "[key]" in shown
    assert secret[-4:] not in shown


def test_the_key_of_the_environment_is_taken_out_whatever_it_looks_like(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "plainwords")
    assert redacted("you sent plainwords") == "you sent [key]"


def test_addresses_lose_user_password_and_query():
    assert public_address("http://u:p@[::1]:80/v1/?api_key=x#y") == "http://[::1]:80/v1"
    assert redacted("http://u:pw@h/v1?key=abc&x=1") == "http://[key]@h/v1?[key]&x=1"


def test_ordinary_text_stays():
    assert redacted("the sky is blue; risk-averse task-force") == (
        "the sky is blue; risk-averse task-force"
    )
