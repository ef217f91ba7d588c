"""Keeps keys out of messages, logs and addresses."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

# Servers like to quote the key they refuse, whole or with stars in the middle.
_LOOKS_LIKE_A_KEY = re.compile(
    r"(?i)\b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|AIza)[-_][\w*.\-]{6,}|\bAIza[\w\-]{10,}"
    r"|\bbearer\s+[\w*.\-+/=]{6,}|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?<=[?&])((?:api[-_]?)?key|token|signature)=[^&\s]+"
)
_NAME_OF_A_SECRET = re.compile(r"(?i)key|token|secret|passw")


def redacted(text: str) -> str:
    """Return ``text`` without anything that is, or looks like, a key.

    Examples
    --------
    >>> redacted("Incorrect API key provided: sk-abc123def456.")
    'Incorrect API key provided: [key].'
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and value in text and _NAME_OF_A_SECRET.search(name):
            text = text.replace(value, "[key]")
    return _LOOKS_LIKE_A_KEY.sub(_removed, text)


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
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if parts.port is not None:
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
