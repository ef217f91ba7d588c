"""The HTTP application: routes, guard, door and service."""

import asyncio
import json
import sys
import threading
from contextlib import ExitStack

import pytest
from asgi import Caller
from exporting import saved_judge
from looping import for_each
from optimizing import lm_of
from panelling import Planted, error, judged, planted
from prometheus_client.parser import text_string_to_metric_families

from judgesmith.errors import InputError
from judgesmith.programs import Calibrated, DirectJudge, PairwiseJudge, Panel, score_batch
from judgesmith.programs.judging.executors import Executor
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.lm import CacheError, ModelError, model
from judgesmith.programs.serving import ServedJudge, ServingLimits, app
from judgesmith.programs.serving.requests import ClientGone, Refusal
from judgesmith.programs.serving.routes import Door, Fault, Guard, Row, Rows
from judgesmith.programs.serving.service import Service
from judgesmith.signatures import RatedItem
from judgesmith.signatures.aggregation import Calibration
from judgesmith.signatures.plain_data import json_line

# application

LEARNED = Calibration(
    thresholds=(0, 100),
    values=(1, 5),
    scale="1..5",
    margin=0.5,
    confidence=0.9,
    n_map=40,
    n_sources_map=20,
    n_margin=40,
    n_sources_margin=20,
)
SOURCE = "The bridge opened on Monday. Two thousand people crossed it."
ITEMS = [
    {"source_id": "s", "system_id": str(n), "source": SOURCE, "response": text}
    for n, text in enumerate(("The bridge opened on Monday.", "Bridge 1987 cats.", "", "é😀\u202e"))
]
RATED = [RatedItem(**one) for one in ITEMS]
KINDS = {
    "direct": DirectJudge(),
    "panel": Panel({"one": DirectJudge(), "two": DirectJudge()}),
    "calibrated": Calibrated(DirectJudge(), LEARNED),
    "pairs": PairwiseJudge(),
}
LINES = "application/x-ndjson"


def client_of(judges, **options):
    return Caller(app(judges, **options))


@pytest.fixture(scope="module")
def lm():
    return model("offline", ledger=None)


@pytest.fixture(scope="module")
def client(lm):
    with client_of(KINDS, lm=lm) as made:
        yield made


def rows_of(judge, lm, items):
    """Return the rows that score would write of items."""
    found = score_batch(judge, items, lm=lm)
    return [json.loads(json_line(score_row(*one))) for one in zip(items, found, strict=True)]


def bare(row):
    assert Row.model_validate(row).judge
    return {name: one for name, one in row.items() if name not in ("judge", "target")}


@pytest.mark.parametrize("name", KINDS)
def test_rows_are_those_that_score_writes_by_every_kind_of_judge(client, lm, name):
    expected = rows_of(KINDS[name], lm, RATED)
    reply = client.post(f"/v1/judges/{name}/batch", {"items": ITEMS})
    assert Rows.model_validate(reply.json).unscored == 0
    assert list(map(bare, reply.json["results"])) == expected
    if name == "pairs":
        return
    alone = client.post(f"/v1/judges/{name}/judge", ITEMS[1])
    assert bare(alone.json) == expected[1]
    body = "\n".join(map(json.dumps, ITEMS))
    lines = client.post(f"/v1/judges/{name}/stream", body.encode(), content_type=LINES)
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [bare(json.loads(line)) for line in lines.text.splitlines()] == expected


def test_sources_are_told_apart_by_a_judge_that_compares(client, lm):
    others = [{**one, "source": f"{SOURCE} It rained."} for one in ITEMS]
    mixed = [one for pair in zip(ITEMS, others, strict=True) for one in pair]
    reply = client.post("/v1/judges/pairs/batch", {"items": mixed})
    expected = rows_of(KINDS["pairs"], lm, [RatedItem(**one) for one in mixed])
    assert list(map(bare, reply.json["results"])) == expected


@pytest.mark.parametrize(("route", "kind"), [("judge", "application/json"), ("stream", LINES)])
def test_a_judge_that_compares_is_asked_for_a_batch(client, route, kind):
    reply = client.post(f"/v1/judges/pairs/{route}", b"{}", content_type=kind)
    assert reply.status == 422
    assert reply.json["hint"].endswith("together to /v1/judges/pairs/batch.")


