"""All perturbations by name, and the input of a rule."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final, TypeVar

from pydantic import Field

from judgesmith.errors import InputError
from judgesmith.programs.perturbing.passage import Passage
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.perturbation import Degree, Level, Method, Perturbation, Skipped
from judgesmith.signatures.plain_data import FrozenModel


class Every(FrozenModel):
    """All places of a text, or every second one, with a minimum.

    Examples
    --------
    >>> str(Every(at_least=2)), str(Every(step=2, at_least=2))
    ('all, at least 2', 'every 2nd, at least 2')
    """

    step: int = Field(default=1, ge=1, le=2)
    at_least: int = Field(default=1, ge=1)

    def __str__(self) -> str:
        """Return it in words."""
        which = "all" if self.step == 1 else "every 2nd"
        return which if self.at_least == 1 else f"{which}, at least {self.at_least}"


Amount = int | Every
"""How many places of a text are changed: so many, or as :class:`Every` says."""

_ALL = Every()


def wanted(amount: Amount, n_places: int) -> int:
    """Return how many of some places an amount asks for, which may be more than there are."""
    if isinstance(amount, int):
        return amount
    return max(-(-n_places // amount.step), amount.at_least)


def _ways(
    kind: str, level: Level, *degrees: Degree | None, method: Method = "rule", lowers: bool = True
) -> list[Perturbation]:
    return [
        Perturbation(kind=kind, level=level, degree=degree, method=method, lowers=lowers)
        for degree in degrees or (None,)
    ]


def _named(ways: Iterable[Perturbation]) -> Mapping[str, Perturbation]:
    return {way.name: way for way in ways}


PERTURBATIONS: Final[Mapping[str, Perturbation]] = _named(
    [
        *_ways("character_deletions", "character", None, "minor", "major"),
        *_ways("character_typos", "character", None, "minor", "major"),
        *_ways("case_loss", "character"),
        *_ways("punctuation_loss", "character"),
        *_ways("word_deletions", "word", "minor", "major"),
        *_ways("fictional_entities", "word", None, "minor", "major", method="model"),
        *_ways("grammatical_errors", "word", None, "minor", "major", method="model"),
        *_ways("negation", "word"),
        *_ways("number_swap", "word"),
        *_ways("number_change", "word"),
        *_ways("name_swap", "word"),
        *_ways("reordering", "sentence", "minor", "major"),
        *_ways("rewriting", "sentence", "minor", "major", method="model"),
        *_ways("random_ending", "sentence"),
        *_ways("wrong_ending", "sentence"),
        *_ways("random_answer", "sentence"),
        *_ways("random_response", "sentence"),
        *_ways("key_sentence_omission", "sentence"),
        *_ways("unsupported_addition", "sentence"),
        *_ways("repetition", "sentence"),
        *_ways("truncation", "sentence"),
        *_ways("paraphrase", "word", method="model", lowers=False),
        *_ways("padding", "character", lowers=False),
        *_ways("empty_sentences", "sentence", method="model", lowers=False),
    ]
)
"""Every perturbation by name, controls last."""

_ADDED = "case_loss punctuation_loss negation number_swap number_change name_swap"
_ADDED += " key_sentence_omission unsupported_addition repetition truncation"
ADDITIONS: Final[tuple[Perturbation, ...]] = tuple(PERTURBATIONS[one] for one in _ADDED.split())
"""Ways to lower a text that belong to no task of the benchmark, and fit most."""

CONTROLS: Final[tuple[Perturbation, ...]] = (PERTURBATIONS["paraphrase"], PERTURBATIONS["padding"])
"""Changes that make no text worse: a judge that scores them lower raises a false alarm.

