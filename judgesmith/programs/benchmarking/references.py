"""Good and different texts for every source: chosen from those given, rated and written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.programs.benchmarking.diverse import diverse
from judgesmith.programs.direct import Direct
from judgesmith.programs.features.words import Text
from judgesmith.programs.rewriting import Written
from judgesmith.programs.running import CONCURRENCY, judge_items
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.reference_writing import Reference

if TYPE_CHECKING:
    import dspy

    from judgesmith.signatures.judgement import Judgement
    from judgesmith.signatures.rubric import Rubric

EMPTY = "no word in it"
COPY = "a copy of the source"
TWICE = "the same as another"
NOT_WRITTEN = "not written"
UNRATED = "no quality score"
LOWER = "lower quality than others"
SPARE = "good, but not needed"
"""Why a candidate is no reference."""

SHARE = 0.5
"""How much of the candidates for a source the quality filter leaves, if no more are needed."""


@dataclass(frozen=True, kw_only=True)
class FoundReferences:
    """The references of sources, and what became of the other candidates.

    Attributes
    ----------
    by_item : tuple of tuple of Reference
        For each item, in order; none where no candidate was of use.
    n_candidates : int
        Texts that were given or asked for.
    dropped : dict of str to int
        How many of them are no references, by reason.
    problems : tuple of str
        What models said, or why they said nothing, where they failed; each once.
    """

    by_item: tuple[tuple[Reference, ...], ...]
    n_candidates: int
    dropped: Mapping[str, int]
    problems: tuple[str, ...] = ()

    @property
    def n_without(self) -> int:
        """How many items have no reference."""
        return sum(not several for several in self.by_item)


def references_for(
    items: Sequence[RatedItem],
    rubric: Rubric,
    n: int,
    lm: dspy.LM | None = None,
    *,
    responses: Sequence[Sequence[str]] = (),
    written: Sequence[Sequence[Written]] = (),
    share: float = SHARE,
    concurrency: int = CONCURRENCY,
    progress: Callable[[int], None] | None = None,
) -> FoundReferences:
    """Return up to ``n`` references for each item's source, good ones that differ.

    A source that has more candidates than are needed has them rated; the best ``share`` of them,
    at least ``n``, go on, and of these the ``n`` least alike are chosen; see ``diverse``. The
    first of them is the best. A source with fewer keeps all, unrated. Candidates without a
    quality score go on only where too few have one.

    Parameters
    ----------
    items : sequence of RatedItem
        One for each source, with its references; responses and ratings are not read.
    rubric : Rubric
        What quality is.
    n : int
        How many are wanted, one or more.
    lm : dspy.LM or None
        Rates; None takes DSPy's current model, or the offline model.
    responses : sequence of sequence of str
        More candidates for each item: responses that people found good; empty for none.
    written : sequence of sequence of Written
        More candidates for each item, as ``write_references`` returns them; empty for none.
    share : float
        Of the rated candidates of a source, above 0 and up to 1.
    concurrency : int
        Candidates rated at the same time.
    progress : callable or None
        Told the number of candidates rated since it was last told.

    Returns
    -------
    FoundReferences
        Every candidate is a reference or counted by the reason why not.

    Raises
    ------
    ValueError
        If ``n`` or ``share`` is out of its range, or other candidates are not aligned with
        ``items``.
    ModelError, LedgerError, Stopped
        See ``judge_items``.

    Examples
    --------
    >>> from judgesmith.signatures.rubric import Rubric
    >>> texts = ("Ann left Rome.", "Ann left Rome!", " ", "It was late when Ann left.")
    >>> item = RatedItem(source="Ann left Rome late.", references=texts, response="")
    >>> found = references_for([item], Rubric(), 2)
    >>> [one.id for one in found.by_item[0]], found.dropped
    (['given-1', 'given-4'], {'the same as another': 1, 'no word in it': 1})
    """
    if n < 1:
        raise InputError(f"each source needs 1 reference or more; got {n}.")
    if not 0 < share <= 1:
        raise InputError(f"share is above 0 and at most 1; got {share}.")
    for name, given in (("responses", responses), ("written", written)):
        if given and len(given) != len(items):
            raise InputError(
                f"{name} holds texts for each of {len(items)} items; it has {len(given)} entries."
            )
    sieve = _Sieve()
    usable = [
        list(
            sieve.usable(
                item,
                responses[place] if responses else (),
                written[place] if written else (),
            )
        )
        for place, item in enumerate(items)
    ]
    rated = iter(
        judge_items(
            Direct(rubric=rubric),
            [
                _as_rated(item, one)
                for item, several in zip(items, usable, strict=True)
                if len(several) > n
                for one in several
            ],
            lm=lm,
            concurrency=concurrency,
            progress=progress,
        )
    )
    by_item = tuple(
        sieve.chosen(several, rated, n, share) if len(several) > n else tuple(several)
        for several in usable
    )
    return FoundReferences(
        by_item=by_item,
        n_candidates=sieve.n_candidates,
        dropped=dict(sieve.dropped),
        problems=tuple(sieve.problems),
    )


@dataclass
class _Sieve:
    """What is taken from many candidates, and why the others are not."""

    n_candidates: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    problems: dict[str, None] = field(default_factory=dict)

    def usable(
        self, item: RatedItem, responses: Sequence[str], written: Sequence[Written]
    ) -> Iterator[Reference]:
        """Yield the candidates for a source that say something of their own."""
        own = {tuple(Text(text).words) for text in (item.source, item.context) if text}
        seen: set[tuple[str, ...]] = set()
        for name, one in (
            *((f"given-{n}", Written(text=text)) for n, text in enumerate(item.references, 1)),
            *((f"response-{n}", Written(text=text)) for n, text in enumerate(responses, 1)),
            *((f"written-{n}", one) for n, one in enumerate(written, 1)),
        ):
            self.n_candidates += 1
            text = one.text.strip()
            words = tuple(Text(text).words)
            if one.problem:
                self.dropped[NOT_WRITTEN] += 1
                self.problems[one.problem] = None
            elif not words:
                self.dropped[EMPTY] += 1
            elif words in own:
                self.dropped[COPY] += 1
            elif words in seen:
                self.dropped[TWICE] += 1
            else:
                seen.add(words)
                yield Reference(id=name, text=text)

    def chosen(
        self, candidates: Sequence[Reference], judged: Iterator[Judgement], n: int, share: float
    ) -> tuple[Reference, ...]:
        """Return ``n`` of more candidates, whose judgements come next."""
        rated: list[Reference] = []
        unrated: list[Reference] = []
        for one in candidates:
            judgement = next(judged)
            if judgement.score is None:
                unrated.append(one)
                self.problems[str(judgement.problem)] = None
            else:
                quality = round(judgement.score / 100, 6)
                rated.append(one.model_copy(update={"quality": quality}))
        rated.sort(key=lambda one: -(one.quality or 0.0))
        # What 0.7 times 10 is in binary is more than 7.
        n_good = max(n, math.ceil(round(share * len(rated), 9)))
        good = (rated[:n_good] + unrated)[: max(n, len(rated[:n_good]))]
        kept = tuple(good[place] for place in diverse([one.text for one in good], n))
        self.dropped[LOWER] += max(len(rated) - n_good, 0)
        self.dropped[UNRATED] += sum(one not in good for one in unrated)
        self.dropped[SPARE] += len(good) - len(kept)
        self.dropped = +self.dropped
        return kept


def _as_rated(item: RatedItem, candidate: Reference) -> RatedItem:
    return RatedItem(source=item.source, context=item.context, response=candidate.text)
