"""Whether a model and its address can be meant at all, before anything is sent there."""

from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from judgesmith.errors import InputError
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