Empty sentences make none worse either, but longer: they are made where they are named, for
judges that are not to reward or punish length.
"""


def _both(minor: Amount, major: Amount, *kinds: str) -> dict[str, Amount]:
    return {
        f"{kind}/{degree}": amount
        for kind in kinds
        for degree, amount in (("minor", minor), ("major", major))
    }


_ENTITIES = _both(1, Every(at_least=2), "fictional_entities")
# An error in every sentence, and at least two more than the minor degree has.
_TWO_ERRORS = _both(2, Every(at_least=4), "grammatical_errors")
_ONE_ERROR = _both(1, Every(at_least=3), "grammatical_errors")
_CHARACTERS = ("character_deletions", "character_typos")
_REORDERING = _both(2, _ALL, "reordering")
_DELETED_WORDS = _both(5, 25, "word_deletions")

TASKS: Final[Mapping[str, Mapping[str, Amount]]] = {
    "summarization": {
        **_both(10, 50, *_CHARACTERS),
        **_ENTITIES,
        **_TWO_ERRORS,
        **_REORDERING,
        **_both(1, Every(step=2, at_least=2), "rewriting"),
    },
    "story_completion": {
        "character_deletions": 5,
        "character_typos": 5,
        "fictional_entities": 1,
        "grammatical_errors": 1,
        "random_ending": 1,
        "wrong_ending": 1,
    },
    "question_answering": {
        **_both(5, 25, *_CHARACTERS),
        **_ENTITIES,
        **_ONE_ERROR,
        "random_answer": 1,
    },
    "dialogue": {
        "character_deletions": 5,
        "character_typos": 5,
        "fictional_entities": 1,
        "grammatical_errors": 1,
        "repetition": 1,
        "random_response": 1,
    },
    "translation": {**_both(10, 50, *_CHARACTERS), **_DELETED_WORDS, **_ENTITIES, **_TWO_ERRORS},
}
"""By task: the perturbations that test it, and how much of a text each changes there."""

_GENERAL: Final[Mapping[str, Amount]] = {
    **TASKS["summarization"],
    **_DELETED_WORDS,
    **TASKS["story_completion"],
    "random_answer": 1,
    "random_response": 1,
    "case_loss": _ALL,
    "punctuation_loss": _ALL,
    "paraphrase": _ALL,
    "padding": _ALL,
}

_ANY_TASK = tuple(_both(1, 1, *_CHARACTERS, "word_deletions", "reordering"))  # their names


def perturbations_for(task: str | None = None) -> tuple[Perturbation, ...]:
    """Return the perturbations that test a task.

    Parameters
    ----------
    task : str or None
        A key of ``TASKS``. For any other task, or None, they are those by rule that fit most
        texts: characters, words, order of sentences, and the additions.

    Examples
    --------
    >>> [len(perturbations_for(task)) for task in TASKS]
    [12, 6, 9, 6, 10]
    >>> all(way.method == "rule" for way in perturbations_for("poetry"))
    True
    """
    if task is not None and task in TASKS:
        return tuple(PERTURBATIONS[name] for name in TASKS[task])
    return (*(PERTURBATIONS[name] for name in _ANY_TASK), *ADDITIONS)


def amount_of(perturbation: Perturbation, task: str | None = None) -> Amount:
    """Return how much of a text a perturbation changes, in a task or in general.

    Examples
    --------
    >>> typos = PERTURBATIONS["character_typos/major"]
    >>> amount_of(typos, "question_answering"), amount_of(typos)
    (25, 50)
    >>> str(amount_of(PERTURBATIONS["reordering/major"]))
    'all'
    """
    return TASKS.get(task or "", {}).get(perturbation.name, _GENERAL.get(perturbation.name, 1))


GROUPS = ("task", "additions", "controls", "all")
"""Names of several perturbations: those of the task, further ones, controls, whatever there is."""

_WITHOUT_AMOUNT = frozenset(
    {
        *("case_loss", "punctuation_loss", "number_swap", "random_ending", "wrong_ending"),
        *("random_answer", "random_response", "key_sentence_omission", "unsupported_addition"),
        *("repetition", "truncation", "padding"),
    }
)
"""Kinds that change a text in one way only."""

_LEAST = {"reordering": 2}  # places below which a kind changes nothing; 1 for others


def perturbations_named(names: Sequence[str], task: str | None = None) -> tuple[Perturbation, ...]:
    if not names:
        raise InputError("no perturbation is named.", hint="name at least one.")
    found = [way for name in names for way in _meant(name, task)]
    return tuple(dict.fromkeys(found))


def _meant(name: str, task: str | None) -> Sequence[Perturbation]:
    groups = {
        "task": perturbations_for(task),
        "additions": ADDITIONS,
        "controls": CONTROLS,
        "all": tuple(PERTURBATIONS.values()),
    }
    if name in groups:
        return groups[name]
    of_task = [way for way in groups["task"] if name in (way.kind, way.name)]
    own = [PERTURBATIONS[name]] if "/" in name and name in PERTURBATIONS else of_task
    own = own or [way for way in groups["all"] if way.kind == name]
    if not own:
        raise InputError(f"no perturbation is called {name!r}.", hint=_known(name, groups))
    return own


def _known(name: str, groups: Mapping[str, Sequence[Perturbation]]) -> str:
    kinds = list(dict.fromkeys(way.kind for way in groups["all"]))
    close = difflib.get_close_matches(name, [*kinds, *PERTURBATIONS, *groups], n=1)
    close = close or [kind for kind in kinds if kind.endswith(name)] or _endings(name, kinds)
    return f"did you mean {close[0]}?" if close else f"name one of {', '.join(kinds)}."


def _endings(name: str, kinds: Sequence[str]) -> list[str]:
    by_end = {kind.rpartition("_")[2]: kind for kind in kinds}
    return [by_end[end] for end in difflib.get_close_matches(name, by_end, n=1)]


def named_amounts(given: Sequence[str], task: str | None = None) -> dict[str, Amount]:
    """Return amounts by perturbation, from texts such as ``character_typos/minor=20``."""
    found: dict[str, Amount] = {}
    for one in given:
        name, separator, number = one.partition("=")
        if not (separator and number.strip().isdecimal() and int(number) >= 1):
            raise InputError(
                f"an amount is written KIND=NUMBER, such as character_typos/minor=20; got {one!r}."
            )
        for way in perturbations_named([name.strip()], task):
            if way.name in found:
                raise InputError(
                    f"the amount of {way.name} is given twice.", hint="keep one of the two."
                )
            if way.kind in _WITHOUT_AMOUNT:
                raise InputError(f"{way.kind} has no amount.", hint="leave its amount out.")
            if int(number) < (least := _LEAST.get(way.kind, 1)):
                raise InputError(f"the amount of {way.name} is {least} or more; got {number}.")
            found[way.name] = int(number)
    return found


_TRIES = 20


class Donors:
    """Responses to other sources, which can replace a response or add to it.

    Examples
    --------
    >>> from random import Random
    >>> items = [RatedItem(source=source, response=f"on {source}") for source in "ab"]
    >>> Donors(items).other_than(items[0], Random(0))
    'on b'
    >>> Donors(items[:1]).other_than(items[0], Random(0)) is None
    True
    """

    def __init__(self, items: Iterable[RatedItem]) -> None:
        known = ((item.source_id, item.source.strip(), item.response) for item in items)
        self._texts = [one for one in dict.fromkeys(known) if one[2].strip()]
        self._ids = {source_id for source_id, _, _ in self._texts}
        self._sources = {source for _, source, _ in self._texts}

    def __len__(self) -> int:
        """Return how many texts there are."""
        return len(self._texts)

    def other_than(self, item: RatedItem, rng: Random) -> str | None:
        """Return a text of another source that differs from the item's own, or None.

        Another source has another id, where both have one, and another text, where both have
        one; of items without either, the texts themselves tell.
        """
        n = len(self._texts)
        if self._are_all_of(item):
            return None
        for _ in range(min(_TRIES, n)):
            drawn = self._texts[rng.randrange(n)]
            if _is_other(drawn, item):
                return drawn[2]
        others = [one[2] for one in self._texts if _is_other(one, item)]
        return others[rng.randrange(len(others))] if others else None

    def _are_all_of(self, item: RatedItem) -> bool:
        """Say whether all texts share the item's source, so that none need be looked at."""
        source = item.source.strip()
        return (bool(item.source_id) and self._ids == {item.source_id}) or (
            bool(source) and self._sources == {source}
        )


