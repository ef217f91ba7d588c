"""Results are sent to a tracking server."""

import os
import re
import sys

import pytest
from looping import for_each

from judgesmith.experiments.specs import Spec, cells_of
from judgesmith.experiments.tracking import TrackingError
from judgesmith.experiments.tracking import tracker as telling
from judgesmith.experiments.tracking.client import (
    asked_once,
    check_tracking_address,
    mlflow_client,
    shown_address,
    told_plainly,
)

# Addresses of tracking servers, and MLflow that is not installed.


@for_each(
    "address",
    [
        "http://127.0.0.1:5000",
        "https://me:secret@tracking.example/mlflow/",
        "http://[::1]:5000",
        "sqlite:///mlflow.db",
        "postgresql+psycopg2://me:secret@db/runs",
        "databricks",
        "databricks://profile",
    ],
)
def test_addresses_that_mlflow_knows_are_taken(address):
    check_tracking_address(address)
    assert "secret" not in shown_address(address)


@for_each(
    "address",
    ["localhost:5000", "mlruns", "ftp://host", "http://", "http://h:99999", "http://h:x", " "],
)
def test_other_addresses_are_refused_with_one_that_could_be(address):
    with pytest.raises(ValueError, match="is no address of MLflow; give one as in http"):
        check_tracking_address(address)


def test_without_mlflow_its_extra_is_named(monkeypatch):
    for name in ("MLFLOW_DISABLE_TELEMETRY", "MLFLOW_HTTP_REQUEST_MAX_RETRIES"):
        monkeypatch.setenv(name, "")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ImportError, match=r"need mlflow: pip install 'judgesmith\[mlflow\]'"):
        mlflow_client("http://127.0.0.1:1")
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_a_fault_is_told_in_the_words_of_what_went_wrong_first():
    last = RuntimeError("API request to http://a:secret1234@h:1/api failed")
    last.__cause__ = ConnectionRefusedError(111, "Connection refused")
    with pytest.raises(TrackingError) as fault, told_plainly("http://a:secret1234@h:1"):
        raise last
    assert str(fault.value) == "MLflow at http://h:1 cannot be used: connection refused."


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            RuntimeError("403 for http://a:secret1234@h:1/api\n\x1b[2J"),
            r"403 for http://\[key\]@h:1",
        ),
        (TimeoutError(), r"it did not answer in time"),
        (RuntimeError("x" * 5000), r"x{300}\.\.\.$"),
        (KeyError(), r"KeyError$"),
    ],
)
def test_any_fault_is_one_short_sentence_without_keys(fault, told):
    with pytest.raises(TrackingError, match=told) as found, told_plainly("http://h:1"):
        raise fault
    assert str(found.value).isprintable()
    assert "secret1234" not in str(found.value)


def test_asking_once_leaves_the_environment_as_it_was(monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "5")
    monkeypatch.delenv("MLFLOW_HTTP_REQUEST_TIMEOUT", raising=False)
    with asked_once():
        assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "0"
    assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "5"
    assert "MLFLOW_HTTP_REQUEST_TIMEOUT" not in os.environ


# What a tracking server is told: within its limits, whatever people write, and no keys.

SPEC = {
    "name": "told",
    "data": {"answers": {"path": "sample", "targets": ["overall"]}},
    "judges": {"plain": {"judge": "direct"}},
    "optimizers": {"none": {}},
}


def spec_with(**changes):
    return Spec.model_validate({**SPEC, **changes})


def test_params_stay_within_the_limits_of_the_server_whatever_is_said():
    hostile = "\u202e<script>\x00" + "é😀" * 400
    spec = spec_with(
        judges={"x \u2028 <b>": {"choose": {"evil \u202e key/ü": hostile}}},
        models={"theirs": {"model": "openai/x", "api_base": "http://me:hunter22@127.0.0.1:1/v1"}},
    )
    params = telling.cell_params(spec, cells_of(spec)[0])
    assert all(re.fullmatch(r"[\w./ -]{1,250}", name, re.ASCII) for name in params)
    assert all(
        len(text) <= telling.LONGEST_PARAM and text.isprintable() for text in params.values()
    )
    assert "hunter22" not in str(params)
    assert "127.0.0.1" not in str(params)


def test_what_is_undefined_or_unknown_has_no_metric():
    undefined = {"value": None, "low": None, "high": None, "n": 3, "n_groups": 2}
    defined = {**undefined, "value": 0.5, "low": 0.1, "high": float("nan")}
    heldout = {level: {"q": undefined} for level in ("system", "sample")}
    result = {
        "agreement": {"heldout": heldout | {"dataset": {"q": defined}}, "gain": None},
        "rows": {"heldout": 0, "unscored": 0},
        "per_item": {"calls": None, "usd": None},
        "usage": {"calls": 4, "usd": 0.25},
    }
    assert telling.cell_metrics(result) == {
        "dataset/q": 0.5,
        "dataset/q_low": 0.1,
        "dataset/q_n": 3.0,
        "dataset/q_n_groups": 2.0,
        "rows/heldout": 0.0,
        "rows/unscored": 0.0,
        "usage/calls": 4.0,
        "usage/usd": 0.25,
    }


def test_keys_in_what_people_write_about_an_experiment_are_taken_out():
    spec = spec_with(about="asked with sk-abc123def456ghi\nand " + "more " * 3000)
    note = telling.run_tags(spec)["mlflow.note.content"]
    assert note.startswith("asked with [key] and more")
    assert len(note) == telling.LONGEST_TAG
