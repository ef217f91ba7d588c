"""What scores and inputs are like, as plain numbers: no text can be had back from them."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from judgesmith.data.sheets.ratings import was_chosen
from judgesmith.metrics.resampling import effective_size
from judgesmith.programs.features import lexical_features
from judgesmith.signatures import Judgement, RatedItem

SCORE = "score"
CRITERION = "criterion "
"""What the name of a criterion's score begins with."""

FEATURES: Mapping[str, str] = {
    "known words": "known_words",
    "copied": "coverage",
    "repeated words": "repeated_words",
    "words per sentence, log": "sentence_words",
}
"""Lexical features that are compared, by name: which share of the response's words source or
context has, which share is copied in runs, which repeats itself, and how long sentences are."""

UNTOLD = "not told"
_LETTERS = 1000
_WORDS = 4000
_MOST_CHARACTERS = 20_000
_HAN = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HANGUL": "Hangul"}


def numbers_of(item: RatedItem) -> dict[str, float]:
    """Return the numbers that are compared of a row's texts."""
    found = {"response characters": float(len(item.response))}
    if item.source:
        found["source characters"] = float(len(item.source))
    if item.context:
        found["context characters"] = float(len(item.context))
    cut = [None if one is None else one[:_MOST_CHARACTERS] for one in (item.source, item.context)]
    features = lexical_features(cut[0] or "", cut[1], item.response[:_MOST_CHARACTERS])
    for name, feature in FEATURES.items():
        if item.source or item.context or feature in ("repeated_words", "sentence_words"):
            value = features[feature]
            if math.isfinite(value):
                found[name] = value
    return found


def labels_of(item: RatedItem) -> dict[str, str]:
    """Return the labels whose shares are compared: script and language of source and response."""
    found = {}
    for name, text in (("source", item.source), ("response", item.response)):
        script = script_of(text)
        if not script:
            continue
        found[f"{name} script"] = script
        if script == "Latin":
            found[f"{name} language"] = _language(text)
    return found


def script_of(text: str) -> str:
    """Return the script of most letters in the beginning of a text, nothing without letters."""
    names: Counter[str] = Counter()
    for letter, n in Counter(filter(str.isalpha, text[:_LETTERS])).items():
        names[_script(letter)] += n
    names.pop("", None)
    return max(names, key=lambda name: (names[name], name), default="")


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "").split(" ")[0].split("-")[0]
    return _HAN.get(first, first.title())


def _language(text: str) -> str:
    """Return the language that common words tell, of the few that are known."""
    from judgesmith.programs.offline.inferring import language_of_texts

    return language_of_texts([text[:_WORDS]]) or UNTOLD


N_POINTS = 101
"""Numbers that are kept of more: quantiles at even steps, the ends nearly the least and most."""

_FEWEST = 1e-3


class Numbers(BaseModel):
    """How some numbers are spread."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int = Field(ge=1)
    effective: FiniteFloat = Field(ge=_FEWEST)
    points: tuple[FiniteFloat, ...] = Field(min_length=1, max_length=N_POINTS)

    @classmethod
    def of(cls, values: Sequence[float], sources: Sequence[object]) -> Numbers:
        given = np.sort(np.asarray(values, dtype=float))
        points = given
        if len(given) > N_POINTS:
            points = np.quantile(given, (np.arange(N_POINTS) + 0.5) / N_POINTS)
        # By rank, since one odd value says little of how alike the others are.
        ranks = np.searchsorted(given, np.asarray(values, dtype=float), side="left")
        worth = effective_size(ranks, sources=list(sources))
        return cls(
            n=len(given),
            effective=float(f"{worth:.6g}"),
            points=tuple(float(f"{one:.6g}") for one in points.tolist()),
        )


class Shares(BaseModel):
    """How often each of some labels occurs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int = Field(ge=1)
    effective: FiniteFloat = Field(ge=_FEWEST)
    shares: Mapping[str, FiniteFloat]

    @classmethod
    def of(cls, labels: Sequence[str], sources: Sequence[object]) -> Shares:
        counts = sorted(Counter(labels).items(), key=lambda one: (-one[1], one[0]))
        most = np.array([label == counts[0][0] for label in labels], dtype=float)
        # Where all are alike nothing tells how alike rows of a source would be.
        worth = effective_size(most, sources=list(sources))
        return cls(
            n=len(labels),
            effective=float(f"{worth:.6g}"),
            shares={label: float(f"{n / len(labels):.6g}") for label, n in counts},
        )


