"""Several objectives, and several models, from the command line."""

import contextlib
import io
import json
import shutil

import loopback
import loopback_models
import pytest

from judgesmith.cli import main

OFFLINE = ["--optimizer", "protocol", "--trials", "5", "--criteria", "general"]
BOTH = [*OFFLINE, "--objective", "q, -calls"]
SERVED = ["--optimizer", "protocol", "--trials", "4", "--variant", "vanilla"]
SERVED += ["--demonstrations", "0", "--choose", "answers=0-100", "--without", "weights"]
SERVED += ["--model", "openai/cheap", "--models", "openai/good, openai/bad"]
PRICES = [
    "--price",
    "openai/cheap=1,1",
    "--price",
    "openai/good=50,50",
    "--price",
    "openai/bad=60,60",
]


def saved(folder, out="judge"):
    return json.loads((folder / out / "judge.json").read_text())


def compiled(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, *options, "--json")
    assert done.status == 0, done.err
    return done


@pytest.fixture(scope="module")
def made_front(tmp_path_factory, sample_rows):
    """A folder with a judge that has a front, its ledger, and what compile printed."""
    place = tmp_path_factory.mktemp("front")
    rated = place / "data.jsonl"
    rated.write_text("".join(json.dumps(row) + "\n" for row in sample_rows), encoding="utf-8")
    ledger = ["--ledger", str(place / "ledger.sqlite")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert (
            main(["compile", str(rated), "-o", str(place / "judge"), *BOTH, *ledger, "--json"]) == 0
        )
    (place / "printed.json").write_text(printed.getvalue(), encoding="utf-8")
    return place


@pytest.fixture
def fronted(folder, made_front):
    """What compile printed of the judge in the working folder, which has a front."""
    shutil.copytree(made_front / "judge", folder / "judge")
    return json.loads((made_front / "printed.json").read_text(encoding="utf-8"))


@pytest.mark.no_cover
def test_the_front_is_saved_shown_and_told(run, folder, fronted):
    judge = saved(folder)
    front = judge["front"]
    assert [one["knee"] for one in front].count(True) == 1
    assert all(set(one["values"]) == {"q", "-calls"} for one in front)
    assert [one["name"] for one in fronted["objectives"]] == ["q", "-calls"]
    assert fronted["objective"] == fronted["objectives"][0]
    shown = run("show", "judge").out
    assert "## Front" in shown
    for one in front:
        assert f"| {one['number']} " in shown
    trials = [one for one in judge["history"] if one["stage"] == "protocol"]
    assert all(set(one["values"]) == {"q", "-calls"} for one in trials)
    values = {one["number"]: one["values"] for one in trials}
    for one in front:
        beaten = [
            other
            for number, other in values.items()
            if trials[number]["n_rows"] == trials[0]["n_rows"]
            and other["q"] >= one["values"]["q"]["value"]
            and other["-calls"] >= one["values"]["-calls"]["value"]
            and other != values[one["number"]]
        ]
        assert beaten == []


def test_the_same_command_again_asks_nothing_and_finds_the_same_front(
    run, data, folder, fronted, made_front
):
    kept = [*BOTH, "--ledger", made_front / "ledger.sqlite"]
    printed = compiled(run, data, *kept).json
    assert printed | {"judge": ""} == fronted | {"judge": "", "calls": 0}
    again = compiled(run, data, *kept, out="other")
    assert again.json["calls"] == 0
    assert saved(folder, "other") == saved(folder)


@pytest.mark.no_cover
def test_a_run_that_the_budget_ended_comes_to_the_same_front(run, data, folder, fronted):
    options = [*BOTH, "--ledger", "new/ledger.sqlite"]
    cut = compiled(run, data, *options, "--max-calls", "150", out="other")
    assert "the budget is spent" in cut.err
    compiled(run, data, *options, out="other")
    assert saved(folder, "other") == saved(folder)


def test_every_judge_of_the_front_can_be_taken_without_asking(run, data, folder, fronted):
    for one in saved(folder)["front"]:
        out = f"number-{one['number']}"
        done = run("take", "judge", one["number"], "-o", out, "--json")
        assert (done.status, done.json["number"]) == (0, one["number"])
        taken = saved(folder, out)
        assert taken["protocol"] == one["protocol"]
        if one["knee"]:
            assert taken == saved(folder)
        else:
            assert taken["agreement"]["heldout"] is None
            assert "this judge" in run("show", out).out
    assert not (folder / ".judgesmith").exists()
    assert run("evaluate", out, data).status == 0


def test_taking_replaces_nothing_unless_told(run, folder, fronted):
    number = saved(folder)["front"][0]["number"]
    assert run("take", "judge", number, "-o", "judge").status == 2
    assert run("take", "judge", number, "-o", "other").out.startswith(f"number {number} is saved")
    refused = run("take", "judge", number, "-o", "other").err
    assert "other exists." in refused
    assert "name another folder, or replace it with --force." in refused
    before = saved(folder)
    refused = run("take", "judge", number, "-o", "./judge", "--force")
    assert (refused.status, saved(folder)) == (2, before)
    assert "./judge is the judge that this one is taken from" in refused.err
    assert run("take", "judge", number, "-o", "other", "--force").status == 0
    refused = run("take", "judge", "99", "-o", "more")
    assert refused.status == 2
    assert "got 99" in refused.err
    (folder / "other" / "mine.txt").write_text("mine")
    refused = run("take", "judge", number, "-o", "other", "--force")
    assert "error: other holds more than a judge" in refused.err


@pytest.mark.no_cover
def test_conditions_hold_for_the_whole_front(run, data, folder):
    options = [*OFFLINE, "--trials", "2", "--variant", "coarse"]
    done = compiled(run, data, *options, "--objective", "q, -calls; calls <= 1")
    assert {one["calls"] for one in saved(folder)["front"]} <= {1.0}
    assert done.json["objective"]["constraints"]["calls <= 1"]["met"]


@pytest.fixture(scope="module")
def models_server():
    with loopback.serving(program=loopback_models.__file__) as server:
        yield server


@pytest.fixture
def rated(folder):
    """Texts whose quality is in them, and what people said of it."""
    rows = [
        {
            "source_id": f"s{k}",
            "source": f"The council met on day {k}.",
            "response": f"It met on day {k} (quality {(37 * k) % 101}).",
            "human": {"overall": [1 + 4 * ((37 * k) % 101) / 100]},
            "scale": {"overall": [1, 5]},
        }
        for k in range(56)
    ]
    path = folder / "rated.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def served(models_server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-PLANTED-0123456789")
    models_server.reset()
    return [*SERVED, "--api-base", models_server.url]


