"""Labels that raters give in place of numbers, such as pass and fail, and their words of why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from judgesmith.data.problems import shown_value
from judgesmith.errors import InputError
from judgesmith.signatures.scale import NEGATIVE, POSITIVE, Scale

UNDECIDED = ("unsure", "n/a")
"""What a rater says who gives no label; counted, never learned from."""

MOST_LABELS = 20
"""Different words in a column, at most, that are taken for labels."""

LabelsGiven = str | Sequence[str] | Mapping[str, Sequence[str] | str] | None
"""The labels of all criteria, or those of each by name; a text has commas between them."""


def given_labels(given: LabelsGiven) -> dict[str, tuple[str, ...]]:
    """Return labels by criterion; those of all criteria under the empty name."""
    if given is None:
        return {}
    by_name = given if isinstance(given, Mapping) else {"": given}
    found = {}
    for name, labels in by_name.items():
        several = labels.split(",") if isinstance(labels, str) else [_said(one) for one in labels]
        several = [one.strip() for one in several]
        if len({*map(str.casefold, several)}) < max(2, len(several)) or not all(several):
            raise InputError(
                f"labels are two or more different words, as in fail,pass; got {labels!r}.",
                where="--labels",
            )
        found[str(name)] = tuple(several)
    return found


def _said(label: object) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def labelled_by(words: Mapping[Any, int], positive: str | None = None) -> Scale | None:
    """Return the labels that the words in a column are, by how often; None where they are none."""
    seen: Counter[str] = Counter()
    for word, n in words.items():
        seen[_said(word).strip().casefold()] += n
    for good, bad in zip(POSITIVE, NEGATIVE, strict=True):
        n_known = seen[good] + seen[bad]
        if n_known and seen.total() - n_known <= _SLIPS * n_known and positive is None:
            return Scale.of_labels(bad, good, positive=good)
    by_fold = {one.casefold(): one for one in sorted(map(_said, words))}
    meant = by_fold.get((positive or "").casefold())
    if meant is None or not 2 <= len(by_fold) <= MOST_LABELS:
        return None
    return Scale.of_labels(*by_fold.values(), positive=meant)


_SLIPS = 0.1  # other words, at most, by known ones


def unknown_labels(words: Mapping[Any, int], positive: str | None) -> str:
    """Return what is to be said of words that are no labels yet."""
    several = ", ".join(sorted({_said(one) for one in words}))
    if positive is not None:
        return f"{positive!r} among them, as --positive says (it may be misspelled); got {several}"
    return (
        f"ratings, or labels with one for good responses; got {several} (say --positive LABEL, or "
        "--scale 'WORST|…|BEST' if they are words in an order)"
    )


def told_apart(scale: Scale, positive: str | None) -> Scale:
    """Return the labels of a scale with the one of good responses named."""
    if positive is None or scale.positive == positive:
        return scale
    meant = next((one for one in scale.labels if one.casefold() == positive.casefold()), None)
    if meant is None:
        return scale
    return Scale.of_labels(*scale.labels, positive=meant, ordered=scale.ordered)


def is_undecided(answer: object) -> bool:
    """Say whether a rater gave no label, and said so."""
    return isinstance(answer, str) and answer.strip().casefold() in UNDECIDED


class UnfitWordsError(InputError):
    """Words of raters that do not go with their ratings; ``came`` is what they are."""

    def __init__(self, came: str) -> None:
        super().__init__(f"{ONE_PER_RATING}; got {came}")
        self.came = came


ONE_PER_RATING = "a text, or one per rating"


def rationales_for(
    value: Any, criterion: str, criteria: Sequence[str], n: int
) -> tuple[str | None, ...]:
    """Return what raters wrote of why, one entry per rating of a criterion, blank ones None."""
    if isinstance(value, Mapping):
        value = value.get(criterion)
    elif len(criteria) > 1:
        return ()
    if value is None or (isinstance(value, float) and value != value):
        return ()
    several = list(value) if isinstance(value, list | tuple) else [value]
    texts = [None if one is None or one != one else one for one in several]
    wrong = next((one for one in texts if one is not None and not isinstance(one, str)), None)
    if wrong is not None or len(texts) > max(n, 1):
        came = shown_value(wrong) if wrong is not None else f"{len(texts)} texts for {n} ratings"
        raise UnfitWordsError(came)
    said = [one.strip() or None if one else None for one in texts]
    return (*said, *[None] * (n - len(said)))
