"""Connections to Ray: to a cluster that is there, or to one of this machine's own for a while.

A cluster of this machine's own listens on loopback alone, keeps strangers out with a token that
only it knows, has no dashboard, sends no usage reports, and leaves nothing behind.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from judgesmith.errors import JudgesmithError
from judgesmith.programs.extras import library
from judgesmith.programs.lm.errors import public_address, redacted

LOCAL = "local"
"""Names a cluster of this machine's own, like no address at all."""

# Ray tells nobody of itself, nor the standard output of this process of workers that were lost.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "(?s).*"}
# Without the first Ray listens on every interface of the machine; the others keep out whoever can
# reach loopback, and keep Ray from writing a token of its own to the home folder.
_ALONE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}
_MEMORY = 200 * 2**20  # bytes for objects; pieces of rows are small and soon gone
_LONGEST_FOLDER = 40  # characters; sockets below it have names of at most 107
_LAST_PORT = 65_535
_ANSWERS = 5.0  # seconds in which something at an address takes a connection


class ClusterError(JudgesmithError, OSError):
    """A cluster that cannot be used, and why. What is on the ledger is unharmed."""


def ray_module(*, alone: bool = False) -> ModuleType:
    """Return Ray, with usage reports off."""
    os.environ.update(_QUIET)
    if alone and "ray" not in sys.modules and find_spec("ray") is not None:
        for name, value in _ALONE.items():
            os.environ.setdefault(name, value)
    return library("ray", extra="ray")


@contextmanager
def connected_ray(address: str | None, *, n_workers: int | None = None) -> Iterator[ModuleType]:
    """Return a block in which Ray is connected to a cluster, and after which it is as before."""
    own = address is None or address == LOCAL
    ray = ray_module(alone=own)
    if ray.is_initialized():
        yield ray
        return
    with _of_our_own(ray, n_workers) if own else _at(ray, str(address)):
        yield ray


@contextmanager
def _of_our_own(ray: ModuleType, n_workers: int | None) -> Iterator[None]:
    """Start a cluster for the length of a block."""
    folder = tempfile.mkdtemp(prefix="js-")
    if len(folder) > _LONGEST_FOLDER:
        shutil.rmtree(folder)
        folder = tempfile.mkdtemp(prefix="js-", dir="/tmp")
    try:
        try:
            _init(
                ray,
                address=LOCAL,
                num_cpus=n_workers or processors(),
                include_dashboard=False,
                object_store_memory=_MEMORY,
                _temp_dir=folder,
            )
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as fault:
            raise ClusterError(f"Ray could not start here: {said_by_ray(fault)}.") from None
        try:
            yield
        finally:
            ray.shutdown()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _at(ray: ModuleType, address: str) -> Iterator[None]:
    """Connect to a cluster that is there for the length of a block."""
    try:
        named = public_address(address)
    except ValueError:  # a port that is none
        named = f"{address.partition('://')[0]}://…"
    _knock(address, named)
    try:
        _init(ray, address=address)
    except (OSError, RuntimeError, ValueError, ImportError, ray.exceptions.RayError) as fault:
        raise ClusterError(_none_at(named, said_by_ray(fault))) from None
    try:
        yield
    finally:
        ray.shutdown()


def _init(ray: ModuleType, **settings: Any) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        ray.init(log_to_driver=False, configure_logging=False, **settings)
    finally:
        # Ray takes over what a signal to end does; a run that is stopped well needs its own.
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                if handler is not None:
                    signal.signal(number, handler)


def _knock(address: str, named: str) -> None:
    """Refuse an address where nothing listens at once, rather than after Ray's own patience."""
    scheme, _, rest = address.rpartition("://")
    host, separator, port = rest.rpartition(":")
    if scheme in ("", "ray") and not separator and (scheme or rest == "auto"):
        return
    if scheme not in ("", "ray") or not port.isdecimal() or int(port) > _LAST_PORT:
        raise ClusterError(
            f"{named or 'an empty name'} is no address of a cluster.",
            hint="give HOST:PORT, auto or ray://HOST:PORT.",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS).close()
    except OSError as fault:
        said = getattr(fault, "strerror", None) or str(fault)
        raise ClusterError(_none_at(named, said)) from None


def _none_at(named: str, said: str) -> str:
    return (
        f"no Ray cluster at {named}: {said}. Check the address, or leave it out to use this "
        "machine alone."
    )


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def own_address() -> str:
    """Return the address of this machine, as the cluster that it is connected to knows it."""
    return str(library("ray.util", extra="ray").get_node_ip_address())


def nodes_elsewhere(ray: ModuleType, home: str) -> list[str]:
    """Return addresses of nodes that could run workers and are other machines than ``home``."""
    return sorted(
        {
            str(node["NodeManagerAddress"])
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU")
        }
        - {home}
    )


def said_by_ray(fault: BaseException) -> str:
    """Return the first line of what Ray says, without keys."""
    return redacted(str(fault)).strip().partition("\n")[0][:500].rstrip(".")
