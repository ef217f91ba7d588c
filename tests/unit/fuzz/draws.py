"""Bytes as a source of choices, so that every fuzz target is a function of bytes.

Whoever makes the bytes (hypothesis, a seeded generator, a coverage-guided fuzzer) decides what is
tried; where they end, every choice is the first one, so that fewer bytes are a simpler case.
"""

import math

TEXTS = (
    "",
    "a",
    "Ann left Rome.",
    "(none)",
    "[[ ## score ## ]]",
    "[[ ## response ## ]]\n",
    "\n\n[[ ## completed ## ]]",
    "</verbatim-0123456789ab>",
    "<verbatim-0123456789ab>\n",
    "{response}",
    "100",
    "-1",
    "85/100",
    "0.5",
    "1e999",
    "nan",
    "Infinity",
    "9" * 400,
    "null",
    "true",
    "{}",
    "[]",
    '{"a": [1, "b"]}',
    "```json\n",
    "- ",
    "a: b\n",
    "&a [*a]",
    "!!int ''",
    "<<: ",
    "\n",
    "\r\n",
    "\t",
    '"',
    "'",
    ",",
    ";",
    "=",
    "+",
    ":",
    "..",
    "@",
    "=1+1",
    "\x00",
    "\x1b[2J",
    "\u202e",
    "\u200b",
    "\u2028",
    "\x85",
    "\ufeff",
    "é",
    "e\u0301",
    "１００",
    "😀",
    "\ud800",
    "../../x",
    "NA",
    " " * 40,
    "[" * 300,
    "x" * 2000,
)

NUMBERS = (0, 1, -1, 5, 100, 101, 0.5, -0.0, 1e308, 5e-324, 10**30, 2**63, math.inf, math.nan)


class Draws:
    """Choices that are made by bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        """Return the next byte, 0 after the last."""
        at, self._at = self._at, self._at + 1
        return self._data[at] if at < len(self._data) else 0

    def below(self, n: int) -> int:
        """Return a number from 0 to ``n - 1``, for n up to 256."""
        return self.byte() % n

    def place(self, n: int) -> int:
        """Return a number from 0 to ``n``, for any n."""
        return (self.byte() * 65536 + self.byte() * 256 + self.byte()) % (n + 1)

    def of(self, several):
        """Return one of several."""
        return several[self.place(len(several) - 1)]

    def flag(self, one_in: int = 2) -> bool:
        """Return True for about one in so many; False where the bytes have ended."""
        return self.byte() % one_in == one_in - 1

    def blob(self, most: int = 40) -> bytes:
        """Return a few bytes as they are."""
        n = self.below(most)
        start, self._at = self._at, self._at + n
        return self._data[start : start + n]

    def text(self, most: int = 5, *, among=TEXTS) -> str:
        """Return a text of odd pieces; also half characters."""
        pieces = []
        for _ in range(self.below(most + 1)):
            kind = self.below(8)
            if kind == 6:
                pieces.append(chr(self.place(0x10FFFF)))
            elif kind == 7:
                pieces.append(self.blob().decode("latin-1"))
            else:
                pieces.append(self.of(among))
        return "".join(pieces)

    def clean(self, most: int = 5) -> str:
        """Return a text of whole characters."""
        return self.text(most).encode("utf-8", "replace").decode("utf-8")

    def number(self):
        """Return a number, also one that is none."""
        return self.place(200) - 50 if self.flag() else self.of(NUMBERS)

    def plain(self, depth: int = 3):
        """Return plain data: what JSON can spell, and NaN and infinity."""
        kind = self.below(9 if depth else 6)
        if kind == 0:
            return self.text(3)
        if kind == 1:
            return None
        if kind == 2:
            return self.flag()
        if kind in (3, 4, 5):
            return self.number()
        if kind == 6:
            return [self.plain(depth - 1) for _ in range(self.below(4))]
        return {self.text(2): self.plain(depth - 1) for _ in range(self.below(4))}


def mutated(draws: Draws, whole: bytes, *, at_least: int = 1) -> bytes:
    """Return ``whole`` after a few edits: a byte or a stretch changed, lost, doubled or moved."""
    found = bytearray(whole)
    for _ in range(at_least + draws.below(4)):
        at = draws.place(len(found))
        end = min(len(found), at + draws.below(64))
        kind = draws.below(7)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << draws.below(8)
        elif kind == 1:
            found[at:at] = draws.text(2).encode("utf-8", "surrogatepass")
        elif kind == 2:
            del found[at:end]
        elif kind == 3:
            found[at:at] = found[at:end]
        elif kind == 4:
            found[at:end] = draws.blob()
        elif kind == 5:
            other = draws.place(len(found))
            found[other:other] = found[at:end]
        else:
            del found[at:]
    return bytes(found)


def mutated_plain(draws: Draws, value):
    """Return plain data with one part of it lost, doubled, renamed or replaced."""
    if isinstance(value, dict) and value and not draws.flag(6):
        name = draws.of(sorted(value))
        kind = draws.below(8)
        rest = {key: one for key, one in value.items() if key != name}
        if kind == 6:
            return rest
        if kind == 7:
            return {**rest, draws.text(2): value[name]}
        return {**value, name: mutated_plain(draws, value[name])}
    if isinstance(value, list) and value and not draws.flag(6):
        at = draws.place(len(value) - 1)
        kind = draws.below(8)
        if kind == 6:
            return value[:at] + value[at + 1 :]
        if kind == 7:
            return value[: at + 1] + value[at:]
        return [*value[:at], mutated_plain(draws, value[at]), *value[at + 1 :]]
    if isinstance(value, str) and draws.flag():
        return mutated(draws, value.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    if isinstance(value, int | float) and draws.flag():
        return draws.number()
    return draws.plain(2)
