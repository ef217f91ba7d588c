"""What errors are to be put into, and which sub-aspects they are bound to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random

from pydantic import BaseModel, ConfigDict, Field

from judgesmith.errors import InputError
from judgesmith.signatures.injection import SubAspect, Target


class Job(BaseModel):
    """A text that errors are put into.

    Parameters
    ----------
    key : str
        Names the job: what is drawn depends on it and on the seed alone.
    task : str
        What such texts are written for; may be empty.
    source_id, source : str
        What the text answers. Sentences from texts of the same source belong to no other subject.
    context : str or None
        Further material.
    target : Target
        What is changed; a text with errors keeps them.
    criterion, definition : str
        The quality that is to suffer, and what it asks.
    sub_aspects : tuple of SubAspect
        At once, one error for each that is listed; one after the other, what is drawn from.
    sample : int
        Which answer of a model is wanted where jobs ask the same: 0 for the first, which is asked
        for at the model's own temperature, 1, 2, … for others.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    task: str = ""
    source_id: str = ""
    source: str = ""
    context: str | None = None
    target: Target
    criterion: str = Field(min_length=1)
    definition: str = ""
    sub_aspects: tuple[SubAspect, ...] = Field(min_length=1)
    sample: int = Field(default=0, ge=0)

    def generator(self, seed: int) -> Random:
        """Return the generator of all draws for this job."""
        state = hashlib.blake2b(f"{seed} {self.key}".encode(errors="surrogatepass"), digest_size=16)
        return Random(int.from_bytes(state.digest()))


def drawn_sub_aspects(
    sub_aspects: Sequence[SubAspect], n: int, rng: Random
) -> tuple[SubAspect, ...]:
    """Return ``n`` sub-aspects in random order, all once before any is there again.

    Raises
    ------
    ValueError
        If there are none to draw from, or ``n`` is negative.

    Examples
    --------
    >>> several = [SubAspect(criterion="fluency", name=name) for name in ("a", "b", "c")]
    >>> found = [one.name for one in drawn_sub_aspects(several, 7, Random(0))]
    >>> sorted(found[:3]), sorted(found[3:6]), len(found)
    (['a', 'b', 'c'], ['a', 'b', 'c'], 7)
    """
    if n < 0 or not sub_aspects:
        raise InputError(
            f"0 or more errors of at least one sub-aspect are drawn; got {n} of {len(sub_aspects)}."
        )
    found: list[SubAspect] = []
    while len(found) < n:
        found += rng.sample(list(sub_aspects), len(sub_aspects))
    return tuple(found[:n])
