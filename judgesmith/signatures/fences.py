"""Fences around untrusted text, so that what is judged cannot pose as the protocol."""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated


def unix_lines(text: str) -> str:
    r"""Return a text in which every line ends as ``\n`` does, for prompts and pages."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


TAG_DIGITS = 12

_HEX = "0123456789abcdef"
_MISREAD = {"o": "0", "i": "1", "l": "1", "|": "1"}
_ALIKE = dict(zip("аαɑвьβсϲсԁеεҽƒоοзі", "aaabbbcccdeeef0031", strict=True))
"""Letters of other alphabets that look like hexadecimal digits, in small letters."""


# Runs of blanks are possessive (``*+``): what they took they do not give back.
_LAYOUT = re.compile(r"\[\s*+\[\s*+##|<\s*+/?\s*+verbatim-", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Untrusted:
    """Marks a signature's field as text from outside."""


UNTRUSTED = _Untrusted()

Untrusted = Annotated[str, UNTRUSTED]
"""The type of a signature's field that holds text from outside; shown to models as ``str``."""

UntrustedOrNone = Annotated[str | None, UNTRUSTED]
"""The same for a field that may be missing."""


def fence_key(system: str, before: str) -> bytes:
    return _hashed([system, before], size=16).digest()


def fence_tag(texts: Iterable[str | None], key: bytes = b"") -> str:
    """Return twelve hex digits that stand in none of the texts, and depend on them and a key alone.

    Nor do they stand there in capitals, in digits or letters of another kind that look like them,
    or with anything between them that is no such digit. They depend on the first text alone,
    unless another text holds what that leads to.

    Parameters
    ----------
    texts : iterable of str or None
        What the fences will stand around; None is passed over.
    key : bytes
        From ``fence_key``; without one, who knows the first text can compute the tag.

    Returns
    -------
    str
        Twelve hex digits: the same texts in the same order always have the same.

    Examples
    --------
    >>> tag = fence_tag(["a source", None, "a response"])
    >>> tag == fence_tag(["a source", None, "a response"]), len(tag)
    (True, 12)
    >>> tag == fence_tag(["a source", None, "another response"])
    True
    >>> tag == fence_tag(["a source", None, "a response"], fence_key("Grade it.", ""))
    False
    """
    given = [unix_lines(text) for text in texts if text is not None]
    digits = [one for text in given for one in _digits_of(text)]
    tag = _hashed(given[:1], key).hexdigest()
    if not any(tag in one for one in digits):
        return tag
    # Who knows the first text and the judge can guess its tag, but not one that depends on that.
    return tag_of_all(given, key)


def tag_of_all(texts: list[str], key: bytes = b"") -> str:
    """Return the tag that all texts lead to, each of them with its place among them."""
    digits = [one for text in texts for one in _digits_of(text)]
    state = _hashed(texts, key)
    while any((tag := state.hexdigest()) in one for one in digits):
        state.update(b"again")
    return tag


def _hashed(texts: list[str], key: bytes = b"", size: int | None = None) -> hashlib.blake2b:
    state = hashlib.blake2b(digest_size=size or TAG_DIGITS // 2, key=key)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(content))
        state.update(content)
    return state


def _reading(alike: Mapping[str, str]) -> tuple[bytes, bytes]:
    lowered = bytes(range(128)).lower().ljust(256)
    table = bytes.maketrans("".join(alike).encode(), "".join(alike.values()).encode())
    read = lowered.translate(table)
    return read, bytes(one for one in range(256) if chr(read[one]) not in _HEX)


_READINGS = (_reading({}), _reading(_MISREAD))
"""Letters that look like a 0 or a 1 are passed over once, and taken for it once."""


@functools.lru_cache(maxsize=10_000)
def _read_as(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character).casefold()
    found = (str(unicodedata.decimal(one, _ALIKE.get(one, one))) for one in plain)
    return "".join(one for one in found if one.isascii() and one.isalnum())


def _digits_of(text: str) -> Iterator[str]:
    if not text.isascii():
        for one in set(text):
            if not one.isascii() and (found := _read_as(one)):
                text = text.replace(one, found)
    content = text.encode("ascii", "ignore")
    for read, others in _READINGS:
        yield content.translate(read, others).decode()


def imitates_layout(text: str) -> bool:
    """Say whether a text holds what marks the fields of a question or the fences in it."""
    if text.isascii():
        return _LAYOUT.search(text) is not None
    plain = unicodedata.normalize("NFKC", text)
    seen = "".join(one for one in plain if unicodedata.category(one) != "Cf")
    return _LAYOUT.search(seen) is not None


def fenced(text: str, tag: str) -> str:
    r"""Return ``text`` between an opening and a closing line that carry ``tag``.

    Parameters
    ----------
    text : str
        Anything; it is not changed, but for ends of lines, which all become ``\n``.
    tag : str
        From ``fence_tag`` of all texts of the message, so that none of them holds it.

    Returns
    -------
    str
        Three lines or more.

    Examples
    --------
    >>> print(fenced("4", "0123456789ab"))
    <verbatim-0123456789ab>
    4
    </verbatim-0123456789ab>
    """
    return f"<verbatim-{tag}>\n{unix_lines(text)}\n</verbatim-{tag}>"
