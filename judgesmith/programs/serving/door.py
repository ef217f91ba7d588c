"""Who is let in: hosts that a browser may have been told, pages it may come from, and the token."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from judgesmith.programs.serving.refusals import Refusal

_OPEN = ("/", "/healthz")  # to everybody, as the files under /page/ are: nothing in them is secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What a request must bring."""

    token: str = ""
    hosts: tuple[str, ...] = ()

    def check(self, path: str, headers: Mapping[str, str]) -> None:
        """Refuse who may not come in."""
        if self.token:
            if not (path in _OPEN or path.startswith("/page/")):
                self._check_token(headers.get("authorization", ""))
        elif path != "/healthz":
            self._check_host(headers.get("host", ""))
            self._check_origin(headers.get("origin"), headers.get("host", ""))

    def _check_token(self, authorization: str) -> None:
        scheme, _, given = authorization.partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if not (same and scheme.lower() == "bearer"):
            raise Refusal(
                401,
                "token",
                "expected the token of this server; got another one, or none.",
                where="Authorization",
                hint="send the header 'Authorization: Bearer TOKEN'.",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def _check_host(self, host: str) -> None:
        name = host_name(host)
        if not (name in self.hosts or _is_plain(name)):
            raise Refusal(
                403,
                "host",
                f"the server is not called {name[:80]!r}.",
                where="Host",
                hint="whoever runs it can allow the name: --allow-host NAME.",
            )

    def _check_origin(self, origin: str | None, host: str) -> None:
        if origin is None:
            return
        try:
            netloc = urlsplit(origin).netloc.lower()
        except ValueError:
            netloc = ""
        name = host_name(netloc)
        # Another port of this machine is another server: only names may differ, behind a proxy.
        behind_proxy = name in self.hosts and not _is_plain(name)
        if not netloc or not (netloc == host.lower() or behind_proxy):
            raise Refusal(
                403,
                "origin",
                "the request comes from a page of another server.",
                where="Origin",
                hint="send it from a program, or from the page that this server has at /.",
            )


def host_name(host: str) -> str:
    """Return a host without its port, in lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_plain(name: str) -> bool:
    """Say whether a host is an address or ``localhost``, which nobody else can let mean it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost"
    return True
