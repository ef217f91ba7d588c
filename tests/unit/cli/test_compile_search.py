"""judgesmith compile with searches and unlabelled data."""

import contextlib
import io
import json
import shutil
from pathlib import Path

import chatty
import loopback
import loopback_models
import pytest

from judgesmith.cli import main
from judgesmith.data import read_items
from judgesmith.programs.artifacts.saved import SavedJudge

# Several objectives, and several models, from the command line.

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


def test_the_same_command_again_asks_nothing_and_finds_the_same_front(
    run, data, folder, fronted, made_front
):
    kept = [*BOTH, "--ledger", made_front / "ledger.sqlite"]
    printed = compiled(run, data, *kept).json
    assert printed | {"judge": ""} == fronted | {"judge": "", "calls": 0, "notes": []}
    again = compiled(run, data, *kept, out="other")
    assert again.json["calls"] == 0
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
    assert "other is there already." in refused
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


# compile protocol

QUICK = ["--optimizer", "protocol", "--trials", "5", "--criteria", "general"]


def compiled_compile_protocol(run, data, *options, out="judge"):
    done = run("compile", data, "-o", out, *QUICK, *options, "--json")
    assert done.status == 0, done.err
    return done


def history(folder, out="judge"):
    saved = json.loads((folder / out / "judge.json").read_text())
    return [one for one in saved["history"] if one["stage"] == "protocol"]


@pytest.mark.no_cover
def test_a_judge_is_made_and_its_search_is_kept_beside_the_ledger(run, data, folder):
    done = compiled_compile_protocol(run, data)
    assert done.json["heldout"]["dataset"]["q"]["n"] == 12
    assert len(history(folder)) == 6
    searches = folder / ".judgesmith" / "searches"
    run_id = json.loads((folder / "judge" / "judge.json").read_text())["settings"]["run"]
    assert {one.name for one in searches.iterdir()} >= {f"{run_id}.journal", f"{run_id}.jsonl"}
    assert " calls and " in done.err
    assert "estimated about" in done.err


@pytest.mark.no_cover
def test_what_an_option_says_is_not_searched(run, data, folder):
    compiled_compile_protocol(run, data, "--without", "os")
    for one in history(folder):
        assert not {"variant", "overall", "rubric", "samples"} & set(one["picked"])


@pytest.mark.no_cover
@pytest.mark.parametrize("url", ["nowhere", "postgresql://me:secret@127.0.0.1:9/x", "odd://x"])
def test_a_storage_that_cannot_be_used_is_refused_and_its_secrets_are_kept(run, data, url):
    done = run("compile", data, "-o", "judge", *QUICK, "--storage", url)
    assert done.status == 2
    assert "secret" not in done.err + done.out


# compile unlabelled


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "texts.jsonl"
    with place.open("w", encoding="utf-8") as file:
        for item in read_items("sample").subset(range(60)):
            row = {"source": item.source, "response": item.response, "system_id": item.system_id}
            file.write(json.dumps(row) + "\n")
    return str(place)


def told(capsys, *arguments):
    assert main(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize("option", ["--optimizer random", "--rounds 3", "--demonstrations 2"])
def test_options_about_examples_are_refused_as_there_are_none(texts, capsys, option):
    given = ("compile", texts, "-o", "judge", "--objective", "d_avg", *option.split())
    assert main(given) == 2
    name = option.split()[0]
    said = f"{name} needs ratings, and texts has none"
    assert said in capsys.readouterr().err
    none = ("--demonstrations", "0", "--kinds", "truncation", "--dry-run")
    assert main((*given[:6], *none)) == 0


@pytest.mark.parametrize("option", ["--optimizer effects", "--effort light", "--calls-per-item 4"])
def test_options_of_a_search_by_ratings_are_refused_as_there_are_none(texts, capsys, option):
    given = ("compile", texts, "-o", "judge", "--objective", "d_avg", *option.split())
    assert main(given) == 2
    said = f"{option.split()[0]} needs ratings, and"
    assert said in capsys.readouterr().err


def test_equal_ratings_are_none_to_an_objective_that_takes_none(texts, capsys, tmp_path):
    rated = tmp_path / "rated.jsonl"
    with Path(texts).open(encoding="utf-8") as lines, rated.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps({**json.loads(line), "score": 3}) + "\n")
    options = ("--objective", "d_avg; false_alarms <= 1", "--optimizer", "none")
    kinds = ("--kinds", "word_deletions,padding")
    assert main(("compile", str(rated), "-o", "judge", "--scale", "1..5", *options, *kinds)) == 0
    said = capsys.readouterr()
    told_once = (said.out + said.err).count("all ratings in rated are equal, and d_avg;")
    assert told_once == 1
    assert json.loads(told(capsys, "show", "judge", "--json"))["target"] == "auto"
    agreeing = ("compile", str(rated), "-o", "judge", "--scale", "1..5", "--force")
    assert main(agreeing) == 2
    assert "have the same value on overall" in capsys.readouterr().err


