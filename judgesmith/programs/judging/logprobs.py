"""How probable each answer was, and the mean score weighed by these probabilities."""

from __future__ import annotations

import functools
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from judgesmith.errors import InputError
from judgesmith.programs.judging.answers import without_thoughts
from judgesmith.programs.lm.records import TokenLogprob
from judgesmith.signatures.judgement import CriterionScore, Judgement, Weighting
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import Scale, levels_of

LEAST_MASS = 0.5
"""Share of the probability that listed answers must hold for their proportions to be used."""

_BEFORE = " \t\r\n\f\v\u00a0\"'`*_([<:=“”‘’«»„「『"  # what may stand before an answer
_SEVERAL_DIGITS = re.compile(r"\s*\d\d")
_DECIMAL = re.compile(r"\.(?:\d|\Z)")
_WHOLE = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerProbabilities:
    """How probable each of the given answers was, or why that is not known."""

    mode: Literal["probabilities", "none"]
    values: Mapping[str, float] = field(default_factory=dict)
    mass: float = 0.0
    reason: str = ""

    @classmethod
    def none(cls, reason: str, *, mass: float = 0.0) -> AnswerProbabilities:
        return cls(mode="none", reason=reason, mass=mass)


def answer_probabilities(
    tokens: Sequence[TokenLogprob], start: int, answers: Sequence[str]
) -> AnswerProbabilities:
    """Return the probabilities of answers that begin ``start`` characters into some tokens."""
    index = _index(tuple(answers))
    found = dict.fromkeys(answers, 0.0)
    at, before = _token_at(tokens, start)
    if at is None:
        return AnswerProbabilities.none("the log-probabilities end before the answer")
    if not tokens[at].top:
        return AnswerProbabilities.none("there are log-probabilities, but of no other answers")
    path, said = 1.0, ""
    for place in range(at, len(tokens)):
        listed = list(_listed(tokens[place]))
        if place == at:
            listed = [(token.removeprefix(before), p) for token, p in listed]
        (written, chance), *others = listed
        several = any(_SEVERAL_DIGITS.match(token) for token, _ in listed)
        for token, other in others:
            answer = index.meant(said + token, several_digits=several)
            answer = answer or index.word(said + token)
            if answer is not None:
                found[answer] += path * other
        said, path = said + written, path * chance
        answer = index.meant(said, whole_only=True)
        if answer is not None:
            found[answer] += path
            break
        if not index.goes_on(said):
            break
    else:
        # The model ended here, which is no token in any list.
        if (answer := index.spelled(said)) is not None:
            found[answer] += path
    return _shares(found)


def _shares(found: Mapping[str, float]) -> AnswerProbabilities:
    total = math.fsum(found.values())
    mass = min(total, 1.0)
    if not math.isfinite(total):
        return AnswerProbabilities.none("the log-probabilities are no numbers")
    if mass < LEAST_MASS:
        return AnswerProbabilities.none(
            f"the answers that are listed hold {mass:.2f} of the probability, less than "
            f"{LEAST_MASS:g}",
            mass=mass,
        )
    values = {answer: value / total for answer, value in found.items()}
    return AnswerProbabilities(mode="probabilities", values=values, mass=mass)


def _token_at(tokens: Sequence[TokenLogprob], start: int) -> tuple[int | None, str]:
    end = 0
    for place, one in enumerate(tokens):
        end += len(one.token)
        if end > start:
            return place, one.token[: len(one.token) - (end - start)]
    return None, ""


def _listed(token: TokenLogprob) -> Iterator[tuple[str, float]]:
    """Yield tokens with their probabilities: first the one that was written, then the others."""
    yield token.token, _probability(token.logprob)
    alike = 1  # an entry for the token that was written, perhaps
    for other, logprob in token.top:
        if other == token.token and alike:
            alike = 0
            continue
        yield other, _probability(logprob)


def _probability(logprob: float) -> float:
    return math.nan if math.isnan(logprob) else math.exp(min(logprob, 0.0))


