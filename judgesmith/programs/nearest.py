"""The graded examples that are most like a text, by the words that they share."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from judgesmith.programs.features.words import TextCache
from judgesmith.programs.models.request import Message, Prefix
from judgesmith.programs.templates import Template
from judgesmith.signatures.demonstration import Demonstration
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.rated import text_key

_PARTS = ("source", "response")
_REMEMBERED = 256  # prefixes and choices of recent items: samples and questions share them
_QUESTIONS = 32  # whose demonstrations are kept ready

Inputs = Mapping[str, str | None]


_TEXTS = TextCache(max_characters=2_000_000)


@dataclass(frozen=True, slots=True)
class _Words:
    """How often words stand in texts, weighed by how rare they are: one vector per text.

    Attributes
    ----------
    rarity : dict of str to float
        Inverse document frequency of every word of the texts.
    holding : dict of str to (places, weights)
        Which texts hold a word, and its share of each text's vector of length 1.
    n : int
        How many texts there are.
    """

    rarity: Mapping[str, float]
    holding: Mapping[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]]
    n: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Words:
        """Return the vectors of some texts."""
        counts = [Counter(_TEXTS.read(text).words) for text in texts]
        found_in = Counter(word for one in counts for word in one)
        rarity = {word: 1 + log((1 + len(texts)) / (1 + n)) for word, n in found_in.items()}
        holding: dict[str, tuple[list[int], list[float]]] = {}
        for place, one in enumerate(counts):
            weights = {word: (1 + log(n)) * rarity[word] for word, n in one.items()}
            length = sqrt(sum(weight**2 for weight in weights.values()))
            for word, weight in weights.items():
                places, shares = holding.setdefault(word, ([], []))
                places.append(place)
                shares.append(weight / length)
        return cls(
            rarity,
            {
                word: (np.asarray(places, dtype=np.intp), np.asarray(shares))
                for word, (places, shares) in holding.items()
            },
            len(texts),
        )

    def likeness(self, text: str) -> npt.NDArray[np.float64]:
        """Return the cosine of a text with every text, as far as its words are known, 0 to 1."""
        found = np.zeros(self.n)
        squares = 0.0
        for word, n in Counter(_TEXTS.read(text).words).items():
            if word not in self.rarity:
                continue
            weight = (1 + log(n)) * self.rarity[word]
            squares += weight**2
            places, shares = self.holding[word]
            found[places] += weight * shares
        return found / sqrt(squares) if squares else found


class Nearest:
    """Finds the demonstrations of one question that are most like a text.

    Likeness is the cosine between counts of words, weighed by how rare they are among the
    demonstrations, of the sources and of the responses; the two are averaged. The same text is
    never its own demonstration, and one that shows no answer is none.

    Parameters
    ----------
    shown : sequence of mapping
        The inputs of each demonstration.
    n : int
        How many are wanted; fewer come where there are fewer.

    Examples
    --------
    >>> pool = [{"source": "s", "response": r} for r in ("A red cat.", "Rain.", "A cat, red.")]
    >>> nearest = Nearest(pool, 2)
    >>> nearest.places({"source": "s", "response": "The red cat ran."})
    (2, 0)
    >>> nearest.places(pool[0])
    (1, 2)
    """

    def __init__(self, shown: Sequence[Inputs], n: int) -> None:
        self._n = n
        self._keys = [_key(one) for one in shown]
        self._words = [_Words.of([one.get(part) or "" for one in shown]) for part in _PARTS]
        self._remembered: dict[str, tuple[int, ...]] = {}

    def places(self, inputs: Inputs) -> tuple[int, ...]:
        """Return which demonstrations a text is shown: the most alike last, next to the question.

        Of those that are equally alike the earlier ones are taken.
        """
        key = _key(inputs)
        found = self._remembered.get(key)
        if found is None:
            found = self._found(key, inputs)
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = found
        return found

    def _found(self, key: str, inputs: Inputs) -> tuple[int, ...]:
        alike = sum(
            words.likeness(inputs.get(part) or "")
            for words, part in zip(self._words, _PARTS, strict=True)
        )
        order = np.argsort(-np.round(alike, 9), kind="stable").tolist()
        others = [place for place in order if self._keys[place] != key]
        return tuple(reversed(others[: self._n]))


class Indexes:
    """What finds the nearest among demonstrations that an optimizer may change at any time.

    As long as they are the same objects in the same order, they are read once. A copy of a judge
    starts without.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[list[Any], Nearest]] = {}

    def of(self, demos: Sequence[Mapping[str, Any]], n: int) -> Nearest:
        """Return what finds the ``n`` nearest of some demonstrations."""
        known = (n, *map(id, demos))
        if known not in self._known:
            if len(self._known) >= _QUESTIONS:
                self._known.clear()
            parts = (*_PARTS, "context")
            nearest = Nearest([{part: one.get(part) for part in parts} for one in demos], n)
            self._known[known] = (list(demos), nearest)  # kept, so that no other takes its place
        return self._known[known][1]

    def __deepcopy__(self, memo: object) -> Indexes:
        return Indexes()

    def __reduce__(self) -> tuple[type[Indexes], tuple[()]]:
        return Indexes, ()


class NearestPrefix:
    """The fixed part of a question for one text after another: system message and nearest examples.

    Parameters
    ----------
    template : Template
        With all demonstrations as pairs of turns.
    shown : sequence of Demonstration
        The same ones; each shows some answer.
    nearest : Nearest
        Finds those of them that a text is shown.
    """

    def __init__(
        self, template: Template, shown: Sequence[Demonstration], nearest: Nearest
    ) -> None:
        messages = [Message(turn.role, turn.text) for turn in template.turns]
        first = len(messages) - 2 * len(shown)
        self._nearest = nearest
        self._system = tuple(messages[:first])
        self._pairs = [
            tuple(messages[place : place + 2]) for place in range(first, len(messages), 2)
        ]
        self._of = functools.lru_cache(maxsize=_REMEMBERED)(self._built)

    def of(self, inputs: Inputs) -> Prefix:
        """Return what goes before the question about a text."""
        return self._of(self._nearest.places(inputs))

    def _built(self, places: tuple[int, ...]) -> Prefix:
        shown = (message for place in places for message in self._pairs[place])
        return Prefix((*self._system, *shown))


def nearest_prefixes(
    protocol: JudgeProtocol, templates: Mapping[str, Template]
) -> dict[str, NearestPrefix]:
    """Return what finds the fixed part of each question that shows the nearest demonstrations."""
    if protocol.nearest is None:
        return {}
    found = {}
    known: dict[tuple[str, ...], Nearest] = {}  # several questions may show the same texts
    for name, several in protocol.demonstrations.items():
        shown = [one for one in several if is_shown(one.outputs)]
        keys = tuple(one.key for one in shown)
        if keys not in known:
            known[keys] = Nearest([one.inputs for one in shown], protocol.nearest)
        found[name] = NearestPrefix(templates[name], shown, known[keys])
    return found


def is_shown(outputs: Mapping[str, Any]) -> bool:
    """Say whether a demonstration shows any answer; one that shows none is passed over."""
    return any(value is not None for value in outputs.values())


def pairs_missing(template: Template, shown: Iterable[Demonstration]) -> bool:
    """Say whether a question does not hold one pair of turns for each of its demonstrations."""
    return len(template.turns) != 1 + 2 * sum(is_shown(one.outputs) for one in shown)


def _key(inputs: Inputs) -> str:
    return text_key(inputs.get("source") or "", inputs.get("context"), inputs.get("response") or "")