class Snapshot(BaseModel):
    """What scores and inputs are like."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: int = Field(ge=1)
    unscored: int = Field(ge=0)
    numbers: Mapping[str, Numbers] = Field(default_factory=dict)
    labels: Mapping[str, Shares] = Field(default_factory=dict)

    def without_scores(self) -> Snapshot:
        numbers = {name: one for name, one in self.numbers.items() if not is_score(name)}
        labels = {name: one for name, one in self.labels.items() if name not in (SCORED, VERDICT)}
        return self.model_copy(update={"numbers": numbers, "labels": labels})


SCORED = "scored"
"""The label that says of each row whether it has a score."""

YES, NO = "yes", "no"

VERDICT = "label"
"""What the label is called that a judge gives, such as pass."""


class SnapshotRow(BaseModel):
    """What is measured of one row."""

    model_config = ConfigDict(frozen=True)

    source: str
    numbers: Mapping[str, float]
    labels: Mapping[str, str]


def is_score(name: str) -> bool:
    """Say whether numbers are scores, and not about texts."""
    return name == SCORE or name.startswith(CRITERION)


def row_of_score(
    score: float | None, criteria: Mapping[str, float | None], label: str | None = None
) -> tuple[dict[str, float], dict[str, str]]:
    numbers = {} if score is None else {SCORE: float(score)}
    numbers |= {CRITERION + name: float(one) for name, one in criteria.items() if one is not None}
    labels = {} if label is None else {VERDICT: label}
    return numbers, {SCORED: NO if score is None else YES, **labels}


def snapshot_of(
    rows: Sequence[SnapshotRow], *, n_rows: int | None = None, n_unscored: int | None = None
) -> Snapshot:
    """Return what some rows are like; at least one."""
    if n_rows is None:
        n_rows = len(rows)
    if n_unscored is None:
        n_unscored = sum(row.labels.get(SCORED) == NO for row in rows)
    numbers: dict[str, tuple[list[float], list[str]]] = {}
    labels: dict[str, tuple[list[str], list[str]]] = {}
    for row in rows:
        for name, value in row.numbers.items():
            values, sources = numbers.setdefault(name, ([], []))
            values.append(value)
            sources.append(row.source)
        for name, label in row.labels.items():
            found, whose = labels.setdefault(name, ([], []))
            found.append(label)
            whose.append(row.source)
    return Snapshot(
        rows=n_rows,
        unscored=n_unscored,
        numbers={name: Numbers.of(*one) for name, one in numbers.items()},
        labels={name: Shares.of(one[0], _whose(name, *one)) for name, one in labels.items()},
    )


def _whose(name: str, labels: Sequence[str], sources: Sequence[str]) -> Sequence[object]:
    """Return which rows may be alike: all by their source, but for scores that all came back."""
    alone = name == SCORED and len(set(labels)) == 1
    return range(len(labels)) if alone else sources


def reference_of(items: Sequence[RatedItem], judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return what judged items are like, as a saved judge keeps it; empty without items."""
    rows = [
        measured(item, judgement)
        for item, judgement in zip(items, judgements, strict=True)
        if not was_chosen(item)
    ]
    return snapshot_of(rows).model_dump(mode="json") if rows else {}


def measured(item: RatedItem, judgement: Judgement) -> SnapshotRow:
    criteria = {name: one.score for name, one in judgement.criteria.items()}
    numbers, labels = row_of_score(judgement.score, criteria, judgement.label)
    return SnapshotRow(
        source=item.source_id or item.source or item.key,
        numbers=numbers | numbers_of(item),
        labels=labels | labels_of(item),
    )
