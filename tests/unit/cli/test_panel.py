"""judgesmith panel."""

import itertools
import json
import shutil

import loopback
import pytest

from judgesmith.cli import main
from judgesmith.data.samples import sample_path
from judgesmith.programs import load_saved
from judgesmith.programs.artifacts.record import content_hash

# Several judges become one panel, weighed on rows that none of them was made from.

START = ["--criteria", "general", "--holdout", ".6", "--optimizer", "none"]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Two judges, and the answers that they were made from."""
    place = tmp_path_factory.mktemp("judges")
    rows = sample_path().read_text(encoding="utf-8").splitlines(keepends=True)[:96]
    (place / "rated.jsonl").write_text("".join(rows), encoding="utf-8")
    ledger = ["--ledger", str(place / "ledger.sqlite")]
    for name, options in (("critic", ["--variant", "coarse"]), ("direct", ["--judge", "direct"])):
        start = ["compile", str(place / "rated.jsonl"), "-o", str(place / name), *START]
        assert main([*start, *options, *ledger]) == 0
    return place


@pytest.fixture
def judges(shelf, folder):
    """The two judges in the working folder."""
    for name in ("critic", "direct"):
        shutil.copytree(shelf / name, folder / name)
    shutil.copy(shelf / "rated.jsonl", folder)
    return ["critic", "direct"]


def made(run, judges, *options, out="panel"):
    done = run("panel", *judges, "rated.jsonl", "-o", out, *options, "--json")
    assert done.status == 0, done.err
    return done


def test_a_run_that_the_budget_ended_goes_on(run, judges, folder):
    done = made(run, judges, "--max-calls", 30)
    assert done.json["judge"] is None
    assert "a larger budget resumes from here" in done.err
    made(run, judges, "--max-calls", 95)
    assert load_saved(folder / "panel").settings["complete"] is False
    made(run, judges)
    made(run, judges, "--ledger", "new/ledger.sqlite", out="other")
    whole = (folder / "other" / "judge.json").read_bytes()
    assert (folder / "panel" / "judge.json").read_bytes() == whole


def test_every_judge_asks_the_model_it_was_made_with(run, judges, folder, server):
    options = ["--model", "openai/m", "--api-base", server.url]
    start = ["--judge", "direct", *START]
    done = run("compile", "rated.jsonl", "-o", "served", *start, *options, "--max-calls", "160")
    assert done.status == 0, done.err
    server.reset()
    base = ["--api-base", server.url, "--allow-model", "openai/m"]
    found = made(run, ["critic", "served"], *base)
    n_rows = found.json["rows"]["select"] + found.json["rows"]["heldout"]
    assert server.counts()["requests"] <= n_rows
    assert found.json["weights"]["critic"] > 0
    assert load_saved(folder / "panel").members["served"].models == ("openai/m",)
    priced = [*base, "--price", "openai/m=1,2"]
    compared = run("compare", "critic", "served", "rated.jsonl", *priced)
    assert compared.status == 0, compared.err
    refused = run(
        "compare", "critic", "served", "rated.jsonl", *base, "--price", "openai/other=1,2"
    )
    assert "the price openai/other=1,2 is of none of the models" in refused.err


def test_a_supervisor_of_another_model_asks_that_one(run, judges, folder, server):
    named = ["--supervisor", "openai/m", "--api-base", server.url]
    plain = made(run, judges, "--dry-run").json["calls"]
    assert made(run, judges, *named, "--dry-run").json["calls"] > plain
    made(run, judges, *named, "--no-texts")
    assert load_saved(folder / "panel").models == ("offline", "openai/m")
    served = ["--model", "openai/n", *named]
    assert made(run, judges, *served, "--dry-run", out="served").json["calls"] > 0
    role = ["--role", "supervisor=offline"]
    done = run("score", "panel", "rated.jsonl", "-o", "scores.jsonl", *role)
    assert done.status == 0, done.err  # the server is not asked, which no option names
    done = run("score", "panel", "rated.jsonl", "-o", "o.jsonl", "--role", "writer=offline")
    assert (done.status, "a panel has no role 'writer'" in done.err) == (2, True)


def test_a_plain_mean_needs_no_ratings(run, judges, folder):
    rows = [json.loads(line) for line in (folder / "rated.jsonl").read_text().splitlines()]
    texts = [{k: row[k] for k in ("source", "response")} for row in rows[64:]]
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    refused = run("panel", *judges, "texts.jsonl", "-o", "panel")
    assert refused.status == 2
    assert "learning weights (by q) needs ratings, and texts has none" in refused.err
    assert "--score mean and --score median by themselves need none" in refused.err
    for more in (["--subsets"], ["--target", "wit"], ["--objective", "pearson"]):
        refused = run("panel", *judges, "texts.jsonl", "-o", "panel", "--score", "mean", *more)
        assert (refused.status, "needs ratings" in refused.err) == (2, True)
    assert not (folder / "panel").exists()
    start = ["panel", *judges, "texts.jsonl", "-o", "panel", "--score", "median"]
    planned = run(*start, "--dry-run", "--json").json["calls"]
    done = run(*start, "--json")
    assert done.status == 0, done.err
    assert 0 < done.json["calls"] <= planned
    nothing = ("best", "best_member", "selection", "heldout", "gain", "optimism")
    assert [done.json[name] for name in nothing] == [None] * len(nothing)
    assert (done.json["rows"]["unrated"], done.json["rows"]["select"]) == (32, 0)
    assert done.json["weights"] == {"critic": 0.5, "direct": 0.5}
    assert "the data has no ratings, so the panel's agreement" in done.err
    assert run(*start, "--json").json == done.json | {"calls": 0}
    told = run("panel", *judges, "texts.jsonl", "-o", "told", "--score", "median").out
    assert "texts: agreement with human ratings is unknown" in told
    assert "Agreement" not in told
    card = (folder / "panel" / "README.md").read_text()
    assert "rated by people" not in card
    assert "Combined without ratings" in card
    assert "It was made without ratings, so nothing is known of it." in card
    saved = load_saved(folder / "panel")
    assert (saved.weights.middle, len(saved.golden)) == ("median", 20)
    assert run("score", "panel", "texts.jsonl", "-o", "scores.jsonl").status == 0
    scored = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert all(row["score"] is not None for row in scored)
    assert run("evaluate", "panel", "rated.jsonl", "--json").status == 0
    assert run("export", "panel", "--to", "dspy", "-o", "exported").status == 0
    texts = [one.read_text() for one in (folder / "exported").rglob("*") if one.is_file()]
    assert any("It was made without ratings." in one for one in texts)
    assert not any("which people rated on" in one for one in texts)
    made_of_none = ["-o", "bare", "--score", "mean", "--no-texts", "--json"]
    assert run("panel", *judges, "texts.jsonl", *made_of_none).json["calls"] == 0


@pytest.mark.no_cover
def test_a_panel_is_chosen_by_what_it_notices_without_ratings(run, judges, folder):
    rows = [json.loads(line) for line in (folder / "rated.jsonl").read_text().splitlines()]
    texts = [{k: row[k] for k in ("source", "response")} for row in rows]
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    kinds = ["--kinds", "character_typos/major,word_deletions/major", "--versions", "0"]
    start = ["panel", *judges, "texts.jsonl", "-o", "panel", "--objective", "d_avg", *kinds]
    planned = run(*start, "--dry-run", "--json").json["calls"]
    done = run(*start, "--json")
    assert done.status == 0, done.err
    assert 0 < done.json["calls"] <= planned
    rows = done.json["rows"]
    assert (rows["select"], rows["heldout"], rows["known"]) == (40, 16, 40)
    assert (done.json["selection"], done.json["heldout"], done.json["gain"]) == (None,) * 3
    found = done.json["discernment"]
    assert [one["name"] for one in found["kinds"]] == kinds[1].split(",")
    assert set(found["seen"]) == {"best_member", "heldout", "gain"}
    assert found["selection"]["overall"]["d_avg"]["value"] > 1
    assert "d_avg of the ways to weigh the judges, cross-fitted by source: single" in done.err
    assert "it was selected by its sensitivity to changes" in done.err
    assert run(*start, "--json").json == done.json | {"calls": 0}
    card = (folder / "panel" / "README.md").read_text()
    assert "Compiled without ratings, by its sensitivity" in card
    assert "| changes | D | validation | best_member | heldout | gain |" in card
    saved = load_saved(folder / "panel")
    assert (str(saved.scale), saved.weights.slope) == ("0..100", 100)
    assert run("score", "panel", "texts.jsonl", "-o", "scores.jsonl").status == 0
    told = run(*start[:-1], "0", "--force", "--score", "mean").out
    assert "Sensitivity to damage on test rows" in told
    assert "Agreement" not in told


def test_more_judges_than_have_subsets_are_refused(run, judges, folder):
    text = (folder / "direct" / "judge.json").read_text()
    names = []
    for n in range(11):
        shutil.copytree(folder / "direct", folder / f"d{n}")
        document = json.loads(text)
        document["settings"]["seed"] = n
        content = {
            k: v for k, v in document.items() if k not in ("schema", "made_by", "content_hash")
        }
        document["content_hash"] = content_hash(content)
        (folder / f"d{n}" / "judge.json").write_text(json.dumps(document))
        names.append(f"d{n}")
    refused = run("panel", *names, "rated.jsonl", "-o", "panel", "--subsets")
    assert (refused.status, "11 judges have 2,047 subsets" in refused.err) == (2, True)


# Members of a panel whose models have one name are asked each at its own address.

ANSWER = '{{"score": {}}}'


@pytest.fixture(scope="module")
def servers():
    """Two servers of one model, which say 70 and 30."""
    with (
        loopback.serving(answer=ANSWER.format(70)) as one,
        loopback.serving(answer=ANSWER.format(30)) as other,
    ):
        yield one, other


@pytest.fixture(scope="module")
def members_made(tmp_path_factory):
    """A judge, and two of its kind that ask a server."""
    place = tmp_path_factory.mktemp("members")
    start = ["compile", "sample", "-o", str(place / "made"), "--judge", "direct"]
    start += ["--criteria", "general", "--optimizer", "none", "--holdout", "0"]
    assert main([*start, "--ledger", str(place / "own.sqlite")]) == 0
    saved = load_saved(place / "made")
    for seed, name in enumerate(("left", "right")):
        own = {"model": "openai/m", "settings": {"seed": seed}, "seen": {}, "golden": ()}
        saved.model_copy(update=own).save(place / name)
    return place


@pytest.fixture
def asked(servers, members_made, folder, monkeypatch):
    """Return the options that place either member, with two judges and ten texts in the folder."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    rows = [json.loads(line) for line in sample_path().read_text(encoding="utf-8").splitlines()]
    texts = [{name: row[name] for name in ("source", "response")} for row in rows[:10]]
    (folder / "texts.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in texts))
    closing = shutil.ignore_patterns("own.sqlite*")  # a cache's files go when its last user does
    shutil.copytree(members_made, folder, ignore=closing, dirs_exist_ok=True)
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


ADDRESSES = (
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
)


def test_an_address_is_checked_like_that_of_api_base(run, asked):
    panel(run, asked)
    commands = (SCORE, ["evaluate", "panel", "sample"])
    for command, (role, more, said) in itertools.product(commands, ADDRESSES):
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
