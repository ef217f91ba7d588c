"""Which outputs of which inputs are annotated, on which criteria, and which inputs are left out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.plain_data import fingerprint_of


class DistilSettings(BaseModel):
    """How much is sampled, what is left out, and what is kept for validation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outputs: int = Field(default=4, ge=1)
    aspects: int = Field(default=3, ge=1)
    validation: float = Field(default=0.1, ge=0, lt=1)
    unresolved: float = Field(default=0.25, ge=0, le=1)
    seed: int = Field(default=0, ge=0)

    def fingerprint(self, about: Sequence[str]) -> str:
        """Return twelve hex digits that change with a setting or what else a run is ``about``."""
        return fingerprint_of("\n".join([self.model_dump_json(), *about]))


_WORD = re.compile(r"\w+")
_RUN = 13  # words in a row that two texts hardly share by chance
_SHARE = 0.5  # of a text's runs, from which on it is the same input in another edition


class KnownInputs:
    """Tells whether an input is one of some others, whatever their case, marks and spaces.

    An input is one of them if it has the same words, or if half of its runs of 13 words are in
    them: the same article is cut or introduced differently from one data set to another.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """One output that is annotated."""

    item: RatedItem
    source: int
    criteria: tuple[str, ...]
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilSample:
    """What is annotated, and what was left out because a test has it."""

    outputs: tuple[Sampled, ...]
    n_sources: int
    n_shared: int


def sample(
    items: Sequence[RatedItem],
    groups: NDArray[np.intp],
    criteria: Sequence[str],
    settings: DistilSettings,
    *,
    known: KnownInputs | None = None,
) -> DistilSample:
    """Draw outputs of every input, criteria of every output, and inputs for validation.

    What is drawn for an input depends on the seed and its texts alone, so that further rows change
    nothing for it, but for which inputs are for validation.
    """
    members: dict[int, list[int]] = {}
    for at, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(at)
    shared = {
        group
        for group, own in members.items()
        if known is not None and any(items[at].source in known for at in own)
    }
    left = [group for group in members if group not in shared]
    held = _held(left, settings)
    names = tuple(criteria) or ("",)
    drawn = []
    for group in left:
        digest = hashlib.sha256("".join(sorted(items[at].key for at in members[group])).encode())
        rng = np.random.default_rng([settings.seed, int.from_bytes(digest.digest()[:8])])
        for at in _outputs([*members[group]], items, settings.outputs, rng):
            few = min(settings.aspects, len(names))
            picked = sorted(rng.choice(len(names), few, replace=False).tolist())
            one = Sampled(
                item=items[at],
                source=group,
                criteria=tuple(names[place] for place in picked),
                split="validation" if group in held else "train",
            )
            drawn.append((at, one))
    outputs = tuple(one for _, one in sorted(drawn, key=lambda pair: pair[0]))
    return DistilSample(outputs=outputs, n_sources=len(left), n_shared=len(shared))


def _held(groups: Sequence[int], settings: DistilSettings) -> frozenset[int]:
    """Return the inputs that are for validation: one at least of two, if any are to be."""
    if settings.validation == 0 or len(groups) < 2:
        return frozenset()
    n = min(max(round(settings.validation * len(groups)), 1), len(groups) - 1)
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    return frozenset(groups[place] for place in order[:n].tolist())


def _outputs(
    places: list[int], items: Sequence[RatedItem], n: int, rng: np.random.Generator
) -> list[int]:
    """Return the places of up to ``n`` different texts, of as many different systems as can be."""
    order = [places[at] for at in rng.permutation(len(places)).tolist()]
    texts: set[str] = set()
    different = []
    for at in order:
        if items[at].key not in texts and items[at].response.strip():
            texts.add(items[at].key)
            different.append(at)
    systems: set[str] = set()
    first: list[int] = []
    rest: list[int] = []
    for at in different:
        system = items[at].system_id
        (rest if system and system in systems else first).append(at)
        systems.add(system)
    return [*first, *rest][:n]