class TestModels:
    @pytest.mark.no_cover
    def test_the_better_one_is_found_and_named_in_the_judge(self, run, rated, folder, served):
        done = compiled(run, rated, *served)
        judge = saved(folder)
        assert judge["model"] == "openai/good"
        assert judge["settings"]["models"] == ["openai/good", "openai/bad"]
        assert done.json["heldout"]["dataset"]["q"]["value"] > 2.5
        assert done.json["uncompiled"]["dataset"]["q"]["value"] < 2

    def test_where_dollars_count_both_are_on_the_front_and_no_key_or_address_is_kept(
        self, run, rated, folder, served, models_server
    ):
        options = [*served, *PRICES, "--objective", "q, -usd"]
        compiled(run, rated, *options)
        front = {one["model"]: one for one in saved(folder)["front"]}
        assert set(front) == {"openai/cheap", "openai/good"}
        dear, cheap = (
            -front[f"openai/{one}"]["values"]["-usd"]["value"] for one in ("good", "cheap")
        )
        assert dear == pytest.approx(50 * cheap, rel=0.02)
        assert "openai/good" in run("show", "judge").out
        other = next(one for one in front.values() if not one["knee"])
        assert run("take", "judge", other["number"], "-o", "other").status == 0
        assert saved(folder, "other")["model"] == other["model"]
        address = models_server.url.split("//")[1].split("/")[0]
        for path in (
            path for path in folder.glob("*/**/*") if path.suffix in (".json", ".md", ".txt")
        ):
            text = path.read_text(encoding="utf-8")
            assert "PLANTED" not in text
            assert address not in text

    @pytest.mark.no_cover
    def test_one_budget_holds_for_all_and_the_run_goes_on_from_it(
        self, run, rated, folder, served, models_server
    ):
        done = compiled(run, rated, *served, "--max-calls", "70")
        assert done.json["calls"] <= 70
        assert models_server.counts()["requests"] <= 70
        compiled(run, rated, *served)
        models_server.reset()
        again = compiled(run, rated, *served, out="other")
        assert models_server.counts()["requests"] == again.json["calls"] == 0
        assert saved(folder, "other") == saved(folder)

    def test_a_dry_run_reckons_with_the_dearest(self, run, rated, served, models_server):
        one, both = (
            run("compile", rated, "-o", "judge", *served, *prices, "--dry-run", "--json").json
            for prices in (
                [*PRICES[:2], "--price", "openai/good=2,2", "--price", "openai/bad=1,1"],
                PRICES,
            )
        )
        assert both["cost_usd"] == pytest.approx(30 * one["cost_usd"])
        assert models_server.counts()["requests"] == 0


@pytest.mark.no_cover
def test_dollars_need_prices_of_all_models(run, data):
    done = run(
        "compile", data, "-o", "judge", *OFFLINE, "--objective", "q, -usd", "--models", "openai/m"
    )
    assert done.status == 2
    assert "needs to know what answers of openai/m cost" in done.err
