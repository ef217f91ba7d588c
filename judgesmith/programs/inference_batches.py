"""Mini-batches of rated examples: no row again before all were read, no text cut short."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgesmith.errors import InputError
from judgesmith.signatures.line_ends import unix_lines
from judgesmith.signatures.rated import RatedItem


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedExample:
    """One rated row as it is shown.

    Attributes
    ----------
    item : RatedItem
        The texts.
    score : float
        What people said, from 0 (worst) to 100 (best); shown as a whole number.
    """

    item: RatedItem
    score: float

    def to_json(self) -> str:
        """Return the row as a JSON record: source, context where there is one, response, score.

        Examples
        --------
        >>> item = RatedItem(source="2 + 2?", response="4")
        >>> RatedExample(item=item, score=66.7).to_json()
        '{"source": "2 + 2?", "response": "4", "score": 67}'
        """
        item = self.item
        context = {} if item.context is None else {"context": unix_lines(item.context)}
        record = {
            "source": unix_lines(item.source),
            **context,
            "response": unix_lines(item.response),
            "score": round(self.score),
        }
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Examples that are shown together.

    Attributes
    ----------
    examples : tuple of RatedExample
        In the order they were drawn.
    note : str
        Why there are fewer than asked for; empty otherwise.
    """

    examples: tuple[RatedExample, ...]
    note: str = ""

    def to_json(self) -> str:
        """Return the examples as a JSON list, one record per line."""
        return "[" + ",\n".join(one.to_json() for one in self.examples) + "]"


def readable_examples(
    examples: Sequence[RatedExample], *, max_characters: int
) -> tuple[list[RatedExample], list[str]]:
    """Return the examples that can be shown, and notes on those that cannot.

    Parameters
    ----------
    examples : sequence of RatedExample
        In any order; the order is kept.
    max_characters : int
        Of a whole batch, so that a longer row fits in none.

    Raises
    ------
    ValueError
        If none can be shown.
    """
    kept: list[RatedExample] = []
    n_long = n_broken = 0
    for example in examples:
        text = example.to_json()
        try:
            text.encode()
        except UnicodeEncodeError:
            n_broken += 1
            continue
        if len(text) > max_characters:
            n_long += 1
            continue
        kept.append(example)
    notes = []
    if n_long:
        notes.append(
            f"{n_long} of {len(examples)} rows were not read: each is longer than the "
            f"{max_characters} characters of a whole batch, and no text is cut short."
        )
    if n_broken:
        notes.append(
            f"{n_broken} of {len(examples)} rows were not read: they hold half of a character "
            "(a lone surrogate), which no model can receive."
        )
    if not kept:
        why = " ".join(notes) or "there are none."
        raise InputError(
            f"no rated rows to infer from: {why} Give shorter rows or a larger max_characters."
        )
    return kept, notes


def batches_of(
    examples: Sequence[RatedExample],
    *,
    size: int,
    max_characters: int,
    rng: np.random.Generator,
) -> Iterator[Batch]:
    """Yield batches without end.

    Rows are shuffled, and none comes again before all were drawn; then they are shuffled anew.
    A row that stands in a batch already waits for the next one, so that no batch shows a row
    twice. A batch ends early where one more row would take it past ``max_characters``; that
    row opens the next one.

    Parameters
    ----------
    examples : sequence of RatedExample
        At least one, none longer than ``max_characters``.
    size : int
        Rows per batch; of fewer rows, all.
    max_characters : int
        Of the texts of a batch as they are shown.
    rng : Generator
        Draws the order.

    Examples
    --------
    >>> rows = [RatedExample(item=RatedItem(response=text), score=0) for text in "abcde"]
    >>> drawn = batches_of(rows, size=2, max_characters=1000, rng=np.random.default_rng(0))
    >>> read = [one.item.response for _ in range(5) for one in next(drawn).examples]
    >>> sorted(read[:5]) == sorted(read[5:]) == list("abcde")
    True
    """
    lengths = [len(one.to_json()) for one in examples]
    size = min(size, len(examples))
    waiting: list[int] = []
    while True:
        batch: list[int] = []
        used = 0
        note = ""
        while len(batch) < size:
            if not waiting:
                waiting = [int(place) for place in rng.permutation(len(examples))]
            # Only just after a new shuffle can a row be in the batch already.
            turn = next(n for n, place in enumerate(waiting) if place not in batch)
            place = waiting[turn]
            if batch and used + lengths[place] > max_characters:
                note = (
                    f"{len(batch)} of {size} rows: one more would take it past "
                    f"{max_characters} characters"
                )
                break
            waiting.pop(turn)
            batch.append(place)
            used += lengths[place]
        yield Batch(examples=tuple(examples[place] for place in batch), note=note)
