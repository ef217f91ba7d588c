"""Judging many items by a judge that needs all responses to a source at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from judgesmith.programs.asking import Askable, Asker, Bindable
from judgesmith.programs.families import family_of
from judgesmith.programs.readable import readable_of
from judgesmith.programs.running import Work, beginning, work_each
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

Group = tuple[int, ...]
"""The places of the items of one source."""


def judge_sources(
    judge: Askable | Bindable,
    items: Iterable[RatedItem],
    *,
    lm: dspy.LM,
    concurrency: int,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[RatedItem, Judgement]]:
    """Yield items with their judgements, in order, those of a source judged together.

    All items are read before the first is judged, so that the rows of a source may stand anywhere.
    A source is all items with the same ``source_id``, source and context. Where the budget, or the
    model, does not see a source through, none of its items has a score.

    Parameters
    ----------
    judge : Pairs or SavedJudge
        A judge of a family that judges sources.
    items : iterable of RatedItem
        Ratings in them are never read.
    lm : dspy.LM
        The model.
    concurrency : int
        Sources judged at the same time. Questions of one source that do not wait for each other
        are asked at once, too.
    progress : callable or None
        Told the number of items finished since it was last told.

    Examples
    --------
    >>> from judgesmith.programs.asking import current_lm
    >>> from judgesmith.programs.pairs import Pairs
    >>> source = "The bridge opened on Monday. Two thousand people crossed it."
    >>> said = ("The the bridge in 1987 cats.", "The bridge opened on Monday.")
    >>> items = [RatedItem(source=source, response=one) for one in said]
    >>> found = judge_sources(Pairs(), items, lm=current_lm(), concurrency=2)
    >>> [judgement.score for _, judgement in found]
    [0.0, 100.0]
    """
    assert not isinstance(judge, Bindable)
    given = list(items)
    groups = sources_of(given)
    work = Sources(judge, Asker.of(judge, lm), given)
    work.readable = readable_of(lm)
    family = family_of(judge.protocol.judge)
    # The largest source decides, because what begins next is not known.
    n_calls = family.most_calls_of(judge.protocol, max(map(len, groups), default=0))

    sizes = iter([len(group) for group in groups])

    def told(n_sources: int) -> None:
        if progress is not None:
            progress(sum(islice(sizes, n_sources)))

    found: dict[int, Judgement] = {}
    handed_out = 0
    for group, judgements in work_each(
        work,
        groups,
        concurrency=concurrency,
        may_begin=beginning(n_calls, lm),
        progress=told,
    ):
        found.update(zip(group, judgements, strict=True))
        while handed_out in found:
            yield given[handed_out], found.pop(handed_out)
            handed_out += 1


def sources_of(items: Sequence[RatedItem]) -> list[Group]:
    """Return the places of the items of each source, in the order of their first items."""
    found: dict[tuple[str, str, str | None], list[int]] = {}
    for place, item in enumerate(items):
        found.setdefault((item.source_id, item.source, item.context), []).append(place)
    return [tuple(places) for places in found.values()]


class Sources(Work[Group, list[Judgement]]):
    """Sources, all items of each judged together."""

    def __init__(self, judge: Askable, asker: Asker, items: Sequence[RatedItem]) -> None:
        super().__init__(asker)
        self._protocol = judge.protocol
        self._family = family_of(judge.protocol.judge)
        self._items = items

    async def done(self, unit: Group) -> list[Judgement]:
        """Return the judgements of the items of one source."""
        first = self._items[unit[0]]
        steps = self._family.source_steps_of(
            self._protocol,
            source=first.source,
            context=first.context,
            responses=[self._items[place].response for place in unit],
        )
        found = await self.asker.taken(steps)
        for judgement in found:
            self.readable.add(judgement)
        return found

    def undone(self, unit: Group, problem: str) -> list[Judgement]:
        """Return judgements without scores."""
        return [Judgement.unscored(problem) for _ in unit]
