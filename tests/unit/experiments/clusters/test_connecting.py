"""Score runs on Ray: connections, datasets and recipes."""

import asyncio
import json
import pickle
import socket
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from exporting import calibrated_of, panel_of
from pyarrow import csv

from judgesmith.data import DataError, read_items
from judgesmith.data.columns import ColumnMap
from judgesmith.data.problems import Problem
from judgesmith.experiments.scoring.clusters import (
    ClusterError,
    addresses,
    connecting,
    datasets,
    ray_judging,
    score_dataset,
    worker,
)
from judgesmith.experiments.scoring.clusters.addresses import score_addresses
from judgesmith.experiments.scoring.clusters.datasets import TableWorker, block_items
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe, ModelRecipe, in_environment
from judgesmith.programs import score_batch
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.lm import Budget, ModelError, Retry, client_model, model

# Files at addresses, as far as that takes no cluster.


@pytest.fixture
def here(tmp_path):
    for name in ("b.jsonl", "a.jsonl.gz", "c.csv", ".hidden.csv", "_success", "no.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "t.parquet").write_text("x")
    return tmp_path.as_uri()


def names(found):
    files, kind = found
    return [one.rpartition("/")[2] for one in files], kind


def test_files_folders_and_patterns_are_found_once_and_in_order(here):
    lines = [f"{here}/*.jsonl*", f"{here}/b.jsonl"]
    assert names(addresses._files(lines)) == (["a.jsonl.gz", "b.jsonl"], "lines")
    assert names(addresses._files([f"{here}/tables"])) == (["t.parquet"], "parquet")
    assert names(addresses._files([f"{here}/c.csv"])) == (["c.csv"], "csv")


@pytest.mark.parametrize(
    ("name", "fault", "says"),
    [
        ("none.csv", FileNotFoundError, "there is no file at .*/none.csv"),
        ("*.parquet", FileNotFoundError, "there is no file at"),
        ("", ValueError, "no.txt: expected an ending of .parquet, .jsonl"),
        ("[bc].*", ValueError, "are read in one format; got .*b.jsonl and .*c.csv"),
    ],
)
def test_what_cannot_be_read_is_named(name, fault, says, here):
    with pytest.raises(fault, match=says):
        addresses._files([f"{here}/{name}"])


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nofs://host/rows", "nofs://host/rows cannot be reached: Unrecognized filesystem type"),
        ("s3://me:secret-word@b/rows.csv", "s3://b/rows.csv came with a user, password or query"),
        ("s3://b/rows.csv?key=secret-word", "s3://b/rows.csv came with a user, password or query"),
    ],
)
def test_an_address_that_cannot_be_is_said_without_its_secret(address, says, saved):
    lm = client_model("offline", ledger=None)
    with pytest.raises(ValueError, match=says) as caught:
        score_addresses(saved, [address], "s3://b/out", lm=lm)
    assert "secret-word" not in str(caught.value)


def test_rows_go_to_an_empty_folder_alone(here, saved):
    addresses._refuse_full(f"{here}/new")
    for name in ("tables", "c.csv"):
        with pytest.raises(FileExistsError, match=rf"{name} holds something; name an empty folder"):
            score_addresses(
                saved, [f"{here}/c.csv"], f"{here}/{name}", lm=client_model("offline", ledger=None)
            )


def test_cells_of_a_table_are_the_texts_that_stand_there(tmp_path):
    (tmp_path / "t.csv").write_text('id,response\n007,"1\n2"\nNA,\n')
    settings = addresses._as_texts((tmp_path / "t.csv").as_uri())
    found = csv.read_csv(tmp_path / "t.csv", **settings).to_pylist()
    assert found == [{"id": "007", "response": "1\n2"}, {"id": "NA", "response": ""}]


class RayError(Exception):
    """What Ray raises, with what it is about as its cause."""

    def __init__(self, cause):
        super().__init__("a report of many lines")
        self.cause = cause


class RayErrorOfValues(RayError, ValueError):
    """A report that is of the class of what it reports, too."""


