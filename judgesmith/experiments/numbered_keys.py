"""Whose texts the rows of a file are about, by number, in eight bytes each."""

from __future__ import annotations

from array import array


class NumberedKeys:
    """The first 64 bits of the key of each row, by its number.

    Examples
    --------
    >>> keys = NumberedKeys()
    >>> keys.add(3, "00ff" * 8)
    >>> keys.same(3, "00ff" * 8), keys.same(3, "ff00" * 8), keys.same(4, "00ff" * 8)
    (True, False, None)
    """

    def __init__(self) -> None:
        self._keys = array("Q")

    def add(self, number: int, key: str) -> None:
        """Take note of a row."""
        n = len(self._keys)
        if number >= n:
            self._keys.frombytes(bytes(8 * (max(number + 1, 2 * n) - n)))
        self._keys[number] = _short(key)

    def same(self, number: int, key: str) -> bool | None:
        """Say whether a row is about these texts; None where there is no row of this number."""
        found = self._keys[number] if number < len(self._keys) else 0
        return found == _short(key) if found else None


def _short(key: str) -> int:
    return int(key[:16], 16) or 1