@dataclass(frozen=True, slots=True)
class _Index:
    """Answers by what they are spelled like, and by every beginning of that."""

    exact: Mapping[str, str]
    beginning: Mapping[str, tuple[str, ...]]
    longest: int

    def spelled(self, text: str) -> str | None:
        said = _plain(text)
        return self.exact.get(said) or self._ended(f"{said} ")

    def word(self, text: str) -> str | None:
        """Return the word that a text spells, although another answer begins like it."""
        answer = self.exact.get(_plain(text))
        return None if answer is None or answer[-1:].isdecimal() else answer

    def goes_on(self, text: str) -> bool:
        said = _plain(text)
        before_point = said.endswith(".") and said[:-1] in self.exact
        return not said or said in self.beginning or before_point

    def meant(
        self, text: str, *, several_digits: bool = False, whole_only: bool = False
    ) -> str | None:
        """Return the one answer that a text is or becomes; None where it may be several."""
        said = _plain(text)
        if not said:
            return None
        longer = [one for one in self.beginning.get(said, ()) if one != self.exact.get(said)]
        whole = self.exact.get(said)
        if whole is not None:
            is_whole = several_digits and _WHOLE.fullmatch(said) is not None
            return whole if is_whole or not longer else None
        ended = self._ended(said)
        if ended is not None:
            return None if longer else ended
        return longer[0] if len(longer) == 1 and not whole_only else None

    def _ended(self, said: str) -> str | None:
        """Return the answer that a text begins with, if what follows cannot belong to it."""
        for n in range(min(len(said) - 1, self.longest), 0, -1):
            answer = self.exact.get(said[:n])
            if answer is None:
                continue
            rest = said[n:]
            if said[n - 1].isdecimal():
                goes_on = rest[0].isdecimal() or _DECIMAL.match(rest) is not None
            else:
                goes_on = rest[0].isalnum()
            return None if goes_on else answer
        return None


@functools.lru_cache(maxsize=256)
def _index(answers: tuple[str, ...]) -> _Index:
    exact: dict[str, str] = {}
    beginning: dict[str, tuple[str, ...]] = {}
    for answer in answers:
        said = _plain(answer)
        if not said or said in exact:
            raise InputError(
                "answers differ by more than case, quotes and blanks, and none is empty; got "
                f"{', '.join(map(repr, answers))[:200]}."
            )
        exact[said] = answer
        for n in range(1, len(said) + 1):
            beginning[said[:n]] = (*beginning.get(said[:n], ()), answer)
    if not exact:
        raise InputError("expected at least one answer; got none.")
    return _Index(exact, beginning, max(map(len, exact)))


