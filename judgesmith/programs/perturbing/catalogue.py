"""All ways to change a text, which of them test which task, and how much each changes there.

The perturbations of the four tasks are those of Yuan et al. (2024), "DHP Benchmark"; the
additions and controls are this project's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from judgesmith.signatures.perturbation import Degree, Level, Method, Perturbation

__all__ = [
    "ADDITIONS",
    "CONTROLS",
    "PERTURBATIONS",
    "TASKS",
    "Amount",
    "Every",
    "amount_of",
    "perturbations_for",
]


class Every(BaseModel):
    """As many places as a text has, or every second, and no fewer than some.

    Parameters
    ----------
    step : int
        1 for all places, 2 for every second.
    at_least : int
        A text with fewer is too short.

    Examples
    --------
    >>> str(Every(at_least=2)), str(Every(step=2, at_least=2))
    ('all, at least 2', 'every 2nd, at least 2')
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
    """Return how many of some places an amount asks for, which may be more than there are.

    Examples
    --------
    >>> [wanted(Every(step=2, at_least=2), n) for n in (1, 3, 5)], wanted(4, 1)
    ([2, 2, 3], 4)
    """
    if isinstance(amount, int):
        return amount
    return max(-(-n_places // amount.step), amount.at_least)


def _ways(
    kind: str,
    level: Level,
    *degrees: Degree | None,
    method: Method = "rule",
    lowers: bool = True,
) -> list[Perturbation]:
    return [
        Perturbation(kind=kind, level=level, degree=degree, method=method, lowers=lowers)
        for degree in degrees or (None,)
    ]


def _named(ways: Iterable[Perturbation]) -> Mapping[str, Perturbation]:
    return MappingProxyType({way.name: way for way in ways})


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
        *_ways("reordering", "sentence", "minor", "major"),
        *_ways("rewriting", "sentence", "minor", "major", method="model"),
        *_ways("random_ending", "sentence"),
        *_ways("wrong_ending", "sentence"),
        *_ways("random_answer", "sentence"),
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

ADDITIONS: Final[tuple[Perturbation, ...]] = tuple(
    PERTURBATIONS[name]
    for name in (
        "case_loss",
        "punctuation_loss",
        "negation",
        "number_swap",
        "key_sentence_omission",
        "unsupported_addition",
        "repetition",
        "truncation",
    )
)
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

TASKS: Final[Mapping[str, Mapping[str, Amount]]] = MappingProxyType(
    {
        "summarization": MappingProxyType(
            {
                **_both(10, 50, *_CHARACTERS),
                **_ENTITIES,
                **_TWO_ERRORS,
                **_REORDERING,
                **_both(1, Every(step=2, at_least=2), "rewriting"),
            }
        ),
        "story_completion": MappingProxyType(
            {
                "character_deletions": 5,
                "character_typos": 5,
                "fictional_entities": 1,
                "grammatical_errors": 1,
                "random_ending": 1,
                "wrong_ending": 1,
            }
        ),
        "question_answering": MappingProxyType(
            {
                **_both(5, 25, *_CHARACTERS),
                **_ENTITIES,
                **_ONE_ERROR,
                "random_answer": 1,
            }
        ),
        "translation": MappingProxyType(
            {
                **_both(10, 50, *_CHARACTERS),
                **_DELETED_WORDS,
                **_ENTITIES,
                **_TWO_ERRORS,
            }
        ),
    }
)
"""By task: the perturbations that test it, and how much of a text each changes there."""

_GENERAL: Final[Mapping[str, Amount]] = MappingProxyType(
    {
        **TASKS["summarization"],
        **_DELETED_WORDS,
        **TASKS["story_completion"],
        "random_answer": 1,
        "case_loss": _ALL,
        "punctuation_loss": _ALL,
        "paraphrase": _ALL,
        "padding": _ALL,
    }
)

_ANY_TASK = (
    "character_deletions/minor",
    "character_deletions/major",
    "character_typos/minor",
    "character_typos/major",
    "word_deletions/minor",
    "word_deletions/major",
    "reordering/minor",
    "reordering/major",
)


def perturbations_for(task: str | None = None) -> tuple[Perturbation, ...]:
    """Return the perturbations that test a task.

    Parameters
    ----------
    task : str or None
        A key of ``TASKS``. For any other task, or None, they are those by rule that fit most
        texts: characters, words, order of sentences, and the additions.

    Examples
    --------
    >>> {task: len(perturbations_for(task)) for task in TASKS}
    {'summarization': 12, 'story_completion': 6, 'question_answering': 9, 'translation': 10}
    >>> all(way.method == "rule" for way in perturbations_for("dialogue"))
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
