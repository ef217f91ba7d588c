"""The offline model as an engine: a pure function from a request to an answer."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np
import numpy.typing as npt

from judgesmith.programs.lm.errors import ModelError
from judgesmith.programs.lm.records import (
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    TokenLogprob,
    framed,
)
from judgesmith.programs.offline.annotating import answered_in, in_a_form
from judgesmith.programs.offline.requests import (
    FENCE,
    Piece,
    Score,
    Words,
    answerer_of,
    own_names,
    read_prefix,
    read_user,
    renamed,
)
from judgesmith.signatures.fences import tag_of_all
from judgesmith.signatures.scale import Scale, is_percent

ORDER = 5  # characters before one that it is foretold by
_LETTERS_PER_TOKEN = 4
_CHARACTERS = 0x10FFFF - 2048  # code points that can stand in a text


class CharacterModel:
    """Foretells each character from those before it, by what it has read so far."""

    def __init__(self, order: int = ORDER) -> None:
        self.order = order
        self._seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._totals: Counter[str] = Counter()
        self._last = ""

    def read(self, text: str) -> None:
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


_POINTS = np.arange(101.0)


class OfflineEngine:
    """A classical text-quality model that answers judgesmith's signatures without a key.

    It counts what can be counted in source, context and response, weighs it by reasons set by
    hand, and lets graded demonstrations shift its scores. It understands nothing: no paraphrase,
    no world knowledge, no instructions. See ``docs/reference/offline-model.md``.

    Attributes
    ----------
    endpoint : str
        ``offline``.
    edition : int
        Counts the changes of the answers: a cache serves none of an earlier edition.

    Examples
    --------
    >>> from judgesmith.programs.judging.adapter import FencedAdapter
    >>> from judgesmith.programs.lm.records import Message, ModelRequest, Prefix
    >>> from judgesmith.signatures.questions.active_critic import GradeResponse
    >>> inputs = {"source": "Ann left Rome.", "context": None, "response": "Ann left."}
    >>> system, user = FencedAdapter().format(GradeResponse, [], inputs)
    >>> prefix = Prefix([Message("system", system["content"])])
    >>> request = ModelRequest(model="offline", prefix=prefix, user=user["content"])
    >>> OfflineEngine().answer(request).text.split()[5].isdigit()
    True
    """

    endpoint = "offline"
    edition: int | None = 4
    scores_texts = True

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer, a function of the request alone.

        Raises
        ------
        ModelError
            If the request is not in judgesmith's layout, or asks a signature that the offline
            model does not know.
        """
        if request.continuation is not None:
            return likely_text(request)
        try:
            pieces, answers = _answered(request)
        except ValueError as fault:
            raise ModelError(str(fault)) from None
        texts, logprobs = _settled(pieces, request, answers)
        return _finished(texts, logprobs, request)


def _answered(request: ModelRequest) -> tuple[list[Piece], Scale]:
    if (formed := in_a_form(request)) is not None:
        form, fields = formed
        return answered_in(form, fields), form.answers
    names = own_names(request.prefix)
    prefix, user = (
        renamed(request.prefix, request.user, names) if names else (request.prefix, request.user)
    )
    question = read_prefix(prefix)
    fields = read_user(user, question.inputs)
    answer = dict(answerer_of(question)(prefix, question, fields))
    own = {judged: name for name, judged in names.items() if judged in answer}
    outputs = [own.get(name, name) for name in question.outputs]
    answer |= {name: answer[judged] for judged, name in own.items()}
    return _laid_out(outputs, answer), question.answers


def _laid_out(names: Sequence[str], answer: Mapping[str, Sequence[Piece]]) -> list[Piece]:
    pieces: list[Piece] = []
    for name in names:
        pieces.append(f"[[ ## {name} ## ]]\n")
        pieces.extend(answer[name])
        pieces.append("\n\n")
    pieces.append("[[ ## completed ## ]]\n")
    return pieces


