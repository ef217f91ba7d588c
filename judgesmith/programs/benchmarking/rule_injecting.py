"""Errors put in by rule: the sub-aspect's rules that were used least, at a free place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from random import Random

from judgesmith.programs.benchmarking.injection_job import Job
from judgesmith.programs.benchmarking.injection_room import Room
from judgesmith.programs.benchmarking.injection_rules import RULES
from judgesmith.programs.benchmarking.sub_aspect_table import rule_kinds
from judgesmith.programs.perturbing.case import Change
from judgesmith.programs.perturbing.donors import Donors
from judgesmith.programs.perturbing.whole_characters import whole_characters
from judgesmith.signatures.injection import SubAspect, Target, with_error
from judgesmith.signatures.perturbation import Edit, Skipped

_SPARED = 2  # free words left for every error to come, while there is another way
_MOST_AT_ONCE = 3

NO_ROOM = "no room for a further error by rule"
"""The reason where no rule of any sub-aspect of a criterion finds a place."""


def injected_by_rule(
    job: Job,
    target: Target,
    wanted: SubAspect,
    *,
    to_come: int = 0,
    earlier: Collection[str] = (),
    rng: Random,
    donors: Donors | None = None,
) -> Target | Skipped:
    """Return a target with one more error, or why no rule can put one in.

    Parameters
    ----------
    job : Job
        What the text belongs to.
    target : Target
        The text as it is now.
    wanted : SubAspect
        What the error is bound to. Where its rules find no place, or would leave too little for
        later errors, another one of the job's takes its turn.
    to_come : int
        Errors that are to follow this one.
    earlier : collection of str
        What the text was before: what becomes that again has lost its errors.
    rng : Random
        All draws come from it.
    donors : Donors or None
        Texts of other sources, for sentences that belong elsewhere; a few of nobody's serve
        where there are none.

    Examples
    --------
    >>> side = SubAspect(criterion="fluency", name="spelling")
    >>> job = Job(
    ...     key="a", target=Target(text="It rained."), criterion="fluency", sub_aspects=(side,)
    ... )
    >>> injected_by_rule(job, job.target, side, rng=Random(1)).errors[0].sub_aspect
    'spelling'
    """
    room = Room(
        target,
        source_id=job.source_id,
        source=job.source,
        context=job.context,
        rng=rng,
        donors=donors,
    )
    used = Counter(one.kind for one in target.errors)
    bound = Counter(one.sub_aspect for one in target.errors)
    others = [one for one in dict.fromkeys(job.sub_aspects) if one != wanted]
    others = sorted(rng.sample(others, len(others)), key=lambda one: bound[one.name])
    large: Target | None = None
    for sub_aspect in (wanted, *others):
        kinds = rule_kinds(sub_aspect, job.definition)
        for kind in sorted(rng.sample(kinds, len(kinds)), key=used.__getitem__):
            changes = _changes(room, kind)
            made = _with(target, changes, sub_aspect, kind) if changes else None
            if made is None or made.text in earlier:
                continue
            n_taken = room.n_words_taken(changes)
            if n_taken <= _MOST_AT_ONCE or len(room.words) - n_taken >= _SPARED * to_come:
                return made
            large = large or made
    return large or Skipped(reason=NO_ROOM)


def _changes(room: Room, kind: str) -> list[Change]:
    """Return what makes one error of a kind, apart from all earlier ones; nothing if nothing."""
    found = RULES[kind].change(room)
    if isinstance(found, Skipped):
        return []
    changes = whole_characters(sorted(found), room.passage)
    return changes if room.holds(changes) else []


def _with(
    target: Target, changes: Sequence[Change], sub_aspect: SubAspect, kind: str
) -> Target | None:
    edits = [Edit(start=start, end=end, text=put) for start, end, put in changes]
    made = with_error(
        target, edits, sub_aspect=sub_aspect.name, kind=kind, explanation=RULES[kind].says
    )
    return made if isinstance(made, Target) and any(map(str.isalnum, made.text)) else None


def sequence_by_rule(
    job: Job, wanted: Sequence[SubAspect], *, rng: Random, donors: Donors | None = None
) -> Iterator[Target]:
    """Yield targets with one, two, three errors, as far as there is room."""
    target, earlier = job.target, {job.target.text}
    for to_come, sub_aspect in zip(reversed(range(len(wanted))), wanted, strict=True):
        made = injected_by_rule(
            job, target, sub_aspect, to_come=to_come, earlier=earlier, rng=rng, donors=donors
        )
        if isinstance(made, Skipped):
            return
        target = made
        earlier.add(made.text)
        yield target
