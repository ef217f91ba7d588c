"""Keeps keys out of messages, logs and addresses."""

import os
import re
from collections.abc import Iterator
from urllib.parse import quote, urlsplit, urlunsplit

# Servers like to quote the key they refuse, whole or with stars in the middle, and proxies
# the headers and the address of the request.
_LOOKS_LIKE_A_KEY = re.compile(
    r"""(?ix)
    \b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|AIza)[-_][\w*.\-]{6,}
    | \bAIza[\w\-]{10,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{12,}
    | \bbearer\s+[\w*.\-+/=]{6,}
    | \bbasic\s+(?=[\w+/]*[\d=])[\w+/]{6,}={0,2}
    | (?<=://)[^\s/@"'<>]+(?=@)
    | (?<![^\s/"'(<\[])[^\s/:@"'(<\[]+:[^\s/@"'>]+(?=@[\w\[])
    | (?<=[?&])[\w\-]*(?:key|token|secret|password|passwd|signature|credential)=[^&\s"'<>]+
    | (?<=api-key:\s)[^\s"',;]{6,}
    | (?<=api-key":\s")[^\s"]{6,}
    """
)
_NAME_OF_A_SECRET = re.compile(r"(?i)key|token|secret|passw|credential")
_SHORTEST = 8  # characters of a secret; fewer would take out ordinary words
_TELLING = 12  # characters at either end of a longer secret that tell it


def redacted(text: str) -> str:
    """Return ``text`` without anything that is, or looks like, a key.

    Examples
    --------
    >>> redacted("Incorrect API key provided: sk-abc123def456.")
    'Incorrect API key provided: [key].'
    >>> redacted("failed to connect to me:secret@localhost:8000")
    'failed to connect to [key]@localhost:8000'
    """
    for secret in _secrets_of_the_environment():
        # The environment need not be UTF-8: what is not, Python keeps as lone surrogates.
        quoted = quote(secret, errors="surrogateescape")
        for spelled in (secret, quoted, quoted.replace("/", "%2F")):
            text = text.replace(spelled, "[key]")
        if len(secret) >= 2 * _TELLING:  # it may have been cut, or have stars in the middle
            text = re.sub(rf"{re.escape(secret[:_TELLING])}\S*", "[key]", text)
            text = text.replace(secret[-_TELLING:], "[key]")
    return _LOOKS_LIKE_A_KEY.sub(_removed, text)


def _secrets_of_the_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _NAME_OF_A_SECRET.search(name):
            yield value


def _removed(found: re.Match[str]) -> str:
    # The full stop after a quoted key belongs to the sentence.
    return "[key]." if found.group().endswith(".") else "[key]"


def public_address(url: str) -> str:
    """Return an address without user, password and query, as it may be stored and shown.

    Examples
    --------
    >>> public_address("https://me:secret@host:8000/v1/?key=abc")
    'https://host:8000/v1'
    """
    if "://" not in url:  # no address that anybody can ask, but it may hold secrets all the same
        return re.split(r"[?#]", url.rpartition("@")[2])[0].rstrip("/")
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if parts.port is not None:
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
