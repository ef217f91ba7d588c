"""The client of MLflow: made without telemetry and without keys in what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from judgesmith.errors import InputError, JudgesmithError
from judgesmith.programs.artifacts.card import printable
from judgesmith.programs.extras import library
from judgesmith.programs.lm.errors import public_address, redacted
from judgesmith.programs.lm.limits import Stopped

ADDRESS = "MLFLOW_TRACKING_URI"
"""Where MLflow has its address from, and so have we."""

_QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
_RETRIES, _TIMEOUT = "MLFLOW_HTTP_REQUEST_MAX_RETRIES", "MLFLOW_HTTP_REQUEST_TIMEOUT"
# MLflow's own seven retries of two minutes each would hold up an experiment for an hour.
_PATIENCE = {_RETRIES: "2", _TIMEOUT: "30"}
_LONGEST = 300
_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")


class TrackingError(JudgesmithError, OSError):
    """A tracking server that cannot be used, and why. What is tracked is unharmed."""


def mlflow_client(address: str) -> Any:
    """Return an ``MlflowClient`` for an address; nothing is asked of the server yet."""
    check_tracking_address(address)
    os.environ.update(_QUIET)  # read when MLflow is imported, so before that
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    library("mlflow", extra="mlflow")
    with told_plainly(address):
        return library("mlflow.tracking", extra="mlflow").MlflowClient(_without_user(address))


def reach(address: str) -> None:
    """Ask the server at an address anything, once."""
    client = mlflow_client(address)
    with told_plainly(address), asked_once():
        client.search_experiments(max_results=1)


def check_tracking_address(address: str) -> None:
    """Refuse what MLflow takes for an address of nothing that it knows."""
    scheme, separator, rest = address.partition("://")
    known = scheme in ("http", "https", "file", "databricks") or scheme.startswith(_DATABASES)
    try:
        on_the_web = not scheme.startswith("http") or bool(urlsplit(address).hostname)
        _ = urlsplit(address).port if scheme.startswith("http") else None
    except ValueError:
        on_the_web = False
    if (separator and known and rest and on_the_web) or address == "databricks":
        return
    shown = printable(redacted(address))[:100]
    is_host = not separator and ":" in shown and "@" not in shown
    meant = shown if is_host else "localhost:5000"
    raise InputError(
        f"{shown!r} is no address of MLflow.",
        hint=f"give one as in http://{meant}, sqlite:///mlflow.db or databricks.",
    )


def shown_address(address: str) -> str:
    """Return an address as it may be printed: without user, password and query."""
    if urlsplit(address).hostname:
        return printable(public_address(address))
    return printable(redacted(address.partition("?")[0]))


@contextmanager
def told_plainly(address: str) -> Iterator[None]:
    """Turn whatever MLflow and its stores raise into one sentence without keys."""
    try:
        yield
    except (TrackingError, Stopped):
        raise
    except Exception as fault:  # stores raise errors of a dozen libraries
        raise TrackingError(
            f"MLflow at {shown_address(address)} cannot be used: {_reason(fault)}"
        ) from None


@contextmanager
def asked_once() -> Iterator[None]:
    """Let MLflow ask once only: for what is not to be made twice, or known at once."""
    before = {name: os.environ.get(name) for name in (_RETRIES, _TIMEOUT)}
    os.environ.update({_RETRIES: "0", _TIMEOUT: "10"})
    try:
        yield
    finally:
        _put_back(before)


def _put_back(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _without_user(address: str) -> str:
    parts = urlsplit(address)
    if not parts.scheme.startswith("http"):
        return address
    if parts.username:
        os.environ["MLFLOW_TRACKING_USERNAME"] = unquote(parts.username)
    if parts.password:
        os.environ["MLFLOW_TRACKING_PASSWORD"] = unquote(parts.password)
    return public_address(address)


def _reason(fault: BaseException) -> str:
    """Return what is wrong in the words of what went wrong first, on one line."""
    seen: list[BaseException] = []
    one: BaseException | None = fault
    while one is not None and one not in seen:
        seen.append(one)
        one = one.__cause__ or one.__context__
    if any("timeout" in type(one).__name__.lower() for one in seen):
        return "it did not answer in time."
    for one in reversed(seen):
        if isinstance(one, OSError) and one.strerror and one.filename is None:
            return f"{one.strerror[0].lower()}{one.strerror[1:]}."
    text = redacted(" ".join(str(fault).split())) or type(fault).__name__
    return printable(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")
