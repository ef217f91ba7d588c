import pytest

from judgesmith.programs.serving.requests import Refusal
from judgesmith.programs.serving.routes import Door

OPEN = Door(hosts=("judge.example", "127.0.0.1", "localhost"))  # as --host adds itself
LOCKED = Door(token="s3cret-token")


def status(door, path="/v1/judges", **headers):
    try:
        door.check(path, headers)
    except Refusal as refusal:
        return refusal.status
    return 200


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("10.1.2.3", 200),
        ("[::1]:8000", 200),
        ("Judge.Example:443", 200),
        ("rebound.example", 403),
        ("localhost.rebound.example:8000", 403),
        ("", 403),
    ],
)
def test_a_server_without_a_token_answers_to_its_own_names_alone(host, expected):
    assert status(OPEN, host=host) == expected
    assert status(OPEN, "/healthz", host=host) == 200


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:8000", 200),
        ("https://judge.example", 200),
        ("http://127.0.0.1:9000", 403),
        ("http://localhost:8000", 403),
        ("http://other.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
        ("http://a]b", 403),
    ],
)
def test_nor_does_it_answer_pages_of_other_servers(origin, expected):
    assert status(OPEN, host="127.0.0.1:8000", origin=origin) == expected


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("Bearer s3cret-token", 200),
        ("bearer  s3cret-token", 200),
        ("Bearer s3cret-tokem", 401),
        ("Bearer s3cret-token2", 401),
        ("Basic s3cret-token", 401),
        ("s3cret-token", 401),
        ("Bearer é\x00", 401),
        ("", 401),
    ],
)
def test_a_server_with_a_token_asks_for_just_that(authorization, expected):
    given = {"host": "any.example", "origin": "http://any", "authorization": authorization}
    for path in ("/v1/judges", "/v1/judges/a/judge", "/metrics", "/openapi.json", "/pages"):
        assert status(LOCKED, path, **given) == expected
    for path in ("/", "/page/page.js", "/healthz"):
        assert status(LOCKED, path, **given) == 200


def test_a_refusal_says_how_to_send_the_token_and_not_which():
    with pytest.raises(Refusal) as found:
        LOCKED.check("/metrics", {"authorization": "Bearer guess"})
    assert found.value.headers == {"WWW-Authenticate": "Bearer"}
    assert "s3cret" not in str(found.value.body)
    assert "guess" not in str(found.value.body)