def test_every_reply_is_as_the_description_says(client):
    described = client.get("/openapi.json").json
    assert set(described["paths"]) == {
        *("/healthz", "/metrics", "/v1/judges", "/v1/judges/{name}/judge"),
        *("/v1/judges/{name}/batch", "/v1/judges/{name}/stream", "/v1/judges/{name}/card"),
    }
    schemas = described["components"]["schemas"]
    assert {"Item", "Batch", "Row", "Rows", "Fault", "Health", "JudgeList"} <= set(schemas)
    used = set(json.dumps(described).split("#/components/schemas/"))
    named = {one.partition('"')[0] for one in used if not one.startswith("{")}
    assert named <= set(schemas)
    item = schemas["Item"]["example"]
    assert Row.model_validate(client.post("/v1/judges/direct/judge", item).json).score


@for_each(
    ("method", "path", "status", "where"),
    [
        ("GET", "/v1/nothing", 404, "address"),
        ("GET", "/v1/judges/", 404, "address"),
        ("GET", "/v1/judges/direct/judge", 405, "address"),
        ("DELETE", "/healthz", 405, "address"),
        ("POST", "/v1/judges/directs/judge", 404, "judge"),
        ("POST", "/v1/judges/x/stream", 404, "judge"),
        ("GET", "/v1/judges/direct/card", 404, "judge"),
        ("GET", "/page/missing.js", 404, "page"),
        ("GET", "/page/__init__.py", 404, "page"),
        ("GET", "/page/..%2Froutes.py", 404, None),
        ("POST", "/v1/judges/direct/judge", 415, "Content-Type"),
        ("POST", "/v1/judges/direct/stream", 415, "Content-Type"),
    ],
)
def test_every_refusal_has_one_form(client, method, path, status, where):
    kind = "application/json" if "/x/" in path or "directs" in path else "a/b"
    reply = client.ask(method, path, b"{}" if method == "POST" else b"", content_type=kind)
    assert reply.status == status
    fault = Fault.model_validate(reply.json)
    assert set(reply.json) == {"error", "where", "hint"}
    assert where in (fault.where, None)
    assert fault.hint or status == 404


def test_a_packed_body_is_refused_by_that_name(client):
    for route in ("judge", "stream"):
        kind = LINES if route == "stream" else "application/json"
        path = f"/v1/judges/direct/{route}"
        reply = client.ask("POST", path, b"\x1f", content_type=kind, content_encoding="gzip")
        assert (reply.status, reply.json["where"]) == (415, "Content-Encoding")


def test_what_can_be_read_can_be_asked_for_by_head(client):
    for path in ("/", "/healthz", "/metrics", "/v1/judges", "/openapi.json"):
        assert client.ask("HEAD", path).status == 200


def test_a_name_that_is_nearly_one_is_told(client):
    reply = client.post("/v1/judges/directs/judge", ITEMS[0])
    assert reply.json["hint"].startswith("did you mean 'direct'?")


def test_a_line_that_is_no_item_is_answered_in_its_place(client):
    body = (
        b'{"response": "a"}\n\n{"response": 7}\n\xff\n'
        + b"x" * (5 * 2**20)
        + b'\n{"response": "b"}'
    )
    reply = client.post("/v1/judges/direct/stream", body, content_type=LINES)
    first, wrong, garbage, long, last = map(json.loads, reply.text.splitlines())
    assert bare(first)["score"] is not None
    assert bare(last)["score"] is not None
    assert [one["where"] for one in (wrong, garbage, long)] == [
        "line 3.response",
        "line 4",
        "line 5",
    ]
    empty = client.post("/v1/judges/direct/stream", b" \n\n", content_type=LINES)
    assert (empty.status, empty.json["where"]) == (422, "body")


