"""Addresses of tracking servers, and MLflow that is not installed."""

import os
import sys

import pytest

from judgesmith.experiments.tracking import TrackingError
from judgesmith.experiments.tracking.client import (
    asked_once,
    check_address,
    mlflow_client,
    shown_address,
    told_plainly,
)


@pytest.mark.parametrize(
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
    check_address(address)
    assert "secret" not in shown_address(address)


@pytest.mark.parametrize(
    "address",
    ["localhost:5000", "mlruns", "ftp://host", "http://", "http://h:99999", "http://h:x", " "],
)
def test_other_addresses_are_refused_with_one_that_could_be(address):
    with pytest.raises(ValueError, match="is no address of MLflow; give one as in http"):
        check_address(address)


def test_a_refused_address_shows_no_password():
    with pytest.raises(ValueError) as fault:
        check_address("me:hunter2222@tracking:5000")
    assert "hunter2222" not in str(fault.value)


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
