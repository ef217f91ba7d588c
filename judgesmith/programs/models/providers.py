"""Whether a model and its address can be meant at all, before anything is sent there."""

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from judgesmith.errors import InputError
from judgesmith.programs.models.naming import OFFLINE, host_of
from judgesmith.programs.models.redaction import redacted

# Where LiteLLM lists the providers that it knows; importing it takes seconds.
_LISTED_IN = "types/utils.py"


def check_provider(model: str) -> None:
    """Refuse ``provider/model`` with a provider that nobody here knows; leave all else alone.

    Raises
    ------
    ValueError
        If neither lm15 nor LiteLLM knows the provider.

    Examples
    --------
    >>> check_provider("offline"), check_provider("openai/gpt-4o-mini")
    (None, None)
    >>> check_provider("opnai/gpt-4o-mini")
    Traceback (most recent call last):
    judgesmith.InputError: no provider is called opnai; name one that LiteLLM knows, or openai \
and an address.
    """
    head, separator, rest = model.partition("/")
    if not (head and separator and rest):
        return
    from judgesmith.programs.models.native import native_route  # loads the client

    if native_route(model):
        return
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return
    listing = Path(found.origin).parent / _LISTED_IN
    if not listing.is_file():
        return
    if f'"{head}"' not in listing.read_text(encoding="utf-8"):
        raise InputError(
            f"no provider is called {head}; name one that LiteLLM knows, or openai and an address."
        )


def check_address(address: str | None, model: str) -> None:
    """Refuse an address at which no server can be, or a server for the model that needs none.

    Raises
    ------
    ValueError
        If the address is no URL with http or https and a host, or the model is ``offline``.

    Examples
    --------
    >>> check_address("http://localhost:8000/v1", "openai/m")
    >>> check_address("localhost:8000", "openai/m")
    Traceback (most recent call last):
    judgesmith.InputError: an address is a URL such as http://localhost:8000/v1; got \
'localhost:8000'.
    """
    if address is None:
        return
    try:
        parts = urlsplit(address)
        port_is_a_number = parts.port is None or parts.port > 0
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and port_is_a_number
    except ValueError:
        right = False
    if not right:
        got = redacted(address)
        raise InputError(f"an address is a URL such as http://localhost:8000/v1; got {got!r}.")
    if model == "offline":
        raise InputError(
            "the offline model answers without any server; drop the address, or name the model "
            "that is served there (--model openai/NAME)."
        )


def check_host(model: str, address: str | None, hosts: Collection[str]) -> None:
    """Refuse a model at another host than those given; without any, every host will do.

    LiteLLM looks up other hosts for many of its providers (to sign in, to find a region or a
    deployment, to poll for the answer) and follows redirects, so that an address alone does not
    tell where it sends texts: none of its models is asked under this.

    Raises
    ------
    InputError
        If so; the message names the host.

    Examples
    --------
    >>> check_host("openai/m", "http://localhost:8000/v1", ["localhost"])
    >>> check_host("openai/m", "https://example.org/v1", ["localhost"])
    Traceback (most recent call last):
    judgesmith.InputError: openai/m is at example.org, and only localhost may be asked; name that \
host with --only-host, too, or give another model or address.
    """
    from judgesmith.programs.models.faces import engine_for
    from judgesmith.programs.models.native import native_route

    if not hosts or model == OFFLINE:
        return
    allowed = {host.strip("[]").rstrip(".").casefold() for host in hosts}
    listed = ", ".join(sorted(allowed))
    if not native_route(model):
        raise InputError(
            f"{model} is asked through LiteLLM, which looks up hosts of its own, and only {listed} "
            "may be asked; choose a model of a provider with a client of its own, such as "
            "openai/NAME with an address, or leave --only-host out."
        )
    host = host_of(engine_for(model, api_base=address).endpoint)
    if host.rstrip(".").casefold() not in allowed:
        raise InputError(
            f"{model} is at {host or 'no known host'}, and only {listed} may be asked; name that "
            "host with --only-host, too, or give another model or address."
        )