# A whole compilation, and scoring after it, over HTTP with a model that answers messily.

KINDS = {
    "separate": ["--criteria-calls", "separate"],
    "vanilla": ["--variant", "vanilla"],
}
N_SOURCES = 14


def rated_rows():
    return [
        {
            "source_id": f"s{source}",
            "system_id": f"m{system}",
            "source": f"Article {source} is about the number {source}.",
            "response": f"Summary {source}-{system} of quality {17 * (source + 3 * system) % 101}.",
            "human": {"overall": [1 + 4 * (17 * (source + 3 * system) % 101) / 100]},
            "scale": {"overall": [1, 5]},
        }
        for source in range(N_SOURCES)
        for system in range(4)
    ]


def unrated_rows():
    return [
        {"source": f"Article {n}.", "response": f"Fresh summary {n} of quality {n + 20}."}
        for n in range(40)
    ]


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.no_cover
@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_every_row_is_accounted_for_and_no_question_is_asked_three_times(
    options, run, server, folder
):
    server.script({"chatty": True})
    data = written(folder / "rated.jsonl", rated_rows())
    ask = ["--model", "openai/m", "--api-base", server.url, "--max-unscored", "1", "--json"]
    learning = ["--without", "weights", "--rounds", "4"]
    command = ["compile", data, "-o", "judge", *options, *learning, *ask]
    done = run(*command)
    assert done.status == 0, done.err
    counts = server.counts()
    assert done.json["calls"] == counts["requests"] == counts["answered"]
    assert set(counts["times_asked"]) == {"1", "2"}

    rows = done.json["rows"]
    assert rows["train"] + rows["select"] + rows["heldout"] == 4 * N_SOURCES
    n_scored = sum(done.json[part]["dataset"]["q"]["n"] for part in ("selection", "heldout"))
    assert rows["unscored"] > 0
    assert n_scored + rows["unscored"] == rows["select"] + rows["heldout"]
    assert "unscored rows are excluded from agreement" in done.err

    again = run(*command)
    assert again.json == done.json | {"calls": 0, "notes": []}
    assert server.counts()["requests"] == counts["requests"]

    check_scores(run, server, folder, ask)


def check_scores(run, server, folder, ask):
    """Score new texts, twice, and hold every row against the rules."""
    protocol = SavedJudge.load("judge").protocol
    fresh = written(folder / "fresh.jsonl", unrated_rows())
    before = server.counts()["requests"]
    command = ["score", "judge", fresh, "-o", folder / "scores.jsonl", *ask]
    done = run(*command)
    assert done.status == 0, done.err
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    n_asked = 0
    for given, row in zip(unrated_rows(), rows, strict=True):
        score, criteria, n, why = chatty.judgement_by_rule(protocol, given["response"])
        assert row["score"] == pytest.approx(score), given["response"]
        assert {name: one["score"] for name, one in row["criteria"].items()} == criteria
        assert why in (row["problem"] or "") if score is None else row["problem"] is None
        n_asked += n
    n_unscored = sum(row["score"] is None for row in rows)
    assert (done.json["rows"], done.json["unscored"]) == (len(rows), n_unscored)
    assert 0 < n_unscored < len(rows)
    assert done.json["calls"] == n_asked == server.counts()["requests"] - before
    # Of a finished run only what could not be read is asked anew.
    again = run(*command, "--force")
    assert 0 < again.json["calls"] < n_asked
    assert again.json["unscored"] <= n_unscored
    assert server.counts()["requests"] == before + n_asked + again.json["calls"]
