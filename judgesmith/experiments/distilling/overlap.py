"""Inputs that a set for testing judges has, too: no student may learn from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

_WORD = re.compile(r"\w+")
_RUN = 13  # words in a row that two texts hardly share by chance
_SHARE = 0.5  # of a text's runs, from which on it is the same input in another edition


class KnownInputs:
    """Tells whether an input is one of some others, whatever their case, marks and spaces.

    An input is one of them if it has the same words, or if half of its runs of 13 words are in
    them: the same article is cut or introduced differently from one data set to another.

    Parameters
    ----------
    texts : iterable of str
        The inputs to know; texts without a word say nothing.

    Examples
    --------
    >>> known = KnownInputs(["The ferry left at nine."])
    >>> "the ferry left, at nine" in known, "The ferry left at ten." in known
    (True, False)
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._whole: set[bytes] = set()
        self._runs: set[bytes] = set()
        for text in dict.fromkeys(texts):
            words = _words(text)
            if words:
                self._whole.add(_digest(words))
                self._runs.update(_runs(words))

    def __len__(self) -> int:
        """Return how many different inputs are known."""
        return len(self._whole)

    def __contains__(self, text: object) -> bool:
        """Say whether ``text`` is one of them."""
        if not isinstance(text, str) or not self._whole:
            return False
        words = _words(text)
        if not words:
            return False
        if _digest(words) in self._whole:
            return True
        n = max(len(words) - _RUN + 1, 0)
        n_shared = sum(run in self._runs for run in _runs(words))
        return n > 0 and n_shared >= _SHARE * n


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: list[str]) -> Iterator[bytes]:
    for at in range(len(words) - _RUN + 1):
        yield _digest(words[at : at + _RUN])


def _digest(words: list[str]) -> bytes:
    return blake2b(" ".join(words).encode(errors="surrogatepass"), digest_size=12).digest()