def _plain(text: str) -> str:
    """Return a text as it is compared: one form of letters and digits, nothing before it."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return text.lstrip(_BEFORE).casefold()


OVERALL = "overall"

NOTHING = 1e-12  # points, which chances that are hardly told from 0 leave of the lowest level
_NOT_ASKED = AnswerProbabilities.none("no probabilities were asked for with this question")


def criterion_term(name: str) -> str:
    return f"criterion:{name}"


def weighed(
    judgement: Judgement, found: Mapping[str, AnswerProbabilities], answers: Scale
) -> Judgement:
    how: dict[str, Weighting] = {}

    def score(term: str, stated: float) -> float:
        given = found.get(term, _NOT_ASKED)
        if given.mode == "none":
            how[term] = Weighting(
                mode="stated", stated=stated, mass=given.mass, reason=given.reason
            )
            return stated
        how[term] = Weighting(mode="probabilities", stated=stated, mass=given.mass)
        levels = levels_of(answers)
        points = sum(chance * levels[level] for level, chance in given.values.items())
        return points if points > NOTHING else 0.0

    again = _rescored(judgement, score, asked=OVERALL in found)
    update = (
        {"weighting": how} if judgement.score is None else {"weighting": how, "score": again.raw}
    )
    return again.model_copy(update=update)


def as_stated(judgement: Judgement) -> Judgement:
    """Return a judgement with the scores that the model stated, whatever weighed them."""
    how = judgement.weighting
    if not how:
        return judgement
    return _rescored(
        judgement, lambda term, now: how[term].stated if term in how else now, asked=OVERALL in how
    )


def joined_weighting(
    several: Sequence[Mapping[str, Weighting]], reduce: Callable[[Sequence[float]], float]
) -> dict[str, Weighting]:
    """Return how scores of several samples came about; one that was stated makes all stated."""
    joined: dict[str, Weighting] = {}
    for term in dict.fromkeys(term for one in several for term in one):
        found = [one[term] for one in several if term in one]
        without = [one.reason for one in found if one.mode == "stated"]
        joined[term] = Weighting(
            mode="stated" if without else "probabilities",
            stated=reduce([one.stated for one in found]),
            mass=min(one.mass for one in found),
            reason=f"in {len(without)} of {len(found)} samples: {without[0]}" if without else "",
        )
    return joined


def _rescored(
    judgement: Judgement, score: Callable[[str, float], float], *, asked: bool
) -> Judgement:
    """Return a judgement with other numbers; one of the whole that was not asked is a mean."""
    raw = judgement.raw
    if raw is not None and asked:
        raw = score(OVERALL, raw)
    criteria = {
        name: one
        if one.score is None
        else CriterionScore(
            score=score(criterion_term(name), one.score), explanation=one.explanation
        )
        for name, one in judgement.criteria.items()
    }
    scores = [one.score for one in criteria.values() if one.score is not None]
    if raw is not None and scores and not asked:
        raw = fmean(scores)
    return judgement.model_copy(update={"criteria": criteria, "raw": raw})


_SECTION_HEADER = re.compile(r"^[\s*_`#]*\[\[ *## *(\w+) *## *\]\][*_`]*", re.MULTILINE)
_BARE = re.compile(r"[^\s\[\]{},:\"']+")
_JSON = json.JSONDecoder(strict=False)
_OUTER_QUOTES = "\"'`*_([<“‘«„「『"


def place_of_answer(
    text: str, field: str, said: str, answers: Sequence[str]
) -> tuple[int, int] | None:
    r"""Return where the answer to a field begins and ends, with the quotes before it."""
    if said.casefold() not in {one.casefold() for one in answers}:
        return None
    start, end = _section(text, field)
    found = [where for _, key, _, where in _values(text[start:end]) if folded(key) == folded(field)]
    if len(found) > 1:
        return None
    for first, last in found:
        start, end = start + first, start + last
    return _word(text, start, end, said)


def places_in_records(
    text: str, field: str, said: Mapping[str, str], *, title: str, key: str
) -> dict[str, tuple[int, int]]:
    r"""Return where one value of each of several records begins and ends."""
    start, end = _section(text, field)
    names: dict[int, str] = {}
    places: dict[int, tuple[int, int]] = {}
    for record, at, value, where in _values(text[start:end]):
        if folded(at) == title and isinstance(value, str):
            names[record] = folded(value)
        elif folded(at) == key:
            places[record] = (start + where[0], start + where[1])
    found: dict[str, tuple[int, int]] = {}
    for name, wanted in said.items():
        records = [one for one, called in names.items() if called == folded(name)]
        if len(records) == 1 and records[0] in places:
            place = _word(text, *places[records[0]], wanted)
            if place is not None:
                found[name] = place
    return found


def _section(text: str, field: str) -> tuple[int, int]:
    """Return where the text of a field stands; all of an answer that has no fields."""
    begin = len(text) - len(without_thoughts(text))
    headers = list(_SECTION_HEADER.finditer(text, begin))
    for place, header in enumerate(headers):
        if header[1].lower() == field.lower():
            after = headers[place + 1].start() if place + 1 < len(headers) else len(text)
            return header.end(), after
    return begin, len(text)


def _word(text: str, start: int, end: int, said: str) -> tuple[int, int] | None:
    """Return where a word or number stands in a stretch of a text, for the first time."""
    stretch = "".join(map(_narrow, text[start:end]))
    after = r"\d|\.\d" if said[-1:].isdecimal() else r"\w"
    found = re.search(rf"(?<![\w.–/-]){re.escape(said)}(?!{after})", stretch, re.IGNORECASE)
    if found is None:
        return None
    first, last = start + found.start(), start + found.end()
    while first > start and text[first - 1] in _OUTER_QUOTES:
        first -= 1
    return first, last


def _narrow(letter: str) -> str:
    if letter.isascii():
        return letter
    usual = unicodedata.normalize("NFKC", letter)
    return usual if len(usual) == 1 else letter


def _values(text: str) -> Iterator[tuple[int, str, Any, tuple[int, int]]]:
    """Yield the plain values of JSON objects: which object, key, value, and where it stands."""
    at = min((one for one in map(text.find, "[{") if one >= 0), default=len(text))
    stack: list[int] = []  # the objects and lists that are open; a list is -1
    key: str | None = None
    n_objects = 0
    while at < len(text):
        mark = text[at]
        if mark in "[{":
            stack.append(n_objects if mark == "{" else -1)
            n_objects += mark == "{"
            key, at = None, at + 1
        elif mark in "]}":
            if not stack or (stack.pop() < 0) != (mark == "]"):
                return
            key, at = None, at + 1
            if not stack:
                return
        elif mark in ",:" or mark.isspace():
            key, at = (None if mark == "," else key), at + 1
        else:
            value, end = _scalar(text, at)
            if end == at:
                return
            if stack and stack[-1] >= 0:
                if key is None:
                    key = str(value)
                else:
                    yield stack[-1], key, value, (at, end)
                    key = None
            at = end


def _scalar(text: str, at: int) -> tuple[Any, int]:
    """Return the value that begins at a place, and where it ends; there itself if it is none."""
    if text[at] == '"':
        try:
            return _JSON.raw_decode(text, at)
        except json.JSONDecodeError:
            return None, at
    bare = _BARE.match(text, at)
    return (bare[0], bare.end()) if bare else (None, at)