def _settled(
    pieces: Sequence[Piece], request: ModelRequest, answers: Scale
) -> tuple[list[str], tuple[TokenLogprob, ...] | None]:
    settings = request.settings
    temperature = settings.temperature or 0.0
    draws = request.sample > 0 and temperature > 0
    rng = np.random.default_rng(_seed(request)) if draws else None
    levels = _levels(answers)
    if rng is None and settings.logprobs is None:
        settled = [one if isinstance(one, str) else _likeliest(one, levels) for one in pieces]
        return settled, None
    texts: list[str] = []
    tokens: list[TokenLogprob] = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            tokens.append(TokenLogprob(piece, 0.0, ((piece, 0.0),) if settings.logprobs else ()))
            continue
        if isinstance(piece, Words):
            words, given = list(piece.chances), np.array(list(piece.chances.values()))
            place = int(np.argmax(given))
            if rng is not None:
                warm = given ** (1 / temperature)
                place = int(rng.choice(len(words), p=warm / warm.sum()))
            texts.append(words[place])
            tokens.append(_token(place, words, given, settings.logprobs or 0))
            continue
        place = levels.nearest(piece)
        if rng is not None:
            warm = point_probabilities(piece, temperature=temperature, percents=levels.percents)
            place = int(rng.choice(len(warm), p=warm))
        chances = point_probabilities(piece, percents=levels.percents)
        texts.append(levels.texts[place])
        tokens.append(_token(place, levels.texts, chances, settings.logprobs or 0))
    return texts, tuple(tokens) if settings.logprobs is not None else None


def _likeliest(piece: Score | Words, levels: _Levels) -> str:
    if isinstance(piece, Score):
        return levels.texts[levels.nearest(piece)]
    return max(piece.chances, key=piece.chances.__getitem__)


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """The levels of a scale: their values on 0 to 100, and their texts."""

    percents: npt.NDArray[np.float64]
    texts: tuple[str, ...]

    def nearest(self, score: Score) -> int:
        if self.percents is _POINTS:
            return round(score.mean)
        return int(np.argmin(np.abs(self.percents - score.mean)))


@functools.lru_cache(maxsize=64)
def _levels(answers: Scale) -> _Levels:
    if is_percent(answers):
        return _Levels(_POINTS, tuple(map(str, range(101))))
    points = range(int(answers.low), int(answers.high) + 1)
    percents = np.array([100 * answers.fraction(one) for one in points])
    return _Levels(percents, answers.labels or tuple(map(str, points)))


def point_probabilities(
    score: Score, *, temperature: float = 1.0, percents: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """Return the probability of every level, by default the whole numbers from 0 to 100."""
    levels = _POINTS if percents is None else percents
    weights = -0.5 * ((levels - score.mean) / score.spread) ** 2 / temperature
    chances = np.exp(weights - weights.max())
    return np.asarray(chances / chances.sum())


def _token(
    place: int, texts: Sequence[str], chances: npt.NDArray[np.float64], n_top: int
) -> TokenLogprob:
    order = np.argsort(-chances, kind="stable")[:n_top].tolist()
    top = tuple((texts[one], log(max(float(chances[one]), 1e-300))) for one in order)
    return TokenLogprob(texts[place], log(max(float(chances[place]), 1e-300)), top)


def _seed(request: ModelRequest) -> int:
    """Return what an answer is drawn by: the texts, wherever their fences get their digits."""
    state = _plain(request.prefix).hasher()
    state.update(framed("user", _under_all(request.user)))
    settings = request.settings
    kept = (request.model, settings.temperature, settings.seed, request.sample)
    state.update(repr(kept).encode())
    return int.from_bytes(hashlib.blake2b(state.digest(), digest_size=8).digest())


@functools.lru_cache(maxsize=64)
def _plain(prefix: Prefix) -> Prefix:
    return Prefix([Message(one.role, _under_all(one.text)) for one in prefix.messages])


def _under_all(message: str) -> str:
    first = FENCE.search(message)
    if first is None:
        return message
    tag = first[1]
    texts = re.findall(rf"<verbatim-{tag}>\n(.*?)\n</verbatim-{tag}>", message, re.DOTALL)
    return message.replace(tag, tag_of_all(texts))


def _finished(
    texts: Sequence[str], logprobs: tuple[TokenLogprob, ...] | None, request: ModelRequest
) -> ModelAnswer:
    """Return the answer, cut off where ``max_tokens`` ends it."""
    settings = request.settings
    text = "".join(texts)
    n_tokens = ceil(len(text) / _LETTERS_PER_TOKEN)
    finish_reason = "stop"
    if settings.max_tokens is not None and n_tokens > settings.max_tokens:
        n_tokens, finish_reason = settings.max_tokens, "length"
        text = text[: _LETTERS_PER_TOKEN * n_tokens]
    unused = {"top_p": settings.top_p, "stop": settings.stop or None}
    names = [name for name, value in unused.items() if value is not None]
    names += [name for name, _ in settings.extra]
    return ModelAnswer(
        text=text,
        finish_reason=finish_reason,
        input_tokens=ceil(request.n_characters / _LETTERS_PER_TOKEN),
        output_tokens=n_tokens,
        logprobs=logprobs,
        adaptations=tuple(f"{name} has no effect on the offline model" for name in names),
    )