def _is_other(donor: tuple[str, str, str], item: RatedItem) -> bool:
    source_id, source, text = donor
    if source_id and source_id == item.source_id:
        return False
    if source and source == item.source.strip():
        return False
    return " ".join(text.split()) != " ".join(item.response.split())


T = TypeVar("T")

Change = tuple[int, int, str]
"""Start and end of a span of the original, and what stands in its place."""

Found = list[Change] | Skipped
"""What a rule hands back: changes that do not overlap, in any order, or why there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One text and one perturbation of it."""

    item: RatedItem
    passage: Passage
    amount: Amount
    rng: Random
    donors: Donors | None = None

    def wanted(self, n_places: int) -> int:
        return wanted(self.amount, n_places)


def drawn_order(n: int, rng: Random) -> Iterator[int]:
    """Yield the numbers below ``n`` in random order, at no more cost than is taken."""
    moved: dict[int, int] = {}
    for last in range(n - 1, -1, -1):
        place = rng.randrange(last + 1)
        yield moved.get(place, place)
        moved[place] = moved.get(last, last)


def drawn(things: Sequence[T], k: int, rng: Random) -> list[T]:
    """Return ``k`` of the things in random order, or all if there are fewer."""
    return [things[place] for place in islice(drawn_order(len(things), rng), k)]


NOT_ENGLISH: Final = Skipped(reason="not in English, whose words alone the rules know")
"""Why rules that know English words leave a text alone."""


def too_few(n: int, what: str, one: str = "") -> Skipped:
    """Return the reason that a text has fewer than ``n`` places of some sort."""
    return Skipped(reason=fewer_than(n, what, one))


def fewer_than(n: int, what: str, one: str = "") -> str:
    """Return in words that there are fewer than ``n`` of something: none, where ``n`` is 1."""
    return f"fewer than {n} {what}" if n > 1 else f"no {one or what.removesuffix('s')}"