@pytest.mark.parametrize("report", [RayError, RayErrorOfValues])
def test_a_fault_of_a_worker_is_said_as_here_and_without_the_words_of_ray(report):
    ray = SimpleNamespace(exceptions=SimpleNamespace(RayError=RayError))
    tried = "\nFailed to apply UDF transform after 1/1 attempts (total backoff 0.0s).\nTo change"
    problem = Problem(where="a.jsonl:2", field="line", expected="one JSON object", came="'{'")
    with pytest.raises(DataError) as caught, addresses._plain_faults(ray):
        raise report(DataError([problem]))
    assert "a.jsonl:2: line: expected one JSON object" in str(caught.value)
    assert caught.value.problems == (problem,)
    with pytest.raises(ModelError) as refused, addresses._plain_faults(ray):
        raise report(ModelError(f"set a key.{tried}", status=401))
    assert (str(refused.value), refused.value.status) == ("set a key.", 401)


# Clusters that cannot be had are said before anything is asked.


class Refusing:
    """A Ray that connects to nothing."""

    exceptions = SimpleNamespace(RayError=KeyError)

    def __init__(self, fault=None):
        self.fault = fault
        self.given = None
        self.n_shut = 0

    def is_initialized(self):
        return False

    def init(self, **given):
        self.given = given
        if self.fault is not None:
            raise self.fault

    def shutdown(self):
        self.n_shut += 1


@pytest.fixture
def given_ray(monkeypatch):
    """Return a function that makes another module be Ray."""

    def given(ray):
        monkeypatch.setattr(connecting, "library", lambda *_, **__: ray)
        return ray

    return given


@pytest.fixture
def environment(monkeypatch):
    for name in ("RAY_USAGE_STATS_ENABLED", *connecting._ALONE):
        monkeypatch.setenv(name, "as it was")


@pytest.mark.usefixtures("environment")
def test_ray_is_asked_for_by_its_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="ray")

    monkeypatch.setattr("judgesmith.programs.extras.import_module", missing)
    with pytest.raises(ImportError, match=r"pip install 'judgesmith\[ray\]'"):
        connecting.ray_module()


@pytest.mark.usefixtures("environment")
def test_a_cluster_of_ones_own_is_for_itself_and_gone_afterwards(given_ray, tmp_path):
    ray = given_ray(Refusing())
    with connecting.connected_ray(None, n_workers=3):
        assert (ray.given["address"], ray.given["num_cpus"]) == ("local", 3)
        assert ray.given["include_dashboard"] is ray.given["log_to_driver"] is False
        folder = ray.given["_temp_dir"]
        assert Path(folder).is_dir()
    assert ray.n_shut == 1
    assert not Path(folder).exists()
    with connecting.connected_ray("local"):
        assert ray.given["num_cpus"] == connecting.processors() >= 1


