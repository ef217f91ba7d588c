"""How likely a text is by the statistics of its prompt: a model of characters, not of language."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import ceil, log

from judgesmith.programs.models.request import ModelAnswer, ModelRequest, TokenLogprob

ORDER = 5
"""Characters before one that it is foretold by."""

_LETTERS_PER_TOKEN = 4
_CHARACTERS = 0x10FFFF - 2048  # code points that can stand in a text


class CharacterModel:
    """Foretells each character from those before it, by what it has read so far.

    Witten-Bell smoothing: after a context with n characters seen, t of them different, the next one
    is foretold from this context with weight n / (n + t), and else from the context that is shorter
    by one; below the shortest all code points are alike. What is foretold is then learned.

    Attributes
    ----------
    order : int
        Longest context, in characters.

    References
    ----------
    Witten and Bell (1991), "The Zero-Frequency Problem", IEEE Transactions on Information
    Theory 37(4), method C.

    Examples
    --------
    >>> model = CharacterModel(order=1)
    >>> model.read("abab")
    >>> round(model.logprob("a"), 4)  # after b 1 of 1, 1 kind; below 2 of 4, 2 kinds: 1/2 + 2/6/2
    -0.4055
    """

    def __init__(self, order: int = ORDER) -> None:
        self.order = order
        self._seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._totals: Counter[str] = Counter()
        self._last = ""

    def read(self, text: str) -> None:
        """Learn from a text."""
        for character in text:
            self._learn(character)

    def logprob(self, character: str) -> float:
        """Return the natural logarithm of the probability that this character comes next."""
        chance = 1.0 / _CHARACTERS
        for length in range(len(self._last) + 1):
            context = self._last[len(self._last) - length :]
            seen = self._seen.get(context)
            if seen is None:
                break
            n, kinds = self._totals[context], len(seen)
            chance = (seen[character] + kinds * chance) / (n + kinds)
        return log(chance)

    def _learn(self, character: str) -> None:
        for length in range(len(self._last) + 1):
            context = self._last[len(self._last) - length :]
            self._seen[context][character] += 1
            self._totals[context] += 1
        self._last = (self._last + character)[-self.order :]


def likely_text(request: ModelRequest) -> ModelAnswer:
    """Return the continuation of a request, character by character with their log-probabilities."""
    model = CharacterModel()
    model.read(request.as_prompt)
    tokens = []
    for character in request.continuation or "":
        tokens.append(TokenLogprob(character, model.logprob(character)))
        model.read(character)
    return ModelAnswer(
        text=request.continuation or "",
        input_tokens=ceil(request.n_characters / _LETTERS_PER_TOKEN),
        output_tokens=1,
        logprobs=tuple(tokens),
    )