def test_every_reply_says_that_it_is_nothing_else_and_the_page_trusts_nobody_else(client):
    for path in ("/healthz", "/v1/judges", "/nothing", "/metrics"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert client.get("/page/page.js").headers["content-type"].startswith("text/javascript")


def test_counters_say_how_much_and_no_text(lm):
    with client_of({"plain": DirectJudge()}, lm=lm) as client:
        client.post("/v1/judges/plain/judge", {"response": "a secret text", "source": "x"})
        client.post("/v1/judges/a%20secret%20name/judge", {"response": "r"})
        client.post("/v1/judges/plain/judge", b"{", content_type="application/json")
        client.get("/v1/nothing")
        wrong_way = client.get("/v1/judges/plain/judge")
        assert wrong_way.json["hint"].startswith("it takes POST;")
        told = client.get("/metrics").text
    assert 'judgesmith_requests_total{judge="plain",route="judge",status="200"} 1.0' in told
    assert 'judgesmith_requests_total{judge="",route="judge",status="404"} 1.0' in told
    assert 'judgesmith_rejected_total{judge="plain",reason="invalid"} 1.0' in told
    assert 'judgesmith_rejected_total{judge="",reason="address"} 2.0' in told
    assert 'judgesmith_items_total{judge="plain"} 1.0' in told
    assert "judgesmith_queue_items 0.0" in told
    assert 'judgesmith_model_calls_total{model="offline"}' in told
    assert "secret" not in told
    families = {one.name for one in text_string_to_metric_families(told)}
    assert {
        "judgesmith_requests",
        "judgesmith_request_seconds",
        "judgesmith_model_calls",
    } <= families


def test_a_spent_budget_leaves_rows_unscored_with_the_reason():
    lm = lm_of(lambda *_: 70, max_calls=1)
    with client_of({"plain": DirectJudge()}, lm=lm) as client:
        reply = client.post("/v1/judges/plain/batch", {"items": ITEMS[:3]}).json
        told = client.get("/metrics").text
    assert [row["problem"] for row in reply["results"][1:]] == [
        "not asked: the budget of 1 calls is spent."
    ] * 2
    assert reply["unscored"] == 2
    assert 'judgesmith_unscored_items_total{judge="plain",reason="over_budget"} 2.0' in told


def refusing(fault):
    """Return a model that refuses every request for one reason."""

    def rule(*_):
        raise fault

    return lm_of(rule)


def test_a_model_that_cannot_be_asked_is_a_bad_gateway_without_its_key(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "not-a-usual-key-1234")
    fault = ModelError("wrong key not-a-usual-key-1234; check it", status=401)
    with client_of({"plain": DirectJudge()}, lm=refusing(fault)) as client:
        for path, sent in (
            ("judge", (ITEMS[0],)),
            ("batch", ({"items": ITEMS},)),
            ("stream", (ITEMS[0], LINES)),
        ):
            reply = client.post(f"/v1/judges/plain/{path}", *sent)
            assert (reply.status, reply.json["where"]) == (502, "model")
            assert reply.json["error"] == "wrong key [key]; check it"
        assert client.get("/healthz").json["in_flight"] == 0


def test_a_request_that_the_model_refuses_is_a_row_without_a_score():
    with client_of(
        {"plain": DirectJudge()}, lm=refusing(ModelError("too rude", status=400))
    ) as client:
        row = client.post("/v1/judges/plain/judge", ITEMS[0]).json
    assert row["problem"] == "the model refused the request: too rude"


def test_answers_that_cannot_be_read_are_rows_however_many_there_are():
    lm = lm_of(lambda *_: "?")
    many = [{"response": str(n)} for n in range(40)]
    with client_of({"plain": DirectJudge()}, lm=lm) as client:
        reply = client.post("/v1/judges/plain/batch", {"items": many})
        told = client.get("/metrics").text
    assert reply.json["unscored"] == 40
    assert 'reason="unreadable"} 40.0' in told


def test_errors_come_with_their_places():
    judge = planted(one=judged(2, error("ferry", text="The ferry left.")))["one"]
    with client_of({"planted": judge}) as client:
        row = client.post("/v1/judges/planted/judge", {"response": "The ferry left."}).json
    assert [(one["start"], one["end"]) for one in row["errors"]] == [(4, 9)]
    assert Row.model_validate(row).errors[0].text == "ferry"


def test_who_comes_when_the_queue_is_full_is_told_when_to_come_back():
    asked, let = threading.Event(), threading.Event()

    def rule(*_):
        asked.set()
        let.wait(60)
        return 70

    lm = lm_of(rule)
    limits = ServingLimits(queue=1, concurrency=1, max_items=2)
    with client_of({"plain": DirectJudge()}, lm=lm, limits=limits) as client:
        first = threading.Thread(
            target=client.post, args=("/v1/judges/plain/batch", {"items": ITEMS[:2]})
        )
        first.start()
        asked.wait(60)
        for path, kind in (("judge", "application/json"), ("stream", LINES)):
            reply = client.post(f"/v1/judges/plain/{path}", ITEMS[3], kind)
            assert (reply.status, reply.json["where"]) == (429, "queue")
            assert 1 <= int(reply.headers["retry-after"]) <= 120
        let.set()
        first.join()
        assert client.post("/v1/judges/plain/judge", ITEMS[3]).status == 200


def test_a_health_check_may_ask_for_the_head_alone(client):
    assert client.ask("HEAD", "/healthz").status == 200


def test_a_server_that_stops_takes_nothing_new_and_says_so(lm):
    with client_of({"plain": DirectJudge()}, lm=lm) as client:
        client.app.state.service.stopping = True
        assert client.get("/healthz").status == 503
        assert client.get("/healthz").json["status"] == "stopping"
        assert client.get("/metrics").status == 200
        reply = client.post("/v1/judges/plain/judge", ITEMS[0])
        assert (reply.status, reply.headers["connection"]) == (503, "close")
        assert "retry-after" in reply.headers


def test_saved_judges_ask_their_own_models_unless_one_is_given(tmp_path, monkeypatch, lm):
    monkeypatch.chdir(tmp_path)
    one = saved_judge(DirectJudge(), model="openai/its-own")
    judges = {"one": one, "two": one, "three": DirectJudge()}
    with pytest.raises(InputError, match=r"did not name: openai/its-own at https://api\.openai"):
        app(judges)
    named = model("openai/its-own", ledger=None)
    judges |= {name: judges[name].with_models({"openai/its-own": named}) for name in ("one", "two")}
    own = app(judges).state.service.judges
    assert [str(one.lm.model) for one in own.values()] == ["openai/its-own"] * 2 + ["offline"]
    assert own["one"].lm is own["two"].lm
    assert {one.lm for one in app(judges, lm=lm).state.service.judges.values()} == {lm}


def test_a_fault_of_our_own_says_nothing_of_the_texts(lm, caplog):
    class Broken(DirectJudge):
        def steps(self, item):
            raise RuntimeError(f"broken by {item.response}")

    with client_of({"broken": Broken()}, lm=lm) as client:
        reply = client.post("/v1/judges/broken/judge", {"response": "a secret text"})
    assert reply.status == 500
    assert reply.json["error"] == "the server met a fault of its own (RuntimeError)."
    assert "secret" not in reply.text + caplog.text
    assert "RuntimeError while answering a request:\n" in caplog.text


def test_the_token_opens_what_is_not_open_to_all(lm):
    with client_of({"plain": DirectJudge()}, lm=lm, token="s3cret-token") as client:
        assert client.get("/healthz").status == 200
        assert client.get("/v1/judges").status == 401
        allowed = {"authorization": "Bearer s3cret-token"}
        assert client.get("/v1/judges", **allowed).status == 200
        described = client.get("/openapi.json", **allowed).json
    assert described["security"] == [{"token": []}]


@pytest.mark.parametrize("library", ["fastapi", "prometheus_client"])
def test_without_the_libraries_their_extra_is_named(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ImportError, match=rf"serving needs {library}: pip install 'judgesmith\[serve\]'"
    ):
        app({"plain": DirectJudge()})


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ({}, "at least one judge is served; got none."),
        ({"a/b": DirectJudge()}, "a judge is served under a name of letters"),
    ],
)
def test_what_cannot_be_served_is_refused(judges, said):
    with pytest.raises(ValueError, match=said):
        app(judges)