@pytest.mark.usefixtures("environment")
def test_telemetry_is_off_before_ray_is_imported(monkeypatch):
    heard = []
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setattr(connecting, "find_spec", lambda name: object())
    for name in ("RAY_USAGE_STATS_ENABLED", *connecting._ALONE):
        monkeypatch.delenv(name)
    monkeypatch.setattr(
        connecting, "library", lambda *_, **__: heard.append(dict(connecting.os.environ))
    )
    connecting.ray_module()
    assert heard[0]["RAY_USAGE_STATS_ENABLED"] == "0"
    assert "RAY_AUTH_TOKEN" not in heard[0]
    connecting.ray_module(alone=True)
    assert heard[1]["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert heard[1]["RAY_AUTH_MODE"] == "token"
    assert len(heard[1]["RAY_AUTH_TOKEN"]) == 64


@pytest.mark.usefixtures("environment")
def test_what_keeps_a_cluster_from_starting_is_said_without_keys(given_ray, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret-key")
    given_ray(Refusing(RuntimeError("no shared memory for very-secret-key.\nmore of it")))
    with pytest.raises(ClusterError) as caught, connecting.connected_ray(None):
        pass
    assert str(caught.value) == "Ray could not start here: no shared memory for [key]."


@pytest.mark.usefixtures("environment")
def test_an_address_where_nothing_listens_is_refused_at_once(given_ray):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ray = given_ray(Refusing())
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        with pytest.raises(ClusterError, match=rf"no Ray cluster at .*{port}: Connection refused"):
            connecting.connected_ray(address).__enter__()
    assert ray.given is None


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize(
    "address",
    [
        "nowhere",
        "host:port",
        "http",
        "",
        "http://host:1",
        "host:65536",
        "ray://host:x",
        "host:\u00b2",
    ],
)
def test_what_is_no_address_is_refused(address, given_ray):
    given_ray(Refusing())
    with pytest.raises(ClusterError, match="HOST:PORT, auto or ray://HOST:PORT"):
        connecting.connected_ray(address).__enter__()


@pytest.mark.usefixtures("environment")
def test_what_ray_says_of_an_address_is_handed_on(given_ray):
    given_ray(Refusing(ConnectionError("Could not find any running Ray instance.")))
    with pytest.raises(ClusterError, match="no Ray cluster at auto: Could not find any running"):
        connecting.connected_ray("auto").__enter__()


def test_nodes_that_could_run_workers_elsewhere_are_named():
    def node(address, *, alive=True, **resources):
        return {"NodeManagerAddress": address, "Alive": alive, "Resources": resources}

    nodes = [node("a", CPU=1), node("b", CPU=2), node("c"), node("d", alive=False, CPU=1)]
    ray = SimpleNamespace(nodes=lambda: nodes)
    assert connecting.nodes_elsewhere(ray, "a") == ["b"]
    assert connecting.nodes_elsewhere(ray, "b") == ["a"]


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("setting", ["workers", "concurrency"])
def test_numbers_that_cannot_be_are_refused(setting, saved):
    with pytest.raises(ValueError, match=f"{setting} must be 1 or more; got 0"):
        ray_judging(saved, client_model("offline", ledger=None), **{setting: 0}).__enter__()


@pytest.mark.usefixtures("environment")
def test_a_cluster_with_other_machines_needs_another_ledger(given_ray, saved, tmp_path):
    class Elsewhere(Refusing):
        def get_node_ip_address(self):
            return "10.0.0.1"

        def nodes(self):
            return [{"NodeManagerAddress": "10.0.0.2", "Alive": True, "Resources": {"CPU": 4.0}}]

    ray = given_ray(Elsewhere())
    lm = client_model("offline", ledger=tmp_path / "ledger.sqlite")
    with pytest.raises(ClusterError, match=r"10\.0\.0\.1, and .* 10\.0\.0\.2; .*postgresql://"):
        ray_judging(saved, lm).__enter__()
    assert ray.n_shut == 1
    assert not (tmp_path / "ledger.sqlite").exists()


# Scores beside the columns of a dataset, on a real Ray and without one.

COLUMNS = ColumnMap(fields={"source": ("source",), "response": ("answer",)})


def rows_of(items):
    return [{"source": one.source, "answer": one.response, "n": n} for n, one in enumerate(items)]


def expected(items, saved):
    """Return rows of scores as tables hold them, by column."""
    found = score_batch(saved, items, lm=client_model("offline", ledger=None))
    rows = [score_row(*pair) for pair in zip(items, found, strict=True)]
    return [(row["score"], row["key"], json.dumps(row["criteria"])) for row in rows]


@pytest.fixture
def table_worker(saved, monkeypatch):
    """Return a function that makes a worker here."""
    monkeypatch.setattr(worker, "own_address", lambda: "127.0.0.1")

    def made(lm=None, **changed):
        recipe = JudgeRecipe.of(saved, lm or client_model("offline", ledger=None))
        given = {
            "recipe": replace(recipe, **changed),
            "marks": {"judge": "j", "target": "t", "run": "r"},
            "labels": False,
            "columns": COLUMNS,
            "kept": ["n"],
            "lines": False,
            "concurrency": 4,
            "n_workers": 1,
            "home": None,
        }
        return TableWorker(**given)

    return made


def judged(made, rows):
    async def first():
        return [one async for one in made(pa.Table.from_pylist(rows))]

    (table,) = asyncio.run(first())
    return table


def test_a_table_gets_the_columns_of_scores(table_worker, saved, items_of):
    items = items_of(6)
    table = judged(table_worker(), rows_of(items))
    assert table.column_names[:3] == ["n", "source_id", "system_id"]
    assert table["n"].to_pylist() == list(range(6))
    found = table.select(["score", "key", "criteria"]).to_pylist()
    assert [tuple(one.values()) for one in found] == expected(items, saved)
    assert set(table["run"].to_pylist()) == {"r"}


def test_rows_that_cannot_be_read_are_all_named(table_worker):
    rows = [{"source": "a", "answer": ["b"]}, {"source": None, "answer": "c"}]
    with pytest.raises(DataError, match="a batch of the dataset, row 1: answer: expected a text"):
        block_items(rows, COLUMNS)
    assert [one.source for one in block_items(rows[1:], COLUMNS)] == [""]


def test_what_ends_a_run_ends_it_here(table_worker, items_of, monkeypatch):
    with pytest.raises(ClusterError, match=r"the worker at 127\.0\.0\.1: judgesmith is"):
        judged(table_worker(made_by="0.0"), rows_of(items_of(1)))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY"):
        judged(table_worker(client_model("anthropic/m", ledger=None)), rows_of(items_of(1)))


@pytest.mark.parametrize(
    ("keep", "said"),
    [(["n", "m"], "got 'm'"), (["n", "score"], "has a column 'score', and so has a row of")],
)
def test_columns_that_cannot_be_kept_are_refused(keep, said):
    told = datasets.score_columns(labels=False)
    with pytest.raises(ValueError, match=said):
        datasets._refuse_clashes(["n", "score", "source_id"], keep, told)
    datasets._refuse_clashes(["n", "score", "source_id"], ["source_id", "n"], told)


@pytest.mark.ray
@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore")
class TestOnRay:
    def test_a_dataset_gets_the_columns_of_scores(self, ray, saved, items_of, lm_at, server):
        items = items_of(150)
        given = ray.data.from_items(rows_of(items), override_num_blocks=4)
        lm = client_model("offline", ledger=None)
        options = {"columns": "response=answer", "keep": ["n"], "workers": 1}
        scored = score_dataset(given, saved, lm=lm, concurrency=8, **options)
        found = sorted(scored.take_all(), key=lambda row: row["n"])
        assert [(row["score"], row["key"], row["criteria"]) for row in found] == expected(
            items, saved
        )
        assert [row["n"] for row in found] == list(range(150))

    def test_a_dataset_without_texts_is_refused(self, ray, saved):
        with pytest.raises(DataError, match="the dataset: response: expected a column"):
            score_dataset(ray.data.from_items([{"n": 1}]), saved)


# What travels to workers makes the same judge and models again, and holds no key.

KEY = "sk-never-travels-0123456789"


@pytest.fixture
def keyed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_a_model_is_made_again_with_its_settings_and_its_part_in_the_budget(tmp_path, keyed):
    given = {
        "api_base": "http://127.0.0.1:9/v1",
        "ledger": tmp_path / "ledger.sqlite",
        "max_calls": 7,
        "max_usd": 2.0,
        "price": "1,2",
        "rpm": 60,
        "run_id": "mine",
        "retry": Retry(attempts=2),
        "temperature": 0.3,
        "max_output_tokens": 99,
        "timeout": 5.0,
    }
    lm = client_model("openai/m", **given)
    made = pickle.loads(pickle.dumps(ModelRecipe.of(lm))).made()
    assert (made.kwargs, made.recipe) == (lm.kwargs, lm.recipe | {"price": [1.0, 2.0]})
    assert made.client.ledger is lm.client.ledger
    assert made.client.budget == Budget(max_calls=7, max_usd=2.0)
    assert (made.client.run_id, made.client.retry.attempts) == ("mine", 2)
    assert made.client.price == lm.client.price
    assert made.client.limits.rpm == 60
    assert ModelRecipe.of(made) == ModelRecipe.of(lm)


def test_no_key_travels(keyed, saved):
    lm = client_model("openai/m", ledger=None)
    told = pickle.dumps(JudgeRecipe.of(saved, lm))
    assert KEY.encode() not in told
    assert b"sk-" not in told


@pytest.mark.parametrize("address", ["http://me:secret@host/v1", "http://host/v1?key=secret"])
def test_an_address_with_a_secret_stays_here(address):
    lm = client_model("openai/m", api_base=address, ledger=None)
    with pytest.raises(ValueError, match="OPENAI_API_BASE") as caught:
        ModelRecipe.of(lm)
    assert "secret" not in str(caught.value).replace("secrets", "")


@pytest.mark.parametrize("ceiling", [{"max_calls": 3}, {"rpm": 5.0}])
def test_workers_without_a_ledger_share_no_budget(ceiling):
    with pytest.raises(ValueError, match="share a budget and a rate through the cache"):
        ModelRecipe.of(client_model("offline", ledger=None, **ceiling))


def test_another_address_on_a_node_is_said(monkeypatch):
    recipe = ModelRecipe.of(client_model("openai/m", ledger=None))
    monkeypatch.setenv("OPENAI_API_BASE", "http://elsewhere:8000/v1")
    with pytest.raises(ValueError, match=r"is at http://elsewhere:8000/v1 here and at https://"):
        recipe.made()


def test_a_judge_is_made_again_with_its_models(saved):
    lm, other = client_model("offline", ledger=None), client_model("ollama/other", ledger=None)
    judge, made, models = JudgeRecipe.of(saved, lm).made()
    assert judge == saved
    assert models == (made,)
    items = read_items("sample").items[:2]
    assert score_batch(judge, items, lm=made) == score_batch(saved, items, lm=lm)
    bound = saved.with_models({"x": other})  # a judge without roles has none
    assert JudgeRecipe.of(bound, lm).made()[2][0].model == "offline"


def test_judges_that_hold_judges_keep_which_member_asks_what(saved):
    lms = {"offline": client_model("offline", ledger=None), "o/m": client_model("o/m", ledger=None)}
    other = saved.model_copy(update={"model": "o/m"})
    panel = panel_of(a=saved, b=other).with_models(lms)
    judge, lm, models = JudgeRecipe.of(panel, lms["offline"]).made()
    assert judge.fingerprint == panel.fingerprint
    assert [one.model for one in models] == ["offline", "o/m"]
    assert judge._lms == {"offline": lm, "o/m": models[1]}
    calibrated = calibrated_of(saved)
    judge, lm, _ = JudgeRecipe.of(calibrated, lms["offline"]).made()
    assert type(judge) is type(calibrated)
    items = read_items("sample").items[:3]
    found = score_batch(judge, items, lm=lm)
    assert found == score_batch(calibrated, items, lm=lm)
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_model_of_dspy_is_taken_too_unless_a_setting_cannot_travel(tmp_path):
    lm = model("openai/m", ledger=tmp_path / "l.sqlite", max_output_tokens=50)
    assert ModelRecipe.of(lm).made().kwargs == {"temperature": 0.0, "max_tokens": 50}
    with pytest.raises(ValueError, match="the setting top_p, too"):
        ModelRecipe.of(model("openai/m", ledger=None, top_p=0.5))
    with pytest.raises(ValueError, match=r"one from judgesmith\.model.*got object"):
        ModelRecipe.of(object())


def test_parts_and_roles_that_ask_others_do_so_on_workers(saved):
    lms = [client_model(name, ledger=None) for name in ("offline", "ollama/other")]
    panel = panel_of(a=saved, b=saved).with_parts({"b": lms[1]})
    judge, _, models = JudgeRecipe.of(panel, lms[0]).made()
    assert judge.parts == {"b": models[1]}
    asking = saved.asking({"proposer": "ollama/other"}, {"ollama/other": lms[1]})
    judge, _, models = JudgeRecipe.of(asking, lms[0]).made()
    assert (judge._asked_roles, judge._lms["ollama/other"]) == (asking._asked_roles, models[1])


def test_a_database_is_told_of_without_its_password_and_found_in_the_environment(
    saved, monkeypatch
):
    address = "postgresql://me:secret-word@db.example:5433/answers?sslmode=require"
    lm = client_model("offline", ledger=address)
    recipe = JudgeRecipe.of(saved, lm)
    assert b"secret-word" not in pickle.dumps(recipe)
    assert not recipe.is_of_one_machine
    told = "postgresql://me@db.example:5433/answers?sslmode=require"
    assert recipe.main.made().client.ledger.address == told
    monkeypatch.setenv("JUDGESMITH_STORAGE", "postgresql://me:other@elsewhere/answers")
    assert recipe.main.made().client.ledger.address == told
    with in_environment(lm.client.ledger):
        assert recipe.main.made().client.ledger is lm.client.ledger
    assert recipe.main.made().client.ledger.address == told
    monkeypatch.setenv("JUDGESMITH_LEDGER", "postgresql://you:more@db.example:5433/answers")
    with in_environment(lm.client.ledger):
        pass
    assert recipe.main.made().client.ledger.address.startswith("postgresql://you:more@")
