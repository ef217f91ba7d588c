"""Members of a panel whose models have one name are asked each at its own address."""

import json
import urllib.request

import loopback
import pytest

from judgesmith.cli import main
from judgesmith.data.samples import sample_path
from judgesmith.programs.artifacts.saved_ensembles import load_saved

ANSWER = '{{"score": {}}}'


@pytest.fixture(scope="module")
def servers():
    """Two servers of one model, which say 70 and 30."""
    with (
        loopback.serving(answer=ANSWER.format(70)) as one,
        loopback.serving(answer=ANSWER.format(30)) as other,
    ):
        yield one, other


@pytest.fixture
def asked(servers, folder, monkeypatch):
    """Return the options that place either member, with two judges and ten texts in the folder."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    texts = [{name: row[name] for name in ("source", "response")} for row in rows[:10]]
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    start = ["compile", "sample", "-o", "made", "--judge", "direct", "--criteria", "general"]
    assert main([*start, "--optimizer", "none", "--holdout", "0", "--ledger", "own.sqlite"]) == 0
    made = load_saved("made")
    for seed, name in enumerate(("left", "right")):
        own = {"model": "openai/m", "settings": {"seed": seed}, "seen": {}, "golden": ()}
        made.model_copy(update=own).save(name)
    for one in servers:
        one.reset()
    return placed(left=servers[0], right=servers[1])


def placed(**servers):
    return [
        word for name, one in servers.items() for word in ("--role", f"{name}=openai/m@{one.url}")
    ]


def panel(run, asked, *more):
    plain = ["panel", "left", "right", "texts.jsonl", "-o", "panel", "--score", "mean"]
    done = run(*plain, *asked, *more)
    assert done.status == 0, done.err
    return done


def members(folder, name="scores.jsonl"):
    rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    return [row["members"] for row in rows]


def requests(servers):
    return [one.counts()["requests"] for one in servers]


SCORE = ["score", "panel", "texts.jsonl", "-o", "scores.jsonl"]


def test_two_members_of_one_name_ask_two_servers(run, asked, servers, folder):
    planned = json.loads(panel(run, asked, "--dry-run", "--json").out)["calls"]
    assert (planned, requests(servers)) == (20, [0, 0])
    done = panel(run, asked)
    assert requests(servers) == [10, 10]
    for one in servers:
        assert f"asking openai/m at {one.url}" in done.err
        assert f"openai/m@{one.url}" in done.out  # how it is asked again
    assert panel(run, asked, "--json").json["calls"] == 0
    done = run(*SCORE, *asked, "--json")
    assert done.status == 0, done.err
    assert members(folder) == [{"left": 70.0, "right": 30.0}] * 10
    assert (done.json["calls"], requests(servers)) == (0, [10, 10])


def test_no_address_is_saved_or_told(run, asked, servers, folder):
    told = panel(run, asked, "--json").out + run(*SCORE, *asked, "--json").out
    held = [one for place in ("panel", "scores.jsonl") for one in (folder / place).rglob("*")]
    held.append(folder / "scores.jsonl")
    told += "".join(one.read_text() for one in held if one.is_file())
    assert load_saved("panel").models == ("openai/m",)
    assert not any(one.url in told or one.url.split(":")[-1] in told for one in servers)


def test_servers_share_no_answer(run, asked, servers, folder):
    panel(run, asked)
    assert run(*SCORE, *asked).status == 0
    other = placed(left=servers[1], right=servers[0])
    refused = run(*SCORE, *other)
    assert (refused.status, "rows for another input or model" in refused.err) == (2, True)
    assert run(*SCORE[:-1], "swapped.jsonl", *other).status == 0
    assert members(folder, "swapped.jsonl") == [{"left": 30.0, "right": 70.0}] * 10


def test_a_member_without_an_address_falls_under_the_usual_rule(run, asked, servers, folder):
    panel(run, asked)
    refused = run(*SCORE, *asked[:2])
    assert refused.status == 2
    assert "did not name: openai/m at https://api.openai.com/v1" in refused.err
    assert "--allow-model openai/m" in refused.err
    named = ["--allow-model", "openai/m", "--api-base", servers[1].url]
    assert run(*SCORE, *asked[:2], *named).status == 0
    offline = run(*SCORE[:-1], "offline.jsonl", *asked[:2], "--model", "offline")
    assert offline.status == 0
    assert "asked offline instead of openai/m" in (folder / "offline.jsonl").read_text()
    assert {one["left"] for one in members(folder, "offline.jsonl")} == {70.0}


@pytest.mark.parametrize(
    ("role", "more", "said"),
    [
        ("left=openai/m@localhost:8000", [], "an address is a URL such as http://localhost:8000"),
        ("left=openai/m@ftp://localhost", [], "an address is a URL such as http://localhost:8000"),
        ("left=http://localhost:1/v1", [], "no provider is called http:"),
        ("left=oobabooga/http://h:1@h", [], "the name of a model contains no address"),
        ("left=offline@http://localhost:1/v1", [], "the offline model answers without any server"),
        ("centre=openai/m@http://localhost:1/v1", [], "no role 'centre'; this one has left, right"),
        (
            "left=openai/m@http://me:secret@other.test/v1",
            ["--only-host", "127.0.0.1", "--only-host", "localhost"],
            "openai/m is at other.test, and only",
        ),
    ],
    ids=["scheme", "ftp", "bare", "name", "offline", "unknown", "host"],
)
def test_an_address_is_checked_like_that_of_api_base(run, asked, servers, role, more, said):
    panel(run, asked)
    for command in (SCORE, ["evaluate", "panel", "sample"]):
        refused = run(*command, "--role", role, *asked[2:], *more)
        assert (refused.status, said in refused.err) == (2, True), refused.err
        assert "secret" not in refused.err


def test_a_key_is_needed_as_with_api_base(run, asked, servers, monkeypatch):
    panel(run, asked)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    role = ["--role", f"left=anthropic/m@{servers[0].url}", *asked[2:]]
    for named in (role, ["--model", "anthropic/m", "--api-base", servers[0].url]):
        refused = run(*SCORE, *named, "--ledger", "fresh.sqlite")
        assert (refused.status, "ANTHROPIC_API_KEY" in refused.err) == (2, True)


def test_evaluation_asks_both(run, asked, servers):
    panel(run, asked)
    before = requests(servers)
    done = run("evaluate", "panel", "sample", *asked, "--max-calls", "40", "--json")
    assert done.status in (0, 1), done.err
    assert sum(requests(servers)) - sum(before) == 40
    assert min(now - then for now, then in zip(requests(servers), before, strict=True)) > 10
    assert not any(one.url in done.out for one in servers)


@pytest.mark.no_cover
def test_a_panel_is_served_from_two_addresses(run, asked, servers, start):
    panel(run, asked)
    process = start("serve", "panel", *asked, "--port", "0", "--json")
    address = json.loads(process.stdout.readline())["address"]
    text = json.dumps({"source": "The ferry leaves at nine.", "response": "It leaves."})
    with urllib.request.urlopen(urllib.request.Request(
        f"{address}/v1/judges/panel/judge", data=text.encode(),
        headers={"Content-Type": "application/json"},
    )) as reply:  # fmt: skip
        found = json.load(reply)
    assert found["members"] == {"left": 70.0, "right": 30.0}


def test_other_commands_ask_both_as_well(run, asked, servers):
    panel(run, asked)
    for place, command in enumerate(
        (
            ["compare", "panel", "made", "sample", "--json"],
            ["discern", "panel", "sample", "--sample", "2", "--kinds", "negation", "--json"],
            ["recheck", "panel", "--samples", "1", "--json"],
        )
    ):
        before = requests(servers)
        refused = run(*command, *asked[:2])
        assert "did not name: openai/m" in refused.err, refused.err
        assert requests(servers) == before
        done = run(*command, *asked, "--ledger", f"{place}.sqlite")
        assert all(f"asking openai/m at {one.url}" in done.err for one in servers), done.err
        one, other = (now - then for now, then in zip(requests(servers), before, strict=True))
        assert one == other > 0
        assert not any(one.url in done.out for one in servers)
    unknown = run("compare", "panel", "made", "sample", "--role", "centre=offline")
    assert (unknown.status, "neither judge has a role 'centre'" in unknown.err) == (2, True)