# door

OPEN = Door(hosts=("judge.example", "127.0.0.1", "localhost"))  # as --host adds itself
LOCKED = Door(token="s3cret-token")


def status(door, path="/v1/judges", **headers):
    try:
        door.check(path, headers)
    except Refusal as refusal:
        return refusal.status
    return 200


@for_each(
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


@for_each(
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


@for_each(
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


# guard


@pytest.fixture
def service_guard():
    lm = model("offline", ledger=None)
    return Service({"plain": ServedJudge("plain", DirectJudge(), lm)}, ServingLimits())


def replied(service, fault, *, begins=False, stops=False):
    """Return what is sent where the application inside ends in a fault."""
    sent = []

    async def inside(scope, receive, send):
        service.accept(scope)
        if begins:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        service.stopping = stops
        raise fault

    async def send(message):
        sent.append(message)

    guard = Guard(inside, service=service, door=Door())
    scope = {"type": "http", "path": "/v1/judges", "headers": [(b"host", b"localhost")]}
    asyncio.run(guard(scope, None, send))
    assert service.n_accepted == 0
    return sent


def test_a_fault_that_nobody_foresaw_is_told_by_its_kind_and_place(service_guard, caplog):
    start, body = replied(service_guard, RuntimeError("a secret text"))
    assert start["status"] == 500
    assert json.loads(body["body"])["where"] == "server"
    assert "RuntimeError while answering a request:" in caplog.text
    assert "in inside" in caplog.text
    assert "secret" not in caplog.text + body["body"].decode()


def test_what_is_wrong_with_the_ledger_is_told_to_whoever_runs_the_server_alone(
    service_guard, caplog
):
    start, body = replied(service_guard, CacheError("/somewhere/secret is not a cache"))
    assert start["status"] == 503
    assert json.loads(body["body"])["where"] == "ledger"
    assert "somewhere" not in body["body"].decode()
    assert caplog.messages == ["/somewhere/secret is not a cache"]


def test_once_a_reply_has_begun_no_other_begins(service_guard):
    assert len(replied(service_guard, RuntimeError(), begins=True)) == 1
    assert replied(service_guard, ClientGone()) == []


def test_who_is_cut_off_at_the_end_is_told_so_and_nobody_else_is(service_guard):
    with pytest.raises(asyncio.CancelledError):
        replied(service_guard, asyncio.CancelledError())
    start, body = replied(service_guard, asyncio.CancelledError(), stops=True)
    assert start["status"] == 503
    assert json.loads(body["body"])["error"] == "the server stopped before this was judged."


# What requests share: bytes that all of them hold, streams that are open, and their counters.

LIMITS = ServingLimits(queue=4, concurrency=1, max_items=5, max_body=100)


class Watching(Planted):
    """Notes how many bytes the server holds while it judges."""

    calls_per_item = 1

    def __init__(self):
        super().__init__(None)
        self.seen = []

    def bound_to(self, lm):
        return Watcher(self)


class Watcher(Executor):
    def __init__(self, judge):
        self.judge_ = judge

    async def judge(self, item):
        self.judge_.seen.append(self.judge_.service._n_bytes)
        return judged(4)


@pytest.fixture
def watching():
    return Watching()


@pytest.fixture
def service_service(watching):
    made = Service({"plain": ServedJudge("plain", watching)}, LIMITS)
    yield made
    made.close()


def test_bodies_of_all_requests_are_held_to_one_bound_and_given_back(service_service):
    with service_service.reading("one") as hold, service_service.reading("two") as other:
        for _ in range(8):
            hold(100)
            other(100)
        with pytest.raises(Refusal) as found, service_service.reading("three") as more:
            more(1)
        assert (found.value.status, found.value.reason) == (429, "full")
    assert service_service._bytes == {}


def test_one_client_holds_no_more_than_half_of_the_bytes_and_streams(service_service):
    with service_service.reading("one") as hold, service_service.reading("two") as other:
        hold(800)
        with pytest.raises(Refusal) as found:
            hold(1)
        other(799)
    assert (found.value.status, found.value.reason) == (429, "share")
    assert "Retry-After" in found.value.headers
    with ExitStack() as streams:
        for _ in range(64):
            streams.enter_context(service_service.stream("one"))
        with pytest.raises(Refusal) as found:
            streams.enter_context(service_service.stream("one"))
        assert found.value.reason == "share"
        streams.enter_context(service_service.stream("two"))
    assert service_service._streams == service_service._bytes == {}


@pytest.mark.parametrize(
    ("route", "value"), [("judge", {"response": "r"}), ("batch", {"items": [{"response": "r"}]})]
)
def test_texts_are_held_until_they_are_answered(watching, route, value):
    application = app({"plain": watching}, limits=LIMITS)
    watching.service = application.state.service
    with Caller(application) as client:
        assert client.post(f"/v1/judges/plain/{route}", value).status == 200
        client.post(f"/v1/judges/plain/{route}", b"{")
    assert watching.seen == [len(json.dumps(value))]
    assert watching.service._n_bytes == 0


def test_what_was_still_read_when_the_stop_came_is_not_accepted(service_service):
    scope = {}
    with service_service.attended(scope):
        service_service.accept(scope)
        service_service.stopping = True
        with pytest.raises(Refusal) as found:
            service_service.accept(scope)
        assert (found.value.status, service_service.n_accepted) == (503, 1)
    assert service_service.n_accepted == 0


def test_so_many_streams_are_open_at_a_time(service_service):
    with ExitStack() as streams:
        for n in range(128):
            streams.enter_context(service_service.stream(str(n % 2)))
        with pytest.raises(Refusal) as found:
            streams.enter_context(service_service.stream("2"))
        assert found.value.status == 429
        assert "Retry-After" in found.value.headers
    with service_service.stream("0"):
        pass


def test_no_item_is_begun_that_takes_what_others_need_of_the_budget():
    lm = lm_of(lambda *_: 70, max_calls=9)
    served = ServedJudge("twice", DirectJudge(samples=2), lm)
    job = served.job(RatedItem(response="r"))
    assert served.described()["calls_per_item"] == 2
    # Each may take a second attempt at both of its calls.
    assert [job.may_begin(n) for n in range(4)] == [True, True, False, False]


def test_who_leaves_is_counted_as_such_under_no_name_that_clients_make_up(service_service):
    with pytest.raises(asyncio.CancelledError), service_service.measured("made up", "judge"):
        raise asyncio.CancelledError
    told = service_service.measures.text().decode()
    assert 'judgesmith_requests_total{judge="",route="judge",status="499"} 1.0' in told
    assert "made up" not in told
