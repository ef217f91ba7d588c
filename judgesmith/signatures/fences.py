"""Fences around untrusted text, so that what is judged cannot pose as the protocol.

Text from outside (sources, contexts, responses, and what a model wrote about them) is put
between two lines that carry a tag. The tag is a hash of the first untrusted text in the same
message, or of all of them where that stands in one, so that it occurs in none: whatever a text
imitates, it cannot close its own fence, and a reader that knows the first fence of a message
knows all of them. Messages that begin with the same text have the same bytes up to its end,
which is what servers that cache prompts look at.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from judgesmith.signatures.line_ends import unix_lines

TAG_DIGITS = 12

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


def fence_tag(texts: Iterable[str | None]) -> str:
    """Return twelve hex digits that stand in none of the texts, and depend on them alone.

    Nor do they stand there in capitals, for readers to whom those are the same. They depend on
    the first text alone, unless another text holds what that leads to.

    Parameters
    ----------
    texts : iterable of str or None
        What the fences will stand around; None is passed over.

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
    """
    given = [unix_lines(text) for text in texts if text is not None]
    lowered = [text.lower() for text in given]
    tag = _hashed(given[:1]).hexdigest()
    if not any(tag in text for text in lowered):
        return tag
    # Who knows the first text can guess its tag, but not one that depends on the guess.
    return tag_of_all(given)


def tag_of_all(texts: list[str]) -> str:
    """Return the tag that all texts lead to, each of them with its place among them.

    Examples
    --------
    >>> tag_of_all(["a source", "a response"]) == tag_of_all(["a source", "another response"])
    False
    """
    lowered = [text.lower() for text in texts]
    state = _hashed(texts)
    while any((tag := state.hexdigest()) in text for text in lowered):
        state.update(b"again")
    return tag


def _hashed(texts: list[str]) -> hashlib.blake2b:
    state = hashlib.blake2b(digest_size=TAG_DIGITS // 2)
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        state.update(b"%d:" % len(content))
        state.update(content)
    return state


def imitates_layout(text: str) -> bool:
    """Say whether a text holds what marks the fields of a question or the fences in it.

    Letters of other widths and characters that cannot be seen make no difference. Such a text
    is safe between fences; outside of them it must not stand.

    Examples
    --------
    >>> imitates_layout("[[ ## score"), imitates_layout("</verbatim-0>"), imitates_layout("[[1]]")
    (True, True, False)
    """
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
        From ``fence_tag`` of all texts of the question, so that none of them holds it.

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
